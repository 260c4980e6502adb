"""What a text must keep of the texts it replaces: by spelling, in several languages, and for any string."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.retention import missing

TEXTS = st.text(max_size=120) | st.text(alphabet="aA1`'-_./:@ \n不测é,", max_size=60)

KEPT = [
    (
        ("Never commit generated files.", "Generated files must not be committed; they are built in CI."),
        "Never commit generated files; CI builds them.",
    ),
    (
        ("Run `pnpm check` before pushing.", "pnpm check runs in 40 seconds."),
        "Before pushing, run `pnpm check` (takes 40s).",
    ),
    (
        ("Deploy from the release branch.", "Deploys need approval by Dana."),
        "Deploy from the release branch with Dana's approval.",
    ),
    (("Use v2 of the API.", "Two reviewers: 3-5 days."), "API version 2; two reviewers, 3 to 5 days."),
    (("Timeouts are three seconds, at most 4,000 requests.",), "Timeouts: 3 seconds, 4000 requests at most."),
    (("Keep PRs small.",), "The user keeps each PR small."),
    (("提交前先运行测试。", "提交前先运行测试和检查。"), "提交前先运行测试和检查。"),
    (("Die Tests laufen nie gegen die Produktion.",), "Tests laufen niemals gegen die Produktion."),
]
LOST = [
    (("The API listens on port 8080.", "Staging uses port 8081."), "The API listens on port 8080.", "8081"),
    (("Use Postgres 15.2 in CI.",), "Use Postgres 15.2.1 in CI.", "15.2"),
    (("Use Postgres 15.2 in CI.",), "Use Postgres in CI.", "15.2"),
    (("Use Postgres 15 in CI.",), "Use Postgres 150 in CI.", "15"),
    (("See https://example.org/docs/a for details.",), "See https://example.org/docs/ab for details.", "docs/a"),
    (("Config is in src/app.",), "Config is in src/app/main.", "src/app"),
    (("Pass --no-verify never.",), "Never pass --verify.", "--no-verify"),
    (("Call `sync_all()` last.",), "Call sync last.", "sync_all()"),
    (("Ask Maria before a migration.",), "Ask before a migration.", "Maria"),
    (("Maria approves each migration.",), "Each migration is approved.", "maria"),
    (("Never push to main.",), "Push to main always.", "not"),
    (("Generated files must not be edited.",), "Generated files are edited.", "not"),
    (("Deploys need two reviewers and a changelog.",), "Deploys need care.", "changelog"),
    (("Write to ops@example.org on failures.",), "Write to ops on failures.", "ops@example.org"),
    (("回滚需要两人批准。",), "回滚。", "需要"),
    (("Пароли не хранить в репозитории.",), "Пароли хранить в репозитории.", "not"),
]


@pytest.mark.parametrize(("sources", "text"), KEPT)
def test_a_text_that_says_it_all_in_other_words_loses_nothing(sources: tuple[str, ...], text: str) -> None:
    assert missing(sources, text) == ()


@pytest.mark.parametrize(("sources", "text", "piece"), LOST)
def test_a_fact_that_is_gone_is_named(sources: tuple[str, ...], text: str, piece: str) -> None:
    assert any(piece in one for one in missing(sources, text))


@given(TEXTS, TEXTS)
def test_texts_below_each_other_keep_everything(one: str, other: str) -> None:
    assert missing((one,), one) == ()
    assert missing((one, other), f"{one}\n\n{other}") == ()


@given(st.lists(TEXTS, max_size=3), TEXTS)
def test_at_most_eight_pieces_are_named(sources: list[str], text: str) -> None:
    assert len(missing(sources, text)) <= 8


@pytest.mark.parametrize("piece", ["_", "a.", "`", "-a", "/", "a_", "' ", "@a", "1,", "é'", "a:b"])
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (8_000 // len(piece))
    begun = time.process_time()
    missing((text,), text[1:])
    assert time.process_time() - begun < 2  # a guard against runs that never end, three orders above what is usual
