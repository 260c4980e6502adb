"""Imports in words: what came, what did not and why, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noforgetti.faces import text

if TYPE_CHECKING:
    from collections.abc import Sequence

_LISTED = 40  # lines of one sort; `--json` has them all
_SAID = {
    "added": "added",
    "updated": "as the source says now",
    "archived": "kept without being told: no room",
    "unchanged": "there already, unchanged",
    "duplicate": "said by an entry here already",
    "kept": "left as they are here",
    "removed-here": "removed here since, not brought back",
    "gone": "no longer in the source, kept here",
    "pruned": "removed: no longer in the source",
    "refused": "not carried over",
}
_TOLD = ("refused", "kept", "removed-here", "gone", "pruned", "archived", "updated")


def imported(doc: dict[str, Any], style: text.Style, *, planned: bool = False, selected: str = "main") -> str:
    """The report of an import, or of one that was only planned. `selected` is the branch that commands work on,
    empty for the user-wide memory."""
    lines = [_headline(doc, planned=planned)]
    for outcome, count in doc["counts"].items():
        lines.append(f"  {count:>6,}  {_SAID[outcome]}")
    for one in doc["branches"]:
        lines += [style.dim(f"  branch `{one['branch']}`: {note}") for note in one["notes"]]
        if one["opposed"]:
            lines.append(f"  {one['opposed']} contradict an entry here: both are kept, see `noforgetti candidates`")
    shown = _TOLD if not planned else (*_TOLD, "added")
    for outcome in shown:
        rows = [row for one in doc["branches"] for row in one["items"] if row["outcome"] == outcome]
        if rows:
            lines += ["", f"{_SAID[outcome][0].upper()}{_SAID[outcome][1:]}:", *_listed([_row(row) for row in rows])]
    noted = [
        f"{text.clean(row['name'])}: {text.clean(note)}"
        for one in doc["branches"]
        for row in one["items"]
        for note in row.get("notes", ())
    ]
    if noted:
        lines += ["", "Notes:", *_listed([f"  - {one}" for one in noted])]
    if doc["leftovers"]:
        found = [f"  - {text.clean(one['where'])}: {text.clean(one['why'])}" for one in doc["leftovers"]]
        lines += ["", "Left in the source, because it is no memory or cannot be read:", *_listed(found)]
    if doc["commits"]:
        lines += ["", *(style.dim(one) for one in _back(doc["branches"], selected))]
    return "\n".join(lines)


def _back(branches: Sequence[dict[str, Any]], selected: str) -> list[str]:
    """How to take the import back: a commit is undone on its own branch, and of several the newest first."""
    lines = []
    for one in branches:
        if one["commits"]:
            place = "--user " if one["wide"] else f"--branch {one['branch']} "
            at = "" if selected == ("" if one["wide"] else one["branch"]) else place
            many = len(one["commits"])
            more = f", then the {many - 1:,} before it" if many > 1 else ""
            lines.append(f"`noforgetti {at}undo {one['commits'][-1][:12]}`{more}")
    if len(lines) == 1:
        return [f"Take it back with {lines[0]}."]
    return ["Take it back with", *(f"  {one}" for one in lines)]


def _headline(doc: dict[str, Any], *, planned: bool) -> str:
    where = f"{doc['source']} (`{text.clean(doc['path'])}`)"
    if planned:
        return f"Nothing was written. An import of {where} would do this:"
    if doc["outcome"] == "nothing":
        return f"Nothing to import from {where}."
    count = len(doc["commits"])
    commits = f"commit {doc['commits'][0][:12]}" if count == 1 else f"{count:,} commits"
    return f"Imported from {where}: {commits}."


def _row(row: dict[str, Any]) -> str:
    words = text.clip(" ".join(text.clean(row.get("text") or row["name"]).split()), 90)
    own = f" [{row['entry']}]" if row["entry"] else ""
    why = f": {text.clean(row['reason'])}" if row.get("reason") else ""
    return f"  - {words}{own}{why}"


def _listed(lines: Sequence[str]) -> list[str]:
    more = [f"  … and {len(lines) - _LISTED:,} more; `--json` lists all"] if len(lines) > _LISTED else []
    return [*lines[:_LISTED], *more]


def formats(doc: dict[str, Any], style: text.Style) -> str:
    """The formats that can be imported, and where one of each lies."""
    width = max(len(one["source"]) for one in doc["formats"])
    lines = ["`noforgetti import SOURCE [PATH]` brings in one of:", ""]
    for one in doc["formats"]:
        found = f"  (found: {text.clean(one['path'])})" if one["path"] else ""
        lines.append(f"  {one['source']:<{width}}  {one['title']}{style.dim(found)}")
    return "\n".join(lines)


def restored(doc: dict[str, Any], style: text.Style) -> str:
    """What became of the branches of a bundle."""
    head = (
        "Nothing was written. This would come:"
        if doc["outcome"] == "planned"
        else f"Bundle `{text.clean(doc['path'])}`:"
    )
    lines = [head]
    for one in doc["branches"]:
        named = (
            one["branch"] if one["branch"] == one["name"] else f"{one['branch']} (there `{text.clean(one['name'])}`)"
        )
        why = style.dim(f": {text.clean(one['reason'])}") if one.get("reason") else ""
        lines.append(f"  {one['outcome']:<13} {named} at {one['commit'][:12]}{why}")
    return "\n".join(lines)
