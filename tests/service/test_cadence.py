"""When reviews run: one state database, many processes, and what becomes of it when it is damaged."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from typing import TYPE_CHECKING, Any

import pytest
from store.builders import Clock, opened, python

from noforgetti.model.entry import MAIN
from noforgetti.review.schedule import Claim, Reason, Settlement
from noforgetti.service import cadence

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.service.memory import Memory

SIGNAL = "Remember that the tests need the database, always."
PLAIN = "What does the build do?"

CLAIMS = """
import sys, time
from noforgetti.review.schedule import Claim
from noforgetti.service import cadence
from noforgetti.service.memory import open_memory
folder, home, count = sys.argv[1:]
memory = open_memory(folder, {"NOFORGETTI_HOME": home})
memory.state
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(count)):
    cadence.record(memory, "main", ["What does the build do?"])
mine = cadence.claim(memory, "main", forced=True)
print("claimed" if isinstance(mine, Claim) else mine, flush=True)
sys.stdin.readline()
"""


def claimed(memory: Memory, *, forced: bool = False) -> Claim:
    mine = cadence.claim(memory, MAIN, forced=forced)
    assert isinstance(mine, Claim)
    return mine


def stored(memory: Memory) -> dict[str, Any]:
    """The row of `main`."""
    found = memory.state.cadence(MAIN)
    assert found is not None
    return found


def test_a_signal_makes_a_review_due_at_once(memory: Memory) -> None:
    cadence.record(memory, MAIN, [SIGNAL])

    assert cadence.due(memory, MAIN) is Reason.SIGNAL
    assert cadence.due(memory, "trial") is Reason.NOT_YET


def test_ten_prompts_of_any_sessions_make_a_review_due(memory: Memory) -> None:
    for _ in range(9):
        cadence.record(memory, MAIN, [PLAIN])
    assert cadence.due(memory, MAIN) is Reason.NOT_YET
    other = memory.twin()

    cadence.record(other, MAIN, [PLAIN])

    assert cadence.due(memory, MAIN) is Reason.INTERVAL
    other.close()


def test_success_settles_what_was_captured_and_keeps_what_came_meanwhile(memory: Memory) -> None:
    cadence.record(memory, MAIN, [PLAIN] * 10)
    mine = claimed(memory)
    cadence.record(memory, MAIN, [PLAIN] * 3)

    cadence.settle(memory, MAIN, mine, Settlement.SUCCESS)

    assert (stored(memory)["turns"], cadence.due(memory, MAIN)) == (3, Reason.NOT_YET)


def test_failures_wait_longer_each_time_and_one_hour_at_most(memory: Memory, clock: Clock) -> None:
    cadence.record(memory, MAIN, [SIGNAL])
    waits = []
    for _ in range(6):
        cadence.settle(memory, MAIN, claimed(memory), Settlement.FAILURE)
        waits.append(stored(memory)["not_before"] - clock.now)
        clock.tick(waits[-1])

    assert waits == [300, 600, 1200, 2400, 3600, 3600]


def test_a_forced_review_ignores_the_back_off_but_no_running_review(memory: Memory) -> None:
    cadence.record(memory, MAIN, [SIGNAL])
    cadence.settle(memory, MAIN, claimed(memory), Settlement.FAILURE)
    assert cadence.claim(memory, MAIN) is Reason.BACKING_OFF

    claimed(memory, forced=True)

    assert cadence.claim(memory, MAIN, forced=True) is Reason.RUNNING


def test_a_claim_that_was_taken_over_settles_nothing(memory: Memory, clock: Clock) -> None:
    cadence.record(memory, MAIN, [SIGNAL])
    late = claimed(memory)
    clock.tick(301)
    claimed(memory)
    before = stored(memory)

    cadence.settle(memory, MAIN, late, Settlement.SUCCESS)

    assert stored(memory) == before


def test_a_cancelled_review_is_due_at_once(memory: Memory) -> None:
    cadence.record(memory, MAIN, [SIGNAL])

    cadence.settle(memory, MAIN, claimed(memory), Settlement.CANCELLED)

    assert cadence.due(memory, MAIN) is Reason.SIGNAL


def test_of_many_processes_exactly_one_claims_and_no_prompt_is_lost(project: Path, home: Path) -> None:
    children = [python(CLAIMS, str(project), str(home), "5", stdin=-1, stdout=-1) for _ in range(5)]
    answers = []
    for child in children:
        assert child.stdout
        assert child.stdout.readline() == b"ready\n"
    for child in children:
        assert child.stdin
        child.stdin.write(b"go\n")
        child.stdin.flush()
    for child in children:
        assert child.stdout
        answers.append(child.stdout.readline().strip())
    memory = opened(project, home)
    turns = stored(memory)["turns"]
    for child in children:
        child.communicate(b"end\n", timeout=20)

    assert sorted(answers) == [b"claimed", *[b"running"] * 4]
    assert turns == 25
    memory.close()


def test_the_claim_of_a_killed_process_is_free_at_once_and_that_of_a_living_one_is_not(
    project: Path, home: Path
) -> None:
    child = python(CLAIMS, str(project), str(home), "0", stdin=-1, stdout=-1)
    assert child.stdin
    assert child.stdout
    child.stdin.write(b"go\n")
    child.stdin.flush()
    assert child.stdout.read(len("ready\nclaimed\n")) == b"ready\nclaimed\n"
    memory = opened(project, home, Clock(time.time()))
    assert cadence.claim(memory, MAIN, forced=True) is Reason.RUNNING

    os.kill(child.pid, signal.SIGKILL)
    child.communicate(timeout=20)

    assert cadence.due(memory, MAIN, forced=True) is Reason.FORCED
    claimed(memory, forced=True)
    memory.close()


def test_a_number_that_a_later_process_has_is_not_the_claimant(memory: Memory) -> None:
    mine = claimed(memory, forced=True)
    pid, born, *rest = mine.token.split(".")
    row = stored(memory)
    row["claim"]["token"] = ".".join([pid, str(int(born or "1") - 1), *rest])
    memory.state.put_cadence(MAIN, row)

    assert cadence.due(memory, MAIN, forced=True) is Reason.FORCED


def test_the_claim_of_another_machine_is_left_to_its_lease(memory: Memory, clock: Clock) -> None:
    mine = claimed(memory, forced=True)
    row = stored(memory)
    row["claim"]["token"] = mine.token.replace(os.uname().nodename, "elsewhere.example.org")
    memory.state.put_cadence(MAIN, row)

    assert cadence.due(memory, MAIN, forced=True) is Reason.RUNNING
    clock.tick(301)
    assert cadence.due(memory, MAIN, forced=True) is Reason.FORCED


HOST = os.uname().nodename


@pytest.mark.parametrize(
    "token",
    ["", "...", "x", f"99999999999999999999999.5.{HOST}.ab", f"0.5.{HOST}.ab", f"-1.5.{HOST}.ab", f"².5.{HOST}.ab"],
)
def test_no_token_of_a_claim_stops_anybody(memory: Memory, clock: Clock, token: str) -> None:
    claimed(memory, forced=True)
    row = stored(memory)
    row["claim"]["token"] = token
    memory.state.put_cadence(MAIN, row)

    assert cadence.due(memory, MAIN, forced=True) in (Reason.FORCED, Reason.RUNNING)
    clock.tick(301)
    assert cadence.due(memory, MAIN, forced=True) is Reason.FORCED


@pytest.mark.parametrize(
    "row",
    [
        "",
        "no JSON",
        "[]",
        "7",
        '{"turns": -1}',
        '{"turns": "many"}',
        '{"claim": 7}',
        '{"claim": {"token": 7}}',
        '{"not_before": 1e999}',
        '{"turns": NaN}',
    ],
)
def test_a_row_that_cannot_be_read_is_begun_anew_with_a_trace(memory: Memory, row: str) -> None:
    cadence.record(memory, MAIN, [PLAIN])
    with sqlite3.connect(os.path.join(memory.state.folder, "state.sqlite")) as db:
        db.execute("update cadence set value = ?", (row,))
    db.close()

    cadence.record(memory, MAIN, [SIGNAL])

    assert cadence.due(memory, MAIN) is Reason.SIGNAL
    assert json.dumps(memory.state.traces()).count("the review schedule of branch `main` could not be read") == 1


def test_status_tells_of_the_schedule(memory: Memory, clock: Clock) -> None:
    idle = cadence.cadence_view(memory, MAIN)
    cadence.record(memory, MAIN, [SIGNAL])
    waiting = cadence.cadence_view(memory, MAIN)
    mine = claimed(memory)
    running = cadence.cadence_view(memory, MAIN)
    cadence.settle(memory, MAIN, mine, Settlement.FAILURE)

    assert [idle["state"], waiting["state"], running["state"]] == ["idle", "due", "running"]
    assert cadence.cadence_view(memory, MAIN) == {
        "state": "backing-off",
        "turns": 1,
        "signal": 5,
        "failures": 1,
        "next_attempt": "2026-12-01T12:05:00Z",
    }
