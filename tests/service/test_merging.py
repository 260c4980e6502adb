"""Merging one memory branch into another, entry by entry, on a real repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from review.builders import Scripted
from store.builders import fsck, git, texts

from noforgetti.model.entry import MAIN, BranchName
from noforgetti.policy.merge import Side
from noforgetti.policy.verdict import Rule
from noforgetti.service import writes
from noforgetti.service.branches import fork
from noforgetti.service.history import log
from noforgetti.service.merging import SelfMerge, merge_branch
from noforgetti.service.positions import position
from noforgetti.service.reviews import review
from noforgetti.service.undo import redo, undo
from noforgetti.store.base import UnknownBranch

from .said import NOTHING, Session, learns, proposal

if TYPE_CHECKING:
    from pathlib import Path

    from store.builders import Clock

    from noforgetti.service.memory import Memory

TRIAL = BranchName("trial")
BASE = "Use tabs."


def forked(memory: Memory, *more: str) -> list[str]:
    """`main` with entries, and `trial` forked from it; the ids."""
    ids = [str(done.entry.id) for text in (BASE, *more) if (done := writes.add(memory, MAIN, text)).entry]
    fork(memory, MAIN, TRIAL)
    return ids


def parents(memory: Memory, branch: str = MAIN) -> list[str]:
    return git(memory.path, "log", "-1", "--format=%P", branch).split()


def test_each_entry_is_taken_from_the_side_that_changed_it(memory: Memory) -> None:
    _, reworded, removed = forked(memory, "Deploy on Mondays.", "Old habits stay.")
    writes.add(memory, TRIAL, "Trial fact.")
    writes.reword(memory, TRIAL, reworded, "Deploy on Tuesdays.")
    writes.remove(memory, TRIAL, removed)
    writes.add(memory, MAIN, "Main fact.")
    ours, theirs = memory.head(MAIN), memory.head(TRIAL)

    done = merge_branch(memory, MAIN, TRIAL)

    assert (done.outcome, done.commit) == ("merged", memory.head(MAIN))
    assert texts(memory.snapshot(MAIN)) == ["Deploy on Tuesdays.", "Main fact.", "Trial fact.", BASE]
    assert parents(memory) == [ours, theirs]
    assert texts(memory.snapshot(TRIAL)) == ["Deploy on Tuesdays.", "Trial fact.", BASE]
    assert not fsck(memory.path)


def test_the_commit_says_what_was_merged(memory: Memory) -> None:
    forked(memory)
    added = writes.add(memory, TRIAL, "Trial fact.").entry
    assert added

    done = merge_branch(memory, MAIN, TRIAL)

    assert done.commit
    assert git(memory.path, "log", "-1", "--format=%an%n%B", MAIN) == (
        f"user\nmerge: trial: add 1\n\n+ {added.id}\n  + Trial fact.\n\n"
        f"Kind: merge\nEntries: +{added.id}\nMerges: trial {memory.head(TRIAL)}"
    )
    assert [one.commit.kind for one in log(memory, MAIN)] == ["merge", "write"]


def test_a_branch_that_is_only_ahead_is_no_fast_forward(memory: Memory) -> None:
    forked(memory)
    base = memory.head(MAIN)
    writes.add(memory, TRIAL, "Trial fact.")

    merge_branch(memory, MAIN, TRIAL)

    assert parents(memory) == [base, memory.head(TRIAL)]
    assert memory.head(MAIN) != memory.head(TRIAL)


def test_what_is_held_already_makes_no_commit(memory: Memory) -> None:
    forked(memory)
    writes.add(memory, TRIAL, "Trial fact.")
    merge_branch(memory, MAIN, TRIAL)
    head = memory.head(MAIN)

    assert merge_branch(memory, MAIN, TRIAL).outcome == "nothing"
    assert memory.head(MAIN) == head


def test_merging_back_and_forth_ends_in_equal_memories(memory: Memory) -> None:
    forked(memory)
    writes.add(memory, TRIAL, "Trial fact.")
    writes.add(memory, MAIN, "Main fact.")

    merge_branch(memory, MAIN, TRIAL)
    merge_branch(memory, TRIAL, MAIN)

    assert texts(memory.snapshot(TRIAL)) == texts(memory.snapshot(MAIN)) == ["Main fact.", "Trial fact.", BASE]


def conflicting(memory: Memory) -> str:
    """Both branches reworded the same entry; its id."""
    (one,) = forked(memory)
    writes.reword(memory, MAIN, one, "Use four spaces.")
    writes.reword(memory, TRIAL, one, "Use two spaces.")
    writes.add(memory, TRIAL, "Trial fact.")
    return one


def test_an_entry_that_both_changed_halts_and_writes_nothing(memory: Memory) -> None:
    one = conflicting(memory)
    head = memory.head(MAIN)

    done = merge_branch(memory, MAIN, TRIAL)

    assert (done.outcome, done.conflicts, done.commit, memory.head(MAIN)) == ("halted", (one,), None, head)


@pytest.mark.parametrize(("side", "text"), [(Side.OURS, "Use four spaces."), (Side.THEIRS, "Use two spaces.")])
def test_a_side_settles_conflicts_and_the_rest_is_merged(memory: Memory, side: Side, text: str) -> None:
    one = conflicting(memory)

    done = merge_branch(memory, MAIN, TRIAL, prefer=side)

    assert (done.outcome, done.conflicts) == ("merged", (one,))
    assert texts(memory.snapshot(MAIN)) == sorted(["Trial fact.", text])


@pytest.mark.parametrize("remover", [MAIN, TRIAL])
def test_removed_here_and_reworded_there_is_a_conflict(memory: Memory, remover: BranchName) -> None:
    (one,) = forked(memory)
    writes.remove(memory, remover, one)
    writes.reword(memory, TRIAL if remover == MAIN else MAIN, one, "Use two spaces.")

    assert merge_branch(memory, MAIN, TRIAL).conflicts == (one,)
    ours = merge_branch(memory, MAIN, TRIAL, prefer=Side.OURS)
    assert ours.outcome == "merged"
    assert texts(memory.snapshot(MAIN)) == ([] if remover == MAIN else ["Use two spaces."])


def test_the_same_change_on_both_sides_is_no_conflict(memory: Memory, clock: Clock) -> None:
    (one,) = forked(memory)
    for branch in (MAIN, TRIAL):
        writes.reword(memory, branch, one, "Use two spaces.")
        clock.tick()  # in the same second it would be the very same commit

    assert merge_branch(memory, MAIN, TRIAL).outcome == "merged"
    assert texts(memory.snapshot(MAIN)) == ["Use two spaces."]


def test_the_same_words_learned_on_both_sides_are_one_entry(memory: Memory) -> None:
    forked(memory)
    mine = writes.add(memory, MAIN, "Run the tests.").entry
    theirs = writes.add(memory, TRIAL, "Run the tests.").entry
    assert mine
    assert theirs
    assert mine.id != theirs.id

    merge_branch(memory, MAIN, TRIAL)

    assert [one.id for one in memory.snapshot(MAIN) if one.text == "Run the tests."] == [mine.id]


def test_a_rewording_over_there_into_words_that_are_here_already_makes_no_twin(memory: Memory) -> None:
    (one,) = forked(memory)
    writes.add(memory, MAIN, "Use two spaces.")
    writes.reword(memory, TRIAL, one, "Use two spaces.")

    merge_branch(memory, MAIN, TRIAL)

    assert texts(memory.snapshot(MAIN)).count("Use two spaces.") == 1


@pytest.mark.parametrize("again", [BASE, "Old habits stay."])
def test_a_fact_that_was_removed_over_there_and_learned_again_is_not_lost(memory: Memory, again: str) -> None:
    ids = dict(zip([BASE, "Old habits stay."], forked(memory, "Old habits stay."), strict=True))
    writes.remove(memory, TRIAL, ids[again])
    writes.add(memory, TRIAL, again)

    merge_branch(memory, MAIN, TRIAL)

    assert texts(memory.snapshot(MAIN)) == texts(memory.snapshot(TRIAL)) == ["Old habits stay.", BASE]


def test_two_entries_that_swapped_their_words_over_there_are_both_kept(memory: Memory) -> None:
    one, two = forked(memory, "Old habits stay.")
    writes.reword(memory, TRIAL, one, "For a moment.")
    writes.reword(memory, TRIAL, two, BASE)
    writes.reword(memory, TRIAL, one, "Old habits stay.")

    merge_branch(memory, MAIN, TRIAL)

    assert {entry.id: entry.text for entry in memory.snapshot(MAIN)} == {one: "Old habits stay.", two: BASE}


def test_a_merge_beyond_the_hard_limit_is_halted_with_its_numbers(memory: Memory) -> None:
    forked(memory)
    for branch in (MAIN, TRIAL):
        for number in range(4):
            writes.add(memory, branch, f"{branch} {number} " + "x" * 780)
    head = memory.head(MAIN)

    done = merge_branch(memory, MAIN, TRIAL)

    assert (done.outcome, memory.head(MAIN)) == ("halted", head)
    assert done.refusal
    assert done.refusal.rule is Rule.CAPACITY
    assert "of at most 6,000 characters" in done.refusal.message


def test_a_dry_run_tells_and_writes_nothing(memory: Memory) -> None:
    forked(memory)
    writes.add(memory, TRIAL, "Trial fact.")
    head = memory.head(MAIN)

    done = merge_branch(memory, MAIN, TRIAL, dry_run=True)

    assert (done.outcome, done.commit, [change.sign for change in done.changes]) == ("merged", None, ["+"])
    assert memory.head(MAIN) == head


def test_merging_an_experiment_moves_no_position_of_main(memory: Memory, tmp_path: Path) -> None:
    forked(memory)
    session = Session(tmp_path / "s1.jsonl").say("This was said on main.").select(TRIAL).say("This was said on trial.")
    review(memory, TRIAL, session.read(), Scripted([proposal(learns("Trial fact."))]), forced=True)
    assert position(memory, TRIAL, session.read())

    merge_branch(memory, MAIN, TRIAL)

    assert position(memory, MAIN, session.read()) is None
    model = Scripted([NOTHING])
    review(memory, MAIN, session.read(), model, forced=True)
    assert ["This was said on main." in sent for sent in model.sent] == [True]


def test_a_merge_can_be_undone_by_its_name_and_brought_back(memory: Memory) -> None:
    _, removed = forked(memory, "Old habits stay.")
    writes.add(memory, TRIAL, "Trial fact.")
    writes.remove(memory, TRIAL, removed)
    writes.add(memory, MAIN, "Main fact.")
    merged = merge_branch(memory, MAIN, TRIAL).commit
    assert merged
    after = texts(memory.snapshot(MAIN))

    taken = undo(memory, MAIN, merged)

    assert (taken.outcome, texts(memory.snapshot(MAIN))) == ("undone", ["Main fact.", "Old habits stay.", BASE])
    assert redo(memory, MAIN).outcome == "redone"
    assert texts(memory.snapshot(MAIN)) == after


def test_undo_without_a_name_takes_back_reviews_and_no_merge(memory: Memory) -> None:
    forked(memory)
    writes.add(memory, TRIAL, "Trial fact.")
    merge_branch(memory, MAIN, TRIAL)

    assert undo(memory, MAIN).outcome == "nothing"


def test_a_branch_without_common_history_is_merged_as_additions(memory: Memory, tmp_path: Path) -> None:
    writes.add(memory, MAIN, BASE)
    tree = git(memory.path, "mktree", stdin=b"")
    commit = git(memory.path, "commit-tree", tree, "-m", "another beginning")
    git(memory.path, "update-ref", "refs/heads/trial", commit)
    writes.add(memory, TRIAL, "Trial fact.")

    assert merge_branch(memory, MAIN, TRIAL).outcome == "merged"
    assert texts(memory.snapshot(MAIN)) == ["Trial fact.", BASE]


def test_what_cannot_be_merged_is_named(memory: Memory) -> None:
    with pytest.raises(UnknownBranch, match="`trial`"):
        merge_branch(memory, MAIN, TRIAL)
    writes.add(memory, MAIN, BASE)
    with pytest.raises(UnknownBranch, match="`trial`"):
        merge_branch(memory, MAIN, TRIAL)
    with pytest.raises(UnknownBranch, match="`trial`"):
        merge_branch(memory, TRIAL, MAIN)
    with pytest.raises(SelfMerge, match="into itself"):
        merge_branch(memory, MAIN, MAIN)
