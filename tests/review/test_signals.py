"""Which words make a review due at once."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.review import signals
from noforgetti.review.signals import THRESHOLD, score


@pytest.mark.parametrize(
    "text",
    [
        "Remember that the tests need the database.",
        "please remember: releases are cut from main",
        "Fix the login bug. Also, remember to run `pnpm check` before pushing.",
        "Can you remember that we deploy on Fridays?",
        "I want you to remember that staging has no cache",
        "Don't forget that the API package owns validation",
        "From now on use pnpm, not npm.",
        "going forward, put tests next to the code",
        "We always squash before merging.",
        "I prefer named option objects",
        "Never push to main directly!",
        "don't use mocks for the repository layer",
        "add this to your memory: the CI cache lives in /var/ci",
        "Merk dir bitte, dass wir pnpm benutzen.",
        "Ab jetzt immer zuerst die Tests laufen lassen.",
        "Désormais, utilise pnpm pour tout.",
        "Recuerda que los tests necesitan la base de datos.",
        "A partir de agora use pnpm em vez de npm.",
        "Запомни: релизы делаем из main.",
        "记住：测试前先启动数据库",
        "今後はpnpmを使ってください",
        "앞으로는 pnpm을 사용해 주세요",
    ],
)
def test_an_explicit_wish_to_keep_something_is_a_signal(text: str) -> None:
    assert score(text) >= THRESHOLD


@pytest.mark.parametrize(
    "text",
    [
        "Run the test suite and show me the failures.",
        "Do you remember that bug from last week?",
        "What does 'from now on' mean in this comment?",
        "Why did you use a dictionary there?",
        'The log says "remember that the token expires" in red.',
        "Look at this:\n```\n# remember that this is slow\nfrom now on: fast\n```\nwhat does it do?",
        "> from now on we use tabs\nthat is what he wrote in the mail",
        "The variable `always_use_pnpm` is never read in here",
        "remember that",  # too short to say anything
        "Use tabs for now, we clean up later today.",
        "",
    ],
)
def test_ordinary_work_quotes_and_code_are_no_signal(text: str) -> None:
    assert score(text) < THRESHOLD


def test_a_correction_alone_needs_a_second_one() -> None:
    correction = "That is wrong, read the config file instead please."

    assert 0 < score(correction) < THRESHOLD
    assert 2 * score(correction) >= THRESHOLD


def test_a_correction_about_a_durable_topic_is_enough() -> None:
    assert score("No, use pnpm instead of npm, that is our package manager.") >= THRESHOLD


def test_what_holds_only_for_now_weighs_less() -> None:
    assert score("Use the other port instead, just this once.") < score("Use the other port instead, everywhere.")


def test_a_question_weighs_less() -> None:
    assert score("Should we use the other port instead?") < score("We want to use the other port instead.")


def test_a_huge_paste_is_judged_by_its_ends_in_bounded_time() -> None:
    paste = "no, and also; " * 100_000

    started = time.process_time()

    assert score(paste + "\nRemember that the tests need the database.") >= THRESHOLD
    assert time.process_time() - started < 5  # whole it takes minutes on a slow machine; the ends take milliseconds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two! Three?", ("One.", "Two!", "Three?")),
        ("Use a fixture, e.g. the database one. Done.", ("Use a fixture, e.g. the database one.", "Done.")),
        ("- a\n- b", ("- a", "- b")),
        ("先にビルド。次にテスト。", ("先にビルド。", "次にテスト。")),
        ("Edit v1.2 of pyproject.toml now", ("Edit v1.2 of pyproject.toml now",)),
    ],
)
def test_sentences_end_where_readers_see_an_end(text: str, found: tuple[str, ...]) -> None:
    assert signals.sentences(text) == found


@given(st.text())
def test_every_text_has_a_score_from_0_to_5(text: str) -> None:
    assert 0 <= score(text) <= signals.HIGHEST
