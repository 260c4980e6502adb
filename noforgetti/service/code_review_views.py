"""Documents about what reviews of code leave behind: guidelines, and comments on pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noforgetti.service.guidelines import Changed, Guideline


def guidelines_view(branch: str, found: Sequence[Guideline]) -> dict[str, Any]:
    """The guidelines of a branch; `hidden` are the reasons for which some are not shown."""
    return {
        "branch": branch,
        "guidelines": [one.text for one in found if one.refusal is None],
        "hidden": [one.refusal.message for one in found if one.refusal],
    }


def guideline_changed_view(changed: Changed) -> dict[str, Any]:
    """The outcome of learning or taking out."""
    refusal = changed.refusal
    return {
        "outcome": changed.outcome,
        "branch": changed.branch,
        "commit": changed.commit,
        "guidelines": list(changed.texts),
        "known": list(changed.known),
        "reason": refusal.message if refusal else "",
        "rule": refusal.rule if refusal else None,
        "hint": refusal.hint if refusal else "",
    }
