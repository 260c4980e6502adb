"""Scores, lifecycles, caps and what is cold: the reference's figures and the two rules that are ours."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import Category, Cue, Entry, EntryId, Importance, Writer
from noforgetti.model.signal import Signal
from noforgetti.policy.scoring import (
    CAPS,
    DAY,
    HALF_LIFE,
    PINNED,
    Caps,
    Lifecycle,
    Reason,
    Scored,
    cold,
    lifecycle,
    midnight,
    score_all,
    seconds_of,
    stability,
)

NOW = 1_796_126_400.0  # 2026-12-01T12:00:00Z


def ago(days: float) -> str:
    return (datetime.fromtimestamp(NOW, UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


def entry(own: str = "e", category: Category = Category.PREFERENCE, *, days: float = 0.0, **fields: object) -> Entry:
    return Entry(EntryId(own), f"Text of {own}.", category, **{"created": ago(days), **fields})  # type: ignore[arg-type]


def seen(times: int, days: float = 0.0) -> Signal:
    return Signal(times, ago(days))


def scored(*entries: Entry, caps: Caps = CAPS, **signals: Signal) -> tuple[Scored, ...]:
    return score_all(entries, {EntryId(own): one for own, one in signals.items()}, NOW, caps=caps)


# The worked figures of docs/scoring.md: natural logarithm, four decimals.
@pytest.mark.parametrize(
    ("cue", "category", "evidence", "days", "expected", "state"),
    [
        (Cue.EXPLICIT, Category.PREFERENCE, 1, 0, 0.6931, Lifecycle.CANDIDATE),
        (Cue.EXPLICIT, Category.PREFERENCE, 2, 0, 1.0986, Lifecycle.PROVISIONAL),
        (Cue.EXPLICIT, Category.PREFERENCE, 3, 0, 1.3863, Lifecycle.PROVISIONAL),
        (Cue.EXPLICIT, Category.PREFERENCE, 4, 0, 1.6094, Lifecycle.ACTIVE),
        (Cue.EXPLICIT, Category.PREFERENCE, 4, 10, 1.4402, Lifecycle.PROVISIONAL),
        (Cue.EXPLICIT, Category.PREFERENCE, 4, 68, 0.7560, Lifecycle.PROVISIONAL),
        (Cue.EXPLICIT, Category.PREFERENCE, 4, 126, 0.3969, Lifecycle.DROPPED),
        (Cue.BEHAVIORAL, Category.LESSON, 1, 0, 0.4852, Lifecycle.CANDIDATE),
        (Cue.BEHAVIORAL, Category.LESSON, 1, 12, 0.3973, Lifecycle.DROPPED),
        (Cue.BEHAVIORAL, Category.LESSON, 8, 0, 1.5381, Lifecycle.ACTIVE),
        (Cue.STRUCTURAL, Category.DECISION, 5, 0, 1.6126, Lifecycle.ACTIVE),
        (Cue.STRUCTURAL, Category.DECISION, 5, 30, 0.5932, Lifecycle.CANDIDATE),
        (Cue.RECURRENCE, Category.PATTERN, 12, 0, 1.5390, Lifecycle.ACTIVE),
        (Cue.EXPLICIT, Category.MISTAKE, 5, 14, 0.6592, Lifecycle.CANDIDATE),
        (Cue.EXPLICIT, Category.DONE, 1, 8, 0.3914, Lifecycle.DROPPED),
    ],
)
def test_worked_figures(
    cue: Cue, category: Category, evidence: int, days: float, expected: float, state: Lifecycle
) -> None:
    stable = stability(cue, category, evidence, days * DAY)

    assert (round(stable, 4), lifecycle(stable)) == (expected, state)


@pytest.mark.parametrize(
    ("cue", "active", "provisional"),
    [(Cue.EXPLICIT, 4, 2), (Cue.STRUCTURAL, 5, 2), (Cue.BEHAVIORAL, 8, 2), (Cue.RECURRENCE, 12, 3)],
)
def test_least_evidence_of_a_fresh_entry(cue: Cue, active: int, provisional: int) -> None:
    def first(state: Lifecycle) -> int:
        return next(n for n in range(1, 20) if lifecycle(stability(cue, Category.LESSON, n, 0)) is state)

    assert (first(Lifecycle.ACTIVE), first(Lifecycle.PROVISIONAL)) == (active, provisional)


@pytest.mark.parametrize(
    ("value", "state"),
    [
        (1.5, Lifecycle.ACTIVE),
        (1.4999, Lifecycle.PROVISIONAL),
        (0.7, Lifecycle.PROVISIONAL),
        (0.6999, Lifecycle.CANDIDATE),
        (0.4, Lifecycle.CANDIDATE),
        (0.3999, Lifecycle.DROPPED),
    ],
)
def test_thresholds_belong_to_the_better_state(value: float, state: Lifecycle) -> None:
    assert lifecycle(value) is state


@pytest.mark.parametrize("writer", list(Writer))
def test_whoever_wrote_it_a_fresh_entry_is_told_tomorrow(writer: Writer) -> None:
    (one,) = scored(entry(days=1, writer=writer, cue=Cue.RECURRENCE))

    assert (one.lifecycle, one.reason, one.told) == (Lifecycle.PROVISIONAL, Reason.GRACE, True)


@pytest.mark.parametrize("category", list(Category))
def test_grace_lasts_one_half_life_and_begins_again_with_a_reinforcement(category: Category) -> None:
    days = HALF_LIFE[category]
    states = {
        one.entry.id: one.lifecycle
        for one in scored(
            entry("last", category, days=days),
            entry("over", category, days=days + 1),
            entry("again", category, days=days + 1),
            again=seen(1, days=2),
        )
    }

    assert states == {
        "last": Lifecycle.PROVISIONAL,
        "over": Lifecycle.DROPPED,  # e^-1 of 0.693 is 0.255
        "again": Lifecycle.PROVISIONAL,
    }


@pytest.mark.parametrize("created", ["", "yesterday", "2026-13-45T00:00:00Z", "0", "١", "9" * 5_000])
def test_a_hand_made_entry_without_a_readable_date_does_not_fade(created: str) -> None:
    (one,) = scored(entry(created=created))

    assert (one.lifecycle, one.reason, one.age, round(one.score, 4)) == (
        Lifecycle.PROVISIONAL,
        Reason.GRACE,
        None,
        0.6931,
    )


def test_a_date_in_the_future_is_now() -> None:
    (one,) = scored(entry(days=-30))

    assert (one.age, round(one.score, 4)) == (0.0, 0.6931)


def test_pinned_and_enforced_entries_are_active_however_old() -> None:
    one, two = scored(entry("pinned", days=4_000, pinned=True), entry("enforced", days=4_000, rule='{"action":"warn"}'))

    assert [(one.entry.id, one.score, one.lifecycle), (two.entry.id, two.lifecycle)] == [
        ("pinned", PINNED, Lifecycle.ACTIVE),
        ("enforced", Lifecycle.ACTIVE),
    ]


def test_a_forgotten_entry_is_dropped_unless_it_is_pinned_or_enforced() -> None:
    forgotten = Signal(9, ago(0), forgotten=True)
    states = {
        one.entry.id: (one.score, one.lifecycle)
        for one in scored(entry("plain"), entry("pinned", pinned=True), plain=forgotten, pinned=forgotten)
    }

    assert states == {"pinned": (PINNED, Lifecycle.ACTIVE), "plain": (0.0, Lifecycle.DROPPED)}


def test_archived_entries_are_not_scored() -> None:
    assert scored(entry(archived=True, pinned=True)) == ()


def test_order_is_score_then_importance_then_newest_reinforcement_then_id() -> None:
    stamps = {"older": ago(0.2), "newer": ago(0.1)}
    entries = [
        entry("z", created=""),
        entry("a", created=""),
        entry("high", created="", importance=Importance.HIGH),
        entry("low", created="", importance=Importance.LOW),
        # Equal scores need equal ages: these two are reinforced at times before they were written.
        entry("older", days=-1),
        entry("newer", days=-1),
        entry("best", days=0),
    ]
    signals = {EntryId(own): Signal(1, at) for own, at in stamps.items()} | {EntryId("best"): seen(2)}

    ranked = score_all(entries, signals, NOW)

    assert [one.entry.id for one in ranked] == ["best", "high", "newer", "older", "a", "z", "low"]


def test_caps_leave_a_category_its_best_and_a_pool_of_six_provisional() -> None:
    entries = [entry(f"p{n:02}", days=n / 10) for n in range(12)]
    entries += [entry(f"m{n:02}", Category.MISTAKE, days=n / 10) for n in range(10)]
    signals = {one.id: Signal(20) for one in entries}

    states: dict[Lifecycle, list[str]] = {}
    for one in score_all(entries, signals, NOW):
        states.setdefault(one.lifecycle, []).append(one.entry.id)

    assert states == {
        Lifecycle.ACTIVE: ["m00", "p00", *(f"p{n:02}" for n in range(1, 7)), "m01", "p07", "m02", "m03"],
        Lifecycle.PROVISIONAL: ["p08", "p09", "p10", "p11", "m04", "m05"],
        Lifecycle.CANDIDATE: ["m06", "m07", "m08", "m09"],
    }


def test_entries_provisional_by_their_score_take_no_place_in_the_pool() -> None:
    entries = [entry(f"p{n}") for n in range(40)]

    states = {one.lifecycle for one in score_all(entries, {one.id: seen(2) for one in entries}, NOW)}

    assert states == {Lifecycle.PROVISIONAL}


def test_pinned_and_enforced_entries_take_no_place_from_others() -> None:
    kept = [entry(f"k{n}", pinned=n % 2 == 0, rule="" if n % 2 == 0 else "{}") for n in range(20)]
    plain = [entry(f"p{n}") for n in range(8)]

    ranked = score_all([*kept, *plain], {one.id: seen(5) for one in (*kept, *plain)}, NOW)

    assert {one.lifecycle for one in ranked} == {Lifecycle.ACTIVE}


def test_the_cap_of_all_makes_the_rest_provisional() -> None:
    entries = [entry(f"p{n}") for n in range(5)]

    ranked = score_all(entries, {one.id: seen(5) for one in entries}, NOW, caps=Caps(active=3))

    assert [one.lifecycle for one in ranked] == [Lifecycle.ACTIVE] * 3 + [Lifecycle.PROVISIONAL] * 2


@pytest.mark.parametrize(
    ("one", "signal", "why"),
    [
        (entry(days=3), Signal(), "score 0.67 (explicit, evidence 1, 3 d old): provisional in its first 90 d"),
        (entry(days=200), Signal(), "score 0.08 (explicit, evidence 1, 200 d old): dropped"),
        (entry(created=""), seen(4), "score 1.61 (explicit, evidence 4, 0 d old): active"),
        (entry(created=""), Signal(4), "score 1.61 (explicit, evidence 4, age unknown): active"),
        (entry(pinned=True), Signal(), "pinned: always active"),
        (entry(rule="{}"), Signal(), "enforced: always active"),
        (entry(), Signal(forgotten=True), "forgotten: not told"),
    ],
)
def test_a_score_says_what_it_is_made_of(one: Entry, signal: Signal, why: str) -> None:
    assert [scored.why for scored in score_all([one], {one.id: signal}, NOW)] == [why]


def test_a_capped_entry_says_so() -> None:
    entries = [entry(f"p{n}") for n in range(15)]

    last = score_all(entries, {one.id: seen(5) for one in entries}, NOW)[-1]

    assert last.why == "score 1.79 (explicit, evidence 5, 0 d old): candidate, as too many others score higher"


@pytest.mark.parametrize("category", list(Category))
def test_a_topic_is_cold_after_two_half_lives_without_reinforcement(category: Category) -> None:
    days = 2 * HALF_LIFE[category]
    old = entry("old", category, days=days + 1)

    assert cold([old], {}, NOW) == (category,)
    assert cold([entry("edge", category, days=days)], {}, NOW) == ()
    assert cold([old], {old.id: seen(2, days=days - 1)}, NOW) == ()
    assert cold([old, entry("fresh", category)], {}, NOW) == ()
    assert cold([old, entry("undated", category, created="")], {}, NOW) == ()


@pytest.mark.parametrize("kept", [{"pinned": True}, {"rule": "{}"}])
def test_a_topic_with_a_pinned_or_enforced_entry_is_never_cold(kept: dict[str, object]) -> None:
    old, one = entry("old", days=900), replace(entry("kept", days=900), **kept)  # type: ignore[arg-type]

    assert cold([old, one], {}, NOW) == ()


def test_archived_entries_do_not_make_a_topic_cold_nor_warm() -> None:
    assert cold([entry("old", days=900, archived=True)], {}, NOW) == ()
    assert cold([entry("old", days=900), entry("new", archived=True)], {}, NOW) == (Category.PREFERENCE,)


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [("2026-12-01T12:00:00Z", NOW), ("2026-12-01T13:00:00+01:00", NOW), ("2026-12-01T12:00:00", NOW), ("no", None)],
)
def test_a_time_without_a_zone_is_utc(stamp: str, seconds: float | None) -> None:
    assert seconds_of(stamp) == seconds


def test_a_day_begins_at_midnight_utc() -> None:
    assert midnight(date(2026, 12, 1)) == NOW - DAY / 2


categories, cues = st.sampled_from(Category), st.sampled_from(Cue)
evidences, ages = st.integers(-3, 10_000), st.floats(-1e6, 1e9)


@given(cues, categories, evidences, evidences, ages)
def test_more_evidence_never_scores_less(cue: Cue, category: Category, one: int, other: int, age: float) -> None:
    less, more = sorted((one, other))
    assert stability(cue, category, less, age) <= stability(cue, category, more, age)


@given(cues, categories, evidences, ages, ages)
def test_an_older_entry_never_scores_more(
    cue: Cue, category: Category, evidence: int, one: float, other: float
) -> None:
    younger, older = sorted((one, other))
    assert stability(cue, category, evidence, older) <= stability(cue, category, evidence, younger)


many = st.lists(
    st.tuples(
        st.builds(
            Entry,
            st.uuids().map(lambda own: EntryId(str(own))),
            st.just("Text."),
            categories,
            cue=cues,
            importance=st.sampled_from(Importance),
            pinned=st.booleans(),
            archived=st.booleans(),
            rule=st.sampled_from(["", "{}"]),
            created=st.sampled_from(["", *(ago(days) for days in (0, 1, 20, 100, 1_000))]),
        ),
        st.builds(Signal, st.integers(1, 50), st.sampled_from(["", ago(0), ago(9), ago(70)]), st.booleans()),
    ),
    max_size=120,
)


@given(many)
def test_kept_entries_stay_active_and_others_keep_to_the_caps(drawn: list[tuple[Entry, Signal]]) -> None:
    ranked = score_all([one for one, _ in drawn], {one.id: signal for one, signal in drawn}, NOW)

    kept = [one for one in ranked if one.entry.pinned or one.entry.enforced]
    active = [one for one in ranked if one not in kept and one.lifecycle is Lifecycle.ACTIVE]
    capped = [one for one in ranked if one.reason is Reason.CAPPED and one.told]
    assert {one.lifecycle for one in kept} <= {Lifecycle.ACTIVE}
    assert len(active) <= 40
    assert all(sum(one.entry.category is each for one in active) <= cap for each, cap in CAPS.category.items())
    assert len(capped) <= 6
    assert sorted(one.entry.id for one in ranked) == sorted(one.id for one, _ in drawn if not one.archived)


@given(many, st.randoms(use_true_random=False))
def test_the_order_of_reading_changes_nothing(drawn: list[tuple[Entry, Signal]], random: object) -> None:
    entries, signals = [one for one, _ in drawn], {one.id: signal for one, signal in drawn}
    before = score_all(entries, signals, NOW)
    random.shuffle(entries)  # type: ignore[attr-defined]

    assert score_all(entries, signals, NOW) == before
