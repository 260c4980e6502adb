"""Which reviewer does a review, and what is said when it cannot."""

from __future__ import annotations

from typing import Any

import pytest

from noforgetti.review.reviewers.command import CommandReviewer
from noforgetti.review.reviewers.host import HostReviewer
from noforgetti.review.reviewers.http import HttpReviewer
from noforgetti.review.reviewers.rules import RulesReviewer
from noforgetti.service.reviewers import BadReviewer, choose
from noforgetti.service.settings import HttpReviewer as Endpoint
from noforgetti.service.settings import ReviewSettings, Settings


def ask(system: str, prompt: str, max_tokens: int) -> dict[str, Any]:
    return {"text": system + prompt, "stop_reason": "stop"}


def settings(**review: Any) -> Settings:
    return Settings(review=ReviewSettings(**review))


def test_by_itself_a_host_lends_its_model_and_without_one_the_rules_do() -> None:
    assert isinstance(choose(settings(), ask=ask), HostReviewer)
    assert isinstance(choose(settings()), RulesReviewer)


def test_a_named_reviewer_counts_more_than_the_settings() -> None:
    assert isinstance(choose(settings(reviewer="host"), name="rules", ask=ask), RulesReviewer)


def test_a_program_gets_its_arguments_and_its_time() -> None:
    by = choose(settings(reviewer="command", command=("pi", "-p"), timeout=7))

    assert isinstance(by, CommandReviewer)
    assert (tuple(by.argv), by.timeout) == (("pi", "-p"), 7)


def test_an_endpoint_reads_its_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "value")

    by = choose(settings(reviewer="http", http=Endpoint(model="small", key_env="SOME_KEY", url="http://127.0.0.1:1")))

    assert isinstance(by, HttpReviewer)
    assert "value" not in repr(by)


@pytest.mark.parametrize(
    ("review", "said"),
    [
        ({"reviewer": "host"}, "Reviewer `host` needs a host that runs its model"),
        ({"reviewer": "command"}, "Reviewer `command` has no program"),
        ({"reviewer": "http"}, "Reviewer `http` has no model"),
        ({"reviewer": "http", "http": Endpoint(model="m", key_env="NO_SUCH_KEY")}, "its key from `NO_SUCH_KEY`"),
    ],
)
def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, review: dict[str, Any], said: str) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)

    with pytest.raises(BadReviewer) as caught:
        choose(settings(**review))

    assert said in caught.value.message
    assert caught.value.message.endswith("Nothing was reviewed.")
    assert caught.value.hint
