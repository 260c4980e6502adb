"""Promotions and skills over the wire: what the agent is told, what the user decides, what a host is given."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .bridge_host import Host, hosting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .bridge_host import Bridge, Document

LESSON = "To release: 1. bump the version 2. run the tests 3. push the tag"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host with one bridge and one lesson."""
    with hosting(tmp_path) as made:
        made.tool(made.start(), action="add", content=LESSON)
        yield made


@pytest.fixture
def bridge(host: Host) -> Bridge:
    """Its bridge."""
    return host.bridges[0]


def reinforce(host: Host, times: int = 2) -> Document:
    """The agent confirms the lesson; the last answer."""
    answer: Document = {}
    for _ in range(times):
        answer = host.bridges[0].call(
            "tool", name="memory_reinforce", arguments={"id": "bump the version"}, session=host.who, branch=None
        )
    return answer


def paths(host: Host, branch: str | None = None) -> list[str]:
    found: list[str] = host.bridges[0].call("skills/paths", session=host.who, branch=branch)["paths"]
    return found


def offered(bridge: Bridge, prefix: str) -> list[str]:
    return [one["value"] for one in bridge.call("complete", prefix=prefix, branch="main")["items"]]


def test_the_agent_is_told_what_a_memory_may_become_and_who_decides(host: Host) -> None:
    answer = reinforce(host)

    (one,) = answer["details"]["promotions"]
    assert answer["text"].splitlines()[1] == (
        f"It may become the skill `release` (promotion {one['id']}); the user decides that with `/memory promotions`."
    )
    assert answer["status"] == "memory main: 1 entry, 1 %, 1 promotion to decide"


def test_the_user_decides_by_a_command_and_the_footer_follows(host: Host, bridge: Bridge) -> None:
    own = reinforce(host)["details"]["promotions"][0]["id"]

    accepted = host.command(bridge, f"promotions accept {own[:6]}")

    assert accepted["text"].startswith(f"Accepted {own}, commit ")
    assert accepted["status"] == "memory main: 1 entry, 1 %"
    assert host.command(bridge, "promotions")["text"] == "No open promotions on branch `main`."
    assert host.command(bridge, "promotions all")["text"].startswith(f"{own} applied: the skill `release` (")
    assert host.command(bridge, f"promotions show {own}")["text"].startswith(f"id            {own}\n")
    assert host.command(bridge, f"promotions undo {own}")["text"].endswith("it is open again.")
    assert host.command(bridge, f"promotions reject {own}")["text"].endswith("it is not proposed again.")


@pytest.mark.parametrize(
    ("line", "level", "text"),
    [
        ("promotions accept", "error", r"`/memory promotions` is written `/memory promotions \[all \| .*"),
        ("promotions explode x", "error", r"`/memory promotions` is written .*"),
        (
            "promotions accept ffff",
            "warning",
            r"No promotion has an id that begins with `ffff`\. Nothing was written\.",
        ),
        ("promotions show ffff", "warning", r"No promotion has an id that begins with `ffff`\. .*"),
        ("skills show gone", "error", r"No skill is called `gone`\. Nothing was written\."),
        ("skills explode x", "error", r"`/memory skills` is written .*"),
        ("skills undo gone", "info", r"Nothing to do: no change of a skill `gone` is left to take back\."),
    ],
)
def test_words_that_are_off_are_answered_by_a_sentence(
    host: Host, bridge: Bridge, line: str, level: str, text: str
) -> None:
    answer = host.command(bridge, line)

    assert answer["level"] == level
    assert re.match(text, answer["text"]), answer["text"]


def test_a_host_is_given_the_skills_of_the_session_s_branch(host: Host, bridge: Bridge) -> None:
    assert paths(host) == []
    own = reinforce(host)["details"]["promotions"][0]["id"]
    host.command(bridge, "fork other")
    host.command(bridge, f"promotions accept {own}")

    (folder,) = paths(host)

    assert [file.relative_to(folder).as_posix() for file in Path(folder).rglob("*.md")] == ["release/SKILL.md"]
    assert paths(host, "other") == []
    assert host.command(bridge, "skills")["text"] == "release Release: bump the version; run the tests; push the tag"
    assert "3. push the tag" in host.command(bridge, "skills show release")["text"]
    assert host.command(bridge, "skills delete release")["text"].startswith("Deleted skill `release`, commit ")
    assert paths(host) == []
    assert host.command(bridge, "skills undo release")["text"].startswith("Took back ")
    assert paths(host) == [folder]


def test_completion_offers_what_can_be_done_and_with_which_one(host: Host, bridge: Bridge) -> None:
    own = reinforce(host)["details"]["promotions"][0]["id"]

    assert offered(bridge, "promotions ") == [
        f"promotions {one}" for one in ("all", "show", "accept", "reject", "undo")
    ]
    assert offered(bridge, "promotions acc") == ["promotions accept"]
    assert offered(bridge, "promotions accept ") == [f"promotions accept {own}"]
    assert offered(bridge, f"promotions accept {own}") == []
    assert offered(bridge, "skills del") == ["skills delete"]
    assert offered(bridge, "skills show ") == []
