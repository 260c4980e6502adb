"""Who may use how much of a memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import Entry, EntryId, Importance
from noforgetti.policy import capacity
from noforgetti.policy.capacity import Limits, scaled
from noforgetti.policy.verdict import Rule

LIMITS = Limits()
sizes = st.integers(0, 12_000)


def entry(own: str, size: int = 100, importance: Importance = Importance.NORMAL, **fields: object) -> Entry:
    return Entry(EntryId(own), "x" * size, importance=importance, **fields)  # type: ignore[arg-type]


def test_the_limits_are_the_contract_s() -> None:
    assert Limits() == Limits(entry=800, goal=4_000, target=4_500, hard=6_000) == scaled(6_000)


@pytest.mark.parametrize(
    ("hard", "expected"),
    [(12_000, Limits(800, 8_000, 9_000, 12_000)), (1_000, Limits(800, 666, 750, 1_000)), (7, Limits(7, 4, 5, 7))],
)
def test_another_hard_limit_keeps_the_ratios_rounded_down(hard: int, expected: Limits) -> None:
    assert scaled(hard) == expected


@pytest.mark.parametrize(
    ("before", "after", "fits"),
    [
        (3_900, 4_023, True),  # the former overflow: above the goal, below the target
        (4_000, 4_500, True),  # exactly at the target
        (4_000, 4_501, False),
        (4_500, 4_500, True),
        (4_500, 4_501, False),
        (5_000, 4_999, True),
        (7_000, 6_900, True),  # above the hard limit, which was lowered: shrinking is the way out
    ],
)
def test_a_review_may_not_cross_the_target_nor_grow_above_it(before: int, after: int, fits: bool) -> None:
    refusal = capacity.review(LIMITS, before, after)

    assert (refusal is None) is fits
    assert refusal is None or refusal.rule is Rule.CAPACITY


def test_direct_writes_use_the_reserve_up_to_the_hard_limit() -> None:
    assert capacity.direct(LIMITS, 5_900, 6_000) is None
    assert capacity.direct(LIMITS, 5_900, 6_001) is not None


def test_a_memory_over_its_limit_can_still_be_tidied_by_hand() -> None:
    assert capacity.direct(LIMITS, 7_000, 6_500) is None
    assert capacity.direct(LIMITS, 7_000, 7_001) is not None


def test_a_refusal_says_how_much_is_over_and_what_to_drop() -> None:
    entries = [entry("high", importance=Importance.HIGH), entry("low", importance=Importance.LOW), entry("normal")]

    refusal = capacity.direct(LIMITS, 5_950, 6_120, entries)

    assert refusal is not None
    assert refusal.message == (
        "The memory would hold 6,120 of at most 6,000 characters, 120 too many. Nothing was written."
    )
    assert refusal.hint == (
        "shorten or drop one of these first: `low` (100 characters, low importance), "
        "`normal` (100 characters, normal importance)"
    )


def test_pinned_and_enforced_entries_are_never_named() -> None:
    entries = [entry("pinned", pinned=True), entry("enforced", rule="{}")]

    assert capacity.expendable(entries, 500) == ()
    refusal = capacity.direct(LIMITS, 6_000, 6_500, entries)
    assert refusal is not None
    assert refusal.hint == "remove, shorten or merge entries first"


def test_an_unjudged_entry_goes_before_a_judged_one_of_the_same_importance() -> None:
    entries = [entry("judged", assessed="2026-01-01T00:00:00Z"), entry("unjudged")]

    assert [one.id for one in capacity.expendable(entries, 1)] == ["unjudged"]


@given(sizes, sizes)
def test_a_review_never_makes_a_memory_both_larger_and_above_the_target(before: int, after: int) -> None:
    if capacity.review(LIMITS, before, after) is None:
        assert after <= max(before, LIMITS.target)
    else:
        assert after > before
        assert after > LIMITS.target


@given(sizes, sizes)
def test_what_a_review_may_do_the_user_may_do_too(before: int, after: int) -> None:
    if capacity.review(LIMITS, before, after) is None:
        assert capacity.direct(LIMITS, before, after) is None
