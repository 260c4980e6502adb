"""`promotions.md` is one file that holds many promotions. Undo and merge look at each of them alone, so that taking one
back never halts because another was proposed since."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from noforgetti.store import promotions as file
from noforgetti.store.base import Drop, Edit, PutFile, Unreadable

if TYPE_CHECKING:
    from noforgetti.model.entry import CommitId, Snapshot
    from noforgetti.service.memory import Memory


def apart(snapshot: Snapshot) -> Snapshot:
    """The snapshot without the file of promotions."""
    if file.FILE not in snapshot.files:
        return snapshot
    rest = {path: blob for path, blob in snapshot.files.items() if path != file.FILE}
    return replace(snapshot, files=MappingProxyType(rest))


def read(memory: Memory, snapshot: Snapshot) -> bytes:
    """The file's bytes; empty when it is not there. Raises `Unreadable`."""
    blob = snapshot.files.get(file.FILE)
    return memory.store.read_blob(blob) if blob else b""


def queue(memory: Memory, snapshot: Snapshot) -> file.Queue:
    """The promotions of a snapshot. A file whose object is lost counts as empty; `doctor` tells of it."""
    if file.FILE not in snapshot.files:
        return file.Queue()
    try:
        return file.decode(read(memory, snapshot))
    except Unreadable:
        return file.Queue()


def waiting(memory: Memory, snapshot: Snapshot) -> int:
    """How many promotions wait for a decision."""
    return sum(one.open for one in queue(memory, snapshot))


def edit(data: bytes) -> Edit:
    """How the file is written: an empty one is no file."""
    return PutFile(file.FILE, data) if data else Drop(file.FILE)


def merged(
    memory: Memory,
    base: Snapshot,
    ours: Snapshot,
    theirs: Snapshot,
    *,
    prefer: Literal["ours", "theirs"] | None = None,
) -> tuple[Edit | None, tuple[str, ...]]:
    """What takes our file to where it holds the changes from `base` to `theirs` (None: nothing to do), and the names
    of promotions that both sides changed in different ways. Without `prefer`, such a conflict leaves no edit."""
    blobs = [one.files.get(file.FILE) for one in (base, ours, theirs)]
    if blobs[2] in (blobs[0], blobs[1]):
        return None, ()
    was, here, there = (read(memory, one) for one in (base, ours, theirs))
    found, conflicts = file.merge(was, here, there, prefer=prefer)
    names = tuple(f"{file.FILE}#{one}" for one in conflicts)
    return (None if found == here or (conflicts and not prefer) else edit(found)), names


def changed_by(memory: Memory, now: Snapshot, since: CommitId, name: str) -> CommitId | None:
    """The newest commit after `since` that changed the promotion of that name (`promotions.md#<id>`)."""
    own = name.rpartition("#")[2]
    for commit in memory.store.walk(now.commit):
        if commit.id == since:
            break
        before, after = (memory.store.snapshot(one) for one in (commit.parent, commit.id))
        if before.files.get(file.FILE) != after.files.get(file.FILE):
            was, left = (file.blocks(read(memory, one)).get(own) for one in (before, after))
            if was != left:
                return commit.id
    return None
