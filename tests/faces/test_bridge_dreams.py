"""Dreams that a host asks for, or that are due while it runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from service.said import NOTHING, learns, proposal
from store.builders import git

from .bridge_host import Host, hosting, says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .bridge_host import Bridge


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host without a memory."""
    with hosting(tmp_path) as made:
        yield made


PROMPT = "Use pnpm instead of npm in this repository, from now on."


def dreams(asked: dict[str, Any]) -> bool:
    return "Candidates:" in asked["params"]["prompt"]


def reply(asked: dict[str, Any]) -> dict[str, Any]:
    return says('{"operations": []}' if dreams(asked) else proposal(learns()))


def remember(host: Host, bridge: Bridge, *facts: str) -> None:
    for fact in facts:
        host.tool(bridge, action="add", content=fact)


def cards(bridge: Bridge) -> list[str]:
    return [one["params"]["title"] for one in bridge.told if one["method"] == "card"]


def test_a_dream_that_is_asked_for_is_told_with_a_card_and_its_size(host: Host) -> None:
    bridge = host.start()
    bridge.asks = reply
    remember(host, bridge, "The API listens on port 8080 in development.")
    own = host.tool(bridge, action="add", content="Mock the clock in unit tests.")["details"]["entry"]["id"]
    operation = {"action": "assess", "entryId": own, "importance": "high"}
    bridge.asks = lambda asked: says(json.dumps({"operations": [operation]}))

    assert host.command(bridge, "dream")["text"] == "A dream over branch `main` was started."
    bridge.until(bridge.notices)

    assert bridge.notices() == ["Memory: 73 → 73 characters (goal 4,000)."]
    commit = git(host.repository, "rev-parse", "--short=12", "main")
    assert cards(bridge) == [f"Memory `main` dreamt ({commit})"]
    trailers = git(host.repository, "log", "-1", "--format=%(trailers:only)", "main").splitlines()
    assert "Kind: dream" in trailers
    assert "Reviewer: host (acme/small)" in trailers


def test_consolidating_reviews_the_session_and_dreams(host: Host) -> None:
    bridge = host.start()
    bridge.asks = reply
    host.session.say(PROMPT, "What does the build do?")

    host.command(bridge, "consolidate")
    bridge.until(bridge.notices)

    assert bridge.notices() == ["Consolidated: 1 learned from this session. Memory: 24 → 24 characters (goal 4,000)."]
    assert [dreams(one) for one in bridge.asked] == [False, True]
    assert host.texts(bridge) == ["Use pnpm instead of npm."]


def test_consolidating_a_session_of_one_message_says_so(host: Host) -> None:
    bridge = host.start()
    host.session.say(PROMPT)

    host.command(bridge, "consolidate")
    bridge.until(bridge.notices)

    assert bridge.notices()[0].startswith(
        "Nothing to consolidate yet: this session has 1 message of yours, 2 are needed."
    )
    assert bridge.asked == []


def test_a_dream_whose_model_fails_is_told_and_changes_nothing(host: Host) -> None:
    bridge = host.start()
    remember(host, bridge, "Mock the clock in unit tests.")
    bridge.asks = lambda asked: {"error": {"code": -32001, "message": "No model is selected."}}

    host.command(bridge, "dream")
    bridge.until(bridge.notices)

    assert bridge.notices() == ["Dream: The host refused: No model is selected."]
    assert git(host.repository, "rev-list", "--count", "main") == "1"


def test_no_dream_starts_by_itself_in_a_memory_that_was_just_begun(host: Host) -> None:
    bridge = host.start()
    bridge.asks = lambda asked: says(NOTHING)
    host.settle(bridge, PROMPT)
    bridge.until(lambda: bridge.asked)
    host.settle(bridge, "Go on.")
    host.turn(bridge)

    assert [dreams(one) for one in bridge.asked] == [False]
