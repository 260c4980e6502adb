"""A candidate: something that may become a memory and waits for somebody to say so. A frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from noforgetti.model.entry import EntryId, Writer

if TYPE_CHECKING:
    from noforgetti.model.entry import Category
NO_ENTRY = EntryId("")


class CandidateKind(StrEnum):
    """Why something waits instead of being written."""

    PREFERENCE = "preference"  # a standing preference that the user stated in a prompt
    REPLACEMENT = "replacement"  # may say anew what `entry` says
    CONTRADICTION = "contradiction"  # says the opposite of `entry`, and no user said so
    UNCLEAR = "unclear"  # a guard was not sure
    HELD = "held"  # the operations of a review that would take out too much
    FLAG = "flag"  # somebody asks for a look at `entry`


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that waits. An empty `id` and `at` are filled in when it is queued.

    `text` is what an entry would say; `reason` one sentence for people; `entry` the entry it is about, or empty. `said`
    holds the words it was taken from where `text` is not those words. `at` is RFC 3339 UTC. `operations` of a held
    review is JSON.
    """

    id: str
    kind: CandidateKind
    text: str
    reason: str = ""
    entry: EntryId = NO_ENTRY
    session: str = ""
    said: str = ""
    at: str = ""
    writer: Writer = Writer.USER
    category: Category | None = None
    operations: str = ""
