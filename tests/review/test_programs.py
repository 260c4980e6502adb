"""The hosts' own programs as reviewers: what they are told, and how their answer is found. The real programs are asked
in tests/agents; here a script stands in for each."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from noforgetti.review.reviewer import ReviewerError
from noforgetti.review.reviewers.programs import PROGRAMS, ProgramReviewer

if TYPE_CHECKING:
    from pathlib import Path

ANSWER = '{"operations": []}'
# What the real programs printed, without their statistics.
PRINTED = {
    "claude-code": json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": ANSWER}),
    "codex": ANSWER,
    "gemini": "YOLO mode is off.\n" + json.dumps({"session_id": "s", "response": ANSWER, "stats": {}}, indent=2),
    "qwen": json.dumps([{"type": "system"}, {"type": "assistant"}, {"type": "result", "result": ANSWER}]),
    "opencode": "\n".join(
        json.dumps({"type": kind, "part": {"messageID": own, "type": kind, "text": text}})
        for own, kind, text in (("m1", "text", "I look."), ("m2", "step-start", ""), ("m2", "text", ANSWER))
    ),
}
FAILED: dict[str, Any] = {
    "claude-code": {"type": "result", "is_error": True, "result": "Invalid API key"},
    "gemini": {"error": {"type": "Error", "message": "Invalid API key"}},
    "qwen": [{"type": "result", "is_error": True, "error": {"message": "Invalid API key"}}],
    "opencode": {"type": "error", "error": {"name": "x", "data": {"message": "Invalid API key"}}},
}


def reviewer(tmp_path: Path, host: str, printed: str, **environ: str) -> ProgramReviewer:
    """The reviewer with a program that writes down how it was started and prints a text."""
    script = tmp_path / PROGRAMS[host].binary
    (tmp_path / "printed").write_text(printed)
    script.write_text(
        f'#!/bin/sh\ncat > "{tmp_path}/prompt"\npwd > "{tmp_path}/cwd"\nenv > "{tmp_path}/env"\n'
        f'for one in "$@"; do echo "$one" >> "{tmp_path}/words"; done\ncat "{tmp_path}/printed"\n'
    )
    script.chmod(0o755)
    return ProgramReviewer(
        PROGRAMS[host], str(script), {"PATH": os.environ["PATH"], **environ}, str(tmp_path / "reviewer")
    )


@pytest.mark.parametrize("host", PROGRAMS)
def test_the_answer_is_found_in_what_the_program_prints(tmp_path: Path, host: str) -> None:
    by = reviewer(tmp_path, host, PRINTED[host])

    assert (by.complete("system", "prompt", 100).text, by.name) == (ANSWER, host)
    assert (tmp_path / "prompt").read_text() == "system\n\nprompt\n"
    assert (tmp_path / "words").read_text().splitlines() == "\n".join(PROGRAMS[host].arguments).split("\n")


@pytest.mark.parametrize("host", PROGRAMS)
def test_the_program_runs_in_an_empty_private_folder_and_knows_whom_it_works_for(tmp_path: Path, host: str) -> None:
    by = reviewer(tmp_path, host, PRINTED[host], CLAUDECODE="1", USER_SET="kept")

    by.complete("system", "prompt", 100)

    folder = tmp_path / "reviewer" / "empty"
    environ = (tmp_path / "env").read_text().splitlines()
    assert (tmp_path / "cwd").read_text().strip() == str(folder.resolve())
    assert (list(folder.iterdir()), folder.stat().st_mode & 0o777) == ([], 0o700)
    assert {"NOFORGETTI_REVIEWER=1", "USER_SET=kept"} <= set(environ)
    assert "CLAUDECODE=1" not in environ


@pytest.mark.parametrize("host", FAILED)
def test_a_failure_that_a_program_tells_is_said_on(tmp_path: Path, host: str) -> None:
    by = reviewer(tmp_path, host, json.dumps(FAILED[host]))

    with pytest.raises(ReviewerError) as caught:
        by.complete("system", "prompt", 100)

    binary = PROGRAMS[host].binary
    said = f"The reviewer `{binary}` gave no answer, saying: Invalid API key. Nothing was reviewed."
    assert caught.value.message == said


@pytest.mark.parametrize("host", [one for one in PROGRAMS if one != "codex"])
@pytest.mark.parametrize("printed", ["", "no JSON\x1b[31m", "{", "[]", "7", '{"type": 7, "part": []}'])
def test_what_makes_no_sense_is_no_answer(tmp_path: Path, host: str, printed: str) -> None:
    with pytest.raises(ReviewerError, match="gave no answer") as caught:
        reviewer(tmp_path, host, printed).complete("system", "prompt", 100)

    assert "\x1b" not in caught.value.message


def test_a_program_is_told_to_offer_no_tools(tmp_path: Path) -> None:
    told = {host: " ".join(one.arguments) for host, one in PROGRAMS.items()}
    reviewer(tmp_path, "gemini", PRINTED["gemini"]).complete("system", "prompt", 100)

    assert "--tools  " in told["claude-code"]
    assert "features.shell_tool=false" in told["codex"]
    assert "--sandbox read-only" in told["codex"]
    assert "--exclude-tools run_shell_command" in told["qwen"]
    assert PROGRAMS["opencode"].environ["OPENCODE_PERMISSION"] == '{"*":"deny"}'
    assert 'decision = "deny"' in (tmp_path / "reviewer" / "no-tools.toml").read_text()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "reviewer").write_text("in the way")

    with pytest.raises(ReviewerError, match="has no folder to run in"):
        reviewer(tmp_path, "codex", ANSWER).complete("system", "prompt", 100)
