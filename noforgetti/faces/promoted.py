"""Promotions and skills as text for people and agents. Imports nothing that start-up would feel; decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.faces.text import PLAIN, clean, operation

if TYPE_CHECKING:
    from noforgetti.faces.text import Document, Style

_BECOMES = {
    "enforcement": "a rule",
    "skill": "a skill",
    "project_rule": "a rule of the project",
    "discard": "nothing",
    "memory": "what it is",
}


def promotions(doc: Document, style: Style = PLAIN) -> str:
    """One block a promotion: id, where it stands, what it would become and why, and the memory's text."""
    lines: list[str] = []
    for one in doc["promotions"]:
        lines.append(f"{style('33', one['id'])} {one['status']}: {_becomes(one)} {style.dim('(' + _why(one) + ')')}")
        body = clean(one["text"]).replace("\n", "\n  ")
        lines.append(f"  {body} {style.dim('[' + one['entry'] + ']')}")
    if not lines:
        lines.append(f"No {'' if doc['settled'] else 'open '}promotions on branch `{doc['branch']}`.")
    lines += [style("33", f"Block {own} of promotions.md cannot be read; it is kept.") for own in doc["broken"]]
    return "\n".join(lines)


def promotion(doc: Document, style: Style = PLAIN) -> str:
    """One promotion with everything that is known of it."""
    rows = [(key.replace("_", " "), doc[key]) for key in doc if key not in ("text", "hidden") and doc[key]]
    lines = [f"{style.bold(key.ljust(13))} {clean(str(value))}" for key, value in rows]
    return "\n".join([*lines, "", clean(doc["text"])])


def decided(doc: Document, style: Style = PLAIN) -> str:
    """The outcome of accepting, rejecting or taking back."""
    one = doc["promotion"]
    if doc["outcome"] == "nothing":
        return f"Nothing to do: {doc['reason']}." + _handed_out(doc)
    verb = {"accepted": "Accepted", "rejected": "Rejected", "undone": "Took back"}[doc["outcome"]]
    lines = [f"{verb} {style('33', one['id'])}, commit {doc['commit'][:12]}{_effect(doc)}"]
    lines += ["  " + line.replace("\n", "\n  ") for op in doc["operations"] for line in operation(op, style)]
    lines += [style("33", f"Note: {clean(one)}") for one in doc["warnings"]]
    return "\n".join(lines) + _handed_out(doc)


def passed(some: list[Document], *, decide: str) -> list[str]:
    """A line for each promotion that a reinforcement led to; `decide` is what a user does about a proposed one."""
    lines = []
    for one in some:
        if one["status"] == "applied":
            lines.append(f"It was made {_becomes(one)} (promotion {one['id']}): {_why(one)}.")
        else:
            lines.append(f"It may become {_becomes(one)} (promotion {one['id']}); {decide}.")
    return lines


def skills(doc: Document, style: Style = PLAIN) -> str:
    """One line a skill, and why one is not offered."""
    lines = []
    for one in doc["skills"]:
        mark = " (deleted)" if one["archived"] else ""
        lines.append(f"{style.bold(one['name'])}{mark} {clean(one['description'])}".rstrip())
        if one["reason"]:
            lines.append(f"  {style('33', 'not offered: ' + clean(one['reason']))}")
    return "\n".join(lines) or f"No skills on branch `{doc['branch']}`."


def skill(doc: Document, _: Style = PLAIN) -> str:
    """A skill's file."""
    note = f"Not offered to a host: {doc['reason']}\n\n" if doc["reason"] else ""
    return clean(note + doc["text"]).rstrip("\n")


def skill_changed(doc: Document, _: Style = PLAIN) -> str:
    """The outcome of writing or deleting a skill."""
    if doc["outcome"] == "nothing":
        return f"Skill `{doc['name']}` says exactly that already; nothing was written."
    commit = f"commit {doc['commit'][:12]}"
    if doc["outcome"] == "deleted":
        return f"Deleted skill `{doc['name']}`, {commit}; `noforgetti skills undo {doc['name']}` brings it back."
    return f"Saved skill `{doc['name']}`, {commit}. A session sees it from its next start on."


def _becomes(one: Document) -> str:
    if one["destination"] == "skill" and one["skill_name"]:
        return f"the skill `{clean(one['skill_name'])}`"
    if one["destination"] == "enforcement" and one["trigger"]:
        return f"a rule: {clean(one['action'])} on `{clean(one['trigger'])}`"
    return _BECOMES[one["destination"]]


def _why(one: Document) -> str:
    evidence = f", evidence {one['evidence']}" if one["evidence"] else ""
    return clean(one["reason"] or "no reason given") + evidence


def _effect(doc: Document) -> str:
    one = doc["promotion"]
    if doc["outcome"] == "undone":
        return "; it is open again."
    if doc["outcome"] == "rejected":
        return "; it is not proposed again."
    if one["destination"] == "skill":
        return f": skill `{one['skill_name']}`. A session sees it from its next start on."
    if one["destination"] == "enforcement":
        if one["trigger"]:
            return f": {one['action']} on `{clean(one['trigger'])}`."
        return ": its words name nothing to watch, so the entry is pinned. Give --trigger to bind a rule."
    return ": removed from the branch." if one["destination"] == "discard" else "."


def _handed_out(doc: Document) -> str:
    if not doc["text"]:
        return ""
    told = "Copy it to where the project keeps its rules; noforgetti writes into no file of yours:"
    return f"\n{told}\n\n{clean(doc['text'])}"
