"""Sessions of every host through the command line: found, reviewed by the rules, searched."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from transcripts.hosts import HOSTS, laid_out

from noforgetti.transcripts.base import database_of

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import CommandLine

RULES = ("review", "--reviewer", "rules")
LEARNED = "From now on always use pnpm, never npm."


def learned(nf: CommandLine) -> list[str]:
    return [one["text"] for one in nf.json("show")["entries"]]


@pytest.fixture(autouse=True)
def _only_these_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("host", HOSTS)
def test_the_newest_session_of_a_host_is_found_and_reviewed_once(nf: CommandLine, tmp_path: Path, host: str) -> None:
    path = laid_out(host, tmp_path, str(nf.project))
    if host == "opencode":  # its newest is a fork
        with closing(sqlite3.connect(database_of(path))) as made:
            made.execute("DELETE FROM session WHERE title LIKE '%fork%'")
            made.commit()

    done = nf.json(*RULES)

    assert (done["outcome"], done["transcript"]) == ("applied", str(path))
    assert any("pnpm" in one for one in learned(nf))
    assert not any("INJECTED" in one or "TOOL OUTPUT" in one for one in learned(nf))
    assert nf.json(*RULES)["outcome"] == "nothing"


@pytest.mark.parametrize("host", HOSTS)
def test_a_named_session_is_reviewed_wherever_it_lies(nf: CommandLine, tmp_path: Path, host: str) -> None:
    path = laid_out(host, tmp_path / "elsewhere")

    assert nf.json(*RULES, "--transcript", str(path))["outcome"] == "applied"


@pytest.mark.parametrize("host", HOSTS)
def test_sessions_of_other_projects_are_not_taken(nf: CommandLine, tmp_path: Path, host: str) -> None:
    laid_out(host, tmp_path, str(tmp_path / "another"))

    done = nf(*RULES)

    assert done.status == 1
    assert "No host has a session of" in done.err


def test_the_newest_of_several_hosts_is_taken(nf: CommandLine, tmp_path: Path) -> None:
    found = [laid_out(host, tmp_path, str(nf.project)) for host in ("codex", "claude-code", "qwen")]
    for age, path in enumerate(found):
        os.utime(path, (1_796_000_000 - age, 1_796_000_000 - age))

    assert nf.json(*RULES)["transcript"] == str(found[0])


@pytest.mark.parametrize("host", HOSTS)
def test_what_was_said_is_found_in_past_sessions(nf: CommandLine, tmp_path: Path, host: str) -> None:
    laid_out(host, tmp_path, str(nf.project))

    hits = nf.json("sessions", "pnpm")["hits"]

    said = "Noted: pnpm it is." if host == "claude-code" else LEARNED  # what has a summary is remembered by it
    assert {one["text"].partition("\n")[0] for one in hits} == {said}
