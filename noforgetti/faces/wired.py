"""What installing and uninstalling a host says to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noforgetti.faces.text import clean

if TYPE_CHECKING:
    from noforgetti.faces.text import Style

_DONE = {
    "planned": "Nothing was written",
    "installed": "Installed",
    "upgraded": "Brought up to date",
    "unchanged": "Installed already; nothing changed",
    "removed": "Taken out again; memory stays",
    "absent": "Was not installed; nothing changed",
    "kept": "Nothing changed",
    "refused": "Nothing was installed",
}
_DEEDS = {"create": "new file", "change": "changed", "delete": "removed", "keep": "left alone", "fail": "left alone"}


def shown(doc: dict[str, Any], style: Style) -> str:
    """The change as a diff, what was done, and what is left to do."""
    lines = [line for step in doc["steps"] for line in _step(step, style)]
    lines.append(f"{doc['title']}: {_DONE[doc['outcome']]}.")
    lines += [f"Note: {warning}" for warning in doc["warnings"]]
    lines += [f"Next: {what}" for what in doc["then"]]
    lines += [f"Not possible here: {what}" for what in doc["cannot"]] if doc["outcome"] != "unchanged" else []
    return "\n".join(lines)


def listed(doc: dict[str, Any]) -> str:
    """The hosts of this machine, one a line, then what is wrong with them."""
    width = max(len(host["host"]) for host in doc["hosts"])
    lines = [f"{host['host']:{width}}  {_state(host)}" for host in doc["hosts"]]
    troubles = [trouble for host in doc["hosts"] for trouble in host["troubles"]]
    lines += [f"Note: {trouble['what']} To mend it, {trouble['hint']}." for trouble in troubles]
    return "\n".join([*lines, "", "Install one with `noforgetti install HOST`; `--dry-run` shows the change first."])


def _state(host: dict[str, Any]) -> str:
    if host["installed"]:
        return "installed" + (", with troubles" if host["troubles"] else "")
    return f"found in {host['folder']}, not installed" if host["found"] else "not found on this machine"


def _step(step: dict[str, Any], style: Style) -> list[str]:
    return [f"{step['path']} ({_DEEDS[step['deed']]})", *(_coloured(line, style) for line in _diff(step["diff"])), ""]


def _diff(diff: str) -> list[str]:
    return [f"  {line}" for line in clean(diff).split("\n")[2:]] if diff else []


def _coloured(line: str, style: Style) -> str:
    return style("32", line) if line.startswith("  +") else style("31", line) if line.startswith("  -") else line
