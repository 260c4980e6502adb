"""Files of a branch that hold many things: promotions, review guidelines. Undo and merge look at each thing alone, so
that taking one back never halts because another came since."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from noforgetti.store import guidelines, promotions
from noforgetti.store.base import Drop, Edit, PutFile

if TYPE_CHECKING:
    from noforgetti.model.entry import CommitId, Snapshot
    from noforgetti.service.memory import Memory

_MERGES = {promotions.FILE: promotions.merge, guidelines.FILE: guidelines.merge}


def apart(snapshot: Snapshot) -> Snapshot:
    """The snapshot without these files."""
    if snapshot.files.keys().isdisjoint(_MERGES):
        return snapshot
    rest = {path: blob for path, blob in snapshot.files.items() if path not in _MERGES}
    return replace(snapshot, files=MappingProxyType(rest))


def read(memory: Memory, snapshot: Snapshot, path: str) -> bytes:
    """The bytes of a file; empty when it is not there. Raises `Unreadable`."""
    blob = snapshot.files.get(path)
    return memory.store.read_blob(blob) if blob else b""


def edit(path: str, data: bytes) -> Edit:
    """How such a file is written: an empty one is no file."""
    return PutFile(path, data) if data else Drop(path)


def merged(
    memory: Memory,
    base: Snapshot,
    ours: Snapshot,
    theirs: Snapshot,
    *,
    prefer: Literal["ours", "theirs"] | None = None,
) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """What takes our files to where they hold the changes from `base` to `theirs`, and the names (`<file>#<id>`) of
    pieces that both sides changed in different ways. Without `prefer`, a file with such a conflict gets no edit."""
    edits: list[Edit] = []
    names: list[str] = []
    for path, merge in _MERGES.items():
        blobs = [one.files.get(path) for one in (base, ours, theirs)]
        if blobs[2] in (blobs[0], blobs[1]):
            continue
        was, here, there = (read(memory, one, path) for one in (base, ours, theirs))
        found, conflicts = merge(was, here, there, prefer=prefer)
        names += [f"{path}#{one}" for one in conflicts]
        if found != here and (prefer or not conflicts):
            edits.append(edit(path, found))
    return tuple(edits), tuple(names)


def changed_by(memory: Memory, now: Snapshot, since: CommitId, name: str) -> CommitId | None:
    """The newest commit after `since` that changed the promotion of that name (`promotions.md#<id>`)."""
    path, _, own = name.rpartition("#")
    for commit in memory.store.walk(now.commit):
        if commit.id == since:
            break
        before, after = (memory.store.snapshot(one) for one in (commit.parent, commit.id))
        if before.files.get(path) != after.files.get(path):
            was, left = (promotions.blocks(read(memory, one, path)).get(own) for one in (before, after))
            if was != left:
                return commit.id
    return None
