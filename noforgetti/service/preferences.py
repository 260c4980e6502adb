"""Preferences that the user states in a prompt: queued as candidates with their session, never stored directly."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from noforgetti.errors import NoForgettiError
from noforgetti.model.candidate import Candidate, CandidateKind
from noforgetti.model.commit import one_line
from noforgetti.model.entry import MAIN, Category, Writer
from noforgetti.policy.beside import beside
from noforgetti.policy.stated import stated
from noforgetti.service import candidates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.service.memory import Memory

COOLDOWN = 3_600.0  # seconds in which the same sentence is not queued again: the reference's hour


def hear(memory: Memory, branch: str, prompts: Iterable[str], session: str) -> tuple[Candidate, ...]:
    """Queue what the user stated as a standing preference, and what no entry says already; answers what waits by it.

    A sentence that was heard within the hour is not queued again, whatever became of it. Raises what the store raises.
    """
    said = tuple(dict.fromkeys(one for prompt in prompts if not prompt.startswith("/") for one in stated(prompt)))
    fresh = [one for one in said if not _known(memory, branch, one)]
    fresh = [one for one in fresh if memory.state.first_heard(_name(branch, one), memory.clock(), COOLDOWN)]
    waiting = [
        Candidate(
            "",
            CandidateKind.PREFERENCE,
            one,
            "stated in a prompt",
            session=session,
            writer=Writer.USER,
            category=Category.PREFERENCE,
        )
        for one in fresh
    ]
    try:
        return candidates.queue(memory, branch, waiting, by=Writer.USER) if waiting else ()
    except NoForgettiError:
        for one in fresh:
            memory.state.unheard(_name(branch, one))
        raise


def _known(memory: Memory, branch: str, sentence: str) -> bool:
    """Whether the project's memory or the user's own says it already."""
    return any(
        beside(sentence, [one for one in entries if not one.archived]).repeats is not None
        for entries in (memory.snapshot(branch), memory.wide.snapshot(MAIN))
    )


def _name(branch: str, sentence: str) -> str:
    """A sentence may hold what must not be written down; its digest does not."""
    return hashlib.sha256(f"{branch}\0{one_line(sentence).casefold()}".encode("utf-8", "replace")).hexdigest()
