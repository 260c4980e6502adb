"""Real Pi: `/memory-consolidate` and `/memory dream`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from .lab import cli
from .scripted_model import Reply, text_of

if TYPE_CHECKING:
    from .lab import Lab

pytestmark = pytest.mark.pi

LEARNED = "Use pnpm instead of npm."
FACTS = ("Jobs are retried 5 times.", "A job that fails goes to the queue `jobs.dead`.")
MERGED = "Jobs are retried 5 times; a job that fails goes to the queue `jobs.dead`."


def is_dream(body: dict[str, Any]) -> bool:
    """True for the request that a dream makes."""
    return not body.get("tools") and "Candidates:" in text_of(body["messages"][-1])


def is_review(body: dict[str, Any]) -> bool:
    """True for the request that a review makes."""
    return not body.get("tools") and "Candidates:" not in text_of(body["messages"][-1])


def texts(lab: Lab) -> list[str]:
    """The entries of the branch."""
    return sorted(one["text"] for one in cli(lab, "show")["entries"])


def test_consolidating_needs_two_messages_then_reviews_and_dreams_as_commits_that_undo_takes_back(lab: Lab) -> None:
    ids = [cli(lab, "add", fact)["entry"]["id"] for fact in FACTS]
    learns = {"action": "add", "content": LEARNED, "importance": "high", "evidence": ["e1"]}
    merges = {"action": "merge", "entryIds": ids, "content": MERGED}
    lab.model.when(is_review, Reply(text=json.dumps({"operations": [learns]})))
    lab.model.when(is_dream, Reply(text=json.dumps({"operations": [merges]})))

    with lab.rpc() as pi:
        pi.ask("Rename the flag in the parser.")
        pi.ask("/memory-consolidate")
        few = pi.notice("Nothing to consolidate yet")
        pi.ask("Use pnpm here.")
        pi.ask("/memory-consolidate")
        done = pi.notice("Consolidated:")
        kept = texts(lab)
        pi.command("/memory undo")
        undone = texts(lab)

    assert "this session has 1 message of yours, 2 are needed" in few
    assert (
        done
        == "Consolidated: 1 learned from this session. Memory: 96 → 97 characters (goal 4,000), 1 merged into others."
    )
    assert kept == sorted([MERGED, LEARNED])
    assert undone == sorted([*FACTS, LEARNED])
    kinds = [one["kind"] for one in cli(lab, "log")["commits"]]
    assert kinds == ["undo", "dream", "review", "write", "write"]


def test_a_dream_of_its_own_uses_the_session_s_model_and_leaves_no_trace_in_the_session(lab: Lab) -> None:
    cli(lab, "add", FACTS[0])
    lab.model.when(is_dream, Reply(text='{"operations": []}'))

    with lab.rpc() as pi:
        pi.ask("Rename the flag in the parser.")
        pi.ask("/memory dream")
        said = pi.notice("Memory:")
        request = lab.model.wait(is_dream)

    assert said == "Memory: 25 → 25 characters (goal 4,000)."
    assert FACTS[0] in text_of(request["messages"][-1])
    assert "Candidates:" not in lab.sessions()[0].read_text(encoding="utf-8")
