"""Was a finding of a review settled before, so that it must not be raised again?

Taking a new finding for a settled one hides a fault, and raising a settled one again costs a reader a minute: so this
errs towards raising it. A finding is a former one where both are about one file and say the same, or where they stand
near each other and share most of their words; it never is where they name other code or other numbers. The newest
former comment decides: what was skipped once and posted later is open again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from noforgetti.policy.likeness import Likeness, judge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.model.code_review import Comment, Said

NEAR = 10  # lines: as far as edits above a finding usually move it from one push to the next; a hunk's context is 3
ALIKE = (
    0.6  # share of words; of 16 pairs of findings in other words, the same ones reach 0.67 and other ones stay at 0.5
)
_CODE = re.compile(r"`([^`\n]{1,300})`")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*(?![\w.])")


def former(new: Comment, said: Iterable[Said]) -> Said | None:
    """The newest comment that is the same finding, or None; where it is `dismissed`, the new one must not be raised.
    `said` are comments of one repository, oldest first; the pull request they were made in does not matter.
    Deterministic; never raises."""
    return next((one for one in reversed(tuple(said)) if same(new, one.comment)), None)


def same(new: Comment, old: Comment) -> bool:
    """Are both one finding?"""
    if new.path != old.path or _other(_CODE, new, old) or _other(_NUMBER, new, old):
        return False
    judged = judge(new.body, old.body)
    if judged.likeness is Likeness.REPEATS:
        return True
    return max(judged.near, judged.share) >= ALIKE and _near(new.line, old.line)


def _near(one: int | None, other: int | None) -> bool:
    """Within a few lines; a comment without a line is about all of the file."""
    return one is None or other is None or abs(one - other) <= NEAR


def _other(pattern: re.Pattern[str], new: Comment, old: Comment) -> bool:
    """Do both name such things, and none that is the same?"""
    ours, theirs = (set(pattern.findall(one.body)) for one in (new, old))
    return bool(ours and theirs) and ours.isdisjoint(theirs)
