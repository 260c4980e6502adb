"""Direct writes: what a user or an agent asks for in words. Visible to every other process at once.

A write is planned on the branch's current head and published by compare-and-swap; when the head moves meanwhile, it is
planned again, so `OLD` always means an entry of the memory it is applied to.

Every text passes the same chain, whoever writes it: the guards, then its key, then what stands beside it. What the new
text contradicts is a decision for the user; what it repeats is reinforced; what it may replace is stored beside it, and
the pair goes to the queue of candidates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from noforgetti.model.candidate import Candidate, CandidateKind
from noforgetti.model.change import Change
from noforgetti.model.commit import CommitKind, Message, clip, describe, entries_trailer, one_line, trailers
from noforgetti.model.entry import (
    MAIN,
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
from noforgetti.policy import addressing, capacity, gate, guards, keys
from noforgetti.policy.beside import Beside, beside, nearness
from noforgetti.policy.names import entry_id
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.service import signals
from noforgetti.service.history import edits_of
from noforgetti.service.memory import Draft, Memory
from noforgetti.store.base import Drop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Outcome = Literal["added", "replaced", "removed", "duplicate", "reinforced", "refused"]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a direct write. `commit` is None when the branch did not move; `refusal` says why it was refused.

    `conflicts` are the entries that a refused text contradicts, `superseded` those whose place it took; `similar` stay
    beside it, and wait as candidates for somebody to say whether it replaces them. `evidence` is what a repeated entry
    has now. `scope` says in which memory it happened.
    """

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
    source: str | None = None
    confidence: float | None = None


def add(
    memory: Memory,
    branch: str,
    text: str,
    traits: Traits | None = None,
    *,
    writer: Writer = Writer.USER,
    session: str = "",
    override: bool = False,
    force: bool = False,
) -> Written:
    """Remember one fact. A key that is there already means its entry, which is reworded.

    The same words a second time change nothing on the branch and reinforce. `override` says that the user confirmed a
    changed rule: what the text contradicts is superseded, unless it is pinned. `force` stores what says the same as an
    entry in other words.
    """
    write = _Write.of(memory, branch, text, traits or Traits(), writer, session, override=override, force=force)
    if isinstance(write, Refusal):
        return Written("refused", branch, refusal=write)
    if not write.scope.lasting:
        return write.passing()
    return write.published(write.added)


def reword(
    memory: Memory,
    branch: str,
    old: str,
    text: str | None,
    traits: Traits | None = None,
    *,
    writer: Writer = Writer.USER,
    session: str = "",
    override: bool = False,
) -> Written:
    """Replace the whole text of the one entry that `old` means (None: only what `traits` say); it keeps its id. What it
    said before is no contradiction; what another entry says is (see `add`)."""
    memory, branch = _holding(memory, branch, old)
    traits = replace(traits or Traits(), scope=_scope_of(memory))
    write = _Write.of(memory, branch, text, traits, writer, session, override=override)
    if isinstance(write, Refusal):
        return Written("refused", branch, refusal=write)
    return write.published(lambda now: write.reworded(now, old))


def _passing(memory: Memory, branch: str, old: str, writer: Writer, session: str) -> Written | None:
    """Take an entry out that holds for a session or a task only, if `old` means one."""
    from noforgetti.service import scoped

    found = addressing.find(scoped.snapshot(memory, branch)[0], old)
    if not isinstance(found, Stored):
        return None
    scoped.drop(memory, branch, (found.entry.id,), writer=writer, session=session)
    return Written("removed", branch, entry=found.entry, scope=found.entry.scope)


