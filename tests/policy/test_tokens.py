"""The token estimate: right order of magnitude in every script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("a", 1, 1),
        ("x" * 1000, 200, 400),
        ("中" * 1000, 700, 1300),
        ("한" * 1000, 700, 1300),
        ("ж" * 1000, 300, 700),
        ("😀" * 100, 100, 300),
        ("The release script needs a clean work tree.", 8, 14),
    ],
)
def test_estimate_lies_where_real_tokenizers_lie(text: str, low: int, high: int) -> None:
    assert low <= estimate_tokens(text) <= high


@given(st.text(st.characters(exclude_categories=())), st.text())
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert estimate_tokens(text + more) >= estimate_tokens(text)
