"""Which reviewer does a review, and what is said when it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from transcripts.hosts import laid_out

from noforgetti.review.reviewer import ReviewAbortedError
from noforgetti.review.reviewers.command import CommandReviewer
from noforgetti.review.reviewers.host import HostReviewer
from noforgetti.review.reviewers.http import HttpReviewer
from noforgetti.review.reviewers.programs import ProgramReviewer
from noforgetti.review.reviewers.rules import RulesReviewer
from noforgetti.service.reviewers import BadReviewer, Suited, choose, one_for, suiting
from noforgetti.service.settings import HttpReviewer as Endpoint
from noforgetti.service.settings import ReviewSettings, Settings

if TYPE_CHECKING:
    from pathlib import Path


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


# ---- the programs of hosts


@pytest.fixture
def only_codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path on which Codex is the only program there is."""
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("NOFORGETTI_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NOFORGETTI_REVIEWER", raising=False)
    return program


def test_by_itself_the_program_of_the_session_s_host_reads_it_where_it_is_installed(only_codex: Path) -> None:
    by = choose(settings(timeout=7), host="codex")

    assert isinstance(by, ProgramReviewer)
    assert (by.name, by.path, by.timeout) == ("codex", str(only_codex), 7)
    assert by.folder == str(only_codex.parent / "home" / "state" / "reviewer")
    assert isinstance(choose(settings(), host="gemini"), RulesReviewer)
    assert isinstance(choose(settings(), host="pi"), RulesReviewer)
    assert isinstance(choose(settings(reviewer="rules"), host="codex"), RulesReviewer)
    assert isinstance(choose(settings(), host="codex", ask=ask), HostReviewer)


def test_a_reviewer_s_own_process_asks_no_program(only_codex: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOFORGETTI_REVIEWER", "1")

    assert only_codex.exists()
    assert isinstance(choose(settings(), host="codex"), RulesReviewer)


def test_a_program_that_is_not_there_is_named(only_codex: Path) -> None:
    assert isinstance(choose(settings(), name="codex"), ProgramReviewer)

    with pytest.raises(BadReviewer) as caught:
        choose(settings(reviewer="claude-code"))

    assert only_codex.exists()
    said = "Reviewer `claude-code` needs the program `claude`, which is not on the path. Nothing was reviewed."
    assert caught.value.message == said


def test_a_worker_asks_for_each_session_the_program_of_its_host(only_codex: Path, tmp_path: Path) -> None:
    by = suiting(settings())

    assert only_codex.exists()
    assert isinstance(one_for(by, laid_out("codex", tmp_path)), ProgramReviewer)
    assert isinstance(one_for(by, laid_out("opencode", tmp_path)), RulesReviewer)
    assert isinstance(one_for(by), RulesReviewer)
    assert isinstance(one_for(suiting(settings(reviewer="rules")), laid_out("codex", tmp_path)), RulesReviewer)


def test_what_was_called_off_stays_so_for_the_next_session(only_codex: Path, tmp_path: Path) -> None:
    by = suiting(settings())
    assert isinstance(by, Suited)
    by.stop()

    with pytest.raises(ReviewAbortedError):
        one_for(by, laid_out("codex", tmp_path)).complete("system", "prompt", 1)  # type: ignore[union-attr]

    assert only_codex.exists()
