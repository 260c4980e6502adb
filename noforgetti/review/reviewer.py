"""Reviewers behind one protocol, and one review from window to verdict.

A review asks at most three times. What is wrong with an answer (schema, a reference, an entry's size, the
memory's size) is told to the reviewer; an answer that is sound but still does not fit in the end is a safe
no-change. An answer that stays invalid, a reviewer that fails and a review that is called off never consume
evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.policy.verdict import Refusal
from noforgetti.review import window as windows
from noforgetti.review.admission import (
    Admitted,
    Check,
    Documents,
    Held,
    NewEntry,
    NoChange,
    Problem,
    Refused,
    Retry,
    Verdict,
    admit,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.model.change import Add, Operation, State
    from noforgetti.model.entry import EntryId
    from noforgetti.model.evidence import Window
    from noforgetti.policy.beside import Meaning
    from noforgetti.policy.capacity import Limits
    from noforgetti.review.proposal import Proposal

ATTEMPTS = 3  # upstream's bound
MAX_TOKENS = 2_048  # of one answer: four operations of 800 characters fit twice


class ReviewerError(NoForgettiError):
    """A reviewer could not answer: no model, no network, a program that failed. Nothing was reviewed."""

    kind = Kind.UNAVAILABLE
    reason = "reviewer-unavailable"


class ReviewAbortedError(ReviewerError):
    """A review was called off (shutdown, another session path). Nothing was reviewed."""

    reason = "review-aborted"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them; 0 where nobody said."""

    input: int = 0
    output: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input + other.input, self.output + other.output)


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer. `truncated` when the token limit cut it off."""

    text: str
    usage: Usage = Usage()
    truncated: bool = False
    model: str = ""


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a reviewer that reads the window itself found; `through` is the label of the last section it
    covered, empty for all of them."""

    proposal: Proposal
    through: str = ""


@runtime_checkable
class Reviewer(Protocol):
    """A model behind a prompt. Raises `ReviewerError` when it cannot answer."""

    @property
    def name(self) -> str:
        """As it stands in the review commit's trailer."""
        ...

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        """The answer to a system text and a prompt, of at most `max_tokens` tokens."""
        ...


@runtime_checkable
class Proposer(Protocol):
    """A reviewer that needs no prompt: it reads the window and the entries as values."""

    @property
    def name(self) -> str:
        """As it stands in the review commit's trailer."""
        ...

    def propose(self, window: Window, state: State, limits: Limits) -> Proposed:
        """The proposal for this window."""
        ...


class Outcome(StrEnum):
    """How a review ended."""

    CHANGE = "change"  # `operations` are to be committed against the reviewed head
    NO_CHANGE = "no-change"  # the evidence is done with
    HELD = "held"  # `operations` wait for the user; nothing may be written, the evidence waits too
    INVALID = "invalid"  # no usable answer in all attempts
    FAILED = "failed"  # the reviewer could not answer
    ABORTED = "aborted"

    @property
    def consumes(self) -> bool:
        """True when the position may move to `Result.window.last` (with CHANGE: in the commit itself)."""
        return self in (Outcome.CHANGE, Outcome.NO_CHANGE)


@dataclass(frozen=True, slots=True)
class Result:
    """A review that ended. `window` is what was really covered; `refusal` says why it is not a change, if
    so."""

    outcome: Outcome
    reviewer: str
    window: Window
    operations: tuple[Operation, ...] = ()
    refused: tuple[Refused, ...] = ()
    wide: tuple[Add, ...] = ()  # for the user-wide memory
    similar: tuple[tuple[EntryId, EntryId], ...] = ()  # a new entry, and one that it may replace
    attempts: int = 0
    usage: Usage = Usage()
    model: str = ""
    refusal: Refusal | None = None
    problem: Problem | None = None
    error: NoForgettiError | None = None


def run_review(
    reviewer: Reviewer | Proposer,
    window: Window,
    state: State,
    *,
    limits: Limits,
    check: Check,
    new_entry: NewEntry,
    now: str,
    nonce: str,
    documents: Documents = (),
    meaning: Meaning | None = None,
    attempts: int = ATTEMPTS,
    max_tokens: int = MAX_TOKENS,
    cancelled: Callable[[], bool] = lambda: False,
) -> Result:
    """Review one window against the branch `state`. Raises nothing that is expected: a reviewer that fails
    is an outcome. `nonce` is fresh for each review; `cancelled` is asked before each attempt and before its
    answer is used."""

    def judge(proposal: Proposal, covered: Window) -> Verdict:
        return admit(
            proposal,
            covered,
            state,
            limits=limits,
            check=check,
            new_entry=new_entry,
            now=now,
            documents=documents,
            meaning=meaning,
        )

    blank = Result(Outcome.ABORTED, reviewer.name, window)
    if cancelled():
        return blank
    try:
        if isinstance(reviewer, Proposer):
            found = reviewer.propose(window, state, limits)
            covered = windows.until(window, found.through) if found.through else window
            verdict = judge(found.proposal, covered)
            return _closed(replace(blank, window=covered, attempts=1), verdict)
        return _Attempts(reviewer, state, limits, judge, nonce, attempts, max_tokens, cancelled).run(blank)
    except ReviewAbortedError as trouble:
        return replace(blank, error=trouble)
    except NoForgettiError as trouble:
        return replace(blank, outcome=Outcome.FAILED, error=trouble)


