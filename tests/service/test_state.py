"""The state database may be lost, damaged or out of reach; what is canonical does not notice."""

from __future__ import annotations

import os
import random
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from store.builders import opened, python, texts

from noforgetti.model.entry import MAIN
from noforgetti.review.schedule import Reason
from noforgetti.service import cadence, writes
from noforgetti.service.state import State
from noforgetti.service.views import status_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.service.memory import Memory

PLAIN = "What does the build do?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a state lives."""
    return tmp_path / "state"


def filled(folder: Path) -> Path:
    """A database with rows in every table, closed; its file."""
    state = State(str(folder))
    for number in range(300):
        branch = f"branch{number}"
        state.put_cadence(branch, {"turns": number})
        state.put_note(branch, "s1", "n1", 0, "")
        state.put_chain(branch, "0" * 40, {"s1": "n1"})
        state.account(branch, "rules", "applied", {"attempts": 1})
        state.trace("info", "a trace " * 20)
    state.close()
    return folder / "state.sqlite"


def use_all(state: State) -> None:
    """Touch every table."""
    with state.transaction():
        state.put_cadence("main", {"turns": 1})
    assert state.cadence("main") == {"turns": 1}
    state.cadence("branch150")
    state.put_note("main", "s1", "n1", 0, "")
    state.copy_notes("main", "other")
    state.put_chain("main", "0" * 40, {"s1": "n1"})
    state.account("main", "rules", "applied", {})
    assert state.last_account("main")
    state.trace("info", "used")
    state.traces(200)
    for number in range(300):
        state.forget_branch(f"branch{number}")


def random_bytes(file: Path) -> None:
    file.write_bytes(random.Random(7).randbytes(20_000))


def torn_in_the_middle(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4_096 * 2 : -4_096] = random.Random(7).randbytes(len(data) - 4_096 * 3)
    file.write_bytes(bytes(data))


