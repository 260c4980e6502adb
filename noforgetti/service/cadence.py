"""When reviews run, kept in the project's state and shared by all its sessions: every step is one transaction."""

from __future__ import annotations

import os
import re
import secrets
import time
from typing import TYPE_CHECKING, Any

from noforgetti.review import schedule
from noforgetti.review.schedule import Cadence, CadenceError, Claim, Reason, Settlement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from noforgetti.service.memory import Memory


def record(memory: Memory, branch: str, prompts: Iterable[str]) -> None:
    """Count the completed prompts of a run."""
    _step(memory, branch, lambda cadence: schedule.record(cadence, prompts))


def due(memory: Memory, branch: str, *, forced: bool = False) -> Reason:
    """Whether a review of the branch should start now."""
    return schedule.due(_freed(_read(memory, branch)), memory.clock(), forced=forced)


def claim(memory: Memory, branch: str, *, forced: bool = False) -> Claim | Reason:
    """The right to run the one review of the branch, or why not. A claim whose process is gone is taken over."""
    with memory.state.transaction():
        answer = schedule.claim(_freed(_read(memory, branch)), memory.clock(), token=own_token(), forced=forced)
        if isinstance(answer, Reason):
            return answer
        cadence, mine = answer
        memory.state.put_cadence(branch, schedule.to_dict(cadence))
    return mine


def settle(memory: Memory, branch: str, mine: Claim, settlement: Settlement) -> None:
    """End a claimed review. A claim that was taken over settles nothing."""
    _step(memory, branch, lambda cadence: schedule.settle(cadence, mine, settlement, memory.clock()))


def cadence_view(memory: Memory, branch: str) -> dict[str, Any]:
    """What `status` says of it."""
    cadence = _freed(_read(memory, branch))
    reason = schedule.due(cadence, memory.clock())
    found: dict[str, Any] = {
        "state": "running" if reason is Reason.RUNNING else "due" if reason.due else "idle",
        "turns": cadence.turns,
        "signal": cadence.score,
        "failures": cadence.failures,
    }
    if reason is Reason.BACKING_OFF:
        found.update(
            state="backing-off",
            next_attempt=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(cadence.not_before)),
        )
    return found


def _step(memory: Memory, branch: str, step: Callable[[Cadence], Cadence]) -> None:
    with memory.state.transaction():
        cadence = _read(memory, branch)
        moved = step(cadence)
        if moved != cadence:
            memory.state.put_cadence(branch, schedule.to_dict(moved))


def _read(memory: Memory, branch: str) -> Cadence:
    stored = memory.state.cadence(branch)
    if stored is None:
        return Cadence()
    try:
        return schedule.from_dict(stored)
    except CadenceError:
        # Derived state: counting anew delays a review by some turns. The trace says that it happened.
        memory.state.trace("warning", f"the review schedule of branch `{branch}` could not be read and was begun anew")
        return Cadence()


def _freed(cadence: Cadence) -> Cadence:
    """The cadence without a claim whose process has died: a killed host must not hold reviews back for a lease."""
    from dataclasses import replace

    if cadence.claim is not None and not alive(cadence.claim.token):
        return replace(cadence, claim=None)
    return cadence


def own_token() -> str:
    """A name for this process that no later one has."""
    return f"{os.getpid()}.{_born(os.getpid())}.{os.uname().nodename}.{secrets.token_hex(8)}"


def alive(token: str) -> bool:
    """Whether the process of that name may still run; on another machine nobody can tell."""
    pid, born, *rest = token.split(".") if token.count(".") > 2 else ("", "")
    if not re.fullmatch("[0-9]{1,9}", pid) or ".".join(rest).rpartition(".")[0].rstrip(".") != os.uname().nodename:
        return True  # another machine's process: only its lease can tell
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return _born(int(pid)) == born  # the same number may belong to a later process


def _born(pid: int) -> str:
    """When the process started, as the kernel counts; empty where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
