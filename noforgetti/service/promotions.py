"""Promotions: the pass that looks which memories became more than a memory.

A pass runs when a reinforcement takes an entry across a threshold, after a dream, and over what a dream or a
consolidation flagged. It publishes one commit: what it proposes, and the rules whose words leave no doubt. What
somebody settled, by accepting or rejecting, is never proposed again, and a rule that somebody took back is never
applied again by itself. What a user decides is in `service.settling`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from noforgetti.model.change import Change
from noforgetti.model.commit import CommitKind, Message, describe, entries_trailer, one_line
from noforgetti.model.entry import Entry, EntryId, Importance, Writer
from noforgetti.model.promotion import Destination, Promotion, Status
from noforgetti.model.signal import NEW
from noforgetti.policy import promotion as policy
from noforgetti.policy import scoring
from noforgetti.policy import skill as packages
from noforgetti.policy.implied_rule import implied
from noforgetti.policy.promotion import Judgement
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.service import promotions_file, signals
from noforgetti.service.history import edits_of
from noforgetti.service.memory import Draft, Memory
from noforgetti.store import promotions as file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from noforgetti.model.entry import CommitId, Snapshot
    from noforgetti.model.signal import Signal
    from noforgetti.store.base import Edit

_TRAILER = "Promoted"


@dataclass(frozen=True, slots=True)
class Flag:
    """An entry that a dream or a consolidation found worth a promotion, whatever its evidence. Only ever proposed."""

    entry: EntryId
    destination: Destination
    reason: str = ""
    name: str = ""  # of a skill


@dataclass(frozen=True, slots=True)
class Passed:
    """What a pass did. `commit` is None when there was nothing to do."""

    branch: str
    proposed: tuple[Promotion, ...] = ()
    applied: tuple[Promotion, ...] = ()
    withdrawn: tuple[Promotion, ...] = ()
    commit: CommitId | None = None


def queue(memory: Memory, branch: str) -> file.Queue:
    """The promotions of the branch, in the order in which they were proposed."""
    return promotions_file.queue(memory, memory.snapshot(branch))


def find(known: file.Queue, own: str) -> Promotion | Refusal:
    """The promotion whose id is `own`, or begins with it."""
    wanted = own.strip().lower()
    found = [one for one in known if wanted and one.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    what = "More than one promotion has" if found else "No promotion has"
    return Refusal(
        Rule.AMBIGUOUS if found else Rule.UNKNOWN_ENTRY,
        f"{what} an id that begins with `{one_line(own)[:40]}`. Nothing was written.",
        "list them with `noforgetti promotions list --all`",
    )


# ---- the pass


def after_reinforcement(
    memory: Memory, branch: str, entry_ids: Iterable[EntryId], *, by: Writer = Writer.AGENT, session: str = ""
) -> Passed:
    """The pass over entries that were just reinforced, each by one: only over those that reached a threshold. The
    reinforcement is done by then, so trouble is a trace."""
    known = signals.read(memory, branch).by_id
    reached = [one for one in entry_ids if policy.crosses((count := known.get(one, NEW).evidence) - 1, count)]
    if not reached:
        return Passed(branch)
    return memory.aside(lambda: run(memory, branch, reached, by=by, session=session)) or Passed(branch)


def run(
    memory: Memory,
    branch: str,
    entry_ids: Iterable[EntryId] | None = None,
    *,
    flags: Iterable[Flag] = (),
    by: Writer = Writer.DREAM,
    session: str = "",
) -> Passed:
    """Look which of the entries became more than a memory; None means all, and then faded ones and promotions without
    their entry, too. One commit, or none. Raises what the store raises."""
    chosen = None if entry_ids is None else frozenset(entry_ids)
    flagged = {one.entry: one for one in flags}
    done: list[Passed] = []

    def plan(now: Snapshot) -> Draft | Passed:
        work = _Pass(memory, branch, now)
        useless = _useless(memory, branch, now) if chosen is None else {}
        for entry in now:
            flag = flagged.get(entry.id)
            if flag is not None and flag.destination is not Destination.MEMORY:
                work.offer(entry, (_flagged(entry, flag),), flagged=True)
            elif chosen is None or entry.id in chosen:
                work.offer(entry, policy.judge(entry, work.evidence(entry.id), useless=useless.get(entry.id, "")))
        if chosen is None:
            work.withdraw()
        if not work.changed:
            return Passed(branch)
        done[:] = [work.passed()]
        return work.draft(by, session)

    answer = memory.change(branch, plan)
    return answer if isinstance(answer, Passed) else replace(done[0], commit=answer)


class _Pass:
    """One look at one snapshot: what it finds, and the commit that says so."""

    def __init__(self, memory: Memory, branch: str, now: Snapshot) -> None:
        self._memory, self._branch, self._now = memory, branch, now
        self._data = promotions_file.read(memory, now)
        self._known = file.decode(self._data)
        self._signals: Mapping[EntryId, Signal] = signals.read(memory, branch).by_id
        self._refused: frozenset[str] | None = None
        self.changed: dict[str, Promotion | None] = {}
        self._entries: list[Change] = []

    def evidence(self, own: EntryId) -> int:
        return self._signals.get(own, NEW).evidence

    def offer(self, entry: Entry, judgements: Iterable[Judgement], *, flagged: bool = False) -> None:
        """Queue the first thing that the entry may become and that nobody settled."""
        for judgement in judgements:
            fresh = self._fresh(entry, judgement)
            standing = self._standing(entry, fresh)
            if standing is not None and not standing.open:
                continue
            if standing is not None and standing.text == entry.text:
                return
            if standing is not None:  # it was reworded since
                self.changed[standing.id] = None
            if judgement.sure and standing is None and not (flagged or entry.pinned) and not self._taken_back(fresh.id):
                rule = policy.rule_text(fresh.trigger, fresh.action, fresh.verifier)
                if isinstance(rule, str):
                    fresh = replace(fresh, status=Status.APPLIED)
                    self._entries.append(Change(entry.id, entry, replace(entry, rule=rule)))
            self.changed[fresh.id] = fresh
            return

    def withdraw(self) -> None:
        """Take out proposals that have nothing left to speak of."""
        for one in self._known:
            stored = self._now.get(one.entry)
            enforced = stored is not None and stored.entry.enforced and one.destination is Destination.ENFORCEMENT
            if one.open and (stored is None or enforced):
                self.changed.setdefault(one.id, None)

    def passed(self) -> Passed:
        written = [one for one in self.changed.values() if one is not None]
        return Passed(
            self._branch,
            tuple(one for one in written if one.open),
            tuple(one for one in written if not one.open),
            tuple(self._known.by_id[own] for own, one in self.changed.items() if one is None),
        )

    def draft(self, by: Writer, session: str) -> Draft:
        done = self.passed()
        counts = (("propose", done.proposed), ("apply", done.applied), ("withdraw", done.withdrawn))
        subject = "promote: " + ", ".join(f"{word} {len(some)}" for word, some in counts if some)
        if len(self.changed) == 1:
            word, (one,) = next((word, some) for word, some in counts if some)
            subject = f"promote: {word} {one.destination}: {one_line(one.text)}"
        edits = (*edits_of(self._now, self._entries), written(self._data, self.changed))
        told = [*done.proposed, *done.applied]
        return Draft(edits, message(subject, told, self._entries, session, withdrawn=done.withdrawn), by)

    def _fresh(self, entry: Entry, judgement: Judgement) -> Promotion:
        rule = judgement.rule
        return Promotion(
            policy.promotion_id(judgement.destination, entry.category, entry.text),
            judgement.destination,
            entry.id,
            entry.category,
            entry.text,
            judgement.reason,
            self._memory.stamp(),
            evidence=self.evidence(entry.id),
            trigger=rule.trigger if rule else "",
            action=rule.action if rule else "",
            verifier=rule.verifier if rule else "",
            skill_name=judgement.name,
        )

    def _standing(self, entry: Entry, fresh: Promotion) -> Promotion | None:
        """The promotion of the entry to the same destination; a settled one counts through every rewording."""
        mine = [one for one in self._known if one.destination is fresh.destination and one.entry == entry.id]
        same = self._known.by_id.get(fresh.id)
        return next((one for one in mine if not one.open), same or next(iter(mine), None))

    def _taken_back(self, own: str) -> bool:
        """Whether somebody undid the commit that applied the very promotion."""
        if self._refused is None:
            from noforgetti.service.undo import taken_back

            head = self._now.commit
            commits = taken_back(self._memory, head) if head else {}
            self._refused = frozenset(
                word for one in commits for word in self._memory.store.commit(one).trailer(_TRAILER).split()
            )
        return own in self._refused


def _flagged(entry: Entry, flag: Flag) -> Judgement:
    reason = flag.reason or "it was flagged while the memory was put in order"
    rule = implied(entry.text) if flag.destination is Destination.ENFORCEMENT else None
    name = ""
    if flag.destination is Destination.SKILL:
        name = flag.name if flag.name and packages.name_refused(flag.name) is None else ""
        name = name or policy.skill_name(entry.text, entry.id)
    return Judgement(flag.destination, one_line(reason), rule, name)


def _useless(memory: Memory, branch: str, now: Snapshot) -> dict[EntryId, str]:
    """Entries that nobody would miss, and why: another took their place, or they faded and never mattered much."""
    found: dict[EntryId, str] = {}
    for one in scoring.score_all(now, signals.read(memory, branch).by_id, memory.clock()):
        if one.lifecycle is scoring.Lifecycle.DROPPED and one.entry.importance is Importance.LOW:
            found[one.entry.id] = "it is of low importance, and nobody confirmed it for long"
    for entry in now:
        found.update({one: f"`{entry.id}` took its place" for one in entry.supersedes if one != entry.id})
    return found


def written(data: bytes, changed: Mapping[str, Promotion | None]) -> Edit:
    """How the file of promotions is written after some of them changed."""
    return promotions_file.edit(file.encode(data, changed))


def message(
    subject: str,
    told: Iterable[Promotion],
    changes: Iterable[Change],
    session: str,
    *,
    withdrawn: Iterable[Promotion] = (),
) -> Message:
    """What the commit says of promotions that it proposes or settles, and of entries that change by it."""
    changes = tuple(changes)
    told = tuple(told)
    lines = [f"{one.id} {one.destination} {one.status}: {one.entry}" for one in told]
    lines += [f"{one.id} {one.destination} withdrawn: {one.entry}" for one in withdrawn]
    listed = entries_trailer(changes)
    trailers = [("Kind", str(CommitKind.PROMOTE))]
    if listed:
        trailers.append(("Entries", listed))
    applied = " ".join(one.id for one in told if one.status is Status.APPLIED)
    if applied:
        trailers.append((_TRAILER, applied))
    if session:
        trailers.append(("Session", session))
    body = "\n".join(part for part in ("\n".join(lines), describe(changes)) if part)
    return Message(subject, body, tuple(trailers))
