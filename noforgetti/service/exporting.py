"""Exporting: the memory in a form that other programs, people and another machine can read.

What may not be shown is not exported: a hidden entry stays behind and is named. A file is written beside its place and
moved there, so that whatever happens the old one or the new one is there; one that no export of ours wrote is left as
it is unless the user insists.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from noforgetti import __version__
from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model import portable
from noforgetti.model.signal import NEW
from noforgetti.policy import guards, topics
from noforgetti.policy.document import render
from noforgetti.service import signals
from noforgetti.store import folders
from noforgetti.store.base import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from noforgetti.model.entry import Entry, EntryId, Snapshot
    from noforgetti.model.signal import Signal
    from noforgetti.service.memory import Memory

Document = dict[str, Any]


class Format(StrEnum):
    """What a memory can be written as."""

    JSON = "json"
    SCORES = "scores"
    TOPICS = "topics"
    MARKDOWN = "markdown"
    BUNDLE = "bundle"

    @property
    def is_folder(self) -> bool:
        """True for a format of several files."""
        return self is Format.TOPICS


class NotOurs(NoForgettiError):
    """There is something at the place of an export that no export of ours wrote."""

    kind = Kind.USER
    reason = "exists"

    def __init__(self, path: str, what: str, hint: str = "name another path, or replace it with --force") -> None:
        super().__init__(f"`{path}` {what}. Nothing was written.", hint=hint)


class BadPlace(NoForgettiError):
    """A path where no export can be."""

    kind = Kind.USER
    reason = "bad-path"


class NotWritten(NoForgettiError):
    """The disk or its permissions do not allow an export."""

    kind = Kind.UNAVAILABLE
    reason = "unwritable"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"The export to `{path}` cannot be written: {why}.", hint="free space or check the permissions there"
        )


@dataclass(frozen=True, slots=True)
class Exported:
    """An export: its files by path (one with an empty path for a format of one file), how many entries of which
    branches it holds, and what stays behind."""

    format: Format
    branches: tuple[str, ...]
    entries: int
    files: Mapping[str, bytes] = field(default_factory=dict)
    hidden: tuple[EntryId, ...] = ()
    damaged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def made(memory: Memory, branches: Iterable[str], fmt: Format) -> Exported:
    """The export of some branches, not yet written anywhere. Only `json` holds more than one. Raises `UnknownBranch`
    and what the store raises; for a bundle see `bundle`."""
    parts = [_part(memory, branch) for branch in branches]
    files, notes = _FILES[fmt](memory, parts)
    return Exported(
        fmt,
        tuple(one.branch for one in parts),
        sum(len(one.entries) for one in parts),
        {path: text.encode() for path, text in files.items()},
        tuple(dict.fromkeys(own for one in parts for own in one.hidden)),
        tuple(f"{path.path} {path.reason}" for one in parts for path in one.snapshot.damaged),
        tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """One branch of an export: what of it may be shown."""

    branch: str
    snapshot: Snapshot
    entries: tuple[Entry, ...]
    hidden: tuple[EntryId, ...]
    signals: Mapping[EntryId, Signal]


def _part(memory: Memory, branch: str) -> _Part:
    now = memory.snapshot(branch)
    hidden = tuple(entry.id for entry in now if guards.unsafe(entry.text))
    shown = tuple(entry for entry in now if entry.id not in hidden)
    return _Part(branch, now, shown, hidden, signals.read(memory, branch).by_id)


# ---- the formats: from a memory and its branches to files and what is to be said of them


def _json(memory: Memory, parts: list[_Part]) -> tuple[dict[str, str], list[str]]:
    notes: list[str] = []
    doc = {
        "format": portable.FORMAT,
        "version": portable.VERSION,
        "made_by": f"noforgetti {__version__}",
        "exported": memory.stamp(),
        "project": memory.project.root,
        "branches": [_branch(memory, one, notes) for one in parts],
    }
    return {"": json.dumps(doc, ensure_ascii=False, indent=2) + "\n"}, notes


def _branch(memory: Memory, part: _Part, notes: list[str]) -> Document:
    judged = topics.scores(part.entries, part.signals, memory.clock())
    entries = []
    for entry, (_, said) in zip(part.entries, judged, strict=True):
        signal = part.signals.get(entry.id, NEW)
        told = {"signal": topics.signal_value(signal)} if signal != NEW else {}
        entries.append({**portable.value(entry), **told, "score": said["score"], "lifecycle": said["lifecycle"]})
    return {
        "name": part.branch,
        "head": part.snapshot.commit,
        "entries": entries,
        "files": _others(memory, part.snapshot, notes),
        "hidden": list(part.hidden),
    }


def _others(memory: Memory, now: Snapshot, notes: list[str]) -> dict[str, str]:
    """The branch's other files (promotions, skills, guidelines). Of one that is no text or may not be shown, a note."""
    found: dict[str, str] = {}
    places = {one.path for one in now.entries} | {one.path for one in now.damaged}
    for path in sorted(now.files):
        if path == "format" or path in places or now.commit is None:
            continue
        try:
            text = (memory.store.read_file(now.commit, path) or b"").decode()
        except (UnicodeDecodeError, Unreadable):
            notes.append(f"`{path}` is not exported: it cannot be read as text.")
            continue
        if refusal := guards.unsafe(text):
            notes.append(f"`{path}` is not exported: it may not be shown ({refusal.rule}).")
        else:
            found[path] = text
    return found