def cut_off(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


@pytest.mark.parametrize("damage", [random_bytes, torn_in_the_middle, cut_off, zeros])
def test_a_damaged_database_is_set_aside_and_begun_anew(folder: Path, damage: Callable[[Path], None]) -> None:
    file = filled(folder)
    damage(file)
    was = file.read_bytes()

    state = State(str(folder))
    use_all(state)
    told = [one["text"] for one in state.traces()]
    state.close()

    aside = [one for one in folder.iterdir() if ".damaged-" in one.name]
    assert [one.read_bytes() for one in aside] == [was]
    assert f"the state database was damaged; it was set aside as `{aside[0].name}` and begun anew" in told


def test_an_empty_file_is_a_new_database(folder: Path) -> None:
    folder.mkdir()
    (folder / "state.sqlite").touch()

    state = State(str(folder))
    use_all(state)
    state.close()

    assert [one for one in folder.iterdir() if ".damaged-" in one.name] == []


OPENS = """
import sys
from noforgetti.service.state import State
print("ready", flush=True)
sys.stdin.readline()
state = State(sys.argv[1])
for _ in range(20):
    with state.transaction():
        turns = (state.cadence("main") or {}).get("turns", 0)
        state.put_cadence("main", {"turns": turns + 1})
state.close()
"""


def test_processes_that_meet_a_damaged_database_together_agree_on_one_new_one(folder: Path) -> None:
    random_bytes(filled(folder))
    children = [python(OPENS, str(folder), stdin=-1, stdout=-1, stderr=-1) for _ in range(6)]
    for child in children:
        assert child.stdout
        child.stdout.readline()
    for child in children:
        assert child.stdin
        child.stdin.write(b"go\n")
        child.stdin.flush()
    ended = [(child.communicate(timeout=60)[1], child.returncode) for child in children]

    state = State(str(folder))
    assert ended == [(b"", 0)] * 6
    assert state.cadence("main") == {"turns": 120}
    assert len([one for one in folder.iterdir() if ".damaged-" in one.name]) == 1
    state.close()


COMES_AND_GOES = """
import sys
from noforgetti.service.state import State
state = State(sys.argv[1])
print(state.cadence("main"), state.cadence("trial"))
state.close()
"""


def test_what_one_process_writes_over_two_connections_is_seen_by_those_that_come_and_go(folder: Path) -> None:
    first = State(str(folder))
    first.put_cadence("main", {"turns": 1})
    second = State(str(folder))
    seen = []
    for number in (1, 2, 3):
        (first if number % 2 else second).put_cadence("main", {"turns": number})
        second.put_cadence("trial", {"turns": number})
        child = python(COMES_AND_GOES, str(folder), stdout=-1)
        seen.append(child.communicate(timeout=60)[0].decode().strip())

    assert seen == [f"{{'turns': {number}}} {{'turns': {number}}}" for number in (1, 2, 3)]
    first.close()
    second.close()


def a_file_instead_of_the_folder(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("no folder")


def a_file_above_the_folder(folder: Path) -> None:
    folder.parent.parent.mkdir(parents=True, exist_ok=True)
    folder.parent.write_text("no folder")


def a_folder_instead_of_the_file(folder: Path) -> None:
    (folder / "state.sqlite").mkdir(parents=True)


@pytest.mark.parametrize(
    "obstacle", [a_file_instead_of_the_folder, a_file_above_the_folder, a_folder_instead_of_the_file]
)
def test_without_a_place_for_it_everything_works_in_memory_with_a_trace(
    memory: Memory, obstacle: Callable[[Path], None], tmp_path: Path
) -> None:
    obstacle(Path(memory.places.state_of(memory.name)))

    written = writes.add(memory, MAIN, "Use tabs.")
    cadence.record(memory, MAIN, [PLAIN] * 10)

    assert (written.outcome, cadence.due(memory, MAIN)) == ("added", Reason.INTERVAL)
    doc = status_view(memory, MAIN)
    assert doc["review"]["turns"] == 10
    assert [one["text"].partition(" (")[0] for one in doc["traces"]] == ["the state folder cannot be used"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_means_memory_only(folder: Path) -> None:
    folder.mkdir(mode=0o500)

    state = State(str(folder))
    use_all(state)
    state.close()

    assert list(folder.iterdir()) == []


def test_files_of_the_state_are_private_whatever_the_umask(folder: Path) -> None:
    before = os.umask(0)
    try:
        state = State(str(folder))
        use_all(state)
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()}
        state.close()
    finally:
        os.umask(before)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert set(modes.values()) == {0o600}


def test_a_state_that_vanished_is_begun_anew_and_the_memory_stays(project: Path, home: Path) -> None:
    memory = opened(project, home)
    writes.add(memory, MAIN, "Use tabs.")
    cadence.record(memory, MAIN, [PLAIN])
    memory.close()
    shutil.rmtree(home / "state")
    memory = opened(project, home)

    assert (texts(memory.snapshot(MAIN)), cadence.cadence_view(memory, MAIN)["turns"]) == (["Use tabs."], 0)
    memory.close()


def test_accounts_and_traces_do_not_grow_without_end(folder: Path) -> None:
    state = State(str(folder))
    for number in range(250):
        state.trace("info", f"trace {number}")
        state.account("main", "rules", "applied", {"number": number})

    kept = [one["text"] for one in state.traces(1_000)]
    last = state.last_account("main")
    state.close()

    assert (len(kept), kept[0], kept[-1]) == (200, "trace 249", "trace 50")
    assert last
    assert last["number"] == 249


@pytest.mark.parametrize("value", ["", "no JSON", "[]", "7", "null"])
def test_a_torn_row_is_as_good_as_none(folder: Path, value: str) -> None:
    state = State(str(folder))
    state.put_chain("main", "0" * 40, {"s1": "n1"})
    state.account("main", "rules", "applied", {})
    with state.transaction() as db:
        db.execute("update chain set value = ?", (value,))
        db.execute("update account set value = ?", (value,))

    chain, account = state.chain("main"), state.last_account("main")
    state.close()

    assert chain == ("", {})
    assert account
    assert (account["reviewer"], account["outcome"]) == ("rules", "applied")


def test_forgetting_a_branch_leaves_the_others(folder: Path) -> None:
    state = State(str(folder))
    for branch in ("main", "trial"):
        state.put_cadence(branch, {"turns": 1})
        state.put_note(branch, "s1", "n1", 3, "")
        state.put_chain(branch, "0" * 40, {"s1": "n1"})

    state.forget_branch("trial")

    assert (state.cadence("trial"), state.note("trial", "s1"), state.chain("trial")) == (None, None, ("", {}))
    assert (state.cadence("main"), state.note("main", "s1"), state.chain("main")) == (
        {"turns": 1},
        ("n1", 3, ""),
        ("0" * 40, {"s1": "n1"}),
    )
    state.close()


def test_a_transaction_that_fails_changes_nothing(folder: Path) -> None:
    state = State(str(folder))

    def fails() -> None:
        with state.transaction():
            state.put_cadence("main", {"turns": 1})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()

    assert state.cadence("main") is None
    state.close()
