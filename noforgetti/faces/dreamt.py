"""Dreams as text for people."""

from __future__ import annotations

from typing import Any

from noforgetti.faces import text
from noforgetti.faces.text import PLAIN, Style

Document = dict[str, Any]


def dreamt(doc: Document, style: Style = PLAIN) -> str:
    """What a dream did, what it left out, and how to take it back."""
    lines = [_head(doc), *(f"  {line}" for line in operations(doc, style))]
    lines += [f"  candidate {one['id']} {one['outcome']}{_because(one)}" for one in doc["candidates"]]
    lines += [style.dim(f"  left out ({one['rule']}): {text.clean(one['reason'])}") for one in doc["refused"]]
    lines += [f"  proposed as {one['destination']}: {one['entry']}" for one in doc["flags"]]
    if doc["commit"]:
        lines.append(f"Take it back with `noforgetti undo {doc['commit'][:12]}`.")
    return "\n".join(lines)


def totals(doc: Document) -> str:
    """In one line: how large the memory was and is, and what became of how much."""
    counted = [
        f"{doc[name]:,} {word}"
        for name, word in (
            ("merged", "merged into others"),
            ("archived", "set aside"),
            ("distilled", "distilled"),
            ("discarded", "discarded"),
            ("pruned", "expired"),
        )
        if doc[name]
    ]
    size = f"{doc['before']:,} → {doc['after']:,} characters (goal {doc['goal']:,})"
    return ", ".join([size, *counted])


def operations(doc: Document, style: Style = PLAIN, *, width: int = 0) -> list[str]:
    """One or two lines for each entry that changes; `width` clips each, 0 keeps the text whole."""
    lines: list[str] = []
    for one in doc["operations"]:
        said = text.clip(one["before"] or one["text"] or "", width or 10_000)
        if one["operation"] == "merge":
            lines.append(style("31", f"- {said}") + style.dim(f" (into {one['into']})"))
        elif one["operation"] == "archive":
            lines.append(style("33", f"◦ {said}") + style.dim(" (set aside)"))
        else:
            lines += text.operation(one, style, width=width)
    return lines


def _head(doc: Document) -> str:
    by = f"Dream by {doc['reviewer']} over branch `{doc['branch']}`"
    if doc["outcome"] == "no-change" and not doc["candidates"]:
        return f"{by}: the memory is in order, {doc['before']:,} characters (goal {doc['goal']:,})."
    where = f"commit {doc['commit'][:12]}" if doc["commit"] else "no entry changed"
    if doc["outcome"] == "planned":
        where = "this is what it would do; nothing was written"
    return f"{by}: {where}.\n  {totals(doc)}."


def _because(one: Document) -> str:
    if one["outcome"] == "known":
        return f": {one['entry']} says it"
    return f": {text.clean(one['reason'])}" if one["reason"] else ""
