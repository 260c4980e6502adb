"""One writer at a time; readers never wait; a living holder is named and never evicted."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from noforgetti.errors import Kind
from noforgetti.service import writes
from noforgetti.service.health.examining import examine
from noforgetti.service.views import status_view
from noforgetti.store.base import Busy
from noforgetti.store.git import Store
from noforgetti.store.locks import holder, write_lock

from .builders import cli, entry, new_store, published, python, texts, written
from .children import HOLDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noforgetti.service.memory import Memory


class Holder:
    """A process that holds the write lock of a repository until it is told to go."""

    def __init__(self, repository: str, seconds: float = 60) -> None:
        lock = os.path.join(repository, "write.flock")
        self.process = python(HOLDS, lock, str(seconds), stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"held\n"

    def close(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture
def held(memory: Memory) -> Iterator[Holder]:
    """A process that holds the write lock of a memory with one entry."""
    writes.add(memory, "main", "Use tabs.")
    memory.close()
    made = Holder(memory.path)
    yield made
    made.close()


def test_reading_never_waits_for_a_writer(memory: Memory, held: Holder) -> None:
    start = time.monotonic()

    assert texts(memory.snapshot("main")) == ["Use tabs."]
    assert status_view(memory, "main")["entries"] == 1
    assert [one.level for one in examine(memory) if one.level in ("error", "warning")] == []

    assert time.monotonic() - start < 4  # the lock's own wait is 5 s


def test_a_writer_that_waited_in_vain_names_the_holder(memory: Memory, held: Holder) -> None:
    head = memory.head("main")
    store = Store(memory.path, wait=0.3)
    late = written(store, head, entry("Sort imports."))

    with pytest.raises(Busy) as caught:
        store.publish("main", late, head)

    said = str(caught.value)
    assert f"process {held.process.pid} (`-c " in said
    assert said.endswith(") holds the write lock; after 0 s nothing was written.")
    assert "\n" not in said
    assert (caught.value.kind, caught.value.hint) == (Kind.BUSY, "try again when that process is done")
    assert store.head("main") == head
    store.close()


def test_the_command_line_waits_and_ends_with_status_1(memory: Memory, held: Holder) -> None:
    start = time.monotonic()

    done = cli(memory, "add", "Sort imports by module.", status=1)

    assert time.monotonic() - start >= 5
    assert done.stdout == ""
    first, hint = done.stderr.splitlines()
    assert f"process {held.process.pid} (`" in first
    assert first.endswith("s nothing was written.")
    assert hint == "Hint: try again when that process is done"
    assert texts(memory.snapshot("main")) == ["Use tabs."]


def test_a_writer_goes_on_as_soon_as_the_holder_is_killed(memory: Memory, held: Holder) -> None:
    held.close()

    assert writes.add(memory, "main", "Sort imports by module.").outcome == "added"


def test_a_writer_gets_in_when_the_holder_is_done(memory: Memory) -> None:
    writes.add(memory, "main", "Use tabs.")
    short = Holder(memory.path, 1.0)

    assert writes.add(memory, "main", "Sort imports by module.").outcome == "added"

    short.close()


def test_a_lock_is_not_broken_because_of_its_age(memory: Memory, held: Holder) -> None:
    lock = Path(memory.path) / "write.flock"
    os.utime(lock, (0, 0))

    with pytest.raises(Busy), write_lock(str(lock), wait=0.1):
        pass


def test_who_signed_is_kept_and_a_lock_nobody_signed_has_no_holder(tmp_path: Path) -> None:
    lock = str(tmp_path / "lock")
    assert holder(lock) == ""

    with write_lock(lock):
        assert holder(lock).startswith(f"process {os.getpid()} (`")
    with write_lock(lock):
        assert os.path.getsize(lock) <= 400


def test_a_store_that_holds_the_lock_publishes_under_it(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    other = Store(store.path, wait=0.1)
    first = published(store, entry("Use tabs."))

    with store.exclusive():
        published(store, entry("Sort imports."))
        with pytest.raises(Busy):
            other.publish("other", first, None)

    other.publish("other", first, None)
    store.close()
    other.close()
