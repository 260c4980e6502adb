"""Where Pi keeps a project's sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from noforgetti.service.sessions import NoSession, newest
from noforgetti.store.discovery import Project

PROJECT = Project("/home/me/web shop", kind="git")
FOLDER = "--home-me-web shop--"


def made(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()


def test_the_newest_session_is_the_last_by_its_name(tmp_path: Path) -> None:
    folder = tmp_path / ".pi" / "agent" / "sessions" / FOLDER
    made(folder, "2026-11-30T10-00-00_b.jsonl", "2026-12-01T09-00-00_a.jsonl", "2026-12-02.txt")

    assert newest(PROJECT, {"HOME": str(tmp_path)}) == folder / "2026-12-01T09-00-00_a.jsonl"


@pytest.mark.parametrize(
    ("variable", "below"),
    [("PI_CODING_AGENT_DIR", Path("sessions") / FOLDER), ("PI_CODING_AGENT_SESSION_DIR", Path(FOLDER))],
)
def test_pis_own_variables_say_where_to_look(tmp_path: Path, variable: str, below: Path) -> None:
    made(tmp_path / "pi" / below, "one.jsonl")

    assert newest(PROJECT, {"HOME": "/nowhere", variable: str(tmp_path / "pi")}).name == "one.jsonl"


def test_sessions_of_other_projects_are_not_taken(tmp_path: Path) -> None:
    made(tmp_path / ".pi" / "agent" / "sessions" / "--home-me-other--", "one.jsonl")

    with pytest.raises(NoSession, match="no session of `/home/me/web shop`") as caught:
        newest(PROJECT, {"HOME": str(tmp_path)})

    assert caught.value.hint == "name a session file with --transcript"