def invalidate(
    memory: Memory, branch: str, old: str, by: str = "", *, writer: Writer = Writer.USER, session: str = ""
) -> Written:
    """Take out the entry that `old` means; the one that `by` means, if any, says that it took its place."""
    memory, branch = _holding(memory, branch, old)
    made: list[Entry] = []

    def plan(now: Snapshot) -> Draft | Written:
        made.clear()
        found = addressing.meant(now, old)
        heir = addressing.meant(now, by) if by else None
        for one in (found, heir):
            if isinstance(one, Refusal):
                return Written("refused", branch, refusal=one)
        assert isinstance(found, Stored)
        gone = Change(found.entry.id, found.entry, None)
        made.append(found.entry)
        if not isinstance(heir, Stored) or heir.entry.id == found.entry.id:
            return _draft(now, "invalidate", (gone,), writer, session)
        entry = replace(heir.entry, supersedes=tuple(dict.fromkeys((*heir.entry.supersedes, found.entry.id))))
        changes = (gone, Change(entry.id, heir.entry, entry))
        return _draft(now, "invalidate", changes, writer, session, supersedes=entry.id)

    answer = memory.change(branch, plan)
    if isinstance(answer, Written):
        return answer
    return Written("removed", branch, answer, made[0], scope=_scope_of(memory))


def remove(memory: Memory, branch: str, old: str, *, writer: Writer = Writer.USER, session: str = "") -> Written:
    """Take the one entry that `old` means out of the branch. Its history stays."""
    made: list[Entry] = []

    def plan(now: Snapshot) -> Draft | Written:
        made.clear()
        found = addressing.find(now, old)
        if isinstance(found, Refusal):
            return _passing(memory, branch, old, writer, session) or Written("refused", branch, refusal=found)
        if isinstance(found, Damaged):
            message = Message(
                f"remove: {found.path}",
                f"- {found.path}\n  ({found.reason})",
                trailers(CommitKind.WRITE, session=session),
            )
            return Draft((Drop(found.path),), message, writer)
        made.append(found.entry)
        return _draft(now, "remove", (Change(found.entry.id, found.entry, None),), writer, session)

    memory, branch = _holding(memory, branch, old)
    answer = memory.change(branch, plan)
    if isinstance(answer, Written):
        return answer
    return Written("removed", branch, answer, made[0] if made else None, scope=_scope_of(memory))


def _holding(memory: Memory, branch: str, old: str) -> tuple[Memory, str]:
    """The memory that holds what `old` means: the project's, else the user-wide one."""
    wide = memory.wide
    if memory.is_wide or not wide.exists:
        return memory, branch
    here = addressing.find(memory.snapshot(branch), old)
    if not isinstance(here, Refusal) or here.rule is not Rule.UNKNOWN_ENTRY:
        return memory, branch
    return (memory, branch) if isinstance(addressing.find(wide.snapshot(MAIN), old), Refusal) else (wide, MAIN)


