"""Whether a reviewer's proposal may become a commit, and as what. Pure: nothing is written here.

Guaranteed: pinned entries are not touched, enforced ones not reworded, merged or removed; every text passed
the guards and contradicts no other entry; what it only says again is not stored twice; every operation rests
on evidence of the window, a preference and the turning round of a rule on the user's own words; the size rule
holds for the final state; one review never takes out more than a quarter of the memory, however the
removals are dressed. A removal in a proposal whose new text was refused is refused with it, because the
text that was to take its place is not coming."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from noforgetti.model.change import Add, Assess, Merge, Operation, Remove, Replace, State, apply
from noforgetti.model.entry import Category, Entry, EntryId, Importance, Scope
from noforgetti.model.evidence import Role
from noforgetti.policy import capacity, gate, keys
from noforgetti.policy.beside import Beside, beside, nearness
from noforgetti.policy.contradiction import contradicts
from noforgetti.policy.verdict import Refusal, Rule

if TYPE_CHECKING:
    from noforgetti.model.evidence import Window
    from noforgetti.policy.beside import Meaning
    from noforgetti.policy.capacity import Limits
    from noforgetti.review.proposal import AddFact, Fact, Proposal

SHARE = 0.25  # of the entries, and of the characters, that one review may remove; one entry is always allowed
_LOSSY = 0.25  # a merge shorter than this share of what it replaces counts as removing it

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")  # a host's time is data: only what looks like one is used

Documents = Sequence[tuple[str, str]]


class Check(Protocol):
    """The guards: `policy.guards.check`."""

    def __call__(self, text: str, /, *, limit: int, automatic: bool, documents: Documents = ()) -> str | Refusal: ...


class NewEntry(Protocol):
    """Makes the entry of an addition. `at` is the time of the newest evidence it cites, or empty: an entry
    is as old as what it rests on, not as its review. Importance counts as judged."""

    def __call__(self, text: str, *, category: Category, importance: Importance, at: str) -> Entry: ...


class Problem(StrEnum):
    """What a reviewer can put right when asked again."""

    SCHEMA = "schema"
    REFERENCE = "reference"  # an id or an evidence label that is not there
    ENTRY_SIZE = "entry-size"
    CAPACITY = "capacity"
    LOSS = "loss"  # a dream's text that does not say what it replaces

    @property
    def settles(self) -> bool:
        """True when the last attempt may end in a safe no-change: the answer was sound, it only did not
        fit."""
        return self in (Problem.ENTRY_SIZE, Problem.CAPACITY)


@dataclass(frozen=True, slots=True)
class Refused:
    """One operation that was left out, and why. `target` is the first entry it meant; for an addition the one
    it repeats or contradicts, if any. `text` is what was to be written."""

    action: str
    refusal: Refusal
    target: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Admitted:
    """Operations for one commit, and what was left out. `wide` belong to the user-wide memory; `similar` are
    pairs of a new entry and one that it may replace."""

    operations: tuple[Operation, ...]
    refused: tuple[Refused, ...] = ()
    wide: tuple[Add, ...] = ()
    similar: tuple[tuple[EntryId, EntryId], ...] = ()


@dataclass(frozen=True, slots=True)
class NoChange:
    """Nothing to write on this branch: nothing durable was said, or all of it was refused, known or `wide`."""

    refused: tuple[Refused, ...] = ()
    wide: tuple[Add, ...] = ()


@dataclass(frozen=True, slots=True)
class Retry:
    """The proposal as a whole cannot stand; asked again, the reviewer may do better."""

    problem: Problem
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Held:
    """More would go than one review may take: the operations wait for the user, nothing is written."""

    operations: tuple[Operation, ...]
    refusal: Refusal
    refused: tuple[Refused, ...] = ()


Verdict = Admitted | NoChange | Retry | Held


def admit(
    proposal: Proposal,
    window: Window,
    state: State,
    *,
    limits: Limits,
    check: Check,
    new_entry: NewEntry,
    now: str,
    documents: Documents = (),
    meaning: Meaning | None = None,
) -> Verdict:
    """What becomes of `proposal` on the branch `state`. `now` (RFC 3339 UTC) stamps judged importance; `meaning`
    answers cosines of a text and entries, None without a model."""
    judge = _Judge(window, state, limits, check, new_entry, now, documents, meaning)
    for fact in proposal.operations:
        problem = judge.take(fact)
        if problem is not None:
            return problem
    judge.drop_orphaned_removals()
    refused = tuple(judge.refused)
    operations = tuple(judge.operations)
    wide, similar = tuple(judge.wide), tuple(judge.similar)
    if not operations:
        return NoChange(refused, wide)
    after = apply(state, operations, now=now)
    if (excess := removal_bound(state, operations)) is not None:
        return Held(operations, excess, refused)
    if (over := capacity.review(limits, size(state), size(after))) is not None:
        return Retry(Problem.CAPACITY, over)
    return Admitted(operations, refused, wide, similar)


def size(state: State) -> int:
    """Characters of a state, as every limit counts them."""
    return sum(len(entry.text) for entry in state.values() if not entry.archived)


def removal_bound(state: State, operations: Sequence[Operation]) -> Refusal | None:
    """A refusal when more would go than one review may take. One entry may always go; beyond that, at most
    a quarter of the entries and of the characters. A merge that cannot hold what it replaces counts as
    removal."""
    gone = [state[one] for operation in operations for one in _lost(state, operation)]
    total, lost = size(state), sum(len(entry.text) for entry in gone)
    if len(gone) <= 1 or (len(gone) <= SHARE * len(state) and lost <= SHARE * total):
        return None
    message = (
        f"The review would remove {len(gone)} of {len(state)} entries ({lost:,} of {total:,} characters), "
        "more than a quarter. Nothing was written."
    )
    return Refusal(Rule.REMOVAL_BOUND, message, hint="look at the proposal and remove the entries by hand")


def _lost(state: State, operation: Operation) -> tuple[EntryId, ...]:
    match operation:
        case Remove(id=one):
            return (one,) if one in state else ()
        case Merge(ids=ids, text=text):
            known = tuple(one for one in ids if one in state)
            before = sum(len(state[one].text) for one in known)
            return known if len(text) < _LOSSY * before else ()
        case _:
            return ()


@dataclass(slots=True)
class _Judge:
    """One proposal being judged, operation by operation, on a state that moves with it."""

    window: Window
    state: State
    limits: Limits
    check: Check
    new_entry: NewEntry
    now: str
    documents: Documents
    meaning: Meaning | None = None
    operations: list[Operation] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    wide: list[Add] = field(default_factory=list)
    similar: list[tuple[EntryId, EntryId]] = field(default_factory=list)
    lost_text: bool = False
    about: str = ""  # the entry that the fact at hand repeats or contradicts
    resembles: tuple[EntryId, ...] = ()  # the entries that it may replace

    def take(self, fact: Fact) -> Retry | None:
        """Judge one operation; a problem ends the whole proposal."""
        self.about, self.resembles = "", ()
        known = {section.label for section in self.window.sections}
        if missing := [label for label in fact.evidence if label not in known]:
            return _reference(f"evidence `{missing[0]}` is not in the window", Rule.EVIDENCE)
        current = apply(self.state, self.operations, now=self.now)
        ids = _targets(fact)
        if absent := [one for one in ids if one not in current]:
            return _reference(f"no entry has the id {absent[0][:40]!a} at that point", Rule.UNKNOWN_ENTRY)
        refusal = _protected(fact, [current[one] for one in ids]) or self._unfounded(fact)
        text = refusal if refusal is not None else self._text(fact, current, ids)
        if not isinstance(text, Refusal) and hasattr(fact, "content"):
            text = self._judged(fact, text, current, ids)
        if isinstance(text, Refusal):
            if text.rule is Rule.TOO_LONG:
                return Retry(Problem.ENTRY_SIZE, text)
            self.lost_text |= hasattr(fact, "content") and text.rule is not Rule.DUPLICATE
            self._refuse(fact, text)
            return None
        if (operation := self._operation(fact, text, current)) is not None:
            self.operations.append(operation)
        return None

    def _unfounded(self, fact: Fact) -> Refusal | None:
        """A text rests on words, and a preference on the user's own: nobody else knows what the user
        prefers."""
        if not hasattr(fact, "content"):
            return None
        roles = {section.role for section in self.window.sections if section.label in fact.evidence}
        if roles <= {Role.TOOL}:
            return Refusal(Rule.EVIDENCE, "The cited evidence only says that tools ran, so it cannot carry a fact.")
        if getattr(fact, "category", None) is Category.PREFERENCE and Role.USER not in roles:
            return Refusal(Rule.EVIDENCE, "A preference must cite something that the user said.")
        return None

    def _text(self, fact: Fact, current: Mapping[EntryId, Entry], ids: Sequence[EntryId]) -> str | Refusal:
        content = getattr(fact, "content", None)
        if content is None:
            return ""
        text = self.check(content, limit=self.limits.entry, automatic=True, documents=self.documents)
        if isinstance(text, Refusal):
            return text
        same = next((one for one, entry in current.items() if entry.text == text and one not in ids), None)
        if same is None or getattr(fact, "key", None):
            return text
        return self._repeats(current[same], text)

    def _judged(self, fact: Fact, text: str, current: Mapping[EntryId, Entry], ids: Sequence[EntryId]) -> str | Refusal:
        """The text beside the other entries: what it contradicts is the user's to decide, what it repeats is known."""
        if fact.action == "add" and (unsure := _unsure(fact.confidence)) is not None:
            return unsure
        mine = [current[one] for one in ids]
        if (turned := self._turned(fact, text, mine)) is not None:
            return turned
        if fact.action == "add" and fact.key:
            return self._keyed(fact, text, current)
        others = [entry for one, entry in current.items() if one not in ids and not entry.archived]
        found = self._beside(text, others, negative=getattr(fact, "negative", False))
        if found.contradicted:
            self.about = found.contradicted[0].entry.id
            return gate.conflict(found.contradicted)
        if fact.action == "add":
            if found.repeats is not None:
                return self._repeats(found.repeats.entry, text)
            self.resembles = tuple(one.id for one in found.may_replace)
        return text

    def _beside(self, text: str, others: Sequence[Entry], *, negative: bool) -> Beside:
        return beside(text, others, negative=negative, cosines=nearness(text, self.meaning))

    def _repeats(self, entry: Entry, text: str) -> Refusal:
        self.about = entry.id
        return Refusal(Rule.DUPLICATE, f"Another entry says this already: `{entry.id}`", quote=text[:80])

    def _turned(self, fact: Fact, text: str, mine: Sequence[Entry]) -> Refusal | None:
        """Entries that contradict each other are not merged, and only the user's own words turn a rule round."""
        for index, one in enumerate(mine):
            for other in mine[index + 1 :]:
                if contradicts(one.text, other.text, new_negative=one.negative, old_negative=other.negative):
                    self.about = one.id
                    return Refusal(
                        Rule.CONTRADICTION,
                        f"These contradict each other, so they are not merged: `{one.id}` `{other.id}`",
                    )
            if not self._user_said(fact) and contradicts(text, one.text, old_negative=one.negative):
                self.about = one.id
                return Refusal(
                    Rule.CONTRADICTION, f"Only the user's own words may turn round what this entry says: `{one.id}`"
                )
        return None

    def _keyed(self, fact: AddFact, text: str, current: Mapping[EntryId, Entry]) -> str | Refusal:
        """The text of a fact with a key; what is there under the key yields to the user, or to more confidence."""
        name = keys.key(fact.key or "")
        if isinstance(name, Refusal):
            return name
        held = next((entry for entry in current.values() if entry.key == name), None)
        if held is None:
            return text
        self.about = held.id
        if held.text == text:
            return self._repeats(held, text)
        if (refusal := _protected(fact, [held])) is not None:
            return refusal
        sure = (fact.confidence or keys.SURE) >= (held.confidence or keys.SURE)
        if self._user_said(fact) or (held.writer.automatic and sure):
            return text
        return Refusal(
            Rule.CONFIDENCE, f"The fact `{name}` was said with more confidence, so it stays as it is: `{held.id}`"
        )

    def _user_said(self, fact: Fact) -> bool:
        return any(one.role is Role.USER and one.label in fact.evidence for one in self.window.sections)

    def _operation(self, fact: Fact, text: str, current: Mapping[EntryId, Entry]) -> Operation | None:
        cited = tuple(dict.fromkeys(fact.evidence))
        match fact.action:
            case "add":
                return self._added(fact, text, current, cited)
            case "replace":
                one = EntryId(fact.entry_id)
                if current[one].text != text:
                    return Replace(one, text, fact.importance, cited)
                return Assess(one, fact.importance, cited) if fact.importance else None
            case "remove":
                return Remove(EntryId(fact.entry_id), cited)
            case "assess":
                return Assess(EntryId(fact.entry_id), fact.importance, cited)
            case _:
                return Merge(_targets(fact), text, fact.importance, cited)

    def _added(
        self, fact: AddFact, text: str, current: Mapping[EntryId, Entry], cited: tuple[str, ...]
    ) -> Operation | None:
        name = keys.key(fact.key) if fact.key else ""
        assert not isinstance(name, Refusal)  # `_keyed` has seen it
        if name and (held := next((one for one in current.values() if one.key == name), None)) is not None:
            return Replace(held.id, text, fact.importance, cited, fact.confidence)
        category = (keys.category(name) if name else None) or fact.category
        made = self.new_entry(text, category=category, importance=fact.importance, at=self._time(cited))
        entry = replace(
            made, key=name, negative=fact.negative, tags=fact.tags, confidence=fact.confidence, scope=keys.scope(name)
        )
        if entry.scope is Scope.USER:
            self.wide.append(Add(entry, cited))
            return None
        self.similar += ((entry.id, one) for one in self.resembles)
        return Add(entry, cited)

    def _time(self, labels: Sequence[str]) -> str:
        cited = (section.at for section in self.window.sections if section.label in labels)
        return max((at for at in cited if _RFC3339.match(at)), default="")

    def _refuse(self, fact: Fact, refusal: Refusal) -> None:
        ids = _targets(fact)
        target = self.about or (ids[0] if ids else "")
        self.refused.append(Refused(fact.action, refusal, target, getattr(fact, "content", "")))

    def drop_orphaned_removals(self) -> None:
        """Without the text that was refused, removing what it was to replace would only lose."""
        if not self.lost_text:
            return
        for operation in [one for one in self.operations if isinstance(one, Remove)]:
            self.operations.remove(operation)
            message = f"Not removed, because a text of the same proposal was refused: `{operation.id}`"
            self.refused.append(Refused("remove", Refusal(Rule.REMOVAL_BOUND, message), operation.id))


def _targets(fact: Fact) -> tuple[EntryId, ...]:
    many = getattr(fact, "entry_ids", None)
    if many is not None:
        return tuple(EntryId(one) for one in many)
    one = getattr(fact, "entry_id", None)
    return (EntryId(one),) if one is not None else ()


def _unsure(confidence: float | None) -> Refusal | None:
    if confidence is None or confidence >= keys.SURE:
        return None
    return Refusal(Rule.CONFIDENCE, f"The fact is not sure enough to be kept: {confidence:g} of at least {keys.SURE}")


def _protected(fact: Fact, entries: Sequence[Entry]) -> Refusal | None:
    for entry in entries:
        if entry.pinned:
            return Refusal(Rule.PINNED, f"Automatic review leaves pinned entries as they are: `{entry.id}`")
        if entry.enforced and fact.action != "assess":
            return Refusal(Rule.ENFORCED, f"A rule is bound to this entry, so review may not reword it: `{entry.id}`")
    return None


def _reference(what: str, rule: Rule) -> Retry:
    return Retry(Problem.REFERENCE, Refusal(rule, f"The proposal was not used: {what}. Nothing was written."))
