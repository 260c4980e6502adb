"""Git objects: written durably before any ref may name them, and read without trust.

Objects are written as loose files without a sync of their own; the object log makes a whole commit durable with one
(see `redo`). After a power cut `heal` puts back what did not reach the disk.

An object that seems to be there already is read back before it is relied on: a power cut may have left a file under its
name that is empty or torn, and git never writes an object twice. A bad one is removed and written again.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from typing import TYPE_CHECKING

import pygit2
from pygit2.enums import ObjectType

from noforgetti.store import failpoints
from noforgetti.store.base import Unreadable, Unwritable
from noforgetti.store.disk import sync_all, sync_path
from noforgetti.store.redo import ObjectLog, Record

if TYPE_CHECKING:
    from collections.abc import Iterable

_TYPES = {"blob": ObjectType.BLOB, "tree": ObjectType.TREE, "commit": ObjectType.COMMIT}
_TYPE_NAMES = {ObjectType.BLOB: b"blob", ObjectType.TREE: b"tree", ObjectType.COMMIT: b"commit"}
_LOGGED = 32_768  # bytes; a larger object (the tree of 500 entries) is synced in its own file: the log is to stay short
_RECENT = 64  # trees and commits kept as they were read; a change reads five
_COMPRESSION = 1  # zlib level; entries are some 200 bytes, where level 1 and 9 differ by nothing one could measure
_ATTEMPTS = 5  # `git gc` beside us removes a folder of objects the moment it is empty, so also just before our rename
_DIRECTORY = 0o40000
_REGULAR = (0o100644, 0o100755, 0o100664)

TreeItem = tuple[int, bytes, str]  # mode, raw name, object id


def object_id(kind: ObjectType, data: bytes) -> str:
    """The id git gives to an object of that kind and content."""
    return hashlib.sha1(b"%s %d\0" % (_TYPE_NAMES[kind], len(data)) + data, usedforsecurity=False).hexdigest()


class Objects:
    """The object database of one repository. Belongs to one thread."""

    def __init__(self, repository: str) -> None:
        self._folder = os.path.join(repository, "objects")
        self._odb = pygit2.Odb()
        self._odb.add_backend(pygit2.OdbBackendPack(self._folder), 1)
        self._odb.add_backend(pygit2.OdbBackendLoose(self._folder, _COMPRESSION, False, 0o700, 0o600), 2)
        self._recent: dict[str, tuple[ObjectType, bytes]] = {}
        self._pending: list[Record] = []
        self._log = ObjectLog(repository)

    @property
    def odb(self) -> pygit2.Odb:
        """For the repository object that reads through it."""
        return self._odb

    def write(self, kind: ObjectType, data: bytes) -> str:
        """Write an object. Not durable before `flush`."""
        expected = object_id(kind, data)
        path = self.loose_path(expected)
        if os.path.exists(path) and not self._reads_as(expected, kind, data):
            os.unlink(path)
        self._written(kind, data)
        self._remember(expected, kind, data)
        self._pending.append((_TYPE_NAMES[kind].decode(), expected, data))
        failpoints.reach(f"write:{_TYPE_NAMES[kind].decode()}")
        return expected

    def flush(self) -> None:
        """Make everything written so far durable. Raises `Unwritable`."""
        failpoints.reach("write:before-sync")
        large = [record for record in self._pending if len(record[2]) > _LOGGED]
        for path in self._places(large):
            sync_path(path)
        self._log.append(record for record in self._pending if len(record[2]) <= _LOGGED)
        self._pending.clear()
        failpoints.reach("write:after-sync")
        if self._log.due():
            self._log.checkpoint(self._sync)

    def heal(self, *, always: bool = False) -> list[str]:
        """After a restart of the machine (or `always`): put back the log's objects that do not read; their ids."""
        if not (always or self._log.foreign):
            return []
        healed = []
        for kind, oid, data in self._log.records():
            number = _TYPES[kind]
            if object_id(number, data) == oid and not self._reads_as(oid, number, data):
                self.write(number, data)
                healed.append(oid)
        self._pending.clear()
        self._log.checkpoint(self._sync)
        return healed

    def _sync(self, records: Iterable[Record]) -> None:
        """Make the loose files of the records durable, and the folders that name them."""
        sync_all(self._folder, self._places(records))

    def _places(self, records: Iterable[Record]) -> list[str]:
        files = dict.fromkeys(self.loose_path(oid) for _, oid, _ in records)
        there = [path for path in files if os.path.exists(path)]  # a packed one was synced when it was packed
        return [*there, *dict.fromkeys(os.path.dirname(path) for path in there), *([self._folder] if there else [])]

    def read(self, oid: str, kind: ObjectType) -> bytes:
        """The content of an object. Raises `Unreadable` when it is missing, damaged or of another kind."""
        found, data = self._recent.get(oid) or self._any(oid)
        if found != kind:
            raise Unreadable(
                f"Object {oid[:12]} of the memory is no {kind.name.lower()}.", hint="run `noforgetti doctor`"
            )
        self._remember(oid, kind, data)
        return data

    def forget(self) -> None:
        """Read everything from the disk again: what it holds is in doubt."""
        self._recent.clear()

    def _remember(self, oid: str, kind: ObjectType, data: bytes) -> None:
        """Keep a tree or commit: one change reads those of the change before several times."""
        if kind is not ObjectType.BLOB and len(data) <= _LOGGED:
            if len(self._recent) >= _RECENT:
                self._recent.pop(next(iter(self._recent)))
            self._recent[oid] = (kind, data)

    def kind(self, oid: str) -> ObjectType:
        """What sort of object it is. Raises `Unreadable`."""
        return ObjectType(self._any(oid)[0])

    def has_file(self, oid: str) -> bool:
        """True when the object lies in a file of its own, readable or not."""
        return os.path.exists(self.loose_path(oid))

    def _any(self, oid: str) -> tuple[int, bytes]:
        try:
            return self._loose(oid) or self._odb.read(oid)
        except (pygit2.GitError, OSError, KeyError, ValueError, zlib.error) as error:
            raise Unreadable(
                f"Object {oid[:12]} of the memory is missing or damaged.", hint="run `noforgetti doctor`"
            ) from error

    def with_prefix(self, prefix: str) -> list[str]:
        """The ids that begin so, of objects with a file of their own; a whole id also when it is packed."""
        if len(prefix) == 40:
            return [prefix]
        try:
            names = os.listdir(os.path.join(self._folder, prefix[:2]))
        except OSError:
            return []
        return [prefix[:2] + name for name in names if name.startswith(prefix[2:]) and len(name) == 38]

    def tree(self, oid: str) -> list[TreeItem]:
        """The items of a tree as they are stored, whatever their names."""
        data = self.read(oid, ObjectType.TREE)
        items: list[TreeItem] = []
        start = 0
        while start < len(data):
            space = data.find(b" ", start)
            end = data.find(b"\0", space)
            if space < 0 or end < 0 or end + 21 > len(data):
                raise Unreadable(f"Tree {oid[:12]} of the memory is damaged.", hint="run `noforgetti doctor`")
            try:
                mode = int(data[start:space], 8)
            except ValueError as error:
                raise Unreadable(
                    f"Tree {oid[:12]} of the memory is damaged.", hint="run `noforgetti doctor`"
                ) from error
            items.append((mode, data[space + 1 : end], data[end + 1 : end + 21].hex()))
            start = end + 21
        return items

    def write_tree(self, items: list[TreeItem]) -> str:
        """Write a tree; items are put into git's order."""
        ordered = sorted(items, key=lambda item: item[1] + (b"/" if is_folder(item[0]) else b""))
        return self.write(
            ObjectType.TREE,
            b"".join(b"%o %s\0" % (mode, name) + bytes.fromhex(oid) for mode, name, oid in ordered),
        )

    def loose_path(self, oid: str) -> str:
        """Where the object's own file is, or would be."""
        return os.path.join(self._folder, oid[:2], oid[2:])

    def loose_count(self) -> int:
        """About how many loose objects there are: one of the 256 folders' number, times 256, as git does."""
        try:
            return 256 * len(os.listdir(os.path.join(self._folder, "17")))
        except OSError:
            return 0

    def _loose(self, oid: str) -> tuple[int, bytes] | None:
        """An object from its own file, or None when it has none. libgit2 never returns from reading a torn one."""
        try:
            with open(self.loose_path(oid), "rb") as file:
                packed = file.read()
        except FileNotFoundError:
            return None
        inflater = zlib.decompressobj()
        raw = inflater.decompress(packed)
        head, nul, data = raw.partition(b"\0")
        if not inflater.eof or not nul or hashlib.sha1(raw, usedforsecurity=False).hexdigest() != oid:
            raise ValueError(oid)
        return _TYPES[head.partition(b" ")[0].decode("ascii", "replace")], data

    def _written(self, kind: ObjectType, data: bytes) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                self._odb.write(kind, data)
            except (pygit2.GitError, OSError) as error:
                if attempt == _ATTEMPTS - 1:
                    raise Unwritable(self._folder, str(error)) from error
            else:
                return

    def _reads_as(self, oid: str, kind: ObjectType, data: bytes) -> bool:
        try:
            return self._any(oid) == (kind, data)
        except Unreadable:
            return False


def is_folder(mode: int) -> bool:
    """True for the mode of a sub-tree."""
    return mode == _DIRECTORY


def is_file(mode: int) -> bool:
    """True for the modes of regular files; false for links and submodules."""
    return mode in _REGULAR
