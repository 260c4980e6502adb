"""What becomes of a candidate when a user decides: written through the same chain as every direct write, or dropped.

The write comes first and the queue after it: whatever happens in between, the candidate still waits, and accepting it
again finds what was written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from noforgetti.model.candidate import Candidate, CandidateKind
from noforgetti.model.entry import Category, EntryId
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.service import candidates, held, writes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.model.change import Change
    from noforgetti.model.entry import CommitId
    from noforgetti.service.memory import Memory
    from noforgetti.service.writes import Written


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of an accepted candidate. `outcome` is a direct write's, `applied` for a held review, or `seen` for a
    flag, which asks for nothing but a look."""

    outcome: str
    branch: str
    candidate: Candidate
    commit: CommitId | None = None
    written: Written | None = None
    changes: tuple[Change, ...] = ()
    refusal: Refusal | None = None


def find(memory: Memory, branch: str, wanted: str) -> Candidate | Refusal:
    """The candidate of that id, or of an id that begins so."""
    waiting = candidates.pending(memory, branch)
    found = [one for one in waiting if one.id == wanted] or [
        one for one in waiting if wanted and one.id.startswith((wanted, f"c-{wanted}"))
    ]
    if len(found) == 1:
        return found[0]
    hint = "list the ids with `noforgetti candidates`"
    if found:
        listed = ", ".join(f"`{one.id}`" for one in found[:5])
        return Refusal(Rule.AMBIGUOUS, f"`{wanted[:40]}` begins several ids: {listed}. Nothing was done.", hint)
    return Refusal(Rule.UNKNOWN_ENTRY, f"No candidate has the id `{wanted[:40]}`. Nothing was done.", hint)


def accept(
    memory: Memory, branch: str, one: Candidate, *, text: str = "", category: Category | None = None
) -> Accepted:
    """Write what the candidate says (or `text`) as the user, and take it off the queue once it is written.

    What is about an entry rewords that entry, and the rest is added. Raises what the store raises.
    """
    if one.kind is CandidateKind.HELD:
        done = _held(memory, branch, one)
    elif one.kind is CandidateKind.FLAG and not text:
        done = Accepted("seen", branch, one)
    elif not (text or one.text):
        message = f"Candidate `{one.id}` has no text that may be stored. Nothing was written."
        return Accepted("refused", branch, one, refusal=Refusal(Rule.EMPTY, message, "give one with `--text`"))
    else:
        done = _written(memory, branch, one, text or one.text, category)
    if done.refusal is None:
        candidates.take(memory, branch, [one.id], "accepted", session=one.session)
    return done


def discard(memory: Memory, branch: str, ids: Iterable[str]) -> tuple[Candidate, ...]:
    """Drop candidates; answers those that were there."""
    return candidates.take(memory, branch, ids, "discarded")


def _held(memory: Memory, branch: str, one: Candidate) -> Accepted:
    applied = held.accept(memory, branch, one)
    if applied.refusal is not None:
        return Accepted("refused", branch, one, refusal=applied.refusal)
    return Accepted("applied" if applied.commit else "duplicate", branch, one, applied.commit, changes=applied.changes)


def _written(memory: Memory, branch: str, one: Candidate, text: str, category: Category | None) -> Accepted:
    traits = writes.Traits(category=category or (None if one.entry else one.category))
    there = memory.snapshot(branch).get(EntryId(one.entry)) if one.entry else None
    twin = next((entry for entry in memory.snapshot(branch) if entry.text == text and entry.id != one.entry), None)
    if there is not None and twin is not None and one.kind is CandidateKind.REPLACEMENT:
        # Both stand side by side since the write that asked: the older one makes room.
        done = writes.remove(memory, branch, there.entry.id, session=one.session)
    elif there is not None:
        done = writes.reword(memory, branch, there.entry.id, text, traits, session=one.session)
    else:
        done = writes.add(memory, branch, text, traits, session=one.session)
    return Accepted(done.outcome, branch, one, done.commit, done, refusal=done.refusal)
