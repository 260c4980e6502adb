"""When a review is due, and who may run it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from noforgetti.review import schedule
from noforgetti.review.schedule import Cadence, CadenceError, Claim, Reason, Settlement

MINUTE = 60.0
SIGNAL = "Remember that the tests need a database."


def claimed(cadence: Cadence, now: float = 0.0, token: str = "a", *, forced: bool = False) -> tuple[Cadence, Claim]:
    answer = schedule.claim(cadence, now, token=token, forced=forced)
    assert not isinstance(answer, Reason)
    return answer


def test_ten_plain_prompts_make_a_review_due_and_nine_do_not() -> None:
    nine = schedule.record(Cadence(), ["please run it"] * 9)

    assert schedule.due(nine, 0.0) is Reason.NOT_YET
    assert schedule.due(schedule.record(nine, ["and again"]), 0.0) is Reason.INTERVAL


def test_one_explicit_signal_is_enough() -> None:
    assert schedule.due(schedule.record(Cadence(), [SIGNAL]), 0.0) is Reason.SIGNAL


def test_force_needs_no_evidence_and_waits_for_no_back_off() -> None:
    assert schedule.due(Cadence(), 0.0, forced=True) is Reason.FORCED
    assert schedule.due(Cadence(not_before=10 * MINUTE), 0.0, forced=True) is Reason.FORCED


def test_nothing_starts_while_a_claim_is_alive_not_even_by_force() -> None:
    running, _ = claimed(Cadence(turns=10))

    assert schedule.due(running, 4.9 * MINUTE, forced=True) is Reason.RUNNING
    assert schedule.claim(running, 0.0, token="b", forced=True) is Reason.RUNNING


def test_a_lease_ends_after_five_minutes_and_the_late_finisher_settles_nothing() -> None:
    running, late = claimed(Cadence(turns=10))

    taken, mine = claimed(running, 5 * MINUTE, "b")

    assert (late.until, mine.generation) == (5 * MINUTE, 2)
    assert schedule.settle(taken, late, Settlement.SUCCESS, 6 * MINUTE) == taken


def test_a_claim_settles_once() -> None:
    running, mine = claimed(Cadence(turns=10))
    done = schedule.settle(running, mine, Settlement.FAILURE, MINUTE)

    assert schedule.settle(done, mine, Settlement.FAILURE, MINUTE) == done


def test_what_was_said_during_a_review_stays_counted() -> None:
    running, mine = claimed(Cadence(turns=10, score=5))
    busy = schedule.record(running, ["one more", SIGNAL])

    done = schedule.settle(busy, mine, Settlement.SUCCESS, MINUTE)

    assert (done.turns, done.score) == (2, 4)
    assert schedule.due(done, MINUTE) is Reason.SIGNAL


@pytest.mark.parametrize(("failures", "minutes"), [(1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (6, 60), (1_000, 60)])
def test_failures_back_off_doubling_up_to_an_hour(failures: int, minutes: int) -> None:
    assert schedule.back_off(failures) == minutes * MINUTE


def test_after_a_failure_it_stays_due_but_later() -> None:
    running, mine = claimed(Cadence(turns=10))

    failed = schedule.settle(running, mine, Settlement.FAILURE, 0.0)

    assert schedule.due(failed, 4.9 * MINUTE) is Reason.BACKING_OFF
    assert schedule.due(failed, 5 * MINUTE) is Reason.INTERVAL


def test_a_success_forgets_the_failures() -> None:
    running, mine = claimed(Cadence(turns=10, failures=3, not_before=1.0), 2.0)

    done = schedule.settle(running, mine, Settlement.SUCCESS, 3.0)

    assert (done.failures, done.not_before, done.reviewed_at) == (0, 0.0, 3.0)


def test_a_cancelled_review_is_due_again_at_once() -> None:
    running, mine = claimed(Cadence(turns=10, failures=1))

    done = schedule.settle(running, mine, Settlement.CANCELLED, MINUTE)

    assert (schedule.due(done, MINUTE), done.failures) == (Reason.INTERVAL, 1)


def test_a_clock_set_back_by_a_day_neither_holds_nor_delays_for_a_day() -> None:
    day = 24 * 60 * MINUTE
    running, mine = claimed(Cadence(turns=10), day)

    assert schedule.due(running, 0.0) is Reason.INTERVAL
    assert schedule.due(schedule.settle(running, mine, Settlement.FAILURE, day), 0.0) is Reason.INTERVAL


def test_a_claim_survives_the_way_into_another_process() -> None:
    running, mine = claimed(Cadence(turns=10, score=7, failures=2))

    read = schedule.from_dict(json.loads(json.dumps(schedule.to_dict(running))))

    assert read == running
    assert schedule.settle(read, mine, Settlement.SUCCESS, 1.0).claim is None


def test_missing_fields_start_fresh_and_unknown_ones_are_left_alone() -> None:
    assert schedule.from_dict({"turns": 3, "from_the_future": True}) == Cadence(turns=3)


@pytest.mark.parametrize(
    "data",
    [
        {"turns": -1},
        {"turns": "3"},
        {"score": True},
        {"not_before": float("nan")},
        {"reviewed_at": float("inf")},
        {"claim": "yes"},
        {"claim": {"token": 1}},
        {"claim": {"token": "a", "until": -1}},
    ],
)
def test_a_malformed_cadence_is_named_and_not_reset(data: dict[str, object]) -> None:
    with pytest.raises(CadenceError, match="No review was started"):
        schedule.from_dict(data)


cadences = st.builds(
    Cadence,
    turns=st.integers(0, 50),
    score=st.integers(0, 50),
    failures=st.integers(0, 9),
    generation=st.integers(0, 99),
    not_before=st.floats(0, 1e9),
)


@given(cadences, st.floats(0, 1e9))
def test_writing_and_reading_is_identity(cadence: Cadence, now: float) -> None:
    running = schedule.claim(cadence, now, token="t", forced=True)
    assert not isinstance(running, Reason)

    for one in (cadence, running[0]):
        assert schedule.from_dict(json.loads(json.dumps(schedule.to_dict(one)))) == one


class TwoProcesses(RuleBasedStateMachine):
    """Two claimants and a clock: at most one live claim, and no prompt is ever lost by a settlement."""

    def __init__(self) -> None:
        super().__init__()
        self.cadence = Cadence()
        self.now = 1_000.0
        self.claims: list[Claim] = []
        self.recorded = 0
        self.consumed = 0

    @initialize()
    def begin(self) -> None:
        self.cadence = Cadence()

    @rule(seconds=st.floats(0, 400))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(prompts=st.integers(0, 6))
    def talk(self, prompts: int) -> None:
        self.cadence = schedule.record(self.cadence, ["go on"] * prompts)
        self.recorded += prompts

    @rule(token=st.sampled_from("ab"), forced=st.booleans())
    def take(self, token: str, forced: bool) -> None:
        alive = schedule.held(self.cadence, self.now)
        answer = schedule.claim(self.cadence, self.now, token=token, forced=forced)
        if isinstance(answer, Reason):
            assert not answer.due
            return
        assert not alive
        self.cadence, mine = answer
        self.claims.append(mine)

    @rule(settlement=st.sampled_from(Settlement), number=st.integers(0, 9))
    def finish(self, settlement: Settlement, number: int) -> None:
        if not self.claims:
            return
        mine = self.claims[number % len(self.claims)]
        before = self.cadence
        self.cadence = schedule.settle(before, mine, settlement, self.now)
        if before.claim != mine:
            assert self.cadence == before
        elif settlement is Settlement.SUCCESS:
            self.consumed += mine.turns

    @invariant()
    def every_prompt_is_pending_or_consumed(self) -> None:
        assert self.cadence.turns + self.consumed == self.recorded


TestTwoProcesses = TwoProcesses.TestCase


def test_generations_never_repeat() -> None:
    cadence, first = claimed(Cadence(), forced=True)
    cadence = schedule.settle(cadence, first, Settlement.CANCELLED, 1.0)
    _, second = claimed(replace(cadence), forced=True)

    assert second.generation == first.generation + 1
