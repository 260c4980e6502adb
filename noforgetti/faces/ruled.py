"""Rules as text for people."""

from __future__ import annotations

from typing import Any

from noforgetti.faces.text import PLAIN, Style, clean, clip

_STATES = {
    "active": "active",
    "waits": "waits for your approval",
    "refused": "never run",
    "unreadable": "cannot be read, so it never fires",
}


def listed(doc: dict[str, Any], style: Style = PLAIN) -> str:
    """Every rule: what it does, whether it is in force, and what is odd about it."""
    if not doc["rules"]:
        return "No entry has a rule."
    return "\n".join(line for one in doc["rules"] for line in _lines(one, style))


def _lines(one: dict[str, Any], style: Style) -> list[str]:
    named = [f"{one['trigger']}: {one['action']}" if one["trigger"] else "", one["verifier"] or ""]
    what = "; ".join(clean(part) for part in named if part)
    colour = "32" if one["state"] == "active" else "33"
    lines = [f"{style.bold(one['id'])} {style(colour, _STATES[one['state']])}", f"  {clip(one['text'], 100)}"]
    lines += [f"  {what}"] if what else []
    lines += [f"  runs `{clean(one['command'])}`"] if one["command"] else []
    if one["state"] == "waits":
        lines.append(f"  approve it with `noforgetti rules approve {one['id']}`")
    lines += [style("33", f"  Note: {clean(note)}") for note in one["advice"]]
    return lines


def bound(doc: dict[str, Any], style: Style = PLAIN) -> str:
    """What became of binding, taking off or approving a rule."""
    name = f"`{doc['entry']['id']}`" if doc["entry"] else "the entry"
    commit = f", commit {doc['commit'][:12]}" if doc["commit"] else ""
    text = {
        "bound": f"Bound the rule to {name}{commit}.",
        "cleared": f"Took the rule off {name}{commit}.",
        "approved": f"The rule of {name} may run its command on this machine.",
        "nothing": f"Nothing to do: {name} has nothing to take off or to approve.",
    }[doc["outcome"]]
    return "\n".join([text, *(style("33", f"Note: {clean(one)}") for one in doc["advice"])])


def fired(doc: dict[str, Any], style: Style = PLAIN) -> str:
    """Which rules would fire for a call."""
    if not doc["fires"]:
        return "No rule would fire."
    return "\n".join(
        f"{style.bold(one['id'])} would {one['action'] or 'verify'}: {clip(one['text'], 100)}" for one in doc["fires"]
    )
