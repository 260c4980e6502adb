"""Nothing of a source is dropped without a word: a field that nothing is made of is a note or a leftover."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from noforgetti.importers import (
    basic_memory,
    claude_code,
    instructions,
    mcp_memory,
    mem0,
    memories_db,
    no_forgetti,
    own,
    pi_memory,
    topics,
)

from .sources import items, left, put, said

if TYPE_CHECKING:
    from pathlib import Path


def database(path: Path, *statements: str) -> Path:
    base = sqlite3.connect(path)
    for one in statements:
        base.execute(one)
    base.commit()
    base.close()
    return path


def test_of_a_database_the_columns_and_tables_that_nobody_knows(tmp_path: Path) -> None:
    path = database(
        tmp_path / "memory.db",
        "CREATE TABLE semantic (key TEXT PRIMARY KEY, value TEXT, mood TEXT, empty TEXT)",
        "CREATE TABLE lessons (id TEXT PRIMARY KEY, rule TEXT, weight REAL)",
        "CREATE TABLE plans (id TEXT)",
        "CREATE TABLE blank (id TEXT)",
        "CREATE VIRTUAL TABLE lessons_fts USING fts5(rule)",
        "INSERT INTO semantic VALUES ('a.b', 'short', 'glad', '')",
        "INSERT INTO lessons VALUES ('l', 'Use tabs', 0.5)",
        "INSERT INTO plans VALUES ('p')",
        "INSERT INTO lessons_fts VALUES ('Use tabs')",
    )
    assert left(pi_memory.read(path)) == [
        ("memory.db: lessons", "is not carried: `weight`"),
        ("memory.db: plans", "is a table of something else"),
        ("memory.db: semantic", "is not carried: `mood`"),
    ]

    path = database(
        tmp_path / "memories.db",
        "CREATE TABLE memories (id INTEGER, summary TEXT, owner TEXT)",
        "INSERT INTO memories VALUES (1, 'Use tabs', 'ada')",
    )
    assert left(memories_db.read(path)) == [("memories.db: memories", "is not carried: `owner`")]

    path = database(
        tmp_path / "history.db",
        "CREATE TABLE history (id, memory_id, old_memory, new_memory, event, is_deleted, role)",
        "CREATE TABLE messages (id)",
        "INSERT INTO history VALUES (1, 'a', NULL, 'Use tabs', 'ADD', 0, 'user')",
        "INSERT INTO messages VALUES (1)",
    )
    assert left(mem0.read(path)) == [
        ("history.db: history", "is not carried: `role`"),
        ("history.db: messages", "is a table of something else"),
    ]


def test_of_a_graph_observations_that_are_no_text_and_other_fields(tmp_path: Path) -> None:
    entity = {"type": "entity", "name": "A", "entityType": "t", "observations": ["It is A.", {"x": 1}, 7], "at": "x"}
    relation = {"type": "relation", "from": "A", "to": "B", "relationType": "uses", "weight": 2}
    path = put(tmp_path, "memory.jsonl", "\n".join(map(json.dumps, (entity, relation))))

    assert left(mcp_memory.read(path)) == [
        ("memory.jsonl:1", "2 of its observations are no text"),
        ("memory.jsonl:1", "is not carried: at: x"),
        ("memory.jsonl:2", "is not carried: weight: 2"),
    ]


def test_an_observation_names_its_entity_by_a_whole_word(tmp_path: Path) -> None:
    entity = {"type": "entity", "name": "Al", "entityType": "person", "observations": ["Also likes tea", "AL is tall"]}
    path = put(tmp_path, "memory.jsonl", json.dumps(entity))

    assert [text for _, text in said(mcp_memory.read(path))] == ["Al (person): Also likes tea", "AL is tall"]


def test_of_an_export_of_mem0_every_other_field_and_text(tmp_path: Path) -> None:
    told = {"memory": "Use tabs", "data": "Use tabs", "text": "Use spaces", "actor_id": "ada", "hash": "x", "score": 1}

    assert items(mem0.read(put(tmp_path, "x.json", json.dumps([told]))))[0].notes == (
        "text: Use spaces",
        "actor_id: ada",
    )


def test_of_no_forgettis_store_other_fields_files_and_reviews(tmp_path: Path) -> None:
    entry = {"id": "a", "text": "Use tabs", "updatedBy": "assistant_tool", "mood": "glad"}
    put(tmp_path, "branches/main.json", json.dumps({"version": 1, "name": "main", "entries": [entry], "colour": "red"}))
    put(tmp_path, "revisions/gone/1-r.json", json.dumps({"kind": "review", "changes": []}))
    put(tmp_path, "skills/x/SKILL.md", "x")
    put(tmp_path, "skills/x/run.sh", "x")
    put(tmp_path, "skills/x/more.md", "x")
    (tmp_path / "skills" / "y").mkdir()
    (tmp_path / "skills" / "y" / "SKILL.md").symlink_to("../x/SKILL.md")

    source = no_forgetti.read(tmp_path)

    assert source.branches[0].revisions[-1].items[0].notes == ("mood: glad",)
    assert list(source.files) == ["skills/x/SKILL.md"]
    assert left(source) == [
        ("branches/main.json", "is not carried: colour: red"),
        ("revisions/gone", "are the reviews of no branch that is here"),
        ("skills/x/run.sh", "is no .md file"),
        ("skills/y/SKILL.md", "is a symbolic link; import the file it leads to by itself"),
        ("skills/x/more.md", "is no skill, and a skill is one file here"),
    ]


def test_of_topic_files_what_lies_beside_them(tmp_path: Path) -> None:
    put(tmp_path, "topics/lessons.md", "- [lesson] Use tabs\n")
    put(tmp_path, "topics/archive/old.md", "- [lesson] Use npm\n")
    put(tmp_path, "topics/notes.txt", "x")
    put(tmp_path, "memory.md", "## Learned\n- [lesson] Use yarn\n")
    (tmp_path / "promotions.md").symlink_to("topics/lessons.md")
    why = "is no topic file of this form; import it by itself"

    assert left(topics.read(tmp_path)) == [
        ("topics/archive", why),
        ("topics/notes.txt", why),
        ("memory.md", why),
        ("promotions.md", "is a symbolic link; it is not followed"),
    ]


def test_of_one_topic_file_the_index_is_not_said_to_be_without_lines(tmp_path: Path) -> None:
    put(tmp_path, "topics/lessons.md", "- [lesson] Use tabs\n")
    put(tmp_path, "memory-scores.jsonl", json.dumps({"entries": {"00000001": {"class": "lesson"}}}))

    assert left(topics.read(tmp_path / "topics" / "lessons.md")) == []
    assert left(topics.read(tmp_path)) == [("index", "1 of its records have no line any more")]


NOTE = "---\ntype: {}\nmood: glad\n---\n# Shop\n- Keep the fixtures of every test small and beside it\n## Empty\n"


@pytest.mark.parametrize(
    ("read", "name", "more"),
    [
        (claude_code.read, "MEMORY.md", []),
        (basic_memory.read, "note.md", ["type: user"]),
        (instructions.read, "AGENTS.md", ["type: user"]),
    ],
    ids=["claude-code", "basic-memory", "instructions"],
)
def test_of_a_document_its_front_matter_and_headings_with_nothing_below(
    tmp_path: Path, read: Any, name: str, more: list[str]
) -> None:
    assert left(read(put(tmp_path, name, NOTE.format("user")))) == [
        *((f"{name}:1", f"is not carried: {note}") for note in (*more, "mood: glad")),
        (f"{name}:7", "is a heading with nothing below it"),
    ]


def test_of_an_export_of_ours_what_no_field_holds(tmp_path: Path) -> None:
    part = {"name": "main", "entries": {}, "files": {"promotions.md": 7}, "mood": "glad"}
    doc = {"format": "noforgetti/export", "version": 1, "branches": [part, 7], "colour": "red"}

    assert left(own.read(put(tmp_path, "x.json", json.dumps(doc)))) == [
        ("x.json", "1 of its branches are none"),
        ("x.json", "is not carried: colour: red"),
        ("x.json: main", "is not carried: mood: glad"),
        ("x.json: main", "has no list of entries"),
        ("x.json: promotions.md", "is no text"),
    ]


@pytest.mark.parametrize(
    ("read", "name", "only"),
    [
        (claude_code.read, "MEMORY.md", "MEMORY.md"),
        (basic_memory.read, "note.md", "note.md"),
        (instructions.read, "AGENTS.md", "AGENTS.md"),
        (topics.read, "topics/lessons.md", "topics/lessons.md"),
    ],
    ids=["claude-code", "basic-memory", "instructions", "topics"],
)
def test_one_file_that_is_read_is_named_as_its_items_are(tmp_path: Path, read: Any, name: str, only: str) -> None:
    path = put(tmp_path, name, "- [lesson] Keep the fixtures of every test small and beside it\n")

    assert (read(path).only, read(tmp_path).only) == (only, "")
    assert {one.name.partition("#")[0] for one in items(read(path))} == {only}