def _scores(memory: Memory, parts: list[_Part]) -> tuple[dict[str, str], list[str]]:
    rows = []
    for part in parts:
        for key, said in topics.scores(part.entries, part.signals, memory.clock()):
            row = {"format": portable.FORMAT, "version": portable.VERSION, "hash": key, **said}
            rows.append(json.dumps(row, ensure_ascii=False))
    return {"": "".join(row + "\n" for row in rows)}, []


def _topics(memory: Memory, parts: list[_Part]) -> tuple[dict[str, str], list[str]]:
    part = parts[0]
    files = topics.files(part.entries)
    notes: list[str] = []
    more = [path for path in files if "-" in path.rpartition("/")[2]]
    if more:
        what = f"`{more[0]}`" if len(more) == 1 else f"{len(more):,} more files, such as `{more[0]}`"
        notes.append(
            f"A topic file ends at {topics.LARGEST:,} characters; the rest is in {what}. Other products do not "
            "read that."
        )
    judged = topics.scores(part.entries, part.signals, memory.clock())
    others = {path: text for path, text in _others(memory, part.snapshot, notes).items() if path in _BESIDE_TOPICS}
    files = {**files, **others}
    return {**files, topics.INDEX: topics.index(judged, files, memory.stamp())}, notes


_BESIDE_TOPICS = ("promotions.md", "review-guidelines.md")


def _markdown(memory: Memory, parts: list[_Part]) -> tuple[dict[str, str], list[str]]:
    part = parts[0]
    head = (part.snapshot.commit or "nothing")[:12]
    preface = f"{portable.FORMAT} {portable.VERSION}: memory branch {part.branch} at {head}, {memory.stamp()}"
    return {"": render(part.entries, preface=preface)}, []


_FILES = {Format.JSON: _json, Format.SCORES: _scores, Format.TOPICS: _topics, Format.MARKDOWN: _markdown}


# ---- writing


def save(memory: Memory, exported: Exported, path: str, *, force: bool = False) -> None:
    """Write an export to its place. Raises `NotOurs`, `BadPlace` and `NotWritten`."""
    path = _place(memory, path)
    try:
        if exported.format.is_folder:
            _save_folder(exported, path, force=force)
        else:
            _refuse_foreign(memory, path, force=force)
            _write(path, exported.files[""])
    except OSError as error:
        raise NotWritten(path, error.strerror or str(error)) from error


