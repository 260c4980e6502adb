"""The token estimate: right order of magnitude in every script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.tokens import estimate_tokens, weight


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
        ("The release script needs a clean work tree.", 9, 11),  # 9 in o200k, cl100k and Anthropic's
        ("Run `pnpm run check --filter=@acme/web` before `pnpm test`.", 18, 21),  # 19, 19 and 20
        ("提交之前先运行 pnpm check，然后再运行测试。", 12, 20),  # 12, 17 and 14
        ("Миграции базы данных сначала выполняются на тестовом стенде.", 15, 28),  # 15, 24 and 28
    ],
)
def test_estimate_lies_where_real_tokenizers_lie(text: str, low: int, high: int) -> None:
    assert low <= estimate_tokens(text) <= high


@given(st.text(st.characters(exclude_categories=())), st.text())
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert estimate_tokens(text + more) >= estimate_tokens(text)


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=()))))
def test_weights_of_whole_lines_add_up(lines: list[str]) -> None:
    assert weight("".join(line + "\n" for line in lines)) == pytest.approx(sum(weight(line + "\n") for line in lines))


@given(st.text(st.characters(exclude_categories=()), min_size=1))
def test_no_character_is_free(text: str) -> None:
    assert weight(text) > 0
    assert estimate_tokens(text) >= 1
