"""A promotion: the proposal that a memory with enough evidence becomes something stronger, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noforgetti.model.entry import Category, EntryId


class Destination(StrEnum):
    """What a memory may become. `MEMORY` means that it stays what it is; it is never queued."""

    MEMORY = "memory"
    SKILL = "skill"
    ENFORCEMENT = "enforcement"
    PROJECT_RULE = "project_rule"
    DISCARD = "discard"


class Status(StrEnum):
    """Where a promotion stands. What is applied or rejected is settled: no pass proposes it again."""

    PROPOSED = "proposed"
    APPLIED = "applied"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Promotion:
    """One block of `promotions.md`. `id` is 12 hex digits; `text` is the entry's when it was proposed; `created` and
    `skill_created` are RFC 3339 UTC times; empty fields are not written."""

    id: str
    destination: Destination
    entry: EntryId
    category: Category
    text: str
    reason: str = ""
    created: str = ""
    status: Status = Status.PROPOSED
    evidence: int = 0
    trigger: str = ""
    action: str = ""
    verifier: str = ""
    skill_name: str = ""
    skill_created: str = ""

    @property
    def open(self) -> bool:
        """True while nobody decided."""
        return self.status is Status.PROPOSED
