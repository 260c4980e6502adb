"""`promotions.md` of a branch, as the use cases read and write it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.service import pieces
from noforgetti.store import promotions as file
from noforgetti.store.base import Unreadable

if TYPE_CHECKING:
    from noforgetti.model.entry import Snapshot
    from noforgetti.service.memory import Memory
    from noforgetti.store.base import Edit


def read(memory: Memory, snapshot: Snapshot) -> bytes:
    """The file's bytes; empty when it is not there. Raises `Unreadable`."""
    return pieces.read(memory, snapshot, file.FILE)


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
    return pieces.edit(file.FILE, data)
