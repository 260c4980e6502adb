"""Whether what a reviewer wants of a whole memory may become a commit, and as what. Pure: nothing is written here.

Guaranteed: pinned entries and those an undo brought back are not touched, enforced ones not reworded, merged, removed
or archived; every new text passed the guards and contradicts no entry; a text that takes the place of others says what
they said (`policy.retention`) and none of them contradicts another; what no other text says is archived where the
answer says remove; at most a quarter of the memory is set aside by one dream; above the maintenance goal nothing grows.
Not guaranteed: that a text which kept every name, number and most words means the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

from noforgetti.model.candidate import CandidateKind
from noforgetti.model.change import Add, Archive, Assess, Merge, Operation, Remove, Replace, apply, targets
from noforgetti.model.commit import clip, one_line
from noforgetti.model.entry import Entry, EntryId, Importance, Writer
from noforgetti.policy import capacity, keys, likeness, retention
from noforgetti.policy.beside import beside, nearness
from noforgetti.policy.contradiction import contradicts
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.review.admission import SHARE, Documents, Held, Problem, Refused, Retry, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from noforgetti.model.candidate import Candidate
    from noforgetti.model.change import State
    from noforgetti.model.entry import Category
    from noforgetti.policy.beside import Beside, Meaning
    from noforgetti.policy.capacity import Limits
    from noforgetti.review.admission import Check
    from noforgetti.review.dream.answer import Addition, Consolidation, Decision, Distil, Flag, Merging, Rewording, Step
    from noforgetti.review.dream.material import Material

_SHOWN = 60  # characters of a piece that a refusal names


@dataclass(frozen=True, slots=True)
class Resolved:
    """A candidate that is decided: `distilled` into `entry`, `known` (`entry` says it already), or `discarded`."""

    candidate: str
    outcome: str
    reason: str = ""
    entry: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """What an answer comes to: operations for one commit (perhaps none), decided candidates, what was left out."""

    operations: tuple[Operation, ...] = ()
    resolved: tuple[Resolved, ...] = ()
    refused: tuple[Refused, ...] = ()
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Rights:
    """What admission is handed: the limits, the guards, a maker of ids, the time of this dream (RFC 3339 UTC), the
    checked-in documents, and nearness in meaning where a model is at hand."""

    limits: Limits
    check: Check
    new_id: Callable[[str], EntryId]
    now: str
    documents: Documents = ()
    cosines: Meaning | None = None


def admit(
    answer: Consolidation, material: Material, rights: Rights, *, first: Sequence[Operation] = (), last: bool = False
) -> Settled | Retry | Held:
    """What becomes of `answer`. `first` are operations that came before it in the same commit. On the `last` attempt
    what cannot stand is left out by itself instead of being asked for again."""
    state = apply(material.state, first, now=rights.now)
    judge = _Judge(material, rights, state, state, last)
    for step in answer.operations:
        if (problem := judge.take(step)) is not None:
            return problem
    for decision in answer.candidates:
        if (problem := judge.decide(decision)) is not None:
            return problem
    if judge.lossy:
        return Retry(Problem.LOSS, Refusal(Rule.LOSS, " ".join(judge.lossy)))
    if (excess := _bound(material.state, judge.aside)) is not None:
        return Held((*first, *judge.operations), excess, tuple(judge.refused))
    over = capacity.dream(rights.limits, material.before, size(judge.state))
    if over is not None and not last:
        return Retry(Problem.CAPACITY, over)
    if over is not None:
        judge.drop_growth(over)
    flags = tuple(flag for flag in answer.flags if EntryId(flag.entry_id) in judge.state)
    return Settled(tuple(judge.operations), tuple(judge.resolved), tuple(judge.refused), flags)


def _bound(state: State, aside: Sequence[Entry]) -> Refusal | None:
    """A refusal when more would be set aside than one dream may. One entry may always go."""
    live = [entry for entry in state.values() if not entry.archived]
    total, lost = sum(len(entry.text) for entry in live), sum(len(entry.text) for entry in aside)
    if len(aside) <= 1 or (len(aside) <= SHARE * len(live) and lost <= SHARE * total):
        return None
    message = (
        f"The dream would set aside {len(aside)} of {len(live)} entries ({lost:,} of {total:,} characters), "
        "more than a quarter. Nothing was written."
    )
    return Refusal(Rule.REMOVAL_BOUND, message, hint="look at it with `noforgetti candidates`")


@dataclass(slots=True)
class _Judge:
    """One answer being judged, step by step, on a state that moves with it."""

    material: Material
    rights: Rights
    _base: State
    state: dict[EntryId, Entry]
    last: bool
    operations: list[Operation] = field(default_factory=list)
    resolved: list[Resolved] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    lossy: list[str] = field(default_factory=list)
    aside: list[Entry] = field(default_factory=list)

    def take(self, step: Step) -> Retry | None:
        """Judge one operation on entries; a problem ends the whole answer."""
        ids = _ids(step)
        for one in ids:
            if one not in self.state or self.state[one].archived:
                return _reference(f"no entry has the id {one[:40]!a} at that point", Rule.UNKNOWN_ENTRY)
        for cited in step.evidence:
            if EntryId(cited) not in self.material.state and self._candidate(cited) is None:
                return _reference(f"there is no entry or candidate {cited[:40]!a}", Rule.EVIDENCE)
        made = self._protected(step, ids) or self._made(step, ids)
        if isinstance(made, Retry):
            return made
        if isinstance(made, Refusal):
            self.refused.append(Refused(step.action, made, ids[0] if ids else ""))
        elif made is not None:
            self._do(made)
            for cited in step.evidence:
                candidate = self._candidate(cited)
                if candidate is not None and candidate.kind is CandidateKind.REPLACEMENT:
                    self._resolve(Resolved(candidate.id, "distilled", entry=ids[0] if ids else ""))
        return None

    def decide(self, decision: Decision) -> Retry | None:
        """Judge what becomes of one candidate. What is refused leaves the candidate waiting."""
        candidate = self._candidate(decision.candidate)
        if candidate is None:
            return _reference(f"there is no candidate {decision.candidate[:40]!a}", Rule.EVIDENCE)
        if any(one.candidate == candidate.id for one in self.resolved):
            return None
        if decision.action == "discard":
            self._resolve(Resolved(candidate.id, "discarded", decision.reason))
            return None
        made = self._distilled(decision, candidate)
        if isinstance(made, Retry):
            return made
        if isinstance(made, Refusal):
            self.refused.append(Refused("distil", made, candidate.id))
        elif isinstance(made, Resolved):
            self._resolve(made)
        else:
            self._do(made)
            self._resolve(Resolved(candidate.id, "distilled", entry=(*targets(made), *_added(made))[0]))
        return None

    def drop_growth(self, over: Refusal) -> None:
        """Leave out additions, the last first, until the rest fits; their candidates go on waiting. What still does
        not fit is left out whole."""
        while (added := [one for one in self.operations if isinstance(one, Add)]) and self._over():
            self._leave_out(added[-1], over)
        if self._over():
            for operation in self.operations[:]:
                self._leave_out(operation, over)

    def _over(self) -> bool:
        return capacity.dream(self.rights.limits, self.material.before, size(self.state)) is not None

    def _leave_out(self, operation: Operation, why: Refusal) -> None:
        self.operations.remove(operation)
        self.state = apply(self._base, self.operations, now=self.rights.now)
        own = (*targets(operation), *_added(operation))[0]
        self.resolved = [one for one in self.resolved if one.entry != own or one.outcome == "known"]
        self.refused.append(Refused(type(operation).__name__.lower(), why, own))

    def _do(self, operation: Operation) -> None:
        self.state = apply(self.state, [operation], now=self.rights.now)
        self.operations.append(operation)

    def _resolve(self, one: Resolved) -> None:
        if all(other.candidate != one.candidate for other in self.resolved):
            self.resolved.append(one)

    def _candidate(self, own: str) -> Candidate | None:
        return next((one for one in self.material.candidates if one.id == own), None)

    # ---- operations

    def _protected(self, step: Step, ids: Sequence[EntryId]) -> Refusal | None:
        for entry in (self.state[one] for one in ids):
            if entry.pinned:
                return Refusal(Rule.PINNED, f"A dream leaves pinned entries as they are: `{entry.id}`")
            if entry.enforced and step.action != "assess":
                return Refusal(Rule.ENFORCED, f"A rule is bound to this entry, so a dream leaves it: `{entry.id}`")
            if entry.id in self.material.settled:
                return Refusal(Rule.PINNED, f"An undo brought this entry back, so a dream leaves it: `{entry.id}`")
        return None

    def _made(self, step: Step, ids: tuple[EntryId, ...]) -> Operation | Refusal | Retry | None:
        cited = tuple(dict.fromkeys(step.evidence))
        match step.action:
            case "assess":
                return Assess(ids[0], step.importance, cited)
            case "archive":
                return self._archived(ids[0], cited)
            case "remove":
                return self._removed(ids[0], cited)
            case "replace":
                return self._reworded(step, ids[0], cited)
            case "add":
                return self._split(step, cited)
            case _:
                return self._merged(step, ids, cited)

    def _archived(self, one: EntryId, cited: tuple[str, ...]) -> Archive | Refusal:
        entry = self.state[one]
        if entry.importance is Importance.HIGH and not set(cited) - {one}:
            told = f"An entry of high importance is set aside only for another one or a candidate; cite it: `{one}`"
            return Refusal(Rule.EVIDENCE, told)
        self.aside.append(entry)
        return Archive(one, cited)

    def _removed(self, one: EntryId, cited: tuple[str, ...]) -> Operation | Refusal:
        """Out of the branch goes only what another entry says, or what a stored candidate takes the place of."""
        entry = self.state[one]
        others = [other for other in self.state.values() if other.id != one and not other.archived]
        for other in others:
            if other.negative == entry.negative and not retention.missing((entry.text,), other.text):
                return Remove(one, tuple(dict.fromkeys((*cited, other.id))))
        said = {_folded(other.text) for other in others}
        newer = [candidate for own in cited if (candidate := self._candidate(own)) and candidate.entry == one]
        if any(new.kind is CandidateKind.REPLACEMENT and _folded(new.text) in said for new in newer):
            return Remove(one, cited)
        return self._archived(one, cited)

    def _reworded(self, step: Rewording, one: EntryId, cited: tuple[str, ...]) -> Operation | Refusal | Retry | None:
        old = self.state[one]
        text = self._text(step.content, (one,))
        if not isinstance(text, str):
            return text
        if text == old.text:
            return Assess(one, step.importance, cited) if step.importance else None
        parts = [entry.text for entry in self.state.values() if one in entry.derived]
        if (lost := self._lost((old,), text, "\n".join([text, *parts]))) is not None:
            return lost
        return Replace(one, text, step.importance, cited)

    def _merged(self, step: Merging, ids: tuple[EntryId, ...], cited: tuple[str, ...]) -> Operation | Refusal | Retry:
        entries = [self.state[one] for one in ids]
        for one, other in combinations(entries, 2):
            if one.negative != other.negative or _clash(one, other):
                return Refusal(Rule.CONTRADICTION, f"`{one.id}` and `{other.id}` say opposite things: not merged.")
        if any(entry.key and entry.key != entries[0].key for entry in entries[1:]):
            return Refusal(Rule.KEY, f"A key would be lost; name the keyed entry first: `{ids[0]}`")
        text = self._text(step.content, ids)
        if not isinstance(text, str):
            return text
        if (lost := self._lost(entries, text, text)) is not None:
            return lost
        highest = min((entry.importance for entry in entries), key=_RANK.__getitem__)
        importance = step.importance or (highest if highest is not entries[0].importance else None)
        return Merge(ids, text, importance, cited)

    def _split(self, step: Addition, cited: tuple[str, ...]) -> Operation | Refusal | Retry:
        """A fact of its own, taken out of entries that it cites."""
        sources = tuple(EntryId(one) for one in cited if EntryId(one) in self.material.state)
        if not sources:
            return Refusal(Rule.EVIDENCE, "An added fact must cite an entry that says it; a candidate is distilled.")
        said = "\n".join(self.material.state[one].text for one in sources)
        if retention.missing((step.content,), said):
            return Refusal(Rule.EVIDENCE, "An added fact says more than the entries that it cites.")
        text = self._text(step.content, sources)
        if not isinstance(text, str):
            return text
        entry = replace(
            self._entry(text, step.importance, step.category),
            negative=step.negative,
            tags=step.tags,
            derived=sources,
        )
        return Add(entry, cited)

    # ---- candidates

    def _distilled(self, wanted: Distil, candidate: Candidate) -> Operation | Resolved | Refusal | Retry:
        key = ""
        if wanted.key:
            found = keys.key(wanted.key)
            if isinstance(found, Refusal):
                return found
            key = found
        if wanted.confidence is not None and wanted.confidence < keys.SURE:
            return Refusal(Rule.CONFIDENCE, f"A confidence of {wanted.confidence:g} is below {keys.SURE:g}.")
        keyed = next((entry.id for entry in self.state.values() if key and entry.key == key), None)
        old = self.state.get(keyed or EntryId(wanted.replaces or ""))
        if wanted.replaces and old is None:
            return _reference(f"no entry has the id {wanted.replaces[:40]!a} at that point", Rule.UNKNOWN_ENTRY)
        text = self._text(wanted.content, (old.id,) if old else (), negative=wanted.negative)
        if isinstance(text, Refusal) and text.rule is Rule.DUPLICATE:
            same = next(one for one in self.state.values() if one.text == text.quote)
            return text if same.archived else Resolved(candidate.id, "known", entry=same.id)
        if not isinstance(text, str):
            return text
        if old is None:
            nearest = self._beside(text, (), negative=wanted.negative).repeats
            if nearest is not None:
                return Resolved(candidate.id, "known", entry=nearest.entry.id)
        elif (refusal := self._may_replace(text, old, keyed=keyed is not None)) is not None:
            return refusal
        if old is not None:
            return Replace(old.id, text, wanted.importance, (candidate.id,), wanted.confidence)
        entry = replace(
            self._entry(text, wanted.importance, wanted.category),
            created=candidate.at or self.rights.now,
            session=candidate.session,
            key=key,
            confidence=wanted.confidence,
            negative=wanted.negative,
            tags=wanted.tags,
            informs=wanted.informs,
        )
        return Add(entry, (candidate.id,))

    def _may_replace(self, text: str, old: Entry, *, keyed: bool) -> Refusal | None:
        """Whether a candidate may take the place of an entry: it says the same in other words, or one value anew."""
        if old.pinned or old.enforced or old.id in self.material.settled:
            return Refusal(Rule.PINNED, f"A dream leaves this entry as it is: `{old.id}`")
        if keyed or likeness.compare(text, old.text, old_negative=old.negative) is not None:
            return None
        if not retention.missing((old.text,), text):
            return None
        return Refusal(Rule.LOSS, f"The candidate speaks of something else than the entry it would replace: `{old.id}`")

    # ---- texts

    def _text(self, content: str, own: Sequence[EntryId], *, negative: bool = False) -> str | Refusal | Retry:
        text = self.rights.check(
            content, limit=self.rights.limits.entry, automatic=True, documents=self.rights.documents
        )
        if isinstance(text, Refusal):
            return Retry(Problem.ENTRY_SIZE, text) if text.rule is Rule.TOO_LONG and not self.last else text
        same = next((one for one, entry in self.state.items() if entry.text == text and one not in own), None)
        if same is not None:
            return Refusal(Rule.DUPLICATE, f"Another entry says exactly this already: `{same}`", quote=text)
        negative = negative or any(self.state[one].negative for one in own if one in self.state)
        against = self._beside(text, (), negative=negative).contradicted
        if against:
            return Refusal(
                Rule.CONTRADICTION, f"The text contradicts an entry; the user decides: `{against[0].entry.id}`"
            )
        return text

    def _beside(self, text: str, own: Sequence[EntryId], *, negative: bool) -> Beside:
        others = [entry for one, entry in self.state.items() if one not in own and not entry.archived]
        return beside(text, others, negative=negative, cosines=nearness(text, self.rights.cosines))

    def _lost(self, entries: Iterable[Entry], text: str, said: str) -> Refusal | Retry | None:
        """What the new text loses of the old ones. Told back to the reviewer, all of it at once, while it may try
        again; the operation is left out in any case."""
        entries = tuple(entries)
        pieces = retention.missing([entry.text for entry in entries], said)
        if not pieces:
            return None
        named = ", ".join(f"`{clip(one_line(piece), _SHOWN)}`" for piece in pieces)
        ids = ", ".join(f"`{entry.id}`" for entry in entries)
        told = f"The new text for {ids} does not say {named}."
        if not self.last:
            self.lossy.append(told)
        return Refusal(Rule.LOSS, told, quote=text[:80])

    def _entry(self, text: str, importance: Importance, category: Category) -> Entry:
        now = self.rights.now
        return Entry(
            self.rights.new_id(text), text, category, importance, assessed=now, created=now, writer=Writer.DREAM
        )


_RANK = {Importance.HIGH: 0, Importance.NORMAL: 1, Importance.LOW: 2}


def _ids(step: Step) -> tuple[EntryId, ...]:
    many = getattr(step, "entry_ids", None)
    if many is not None:
        return tuple(EntryId(one) for one in many)
    one = getattr(step, "entry_id", None)
    return (EntryId(one),) if one is not None else ()


def _added(operation: Operation) -> tuple[EntryId, ...]:
    return (operation.entry.id,) if isinstance(operation, Add) else ()


def _clash(one: Entry, other: Entry) -> bool:
    return contradicts(one.text, other.text, new_negative=one.negative, old_negative=other.negative) is not None


def _folded(text: str) -> str:
    return one_line(text).casefold()


def _reference(what: str, rule: Rule) -> Retry:
    return Retry(Problem.REFERENCE, Refusal(rule, f"The answer was not used: {what}. Nothing was written."))
