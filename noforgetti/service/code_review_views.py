"""Documents about what reviews of code leave behind: guidelines, and comments on pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noforgetti.policy import wording
from noforgetti.policy.text import fence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noforgetti.model.code_review import Comment, PullRequest, Said
    from noforgetti.service.guidelines import Changed, Guideline
    from noforgetti.service.pr_reviews import Added, Imported, Matched


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


def added_view(added: Added) -> dict[str, Any]:
    """What became of a review that was handed in."""
    refusal = added.learned.refusal if added.learned else None
    outcome = "refused" if refusal else "added" if added.kept else "duplicate"
    return {
        "outcome": outcome,
        "pull": str(added.pull),
        "kept": added.kept,
        "known": added.known,
        "masked": added.masked,
        "guidelines": guideline_changed_view(added.learned) if added.learned else None,
        "reason": refusal.message if refusal else "",
        "rule": refusal.rule if refusal else None,
        "hint": refusal.hint if refusal else "",
    }


def matched_view(pull: PullRequest, found: Sequence[Matched]) -> dict[str, Any]:
    """The comments of a new review in three groups: settled, posted on this pull request already, new. `index` counts
    them from 0, as the list that was handed in does."""
    groups: dict[str, list[dict[str, Any]]] = {"dismissed": [], "posted": [], "new": []}
    for at, one in enumerate(found):
        row = {"index": at, **_where(one.comment), "body": _shown(one.comment.body)}
        if one.by is not None and one.by.comment.dismissed:
            reason = _shown(one.by.comment.skip_reason or one.by.comment.response)
            groups["dismissed"].append({**row, "reason": reason, "by": said_view(one.by)})
        elif one.by is not None and str(one.by.pull).casefold() == str(pull).casefold():
            groups["posted"].append({**row, "by": said_view(one.by)})
        else:
            groups["new"].append(row)
    return {"pull": str(pull), **groups}


def said_view(said: Said) -> dict[str, Any]:
    """One comment as it was said."""
    comment = said.comment
    return {
        "pull": str(said.pull),
        "head": said.head,
        "time": said.time,
        **_where(comment),
        "body": _shown(comment.body),
        "severity": comment.severity,
        "status": comment.status.value,
        "skip_reason": _shown(comment.skip_reason),
        "resolution_status": comment.resolution.value if comment.resolution else None,
        "author_response": _shown(comment.response),
        "thread_id": comment.thread,
        "comment_id": comment.number,
        "posted_at": comment.posted,
    }


def resolved_view(pull: PullRequest, path: str, line: int | None, said: Said | None) -> dict[str, Any]:
    """Whether a comment was found, and what it says now."""
    at = f"`{path}`" if line is None else f"line {line} of `{path}`"
    return {
        "outcome": "updated" if said else "nothing",
        "matched": said is not None,
        "comment": said_view(said) if said else None,
        "reason": "" if said else f"No comment was posted on {at} in {pull}. Nothing was written.",
        "hint": "" if said else f"list what was said with `noforgetti pr-reviews history {pull}`",
    }


def history_view(pull: PullRequest, found: Sequence[Said]) -> dict[str, Any]:
    """All that was said of a pull request."""
    return {"pull": str(pull), "comments": [said_view(one) for one in found]}


def imported_view(imported: Imported) -> dict[str, Any]:
    """What an import came to."""
    return {
        "outcome": "imported" if imported.kept else "duplicate",
        "kept": imported.kept,
        "known": imported.known,
        "masked": imported.masked,
        "left": [{"where": where, "why": why} for where, why in imported.left],
    }


def _where(comment: Comment) -> dict[str, Any]:
    return {"path": comment.path, "line": comment.line}


def _shown(text: str) -> str:
    """The text, unless it speaks to the model that reads it: an author of a pull request may be anybody."""
    refusal = fence(text) or wording.injection(text)
    return "(not shown: it tells the model what to do)" if refusal else text
