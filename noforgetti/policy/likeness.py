"""Do two texts say the same, or may one be meant to take the other's place?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class How(StrEnum):
    """What a text is to another."""

    REPEATS = "repeats"
    MAY_REPLACE = "may-replace"


@dataclass(frozen=True, slots=True)
class Judged:
    """What words say of a pair. `open`: a cosine would settle it."""

    how: How | None = None
    by: Literal["exact", "words", "meaning"] = "words"
    likeness: float = 0.0
    open: bool = False

    def beside(self, cosine: float | None) -> Judged:
        """The same, with a cosine."""
        return self


def touches(new: str, old: str) -> bool:
    """Do the two share anything at all?"""
    return " ".join(new.casefold().split()) == " ".join(old.casefold().split())


def judge(new: str, old: str, *, new_negative: bool = False, old_negative: bool = False) -> Judged:
    """What words alone say."""
    same = touches(new, old) and new_negative == old_negative
    return Judged(How.REPEATS, "exact", 1.0) if same else Judged()
