"""A writer that is killed at any moment leaves exactly the old state or exactly the new one."""

from __future__ import annotations

import os
from signal import SIGKILL
from typing import TYPE_CHECKING

import pytest

from noforgetti.service import writes
from noforgetti.service.registry import known
from noforgetti.store import failpoints

from .builders import fsck, texts
from .children import age_locks, die_at

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory

OLD, NEW, NEXT = "Use tabs.", "Run the linter before each commit.", "Sort imports by module."
WRITING = [name for name in failpoints.NAMES if not name.startswith("create:")]
CREATING = [name for name in failpoints.NAMES if name.startswith("create:")]


@pytest.mark.parametrize("moment", WRITING)
def test_a_writer_killed_at_a_moment_leaves_the_old_head_or_the_new_one(memory: Memory, moment: str) -> None:
    old = writes.add(memory, "main", OLD).commit

    assert die_at(memory, moment, NEW) == -SIGKILL

    after = memory.twin()
    head = after.head("main")
    assert (head == old) == (moment != "publish:done")
    assert texts(after.snapshot("main")) == ([OLD] if head == old else [NEW, OLD])
    assert head is not None
    assert old in (head, after.store.commit(head).parent)
    assert fsck(memory.path) == ""
    age_locks(memory.path)
    assert writes.add(after, "main", NEXT).outcome == "added"
    assert texts(memory.twin().snapshot("main")) == sorted([OLD, NEXT] if head == old else [OLD, NEW, NEXT])
    assert fsck(memory.path) == ""


@pytest.mark.parametrize("moment", [*CREATING, *WRITING])
def test_a_first_writer_killed_at_a_moment_leaves_no_memory_or_a_whole_one(memory: Memory, moment: str) -> None:
    assert die_at(memory, moment, NEW) == -SIGKILL

    after = memory.twin()
    assert texts(after.snapshot("main")) == ([NEW] if moment == "publish:done" else [])
    if after.exists:
        assert fsck(memory.path) == ""
        age_locks(memory.path)
    assert writes.add(after, "main", NEXT).outcome == "added"
    assert texts(memory.twin().snapshot("main")) == ([NEW, NEXT] if moment == "publish:done" else [NEXT])
    assert fsck(memory.path) == ""
    assert [one.root for one in known(memory.places)] == [memory.project.root]


def test_a_lock_that_a_killed_writer_left_is_removed_with_a_trace(memory: Memory) -> None:
    writes.add(memory, "main", OLD)
    die_at(memory, "publish:compared", NEW)
    (lock,) = age_locks(memory.path)

    writes.add(memory, "main", NEXT)

    assert not os.path.exists(lock)
    (trace,) = memory.state.traces()
    assert trace["level"] == "warning"
    assert trace["text"].startswith("a lock file that a killed process left on `refs/heads/main` 6")


def test_every_moment_of_a_write_passes_in_the_order_of_the_names(memory: Memory) -> None:
    passed: list[str] = []
    failpoints.arm(passed.append)
    try:
        writes.add(memory, "main", OLD)
    finally:
        failpoints.arm(None)

    assert [*dict.fromkeys(passed)] == [*CREATING, *WRITING]
