"""What a memory with enough evidence should become: a rule, a skill, a rule of the project, nothing, or what it is.

Destinations and thresholds are the reference's (memory architecture, promotion): 3 pieces of evidence for enforcement
and for a skill, 5 for a project rule. The writing itself is the first piece. Only a rule that the words imply without
any doubt is applied by itself (`policy.implied_rule`); everything else is proposed, and a user decides.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from noforgetti.model.entry import Category, Scope
from noforgetti.model.promotion import Destination
from noforgetti.policy import enforcement, guards
from noforgetti.policy.implied_rule import BLOCK, WARN, Implied, implied
from noforgetti.policy.masking import mask
from noforgetti.policy.names import slug
from noforgetti.policy.steps import LEAST, steps, title
from noforgetti.policy.verdict import Refusal, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from noforgetti.model.entry import Entry

THRESHOLD: Mapping[Destination, int] = MappingProxyType(  # pieces of evidence; a discard needs none, it needs a reason
    {Destination.ENFORCEMENT: 3, Destination.SKILL: 3, Destination.PROJECT_RULE: 5, Destination.DISCARD: 0}
)
_LEAST = min(count for count in THRESHOLD.values() if count)
_STEP = 3  # above the first threshold, every third piece is a new occasion (the reference's)

_ENFORCEABLE = frozenset({Category.LESSON, Category.MISTAKE, Category.PREFERENCE})
_PROCEDURAL = frozenset({Category.PATTERN, Category.LESSON, Category.DONE})
_ORDER = re.compile(r"\b(?:always|never|must(?:\s+not|n['’]t)?|do\s+not|don['’]t)\b", re.IGNORECASE)
_PROJECT = re.compile(
    r"\b(?:always|never|must(?:\s+not|n['’]t)?|conventions?|in\s+this\s+(?:repo|repository|project|codebase)"
    r"|project[- ]wide|across\s+the\s+(?:project|codebase|repo)|by\s+convention)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One thing that a memory may become, and why. `rule` is what its words imply; `name` a skill's."""

    destination: Destination
    reason: str
    rule: Implied | None = None
    name: str = ""

    @property
    def sure(self) -> bool:
        """True when it may be applied without asking."""
        return self.rule is not None and self.rule.sure


def judge(entry: Entry, evidence: int, *, useless: str = "") -> tuple[Judgement, ...]:
    """Everything that the entry may become with so much evidence, the strongest first; empty: it stays a memory.

    `useless` says why nobody would miss it, if so.
    """
    if entry.archived or (evidence < _LEAST and not useless) or guards.unsafe(entry.text):
        return ()  # without much evidence, which is nearly every entry of a pass, its words need not be read
    if useless and not entry.pinned and not entry.enforced:
        return (Judgement(Destination.DISCARD, useless),)
    found = (_skill(entry), _enforcement(entry), _project_rule(entry))
    return tuple(one for one in found if one is not None and evidence >= THRESHOLD[one.destination])


def crosses(before: int, after: int) -> bool:
    """True when evidence that grew from `before` to `after` reached a threshold: 3, 5, and above 3 every third."""
    return any(count in (3, 5) or (count > 3 and count % _STEP == 0) for count in range(before + 1, after + 1))


def promotion_id(destination: Destination, category: Category, text: str) -> str:
    """The id of a promotion: the first 12 hex digits of SHA-256 of `destination|category|text` (the reference's)."""
    return hashlib.sha256(f"{destination}|{category}|{text}".encode("utf-8", "replace")).hexdigest()[:12]


def rule_text(trigger: str, action: str, verifier: str = "") -> str | Refusal:
    """The rule as an entry holds it, or why a promotion may not bind it. Only what blocks or warns: a command that is
    to be run is never taken from a file that somebody else may have written."""
    if action not in (BLOCK, WARN):
        what = f"A promotion cannot bind the action `{action[:80]}`"
        return Refusal(Rule.FORMAT, f"{what}. Nothing was written.", "use `--action block` or `--action warn`")
    rule = enforcement.made(trigger, action, verifier=verifier)
    if isinstance(rule, enforcement.BadRule):
        return Refusal(Rule.FORMAT, f"This is no rule: {rule.reason}. Nothing was written.", "give another --trigger")
    return enforcement.encode(rule)


def skill_name(text: str, own: str) -> str:
    """A name for the skill that a text tells: at most 40 characters, lower-case words joined by hyphens."""
    return slug(title(text)).removeprefix("the-").removeprefix("a-") or f"skill-{slug(own).rpartition('-')[2]}"


def _skill(entry: Entry) -> Judgement | None:
    if entry.category not in _PROCEDURAL:
        return None
    found = steps(entry.text)
    if len(found) < LEAST:
        return None
    return Judgement(Destination.SKILL, f"it tells {len(found)} steps", name=skill_name(entry.text, entry.id))


def _enforcement(entry: Entry) -> Judgement | None:
    if entry.enforced or entry.category not in _ENFORCEABLE:
        return None
    rule = implied(entry.text)
    if rule is not None:
        sure = "its words say it plainly" if rule.sure else "its words limit it, or leave room for doubt"
        return Judgement(Destination.ENFORCEMENT, sure, rule)
    if _ORDER.search(mask(entry.text)[0]):
        return Judgement(Destination.ENFORCEMENT, "it is an order, but names no command, tool or file to watch")
    return None


def _project_rule(entry: Entry) -> Judgement | None:
    if (
        entry.enforced
        or entry.scope is Scope.USER
        or not _PROJECT.search(mask(entry.text)[0])
        or implied(entry.text) is not None
    ):
        return None
    return Judgement(Destination.PROJECT_RULE, "it reads like a convention of the whole project")
