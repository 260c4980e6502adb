"""Which finding of a review is a former one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.code_review import Comment, PullRequest, Resolution, Said, Status
from noforgetti.policy.dismissal import NEAR, former, same

PULL = PullRequest("octo", "shop", 12)


def said(body: str, status: Status = Status.POSTED) -> Said:
    return Said(Comment("a.py", 10, body, status), PULL, "abc", "2026-12-01T12:00:00Z")


def skipped(body: str) -> Said:
    return said(body, Status.SKIPPED)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Missing null check on `user` before access.", "`user` may be null here; add a check before accessing it."),
        ("Missing docstring for `parse`.", "`parse` has no docstring."),
        ("Use a constant instead of the magic number 42.", "Magic number 42 should be a named constant."),
        (
            "SQL injection: the query is built by string concatenation.",
            "Query built with string concatenation is vulnerable to SQL injection.",
        ),
        ("Catching broad Exception hides errors.", "Avoid catching broad `Exception`; it hides errors."),
        ("The timeout is hardcoded.", "Hardcoded timeout; make it configurable."),
    ],
)
def test_the_same_finding_in_other_words_is_known_near_its_line(new: str, old: str) -> None:
    assert same(Comment("a.py", 12, new), Comment("a.py", 10, old))
    assert not same(Comment("a.py", 10 + NEAR + 1, new), Comment("a.py", 10, old))


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Missing null check on `user` before access.", "Missing null check on `order` before access."),
        ("Missing docstring for `parse`.", "`parse` swallows exceptions silently."),
        ("Magic number 42 should be a named constant.", "Magic number 7 should be a named constant."),
        ("Unused import os.", "Unused import sys."),
        ("Retry 3 times.", "Retry 5 times."),
        ("", "Anything."),
    ],
)
def test_another_finding_on_the_same_line_is_not_hidden(new: str, old: str) -> None:
    assert not same(Comment("a.py", 10, new), Comment("a.py", 10, old))


def test_the_same_words_count_anywhere_in_the_file_and_in_no_other_file() -> None:
    old = Comment("a.py", 10, "The lock is never released.")

    assert same(Comment("a.py", 900, "The lock is never released!"), old)
    assert not same(Comment("b.py", 10, "The lock is never released."), old)


def test_a_comment_on_the_whole_file_is_near_every_line() -> None:
    assert same(Comment("a.py", None, "The timeout is hardcoded."), Comment("a.py", 9, "Hardcoded timeout; configure."))


def test_the_newest_former_comment_decides() -> None:
    new = Comment("a.py", 10, "The lock is never released.")
    first, later = skipped(new.body), said(new.body)

    assert former(new, [first, later]) is later
    assert former(new, [later, first]) is first
    assert former(new, [skipped("Something else entirely.")]) is None


@pytest.mark.parametrize(
    ("status", "resolution", "dismissed"),
    [
        (Status.SKIPPED, None, True),
        (Status.POSTED, Resolution.ACCEPTED, True),
        (Status.POSTED, None, False),
        (Status.POSTED, Resolution.FIXED, False),
        (Status.POSTED, Resolution.BAD_FIX, False),
        (Status.POSTED, Resolution.NO_FIX, False),
    ],
)
def test_what_was_skipped_or_whose_answer_was_accepted_is_dismissed(
    status: Status, resolution: Resolution | None, dismissed: bool
) -> None:
    assert Comment("a.py", 1, "x", status=status, resolution=resolution).dismissed is dismissed


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert same(Comment("a", 1, one), Comment("a", 2, other)) in (True, False)
