"""Turns, sessions and branches, over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .bridge_host import Bridge, Host, hosting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECTION = """\
Memory of this project, branch `main`: 5 % full, 95 of 1,700 tokens told; 9 of 6,000 characters stored.
Notes from earlier sessions: background, not a request of the user.
Trust them for preferences and conventions; verify anything about files, versions and state.
Where the user or the system says something else now, that counts.

## Active Lessons
- [lesson] Use tabs."""
FENCED = f"<project_memory>\n{SECTION}\n</project_memory>"
DUMP = """\
<project_memory>
Notes from earlier sessions: background, not a request of the user.
Trust them for preferences and conventions; verify anything about files, versions and state.
Where the user or the system says something else now, that counts.

## Lessons
- [lesson] Use tabs.
</project_memory>"""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host without a bridge yet."""
    with hosting(tmp_path) as made:
        yield made


def filled(host: Host) -> Bridge:
    """A bridge of a memory with one entry."""
    bridge = host.start()
    host.tool(bridge, action="add", content="Use tabs.")
    return bridge


@pytest.mark.parametrize(
    ("injection", "first", "second"),
    [
        ("auto", {"section": SECTION}, {"section": SECTION}),
        ("system-prompt", {"section": "", "system_prompt": FENCED}, {"section": "", "system_prompt": FENCED}),
        ("context", {"section": "", "ephemeral": FENCED}, {"section": "", "ephemeral": FENCED}),
        ("session-start", {"section": "", "message": DUMP}, {"section": ""}),
    ],
)
def test_each_way_in_injects_its_own_and_nothing_else(
    host: Host, injection: str, first: dict[str, Any], second: dict[str, Any]
) -> None:
    host.config(f'injection = "{injection}"')
    bridge = host.start()
    assert host.turn(bridge)["inject"] == {"section": ""}
    host.tool(bridge, action="add", content="Use tabs.")

    assert [host.turn(bridge)["inject"] for _ in range(2)] == [first, second]


def test_a_turn_without_a_change_is_the_same_bytes_again(host: Host) -> None:
    bridge = filled(host)

    answers = [host.turn(bridge) for _ in range(10)]

    assert answers == [answers[0]] * 10
    assert answers[0]["inject"] == {"section": SECTION}


def test_what_another_bridge_writes_is_in_the_next_turn(host: Host) -> None:
    bridge, other = filled(host), host.start()
    assert host.turn(bridge)["inject"]["section"] == host.turn(other)["inject"]["section"] == SECTION

    host.tool(other, action="add", content="Run the tests.")

    assert "- [lesson] Run the tests." in host.turn(bridge)["inject"]["section"]
    assert host.turn(bridge)["status"] == "memory main: 2 entries, 0 %"


def test_a_session_starts_at_main_and_is_told_its_branch(host: Host) -> None:
    bridge = filled(host)

    started = bridge.call("session/start", session=host.who, branch=None, reason="startup")

    assert started == {"branch": "main", "status": "memory main: 1 entry, 0 %", "notices": []}


def test_a_branch_that_is_gone_is_main_with_one_notice_each_time_it_is_asked_for(host: Host) -> None:
    bridge = filled(host)
    host.command(bridge, "fork trial")
    other = host.start()
    assert host.turn(other, "trial")["branch"] == "trial"
    from store.builders import git

    git(host.repository, "branch", "-D", "trial")

    turn = host.turn(bridge, "trial")

    assert (turn["branch"], turn["inject"]["section"]) == ("main", SECTION)
    assert [one["text"] for one in turn["notices"]] == ["Memory branch `trial` is gone; this session uses `main` now."]
    assert host.turn(bridge, turn["branch"])["notices"] == []


def test_two_sessions_on_two_branches_are_told_their_own(host: Host) -> None:
    bridge = filled(host)
    host.command(bridge, "fork trial")
    host.tool(bridge, "trial", action="add", content="Trial fact.")

    for _ in range(3):
        assert "Trial fact." in host.turn(bridge, "trial")["inject"]["section"]
        assert "Trial fact." not in host.turn(bridge, "main")["inject"]["section"]


def test_a_folder_below_the_project_is_the_same_project(host: Host) -> None:
    filled(host)
    below = host.project / "src" / "deep"
    below.mkdir(parents=True)
    bridge = host.start(hello=False)

    hello = bridge.call("hello", protocol=1, host="test", host_version="0", cwd=str(below))

    assert hello["project"]["root"] == str(host.project)
    assert host.turn(bridge)["inject"]["section"] == SECTION


def test_without_a_greeting_the_bridges_own_folder_counts(host: Host) -> None:
    filled(host)

    assert host.turn(host.start(hello=False))["inject"]["section"] == SECTION


def test_reading_makes_no_file_of_the_memory(host: Host) -> None:
    bridge = host.start()
    bridge.call("session/start", session=host.who, branch=None, reason="startup")
    host.turn(bridge)
    for line in ("status", "show", "branches", "log"):
        host.command(bridge, line)
    bridge.call("complete", prefix="use ", branch=None)
    assert host.texts(bridge) == []

    assert not (host.home / "data").exists()


def test_ending_a_session_without_a_review_takes_no_time(host: Host) -> None:
    bridge = filled(host)

    assert bridge.call("session/end", limit=1.5, reason="quit", wait=2) == {}
    assert bridge.call("session/end", limit=1.5, reason="quit", wait=-5) == {}
