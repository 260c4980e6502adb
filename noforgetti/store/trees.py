"""Trees of a memory branch: read into a snapshot, and rewritten by edits that leave everything else as it was.

A tree is never checked out and its names are never joined to a path of the disk: a raw tree may hold `../evil`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from pygit2.enums import ObjectType

from noforgetti.model.entry import BlobId, Category, CommitId, Damaged, Entry, Snapshot, Stored
from noforgetti.store.base import FORMAT, Drop, Edit, Put, PutBlob, PutFile, Unreadable
from noforgetti.store.codec import decode, encode, entry_path, path_of
from noforgetti.store.objects import Objects, TreeItem, is_file, is_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_DEPTH = 6  # folders below the root; ours go three deep (skills/<name>/SKILL.md), more is abuse
_FILE = 0o100644
_FOLDER = 0o40000
_ORDER = {category: index for index, category in enumerate(Category)}


class Decoded:
    """Entries read before, by path and blob: reading a changed branch decodes only what changed."""

    def __init__(self, objects: Objects, limit: int = 12_000) -> None:
        self._objects, self._limit = objects, limit
        self._known: dict[tuple[str, str], Entry | Damaged] = {}

    def read(self, path: str, blob: str) -> Entry | Damaged:
        """The entry at that path with that content, or what is wrong with it."""
        known = self._known.get((path, blob))
        if known is not None:
            return known
        try:
            read = decode(path, self._objects.read(blob, ObjectType.BLOB), BlobId(blob))
        except Unreadable:
            return Damaged(
                path, BlobId(blob), "has a missing or damaged object"
            )  # may be mended any moment: not cached
        if len(self._known) >= self._limit:
            self._known.clear()
        self._known[path, blob] = read
        return read


def snapshot(objects: Objects, decoded: Decoded, commit: CommitId, tree: str) -> Snapshot:
    """What the tree holds. Raises `Unreadable` only when a tree object itself cannot be read."""
    files: dict[str, BlobId] = {}
    damaged: list[Damaged] = []
    for path, item in walk(objects, tree):
        mode, name, oid = item
        if is_file(mode) and _plain(name):
            files[path] = BlobId(oid)
        elif not is_folder(mode) or not _plain(name):
            damaged.append(Damaged(path, BlobId(oid), "is no regular file with a plain name"))
    stored: dict[str, Stored] = {}
    for path, blob in files.items():
        if entry_path(path) is None:
            continue
        read = decoded.read(path, blob)
        if isinstance(read, Damaged):
            damaged.append(read)
        elif read.id in stored:
            damaged.append(Damaged(path, blob, f"has the same id as `{stored[read.id].path}`"))
        else:
            stored[read.id] = Stored(read, path, blob)
    entries = sorted(stored.values(), key=lambda one: (_ORDER[one.entry.category], one.entry.created, one.entry.id))
    return Snapshot(commit, tuple(entries), tuple(damaged), MappingProxyType(files), _format(objects, files))


def walk(objects: Objects, tree: str, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, TreeItem]]:
    """Every item of the tree with its path, folders before what they hold."""
    for item in objects.tree(tree):
        mode, name, oid = item
        path = prefix + name.decode("utf-8", "backslashreplace")
        yield path, item
        if is_folder(mode) and _plain(name) and depth < _DEPTH:
            yield from walk(objects, oid, path + "/", depth + 1)


def rewrite(objects: Objects, tree: str | None, edits: Iterable[Edit]) -> str:
    """The tree after the edits. The file `format` is added where it is missing; all else stays byte for byte."""
    wanted: dict[str, str | None] = {}
    for edit in edits:
        match edit:
            case Put(entry=entry):
                wanted[path_of(entry)] = objects.write(ObjectType.BLOB, encode(entry))
            case PutFile(path=path, data=data):
                wanted[path] = objects.write(ObjectType.BLOB, data)
            case PutBlob(path=path, blob=blob):
                wanted[path] = blob
            case Drop(path=path):
                wanted[path] = None
    root = objects.tree(tree) if tree else []
    if not any(name == b"format" for _, name, _ in root):
        wanted["format"] = objects.write(ObjectType.BLOB, f"{FORMAT}\n".encode())
    return _rewrite(objects, root, wanted) or objects.write_tree([])


def _rewrite(objects: Objects, items: list[TreeItem], wanted: Mapping[str, str | None]) -> str | None:
    here = {name: (mode, name, oid) for mode, name, oid in items}
    below: dict[bytes, dict[str, str | None]] = {}
    for path, blob in wanted.items():
        first, slash, rest = path.partition("/")
        name = first.encode("utf-8", "surrogateescape")
        if slash:
            below.setdefault(name, {})[rest] = blob
        elif blob is None:
            here.pop(name, None)
        else:
            here[name] = (_FILE, name, blob)
    for name, inner in below.items():
        old = here.get(name)
        inside = objects.tree(old[2]) if old and is_folder(old[0]) else []
        folder = _rewrite(objects, inside, inner)
        if folder is None:
            here.pop(name, None)
        else:
            here[name] = (_FOLDER, name, folder)
    return objects.write_tree(list(here.values())) if here else None


def _plain(name: bytes) -> bool:
    if b"/" in name or name in (b"", b".", b".."):
        return False
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _format(objects: Objects, files: Mapping[str, BlobId]) -> str:
    if "format" not in files:
        return FORMAT
    try:
        return objects.read(files["format"], ObjectType.BLOB)[:64].decode("utf-8", "replace").strip() or FORMAT
    except Unreadable:
        return FORMAT
