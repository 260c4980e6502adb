"""Merging two branches, entry by entry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import Category, Snapshot
from noforgetti.policy.merge import Conflicted, Merged, Side, merge
from policy.snapshots import carried_out, entry, snapshot

A, B, C = entry("a"), entry("b"), entry("c")


def merged(base: Snapshot, ours: Snapshot, theirs: Snapshot, prefer: Side | None = None) -> dict[str, str]:
    """The files of our side after a merge that must not halt."""
    found = merge(base, ours, theirs, prefer=prefer)
    assert isinstance(found, Merged)
    return dict(carried_out(ours, dict(found.put), found.drop, base, ours, theirs))


def test_what_each_side_added_is_kept() -> None:
    assert merged(snapshot(A), snapshot(A, B), snapshot(A, C)) == dict(snapshot(A, B, C).files)


def test_what_they_removed_is_removed_and_what_we_removed_stays_away() -> None:
    assert merged(snapshot(A, B, C), snapshot(A, B), snapshot(A, C)) == dict(snapshot(A).files)


def test_the_same_change_on_both_sides_is_no_conflict() -> None:
    both = snapshot(entry("a", "Other words."))
    assert merged(snapshot(A), both, both) == dict(both.files)


def test_different_words_for_one_entry_are_a_conflict_until_a_side_is_named() -> None:
    base, ours, theirs = snapshot(A), snapshot(entry("a", "ours"), B), snapshot(entry("a", "theirs"))

    assert merge(base, ours, theirs) == Conflicted(("a",))
    assert merged(base, ours, theirs, Side.OURS) == dict(ours.files)
    assert merged(base, ours, theirs, Side.THEIRS) == dict(snapshot(entry("a", "theirs"), B).files)


def test_reworded_here_and_removed_there_is_a_conflict() -> None:
    base, ours, theirs = snapshot(A), snapshot(entry("a", "ours")), snapshot()

    assert merge(base, ours, theirs) == Conflicted(("a",))
    assert merged(base, ours, theirs, Side.THEIRS) == {}


def test_the_same_words_under_two_ids_are_one_fact() -> None:
    ours, theirs = snapshot(entry("x", "One fact.")), snapshot(entry("y", "One fact."))

    assert merged(snapshot(), ours, theirs) == dict(ours.files)


def test_an_entry_that_they_moved_to_another_category_moves() -> None:
    theirs = snapshot(entry("a", category=Category.DECISION))

    assert merged(snapshot(A), snapshot(A, B), theirs) == dict(
        snapshot(entry("a", category=Category.DECISION), B).files
    )


ENTRIES = st.dictionaries(st.sampled_from("abcde"), st.sampled_from(["one", "two", "three"]), max_size=5)


def of(entries: dict[str, str]) -> Snapshot:
    """A snapshot in which words are not shared between ids."""
    return snapshot(*(entry(one, f"{text} of {one}") for one, text in entries.items()))


@given(base=ENTRIES, ours=ENTRIES, theirs=ENTRIES)
def test_a_merge_without_conflicts_is_the_same_from_both_sides(
    base: dict[str, str], ours: dict[str, str], theirs: dict[str, str]
) -> None:
    one, other = merge(of(base), of(ours), of(theirs)), merge(of(base), of(theirs), of(ours))
    if isinstance(one, Conflicted) or isinstance(other, Conflicted):
        assert isinstance(one, Conflicted)
        assert isinstance(other, Conflicted)
        assert set(one.entries) == set(other.entries)
        return
    assert merged(of(base), of(ours), of(theirs)) == merged(of(base), of(theirs), of(ours))


@given(base=ENTRIES, ours=ENTRIES)
def test_merging_what_did_not_move_changes_nothing(base: dict[str, str], ours: dict[str, str]) -> None:
    assert merged(of(base), of(ours), of(base)) == dict(of(ours).files)
    assert merged(of(base), of(base), of(ours)) == dict(of(ours).files)
