"""One review from window to verdict: attempts, corrections, and what consumes evidence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from noforgetti.errors import Kind
from noforgetti.policy.capacity import scaled
from noforgetti.policy.verdict import Rule
from noforgetti.review.admission import Problem
from noforgetti.review.reviewer import Completion, Outcome, ReviewAbortedError, ReviewerError, Usage

from .builders import Scripted, entry, run, window

EMPTY = '{"operations": []}'


def add(content: str = "Use tabs.", **more: Any) -> str:
    fact = {"action": "add", "content": content, "importance": "normal", "evidence": ["e1"], **more}
    return json.dumps({"operations": [fact]})


def remove(*ids: str) -> str:
    facts = [{"action": "remove", "entryId": one, "evidence": ["e1"]} for one in ids]
    return json.dumps({"operations": facts})


class Broken:
    """A reviewer that cannot answer."""

    name = "broken"

    def __init__(self, trouble: ReviewerError) -> None:
        self.trouble = trouble

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        raise self.trouble


def test_a_sound_answer_is_a_change_at_the_first_attempt() -> None:
    result = run(Scripted([add()]))

    assert (result.outcome, result.attempts, result.usage) == (Outcome.CHANGE, 1, Usage(10, 5))
    assert result.outcome.consumes
    assert result.reviewer == "scripted"


def test_an_empty_answer_list_consumes_the_evidence() -> None:
    result = run(Scripted([EMPTY]))

    assert result.outcome is Outcome.NO_CHANGE
    assert result.outcome.consumes


def test_bad_output_is_asked_for_again_with_what_was_wrong() -> None:
    model = Scripted(["sorry", add(extra=1), add()])

    result = run(model)

    assert (result.outcome, result.attempts, result.usage) == (Outcome.CHANGE, 3, Usage(30, 15))
    assert "previous answer" not in model.sent[0]
    assert "no JSON object" in model.sent[1]
    assert "Extra inputs are not permitted" in model.sent[2]
    assert "last attempt" not in model.sent[1]
    assert "last attempt" in model.sent[2]


@pytest.mark.parametrize("answer", ["", "  ", "no json", EMPTY * 2, add(evidence=["e9"]), remove("gone")])
def test_an_answer_that_stays_invalid_never_consumes_evidence(answer: str) -> None:
    model = Scripted([answer] * 3)

    result = run(model)

    assert (result.outcome, result.attempts, len(model.sent)) == (Outcome.INVALID, 3, 3)
    assert not result.outcome.consumes
    assert result.operations == ()


def test_an_answer_cut_off_by_the_token_limit_is_never_used() -> None:
    result = run(Scripted([add()] * 3, truncated=True))

    assert result.outcome is Outcome.INVALID
    assert result.problem is Problem.SCHEMA


@pytest.mark.parametrize(
    ("answer", "problem"), [(add("x" * 801), Problem.ENTRY_SIZE), (add("y" * 400), Problem.CAPACITY)]
)
def test_what_does_not_fit_in_the_end_is_a_safe_no_change(answer: str, problem: Problem) -> None:
    limits = scaled(6_000) if problem is Problem.ENTRY_SIZE else scaled(500)

    result = run(Scripted([answer] * 3), limits=limits)

    assert (result.outcome, result.attempts, result.problem) == (Outcome.NO_CHANGE, 3, problem)
    assert result.outcome.consumes
    assert result.operations == ()


def test_a_capacity_problem_is_told_with_numbers_and_can_be_put_right() -> None:
    model = Scripted([add("y" * 400), add("short")])

    result = run(model, limits=scaled(500))

    assert result.outcome is Outcome.CHANGE
    assert "working target of 375 characters" in model.sent[1]
    assert (result.problem, result.refusal) == (None, None)


def test_invalid_after_too_long_is_still_invalid() -> None:
    assert run(Scripted([add("x" * 801), "nonsense", "nonsense"])).outcome is Outcome.INVALID


def test_an_unsafe_text_is_dropped_without_another_call() -> None:
    result = run(Scripted([add("BAD text")]))

    assert (result.outcome, result.attempts) == (Outcome.NO_CHANGE, 1)
    assert [one.refusal.rule for one in result.refused] == [Rule.SECRET]


def test_too_many_removals_are_held_and_consume_nothing() -> None:
    entries = [entry(f"Fact {number}.", f"f{number}") for number in range(8)]

    result = run(Scripted([remove("f1", "f2", "f3")]), None, *entries)

    assert result.outcome is Outcome.HELD
    assert not result.outcome.consumes
    assert len(result.operations) == 3
    assert result.refusal is not None
    assert result.refusal.rule is Rule.REMOVAL_BOUND


def test_a_reviewer_that_fails_is_an_outcome_and_consumes_nothing() -> None:
    trouble = ReviewerError("No model is there.")

    result = run(Broken(trouble))

    assert (result.outcome, result.error) == (Outcome.FAILED, trouble)
    assert not result.outcome.consumes
    assert trouble.kind is Kind.UNAVAILABLE


def test_a_review_that_is_called_off_consumes_nothing() -> None:
    assert run(Broken(ReviewAbortedError("Off."))).outcome is Outcome.ABORTED
    assert not Outcome.ABORTED.consumes


def test_after_a_cancellation_no_answer_is_used_and_no_call_is_made() -> None:
    model = Scripted([add()])
    asked: list[bool] = []

    def off_after_the_first_question() -> bool:
        asked.append(True)
        return len(asked) > 1

    late = run(model, cancelled=off_after_the_first_question)
    early = run(Scripted([]), cancelled=lambda: True)

    assert (late.outcome, late.operations, len(model.sent)) == (Outcome.ABORTED, (), 1)
    assert (early.outcome, early.attempts) == (Outcome.ABORTED, 0)


def test_the_number_of_attempts_is_bounded_by_the_caller_s_word() -> None:
    model = Scripted(["x"] * 9)

    assert run(model, attempts=1).outcome is Outcome.INVALID
    assert len(model.sent) == 1


def test_a_correction_repeats_nothing_that_was_said_in_the_session() -> None:
    model = Scripted(["x", add()])

    run(model, window("the evidence is here"))

    assert model.sent[1].split("Objective")[0].count("evidence is here") == 0
