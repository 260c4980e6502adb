"""Reviews that would take out too much: their operations wait in the queue until the user says so.

What waits is what was admitted, not what the reviewer said: accepting it later asks no model, and commits it as the
review that it is. It is refused when one of its entries changed since; then nothing is written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from noforgetti.errors import NoForgettiError
from noforgetti.model.candidate import Candidate, CandidateKind
from noforgetti.model.change import Add, Change, Operation, apply, diff, targets
from noforgetti.model.commit import Author, Message, counted, describe, entries_trailer, one_line
from noforgetti.model.entry import CommitId, Writer
from noforgetti.policy import capacity, guards
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.service import candidates
from noforgetti.service.history import edits_of, states
from noforgetti.service.memory import Draft

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from noforgetti.model.entry import BranchName, Snapshot
    from noforgetti.review.reviewer import Result
    from noforgetti.service.memory import Memory

_KINDS: dict[str, Any] = {one.__name__.lower(): one for one in get_args(Operation)}


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of held operations: the commit and its changes, or why they were refused. Neither: they would change
    nothing any more."""

    commit: CommitId | None = None
    changes: tuple[Change, ...] = ()
    refusal: Refusal | None = None


def hold(
    memory: Memory, branch: BranchName, base: Snapshot, result: Result, trailers: Sequence[tuple[str, str]]
) -> Candidate | None:
    """Let the operations of a held review wait; `trailers` are those its commit would have, without `Entries`. None
    when they cannot be kept, which leaves a trace."""
    of = f"A review of {result.window.turns} turns"
    reason = result.refusal.message if result.refusal else ""
    return keep(memory, branch, base, result.operations, trailers, of=of, reason=reason, session=result.window.session)


def keep(
    memory: Memory,
    branch: BranchName,
    base: Snapshot,
    operations: Sequence[Operation],
    trailers: Sequence[tuple[str, str]],
    *,
    of: str,
    reason: str,
    session: str = "",
) -> Candidate | None:
    """As `hold`, for any operations that were planned on `base`; `of` says whose they are."""
    changes = diff(states(base), apply(states(base), operations, now=memory.stamp()))
    kept = {
        "base": base.commit,
        "trailers": [list(one) for one in trailers],
        "operations": [{type(one).__name__.lower(): msgspec.to_builtins(one)} for one in operations],
    }
    text = f"{of} would {counted(changes)}.\n{describe(changes)}"
    waiting = Candidate(
        "", CandidateKind.HELD, text, reason, session=session, writer=Writer.REVIEW, operations=json.dumps(kept)
    )
    try:
        stored = candidates.queue(memory, branch, [waiting], by=Writer.REVIEW)
    except NoForgettiError as error:
        memory.state.trace("warning", f"{of} of branch `{branch}` was held and could not be kept: {error}")
        return None
    return stored[0] if stored else None


def accept(memory: Memory, branch: str, candidate: Candidate) -> Applied:
    """Commit the operations of a held review on the branch as it is now. Raises what the store raises."""
    try:
        kept = json.loads(candidate.operations)
        base = memory.store.snapshot(CommitId(kept["base"]))
        operations = [_read(one) for one in kept["operations"]]
        trailers = tuple((str(key), one_line(str(value))) for key, value in kept["trailers"])
    except (ValueError, KeyError, TypeError, AttributeError, NoForgettiError):
        message = f"The operations of candidate `{candidate.id}` cannot be read. Nothing was written."
        return Applied(
            refusal=Refusal(Rule.FORMAT, message, f"drop it with `noforgetti candidates discard {candidate.id}`")
        )
    done: list[tuple[Change, ...]] = [()]

    def plan(now: Snapshot) -> Draft | Applied:
        refusal = _moved(base, now, operations) or _unfit(memory, operations)
        if refusal:
            return Applied(refusal=refusal)
        before = states(now)
        said = {one.text for one in now}
        fresh = [one for one in operations if not (isinstance(one, Add) and one.entry.text in said)]
        after = apply(before, fresh, now=memory.stamp())
        changes = diff(before, after)
        if not changes:
            return Applied()
        size = sum(len(one.text) for one in after.values() if not one.archived)
        refusal = capacity.direct(memory.limits, now.characters, size, after.values())
        if refusal:
            return Applied(refusal=refusal)
        done[:] = [changes]
        return Draft(
            edits_of(now, changes), _message(changes, trailers, candidate), Writer.REVIEW, author=_author(trailers)
        )

    answer = memory.change(branch, plan)
    return answer if isinstance(answer, Applied) else Applied(answer, done[0])


def _read(one: dict[str, Any]) -> Operation:
    ((name, value),) = one.items()
    read: Operation = msgspec.convert(value, _KINDS[name])
    return read


def _moved(base: Snapshot, now: Snapshot, operations: Iterable[Operation]) -> Refusal | None:
    """The entries must stand as the reviewer saw them."""
    for own in dict.fromkeys(own for one in operations for own in targets(one)):
        before, after = base.get(own), now.get(own)
        if before is not None and (after is None or after.blob != before.blob):
            what = "is gone" if after is None else "changed"
            message = f"Entry `{own}` {what} since this review was held. Nothing was written."
            return Refusal(Rule.UNKNOWN_ENTRY, message, "discard it, and review again with `noforgetti review`")
    return None


def _unfit(memory: Memory, operations: Iterable[Operation]) -> Refusal | None:
    for one in operations:
        text = one.entry.text if isinstance(one, Add) else getattr(one, "text", None)
        checked = guards.check(text, limit=memory.limits.entry, automatic=True) if text else text
        if isinstance(checked, Refusal):
            return checked
    return None


def _message(changes: tuple[Change, ...], trailers: tuple[tuple[str, str], ...], candidate: Candidate) -> Message:
    first = next((change for change in changes if change.after is not None), changes[0])
    verb = "dream" if ("Kind", "dream") in trailers else "review"
    subject = f"{verb}: {counted(changes)}: {one_line(first.entry.text)}"
    more = (("Entries", entries_trailer(changes)), ("Candidate", candidate.id))
    return Message(subject, describe(changes), (*trailers, *more))


def _author(trailers: tuple[tuple[str, str], ...]) -> Author:
    name = next((value for key, value in trailers if key == "Reviewer"), "unknown").partition(" ")[0]
    return Author(f"reviewer ({name})", "reviewer@noforgetti")