def bundle(memory: Memory, path: str, *, force: bool = False) -> Exported:
    """Write the whole repository as one git bundle, verified by git. A bundle carries every commit as it is, so one
    whose branches hold entries that may not be shown is refused unless the user insists."""
    heads = memory.heads()
    if not heads:
        raise BadPlace("There is no memory to bundle: nothing was written yet.", hint="add an entry first")
    parts = [_part(memory, branch) for branch in heads]
    hidden = tuple(dict.fromkeys(own for one in parts for own in one.hidden))
    if hidden and not force:
        raise BadPlace(
            f"A bundle would carry text that may not be shown: {', '.join(f'`{own}`' for own in hidden[:8])}. "
            "Nothing was written.",
            hint="remove these entries, or export all the same with --force",
        )
    from noforgetti.store import bundle as bundles

    path = _place(memory, path)
    try:
        _refuse_foreign(memory, path, force=force)
        with _beside(path) as temporary:
            bundles.create(memory.path, temporary)
            os.replace(temporary, path)
    except OSError as error:
        raise NotWritten(path, error.strerror or str(error)) from error
    notes = ("The bundle holds the whole history, removed entries too.",)
    entries = sum(len(one.entries) + len(one.hidden) for one in parts)
    return Exported(Format.BUNDLE, tuple(heads), entries, hidden=hidden, notes=notes)


def _place(memory: Memory, path: str) -> str:
    """The path, absolute. Our own folders and folders that are not there hold no export."""
    if not path or "\0" in path:
        raise BadPlace("An empty path cannot be written. Nothing was exported.", hint="name a file or `-`")
    found = os.path.abspath(path)
    parent = os.path.realpath(os.path.dirname(found))
    where = memory.places
    for ours in (where.data, where.state, where.cache):
        if os.path.commonpath((os.path.realpath(ours), parent)) == os.path.realpath(ours):
            raise BadPlace(
                f"`{path}` lies in the memory's own folder. Nothing was written.", hint="name a path outside of it"
            )
    if not os.path.isdir(parent):
        raise BadPlace(f"There is no folder `{os.path.dirname(found)}`. Nothing was written.", hint="make it first")
    return found


def _refuse_foreign(memory: Memory, path: str, *, force: bool) -> None:
    if not os.path.lexists(path):
        return
    if os.path.isdir(path) and not os.path.islink(path):
        raise NotOurs(path, "is a folder")
    if not os.path.islink(path) and not os.path.isfile(path):
        raise BadPlace(f"`{path}` is no regular file. Nothing was written.", hint="write to standard output with `-`")
    if not force and (os.path.islink(path) or not _ours(memory, path)):
        raise NotOurs(path, "is there already, and no export of ours wrote it")


def _ours(memory: Memory, path: str) -> bool:
    """Whether an export of ours wrote the file: all of them say so at their beginning, but for a bundle, which is ours
    when it holds a branch of this memory as it was."""
    from noforgetti.store import bundle as bundles

    if bundles.is_bundle(path):
        try:
            heads = bundles.branches(bundles.listed(path)).values()
        except (bundles.BadBundle, bundles.NoGit):
            return False
        return memory.exists and any(memory.store.whole(one) for one in heads)
    with open(path, "rb") as file:
        head = file.read(256)
    return portable.FORMAT.encode() in head or not head


def _save_folder(exported: Exported, path: str, *, force: bool) -> None:
    """Write the files of a folder, the index last; files of an earlier export that are no more are removed. A folder
    that is not there is made beside its place, so that a run that was cut off leaves none that looks like the user's,
    and one that was empty is so again."""
    there = os.path.isdir(path)
    if os.path.lexists(path) and not there:
        raise NotOurs(path, "is a file, and this format is a folder")
    old = _listed(os.path.join(path, topics.INDEX)) if there else None
    if not there:
        with _beside(path) as temporary:
            _fill(temporary, exported)
            os.rename(temporary, path)
        return
    gone = sorted(set(old or {}) - set(exported.files))
    _refuse_links(path, (*exported.files, *gone))
    empty = not os.listdir(path)
    if old is None and not empty and not force:
        raise NotOurs(path, "is a folder with other files in it")
    if not force:
        _refuse_changed(path, old or {}, exported.files)
    try:
        _fill(path, exported)
    except OSError:
        for name in {name.split("/")[0] for name in exported.files} if empty else ():
            _drop(os.path.join(path, name))
        raise
    for name in gone:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(path, name))


