"""Real Pi: what a session leaves behind, from the user's words to the memory of the next session."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from .lab import cli
from .scripted_model import Reply, text_of

if TYPE_CHECKING:
    from .lab import Lab

pytestmark = pytest.mark.pi

SMALL = ("Rename the flag in the parser.", "Move the helper to its own module.", "Write the test for it.")
LEARNED = "Use pnpm instead of npm."
ANSWER = json.dumps(
    {"operations": [{"action": "add", "content": LEARNED, "importance": "high", "evidence": ["e1"]}]},
)


def is_review(body: dict[str, Any]) -> bool:
    """True for the request that a review makes: it offers no tools."""
    return not body.get("tools")


def texts(lab: Lab) -> list[str]:
    """The entries of the branch."""
    return [one["text"] for one in cli(lab, "show")["entries"]]


def test_three_messages_and_a_quit_are_reviewed(lab: Lab) -> None:
    lab.model.when(is_review, Reply(text=ANSWER))
    with lab.rpc() as pi:
        for prompt in SMALL:
            pi.ask(prompt)
        assert [body for body in lab.model.requests if is_review(body)] == []

    assert texts(lab) == [LEARNED]
    assert cli(lab, "queue")["sessions"] == []


def test_a_model_that_does_not_answer_delays_no_quit_and_the_next_session_reviews(lab: Lab) -> None:
    gate = lab.model.hold("no message holds this")
    lab.model.when(is_review, Reply(text=ANSWER, gate=gate))
    with lab.rpc() as pi:
        for prompt in SMALL:
            pi.ask(prompt)
        took = pi.close()
    assert took < 6
    assert [one["prompts"] for one in cli(lab, "queue")["sessions"]] == [3]

    lab.model.when(is_review, Reply(text=ANSWER))
    with lab.rpc() as pi:
        pi.ask("Fix the build.")
        until = time.monotonic() + 30
        while texts(lab) != [LEARNED]:
            assert time.monotonic() < until
            time.sleep(0.2)

    assert cli(lab, "queue")["sessions"] == []


def test_a_stated_preference_waits_and_nothing_else_does(lab: Lab) -> None:
    with lab.rpc() as pi:
        pi.ask("I prefer small commits over large ones. Should I always use tabs here?")
        pi.ask("You can push this branch now. For this task, use the old parser.")
        until = time.monotonic() + 20
        while not cli(lab, "candidates")["candidates"]:
            assert time.monotonic() < until
            time.sleep(0.2)
        shown = pi.command("/memory candidates")

    (one,) = cli(lab, "candidates")["candidates"]
    assert (one["kind"], one["text"]) == ("preference", "I prefer small commits over large ones.")
    assert one["session"] in lab.sessions()[0].name
    assert one["text"] in shown
    assert texts(lab) == []
    assert not any(one["text"] in text_of(body["messages"][0]) for body in lab.model.requests)
