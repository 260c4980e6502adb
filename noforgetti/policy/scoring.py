"""How stable an entry is, and whether the agent is told of it: pure arithmetic on entries and signals.

stability = cue weight × exp(−age / half-life) × ln(1 + evidence). The reference calls the constant a half-life; as the
formula has it, it is an e-folding time: after one of them 36.8 % are left, not 50 %. Formula, weights, times,
thresholds and caps are the reference's (docs/scoring.md has worked figures). Two things are ours. Pinned and enforced
entries are active whatever they score, and take no place from others. And an entry stays at least provisional for one
half-life after it was written or reinforced: a fresh fact scores ln 2 = 0.693, just under the threshold of 0.7, and
would be gone the next day. Nothing here deletes: a score decides what is told, a commit decides what is there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from noforgetti.model.entry import Category, Cue, Entry, EntryId, Importance
from noforgetti.model.signal import NEW, Signal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date

DAY = 86_400.0  # seconds
CUE_WEIGHT: Mapping[Cue, float] = MappingProxyType(
    {Cue.EXPLICIT: 1.0, Cue.STRUCTURAL: 0.9, Cue.BEHAVIORAL: 0.7, Cue.RECURRENCE: 0.6}
)
HALF_LIFE: Mapping[Category, float] = MappingProxyType(  # days
    {
        Category.PREFERENCE: 90.0,
        Category.LESSON: 60.0,
        Category.PATTERN: 30.0,
        Category.DECISION: 30.0,
        Category.DONE: 14.0,
        Category.MISTAKE: 14.0,
    }
)
PER_CATEGORY: Mapping[Category, int] = MappingProxyType(  # active entries
    {
        Category.PREFERENCE: 8,
        Category.LESSON: 8,
        Category.PATTERN: 6,
        Category.DECISION: 4,
        Category.DONE: 4,
        Category.MISTAKE: 4,
    }
)
ACTIVE, PROVISIONAL, CANDIDATE = 1.5, 0.7, 0.4  # the least scores of these states
PINNED = 9_999.0  # the score of a pinned entry
FACTOR: Mapping[Importance, float] = MappingProxyType(  # of the order in a report; the lifecycle knows no importance
    {Importance.HIGH: 1.25, Importance.NORMAL: 1.0, Importance.LOW: 0.8}
)
_COLD = 2.0  # half-lives without any reinforcement, after which a whole topic is cold
_STAMPS = 32_768  # times kept as read: those of 10,000 entries, which hardly change between two looks
_RANK = {Importance.HIGH: 0, Importance.NORMAL: 1, Importance.LOW: 2}


class Lifecycle(StrEnum):
    """What a score means. Active and provisional entries are told to the agent."""

    ACTIVE = "active"
    PROVISIONAL = "provisional"
    CANDIDATE = "candidate"
    DROPPED = "dropped"


class Reason(StrEnum):
    """What decided about an entry's lifecycle. `CAPPED`: its score is enough, but too many are better."""

    PINNED = "pinned"
    ENFORCED = "enforced"
    FORGOTTEN = "forgotten"
    SCORE = "score"
    GRACE = "grace"
    CAPPED = "capped"


@dataclass(frozen=True, slots=True)
class Caps:
    """How many entries may be active and, of those that are too many, provisional. Pinned and enforced ones are not
    counted. The reference's caps of the categories sum to 34, so its 40 in all bind only where those are raised."""

    category: Mapping[Category, int] = field(default_factory=lambda: PER_CATEGORY)
    overflow: int = 6
    active: int = 40


CAPS = Caps()


@dataclass(frozen=True, slots=True)
class Scored:
    """An entry's place. `age` is in seconds since it was written or last reinforced; None when nobody knows."""

    entry: Entry
    score: float
    lifecycle: Lifecycle
    reason: Reason
    evidence: int = 1
    reinforced: str = ""
    age: float | None = None

    @property
    def told(self) -> bool:
        """True for what the agent is to be told as long as there is room."""
        return self.lifecycle in (Lifecycle.ACTIVE, Lifecycle.PROVISIONAL)

    @property
    def value(self) -> float:
        """What decides the order in a report: score times the factor of importance."""
        return self.score * FACTOR[self.entry.importance]

    @property
    def why(self) -> str:
        """Score, what it is made of and what it means, for people."""
        entry = self.entry
        if self.reason in (Reason.PINNED, Reason.ENFORCED):
            return f"{self.reason}: always active"
        if self.reason is Reason.FORGOTTEN:
            return "forgotten: not told"
        age = "age unknown" if self.age is None else f"{int(self.age / DAY)} d old"
        made = f"score {self.score:.2f} ({entry.cue}, evidence {self.evidence}, {age})"
        match self.reason:
            case Reason.GRACE:
                meant = f"provisional in its first {HALF_LIFE[entry.category]:.0f} d"
            case Reason.CAPPED:
                meant = f"{self.lifecycle}, as too many others score higher"
            case _:
                meant = str(self.lifecycle)
        return f"{made}: {meant}"


