"""Many processes write to one branch, with and without git packing beside them. Nothing is lost."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from .builders import HERE, clean_environ, fsck, git, opened, python, texts
from .children import WRITES

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.service.memory import Memory

PACKING = (("gc", "-q"), ("pack-refs", "--all"))


def all_written(memory: Memory, processes: int, count: int) -> None:
    """Let the writers run; every sentence of theirs is there afterwards."""
    home = os.path.dirname(memory.places.data)
    children = [
        python(WRITES, memory.project.root, home, str(me), str(count), stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for me in range(processes)
    ]
    start = time.monotonic()
    with ThreadPoolExecutor(processes) as pool:
        said = list(pool.map(lambda child: child.communicate(b"go\n")[1].decode(), children))
    took = time.monotonic() - start
    assert [(child.returncode, one) for child, one in zip(children, said, strict=True)] == [(0, "")] * processes
    wanted = sorted(f"Writer {me} wrote sentence {number}." for me in range(processes) for number in range(count))
    assert texts(memory.snapshot("main")) == wanted
    assert int(git(memory.path, "rev-list", "--count", "main")) == processes * count
    print(f"{processes} x {count} writes: {took:.1f} s, {took / processes / count * 1000:.1f} ms each")


class Packer(threading.Thread):
    """Runs git's own packing in a loop until it is told to stop."""

    def __init__(self, repository: str) -> None:
        super().__init__()
        self.repository, self.stop, self.rounds = repository, threading.Event(), 0

    def run(self) -> None:
        while not self.stop.is_set():
            if not os.path.exists(self.repository):
                time.sleep(0.05)
                continue
            for words in PACKING:
                # Two packers may meet, or meet a writer: git then says so and gives up. Only data loss would matter.
                subprocess.run(["git", *words], cwd=self.repository, env=clean_environ(**HERE), capture_output=True)
            self.rounds += 1


@pytest.mark.parametrize(
    ("processes", "count"),
    [(4, 25), pytest.param(8, 500, marks=[pytest.mark.slow, pytest.mark.timeout(1_800)])],
)
@pytest.mark.parametrize("packing", [False, True], ids=["alone", "beside-gc"])
def test_many_writers_lose_nothing(project: Path, home: Path, processes: int, count: int, packing: bool) -> None:
    memory = opened(project, home, config="[limits]\nhard = 1_000_000\n")
    packer = Packer(memory.path)
    if packing:
        packer.start()
    try:
        all_written(memory, processes, count)
    finally:
        packer.stop.set()
        if packing:
            packer.join()
    assert (packer.rounds > 0) == packing
    assert fsck(memory.path) == ""
