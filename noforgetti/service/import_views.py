"""Imports as documents."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from noforgetti.policy import guards, secrecy
from noforgetti.service.import_plan import Outcome

if TYPE_CHECKING:
    from noforgetti.service.import_plan import Row
    from noforgetti.service.importing import Import, Imported

Document = dict[str, Any]


def imported_view(done: Import) -> Document:
    """What became of a source: `outcome`, the commits, how many items of each outcome, each item, and what is left."""
    rows = [row for one in done.branches for row in one.rows]
    counts = Counter(row.outcome for row in rows)
    return {
        "outcome": done.outcome,
        "source": done.format,
        "path": done.path,
        "commits": [commit for one in done.branches for commit in one.commits],
        "counts": {str(outcome): counts[outcome] for outcome in Outcome if counts[outcome]},
        "branches": [_branch(one) for one in done.branches],
        "leftovers": [{"where": _masked(one.where), "why": _masked(one.why)} for one in done.leftovers],
    }


def _branch(one: Imported) -> Document:
    return {
        "name": _masked(one.name),
        "branch": one.branch,
        "wide": one.wide,
        "commits": list(one.commits),
        "notes": [_masked(note) for note in one.notes],
        "opposed": one.opposed,
        "items": [_row(row) for row in one.rows],
    }


def _row(row: Row) -> Document:
    """One item. A text that may not be shown is not."""
    hidden = guards.unsafe(row.text) if row.text else None
    found = {
        "name": _masked(row.name),
        "outcome": str(row.outcome),
        "entry": row.entry,
        "text": "" if hidden else row.text,
        "reason": _masked(row.reason),
        "rule": row.rule,
        "notes": [_masked(note) for note in row.notes],
    }
    return {key: value for key, value in found.items() if value or key in ("name", "outcome", "entry")}


def _masked(text: str) -> str:
    return secrecy.redact(text)[0]
