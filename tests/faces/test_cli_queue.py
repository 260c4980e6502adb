"""What waits, on the command line: as text, as documents, and with a worker that ends when it should."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from service.said import Session
from store.builders import PACKAGE

from noforgetti.model.candidate import Candidate, CandidateKind
from noforgetti.model.entry import BranchName
from noforgetti.service import backlog, candidates
from noforgetti.service.memory import Memory, open_memory

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import CommandLine

SMALL = ("Rename the flag.", "Move the helper.", "From now on, use pnpm instead of npm in this repository.")


def memory_of(nf: CommandLine) -> Memory:
    """The memory that the command line works on."""
    return open_memory(str(nf.project), os.environ)


def waits(nf: CommandLine, *texts: str) -> list[str]:
    """The ids of candidates that were just queued."""
    memory = memory_of(nf)
    several = [Candidate("", CandidateKind.PREFERENCE, one, "stated in a prompt", session="s1") for one in texts]
    ids = [one.id for one in candidates.queue(memory, "main", several)]
    memory.close()
    return ids


def ended(nf: CommandLine, folder: Path, name: str = "s1") -> Session:
    """A session of three messages that ended unreviewed."""
    session = Session(folder / f"{name}.jsonl", name).say(*SMALL)
    memory = memory_of(nf)
    backlog.count(memory, BranchName("main"), name, str(session.file), 3)
    backlog.leave(memory, "main", name)
    memory.close()
    return session


def test_candidates_are_listed_accepted_and_discarded(nf: CommandLine) -> None:
    first, second, third = waits(nf, "I prefer small commits.", "I always use tabs.", "I never use emoji.")

    listed = nf("candidates").out
    accepted = nf("candidates", "accept", first[2:])
    dropped = nf("candidates", "discard", second, third)

    assert re.sub(r"\d{4}-\d\d-\d\d", "DAY", listed).splitlines()[:2] == [
        f"{first}  preference: I prefer small commits.",
        "         stated in a prompt; session s1, DAY",
    ]
    assert (accepted.status, accepted.out[:6], dropped.out) == (0, "Added ", f"Dropped `{second}`, `{third}`.\n")
    assert nf("candidates", "list").out == "Nothing waits on branch `main`.\n"
    assert nf.json("show")["entries"][0]["text"] == "I prefer small commits."


def test_a_wrong_id_discards_nothing(nf: CommandLine) -> None:
    (own,) = waits(nf, "I prefer small commits.")

    done = nf("candidates", "discard", own, "c-none")

    assert (done.status, done.err.splitlines()[0]) == (1, "No candidate has the id `c-none`. Nothing was done.")
    assert [one["id"] for one in nf.json("candidates")["candidates"]] == [own]


def test_what_was_accepted_and_not_taken_off_is_taken_off_the_next_time(nf: CommandLine) -> None:
    (own,) = waits(nf, "I prefer small commits.")
    nf("add", "I prefer small commits.")  # as if the process had been killed between the two steps

    done = nf.json("candidates", "accept", own)

    assert done["outcome"] in ("duplicate", "reinforced")
    assert nf.json("candidates")["candidates"] == []
    assert len(nf.json("show")["entries"]) == 1


def test_an_unknown_branch_is_named(nf: CommandLine) -> None:
    for words in (["candidates"], ["candidates", "accept", "x"], ["candidates", "discard", "x"]):
        assert nf("--branch", "gone", *words).err.startswith("There is no memory branch `gone`.")


def test_the_queue_names_what_is_due_and_a_worker_does_it(nf: CommandLine, tmp_path: Path) -> None:
    ended(nf, tmp_path)
    waits(nf, "I always use tabs.")

    before = nf("queue").out
    done = nf("worker", "--once", "--reviewer", "rules")
    after = nf("queue").out

    assert re.sub(r"\d{4}-\S+Z", "THEN", before).splitlines() == [
        "Session s1 on `main`: 3 messages since THEN",
        "Branch `main`: review idle, dream THEN, 1 candidate",
    ]
    assert done.out.startswith("review of session s1 on `main`: applied (")
    assert after.startswith("No session waits for a review.\nBranch `main`: review idle")


def test_a_session_whose_file_is_gone_is_dropped(nf: CommandLine, tmp_path: Path) -> None:
    ended(nf, tmp_path).file.unlink()

    assert nf("worker", "--once").out == "Nothing is due.\n"
    assert nf.json("queue")["sessions"] == []


def test_a_second_worker_of_a_project_does_nothing(nf: CommandLine, tmp_path: Path) -> None:
    ended(nf, tmp_path)
    memory = memory_of(nf)
    with open(f"{memory.places.state_of(memory.name)}/worker.lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = nf.json("worker", "--once")

    assert done == {"outcome": "running", "work": []}
    assert len(nf.json("queue")["sessions"]) == 1


def test_a_worker_that_polls_does_what_comes_and_ends_when_it_is_told(nf: CommandLine, tmp_path: Path) -> None:
    nf.home.mkdir(exist_ok=True)
    (nf.home / "config.toml").write_text("worker_interval = 1\n", encoding="utf-8")
    worker = subprocess.Popen(
        [sys.executable, "-m", "noforgetti", "worker", "--reviewer", "rules"],
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    try:
        ended(nf, tmp_path)
        end = time.monotonic() + 30
        while nf.json("queue")["sessions"]:
            assert time.monotonic() < end
            time.sleep(0.2)
        worker.send_signal(signal.SIGTERM)
        out, _ = worker.communicate(timeout=20)
    finally:
        worker.kill()
    assert out.decode().startswith("review of session s1 on `main`: applied (")
    assert worker.returncode == 0
