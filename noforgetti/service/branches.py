"""Memory branches: fork, switch, list, delete. A fork costs one ref and shares history and review position."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.commit import CommitKind, Message
from noforgetti.model.entry import MAIN, BranchName, CommitId
from noforgetti.policy.names import branch_name
from noforgetti.service import scoped, signals
from noforgetti.service.memory import Draft, Memory, selected
from noforgetti.store import candidates
from noforgetti.store import signals as signal_book
from noforgetti.store.base import BranchExists, Conflict, UnknownBranch, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

_BOOKS = (signal_book.BOOK, candidates.BOOK, scoped.BOOK)  # what a deleted branch takes with it


class KeptBranch(NoForgettiError):
    """A branch that may not be deleted, or may not be there."""

    kind = Kind.USER
    reason = "kept-branch"


@dataclass(frozen=True, slots=True)
class Branch:
    """A memory branch as lists show it. `entries` is None when its head cannot be read."""

    name: BranchName
    head: CommitId | None
    entries: int | None
    current: bool


def listed(memory: Memory, current: str) -> tuple[Branch, ...]:
    """Every branch, `main` first. `main` is listed before the first write too."""
    heads: dict[BranchName, CommitId | None] = {MAIN: None, **memory.heads()}
    return tuple(Branch(name, head, _count(memory, head), name == current) for name, head in heads.items())


def fork(memory: Memory, source: str, name: str, *, at: CommitId | None = None) -> Branch:
    """Create branch `name` where `source` stands (or at a commit). Raises `BadBranchName`, `BranchExists`,
    and `KeptBranch` for the user-wide memory."""
    if memory.is_wide:
        raise KeptBranch(
            "The user-wide memory has one branch, `main`. Nothing was created.", hint="fork the memory of a project"
        )
    new = branch_name(name)
    for existing in (MAIN, *memory.heads()):
        if existing.casefold() == new.casefold():
            raise BranchExists(new, existing)
    head = at or memory.head(source)
    if head is None:
        head = _begin(memory)
    try:
        memory.store.publish(new, head, None, reason=f"fork: from {source}")
    except Conflict as error:  # somebody created the same name since the look above
        raise BranchExists(new, new) from error
    memory.state.copy_notes(source, new)
    _beside(memory, lambda: signals.copy(memory, source, new))
    return Branch(new, head, _count(memory, head), current=False)


def use(memory: Memory, name: str) -> BranchName:
    """The branch, when it exists. Selecting it is up to the caller: a session keeps its own. Raises `UnknownBranch`."""
    if name != MAIN and name not in memory.heads():
        raise UnknownBranch(name)
    return BranchName(name)


def delete(memory: Memory, name: str) -> CommitId:
    """Delete a branch; answers the commit it stood at, from which `fork --at` brings it back."""
    if name == MAIN:
        raise KeptBranch(
            "Memory branch `main` cannot be deleted. Nothing was changed.",
            hint="remove its entries, or fork and work elsewhere",
        )
    head = memory.head(name)
    if head is None:
        raise UnknownBranch(name)
    memory.store.delete(name, head)
    memory.state.forget_branch(name)
    for book in _BOOKS:
        _beside(memory, partial(memory.store.drop_book, name, book))
    if selected(memory.places.state_of(memory.name)) == name:
        memory.select(MAIN)
    return head


def _beside(memory: Memory, step: Callable[[], None]) -> None:
    """The branch is made or gone already, and what lies beside it is worth less: trouble is a trace."""
    try:
        step()
    except NoForgettiError as error:
        memory.state.trace("warning", str(error))


def _begin(memory: Memory) -> CommitId:
    """The first commit of a memory that was forked before anything was written."""
    memory.prepare()
    draft = Draft((), Message("begin: an empty memory", "", (("Kind", str(CommitKind.WRITE)),)))
    try:
        return memory.publish(MAIN, draft, None)
    except (Conflict, BranchExists):
        head = memory.head(MAIN)
        if head is None:
            raise
        return head


def _count(memory: Memory, head: CommitId | None) -> int | None:
    if head is None:
        return 0
    try:
        return len(memory.store.snapshot(head))
    except Unreadable:
        return None
