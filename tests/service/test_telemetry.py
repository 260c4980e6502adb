"""What was put before the agent, as a short log without a word of the prompt."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from store.builders import STAMP, entry, opened, review

from noforgetti.model.entry import MAIN
from noforgetti.retrieval.base import FoundEntry, FoundSession
from noforgetti.service import telemetry
from noforgetti.service.recalling import Recalled
from noforgetti.service.turns import Turns

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory

PROMPT = "Where does the purple walrus live?"


def turn(memory: Memory) -> None:
    """One turn that found an entry and a session."""
    tabs = entry("Use tabs.", "tabs")
    if not memory.exists:
        review(memory, add=[tabs])
    found = Recalled(
        (FoundEntry(tabs, 0.12345, "walrus"),), (FoundSession("s0", 0.5, "walrus", ("A walrus.",)),), (), 1.26
    )
    Turns(memory, lambda _: found).start(MAIN, PROMPT, "s1")


def test_a_turn_leaves_one_line_without_a_word_of_the_prompt(memory: Memory) -> None:
    turn(memory)

    (line,) = Path(telemetry.file_of(memory)).read_text().splitlines()

    assert json.loads(line) == {
        "time": STAMP,
        "event": "turn",
        "branch": "main",
        "class": "general",
        "entries": [["tabs", 0.123]],
        "sessions": [["s0", 0.5]],
        "left_out": [],
        "characters": json.loads(line)["characters"],
        "ms": 1.3,
    }
    assert not [word for word in PROMPT.strip("?").split() if f" {word}" in line or f'"{word}' in line]
    assert "walrus" not in line
    assert stat.S_IMODE(os.stat(telemetry.file_of(memory)).st_mode) == 0o600


def test_the_setting_turns_it_off(project: Path, home: Path) -> None:
    memory = opened(project, home, config="telemetry = false")

    turn(memory)

    assert not os.path.exists(telemetry.file_of(memory))
    assert telemetry.newest(memory) == []
    memory.close()


def test_a_project_without_memory_leaves_nothing(memory: Memory) -> None:
    telemetry.record(memory, {"event": "turn"})

    assert not os.path.exists(telemetry.file_of(memory))


def test_the_log_is_cut_to_its_newest_lines(memory: Memory) -> None:
    review(memory, add=[entry()])
    for number in range(800):
        telemetry.record(memory, {"event": "turn", "number": number, "padding": "x" * 1_000})
        assert os.path.getsize(telemetry.file_of(memory)) <= 500_000

    newest = telemetry.newest(memory, 2)

    assert [one["number"] for one in newest] == [799, 798]
    assert [name for name in os.listdir(os.path.dirname(telemetry.file_of(memory))) if name.startswith("telem")] == [
        "telemetry.jsonl"
    ]


def test_lines_that_cannot_be_read_are_passed_over(memory: Memory) -> None:
    turn(memory)
    with open(telemetry.file_of(memory), "ab") as file:
        file.write(b"\xff{torn\n[7]\n\n")

    assert [one["event"] for one in telemetry.newest(memory)] == ["turn"]


def test_a_log_that_cannot_be_written_costs_no_turn(memory: Memory) -> None:
    review(memory, add=[entry("Use tabs.", "tabs")])
    os.makedirs(telemetry.file_of(memory))

    turn(memory)

    assert telemetry.newest(memory) == []
