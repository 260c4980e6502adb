"""What counts as an answer."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import Category, Importance
from noforgetti.review.proposal import AddFact, MergeFacts, ParseFailure, Proposal, parse, schema

ADD: dict[str, Any] = {"action": "add", "content": "Use tabs.", "importance": "high", "evidence": ["e1"]}
EMPTY = '{"operations": []}'


def answer(*operations: dict[str, Any], **more: Any) -> str:
    return json.dumps({"operations": list(operations), **more})


def with_change(**change: Any) -> str:
    return answer({**ADD, **change})


@pytest.mark.parametrize(
    "text",
    [
        EMPTY,
        f"```json\n{EMPTY}\n```",
        f"Here is what I found:\n\n{EMPTY}\n\nNothing durable was said.",
        f"Thinking about {{this}} first. {EMPTY}",
        f"\ufeff  {EMPTY}",
    ],
)
def test_one_object_is_found_whatever_stands_around_it(text: str) -> None:
    assert parse(text) == Proposal(operations=())


def test_every_operation_of_the_schema_is_understood() -> None:
    found = parse(
        answer(
            {**ADD, "category": "decision"},
            {"action": "replace", "entryId": "a", "content": "b", "evidence": ["e1"]},
            {"action": "merge", "entryIds": ["a", "b"], "content": "c", "importance": "low", "evidence": ["e2"]},
            {"action": "assess", "entryId": "a", "importance": "normal", "evidence": ["e1", "e2"]},
        )
    )

    assert isinstance(found, Proposal)
    assert [one.action for one in found.operations] == ["add", "replace", "merge", "assess"]
    assert found.operations[0] == AddFact(
        action="add", content="Use tabs.", importance=Importance.HIGH, category=Category.DECISION, evidence=("e1",)
    )


def test_consolidate_means_merge_and_other_spellings_of_names_are_taken() -> None:
    found = parse(answer({"action": "consolidate", "ids": ["a", "b"], "text": "c", "evidence": ["e1"]}))

    assert isinstance(found, Proposal)
    assert isinstance(found.operations[0], MergeFacts)
    assert found.operations[0].entry_ids == ("a", "b")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        ("nothing to do", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        (EMPTY + EMPTY, "more than one JSON object"),
        (f"{EMPTY} or rather {EMPTY}", "more than one JSON object"),
        ('{"operations": [', "no JSON object"),
        ("{}", "operations: Field required"),
        (answer(ADD, ADD, ADD, ADD, ADD), "operations: Tuple should have at most 4 items"),
        (answer(note="hi"), "note: Extra inputs are not permitted"),
        (with_change(reason="because"), "Extra inputs are not permitted"),
        (with_change(action="destroy"), "does not match any of the expected tags"),
        (with_change(importance="critical"), "importance"),
        (with_change(importance=1), "importance"),
        (with_change(content=7), "content: Input should be a valid string"),
        (with_change(content=""), "content"),
        (with_change(evidence=[]), "evidence"),
        (with_change(evidence="e1"), "evidence"),
        (with_change(evidence=["e0"]), "evidence"),
        (with_change(evidence=["the user said so"]), "evidence"),
        (answer({"action": "remove", "entryId": "", "evidence": ["e1"]}), "entryId"),
        (answer({"action": "remove", "entryId": "a"}), "evidence: Field required"),
        (answer({"action": "merge", "entryIds": ["a"], "content": "c", "evidence": ["e1"]}), "at least 2 items"),
        (
            answer({"action": "merge", "entryIds": list("abcdefghi"), "content": "c", "evidence": ["e1"]}),
            "at most 8 items",
        ),
        (
            answer({"action": "merge", "entryIds": ["a", "a"], "content": "c", "evidence": ["e1"]}),
            "entryIds must be distinct",
        ),
        (EMPTY + " " * 70_000, "longer than 65,536 characters"),
    ],
)
def test_anything_else_is_a_failure_that_says_where(text: str, reason: str) -> None:
    found = parse(text)

    assert isinstance(found, ParseFailure)
    assert reason in found.reason


def test_a_lone_surrogate_in_an_answer_is_a_failure_or_gone_never_a_text() -> None:
    found = parse('{"operations": [{"action": "add", "content": "\\ud800", "importance": "low", "evidence": ["e1"]}]}')

    assert isinstance(found, ParseFailure)


@pytest.mark.parametrize("piece", ["{", '{"a":', "[{", '{"a":{"b":', "}{"])
def test_an_answer_made_to_waste_time_does_not(piece: str) -> None:
    started = time.process_time()

    assert isinstance(parse(piece * (65_000 // len(piece))), ParseFailure)
    assert time.process_time() - started < 10


def test_the_schema_names_what_the_parser_takes() -> None:
    shown = json.dumps(schema())

    for word in ("entryId", "entryIds", "content", "evidence", "importance", "maxItems", "additionalProperties"):
        assert f'"{word}"' in shown


@given(st.text(max_size=300))
def test_no_answer_is_fatal(text: str) -> None:
    parse(text)
