"""When a review runs: one frozen value per memory branch (and session, if the caller keeps one for each),
moved on by pure transitions. Times are seconds since the epoch, handed in.

Due after an explicit signal, after ten completed prompts, or when forced; not while backing off after a
failure (unless forced); never while somebody else's claim is alive. Only the holder of the current claim
can settle, once: whoever comes late, after the lease was taken over, changes nothing. What happened while a
review ran stays counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.review import signals

INTERVAL = 10  # completed prompts between reviews; the number, as are the next three
LEASE = 5 * 60.0
BACK_OFF = 5 * 60.0
LONGEST_BACK_OFF = 60 * 60.0


class CadenceError(NoForgettiError):
    """A stored cadence cannot be read. It is never reset in silence: that would start reviews nobody is
    due."""

    kind = Kind.CORRUPT
    reason = "corrupt-cadence"


class Reason(StrEnum):
    """Why a review is due, or why not."""

    FORCED = "forced"
    SIGNAL = "signal"
    INTERVAL = "interval"
    NOT_YET = "not-yet"
    BACKING_OFF = "backing-off"
    RUNNING = "running"

    @property
    def due(self) -> bool:
        """True for a reason to start."""
        return self in (Reason.FORCED, Reason.SIGNAL, Reason.INTERVAL)


class Settlement(StrEnum):
    """How a claimed review ended, for the cadence."""

    SUCCESS = "success"  # what was captured is done with
    FAILURE = "failure"  # stays due, after a back-off
    CANCELLED = "cancelled"  # stays due, at once


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run one review until `until`; `turns` and `score` are what it will answer for."""

    token: str
    generation: int
    until: float
    turns: int
    score: int


@dataclass(frozen=True, slots=True)
class Cadence:
    """What has piled up since the last review, and who is at it. `generation` counts claims."""

    turns: int = 0
    score: int = 0
    failures: int = 0
    generation: int = 0
    claim: Claim | None = None
    reviewed_at: float = 0.0
    attempted_at: float = 0.0
    not_before: float = 0.0


def record(cadence: Cadence, prompts: Iterable[str]) -> Cadence:
    """After a completed run: its user prompts count, with the signals in them."""
    scores = [signals.score(prompt) for prompt in prompts]
    return replace(cadence, turns=cadence.turns + len(scores), score=cadence.score + sum(scores))


def due(cadence: Cadence, now: float, *, forced: bool = False) -> Reason:
    """Whether a review should start now; `Reason.due` says yes or no."""
    if held(cadence, now):
        return Reason.RUNNING
    if forced:
        return Reason.FORCED
    if cadence.score < signals.THRESHOLD and cadence.turns < INTERVAL:
        return Reason.NOT_YET
    # A clock that was set back must not stop reviews for good: no back-off is longer than the longest.
    if now < cadence.not_before <= now + LONGEST_BACK_OFF:
        return Reason.BACKING_OFF
    return Reason.SIGNAL if cadence.score >= signals.THRESHOLD else Reason.INTERVAL


def held(cadence: Cadence, now: float) -> bool:
    """True while a claim is alive. An expired one, or one from a future that the clock has since left, can
    be taken over."""
    return cadence.claim is not None and now < cadence.claim.until <= now + LEASE


def claim(cadence: Cadence, now: float, *, token: str, forced: bool = False) -> tuple[Cadence, Claim] | Reason:
    """The right to review, or the reason why not. `token` is unique to the claimant; the caller writes the
    new cadence back with compare-and-swap, so that of two claimants one loses."""
    reason = due(cadence, now, forced=forced)
    if not reason.due:
        return reason
    mine = Claim(token, cadence.generation + 1, now + LEASE, cadence.turns, cadence.score)
    return replace(cadence, generation=mine.generation, claim=mine, attempted_at=now), mine


def settle(cadence: Cadence, mine: Claim, settlement: Settlement, now: float) -> Cadence:
    """The cadence after the review of claim `mine`; unchanged when that claim is not the current one."""
    current = cadence.claim
    if current is None or (current.token, current.generation) != (mine.token, mine.generation):
        return cadence
    free = replace(cadence, claim=None)
    match settlement:
        case Settlement.CANCELLED:
            return free
        case Settlement.FAILURE:
            failures = cadence.failures + 1
            return replace(free, failures=failures, not_before=now + back_off(failures))
        case Settlement.SUCCESS:
            return replace(
                free,
                turns=max(0, cadence.turns - current.turns),
                score=max(0, cadence.score - current.score),
                failures=0,
                not_before=0.0,
                reviewed_at=now,
            )


def back_off(failures: int) -> float:
    """Seconds to wait after the n-th failure in a row: 5 minutes, doubling, at most 60."""
    return min(LONGEST_BACK_OFF, BACK_OFF * 2.0 ** min(failures - 1, 16))


def to_dict(cadence: Cadence) -> dict[str, Any]:
    """The cadence as JSON-like data."""
    return asdict(cadence)


def from_dict(data: Mapping[str, Any]) -> Cadence:
    """The cadence that `to_dict` wrote; unknown fields are ignored, missing ones take their start value.
    Raises `CadenceError` for anything else."""
    raw = data.get("claim")
    claimed = None
    if raw is not None:
        if not isinstance(raw, Mapping) or not isinstance(raw.get("token"), str):
            raise _unreadable("claim")
        claimed = Claim(
            token=raw["token"],
            generation=_count(raw, "generation"),
            until=_time(raw, "until"),
            turns=_count(raw, "turns"),
            score=_count(raw, "score"),
        )
    return Cadence(
        turns=_count(data, "turns"),
        score=_count(data, "score"),
        failures=_count(data, "failures"),
        generation=_count(data, "generation"),
        claim=claimed,
        reviewed_at=_time(data, "reviewed_at"),
        attempted_at=_time(data, "attempted_at"),
        not_before=_time(data, "not_before"),
    )


def _count(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _unreadable(name)
    return value


def _time(data: Mapping[str, Any], name: str) -> float:
    value = data.get(name, 0.0)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < float("inf"):
        raise _unreadable(name)
    return float(value)


def _unreadable(name: str) -> CadenceError:
    return CadenceError(
        f"The review schedule cannot be read: `{name}` is not what it should be. No review was started.",
        hint="run `noforgetti doctor`",
    )
