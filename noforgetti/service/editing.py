"""Editing a whole branch as one document: what the user changed becomes one commit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from noforgetti.model.change import Change, diff
from noforgetti.model.commit import CommitKind, Message, counted, describe, entries_trailer
from noforgetti.model.entry import Entry, EntryId, Snapshot, Writer
from noforgetti.policy import capacity, gate, guards
from noforgetti.policy.beside import beside
from noforgetti.policy.document import DocumentError, Line, parse, render
from noforgetti.policy.names import entry_id
from noforgetti.policy.text import normalise
from noforgetti.policy.verdict import Refusal
from noforgetti.service.history import edits_of, states
from noforgetti.service.memory import Draft, Memory
from noforgetti.store.base import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from noforgetti.model.entry import CommitId


@dataclass(frozen=True, slots=True)
class Edited:
    """What became of an edit: `edited`, `nothing` (no entry differs) or `refused`."""

    outcome: str
    branch: str
    commit: CommitId | None = None
    changes: tuple[Change, ...] = ()
    refusal: Refusal | None = None


def document(branch: str, now: Snapshot) -> str:
    """The branch as a document to edit."""
    head = (now.commit or "nothing")[:12]
    preface = f"Memory branch {branch} at {head}. One bullet is one entry; the id in brackets keeps its history."
    return render(now, preface=preface)


def save(memory: Memory, branch: str, base: Snapshot, text: str) -> Edited:
    """Write what `text` changes of `base` as one commit. Raises `DocumentError`, and `Conflict` when an entry that the
    edit touches was changed meanwhile; other changes made meanwhile stay."""
    wanted = _wanted(memory, base, parse(text))
    if isinstance(wanted, Refusal):
        return Edited("refused", branch, refusal=wanted)
    before = states(base)
    planned = diff(before, wanted)
    done: list[tuple[Change, ...]] = []

    def plan(now: Snapshot) -> Draft | Edited:
        current = states(now)
        if any(current.get(change.id) != change.before for change in planned):
            raise Conflict(branch, base.commit, now.commit)
        after = {one: entry for one, entry in current.items() if one not in before} | {
            one: current.get(one, entry) if before.get(one) == entry else entry for one, entry in wanted.items()
        }
        changes = diff(current, after)
        if not changes:
            return Edited("nothing", branch)
        size = sum(len(entry.text) for entry in after.values() if not entry.archived)
        refusal = capacity.direct(memory.limits, now.characters, size, after.values())
        if refusal:
            return Edited("refused", branch, refusal=refusal)
        done[:] = [changes]
        trailers = (("Kind", str(CommitKind.EDIT)), ("Entries", entries_trailer(changes)))
        return Draft(edits_of(now, changes), Message(f"edit: {counted(changes)}", describe(changes), trailers))

    answer = memory.change(branch, plan)
    return answer if isinstance(answer, Edited) else Edited("edited", branch, answer, done[0])


def _wanted(memory: Memory, base: Snapshot, lines: tuple[Line, ...]) -> dict[EntryId, Entry] | Refusal:
    before = states(base)
    taken = {str(one) for one in before}
    wanted: dict[EntryId, Entry] = {}
    texts: dict[str, EntryId] = {}
    fresh: list[tuple[Line, Entry]] = []
    for line in lines:
        old = before.get(line.id) if line.id is not None else None
        if line.id is not None and old is None:
            raise DocumentError(
                line.number,
                f"names the id `{line.id}`, which is not there (no new entry ends in a word in brackets)",
            )
        untouched = old is not None and line.stands_for(old)
        text = old.text if old is not None and untouched else normalise(line.text)
        if old is None or text != old.text:
            checked = guards.check(text, limit=memory.limits.entry, automatic=False)
            if isinstance(checked, Refusal):
                return replace(checked, message=f"Line {line.number}: {checked.message}")
            text = checked
        entry = old if old is not None and untouched else _entry(memory, line, text, old, taken)
        if not entry.key:  # facts with keys may share a value
            if text in texts:
                raise DocumentError(line.number, f"says exactly what `{texts[text]}` says already")
            texts[text] = entry.id
        wanted[entry.id] = entry
        if old is None or text != old.text:
            fresh.append((line, entry))
    return _conflict(fresh, wanted) or wanted


def _conflict(fresh: Iterable[tuple[Line, Entry]], wanted: Mapping[EntryId, Entry]) -> Refusal | None:
    """What a new line contradicts in the document as it would be; the same edit may take the other line out."""
    for line, entry in fresh:
        others = [one for one in wanted.values() if one.id != entry.id and not one.archived]
        found = beside(entry.text, others, negative=entry.negative)
        if found.contradicted:
            refusal = gate.conflict(found.contradicted)
            hint = f"take `{found.contradicted[0].entry.id}` out in the same edit if it no longer holds"
            return replace(refusal, message=f"Line {line.number}: {refusal.message}", hint=hint)
    return None


def _entry(memory: Memory, line: Line, text: str, old: Entry | None, taken: set[str]) -> Entry:
    now = memory.stamp()
    if old is None:
        old = Entry(entry_id(text, taken, memory.draw), text, created=now, writer=Writer.USER)
        taken.add(old.id)
    assessed = now if line.importance is not old.importance else old.assessed
    return replace(
        old, text=text, category=line.category, importance=line.importance, assessed=assessed, pinned=line.pinned
    )
