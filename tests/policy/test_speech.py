"""Where a sentence ends, and what in a prompt its writer did not say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy import speech


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Use Node.js. Then 1.4.0, e.g. in CI.", ("Use Node.js.", "Then 1.4.0, e.g. in CI.")),
        (
            "Run `a. b! c`! See https://x.example/y?q=1. Done",
            ("Run `a. b! c`!", "See https://x.example/y?q=1.", "Done"),
        ),
        ("Edit src/app.config.ts first. go on", ("Edit src/app.config.ts first.", "go on")),
        ("He said 'Stop. Now.' twice. Fine", ("He said 'Stop. Now.' twice.", "Fine")),
        ("one line\nthat goes on\nAnother", ("one line that goes on", "Another")),
        ("- first\n2) second", ("first", "second")),
        ("请用中文。不要用英文！", ("请用中文。", "不要用英文！")),
        ("a\r\n```sh\nrm x. y\n```\nB\n~~~\nnever closed. c", ("a", "B")),
        ("> quoted. text\nmine", ("mine",)),
        ("  \n ", ()),
    ],
)
def test_sentences_of_a_prompt(text: str, parts: tuple[str, ...]) -> None:
    assert speech.sentences(text) == parts


@given(st.text(st.characters(exclude_categories=()), max_size=400))
def test_every_sentence_is_a_trimmed_piece_of_the_text(text: str) -> None:
    whole = text.replace("’", "'").replace("\n", " ")
    for sentence in speech.split(text):
        assert sentence.text == sentence.text.strip() != ""
        assert sentence.text.replace("\n", " ") in whole
