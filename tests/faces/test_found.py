"""What was found, as people and agents read it: whole texts."""

from __future__ import annotations

import re
from typing import Any

import pytest

from noforgetti.faces import found
from noforgetti.faces.text import PLAIN, Style

COLOUR = Style(colour=True)
HYBRID = {"mode": "hybrid", "model": "static-256", "reason": "", "hint": ""}
WORDS = {"mode": "keyword", "model": "m", "reason": "The model is gone.", "hint": "fetch it"}
OFF = {"mode": "keyword", "model": "", "reason": "", "hint": "remove `embedding` from the settings to have it"}


def hit(own: str, words: str, **more: Any) -> dict[str, Any]:
    return {
        "id": own,
        "category": "lesson",
        "text": words,
        "pinned": False,
        "archived": False,
        "negative": False,
        "tags": [],
        "score": 0.5,
        "why": "words: tabs",
        **more,
    }


HITS: dict[str, Any] = {
    "branch": "main",
    "query": "tabs",
    "hits": [
        hit("tabs-7k3f", "Use tabs.\n- Fake.", pinned=True, why="words: tabs; meaning: 0.71"),
        hit("old-a2b3", "Red \x1b[31m tabs.", archived=True),
    ],
    "search": WORDS,
}
SESSIONS: dict[str, Any] = {
    "query": "kafka",
    "hits": [
        {
            "id": "s1",
            "name": "queue",
            "time": "2026-11-30T10:00:00Z",
            "text": "We chose Kafka.\n\nIt was late.",
            "score": 0.5,
            "why": "words: kafka",
            "file": "/home/me/s1.jsonl",
        },
        {"id": "s2", "name": "", "time": "", "text": "k" * 500, "score": 0.4, "why": "meaning: 0.5", "file": ""},
    ],
    "search": HYBRID,
    "notes": [],
}
LESSONS: dict[str, Any] = {
    "branch": "main",
    "category": "",
    "lessons": [
        hit("a", "Squash before merging.", tags=["git", "style"]),
        hit("b", "Force-push.", negative=True),
        hit("c", "Pushed on Friday.\nIt broke.", category="mistake"),
    ],
    "more": 7,
}
STATS: dict[str, Any] = {
    "branch": "main",
    "repository": "/data/webshop.git",
    "entries": 1_234,
    "archived": 5,
    "categories": {"lesson": 1_230, "done": 4},
    "keyed": 3,
    "characters": 5_678,
    "hard": 6_000,
    "search": WORDS,
    "index": {"state": "degraded", "entries": 1_239, "sessions": 1, "passages": 20, "reason": "It was begun anew."},
    "embedding": {"entries": 1_200, "passages": 10, "trouble": "The store was torn."},
}
TURN: dict[str, Any] = {
    "branch": "main",
    "class": "debug",
    "prompt": "use tabs",
    "trivial": False,
    "inject": {"section": "The report.", "ephemeral": "What fits."},
    "tokens": 1_234,
    "budget": 1_700,
    "entries": [
        {"id": "a", "section": "Active Lessons", "told": True, "why": "score 0.69"},
        {"id": "b", "section": "", "told": False, "why": "archived"},
    ],
    "memories": [hit("a", "Use tabs.")],
    "sessions": [{**SESSIONS["hits"][0]}],
    "left_out": ["past sessions"],
    "search": HYBRID,
}


def test_hits_say_their_category_id_reason_and_marks() -> None:
    assert found.hits(HITS) == (
        "- [lesson] Use tabs.\n"
        "  - Fake. (tabs-7k3f; words: tabs; meaning: 0.71; pinned)\n"
        "- [lesson] Red \ufffd[31m tabs. (old-a2b3; words: tabs; archived)\n"
        "Searched by words alone: The model is gone. Fix: fetch it."
    )


def test_nothing_found_is_said_with_the_beginning_of_the_query() -> None:
    nothing = {**HITS, "hits": [], "query": "x" * 200, "search": OFF, "notes": ["Not all files are read yet."]}

    assert found.hits(nothing) == f"Nothing on branch `main` fits `{'x' * 80}`."
    assert found.sessions(nothing) == (
        f"No past session of this project fits `{'x' * 80}`.\nNot all files are read yet."
    )


def test_past_sessions_say_day_name_reason_and_file() -> None:
    assert found.sessions(SESSIONS) == (
        "2026-11-30 “queue” (words: kafka)\n"
        "  We chose Kafka.\n"
        "  It was late.\n"
        "  /home/me/s1.jsonl\n"
        "undated (meaning: 0.5)\n"
        "  " + "k" * 400 + "…"
    )


def test_lessons_say_what_to_do_and_what_not_to() -> None:
    assert found.lessons(LESSONS) == (
        "+ [git, style] Squash before merging. (a)\n"
        "- Force-push. (b)\n"
        "- Pushed on Friday.\n"
        "  It broke. (c)\n"
        "and 7 older ones"
    )
    assert found.lessons({**LESSONS, "lessons": [], "more": 0}) == "No lessons on branch `main`."


def test_stats_say_how_much_there_is_and_what_is_wrong() -> None:
    assert found.stats(STATS) == (
        "entries      1,234 (1230 lesson, 4 done)\n"
        "archived     5\n"
        "characters   5,678 of 6,000\n"
        "repository   /data/webshop.git\n"
        "past         1 session, 20 passages\n"
        "search       words alone: The model is gone. Fix: fetch it.\n"
        "embedded     1,200 of 1,239 entries, 10 passages\n"
        "trouble      It was begun anew.\n"
        "trouble      The store was torn."
    )


@pytest.mark.parametrize(
    ("search", "line"),
    [
        (HYBRID, "hybrid (words and meaning, static-256)"),
        (WORDS, "words alone: The model is gone. Fix: fetch it."),
        (OFF, "words alone (remove `embedding` from the settings to have it)"),
    ],
)
def test_the_search_is_one_line(search: dict[str, Any], line: str) -> None:
    assert found.search_line(search) == line


def test_a_turn_is_shown_part_by_part() -> None:
    assert found.report(TURN) == (
        "(section `project_memory` of the system prompt)\nThe report.\n\n"
        "(a message before the prompt, not stored)\nWhat fits."
    )
    assert found.report({**TURN, "inject": {"section": "", "system_prompt": "All of it."}}) == (
        "(appended to the system prompt)\nAll of it."
    )
    assert found.report({**TURN, "inject": {"section": "", "message": "Once."}}) == (
        "(one stored message at the start of the session)\nOnce."
    )
    assert found.report({**TURN, "inject": {"section": ""}}) == "Nothing is told of branch `main`."


def test_why_says_of_each_entry_what_became_of_it() -> None:
    assert found.why(TURN) == (
        "class debug; 1,234 of 1,700 tokens\n"
        "+ a Active Lessons score 0.69\n"
        "- b archived\n"
        "fits the prompt a 0.50 (words: tabs)\n"
        "past session s1 0.50 (words: kafka)\n"
        "left out past sessions: not ready in time"
    )


@pytest.mark.parametrize(
    ("view", "doc"),
    [
        (found.hits, HITS),
        (found.sessions, SESSIONS),
        (found.lessons, LESSONS),
        (found.stats, STATS),
        (found.report, TURN),
        (found.why, TURN),
    ],
)
def test_colour_changes_no_letter(view: Any, doc: dict[str, Any]) -> None:
    assert re.sub(r"\x1b\[[0-9;]*m", "", view(doc, COLOUR)) == view(doc, PLAIN)
