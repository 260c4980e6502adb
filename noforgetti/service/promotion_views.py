"""What faces show of promotions and skills, as plain JSON-like documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.policy import guards
from noforgetti.service.views import change_view, refusal_view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.model.promotion import Promotion
    from noforgetti.service.promotions import Passed
    from noforgetti.service.settling import Decided
    from noforgetti.service.skills import Changed, Skill
    from noforgetti.service.views import Document
    from noforgetti.store.promotions import Queue


def promotion_view(one: Promotion) -> Document:
    """One promotion. A text that may not be shown is replaced and its rule named."""
    refusal = guards.unsafe(one.text)
    return {
        "id": one.id,
        "destination": one.destination,
        "status": one.status,
        "entry": one.entry,
        "category": one.category,
        "text": f"[hidden: {refusal.message}]" if refusal else one.text,
        "reason": _safe(one.reason),
        "created": one.created,
        "evidence": one.evidence,
        "trigger": _safe(one.trigger),
        "action": _safe(one.action),
        "verifier": _safe(one.verifier),
        "skill_name": _safe(one.skill_name),
        "skill_created": one.skill_created,
        **({"hidden": refusal.rule} if refusal else {}),
    }


def promotions_view(branch: str, known: Queue, *, settled: bool) -> Document:
    """The open promotions of a branch; with `settled` all of them."""
    shown = [promotion_view(one) for one in known if settled or one.open]
    return {"branch": branch, "promotions": shown, "settled": settled, "broken": list(known.broken)}


def decided_view(decided: Decided) -> Document:
    """The outcome of accepting, rejecting or taking back."""
    refusal = decided.refusal
    reason = refusal.message if refusal else decided.reason or None
    hint = refusal.hint if refusal else None
    if decided.outcome == "halted":
        names = ", ".join(f"`{one}`" for one in decided.conflicts)
        reason = f"It cannot be taken back: {names} changed since. Nothing was written."
        hint = "compare with `noforgetti log`"
    return {
        "outcome": decided.outcome,
        "branch": decided.branch,
        "promotion": promotion_view(decided.promotion) if decided.promotion else None,
        "commit": decided.commit,
        "operations": [change_view(change) for change in decided.changes],
        "conflicts": [{"id": one} for one in decided.conflicts],
        "reason": reason,
        "hint": hint,
        "rule": refusal.rule if refusal else None,
        "text": _safe(decided.text) or None,
        "warnings": list(decided.warnings),
    }


def passed_view(passed: Passed) -> list[Document]:
    """What a pass proposed and applied."""
    return [promotion_view(one) for one in (*passed.applied, *passed.proposed)]


def skill_view(one: Skill) -> Document:
    """One skill with its file. What no host is given says why; what may not be shown is not shown."""
    hidden = guards.unsafe(one.text)
    return {
        "name": one.name,
        "description": one.description,
        "path": one.path,
        "archived": one.archived,
        "offered": one.refusal is None and not one.archived,
        **refusal_view(one.refusal),
        "text": f"[hidden: {hidden.message}]" if hidden else one.text,
    }


def skills_view(branch: str, found: Iterable[Skill]) -> Document:
    """The skills of a branch, without their files."""
    rows = [skill_view(one) for one in found]
    return {
        "branch": branch,
        "skills": [{key: value for key, value in one.items() if key != "text"} for one in rows],
    }


def skill_changed_view(changed: Changed) -> Document:
    """The outcome of writing or deleting a skill."""
    return {
        "outcome": changed.outcome,
        "branch": changed.branch,
        "name": changed.name,
        "commit": changed.commit,
        **refusal_view(changed.refusal),
    }


def _safe(text: str) -> str:
    return "[hidden]" if text and guards.unsafe(text) else text
