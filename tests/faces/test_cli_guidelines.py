"""`guidelines`, as people and reviewing agents use it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .conftest import CommandLine

DOCSTRINGS = "Do not ask for docstrings in tests."


def test_the_life_of_a_guideline(nf: CommandLine) -> None:
    assert nf("guidelines").out == "No review guidelines on branch `main`.\n"
    learned = nf("guidelines", "add", DOCSTRINGS)
    assert re.sub(r"[0-9a-f]{12}", "<short>", learned.out) == f"Learned commit <short>\n  + {DOCSTRINGS}\n"
    assert nf("guidelines", "add", "Don't ask for docstrings in tests.").out == f"Known already: {DOCSTRINGS}\n"
    assert nf("guidelines").out == nf("guidelines", "list").out == f"- {DOCSTRINGS}\n"
    assert "Took out" in nf("guidelines", "remove", "docstrings").out
    assert nf("undo", "HEAD").status == 0
    assert nf.json("guidelines") == {"branch": "main", "guidelines": [DOCSTRINGS], "hidden": []}


def test_the_document_of_a_change(nf: CommandLine) -> None:
    doc = nf.json("guidelines", "add", DOCSTRINGS)

    assert doc == {
        "outcome": "added",
        "branch": "main",
        "commit": nf.git("rev-parse", "main").strip(),
        "guidelines": [DOCSTRINGS],
        "known": [],
        "reason": "",
        "rule": None,
        "hint": "",
    }


def test_a_refusal_is_one_sentence_and_status_1(nf: CommandLine) -> None:
    nf("guidelines", "add", DOCSTRINGS)

    done = nf("guidelines", "add", "Ask for docstrings in tests.")

    assert done.status == 1
    assert done.err == (
        "`Ask for docstrings in tests.` contradicts the guideline `Do not ask for docstrings in tests.`."
        " Nothing was written.\n"
        "Hint: if that no longer holds, take it out with `noforgetti guidelines remove OLD`\n"
    )


def test_what_is_read_from_a_pipe_is_one_line(nf: CommandLine) -> None:
    nf.process("guidelines", "add", "-", stdin=b"Prefer early\r\nreturns.")

    assert nf("guidelines").out == "- Prefer early returns.\n"
