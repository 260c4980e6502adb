"""A caller says where he knows the branch to be; it is compared where the change is made, not before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from noforgetti.model.commit import AUTHORS, Message
from noforgetti.model.entry import MAIN, Writer
from noforgetti.service import writes
from noforgetti.service.memory import Draft, Unexpected
from noforgetti.service.undo import undo

if TYPE_CHECKING:
    from noforgetti.model.entry import Snapshot
    from noforgetti.service.memory import Memory

SAID = Message("somebody was here", "", ())


def test_a_branch_that_stands_where_it_is_expected_is_changed(memory: Memory) -> None:
    with memory.expecting(MAIN, None):
        first = writes.add(memory, MAIN, "Use pnpm.").commit
    with memory.expecting(MAIN, first):
        second = writes.add(memory, MAIN, "Ports are in ports.toml.").commit

    assert memory.head(MAIN) == second


def test_a_branch_that_stands_elsewhere_is_not(memory: Memory) -> None:
    first = writes.add(memory, MAIN, "Use pnpm.").commit
    second = writes.add(memory, MAIN, "Ports are in ports.toml.").commit
    assert first
    assert second

    with pytest.raises(Unexpected) as raised, memory.expecting(MAIN, first):
        writes.add(memory, MAIN, "Never written.")

    assert raised.value.message == (
        f"Branch `main` stands at {second[:12]}, not at {first[:12]} as expected. Nothing was written."
    )
    assert memory.head(MAIN) == second


def test_a_branch_that_moves_after_the_look_and_before_the_lock_is_noticed(memory: Memory) -> None:
    first = writes.add(memory, MAIN, "Use pnpm.").commit
    other = memory.twin()

    with memory.expecting(MAIN, first):
        writes.add(other, MAIN, "Ports are in ports.toml.")
        with pytest.raises(Unexpected):
            writes.remove(memory, MAIN, "pnpm")

    other.close()
    assert len(memory.snapshot(MAIN)) == 2


def test_a_branch_that_moves_while_a_change_is_planned_is_not_planned_again(memory: Memory) -> None:
    """A push into the repository knows no lock of ours."""
    first = writes.add(memory, MAIN, "Use pnpm.").commit
    plans = 0

    def plan(now: Snapshot) -> Draft:
        nonlocal plans
        plans += 1
        moved = memory.store.write(now.commit, (), SAID, author=AUTHORS[Writer.USER], seconds=1)
        memory.store.publish(MAIN, moved, now.commit, reason="a push")
        return Draft((), SAID)

    with pytest.raises(Unexpected), memory.expecting(MAIN, first):
        memory.change(MAIN, plan)

    assert plans == 1


def test_undo_and_what_publishes_by_itself_are_bound_too(memory: Memory) -> None:
    first = writes.add(memory, MAIN, "Use pnpm.").commit
    second = writes.add(memory, MAIN, "Ports are in ports.toml.").commit

    with pytest.raises(Unexpected), memory.expecting(MAIN, second):
        memory.publish(MAIN, Draft((), SAID), first)
    with memory.expecting(MAIN, second):
        assert undo(memory, MAIN, second).outcome == "undone"


def test_other_branches_and_later_changes_are_free(memory: Memory) -> None:
    first = writes.add(memory, MAIN, "Use pnpm.").commit
    with memory.expecting(MAIN, first):
        writes.add(memory.wide, MAIN, "The user is Ada.")

    writes.add(memory, MAIN, "One.")
    writes.add(memory, MAIN, "Two.")

    assert len(memory.snapshot(MAIN)) == 3
