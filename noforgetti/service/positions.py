"""How far review has read each session, on each branch.

The position is written in the review commit itself, so memory and position cannot disagree, and a fork inherits both.
Reviews that changed nothing leave a note in the state database; a note is believed only while the head it saw is still
part of the branch. The furthest of what is known counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.model.entry import BranchName, CommitId
from noforgetti.model.evidence import Position, Transcript, Window

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory


def position(memory: Memory, branch: BranchName, transcript: Transcript) -> Position | None:
    """Where the next window of this session starts, or None when nothing of it was reviewed on this branch."""
    head = memory.head(branch)
    known = written(memory, branch, head)
    found: list[Position] = []
    for session in (transcript.session, *transcript.lineage):
        if session in known:
            found.append(parse(known[session]))
        note = memory.state.note(branch, session)
        if note is not None and (not note[2] or (head is not None and memory.store.contains(head, CommitId(note[2])))):
            found.append(Position(note[0], note[1]))
    placed = [(transcript.place(one.item), one) for one in found]
    on_path = [(place, one.offset or float("inf"), one) for place, one in placed if place is not None]
    if on_path:
        return max(on_path, key=lambda one: one[:2])[2]
    return found[0] if found else None


def written(memory: Memory, branch: str, head: CommitId | None) -> dict[str, str]:
    """The newest `Window` end of every session on the branch's first-parent chain; only new commits are read."""
    if head is None:
        return {}
    upto, known = memory.state.chain(branch)
    if upto == head:
        return known
    fresh: dict[str, str] = {}
    joined = False
    for commit in memory.store.walk(head):
        if commit.id == upto:
            joined = True
            break
        session, window = commit.trailer("Session"), commit.trailer("Window")
        if session and ".." in window:
            fresh.setdefault(session, window.partition("..")[2])
    # A chain that no longer holds the commit we knew was rewritten: what we knew of it does not count.
    result = {**(known if joined else {}), **fresh}
    memory.state.put_chain(branch, head, result)
    return result


def note(memory: Memory, branch: str, window: Window, head: CommitId | None) -> None:
    """Note how far a review without a commit has read."""
    memory.state.put_note(branch, window.session, window.last.item, window.last.offset, head or "")


def span(window: Window) -> str:
    """The value of trailer `Window`."""
    return f"{window.first}..{window.last}"


def parse(text: str) -> Position:
    """A position as it stands in a trailer: an item, or `item+offset`."""
    item, plus, offset = text.rpartition("+")
    return Position(item, int(offset)) if plus and offset.isdigit() and item else Position(text)
