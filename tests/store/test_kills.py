"""Writers killed at random moments. `NOFORGETTI_KILLS=300` is the long run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from noforgetti.service import writes

from .builders import fsck, opened, python, texts
from .children import NURSERY, age_locks

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.model.entry import CommitId
    from noforgetti.service.memory import Memory

KILLS = int(os.environ.get("NOFORGETTI_KILLS", "30"))
LONGEST = 0.12  # seconds until the kill: up to some ten writes


class Nursery:
    """A process that raises writers for us to kill."""

    def __init__(self, memory: Memory) -> None:
        self.process = python(
            NURSERY,
            memory.project.root,
            os.path.dirname(memory.places.data),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def round(self, number: int, delay: float) -> str:
        """Start a writer, kill it after `delay` seconds; the last commit that it said it had published."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{number}\n".encode())
        self.process.stdin.flush()
        _, pid = self.line()
        last = self.line()[1]  # it has opened the memory; from here on it writes
        time.sleep(delay)
        os.kill(int(pid), signal.SIGKILL)
        while True:
            word, value = self.line()
            if word == "dead":
                assert int(value) == signal.SIGKILL
                return last.strip("-")
            last = value

    def line(self) -> tuple[str, str]:
        assert self.process.stdout is not None
        word, value = self.process.stdout.readline().decode().split()
        return word, value

    def close(self) -> None:
        self.process.communicate(timeout=30)


@pytest.mark.timeout(60 + 3 * KILLS)
def test_a_writer_killed_at_a_random_moment_leaves_the_old_head_or_the_new_one(project: Path, home: Path) -> None:
    memory = opened(project, home)
    before: CommitId | None = writes.add(memory, "main", "Use tabs.").commit
    chance, nursery, stale, unsaid, wrote = random.Random(7), Nursery(memory), 0, 0, 0
    for number in range(KILLS):
        said = nursery.round(number, chance.uniform(0, LONGEST)) or before
        wrote += said != before

        memory = memory.twin()
        head = memory.head("main")
        assert head is not None
        if head != said:
            unsaid += 1
            assert memory.store.commit(head).parent == said, "neither the old head nor the new one"
        assert memory.store.whole(head)
        assert fsck(memory.path) == ""
        stale += bool(age_locks(memory.path))
        after = writes.add(memory, "main", f"Round {number} is over.")
        assert after.outcome == "added"
        gone = writes.remove(memory, "main", f"Round {number} is over.")
        assert gone.outcome == "removed"
        before = gone.commit
        memory.close()
    nursery.close()
    print(f"{KILLS} kills, {stale} stale locks, {unsaid} commits published and not said, {wrote} after a write")
    left = texts(memory.twin().snapshot("main"))
    assert "Use tabs." in left
    assert len(left) <= 1 + KILLS
