"""Direct writes: what a user or an agent asks for in words. Visible to every other process at once.

A write is planned on the branch's current head and published by compare-and-swap; when the head moves meanwhile, it is
planned again, so `OLD` always means an entry of the memory it is applied to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from noforgetti.model.change import Change
from noforgetti.model.commit import CommitKind, Message, describe, entries_trailer, one_line
from noforgetti.model.entry import (
    Category,
    CommitId,
    Damaged,
    Entry,
    EntryId,
    Importance,
    Scope,
    Snapshot,
    Stored,
    Writer,
)
from noforgetti.policy import addressing, capacity, guards
from noforgetti.policy.names import entry_id
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.service import signals
from noforgetti.service.memory import Draft, Memory
from noforgetti.store.base import Drop, Edit, Put
from noforgetti.store.codec import path_of

if TYPE_CHECKING:
    from collections.abc import Callable

Outcome = Literal["added", "replaced", "removed", "duplicate", "reinforced", "refused"]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a direct write. `commit` is None when nothing was written; `refusal` says why it was refused."""

    outcome: Outcome
    branch: str
    commit: CommitId | None = None
    entry: Entry | None = None
    refusal: Refusal | None = None
    warnings: tuple[str, ...] = ()
    conflicts: tuple[Entry, ...] = ()
    superseded: tuple[Entry, ...] = ()
    similar: tuple[Entry, ...] = ()
    evidence: int | None = None
    scope: Scope = Scope.PROJECT


@dataclass(frozen=True, slots=True)
class Traits:
    """What a write says about an entry besides its text; None keeps what is there (or the default)."""

    category: Category | None = None
    importance: Importance | None = None
    pinned: bool | None = None
    key: str | None = None
    tags: tuple[str, ...] | None = None
    negative: bool | None = None
    scope: Scope | None = None
    task: str = ""
    derived: tuple[EntryId, ...] | None = None
    informs: tuple[str, ...] | None = None


def add(
    memory: Memory,
    branch: str,
    text: str,
    traits: Traits | None = None,
    *,
    writer: Writer = Writer.USER,
    session: str = "",
) -> Written:
    """Add one fact. The same words a second time change nothing."""
    traits = traits or Traits()
    checked = guards.check(text, limit=memory.limits.entry, automatic=False)
    if isinstance(checked, Refusal):
        return Written("refused", branch, refusal=checked)
    made: list[Entry] = []

    def plan(now: Snapshot) -> Draft | Written:
        twin = next((entry for entry in now if entry.text == checked), None)
        if twin is not None and not twin.archived:
            return Written("duplicate", branch, entry=twin)
        fresh = Entry(
            twin.id if twin else entry_id(checked, _taken(now), memory.draw),
            checked,
            created=memory.stamp(),
            writer=writer,
            session=session,
        )
        # What was archived as cold and is said again comes back as itself, with its history.
        entry = _traits(replace(twin, archived=False) if twin else fresh, traits, memory.stamp())
        refusal = capacity.direct(memory.limits, now.characters, now.characters + len(checked), now)
        if refusal:
            return Written("refused", branch, refusal=refusal)
        made[:] = [entry]
        found = now.get(entry.id)
        edits = _moves(found, entry) if found else (Put(entry),)
        return _draft(edits, "add", (Change(entry.id, twin, entry),), writer, session)

    done = _published("added", memory, branch, plan, made, guards.warnings(checked))
    return _reinforced(memory, done, writer, session)


def reword(
    memory: Memory,
    branch: str,
    old: str,
    text: str,
    traits: Traits | None = None,
    *,
    writer: Writer = Writer.USER,
    session: str = "",
) -> Written:
    """Replace the whole text of the one entry that `old` means; it keeps its id."""
    traits = traits or Traits()
    checked = guards.check(text, limit=memory.limits.entry, automatic=False)
    if isinstance(checked, Refusal):
        return Written("refused", branch, refusal=checked)
    made: list[Entry] = []

    def plan(now: Snapshot) -> Draft | Written:
        found = addressing.find(now, old)
        if isinstance(found, Refusal):
            return Written("refused", branch, refusal=_exists_note(found, now, checked))
        if isinstance(found, Damaged):
            return Written("refused", branch, refusal=addressing.damaged(found))
        entry = _traits(replace(found.entry.with_text(checked), archived=False), traits, memory.stamp())
        twin = next((one for one in now if one.text == checked and one.id != entry.id), None)
        if twin is not None:
            return Written("refused", branch, entry=twin, refusal=_duplicate(twin))
        if entry == found.entry:
            return Written("duplicate", branch, entry=entry)
        before = 0 if found.entry.archived else len(found.entry.text)
        after = now.characters - before + len(checked)
        refusal = capacity.direct(memory.limits, now.characters, after, (one for one in now if one.id != entry.id))
        if refusal:
            return Written("refused", branch, refusal=refusal)
        made[:] = [entry]
        edits = _moves(found, entry)
        return _draft(edits, "replace", (Change(entry.id, found.entry, entry),), writer, session)

    done = _published("replaced", memory, branch, plan, made, guards.warnings(checked))
    return _reinforced(memory, done, writer, session)