@dataclass(slots=True)
class _Write:
    """One text on its way: planned on a snapshot, perhaps more than once."""

    memory: Memory
    branch: str
    text: str
    traits: Traits
    scope: Scope
    writer: Writer
    session: str
    override: bool
    force: bool
    made: Entry | None = None
    superseded: tuple[Entry, ...] = ()
    similar: tuple[Entry, ...] = ()
    outcome: Outcome = "added"
    keeps: bool = False  # no new text: only what the traits say

    @classmethod
    def of(
        cls,
        memory: Memory,
        branch: str,
        text: str | None,
        traits: Traits,
        writer: Writer,
        session: str,
        *,
        override: bool = False,
        force: bool = False,
    ) -> _Write | Refusal:
        """The write, its text and key in order, turned to the memory it belongs to; or why it is refused."""
        if traits.key:
            name = keys.key(traits.key)
            if isinstance(name, Refusal):
                return name
            traits = replace(
                traits,
                key=name,
                category=traits.category or keys.category(name),
                scope=traits.scope or keys.scope(name),
            )
        if (off := _label_off(traits)) is not None:
            return off
        scope = traits.scope or _scope_of(memory)
        checked: str | Refusal = ""
        if text is not None:
            checked = guards.check(text, limit=memory.limits.entry, automatic=writer.automatic, scope=scope)
        if isinstance(checked, Refusal):
            return checked
        if scope is Scope.USER:
            memory, branch = memory.wide, MAIN
        return cls(memory, branch, checked, traits, scope, writer, session, override, force, keeps=text is None)

    # ---- plans

    def added(self, now: Snapshot) -> Draft | Written:
        """Plan an addition, or the rewording of the entry that has the key."""
        self.superseded, self.similar = (), ()  # of an earlier plan
        if self.traits.key and (held := next((one for one in now.entries if one.entry.key == self.traits.key), None)):
            if held.entry.pinned and self.writer is not Writer.USER:
                return Written("refused", self.branch, entry=held.entry, refusal=_pinned(held.entry))
            return self._again(now, held)
        twin = next((one for one in now.entries if one.entry.text == self.text and not one.entry.key), None)
        if self.traits.key:
            twin = None  # two facts may have one value
        if twin is not None and not twin.entry.archived:
            return Written("duplicate", self.branch, entry=twin.entry, scope=self.scope)
        refusal = self._beside(now, twin.entry.id if twin else None)
        if refusal is not None:
            return refusal
        self.outcome = "added"
        if twin is not None:
            # What was archived as cold and is said again comes back as itself, with its history.
            return self._drafted(now, "add", replace(twin.entry, archived=False), twin)
        made = entry_id(self.text, _taken(now), self.memory.draw)
        fresh = Entry(made, self.text, created=self.memory.stamp(), writer=self.writer, session=self.session)
        return self._drafted(now, "add", fresh, None)

    def reworded(self, now: Snapshot, old: str) -> Draft | Written:
        """Plan the rewording of what `old` means."""
        self.superseded, self.similar = (), ()  # of an earlier plan
        found = addressing.find(now, old)
        if isinstance(found, Refusal):
            return Written("refused", self.branch, refusal=_exists_note(found, now, self.text))
        if isinstance(found, Damaged):
            return Written("refused", self.branch, refusal=addressing.damaged(found))
        if self.keeps:
            self.text = found.entry.text
        twin = next((one for one in now if _same(one, found.entry, self.text)), None)
        if twin is not None:
            return Written("refused", self.branch, entry=twin, refusal=_duplicate(twin))
        return self._again(now, found)

    def _again(self, now: Snapshot, held: Stored) -> Draft | Written:
        """Plan the new wording of an entry that is there."""
        entry = held.entry
        if self.traits.key and any(one.key == self.traits.key and one.id != entry.id for one in now):
            return Written("refused", self.branch, refusal=_key_taken(self.traits.key, now))
        again = replace(entry.with_text(self.text), archived=False)
        if self._worded(again) == entry:
            return Written("duplicate", self.branch, entry=entry, scope=self.scope)
        if self.text != entry.text:
            refusal = self._beside(now, entry.id, only_contradictions=True)
            if refusal is not None:
                return refusal
        self.outcome = "replaced"
        return self._drafted(now, "replace", again, held)

    def _beside(self, now: Snapshot, own: EntryId | None, *, only_contradictions: bool = False) -> Written | None:
        """What stands against writing the text beside the other entries; notes what it supersedes and resembles."""
        others = [one for one in now if one.id != own and not one.archived]
        found = self._compared(others)
        conflicts = tuple(one.entry for one in found.contradicted)
        if conflicts and not (self.override and not any(one.pinned for one in conflicts)):
            refusal = gate.conflict(found.contradicted)
            return Written("refused", self.branch, refusal=refusal, conflicts=conflicts, scope=self.scope)
        self.superseded = conflicts
        if only_contradictions or self.traits.key:
            return None
        if found.repeats is not None and not self.force:
            return Written("reinforced", self.branch, entry=found.repeats.entry, scope=self.scope)
        self.similar = () if self.force else found.may_replace
        return None

    def _compared(self, others: Sequence[Entry]) -> Beside:
        cosines = nearness(self.text, self.memory.meaning)
        return beside(self.text, others, negative=bool(self.traits.negative), cosines=cosines)

    def _drafted(self, now: Snapshot, verb: str, entry: Entry, held: Stored | None) -> Draft | Written:
        gone = {one.id for one in self.superseded}
        entry = self._worded(entry)
        if gone:
            entry = replace(
                entry, supersedes=tuple(dict.fromkeys((*entry.supersedes, *(one.id for one in self.superseded))))
            )
        size = now.characters + len(entry.text) - sum(len(one.text) for one in self.superseded)
        if held is not None and not held.entry.archived:
            size -= len(held.entry.text)
        rest = [one for one in now if one.id not in gone and one.id != entry.id]
        refusal = capacity.direct(self.memory.limits, now.characters, size, rest)
        if refusal:
            return Written("refused", self.branch, refusal=refusal)
        self.made = entry
        changes = (
            Change(entry.id, held.entry if held else None, entry),
            *(Change(one.id, one, None) for one in now if one.id in gone),
        )
        return _draft(now, verb, changes, self.writer, self.session, supersedes=entry.id if gone else "")

    def _worded(self, entry: Entry) -> Entry:
        return _traits(entry, self.traits, self.scope, self.memory.stamp())

    # ---- carrying out

    def published(self, plan: Callable[[Snapshot], Draft | Written]) -> Written:
        """Carry the plan out, then what follows it beside the branch: evidence, and what waits for a decision."""
        answer = self.memory.change(self.branch, plan)
        if isinstance(answer, Written):
            done = answer
        else:
            warnings = (*guards.warnings(self.text), *_resembles(self.similar), *_unruled(self.superseded))
            done = Written(
                self.outcome,
                self.branch,
                answer,
                self.made,
                warnings=warnings,
                superseded=self.superseded,
                similar=self.similar,
                scope=self.scope,
            )
            self._queued(done)
        return self._reinforced(done)

    def passing(self) -> Written:
        """Keep a text that holds for this session or task only, beside the branch."""
        from noforgetti.service import scoped

        made = entry_id(self.text, _taken(self.memory.snapshot(self.branch)), self.memory.draw)
        entry = Entry(made, self.text, created=self.memory.stamp(), writer=self.writer, session=self.session)
        kept = scoped.put(self.memory, self.branch, replace(self._worded(entry), task=self.traits.task))
        return Written(kept.outcome, self.branch, kept.commit, kept.entry, kept.refusal, scope=self.scope)

    def _queued(self, done: Written) -> None:
        """Pairs of which one may replace the other wait for a decision. The write itself is done by then."""
        from noforgetti.service.candidates import queue

        at = self.memory.stamp()
        waiting = [
            Candidate(
                "",
                CandidateKind.REPLACEMENT,
                self.text,
                _why(done, one),
                one.id,
                self.session,
                at=at,
                writer=self.writer,
            )
            for one in done.similar
        ]
        if waiting:
            self.memory.aside(lambda: queue(self.memory, self.branch, waiting, by=self.writer))

    def _reinforced(self, done: Written) -> Written:
        """Whoever repeats an entry is one more piece of evidence for it, and whoever corrects an old one says that it
        holds now: it must not stay faded out of the report. The branch does not change by either."""
        if done.entry is None or done.outcome in ("refused", "removed"):
            return done
        memory, entry = self.memory, done.entry
        if done.outcome not in ("duplicate", "reinforced"):
            signals.reworded(memory, self.branch, entry, by=self.writer, session=self.session)
            return done
        counted = memory.aside(
            lambda: signals.reinforce(memory, self.branch, (entry.id,), by=self.writer, session=self.session)
        )
        if counted is None or entry.id not in counted.signals:
            return done
        from noforgetti.service import promotions

        passed = promotions.after_reinforcement(memory, self.branch, (entry.id,), by=self.writer, session=self.session)
        told = (
            *(
                f"It is proposed as {one.destination}: `noforgetti promotions show {one.id}`."
                for one in passed.proposed
            ),
            *(f"It became a rule: `noforgetti promotions show {one.id}`." for one in passed.applied),
        )
        return replace(done, evidence=counted.signals[entry.id].evidence, warnings=(*done.warnings, *told))


