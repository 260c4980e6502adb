"""Forks share history, keep to themselves, and are never overwritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store.builders import fsck, texts

from noforgetti.policy.names import BadBranchName, branch_name, proposed
from noforgetti.service import branches, writes
from noforgetti.store import failpoints
from noforgetti.store.base import BranchExists, UnknownBranch
from noforgetti.store.git import Store

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory

GOOD = ["a", "main2", "Experiment", "0-day", "a_b-c", "a" * 63, "com10", "nullable"]
BAD = [
    "", "-f", "--help", "_a", "a/b", "a.b", "a.lock", "..", "HEAD", "head", "con", "NUL", "com1", "LPT9", "a b", "a\n",
    "a\0b", "é", "ａ", "a" * 64, "refs/heads/main", "a~1", "a^", "a:b", "@{-1}", "a\u202eb", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_a_good_name_is_taken_as_it_is(name: str) -> None:
    assert branch_name(name) == name


@pytest.mark.parametrize("name", BAD, ids=ascii)
def test_a_bad_name_is_refused_with_a_good_one_and_nothing_is_made(memory: Memory, name: str) -> None:
    with pytest.raises(BadBranchName) as caught:
        branches.fork(memory, "main", name)

    assert branch_name(proposed(name))
    assert caught.value.hint == f"try `{proposed(name)}`"
    assert str(caught.value).endswith("Nothing was written.")
    assert str(caught.value).isprintable()
    assert not memory.exists


def test_a_fork_shares_history_and_then_goes_its_own_way(memory: Memory) -> None:
    first = writes.add(memory, "main", "Use tabs.").commit

    made = branches.fork(memory, "main", "experiment")
    writes.add(memory, "experiment", "Sort imports by module.")
    writes.add(memory, "main", "Run the linter before each commit.")

    assert (made.head, made.entries) == (first, 1)
    assert texts(memory.snapshot("experiment")) == ["Sort imports by module.", "Use tabs."]
    assert texts(memory.snapshot("main")) == ["Run the linter before each commit.", "Use tabs."]


def test_a_fork_before_the_first_write_begins_an_empty_memory(memory: Memory) -> None:
    made = branches.fork(memory, "main", "experiment")

    assert memory.heads() == {"main": made.head, "experiment": made.head}
    assert texts(memory.snapshot("main")) == []
    assert fsck(memory.path) == ""


@pytest.mark.parametrize("name", ["main", "Main", "experiment", "EXPERIMENT"])
def test_a_name_that_is_taken_is_refused(memory: Memory, name: str) -> None:
    writes.add(memory, "main", "Use tabs.")
    branches.fork(memory, "main", "experiment")
    heads = memory.heads()

    with pytest.raises(BranchExists):
        branches.fork(memory, "main", name)

    assert memory.heads() == heads


def test_a_name_that_somebody_takes_meanwhile_is_refused(memory: Memory) -> None:
    first = writes.add(memory, "main", "Use tabs.").commit
    second = writes.add(memory, "main", "Sort imports by module.").commit
    assert first is not None

    def overtake(moment: str) -> None:
        if moment == "publish:before-lock":
            failpoints.arm(None)
            other = Store(memory.path)
            other.publish("experiment", first, None)
            other.close()

    failpoints.arm(overtake)
    try:
        with pytest.raises(BranchExists):
            branches.fork(memory, "main", "experiment")
    finally:
        failpoints.arm(None)

    assert memory.heads() == {"main": second, "experiment": first}


def test_main_is_never_deleted(memory: Memory) -> None:
    writes.add(memory, "main", "Use tabs.")

    with pytest.raises(branches.KeptBranch, match="`main` cannot be deleted"):
        branches.delete(memory, "main")

    assert list(memory.heads()) == ["main"]


def test_a_deleted_branch_comes_back_from_the_commit_it_stood_at(memory: Memory) -> None:
    writes.add(memory, "main", "Use tabs.")
    branches.fork(memory, "main", "experiment")
    writes.add(memory, "experiment", "Sort imports by module.")

    was = branches.delete(memory, "experiment")

    assert list(memory.heads()) == ["main"]
    branches.fork(memory, "main", "experiment", at=was)
    assert texts(memory.snapshot("experiment")) == ["Sort imports by module.", "Use tabs."]


@pytest.mark.parametrize("name", ["nothing", "Main", "é", ""])
def test_a_branch_that_is_not_there_is_not_used(memory: Memory, name: str) -> None:
    writes.add(memory, "main", "Use tabs.")

    with pytest.raises(UnknownBranch):
        branches.use(memory, name)


def test_a_selected_branch_that_is_gone_falls_back_to_main(memory: Memory) -> None:
    writes.add(memory, "main", "Use tabs.")
    branches.fork(memory, "main", "experiment")
    memory.select(branches.use(memory, "experiment"))
    assert memory.current() == "experiment"

    branches.delete(memory, "experiment")

    assert memory.current() == "main"