def stability(cue: Cue, category: Category, evidence: int, age: float) -> float:
    """cue weight × exp(−age / half-life) × ln(1 + evidence); `age` in seconds, a negative one counts as 0."""
    return CUE_WEIGHT[cue] * math.exp(-max(age, 0.0) / (HALF_LIFE[category] * DAY)) * math.log(1 + max(evidence, 1))


def lifecycle(score: float) -> Lifecycle:
    """What a score means, before grace and caps."""
    if score >= ACTIVE:
        return Lifecycle.ACTIVE
    if score >= PROVISIONAL:
        return Lifecycle.PROVISIONAL
    return Lifecycle.CANDIDATE if score >= CANDIDATE else Lifecycle.DROPPED


def score_all(
    entries: Iterable[Entry], signals: Mapping[EntryId, Signal], now: float, *, caps: Caps = CAPS
) -> tuple[Scored, ...]:
    """Every entry that is not archived with its score and lifecycle, best first. `now` is UNIX time.

    Best means score, then importance, then the newest reinforcement, then the id, so that the order is always the same.
    An entry whose date nobody wrote down (a hand-made file) or that is younger than `now` counts as new.
    """
    scored = [score(entry, signals.get(entry.id, NEW), now) for entry in entries if not entry.archived]
    # Three stable sorts, the least significant first: a text cannot be sorted backwards within a key.
    scored.sort(key=lambda one: one.entry.id)
    scored.sort(key=lambda one: max(one.reinforced, one.entry.created), reverse=True)
    scored.sort(key=lambda one: (-one.score, _RANK[one.entry.importance]))
    return tuple(_capped(scored, caps))


def score(entry: Entry, signal: Signal, now: float) -> Scored:
    """One entry by itself: score, lifecycle and grace, no caps."""
    age = age_of(entry, signal, now)
    known = age or 0.0
    stable = stability(entry.cue, entry.category, signal.evidence, known)
    state, reason = lifecycle(stable), Reason.SCORE
    if entry.pinned:
        stable, state, reason = PINNED, Lifecycle.ACTIVE, Reason.PINNED
    elif entry.enforced:
        state, reason = Lifecycle.ACTIVE, Reason.ENFORCED
    elif signal.forgotten:
        stable, state, reason = 0.0, Lifecycle.DROPPED, Reason.FORGOTTEN
    elif state in (Lifecycle.CANDIDATE, Lifecycle.DROPPED) and known <= HALF_LIFE[entry.category] * DAY:
        state, reason = Lifecycle.PROVISIONAL, Reason.GRACE
    return Scored(entry, stable, state, reason, max(signal.evidence, 1), signal.reinforced, age)


def age_of(entry: Entry, signal: Signal, now: float) -> float | None:
    """Seconds since the entry was written or last reinforced, never negative; None when neither date can be read."""
    written, confirmed = seconds_of(entry.created), seconds_of(signal.reinforced)
    if written is None or (confirmed is not None and confirmed > written):
        written = confirmed
    return None if written is None else max(now - written, 0.0)


def cold(entries: Iterable[Entry], signals: Mapping[EntryId, Signal], now: float) -> tuple[Category, ...]:
    """The categories whose every entry was written and last reinforced more than two half-lives ago, and in which
    nothing is pinned or enforced. An entry of unknown age counts as new. Archived entries and empty categories do not
    count."""
    newest: dict[Category, float] = {}
    for entry in entries:
        if not entry.archived:
            kept = entry.pinned or entry.enforced
            age = 0.0 if kept else age_of(entry, signals.get(entry.id, NEW), now) or 0.0
            newest[entry.category] = min(age, newest.get(entry.category, age))
    return tuple(one for one in Category if newest.get(one, 0.0) > cold_after(one))


def cold_after(category: Category) -> float:
    """Seconds without any reinforcement after which a topic is cold."""
    return _COLD * HALF_LIFE[category] * DAY


@lru_cache(maxsize=_STAMPS)
def seconds_of(stamp: str) -> float | None:
    """UNIX time of an RFC 3339 time; one without a zone is UTC. None when it cannot be read."""
    if not stamp:
        return None
    try:
        at = datetime.fromisoformat(stamp)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def midnight(day: date) -> float:
    """UNIX time at which a day begins in UTC: the `now` of everything that must be the same all day."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def _capped(ranked: Iterable[Scored], caps: Caps) -> Iterator[Scored]:
    """The reference's order: a category's surplus goes into one pool, whose best stay provisional; then the whole."""
    room = dict(caps.category)
    overflow, active = caps.overflow, caps.active
    for one in ranked:
        if one.lifecycle is not Lifecycle.ACTIVE or one.reason is not Reason.SCORE:
            yield one
        elif room[one.entry.category] == 0:
            state = Lifecycle.PROVISIONAL if overflow else Lifecycle.CANDIDATE
            overflow = max(overflow - 1, 0)
            yield replace(one, lifecycle=state, reason=Reason.CAPPED)
        else:
            room[one.entry.category] -= 1
            if active:
                active -= 1
                yield one
            else:
                yield replace(one, lifecycle=Lifecycle.PROVISIONAL, reason=Reason.CAPPED)
