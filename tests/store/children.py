"""Processes that write beside a test, and what is left of them when they are killed."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .builders import python

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory

DIES_AT = """
import os, signal, sys
from noforgetti.service import writes
from noforgetti.service.memory import open_memory
from noforgetti.store import failpoints
folder, home, moment, text = sys.argv[1:]
memory = open_memory(folder, {"NOFORGETTI_HOME": home})
failpoints.arm(lambda reached: os.kill(os.getpid(), signal.SIGKILL) if reached == moment else None)
print(writes.add(memory, "main", text).outcome)
"""

# Imports once and forks a fresh writer for every line it reads; the writer adds and removes until it is killed, and
# says each commit only after it is published.
NURSERY = """
import os, sys
from noforgetti.service import writes
from noforgetti.service.memory import open_memory
folder, home = sys.argv[1:]
warm = open_memory(folder, {"NOFORGETTI_HOME": home})  # loads every module that a write needs
warm.snapshot("main")
warm.state.traces()
warm.close()

def write(round):
    memory = open_memory(folder, {"NOFORGETTI_HOME": home})
    os.write(1, b"commit -\\n")
    count = 0
    while True:
        text = f"Round {round} wrote sentence {count // 2}."
        done = writes.remove(memory, "main", text) if count % 2 else writes.add(memory, "main", text)
        os.write(1, f"commit {done.commit}\\n".encode())
        count += 1

for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        try:
            os.write(1, f"pid {os.getpid()}\\n".encode())
            write(line.strip())
        finally:
            os._exit(1)
    os.write(1, f"dead {os.waitpid(pid, 0)[1]}\\n".encode())
"""

WRITES = """
import sys
from noforgetti.model.entry import Category
from noforgetti.service import writes
from noforgetti.service.memory import open_memory
from noforgetti.store.base import Busy
folder, home, me, count = sys.argv[1:]
memory = open_memory(folder, {"NOFORGETTI_HOME": home})
sys.stdin.readline()
for number in range(int(count)):
    category = list(Category)[number % 6]
    for attempt in range(20):  # a starved writer is told so and asks again
        try:
            done = writes.add(memory, "main", f"Writer {me} wrote sentence {number}.", writes.Traits(category))
            break
        except Busy:
            print("busy", flush=True)
    assert done.outcome == "added", done
"""

HOLDS = """
import sys, time
from noforgetti.store.locks import write_lock
path, seconds = sys.argv[1:]
with write_lock(path):
    print("held", flush=True)
    time.sleep(float(seconds))
"""


def die_at(memory: Memory, moment: str, text: str) -> int:
    """Let a child write `text` and be killed at a moment; answers its exit status (minus the signal)."""
    child = python(
        DIES_AT, memory.project.root, os.path.dirname(memory.places.data), moment, text, stdout=subprocess.PIPE
    )
    child.communicate(timeout=60)
    return child.returncode


def age_locks(repository: str | Path) -> list[str]:
    """Make every lock file in the repository look a minute old, as if a user came back later; answers their names."""
    found = [str(path) for path in Path(repository).rglob("*.lock")]
    for path in found:
        os.utime(path, (time.time() - 60, time.time() - 60))
    return found
