"""Documents as people read them, compared whole with golden files, plain and coloured."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from noforgetti.faces import text
from noforgetti.faces.text import PLAIN, Style

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden"
COLOUR = Style(colour=True)
HEAD = "48a2ebd88d78d46aa6321e4189faa809a7a4852b"
OTHER = "9d01ce44b1c5f1a0a4c21d9b0e6f7a8b9c0d1e2f"
LONG = "A sentence that goes on and on, far beyond the width of a card, because somebody had a lot to say that day."


def entry(own: str, words: str, **more: Any) -> dict[str, Any]:
    return {
        "id": own,
        "category": "lesson",
        "text": words,
        "importance": "normal",
        "assessed": True,
        "pinned": False,
        "enforced": False,
        "archived": False,
        **more,
    }


def operation(kind: str, own: str, before: str | None, after: str | None, importance: str = "normal") -> dict[str, Any]:
    return {"operation": kind, "id": own, "before": before, "text": after, "importance": importance}


OPERATIONS = [
    operation("add", "use-pnpm-7k3f", None, "Use pnpm instead of npm."),
    operation("replace", "deploy-a2b3", "Deploy on Mondays.", "Deploy on Tuesdays.\nNever on Fridays."),
    operation("assess", "tabs-c4d5", "Use tabs.", "Use tabs.", "high"),
    operation("change", "tests-e6f7", "Run the tests.", "Run the tests."),
    operation("remove", "old-g2h3", LONG, None),
]

SHOW = {
    "branch": "main",
    "head": HEAD,
    "characters": 80,
    "entries": [
        entry("use-pnpm-7k3f", "Use pnpm instead of npm.", category="preference", importance="high"),
        entry("no-friday-a2b3", "Never deploy on Fridays.", category="preference", pinned=True, enforced=True),
        entry("two-lines-c4d5", "First line.\n- Second line.", assessed=False),
        entry("odd-e6f7", "Red \x1b[31m text\x07.", archived=True, importance="low"),
        entry("moved-g2h3", "Moved to uv.", category="done"),
    ],
    "damaged": [{"path": "lessons/torn.md", "reason": "is not UTF-8"}],
}

STATUS: dict[str, Any] = {
    "project": {
        "root": "/home/me/webshop",
        "key": "0123456789abcdef",
        "repository": "/home/me/.local/share/noforgetti/projects/webshop-0123456789abcdef.git",
        "exists": True,
        "worktree_of": "/home/me/main",
        "superproject": "/home/me/all",
    },
    "branch": "trial",
    "head": HEAD,
    "entries": 1_234,
    "characters": 5_678,
    "limits": {"entry": 800, "goal": 4_000, "target": 4_500, "hard": 6_000},
    "hidden": 2,
    "review": {
        "mode": "auto",
        "reviewer": "host",
        "state": "backing-off",
        "turns": 3,
        "signal": 5,
        "failures": 2,
        "next_attempt": "2026-12-01T12:10:00Z",
        "last": {"time": "2026-12-01T12:00:00Z", "outcome": "failed", "reviewer": "host"},
    },
    "index": {"state": "ready", "sessions": 12, "passages": 1_234},
    "embedding": {"state": "ready", "model": "static-256"},
    "notes": ["one note"],
    "degraded": ["`lessons/torn.md` is not UTF-8"],
    "traces": [{"time": "2026-12-01T11:00:00Z", "level": "warning", "text": "a lock was removed"}],
}

NEW: dict[str, Any] = {
    **STATUS,
    "project": {**{key: STATUS["project"][key] for key in ("root", "key", "repository")}, "exists": False},
    "branch": "main",
    "head": None,
    "entries": 0,
    "characters": 0,
    "hidden": 0,
    "review": {"mode": "off", "reviewer": "auto", "state": "idle"},
    "index": {"state": "absent", "sessions": 0, "passages": 0},
    "embedding": {"state": "off", "model": ""},
    "notes": ["new project: nothing is remembered yet"],
    "degraded": [],
    "traces": [],
}

LOG = {
    "branch": "main",
    "commits": [
        {
            "commit": HEAD,
            "kind": "review",
            "time": "2026-12-01T12:00:00Z",
            "author": "reviewer (host)",
            "subject": "review: add 1, replace 1: Use pnpm instead of npm.",
            "operations": OPERATIONS,
        },
        {
            "commit": OTHER,
            "kind": "other",
            "time": "2026-11-30T12:00:00Z",
            "author": "somebody",
            "subject": "by \x1b[2Jhand",
            "operations": [],
        },
    ],
}

BRANCHES = {
    "branches": [
        {"name": "main", "head": HEAD, "entries": 1, "current": False},
        {"name": "experiment", "head": OTHER, "entries": 12, "current": True},
        {"name": "torn", "head": OTHER, "entries": None, "current": False},
        {"name": "new", "head": None, "entries": 0, "current": False},
    ]
}

UNDONE: dict[str, Any] = {
    "outcome": "undone",
    "branch": "main",
    "undoes": HEAD,
    "subject": "review: add 1: Use pnpm.",
    "commit": OTHER,
    "operations": OPERATIONS,
    "conflicts": [],
    "reason": None,
}
HALTED = {
    **UNDONE,
    "outcome": "halted",
    "commit": None,
    "conflicts": [{"id": "use-pnpm-7k3f", "commit": OTHER}, {"id": "lessons/torn.md", "commit": None}],
}

MERGED: dict[str, Any] = {
    "outcome": "merged",
    "branch": "main",
    "source": "trial",
    "commit": OTHER,
    "operations": OPERATIONS,
    "conflicts": [],
    "reason": None,
}

WRITTEN: dict[str, Any] = {
    "outcome": "added",
    "branch": "main",
    "commit": OTHER,
    "entry": {"id": "use-pnpm-7k3f"},
    "warnings": ["it names a date"],
}


def undone(style: Style) -> str:
    redone = {**UNDONE, "outcome": "redone", "redoes": HEAD}
    del redone["undoes"]
    return "\n\n".join(
        [
            text.undone(UNDONE, style),
            text.undone(UNDONE, style, dry_run=True),
            text.undone(redone, style),
            text.undone(redone, style, dry_run=True),
            text.undone(HALTED, style),
            text.undone({**HALTED, "conflicts": [], "reason": "It would not fit. Nothing was written."}, style),
            text.undone({**UNDONE, "outcome": "nothing", "reason": "it is undone already"}, style),
        ]
    )


def merged(style: Style) -> str:
    halted = {**MERGED, "outcome": "halted", "reason": "Both branches changed 1 entry. Nothing was written."}
    return "\n\n".join(
        [
            text.merged(MERGED, style),
            text.merged({**MERGED, "commit": None}, style),
            text.merged({**halted, "conflicts": [{"id": "use-pnpm-7k3f"}]}, style),
            text.merged({**MERGED, "outcome": "nothing"}, style),
        ]
    )


def written(style: Style) -> str:
    return "\n\n".join(
        [
            text.written(WRITTEN, style),
            text.written({**WRITTEN, "outcome": "duplicate", "commit": None, "warnings": []}, style),
            text.written({**WRITTEN, "outcome": "removed", "entry": None, "warnings": []}, style),
        ]
    )


def card(style: Style) -> str:
    return "\n".join(line for one in OPERATIONS for line in text.operation(one, style, width=76))


def nothing(style: Style) -> str:
    empty: dict[str, Any] = {"branch": "main", "entries": [], "damaged": []}
    return "\n".join(
        [
            text.show(empty, style),
            text.entry_list(empty),
            text.log({"branch": "main", "commits": []}, style),
            text.operations({"operations": []}, style),
            text.blame({"blame": []}, style),
            text.edited({"outcome": "nothing"}, style),
        ]
    )


def edited(style: Style) -> str:
    return text.edited({"outcome": "edited", "commit": OTHER, "operations": OPERATIONS}, style)


def blame(style: Style) -> str:
    one = {"commit": HEAD, "time": "2026-12-01T12:00:00Z", "kind": "review", "author": "reviewer (host)", "text": LONG}
    return text.blame({"blame": [one, {**one, "author": "user", "kind": "write", "text": "Use tabs.\nAlways."}]}, style)


VIEWS: dict[str, Callable[[Style], str]] = {
    "show": lambda style: text.show(SHOW, style),
    "list": lambda _: text.entry_list(SHOW),
    "status": lambda style: text.status(STATUS, style) + "\n\n" + text.status(NEW, style),
    "log": lambda style: text.log(LOG, style),
    "branches": lambda style: text.branches(BRANCHES, style),
    "operations": lambda style: text.operations({"operations": OPERATIONS}, style),
    "undone": undone,
    "merged": merged,
    "written": written,
    "edited": edited,
    "blame": blame,
    "card": card,
    "nothing": nothing,
}


@pytest.mark.parametrize("style", [PLAIN, COLOUR], ids=["plain", "colour"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_reads_as_its_golden_file(name: str, style: Style) -> None:
    golden = GOLDEN / f"{name}{'.colour' if style.colour else ''}.txt"

    assert VIEWS[name](style) + "\n" == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", VIEWS)
def test_colour_changes_no_letter(name: str) -> None:
    assert re.sub(r"\x1b\[\d+m", "", VIEWS[name](COLOUR)) == VIEWS[name](PLAIN)


@pytest.mark.parametrize("name", VIEWS)
def test_no_control_character_of_the_memory_reaches_a_terminal(name: str) -> None:
    assert [c for c in VIEWS[name](PLAIN) if c != "\n" and not c.isprintable()] == []


def test_every_line_of_a_card_fits_its_width() -> None:
    assert max(len(line) for line in card(PLAIN).split("\n")) <= 78
    assert text.clip(LONG) == "A sentence that goes on and on, far beyond the width of a card, because som…"
    assert len(text.clip(LONG)) == 76
    assert text.clip("  two \n words ") == "two words"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("plain", "plain"),
        ("line\nend\ttab", "line\nend\ttab"),
        ("\x1b[31mred\x1b[0m", "\N{REPLACEMENT CHARACTER}[31mred\N{REPLACEMENT CHARACTER}[0m"),
        ("\x00\x07\x7f\x85\x9b", "\N{REPLACEMENT CHARACTER}" * 5),
        ("\r", "\N{REPLACEMENT CHARACTER}"),
        ("日本語 \U0001f468\u200d\U0001f469", "日本語 \U0001f468\u200d\U0001f469"),
    ],
)
def test_text_for_a_terminal_holds_nothing_that_it_obeys(words: str, shown: str) -> None:
    assert text.clean(words) == shown
    assert text.clean(shown) == shown


@pytest.mark.parametrize(
    ("entries", "characters", "line"),
    [
        (0, 0, "memory main: 0 entries, 0 %"),
        (1, 59, "memory main: 1 entry, 0 %"),
        (1, 60, "memory main: 1 entry, 1 %"),
        (1_200, 6_600, "memory main: 1,200 entries, 110 %"),
    ],
)
def test_the_footer_is_one_short_line(entries: int, characters: int, line: str) -> None:
    assert text.footer("main", entries, characters, 6_000) == line
