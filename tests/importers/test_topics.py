"""The memory architecture's files, and its older database."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from store.builders import entry

from noforgetti.importers import memories_db
from noforgetti.importers.base import SourceError
from noforgetti.importers.topics import digest, find, read
from noforgetti.policy import topics

from .sources import items, left, put, said

if TYPE_CHECKING:
    from pathlib import Path

GIT = "- [lesson] Never use git add ."
TABS = "- [preference] Use tabs 😀"
RECORD: dict[str, Any] = {
    "class": "lesson",
    "score": 1.2,
    "evidenceCount": 4,
    "cue": "explicit",
    "firstSeen": "2026-05-01T10:00:00.000Z",
    "lastReinforced": "2026-06-01T10:00:00.000Z",
    "userState": "auto",
    "lifecycle": "active",
}
RULE = {"trigger": "bash_contains git add .", "action": "block"}


@pytest.mark.parametrize("line", [GIT, TABS, "", "- [done] 回复"])
def test_the_hash_is_the_one_that_exports_write(line: str) -> None:
    assert digest(line, exact=False) == topics.digest(line)
    assert digest("- [lesson] Never git add .", exact=True) == "7e1906d7"  # by Math.imul


def memory(folder: Path, *, exact: bool = False, name: str = "memory-scores.jsonl") -> Path:
    """A memory of two topics, a record for each line but one."""
    put(folder, "topics/lessons.md", f"# Lessons\n\n{GIT} *(pinned)* *(enforced)*\n- [lesson] Keep it short.\n")
    put(folder, "topics/preferences.md", f"# Preferences\n{TABS}\nodd\n- [colour] Blue is best\n- By hand\n")
    records = {
        digest(GIT, exact=exact): {**RECORD, **RULE, "userState": "pinned", "informs": ["git"], "newer": 1},
        digest(TABS, exact=exact): {
            **RECORD,
            "userState": "forgotten",
            "cue": "recurrence",
            "sourceSession": "s1",
            "derivedFrom": digest(GIT, exact=exact),
        },
        "00000000": RECORD,
        "00000001": {**RECORD, **RULE},
    }
    state = {"entries": records, "lastRebuild": "2026-06-01T10:00:00.000Z"}
    older = {"entries": {digest(GIT, exact=exact): RECORD}}
    put(folder, name, json.dumps(older) + "\n" + json.dumps(state) + '\n{"entries":{"x')
    return folder


@pytest.mark.parametrize("exact", [False, True])
def test_lines_come_with_what_the_index_says_of_them(tmp_path: Path, exact: bool) -> None:
    source = read(memory(tmp_path, exact=exact))

    assert said(source) == [
        ("lesson", "Never use git add ."),
        ("lesson", "Keep it short."),
        ("preference", "Use tabs 😀"),
        ("preference", "Blue is best"),
        ("preference", "By hand"),
    ]
    git, short, tabs, blue, _ = items(source)
    assert (git.pinned, git.rule, git.evidence, git.created, git.reinforced, git.informs, git.notes) == (
        True,
        json.dumps(RULE),
        4,
        "2026-05-01T10:00:00Z",
        "2026-06-01T10:00:00Z",
        ("git",),
        ("newer: 1",),
    )
    assert (short.cue, short.evidence, short.created, short.pinned) == ("behavioral", 0, "", False)
    assert (tabs.forgotten, tabs.cue, tabs.session, tabs.derived) == (True, "recurrence", "s1", (git.name,))
    assert blue.tags == ("colour",)
    assert left(source) == [
        ("memory-scores.jsonl:3", "is no whole JSON value"),
        ("topics/preferences.md:3", "is no line of a topic"),
        ("index: 00000001", f"has a rule and no line any more: {json.dumps(RULE)}"),
        ("index", "1 of its records have no line any more"),
    ]


@pytest.mark.parametrize("path", ["", ".pi/memory", ".pi/memory/topics"])
def test_the_folder_is_found_around_and_in_it(tmp_path: Path, path: str) -> None:
    memory(tmp_path / ".pi" / "memory")

    assert len(items(read(tmp_path / path))) == 5
    assert find(str(tmp_path), {}) == tmp_path / ".pi" / "memory"


def test_one_topic_file_and_the_older_index_are_read(tmp_path: Path) -> None:
    memory(tmp_path, name="memory-scores.json")
    put(
        tmp_path,
        "memory-scores.json",
        json.dumps({"entries": {digest(GIT, exact=False): {**RECORD, **RULE}}}, indent=1),
    )

    (git, short) = items(read(tmp_path / "topics" / "lessons.md"))

    assert (git.rule, git.evidence, short.rule) == (json.dumps(RULE), 4, "")


def test_provenance_that_waits_is_merged_and_candidates_are_left_over(tmp_path: Path) -> None:
    memory(tmp_path)
    pending = {"category": "lesson", "text": "Keep it short.", "sourceSession": "s9", "derivedFrom": "a talk"}
    put(tmp_path, "provenance-pending.jsonl", json.dumps({"entries": [pending, {"category": "done", "text": "x"}]}))
    put(tmp_path, "preference-candidates.jsonl", '{"text": "I prefer pnpm.", "session": "s"}\n')
    put(tmp_path, "promotions.md", "# Promotions\n")
    put(tmp_path.parent, "data/review-guidelines.md", "- No docstrings\n")

    source = read(tmp_path)

    assert (items(source)[1].session, items(source)[1].notes) == ("s9", ("derived from: a talk",))
    assert ("provenance-pending.jsonl:1", "is about no line of a topic") in left(source)
    assert ("preference-candidates.jsonl:1", "waits for a decision: I prefer pnpm.") in left(source)
    assert source.files == {"promotions.md": b"# Promotions\n", "review-guidelines.md": b"- No docstrings\n"}


def test_the_form_between_is_read(tmp_path: Path) -> None:
    put(
        tmp_path,
        "memory.md",
        "# Memory\n## Pinned Memories\n- [preference] Use tabs\n## Learned\n- [mistake] Too late\n",
    )

    assert [(one.category, one.text, one.pinned, one.cue) for one in items(read(tmp_path))] == [
        ("preference", "Use tabs", True, "explicit"),
        ("mistake", "Too late", False, "behavioral"),
    ]


def test_an_export_of_ours_is_read_as_it_went(tmp_path: Path) -> None:
    one = entry("First line.\n\nSecond.", "first-aaaa", pinned=True)
    for name, text in topics.files([one]).items():
        put(tmp_path, name, text)
    put(tmp_path, "memory-scores.jsonl", topics.index(topics.scores([one], {}, 0.0), {}, ""))

    assert [item.own for item in items(read(tmp_path))] == [one]
    assert read(tmp_path).format == "topics"


def test_a_rule_that_lost_its_record_is_told(tmp_path: Path) -> None:
    put(tmp_path, "topics/lessons.md", f"# Lessons\n{GIT} *(enforced)*\n")

    (item,) = items(read(tmp_path))

    assert (item.rule, item.notes) == ("", ("is marked as enforced, but its rule is missing",))


@pytest.mark.parametrize("text", ["", "[1]", '{"entries": []}', '{"entries": {"x": 1}}', "\0\0", '{"a": 1}\n'])
def test_an_index_that_says_nothing_leaves_the_lines(tmp_path: Path, text: str) -> None:
    put(tmp_path, "topics/lessons.md", f"# Lessons\n{GIT}\n")
    put(tmp_path, "memory-scores.jsonl", text)

    assert said(read(tmp_path)) == [("lesson", "Never use git add .")]


ODD = [{"cue": [1]}, {"userState": {}}, {"informs": 7}, {"evidenceCount": True}, {"trigger": 1, "action": 2}]


@pytest.mark.parametrize("record", ODD)
def test_a_record_of_odd_values_says_nothing(tmp_path: Path, record: dict[str, Any]) -> None:
    put(tmp_path, "topics/lessons.md", f"# Lessons\n{GIT}\n")
    put(tmp_path, "memory-scores.jsonl", json.dumps({"entries": {digest(GIT, exact=True): record}}))

    (item,) = items(read(tmp_path))

    assert (item.cue, item.rule, item.evidence, item.informs) == ("behavioral", "", 0, ())


def test_a_folder_without_any_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no topic files"):
        read(tmp_path)
    assert find(str(tmp_path), {}) is None


# ---- memories.db


def older(path: Path, *rows: tuple[Any, ...]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(path)
    base.execute(
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, date TEXT, category TEXT, sentiment TEXT, summary TEXT, "
        "details TEXT, tags TEXT, recall_count INTEGER, last_recalled TEXT)"
    )
    base.executemany("INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    base.commit()
    base.close()
    return path


def test_the_older_database_is_read_oldest_first_with_its_details(tmp_path: Path) -> None:
    older(
        tmp_path / ".pi/memory/memories.db",
        (1, "2026-02-01", "lesson", "good", "Later", None, "a, b", 3, "2026-03-01"),
        (2, "2026-01-01", "workflow", None, "Earlier", "In detail.", '["c"]', 0, None),
        (3, "2026-01-02", "done", None, " ", None, None, 0, None),
    )

    source = memories_db.read(tmp_path)

    assert said(source) == [("lesson", "Earlier\n\nIn detail."), ("lesson", "Later")]
    assert [(one.name, one.created, one.tags, one.notes) for one in items(source)] == [
        ("memories/2/2026-01-01", "2026-01-01T00:00:00Z", ("c", "workflow"), ()),
        (
            "memories/1/2026-02-01",
            "2026-02-01T00:00:00Z",
            ("a", "b"),
            ("sentiment: good", "recalled: 3", "last recalled: 2026-03-01"),
        ),
    ]
    assert left(source) == [("memories.db: 3", "has no text")]


def test_an_empty_older_database_holds_nothing_and_one_of_something_else_is_refused(tmp_path: Path) -> None:
    assert memories_db.read(older(tmp_path / "memories.db")).items == 0
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE memories (x)").connection.close()

    with pytest.raises(SourceError, match="no table `memories` with summaries"):
        memories_db.read(tmp_path / "other.db")
    with pytest.raises(SourceError, match="Nothing was imported"):
        memories_db.read(tmp_path / "nowhere")
