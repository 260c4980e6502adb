"""What faces show of a dream, as plain JSON-like documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.model.change import Merge
from noforgetti.service.views import change_view

if TYPE_CHECKING:
    from noforgetti.model.change import Change
    from noforgetti.service.dream import Dreamt
    from noforgetti.service.memory import Memory
    from noforgetti.service.views import Document


def dreamt_view(memory: Memory, done: Dreamt) -> Document:
    """How a dream went: what it did to entries and candidates, what was left out, and how large the memory was and
    is."""
    thought = done.thought
    merges = [one for one in (thought.operations if thought else ()) if isinstance(one, Merge)]
    into: dict[str, str] = {gone: one.ids[0] for one in merges for gone in one.ids}
    return {
        "outcome": done.outcome,
        "branch": done.branch,
        "reviewer": thought.reviewer if thought else None,
        "commit": done.commit,
        "before": done.before,
        "after": done.after,
        "goal": memory.limits.goal,
        "merged": done.merged,
        "archived": done.archived,
        "distilled": done.distilled,
        "discarded": done.discarded,
        "pruned": done.pruned,
        "operations": [_operation(change, into) for change in done.changes],
        "candidates": [
            {"id": one.candidate, "outcome": one.outcome, "entry": one.entry or None, "reason": one.reason or None}
            for one in (thought.resolved if thought else ())
        ],
        "refused": [
            {
                "action": one.action,
                "rule": one.refusal.rule,
                "reason": one.refusal.message,
                "target": one.target or None,
            }
            for one in (thought.refused if thought else ())
        ],
        "flags": [
            {"entry": one.entry_id, "destination": one.destination, "reason": one.reason}
            for one in (thought.flags if thought else ())
        ],
        "reason": done.reason or None,
        "hint": done.hint or None,
    }


def _operation(change: Change, into: dict[str, str]) -> Document:
    """An operation of a dream: `merge` for an entry whose facts `into` says now, `archive` for one set aside."""
    found = change_view(change)
    if change.after is None and change.id in into:
        found |= {"operation": "merge", "into": into[change.id]}
    elif change.after is not None and change.after.archived and not (change.before and change.before.archived):
        found["operation"] = "archive"
    return found
