"""Guidelines and comments on pull requests as text for people and agents. Decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.faces.text import PLAIN, clean, clip

if TYPE_CHECKING:
    from noforgetti.faces.text import Document, Style


def guidelines(doc: Document, style: Style = PLAIN) -> str:
    """One bullet a guideline, as reviewers read them."""
    lines = [f"- {clean(one)}" for one in doc["guidelines"]]
    if not lines:
        lines = [f"No review guidelines on branch `{doc['branch']}`."]
    return "\n".join([*lines, *(style("33", f"One is not shown: {clean(one)}") for one in doc["hidden"])])


def guideline_changed(doc: Document, style: Style = PLAIN) -> str:
    """The outcome of learning or taking out."""
    verb = {"added": "Learned", "removed": "Took out"}.get(doc["outcome"], "")
    lines = [f"{verb} commit {doc['commit'][:12]}"] if verb else []
    lines += [f"  {'-' if doc['outcome'] == 'removed' else '+'} {clean(one)}" for one in doc["guidelines"]]
    return "\n".join([*lines, *(style.dim(f"Known already: {clean(one)}") for one in doc["known"])])


def added(doc: Document, style: Style = PLAIN) -> str:
    """What became of a review that was handed in."""
    lines = [f"Kept {_comments(doc['kept'])} on {doc['pull']}{_known(doc)}."]
    lines += _masked(doc, style)
    if doc["guidelines"]:
        lines.append(guideline_changed(doc["guidelines"], style))
    return "\n".join(lines)


def matched(doc: Document, style: Style = PLAIN) -> str:
    """The comments that must not be raised again, each with why; those that stand there already; how many are new."""
    lines: list[str] = []
    for one in doc["dismissed"]:
        by = one["by"]
        verdict = "skipped" if by["status"] == "skipped" else "the author's answer was accepted"
        lines.append(f"{style('33', 'settled')} {_place(one)}: {clip(one['body'])}")
        lines.append(f"  {verdict} in {by['pull']}, {by['time'][:10]}: {clip(one['reason'], 200) or 'no reason kept'}")
    for one in doc["posted"]:
        lines.append(f"{style('33', 'posted')} {_place(one)}: {clip(one['body'])}")
        lines.append(f"  on {one['by']['time'][:10]}; {(one['by']['resolution_status'] or 'open').replace('_', ' ')}")
    lines += [f"{style('32', 'new')} {_place(one)}: {clip(one['body'])}" for one in doc["new"]]
    counts = [len(doc[group]) for group in ("dismissed", "posted", "new")]
    total = f"{_comments(sum(counts))}: {counts[0]} settled before, {counts[1]} posted already, {counts[2]} new."
    return "\n".join([*lines, total])


def resolved(doc: Document, style: Style = PLAIN) -> str:
    """What a comment says now."""
    return "Updated:\n" + _said(doc["comment"], style)


def history(doc: Document, style: Style = PLAIN) -> str:
    """One block a comment, oldest first."""
    if not doc["comments"]:
        return f"Nothing is kept of {doc['pull']}."
    return "\n".join(_said(one, style) for one in doc["comments"])


def imported(doc: Document, style: Style = PLAIN) -> str:
    """What an import came to."""
    lines = [f"Took over {_comments(doc['kept'])}{_known(doc)}.", *_masked(doc, style)]
    return "\n".join(
        [*lines, *(style("33", f"Left: {clean(one['where'])}: {clean(one['why'])}") for one in doc["left"])]
    )


def recovered(doc: Document, style: Style = PLAIN) -> str:
    """What was saved of a damaged store."""
    if doc["outcome"] == "nothing":
        return "The comments on pull requests can be read; nothing was changed."
    return f"Saved {_comments(doc['kept'])}; the damaged file is kept as {style.bold(clean(doc['aside']))}."


def _said(one: Document, style: Style) -> str:
    head = f"{one['time'][:10]} {one['status']}{' ' + clean(one['severity']) if one['severity'] else ''} {_place(one)}"
    lines = [style.bold(head), "  " + clean(one["body"]).replace("\n", "\n  ")]
    if one["skip_reason"]:
        lines.append(f"  skipped: {clip(one['skip_reason'], 400)}")
    if one["resolution_status"]:
        lines.append(f"  {one['resolution_status'].replace('_', ' ')}")
    if one["author_response"]:
        lines.append(f"  author: {clip(one['author_response'], 400)}")
    return "\n".join(lines)


def _place(one: Document) -> str:
    path = clean(one["path"]) or "(no file)"
    return path if one["line"] is None else f"{path}:{one['line']}"


def _comments(count: int) -> str:
    return "1 comment" if count == 1 else f"{count} comments"


def _known(doc: Document) -> str:
    return f", {doc['known']} were there already" if doc["known"] else ""


def _masked(doc: Document, style: Style) -> list[str]:
    found = "1 secret was" if doc["masked"] == 1 else f"{doc['masked']} secrets were"
    return [style("33", f"{found} masked.")] if doc["masked"] else []