def _refuse_links(folder: str, names: Iterable[str]) -> None:
    """Refuse a folder in which a link stands for one of the files, or for a folder on the way to it: what is written or
    removed there would be somebody else's."""
    parts = {path for name in names for path in (name, os.path.dirname(name), os.path.dirname(os.path.dirname(name)))}
    for part in sorted(parts - {""}):
        path = os.path.join(folder, part)
        if os.path.islink(path):
            raise BadPlace(f"`{path}` is a link. Nothing was written.", hint="remove the link, or name another folder")


def _refuse_changed(folder: str, old: Mapping[str, str], new: Mapping[str, bytes]) -> None:
    """Refuse a folder in which a file that would be replaced or removed is not as the earlier export wrote it. An older
    export says of none how it was. What is to be written anyway is no loss: a run that was cut off may have done so."""
    for name in sorted({*old, *new} - {topics.INDEX}):
        path = os.path.join(folder, name)
        try:
            with open(path, "rb", opener=_at_once) as file:
                data = file.read()
        except FileNotFoundError:
            continue
        if data != new.get(name) and topics.content_digest(data) != old.get(name):
            raise NotOurs(
                path,
                "may hold lines that no export of ours wrote",
                "import the folder first with `noforgetti import noforgetti`, then replace it with --force",
            )


def _fill(folder: str, exported: Exported) -> None:
    for name in sorted(exported.files, key=lambda one: one == topics.INDEX):
        target = os.path.join(folder, name)
        folders.make(os.path.dirname(target))
        _write(target, exported.files[name])


def _listed(index: str) -> dict[str, str] | None:
    """The files that an earlier export of ours wrote into a folder, with their digests; None when there was none.
    Whoever made the folder made the index too, so a name that no export of ours gives a file is not believed."""
    try:
        with open(index, encoding="utf-8", opener=_at_once) as file:
            doc = json.loads(file.read().strip().rpartition("\n")[2])
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(doc, dict) or doc.get("format") != portable.FORMAT or not isinstance(doc.get("files"), list):
        return None
    digests = doc.get("digests")
    known = digests if isinstance(digests, dict) else {}  # an older export has none
    names = (one for one in doc["files"] if isinstance(one, str))
    return {one: str(known.get(one, "")) for one in names if topics.is_name(one) or one in _BESIDE_TOPICS}


def _at_once(path: str, flags: int) -> int:
    """An opener for `open` that waits for no writer of a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def _write(path: str, data: bytes) -> None:
    with _beside(path) as temporary:
        with open(temporary, "wb", opener=folders.private) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)


@contextmanager
def _beside(path: str) -> Iterator[str]:
    """A name in the same folder, which is free and is free again afterwards."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name[:40]}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        yield temporary
    finally:
        _drop(temporary)


def _drop(path: str) -> None:
    """Remove a file or folder of ours, if it is there."""
    with suppress(OSError):
        os.unlink(path)
    shutil.rmtree(path, ignore_errors=True)


def exported_view(exported: Exported, path: str) -> Document:
    """What was exported where, and what stays behind."""
    return {
        "outcome": "exported",
        "format": exported.format,
        "path": path,
        "branches": list(exported.branches),
        "entries": exported.entries,
        "files": sorted(name for name in exported.files if name),
        "hidden": list(exported.hidden),
        "damaged": list(exported.damaged),
        "notes": list(exported.notes),
    }
