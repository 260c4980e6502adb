"""The coding-project corpus of the retrieval benchmark is whole: what its README promises is in its files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from noforgetti.model.entry import Category, Importance
from noforgetti.policy import guards

CORPUS = Path(__file__).parents[2] / "tools" / "bench" / "corpus"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / name).read_text(encoding="utf-8").splitlines()]


MEMORIES = rows("memories.jsonl")
QUESTIONS = rows("questions.jsonl")


def counted(listed: list[dict[str, Any]], key: str) -> dict[str, int]:
    return dict(Counter(row[key] for row in listed))


def repeated(listed: list[dict[str, Any]], key: str) -> list[str]:
    return [value for value, times in Counter(row[key] for row in listed).items() if times > 1]


def test_the_counts_are_those_of_the_readme() -> None:
    assert counted(MEMORIES, "lang") == {"en": 125, "de": 37, "zh": 37, "ja": 6}
    assert counted(QUESTIONS, "kind") == {"paraphrase": 151, "identifier": 58, "exact": 23, "category": 12, "none": 40}


def test_no_id_and_no_text_occurs_twice() -> None:
    assert repeated(MEMORIES, "id") == repeated(MEMORIES, "text") == []
    assert repeated(QUESTIONS, "id") == repeated(QUESTIONS, "question") == []


def test_every_memory_is_an_entry_that_a_direct_write_accepts() -> None:
    assert {row["category"] for row in MEMORIES} == set(Category)
    assert {row["importance"] for row in MEMORIES if "importance" in row} <= set(Importance)
    assert [row["id"] for row in MEMORIES if guards.check(row["text"], limit=250, automatic=False) != row["text"]] == []


def test_every_expected_memory_is_there_in_the_language_of_its_question() -> None:
    language = {row["id"]: row["lang"] for row in MEMORIES}

    strays = [(row["id"], own) for row in QUESTIONS for own in row["expects"] if language.get(own) != row["lang"]]

    assert strays == []


def test_only_the_questions_of_kind_none_expect_nothing_and_none_expects_more_than_two() -> None:
    assert [row["id"] for row in QUESTIONS if (row["kind"] == "none") != (row["expects"] == [])] == []
    assert [
        row["id"] for row in QUESTIONS if len(set(row["expects"])) != len(row["expects"]) or len(row["expects"]) > 2
    ] == []