def _why(done: Written, one: Entry) -> str:
    own = done.entry.id if done.entry else ""
    return f"entry `{own}` may replace `{one.id}`: {clip(one_line(one.text), 100)}"


def _scope_of(memory: Memory) -> Scope:
    return Scope.USER if memory.is_wide else Scope.PROJECT


def _same(one: Entry, entry: Entry, text: str) -> bool:
    """Whether another entry says exactly the text. Facts with keys may share a value."""
    return one.text == text and one.id != entry.id and not (one.key and entry.key)


def _draft(
    now: Snapshot,
    verb: str,
    changes: tuple[Change, ...],
    writer: Writer,
    session: str,
    *,
    supersedes: str = "",
) -> Draft:
    subject = f"{verb}: {one_line(changes[0].entry.text)}"
    told = trailers(CommitKind.WRITE, entries_trailer(changes), session)
    if supersedes:
        gone = " ".join(change.id for change in changes if change.after is None)
        told = (*told, ("Supersedes", f"{supersedes} {gone}"))
    return Draft(edits_of(now, changes), Message(subject, describe(changes), told), writer)


def _traits(entry: Entry, traits: Traits, scope: Scope, now: str) -> Entry:
    if traits.importance is not None and (traits.importance != entry.importance or not entry.assessed):
        entry = replace(entry, importance=traits.importance, assessed=now)
    return replace(
        entry,
        category=entry.category if traits.category is None else traits.category,
        pinned=entry.pinned if traits.pinned is None else traits.pinned,
        key=entry.key if traits.key is None else traits.key,
        negative=entry.negative if traits.negative is None else traits.negative,
        tags=entry.tags if traits.tags is None else _lines(traits.tags),
        derived=entry.derived if traits.derived is None else traits.derived,
        informs=entry.informs if traits.informs is None else _lines(traits.informs),
        confidence=entry.confidence if traits.confidence is None else traits.confidence,
        session=entry.session if traits.source is None else one_line(traits.source),
        scope=scope,
    )


