"""Preferences as clean sentences, by rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.review.dream.distilling import sentence

SENTENCES = [
    ("I prefer small pull requests.", "The user prefers small pull requests."),
    ("Please always use tabs.", "Always use tabs."),
    ("From now on, use pnpm for everything.", "Use pnpm for everything."),
    ("btw I always use vim, ok?", "The user always uses vim."),
    ("I don't like mocks in tests", "The user does not like mocks in tests."),
    (
        "I’d rather you ask me before pushing my branch",
        "The user would rather you ask them before pushing their branch.",
    ),
    ("I'm using fish as my shell", "The user is using fish as their shell."),
    ("I have always tabs, I never mix them.", "The user has always tabs, they never mix them."),
    ("I can't read light themes", "The user cannot read light themes."),
    ("I carry on with `my_var` names, I like them", None),
    ("I really hate `my_var` names", "The user really hates `my_var` names."),
    ('I rely on "my own words" here', 'The user relies on "my own words" here.'),
    ("We always squash before merging.", "We always squash before merging."),
    ("never push to main please", "Never push to main."),
    ("use tabs.yaml for tabs", "Use tabs.yaml for tabs."),
    ("Do I always need to push?", None),
    ("Could you always run tests?", None),
    ("I finished the report", None),
    ("Ich bevorzuge kleine PRs", None),
    ("uv, never pip", None),
    ("use it", None),
    ("", None),
]


@pytest.mark.parametrize(("said", "clean"), SENTENCES)
def test_a_stated_preference_is_one_sentence_or_waits(said: str, clean: str | None) -> None:
    assert sentence(said) == clean


@given(st.text(max_size=200) | st.text(alphabet="I 'dmpreferusealwaysnot,.?`", max_size=80))
def test_any_text_is_answered_with_a_sentence_or_nothing(said: str) -> None:
    made = sentence(said)
    assert made is None or (made.endswith(".") and "\n" not in made)
