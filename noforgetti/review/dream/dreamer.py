"""One dream from material to operations: what needs no model first, then the reviewer, at most three times.

What is wrong with an answer is told to the reviewer; on the last attempt each operation that cannot stand is left out
by itself. A reviewer that fails changes nothing, not even what needed no model: a dream is one step or none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from noforgetti.errors import NoForgettiError
from noforgetti.model.change import apply
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.review.admission import Held, Problem, Retry
from noforgetti.review.dream.admission import Resolved, Rights, Settled, admit
from noforgetti.review.dream.tidying import tidy
from noforgetti.review.reviewer import (
    ATTEMPTS,
    Completion,
    Outcome,
    Proposer,
    ReviewAbortedError,
    Reviewer,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from noforgetti.model.change import Operation
    from noforgetti.model.entry import EntryId
    from noforgetti.review.admission import Refused
    from noforgetti.review.dream.answer import Flag
    from noforgetti.review.dream.material import Material

MAX_TOKENS = 8_192  # of one answer: a full memory of 6,000 characters written anew, as JSON, is about half of it


_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Dream:
    """How a dream's thinking ended. `operations` (perhaps none) are for one commit when `outcome` is CHANGE, and wait
    for the user when it is HELD."""

    outcome: Outcome
    reviewer: str
    operations: tuple[Operation, ...] = ()
    resolved: tuple[Resolved, ...] = ()
    refused: tuple[Refused, ...] = ()
    flags: tuple[Flag, ...] = ()
    attempts: int = 0
    usage: Usage = _NO_USAGE
    model: str = ""
    refusal: Refusal | None = None
    error: NoForgettiError | None = None


def dream(
    reviewer: Reviewer | Proposer,
    material: Material,
    rights: Rights,
    *,
    nonce: str,
    cold: Iterable[EntryId] = (),
    cancelled: Callable[[], bool] = lambda: False,
) -> Dream:
    """Consolidate. Raises nothing that is expected: a reviewer that fails is an outcome. A reviewer that needs no
    prompt is the offline rules: preferences are distilled by rule, and the rest is what needs no model anyway."""
    blank = Dream(Outcome.ABORTED, reviewer.name)
    if cancelled():
        return blank
    first = tidy(material, cold)
    try:
        if isinstance(reviewer, Proposer):
            from noforgetti.review.dream.distilling import distilled

            answer = distilled(material.candidates)
            return _closed(replace(blank, attempts=1), admit(answer, material, rights, first=first, last=True), first)
        return _asked(blank, reviewer, material, rights, first, nonce, cancelled)
    except ReviewAbortedError as trouble:
        return replace(blank, error=trouble)
    except NoForgettiError as trouble:
        return replace(blank, outcome=Outcome.FAILED, error=trouble)


def _asked(
    result: Dream,
    reviewer: Reviewer,
    material: Material,
    rights: Rights,
    first: tuple[Operation, ...],
    nonce: str,
    cancelled: Callable[[], bool],
) -> Dream:
    from noforgetti.review.dream import prompt

    state, preface = apply(material.state, first, now=rights.now), ""
    for attempt in range(1, ATTEMPTS + 1):
        asked = prompt.build(state, material, rights.limits, nonce=nonce, corrective=preface)
        answer = reviewer.complete(asked.system, asked.user, MAX_TOKENS)
        result = replace(
            result, attempts=attempt, usage=result.usage + answer.usage, model=answer.model or result.model
        )
        if cancelled():
            return result
        verdict = _verdict(answer, material, rights, first, last=attempt == ATTEMPTS)
        if not isinstance(verdict, Retry):
            return _closed(result, verdict, first)
        result = replace(result, refusal=verdict.refusal)
        preface = _preface(verdict, last=attempt + 1 == ATTEMPTS)
    return replace(result, outcome=Outcome.INVALID)


def _verdict(
    answer: Completion, material: Material, rights: Rights, first: tuple[Operation, ...], *, last: bool
) -> Settled | Retry | Held:
    from noforgetti.review.dream.answer import parse
    from noforgetti.review.proposal import ParseFailure

    if answer.truncated:
        return _unusable("it was cut off by the token limit; answer shorter")
    if not answer.text.strip():
        return _unusable("it was empty")
    parsed = parse(answer.text)
    if isinstance(parsed, ParseFailure):
        return _unusable(parsed.reason)
    return admit(parsed, material, rights, first=first, last=last)


def _unusable(why: str) -> Retry:
    return Retry(Problem.SCHEMA, Refusal(Rule.FORMAT, f"The reviewer's answer was not used: {why}."))


def _closed(result: Dream, verdict: Settled | Retry | Held, first: tuple[Operation, ...]) -> Dream:
    match verdict:
        case Settled(operations=operations, resolved=resolved, refused=refused, flags=flags):
            everything = (*first, *operations)
            return replace(
                result,
                outcome=Outcome.CHANGE if everything else Outcome.NO_CHANGE,
                operations=everything,
                resolved=resolved,
                refused=refused,
                flags=flags,
                refusal=None,
            )
        case Held(operations=operations, refusal=refusal, refused=refused):
            return replace(result, outcome=Outcome.HELD, operations=operations, refused=refused, refusal=refusal)
        case Retry(refusal=refusal):
            return replace(result, outcome=Outcome.INVALID, refusal=refusal)


_ADVICE = {
    Problem.SCHEMA: "Answer with one JSON object that fits the schema, no other key, nothing around it.",
    Problem.REFERENCE: "Use only ids of the entries and candidates below, and none that you merged away before.",
    Problem.ENTRY_SIZE: "Check the length of every content; leave long entries apart instead of cutting them.",
    Problem.CAPACITY: "Merge, shorten or archive in the same answer.",
    Problem.LOSS: "Say in each new text everything that the old ones say, or leave those entries as they are.",
}


def _preface(retry: Retry, *, last: bool) -> str:
    """What the next attempt is told."""
    lines = ["Your previous answer could not be used; do not repeat it.", retry.refusal.message, _ADVICE[retry.problem]]
    if last:
        lines.append("This is the last attempt: what cannot stand is left out.")
    return "\n".join(lines)