def _label_off(traits: Traits) -> Refusal | None:
    said = [("name of the task", traits.task), ("name of the source", traits.source or "")]
    said += [("tag", one) for one in traits.tags or ()] + [("name", one) for one in traits.informs or ()]
    return next((found for what, words in said if (found := guards.label(what, words)) is not None), None)


def _lines(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for one in words if (line := one_line(one))))


def _taken(now: Snapshot) -> set[str]:
    return {path.rpartition("/")[2].removesuffix(".md") for path in now.files} | {
        str(EntryId(entry.id)) for entry in now
    }


def _resembles(similar: Iterable[Entry]) -> tuple[str, ...]:
    return tuple(
        f"It may replace `{one.id}` ({clip(one_line(one.text), 60)}); both are kept, and the pair waits in "
        "`noforgetti candidates`."
        for one in similar
    )


def _unruled(superseded: Iterable[Entry]) -> tuple[str, ...]:
    return tuple(f"The rule bound to `{one.id}` went with it." for one in superseded if one.enforced)


def _pinned(entry: Entry) -> Refusal:
    return Refusal(
        Rule.PINNED, f"Entry `{entry.id}` is pinned, so only the user changes it. Nothing was written.", "ask the user"
    )


def _key_taken(name: str, now: Snapshot) -> Refusal:
    other = next(one for one in now if one.key == name)
    return Refusal(
        Rule.KEY,
        f"Entry `{other.id}` has the key `{name}` already. Nothing was written.",
        f"reword that one, or remove it first: `noforgetti remove {other.id}`",
        name,
    )


def _duplicate(twin: Entry) -> Refusal:
    return Refusal(
        Rule.DUPLICATE,
        f"Entry `{twin.id}` says exactly that already. Nothing was written.",
        "remove the old entry instead of rewording it",
    )


def _exists_note(found: Refusal, now: Snapshot, text: str) -> Refusal:
    twin = next((entry for entry in now if entry.text == text), None)
    return replace(found, hint=f"the new text is there already as `{twin.id}`; {found.hint}") if twin else found
