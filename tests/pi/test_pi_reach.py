"""How far entries reach, in real Pi: the user's facts in every project, a session's entries in that session alone."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from .scripted_model import Reply
from .test_main_job import memory, system_of

if TYPE_CHECKING:
    from .lab import Lab

pytestmark = pytest.mark.pi


def test_a_fact_about_the_user_of_another_project_is_told_and_that_projects_own_is_not(lab: Lab) -> None:
    other = lab.project.parent / "other"
    (other / ".git").mkdir(parents=True)
    for words in (["--key", "user.timezone", "US/Pacific"], ["Rate limiting happens in the gateway."]):
        done = subprocess.run(
            [sys.executable, "-m", "noforgetti", "add", *words], cwd=other, env=lab.env(), capture_output=True
        )
        assert done.returncode == 0, done.stderr

    with lab.rpc() as pi:
        pi.ask("what do you know?")

    told = system_of(lab.model.asked("what do you know?"))
    assert "timezone: US/Pacific" in told
    assert "gateway" not in told


def test_what_holds_for_a_session_is_told_in_its_next_turn_and_not_in_the_next_session(lab: Lab) -> None:
    lab.model.reply(
        Reply(
            tool="project_memory",
            arguments={"action": "add", "content": "For this report, use landscape pages.", "scope": "session"},
        ),
        Reply("noted"),
    )
    with lab.rpc() as pi:
        pi.ask("Landscape, please.")
        pi.ask("and in this session?")
    with lab.rpc() as pi:
        pi.ask("and in another one?")

    assert "landscape" in str(lab.model.asked("and in this session?")["messages"][:-1])
    assert "landscape" not in system_of(lab.model.asked("and in another one?"))
    assert memory(lab, "show")["entries"] == []
