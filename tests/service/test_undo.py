"""Taking reviews back and bringing them back, on a real branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store.builders import entry, git, opened, review, state_of, texts

from noforgetti.model.entry import EntryId
from noforgetti.service import branches, writes
from noforgetti.service.undo import Undone, redo, undo

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.service.memory import Memory

A, B, C = (
    entry("Alpha uses tabs.", "alpha"),
    entry("Beta sorts imports.", "beta"),
    entry("Gamma runs the linter.", "gamma"),
)


def tree(memory: Memory) -> str:
    return git(memory.path, "rev-parse", "main^{tree}")


def outcome(done: Undone) -> tuple[str, bool]:
    return done.outcome, done.commit is not None


def test_undo_takes_the_newest_review_back_and_then_the_one_before(memory: Memory) -> None:
    first = review(memory, add=[A])
    second = review(memory, add=[B], reword={"alpha": "Alpha uses spaces."})

    one, two, three = undo(memory, "main"), undo(memory, "main"), undo(memory, "main")

    assert [(done.outcome, done.target.id if done.target else None) for done in (one, two, three)] == [
        ("undone", second),
        ("undone", first),
        ("nothing", None),
    ]
    assert texts(memory.snapshot("main")) == []
    assert memory.store.commit(one.commit or first).trailer("Undoes") == second


def test_undo_leaves_later_writes_on_other_entries(memory: Memory) -> None:
    review(memory, add=[A])
    writes.add(memory, "main", "Keep this sentence.")

    assert undo(memory, "main").outcome == "undone"

    assert texts(memory.snapshot("main")) == ["Keep this sentence."]


def test_undo_halts_with_every_changed_entry_and_its_newest_commit(memory: Memory) -> None:
    review(memory, add=[A, B, C])
    writes.reword(memory, "main", "alpha", "Alpha uses two blanks.")
    newest = writes.reword(memory, "main", "alpha", "Alpha uses four blanks.").commit
    writes.remove(memory, "main", "beta")  # taken back already: no conflict
    last = writes.reword(memory, "main", "gamma", "Gamma runs nothing.").commit
    head = memory.head("main")

    done = undo(memory, "main")

    assert outcome(done) == ("halted", False)
    assert [(one.id, one.commit) for one in done.conflicts] == [("alpha", newest), ("gamma", last)]
    assert memory.head("main") == head


def test_an_older_undo_works_while_the_newest_is_in_conflict(memory: Memory) -> None:
    older = review(memory, add=[A])
    review(memory, add=[B])
    writes.reword(memory, "main", "beta", "Beta sorts nothing.")
    assert undo(memory, "main").outcome == "halted"

    assert undo(memory, "main", older).outcome == "undone"

    assert texts(memory.snapshot("main")) == ["Beta sorts nothing."]


def test_what_is_undone_is_not_undone_twice(memory: Memory) -> None:
    commit = review(memory, add=[A])
    undo(memory, "main", commit)
    head = memory.head("main")

    done = undo(memory, "main", commit)

    assert (done.outcome, done.reason, memory.head("main")) == ("nothing", "it is undone already", head)


def test_a_dry_run_shows_the_same_and_writes_nothing(memory: Memory) -> None:
    review(memory, add=[A])
    head = memory.head("main")

    shown = undo(memory, "main", dry_run=True)

    assert memory.head("main") == head
    done = undo(memory, "main")
    assert (shown.outcome, shown.entries, shown.changes) == (done.outcome, done.entries, done.changes)
    assert shown.commit is None


def test_words_that_the_user_wrote_again_are_not_doubled(memory: Memory) -> None:
    review(memory, add=[A])
    review(memory, remove=["alpha"])
    writes.add(memory, "main", A.text)

    done = undo(memory, "main")

    assert (done.outcome, done.already) == ("nothing", ("alpha",))
    assert texts(memory.snapshot("main")) == [A.text]


def test_entries_consolidated_under_the_words_of_one_of_them_all_come_back(memory: Memory) -> None:
    review(memory, add=[A, B])
    review(memory, reword={"alpha": B.text}, remove=["beta"])

    assert undo(memory, "main").outcome == "undone"

    assert state_of(memory.snapshot("main")) == {"alpha": A, "beta": B}


def test_two_entries_that_swapped_their_words_are_swapped_back(memory: Memory) -> None:
    review(memory, add=[A, B])
    review(memory, reword={"alpha": B.text, "beta": A.text})

    assert undo(memory, "main").outcome == "undone"

    assert state_of(memory.snapshot("main")) == {"alpha": A, "beta": B}


def test_undo_over_the_hard_limit_halts(project: Path, home: Path) -> None:
    memory = opened(project, home, config="[limits]\nhard = 600\n")
    review(memory, add=[entry("a" * 400, "long")])
    review(memory, remove=["long"])
    writes.add(memory, "main", "b" * 300)
    head = memory.head("main")

    done = undo(memory, "main")

    assert done.outcome == "halted"
    assert done.refusal is not None
    assert "700 of at most 600 characters, 100 too many" in done.refusal.message
    assert memory.head("main") == head


def test_undo_after_a_fork_affects_only_its_branch(memory: Memory) -> None:
    commit = review(memory, add=[A])
    branches.fork(memory, "main", "experiment")

    assert undo(memory, "experiment").outcome == "undone"

    assert (memory.head("main"), texts(memory.snapshot("main"))) == (commit, [A.text])
    assert texts(memory.snapshot("experiment")) == []


def test_a_commit_of_another_branch_is_not_undone_here(memory: Memory) -> None:
    review(memory, add=[A])
    branches.fork(memory, "main", "experiment")
    other = review(memory, "experiment", add=[B])

    done = undo(memory, "main", other)

    assert (done.outcome, done.reason) == ("nothing", "that commit is not part of branch `main`")


def test_undo_undo_redo_undo_walk_the_recorded_states_byte_for_byte(memory: Memory) -> None:
    """P14: five changes; undo, undo, redo, undo; a new change; redo."""
    trees = []
    for number in range(5):
        review(memory, add=[entry(f"Fact {number} holds.", f"fact-{number}")])
        trees.append(tree(memory))
    walked = []
    for step in (undo, undo, redo, undo):
        assert step(memory, "main").commit is not None
        walked.append(tree(memory))

    assert walked == [trees[3], trees[2], trees[3], trees[2]]
    writes.add(memory, "main", "Something new.")
    head = memory.head("main")
    done = redo(memory, "main")
    assert (done.outcome, done.reason) == ("nothing", "nothing was undone since the last change")
    assert memory.head("main") == head
    assert len(list(memory.store.walk(head))) == 10


def test_redo_halts_by_the_same_rule(memory: Memory) -> None:
    commit = review(memory, add=[A])
    undo(memory, "main")
    writes.add(memory, "main", "Something new.")

    assert redo(memory, "main", commit).outcome == "redone"

    now = memory.snapshot("main").get(EntryId("alpha"))
    assert now is not None
    assert now.entry == A


@pytest.mark.parametrize("take", [undo, redo])
def test_an_empty_memory_has_nothing_to_take_back(memory: Memory, take: object) -> None:
    assert callable(take)
    assert take(memory, "main").outcome == "nothing"
    assert not memory.exists
