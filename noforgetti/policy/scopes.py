"""Entries that pass: how long one of a session or a task holds, who sees it, and how many there may be.

The times are the requirements' for scopes: what belongs to a session goes 24 hours after the session was last used and
after seven days at the latest, what belongs to a task after 14 days. The bounds are ours: what one session or one task
notes is a page beside the memory, not a second one, so it may hold two thirds of what a branch may.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from noforgetti.model.entry import Entry, Scope
from noforgetti.policy.scoring import DAY, seconds_of
from noforgetti.policy.verdict import Refusal, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

SESSION_UNUSED = 1 * DAY  # seconds, as the next two
SESSION_LONGEST = 7 * DAY
TASK_LONGEST = 14 * DAY
ENTRIES, CHARACTERS = 40, 4_000  # of one session, or of one task


def ending_at(entry: Entry, used: float) -> Entry:
    """The entry with the time of its end, when its session was last used at `used` (UNIX time)."""
    created = seconds_of(entry.created)
    end = _longest(entry.scope) + (used if created is None else created)
    if entry.scope is Scope.SESSION:
        end = min(end, used + SESSION_UNUSED)
    return replace(entry, expires=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end)))


def ends(entry: Entry) -> float | None:
    """UNIX time at which the entry is over; None when it lasts. What it says itself reaches no further than the longest
    time of its scope; one that says neither when nor since when is over already."""
    if entry.scope.lasting:
        return None
    created, said = seconds_of(entry.created), seconds_of(entry.expires)
    longest = None if created is None else created + _longest(entry.scope)
    return min((one for one in (said, longest) if one is not None), default=0.0)


def over(entry: Entry, now: float) -> bool:
    """Whether the entry's time is up at `now` (UNIX time)."""
    end = ends(entry)
    return end is not None and end <= now


def reaches(entry: Entry, session: str) -> bool:
    """Whether a session sees the entry: what belongs to a session is seen by that one alone."""
    return entry.scope is not Scope.SESSION or (bool(session) and entry.session == session)


def same_holder(one: Entry, other: Entry) -> bool:
    """Whether two entries belong to one session, or to one task."""
    if one.scope is not other.scope:
        return False
    return one.task == other.task if one.scope is Scope.TASK else one.session == other.session


def room(entry: Entry, others: Iterable[Entry]) -> Refusal | None:
    """Whether the entry fits beside the `others` of its session or task."""
    held = [one for one in others if same_holder(one, entry) and one.id != entry.id]
    count, size = len(held) + 1, sum(len(one.text) for one in held) + len(entry.text)
    if count <= ENTRIES and size <= CHARACTERS:
        return None
    whose = f"Task `{entry.task}`" if entry.scope is Scope.TASK else "This session"
    return Refusal(
        Rule.CAPACITY,
        f"{whose} would hold {count} entries of {size:,} characters, of at most {ENTRIES} and {CHARACTERS:,}."
        " Nothing was written.",
        "remove what is done with, or keep what lasts in the project's memory",
    )


def _longest(scope: Scope) -> float:
    return TASK_LONGEST if scope is Scope.TASK else SESSION_LONGEST