@dataclass(frozen=True, slots=True)
class _Attempts:
    reviewer: Reviewer
    state: State
    limits: Limits
    judge: Callable[[Proposal, Window], Verdict]
    nonce: str
    attempts: int
    max_tokens: int
    cancelled: Callable[[], bool]

    def run(self, blank: Result) -> Result:
        from noforgetti.review import prompt

        result, preface = blank, ""
        for attempt in range(1, self.attempts + 1):
            asked = prompt.build(blank.window, self.state.values(), self.limits, nonce=self.nonce, corrective=preface)
            answer = self.reviewer.complete(asked.system, asked.user, self.max_tokens)
            result = replace(
                result,
                attempts=attempt,
                usage=result.usage + answer.usage,
                model=answer.model or result.model,
            )
            if self.cancelled():
                return result
            verdict = self._verdict(answer, result.window)
            if not isinstance(verdict, Retry):
                return _closed(result, verdict)
            result = replace(result, problem=verdict.problem, refusal=verdict.refusal)
            preface = _preface(verdict, last=attempt + 1 == self.attempts)
        settled = result.problem is not None and result.problem.settles
        return replace(result, outcome=Outcome.NO_CHANGE if settled else Outcome.INVALID)

    def _verdict(self, answer: Completion, covered: Window) -> Verdict:
        from noforgetti.review.proposal import ParseFailure, parse

        if answer.truncated:
            return _unusable("the answer was cut off by the token limit; answer shorter")
        if not answer.text.strip():
            return _unusable("the answer was empty")
        proposal = parse(answer.text)
        if isinstance(proposal, ParseFailure):
            return _unusable(proposal.reason)
        return self.judge(proposal, covered)


def _closed(result: Result, verdict: Verdict) -> Result:
    match verdict:
        case Admitted(operations=operations, refused=refused, wide=wide, similar=similar):
            return replace(
                result,
                outcome=Outcome.CHANGE,
                operations=operations,
                refused=refused,
                wide=wide,
                similar=similar,
                problem=None,
                refusal=None,
            )
        case NoChange(refused=refused, wide=wide):
            return replace(result, outcome=Outcome.NO_CHANGE, refused=refused, wide=wide, problem=None, refusal=None)
        case Held(operations=operations, refusal=refusal, refused=refused):
            return replace(
                result,
                outcome=Outcome.HELD,
                operations=operations,
                refused=refused,
                refusal=refusal,
                problem=None,
            )
        case Retry(problem=problem, refusal=refusal):
            outcome = Outcome.NO_CHANGE if problem.settles else Outcome.INVALID
            return replace(result, outcome=outcome, problem=problem, refusal=refusal)


def _unusable(why: str) -> Retry:
    from noforgetti.policy.verdict import Rule

    return Retry(Problem.SCHEMA, Refusal(Rule.FORMAT, f"The reviewer's answer was not used: {why}."))


_ADVICE = {
    Problem.SCHEMA: "Answer with one JSON object that fits the schema, no other key, nothing around it.",
    Problem.REFERENCE: "Use only ids from the memory below and labels from the evidence below.",
    Problem.ENTRY_SIZE: "Check the length of every content; split distinct facts instead of cutting them.",
    Problem.CAPACITY: "Merge, shorten or remove in the same answer; do not send an addition alone.",
    Problem.LOSS: "Say in the new text everything that the old texts say, or leave those entries alone.",
}


def _preface(retry: Retry, *, last: bool) -> str:
    """What the next attempt is told. Refusals quote no evidence, so nothing that was said can speak from
    here."""
    lines = [
        "Your previous answer could not be used; do not repeat it.",
        retry.refusal.message,
        _ADVICE[retry.problem],
    ]
    if last:
        lines.append("This is the last attempt: if any operation cannot pass, answer with an empty list.")
    return "\n".join(lines)
