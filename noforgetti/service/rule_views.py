"""Rules as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noforgetti.policy.enforcement import BadRule, Call, EnforcedRule, fires
from noforgetti.service.views import entry_view, refusal_view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.service.rules import Bound, Listed


def rules_view(branch: str, rules: Iterable[Listed]) -> dict[str, Any]:
    """Every rule of a branch."""
    return {"branch": branch, "rules": [rule_view(one) for one in rules]}


def rule_view(one: Listed) -> dict[str, Any]:
    """One rule, its state (`active`, `waits`, `refused`, `unreadable`) and what is odd about it."""
    shown = entry_view(one.entry)
    found: dict[str, Any] = {
        "id": one.entry.id,
        "text": shown["text"],
        "scope": one.scope,
        "state": one.state,
        "trigger": None,
        "action": None,
        "command": None,
        "verifier": None,
        "advice": list(one.advice),
    }
    if isinstance(one.rule, BadRule):
        return found | {"advice": [f"The rule cannot be read: {one.rule.reason}."]}
    return found | _said(one.rule)


def bound_view(bound: Bound) -> dict[str, Any]:
    """The outcome of a change of rules."""
    return {
        "outcome": bound.outcome,
        "branch": bound.branch,
        "commit": bound.commit,
        "entry": entry_view(bound.entry) if bound.entry else None,
        "advice": list(bound.advice),
        **refusal_view(bound.refusal),
    }


def tested_view(branch: str, rules: Iterable[Listed], call: Call) -> dict[str, Any]:
    """Which rules would fire for a call."""
    fired = [one for one in rules if isinstance(one.rule, EnforcedRule) and fires(one.rule, call)]
    return {"branch": branch, "tool": call.tool, "fires": [rule_view(one) for one in fired]}


def _said(rule: EnforcedRule) -> dict[str, Any]:
    return {
        "trigger": str(rule.trigger) if rule.trigger else None,
        "action": rule.action,
        "command": rule.command or None,
        "verifier": str(rule.verifier) if rule.verifier else None,
    }