def remove(memory: Memory, branch: str, old: str, *, writer: Writer = Writer.USER, session: str = "") -> Written:
    """Take the one entry that `old` means out of the branch. Its history stays."""
    made: list[Entry] = []

    def plan(now: Snapshot) -> Draft | Written:
        found = addressing.find(now, old)
        if isinstance(found, Refusal):
            return Written("refused", branch, refusal=found)
        if isinstance(found, Damaged):
            made.clear()
            message = Message(f"remove: {found.path}", f"- {found.path}\n  ({found.reason})", _trailers("", session))
            return Draft((Drop(found.path),), message, writer)
        made[:] = [found.entry]
        return _draft((Drop(found.path),), "remove", (Change(found.entry.id, found.entry, None),), writer, session)

    return _published("removed", memory, branch, plan, made, ())


def _published(
    outcome: Outcome,
    memory: Memory,
    branch: str,
    plan: Callable[[Snapshot], Draft | Written],
    made: list[Entry],
    warnings: tuple[str, ...],
) -> Written:
    answer = memory.change(branch, plan)
    if isinstance(answer, Written):
        return answer
    return Written(outcome, branch, answer, made[0] if made else None, warnings=warnings)


def _reinforced(memory: Memory, done: Written, writer: Writer, session: str) -> Written:
    """Whoever corrects or repeats an old entry says that it holds now: it must not stay faded out of the report. The
    branch does not change by that."""
    if done.entry is not None and done.outcome in ("added", "replaced", "duplicate"):
        signals.reworded(memory, done.branch, done.entry, by=writer, session=session)
    return done


def _draft(edits: tuple[Edit, ...], verb: str, changes: tuple[Change, ...], writer: Writer, session: str) -> Draft:
    subject = f"{verb}: {one_line(changes[0].entry.text)}"
    return Draft(edits, Message(subject, describe(changes), _trailers(entries_trailer(changes), session)), writer)


def _trailers(entries: str, session: str) -> tuple[tuple[str, str], ...]:
    found = [("Kind", str(CommitKind.WRITE))]
    if entries:
        found.append(("Entries", entries))
    if session:
        found.append(("Session", session))
    return tuple(found)


def _moves(found: Stored, entry: Entry) -> tuple[Edit, ...]:
    return (Put(entry),) if path_of(entry) == found.path else (Drop(found.path), Put(entry))


def _traits(entry: Entry, traits: Traits, now: str) -> Entry:
    if traits.category is not None:
        entry = replace(entry, category=traits.category)
    if traits.importance is not None and (traits.importance != entry.importance or not entry.assessed):
        entry = replace(entry, importance=traits.importance, assessed=now)
    if traits.pinned is not None:
        entry = replace(entry, pinned=traits.pinned)
    if traits.key is not None:
        entry = replace(entry, key=one_line(traits.key))
    if traits.tags is not None:
        entry = replace(entry, tags=tuple(dict.fromkeys(tag for one in traits.tags if (tag := one_line(one)))))
    return entry


def _taken(now: Snapshot) -> set[str]:
    return {path.rpartition("/")[2].removesuffix(".md") for path in now.files} | {
        str(EntryId(entry.id)) for entry in now
    }


def _duplicate(twin: Entry) -> Refusal:
    return Refusal(
        Rule.DUPLICATE,
        f"Entry `{twin.id}` says exactly that already. Nothing was written.",
        "remove the old entry instead of rewording it",
    )


def _exists_note(found: Refusal, now: Snapshot, text: str) -> Refusal:
    twin = next((entry for entry in now if entry.text == text), None)
    return replace(found, hint=f"the new text is there already as `{twin.id}`; {found.hint}") if twin else found
