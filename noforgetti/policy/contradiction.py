"""Two texts of which one forbids what the other asks for or permits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clash:
    """The clause of the new text and the clause of the old one that cannot both hold."""

    new: str
    old: str


def contradicts(new: str, old: str, *, new_negative: bool = False, old_negative: bool = False) -> Clash | None:
    """The first pair of clauses that clash, or None."""
    return None
