"""What a dream works on, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from noforgetti.model.candidate import CandidateKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from noforgetti.model.candidate import Candidate
    from noforgetti.model.change import State
    from noforgetti.model.entry import Entry, EntryId
    from noforgetti.policy.scoring import Scored

# What a dream may decide. A contradiction is the user's decision, and so is a review that was held.
DREAMT = frozenset({CandidateKind.PREFERENCE, CandidateKind.REPLACEMENT, CandidateKind.UNCLEAR, CandidateKind.FLAG})
CANDIDATES = 40  # shown to one dream, the oldest first: with 300 characters each they stay below the memory's own size


@dataclass(frozen=True, slots=True)
class Material:
    """A branch to be consolidated. `state` holds every entry, archived ones too; `before` is its size in characters at
    the head; `candidates` are those that a dream may decide; `settled` are entries that an undo of a dream brought
    back, which automatic dreams leave alone from then on."""

    state: State
    before: int
    candidates: tuple[Candidate, ...] = ()
    scored: Mapping[EntryId, Scored] = field(default_factory=dict)
    settled: frozenset[EntryId] = frozenset()

    def guarded(self, entry: Entry) -> bool:
        """True for what a dream may not reword, merge, remove or archive."""
        return entry.pinned or entry.enforced or entry.id in self.settled
