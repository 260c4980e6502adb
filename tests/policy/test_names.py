"""Names of branches and ids of entries."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.names import BadBranchName, branch_name, entry_id, proposed

VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")


@pytest.mark.parametrize("name", ["main", "a", "0", "spike-2", "Try_this", "x" * 63, "headless", "console"])
def test_letters_digits_dash_and_underscore_make_a_name(name: str) -> None:
    assert branch_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-x",
        "_x",
        "a/b",
        "a.lock",
        "HEAD",
        "head",
        "con",
        "NUL",
        "com1",
        "LPT9",
        "x" * 64,
        "é",
        "a b",
        "a\n",
        "a\0",
        "\ud800",
    ],
)
def test_everything_else_is_refused_with_a_name_that_is_valid(name: str) -> None:
    with pytest.raises(BadBranchName) as refused:
        branch_name(name)

    offered = refused.value.hint.removeprefix("try `").removesuffix("`")
    assert branch_name(offered) == offered
    assert refused.value.message.isprintable()


def test_a_secret_is_no_name_and_is_not_repeated() -> None:
    token = "gh" + "p_" + "a8Kq2LmZ" * 4 + "Zx91"

    with pytest.raises(BadBranchName) as refused:
        branch_name(token)

    assert refused.value.message == (
        "`[redacted]` cannot be the name of a memory branch: it looks like a secret. Nothing was written."
    )
    assert token not in refused.value.hint


@given(st.text())
def test_a_valid_name_can_be_proposed_for_any_text(name: str) -> None:
    offered = proposed(name)

    assert VALID.fullmatch(offered)
    assert branch_name(offered) == offered


def test_an_id_is_readable_and_ends_in_four_random_characters() -> None:
    numbers = iter([31, 10, 29, 5])

    assert (
        entry_id("Use pnpm check, before pnpm test!", (), lambda _: next(numbers))
        == "use-pnpm-check-before-pnpm-test-7k5f"
    )


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Grüße aus Köln", "grusse-aus-koln"),
        ("日本語のテスト", "entry"),
        ("word " * 30, "word-word-word-word-word-word-word-word"),
        ("x" * 100, "x" * 40),
        ("--- ...", "entry"),
    ],
)
def test_an_id_is_cut_at_a_word_and_never_empty(text: str, slug: str) -> None:
    assert entry_id(text, (), lambda _: 0) == f"{slug}-aaaa"


def test_an_id_that_is_taken_is_drawn_again() -> None:
    numbers = iter([0, 0, 0, 0, 1, 0, 0, 0])

    assert entry_id("one", {"one-aaaa"}, lambda _: next(numbers)) == "one-baaa"


@given(st.text())
def test_an_id_is_always_a_plain_file_name(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]{6,45}", entry_id(text, (), lambda _: 7))
