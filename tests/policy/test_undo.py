"""Undo and redo as decisions on three states."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import Category, Entry, Snapshot
from noforgetti.policy.undo import Halted, Restore, plan, size_after
from policy.snapshots import carried_out, entry, snapshot

A, B, C = entry("a"), entry("b"), entry("c")


def restored(before: Snapshot, after: Snapshot, now: Snapshot) -> dict[str, str]:
    """The files after an undo that must not halt."""
    planned = plan(before, after, now)
    assert isinstance(planned, Restore)
    return dict(carried_out(now, dict(planned.put), planned.drop, before, after, now))


def test_an_added_entry_is_dropped() -> None:
    assert restored(snapshot(A), snapshot(A, B), snapshot(A, B)) == dict(snapshot(A).files)


def test_a_removed_entry_comes_back() -> None:
    assert restored(snapshot(A, B), snapshot(A), snapshot(A)) == dict(snapshot(A, B).files)


def test_a_reworded_entry_gets_its_words_back_and_later_entries_stay() -> None:
    after = snapshot(entry("a", "Other words."))
    assert restored(snapshot(A), after, snapshot(entry("a", "Other words."), C)) == dict(snapshot(A, C).files)


def test_an_entry_that_moved_to_another_category_moves_back() -> None:
    moved = snapshot(entry("a", category=Category.DECISION))
    assert restored(snapshot(A), moved, moved) == dict(snapshot(A).files)


def test_every_entry_that_changed_since_is_named_and_nothing_is_planned() -> None:
    before, after = snapshot(A, B), snapshot(entry("a", "1"), entry("b", "2"), C)
    now = snapshot(entry("a", "1"), entry("b", "later"), entry("c", "later"))

    assert plan(before, after, now) == Halted(("b", "c"))


def test_an_entry_that_was_removed_since_halts_too() -> None:
    assert plan(snapshot(A), snapshot(entry("a", "1")), snapshot()) == Halted(("a",))


def test_an_entry_that_somebody_put_back_already_needs_nothing() -> None:
    planned = plan(snapshot(A), snapshot(entry("a", "1")), snapshot(A))

    assert planned == Restore({}, (), (), ("a",))


def test_words_that_were_written_again_under_another_id_are_not_doubled() -> None:
    again = entry("z", A.text)

    assert restored(snapshot(A, B), snapshot(B), snapshot(B, again)) == dict(snapshot(B, again).files)


def test_the_size_after_a_plan_counts_what_is_put_and_not_what_is_dropped() -> None:
    now = snapshot(entry("a", "12345"), entry("b", "123"))

    assert size_after(now, {"lessons/c.md": entry("c", "1234")}, ("lessons/b.md",)) == 9


ENTRIES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["one", "two", "three"]), max_size=6)


def of(entries: dict[str, str]) -> Snapshot:
    """A snapshot in which words are not shared between ids."""
    return snapshot(*(entry(one, f"{text} of {one}") for one, text in entries.items()))


@given(before=ENTRIES, after=ENTRIES)
def test_undo_right_after_a_change_is_its_exact_opposite_and_redo_is_the_change(
    before: dict[str, str], after: dict[str, str]
) -> None:
    old, new = of(before), of(after)
    undone = restored(old, new, new)
    assert undone == dict(old.files)
    assert restored(new, old, old) == dict(new.files)


@given(before=ENTRIES, after=ENTRIES, now=ENTRIES)
def test_undo_never_touches_what_the_change_did_not_touch_and_never_overwrites_later_work(
    before: dict[str, str], after: dict[str, str], now: dict[str, str]
) -> None:
    old, new, current = of(before), of(after), of(now)
    planned = plan(old, new, current)
    touched = {one for one in {**before, **after} if before.get(one) != after.get(one)}
    later = {one for one in touched if now.get(one) not in (after.get(one), before.get(one))}
    if later:
        assert isinstance(planned, Halted)
        assert set(planned.entries) >= later
        return
    if isinstance(planned, Halted):
        assert set(planned.entries) <= touched
        return
    files = carried_out(current, dict(planned.put), planned.drop, old, new, current)
    kept = {stored.path: stored.blob for stored in current.entries if stored.entry.id not in touched}
    assert kept.items() <= files.items()


def test_files_that_are_no_entries_are_put_back_as_well() -> None:
    other = Entry(A.id, A.text, A.category)
    before, after = snapshot(other), snapshot(other)
    before = Snapshot(before.commit, before.entries, (), {**before.files, "promotions.md": B_BLOB})
    planned = plan(before, after, after)

    assert planned == Restore({"promotions.md": B_BLOB}, (), ("promotions.md",), ())


B_BLOB = next(iter(snapshot(B).files.values()))
