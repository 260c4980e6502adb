"""Entries of a session or a task: beside the branch, for a while.

`refs/noforgetti/volatile/<branch>` is a chain of commits of its own, whose trees are those of a branch. Publishing to
it never moves the branch: no review becomes stale by it, and what is in it counts against no limit of the branch. It is
not forked, not merged and not synced; deleting the branch deletes it. Reading is forgiving: what cannot be read is
missing, and a reason says why.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from noforgetti.errors import NoForgettiError
from noforgetti.model.change import Change
from noforgetti.model.commit import CommitKind, Message, describe, entries_trailer, one_line, trailers
from noforgetti.model.entry import Entry, EntryId, Scope, Snapshot, Writer
from noforgetti.policy import scopes
from noforgetti.policy.scoring import seconds_of
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.service import books
from noforgetti.service.history import edits_of
from noforgetti.service.memory import Draft
from noforgetti.store.base import Book, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from noforgetti.model.entry import CommitId, Stored
    from noforgetti.service.memory import Memory

BOOK = Book("refs/noforgetti/volatile/", "format", "entries of sessions and tasks")  # one beside each branch
_GAIN = 3_600.0  # seconds: a session's entries get a later end when it is later by this much, so at most once an hour


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of an entry that was to be kept for a while. `commit` is None when it was there, or refused."""

    outcome: Literal["added", "replaced", "duplicate", "refused"]
    entry: Entry | None = None
    commit: CommitId | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to write beside the branch."""

    verb: str
    changes: tuple[Change, ...]
    writer: Writer = Writer.USER
    session: str = ""


def terminal() -> str:
    """The session of the command line: that of the terminal, or of the job, in which it runs."""
    return f"terminal-{os.getsid(0) if hasattr(os, 'getsid') else os.getppid()}"


def snapshot(memory: Memory, branch: str) -> tuple[Snapshot, str]:
    """Everything that lies beside the branch, over or not, and why that may not be all. Never raises."""
    if memory.is_wide or not memory.exists:
        return Snapshot(), ""
    try:
        return memory.store.snapshot(memory.store.head(branch, space=BOOK.space)), ""
    except Unreadable as error:
        return Snapshot(), f"The {BOOK.name} beside branch `{branch}` cannot be read: {error.message}"


def live(now: Snapshot, at: float, *, session: str = "", task: str = "") -> tuple[Stored, ...]:
    """The entries of a snapshot that hold at `at` (UNIX time): those of the session, and those of tasks, or of one task
    where `task` names it."""
    return tuple(
        one
        for one in now.entries
        if not one.entry.scope.lasting and scopes.reaches(one.entry, session) and not scopes.over(one.entry, at)
        if not task or one.entry.scope is Scope.SESSION or one.entry.task == task
    )


def held(memory: Memory, branch: str, *, session: str = "", task: str = "") -> tuple[Entry, ...]:
    """The entries beside the branch that a session sees now: its own, and those of tasks, or of one task where `task`
    names it. Never raises; what cannot be read is missing."""
    return tuple(one.entry for one in live(snapshot(memory, branch)[0], memory.clock(), session=session, task=task))


def put(memory: Memory, branch: str, entry: Entry, *, writer: Writer | None = None) -> Kept:
    """Keep an entry of scope `session` or `task` for a while; one of the same id is replaced. Its end is set here.

    The same words again, by the same session or task, are a `duplicate`. Refused when nobody is named whose it is, and
    when that session or task holds too much. Raises `UnknownBranch`, and what the store raises.
    """
    refusal = _homeless(memory, entry)
    if refusal:
        return Kept("refused", refusal=refusal)
    memory.head(branch)  # raises for a branch that is not there
    entry = replace(entry, created=entry.created or memory.stamp(), task=one_line(entry.task))
    answer: list[Kept] = []

    def plan(now: Snapshot) -> _Plan | None:
        at = memory.clock()
        others = [one.entry for one in live(now, at, session=entry.session)]
        twin = next((one for one in others if one.text == entry.text and scopes.same_holder(one, entry)), None)
        if twin is not None and twin.id != entry.id:
            answer[:] = [Kept("duplicate", twin)]
            return None
        refused = scopes.room(entry, others)
        if refused:
            answer[:] = [Kept("refused", refusal=refused)]
            return None
        old, made = now.get(entry.id), scopes.ending_at(entry, at)
        if old is not None and old.entry == made:
            answer[:] = [Kept("duplicate", made)]
            return None
        answer[:] = [Kept("replaced" if old else "added", made)]
        changes = (
            Change(made.id, old.entry if old else None, made),
            *(one for one in _later(now, at, entry.session) if one.id != made.id),
            *(one for one in _ended(now, at) if one.id != made.id),
        )
        return _Plan("replace" if old else "add", changes, writer or entry.writer, entry.session)

    commit = _published(memory, branch, plan)
    return replace(answer[0], commit=commit)


def drop(
    memory: Memory, branch: str, ids: Iterable[EntryId], *, writer: Writer = Writer.USER, session: str = ""
) -> tuple[Entry, ...]:
    """Take entries out of what lies beside the branch; answers those that were there. Raises what the store raises."""
    wanted = frozenset(ids)
    gone: list[Entry] = []

    def plan(now: Snapshot) -> _Plan | None:
        gone[:] = [one for one in now if one.id in wanted]
        return _plan("remove", tuple(Change(one.id, one, None) for one in gone), writer, session)

    if wanted:
        _published(memory, branch, plan)
    return tuple(gone)


def prune(memory: Memory, branch: str) -> int:
    """Take out the entries whose time is up; answers how many. Raises what the store raises."""
    gone: list[Change] = []

    def plan(now: Snapshot) -> _Plan | None:
        gone[:] = _ended(now, memory.clock())
        return _plan("expire", tuple(gone), Writer.DREAM)

    if _ended(snapshot(memory, branch)[0], memory.clock()):
        _published(memory, branch, plan)
    return len(gone)


def used(memory: Memory, branch: str, session: str) -> None:
    """The session is in use: its entries hold 24 hours from now, to the hour. Never raises: at worst they end a little
    early."""

    def plan(now: Snapshot) -> _Plan | None:
        return _plan("keep", tuple(_later(now, memory.clock(), session)), Writer.AGENT, session)

    if not _later(snapshot(memory, branch)[0], memory.clock(), session):
        return
    try:
        _published(memory, branch, plan)
    except NoForgettiError as error:
        memory.state.trace("warning", str(error))


def _homeless(memory: Memory, entry: Entry) -> Refusal | None:
    """Why an entry cannot be kept for a while, by what it says of itself."""
    if entry.scope.lasting:
        why, hint = f"An entry of scope `{entry.scope}` lasts", "write it to a branch"
    elif memory.is_wide:
        why = f"The user-wide memory holds what lasts, not what belongs to a {entry.scope}"
        hint = "leave `--user` away, or the scope"
    elif entry.scope is Scope.TASK and not one_line(entry.task):
        why, hint = "An entry of scope `task` needs the name of the task", "name it with `--task`"
    elif entry.scope is Scope.SESSION and not entry.session:
        why, hint = "An entry of scope `session` needs a session", "name it with `--session`"
    else:
        return None
    return Refusal(Rule.SCOPE, f"{why}. Nothing was written.", hint)


def _later(now: Snapshot, at: float, session: str) -> list[Change]:
    """Later ends for the entries of a session that is in use."""
    found = []
    for one in live(now, at, session=session):
        if one.entry.scope is Scope.SESSION:
            later = scopes.ending_at(one.entry, at)
            if (seconds_of(later.expires) or 0.0) >= (seconds_of(one.entry.expires) or 0.0) + _GAIN:
                found.append(Change(later.id, one.entry, later))
    return found


def _ended(now: Snapshot, at: float) -> list[Change]:
    return [Change(one.id, one, None) for one in now if scopes.over(one, at)]


def _plan(verb: str, changes: tuple[Change, ...], writer: Writer, session: str = "") -> _Plan | None:
    return _Plan(verb, changes, writer, session) if changes else None


def _published(memory: Memory, branch: str, plan: Callable[[Snapshot], _Plan | None]) -> CommitId | None:
    """Publish what `plan` wants beside the branch. None: it wanted nothing."""

    def drafted(now: Snapshot) -> Draft | None:
        wanted = plan(now)
        if wanted is None:
            return None
        return Draft(edits_of(now, wanted.changes), _message(wanted), wanted.writer)

    def state_at(commit: CommitId | None) -> Snapshot:
        return memory.store.snapshot(commit)

    return books.publish(memory, branch, BOOK, state_at, drafted, empty=Snapshot())


def _message(plan: _Plan) -> Message:
    first = plan.changes[0]
    one = len(plan.changes) == 1 or plan.verb in ("add", "replace")  # others ride along with these
    what = one_line(first.entry.text) if one else f"{len(plan.changes)} entries"
    told = trailers(CommitKind.WRITE, entries_trailer(plan.changes), plan.session)
    return Message(f"{plan.verb}: {what}", describe(plan.changes), told)
