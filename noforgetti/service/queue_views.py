"""The documents of what waits: candidates, sessions to review, dreams, reviews that back off."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from noforgetti.service import backlog, cadence, candidates
from noforgetti.service.views import refusal_view

if TYPE_CHECKING:
    from noforgetti.model.candidate import Candidate
    from noforgetti.service.accepting import Accepted
    from noforgetti.service.memory import Memory
    from noforgetti.service.worker import Work

Document = dict[str, Any]


def candidate_view(one: Candidate) -> Document:
    """One candidate."""
    return {
        "id": one.id,
        "kind": str(one.kind),
        "text": one.text,
        "reason": one.reason,
        "entry": one.entry or None,
        "session": one.session,
        "said": one.said,
        "at": one.at,
        "writer": str(one.writer),
        "category": str(one.category) if one.category else None,
    }


def candidates_view(memory: Memory, branch: str) -> Document:
    """What waits on a branch, the oldest first; `reason` says what could not be read."""
    queue = candidates.read(memory, branch)
    return {"branch": branch, "candidates": [candidate_view(one) for one in queue.candidates], "reason": queue.reason}


def accepted_view(done: Accepted) -> Document:
    """What became of an accepted candidate, in the words of a write."""
    from noforgetti.service.views import change_view, written_view

    doc = written_view(done.written) if done.written is not None else {"branch": done.branch, "entry": None}
    return {
        **doc,
        "outcome": done.outcome,
        "commit": done.commit,
        "candidate": candidate_view(done.candidate),
        "operations": [change_view(one) for one in done.changes],
        **refusal_view(done.refusal),
    }


def queue_view(memory: Memory) -> Document:
    """Everything that is due or waits, of all branches of the project."""
    branches = [str(name) for name in memory.heads()] or ["main"]
    return {
        "sessions": [
            {
                "branch": one.branch,
                "session": one.session,
                "file": one.file,
                "prompts": one.unread,
                "messages": one.messages,
                "since": one.since,
            }
            for one in backlog.due(memory)
        ],
        "branches": [_branch(memory, name) for name in branches],
    }


def _branch(memory: Memory, name: str) -> Document:
    from noforgetti.model.promotion import Status
    from noforgetti.service import dream, promotions

    at = dream.next_at(memory, name)
    return {
        "branch": name,
        "review": cadence.cadence_view(memory, name),
        "dream": {"due": dream.due(memory, name), "next": _time(at)},
        "candidates": len(candidates.pending(memory, name)),
        "promotions": sum(one.status is Status.PROPOSED for one in promotions.queue(memory, name)),
    }


def work_view(done: list[Work], *, running: bool) -> Document:
    """What a worker did; `running`: another one was at it already."""
    return {
        "outcome": "running" if running else "done" if done else "nothing",
        "work": [
            {
                "what": one.what,
                "branch": one.branch,
                "session": one.session or None,
                "outcome": one.outcome,
                "commit": one.commit,
                "reason": one.reason,
            }
            for one in done
        ],
    }


def _time(at: float | None) -> str | None:
    return None if at is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(max(0.0, at)))
