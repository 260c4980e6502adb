"""How much a memory may hold, and who may use how much of it.

Sizes are sums of entry texts in Unicode code points (`Snapshot.characters`). Automatic review below the
working target may not cross it; at or above it the size may stay or shrink. Direct writes may use the rest
up to the hard limit. The maintenance goal is advice for reviewers; for a dream it is the size above which
nothing may grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from noforgetti.model.entry import Entry, Importance
from noforgetti.policy.verdict import Refusal, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

ENTRY = 800  # code points; the contract's limits, as are the next three
GOAL = 4_000
TARGET = 4_500
HARD = 6_000
_NAMED = 5  # candidates named in a hint: more would be a listing, and `show` is that


@dataclass(frozen=True, slots=True)
class Limits:
    """The sizes of one branch, in code points."""

    entry: int = ENTRY
    goal: int = GOAL
    target: int = TARGET
    hard: int = HARD


def scaled(hard: int) -> Limits:
    """Limits for another hard limit (at least 1), with the contract's ratios: goal two thirds, target three
    quarters, rounded down. One entry keeps its 800 characters, or the hard limit where that is smaller."""
    return Limits(entry=min(ENTRY, hard), goal=hard * 2 // 3, target=hard * 3 // 4, hard=hard)


def direct(limits: Limits, before: int, after: int, entries: Iterable[Entry] = ()) -> Refusal | None:
    """May a user or agent write take the memory from `before` to `after` characters? Only growth past the
    hard limit is refused, so a memory that is too large already (its limit was lowered) can still be
    tidied. `entries` name what could go."""
    if after <= limits.hard or after <= before:
        return None
    over = after - limits.hard
    size = f"{after:,} of at most {limits.hard:,} characters"
    message = f"The memory would hold {size}, {over:,} too many. Nothing was written."
    return Refusal(Rule.CAPACITY, message, hint=_advice(entries, over))


def review(limits: Limits, before: int, after: int) -> Refusal | None:
    """May an automatic writer take the memory from `before` to `after` characters?"""
    ceiling = max(before, limits.target)
    if after <= ceiling:
        return None
    if before < limits.target:
        why = f"would cross the working target of {limits.target:,} characters by {after - ceiling:,}"
    else:
        why = f"would grow a memory at or above its working target by {after - ceiling:,} characters"
    return Refusal(
        Rule.CAPACITY,
        f"The review {why} ({before:,} now, {after:,} then). Nothing was written.",
        hint="merge, shorten or remove entries in the same proposal",
    )


def dream(limits: Limits, before: int, after: int) -> Refusal | None:
    """May a consolidation take the memory from `before` to `after` characters? Up to the maintenance goal it may
    grow; above it, it may not."""
    ceiling = max(before, limits.goal)
    if after <= ceiling:
        return None
    return Refusal(
        Rule.CAPACITY,
        f"The memory would hold {after:,} characters, {after - ceiling:,} more than now ({before:,}) and than the "
        f"maintenance goal ({limits.goal:,}) allow. Nothing was written.",
        hint="merge, shorten or archive entries in the same answer",
    )


def expendable(entries: Iterable[Entry], wanted: int) -> tuple[Entry, ...]:
    """What to drop first to free `wanted` characters: low importance before normal before high, unjudged
    before judged, then the oldest. Pinned and enforced entries are never named."""
    free = [entry for entry in entries if not (entry.pinned or entry.enforced or entry.archived)]
    found: list[Entry] = []
    for entry in sorted(free, key=_keep):
        if wanted <= 0 or len(found) == _NAMED:
            break
        found.append(entry)
        wanted -= len(entry.text)
    return tuple(found)


_RANK = {Importance.LOW: 0, Importance.NORMAL: 1, Importance.HIGH: 2}


def _keep(entry: Entry) -> tuple[int, bool, str, str]:
    return (_RANK[entry.importance], bool(entry.assessed), entry.created, entry.id)


def _advice(entries: Iterable[Entry], over: int) -> str:
    named = expendable(entries, over)
    if not named:
        return "remove, shorten or merge entries first"
    listed = ", ".join(f"`{one.id}` ({len(one.text):,} characters, {one.importance} importance)" for one in named)
    return f"shorten or drop one of these first: {listed}"
