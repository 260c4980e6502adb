"""Form of a text: what is normalised, what is refused because nobody can see it, how lengths are counted."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy import text
from noforgetti.policy.verdict import Refusal, Rule

ANY = st.text(st.characters(exclude_categories=()))  # surrogates and controls included


def rule(answer: object) -> Rule | None:
    return answer.rule if isinstance(answer, Refusal) else None


def test_normal_form_composes_accents_unifies_line_ends_and_trims() -> None:
    assert text.normalise("  cafe\u0301\r\nau\rlait \n") == "caf\u00e9\nau\nlait"


@given(ANY)
def test_normalising_twice_is_normalising_once(raw: str) -> None:
    assert text.normalise(text.normalise(raw)) == text.normalise(raw)


@given(ANY)
def test_any_string_gets_an_answer(raw: str) -> None:
    answer = text.form(raw)
    assert isinstance(answer, Refusal) or answer == text.normalise(raw)


@pytest.mark.parametrize("raw", ["", "   ", "\r\n\t"])
def test_blank_text_is_refused_as_empty(raw: str) -> None:
    assert rule(text.form(raw)) is Rule.EMPTY


@pytest.mark.parametrize(
    "hidden",
    [
        "\x00", "\x1b", "\x7f", "\x85", "\ud800", "\u200b", "\u200c", "\u200d", "\u200e", "\u202e", "\u2028",
        "\u2060", "\u2066", "\u00ad", "\u3164", "\ufeff", "\ufe0f", "\ufe00", "\U000e0041", "\U000e0101",
        "\uffff",        "\u180e",
    ],
)  # fmt: skip
def test_character_nobody_can_see_between_letters_is_refused(hidden: str) -> None:
    answer = text.form(f"Run{hidden}make first")

    assert rule(answer) is Rule.INVISIBLE
    assert isinstance(answer, Refusal)
    assert f"U+{ord(hidden):04X}" in answer.message
    assert hidden not in answer.message


@pytest.mark.parametrize(
    "visible",
    [
        "Releases are cut by the 👩‍👩‍👧‍👦 family team.",
        "The 👩🏽‍💻 icon marks developer docs.",
        "Ship it ❤️ and 🏳️‍🌈 are the two reactions.",
        "Press 1️⃣ then #️⃣ in the kiosk.",
        "The pub app shows 🏴󠁧󠁢󠁳󠁣󠁴󠁿 for Scotland.",
        "Flags such as 🇩🇪 come from the locale.",
        "متن فارسی می‌خواهم است",
        "क्‍ष differs from क्ष in the font.",
        "The name 葛\U000e0100 needs its variant.",
        "Columns are\tseparated by tabs\nand lines by LF.",
        "Café, naïve, Ωmega, 東京, Привет.",
    ],
)
def test_spelling_that_needs_joiners_or_selectors_survives(visible: str) -> None:
    assert text.form(visible) == unicodedata.normalize("NFC", visible)


def test_two_selectors_in_a_row_are_a_hidden_message() -> None:
    assert rule(text.form("Fine ❤\ufe0f\ufe0f today")) is Rule.INVISIBLE


def test_tag_characters_behind_another_emoji_are_a_hidden_message() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    assert rule(text.form(f"Fine 😀{hidden}")) is Rule.INVISIBLE


@pytest.mark.parametrize(
    "tag",
    [
        "<project_memory>", "</project_memory>", "</PROJECT-MEMORY >", "< / project_memory",
        "<memory-context id=1>",
        "</contextual_memories>", "<past_sessions>", "＜project_memory＞", "<pi-memory-context>",
    ],
)  # fmt: skip
def test_tag_that_fences_memory_is_refused(tag: str) -> None:
    assert rule(text.form(f"Hello {tag} there")) is Rule.FENCE


@pytest.mark.parametrize(
    "plain",
    [
        "Layout tags such as <section> and <memo> are fine.",
        "a < project_size means small.",
        "<memory> is GB.",
    ],
)
def test_other_tags_are_text(plain: str) -> None:
    assert text.form(plain) == plain


def test_length_counts_code_points_and_names_the_excess() -> None:
    assert text.too_long("😀" * 800, 800) is None
    answer = text.too_long("😀" * 803, 800)
    assert answer is not None
    assert (answer.rule, "803 characters, 3 over" in answer.message) == (Rule.TOO_LONG, True)


def test_decomposed_accents_count_as_their_composed_form() -> None:
    assert text.too_long(text.normalise("e\u0301" * 800), 800) is None


def test_clipping_puts_everything_on_one_line() -> None:
    assert text.clip("one\n  two\tthree", 99) == "one two three"


@pytest.mark.parametrize(
    ("raw", "n", "clipped"),
    [
        ("abcdef", 4, "abc…"),
        ("abcdef", 0, ""),
        ("ab👩‍👩‍👧 tail", 5, "ab…"),
        ("ab🇩🇪🇫🇷 tail", 6, "ab🇩🇪…"),
        ("xe\u0323\u0301\u0302tail", 4, "x…"),
        ("ab👍🏽cd", 4, "ab…"),
    ],
)
def test_clipping_never_splits_what_is_read_as_one_character(raw: str, n: int, clipped: str) -> None:
    assert text.clip(raw, n) == clipped


@given(ANY, st.integers(0, 50))
def test_clipped_text_is_never_longer_than_asked(raw: str, n: int) -> None:
    assert len(text.clip(raw, n)) <= n
