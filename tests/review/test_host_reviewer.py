"""The reviewer that asks the host."""

from __future__ import annotations

from typing import Any

import pytest

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.review.reviewer import Completion, ReviewAbortedError, Reviewer, ReviewerError, Usage
from noforgetti.review.reviewers.host import HostReviewer

ANSWER: dict[str, Any] = {
    "text": "{}",
    "stop_reason": "stop",
    "model": "acme/small",
    "usage": {"input": 100, "output": 7},
}


def asked(answer: dict[str, Any] | Exception) -> Completion:
    def ask(system: str, prompt: str, max_tokens: int) -> dict[str, Any]:
        assert (system, prompt, max_tokens) == ("s", "p", 64)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return HostReviewer(ask).complete("s", "p", 64)


def test_the_host_s_answer_is_taken_with_its_model_and_usage() -> None:
    assert asked(ANSWER) == Completion("{}", Usage(100, 7), model="acme/small")


def test_an_answer_cut_off_by_its_length_says_so() -> None:
    assert asked({**ANSWER, "stop_reason": "length"}).truncated


def test_what_a_host_leaves_out_is_nothing_rather_than_trouble() -> None:
    assert asked({"text": "{}"}) == Completion("{}")
    assert asked({"text": "{}", "usage": {"input": "many", "output": -1}, "model": 7}) == Completion("{}")


@pytest.mark.parametrize("answer", [{}, {"text": None}, {**ANSWER, "stop_reason": "error"}])
def test_an_answer_without_text_is_a_failed_reviewer(answer: dict[str, Any]) -> None:
    with pytest.raises(ReviewerError, match=r"could not run its model.*Nothing was reviewed"):
        asked(answer)


def test_a_call_that_the_host_stopped_is_an_abort() -> None:
    with pytest.raises(ReviewAbortedError):
        asked({**ANSWER, "stop_reason": "aborted"})


@pytest.mark.parametrize("trouble", [TimeoutError(), BrokenPipeError(), ValueError("nonsense")])
def test_a_host_that_is_gone_or_silent_is_a_failed_reviewer(trouble: Exception) -> None:
    with pytest.raises(ReviewerError, match=type(trouble).__name__):
        asked(trouble)


def test_expected_trouble_of_the_bridge_passes_through_with_its_own_words() -> None:
    class NoModel(NoForgettiError):
        kind = Kind.UNAVAILABLE

    with pytest.raises(NoModel, match="no model"):
        asked(NoModel("The session has no model."))


def test_it_is_a_reviewer() -> None:
    assert isinstance(HostReviewer(lambda *_: {}), Reviewer)
