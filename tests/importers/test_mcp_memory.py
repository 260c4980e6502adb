"""The MCP memory server's graph. The lines are what the server (2026.x, from npm) wrote for these calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from noforgetti.importers.base import SourceError
from noforgetti.importers.mcp_memory import read

from .sources import items, left, put, said

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = (
    '{"type":"entity","name":"Billing service","entityType":"service",'
    '"observations":["Runs on port 8443","Billing service is written in Go"]}\n'
    '{"type":"entity","name":"Ada","entityType":"person","observations":[]}\n'
    '{"type":"entity","name":"支付","entityType":"preference","observations":["用于退款 😀"]}\n'
    '{"type":"relation","from":"Ada","to":"Billing service","relationType":"maintains"}\n'
    '{"type":"relation","from":"Billing service","to":"支付","relationType":"depends_on"}'
)
SAID = [
    ("lesson", "Billing service (service): Runs on port 8443"),
    ("lesson", "Billing service is written in Go"),
    ("lesson", "Ada is a person."),
    ("preference", "支付 (preference): 用于退款 😀"),
    ("lesson", "Ada maintains Billing service."),
    ("lesson", "Billing service depends on 支付."),
]


def test_an_observation_is_a_memory_and_a_relation_a_sentence(tmp_path: Path) -> None:
    source = read(put(tmp_path, "memory.jsonl", GRAPH))

    assert (said(source), left(source)) == (SAID, [])
    assert items(source)[0].name == "entity/Billing service#0c6e9277"
    assert [one.tags for one in items(source)][-1] == ("relation",)
    assert said(read(tmp_path)) == SAID  # the folder it lies in


def test_the_whole_graph_as_the_server_answers_it_says_the_same(tmp_path: Path) -> None:
    values = [json.loads(line) for line in GRAPH.splitlines()]
    parts = {
        key: [{name: one for name, one in value.items() if name != "type"} for value in values if value["type"] == sort]
        for key, sort in (("entities", "entity"), ("relations", "relation"))
    }

    assert said(read(put(tmp_path, "graph.json", json.dumps(parts, indent=2)))) == SAID


def test_what_is_torn_or_unknown_is_left_over(tmp_path: Path) -> None:
    more = '\n{"type":"event","name":"x"}\n[1]\n{"type":"entity"}\n{"type":"relation","from":"A"}\n{"type":"enti'
    source = read(put(tmp_path, "memory.jsonl", GRAPH + more))

    assert said(source) == SAID
    assert left(source) == [
        ("memory.jsonl:10", "is no whole JSON value"),
        ("memory.jsonl:6", "is neither an entity nor a relation"),
        ("memory.jsonl:7", "is neither an entity nor a relation"),
        ("memory.jsonl:8", "has no name"),
        ("memory.jsonl:9", "has no name"),
    ]


def test_a_lone_surrogate_is_replaced_and_a_pair_joined(tmp_path: Path) -> None:
    line = (
        r'{"type":"entity","name":"A","entityType":"t","observations":["half \ud83d of A","whole \ud83d\ude00 of A"]}'
    )

    assert said(read(put(tmp_path, "memory.jsonl", line))) == [
        ("lesson", "half \ufffd of A"),
        ("lesson", "whole 😀 of A"),
    ]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no entities and relations"):
        read(put(tmp_path, "package.json", '{"name": "shop", "version": "1.0.0"}'))
