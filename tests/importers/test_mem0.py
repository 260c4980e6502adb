"""mem0's exports and history. The documents are what mem0ai 2.2.1 wrote; the history's tables are its own."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from noforgetti.importers.base import SourceError
from noforgetti.importers.mem0 import read

from .sources import items, left, put, said

GOLDEN = Path(__file__).resolve().parent / "golden"
ONE: dict[str, Any] = {
    "id": "4170bc34-e03a-4846-bc0b-4039ee64e83e",
    "memory": "Staging deploys on 😀 Fridays",
    "hash": "7b0d568cc5de5988a0e98519342ed7eb",
    "metadata": {"category": "preference", "tags": ["deploy"], "room": "7"},
    "created_at": "2026-03-03T14:17:59.546249+00:00",
    "updated_at": "2026-05-01T00:17:59.546249+02:00",
    "user_id": "ada",
    "role": "user",
}
TWO = {
    "id": "a3a9253a",
    "memory": "I prefer pnpm over npm",
    "categories": ["tooling"],
    "immutable": True,
    "run_id": "r1",
}
SAID = [("preference", "Staging deploys on 😀 Fridays"), ("lesson", "I prefer pnpm over npm")]
COLUMNS = "id memory_id old_memory new_memory event created_at updated_at is_deleted actor_id role"


def test_an_export_keeps_dates_tags_and_what_else_is_said(tmp_path: Path) -> None:
    source = read(put(tmp_path, "export.json", json.dumps({"results": [ONE, TWO]}, indent=1)))

    first, second = items(source)
    assert (said(source), left(source)) == (SAID, [])
    assert (first.name, first.created, first.reinforced, first.tags) == (
        ONE["id"],
        "2026-03-03T14:17:59Z",
        "2026-04-30T22:17:59Z",
        ("deploy",),
    )
    assert first.notes == ("user_id: ada", "role: user", "room: 7")
    assert (second.tags, second.pinned, second.session, second.created) == (("tooling",), True, "r1", "")


FORMS = [
    json.dumps([ONE, TWO]),
    json.dumps({"memories": [ONE, TWO]}),
    "\n".join(map(json.dumps, (ONE, TWO))),
    json.dumps({"results": [{**ONE, "text": ONE["memory"], "memory": None}, TWO]}),
]


@pytest.mark.parametrize("text", FORMS)
def test_the_forms_of_an_export_say_the_same(tmp_path: Path, text: str) -> None:
    assert said(read(put(tmp_path, "export.json", text))) == SAID


def test_relations_are_sentences(tmp_path: Path) -> None:
    relations = [{"source": "ada", "relationship": "works_at", "target": "the shop"}]
    source = read(put(tmp_path, "export.json", json.dumps({"results": [TWO], "relations": relations})))

    assert said(source) == [("lesson", "I prefer pnpm over npm"), ("lesson", "ada works at the shop.")]


def test_what_has_no_text_is_left_over_and_a_file_of_nothing_else_refused(tmp_path: Path) -> None:
    source = read(put(tmp_path, "export.json", json.dumps([TWO, {"id": "x"}, 7])))
    assert left(source) == [
        ("export.json:2", "is no memory: it has no text"),
        ("export.json:3", "is no memory: it has no text"),
    ]

    with pytest.raises(SourceError, match="holds no memories of mem0"):
        read(put(tmp_path, "other.json", '[{"id": "x"}]'))


def history(path: Path, *rows: tuple[Any, ...], wal: bool = False) -> sqlite3.Connection:
    base = sqlite3.connect(path)
    if wal:
        base.execute("PRAGMA journal_mode=WAL")
    base.execute(f"CREATE TABLE history ({', '.join(COLUMNS.split())})")
    base.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)", rows)
    base.commit()
    return base


ROWS = (
    ("1", "a", None, "I prefer npm", "ADD", "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00+00:00", 0),
    ("2", "b", None, "A note", "ADD", "2026-01-02T00:00:00+00:00", None, 0),
    ("3", "a", "I prefer npm", "I prefer pnpm", "UPDATE", "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00", 0),
    ("4", "b", "A note", None, "DELETE", None, None, 1),
)


@pytest.mark.parametrize("wal", [False, True])
def test_a_history_gives_the_newest_texts_also_from_its_log(tmp_path: Path, wal: bool) -> None:
    base = history(tmp_path / "history.db", *ROWS, wal=wal)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    source = read(tmp_path)

    (item,) = items(source)
    assert (item.name, item.text, item.created, item.reinforced) == (
        "a",
        "I prefer pnpm",
        "2026-01-01T00:00:00Z",
        "2026-02-01T00:00:00Z",
    )
    assert left(source) == [("history.db", "1 of its memories were deleted there")]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    base.close()


def test_a_torn_database_and_one_of_something_else_are_refused(tmp_path: Path) -> None:
    history(tmp_path / "history.db", *ROWS).close()
    data = (tmp_path / "history.db").read_bytes()

    with pytest.raises(SourceError, match="cannot be read as a database"):
        read(put(tmp_path, "torn.db", data[:1000]))
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE x (y)").connection.close()
    with pytest.raises(SourceError, match="holds no history of mem0"):
        read(tmp_path / "other.db")


def test_the_vector_store_is_never_opened(tmp_path: Path) -> None:
    put(tmp_path, "collection/mem0/storage.sqlite", b"SQLite format 3\0")

    with pytest.raises(SourceError, match=r"holds no `history.db`"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["export.json", "history.db"])
def test_what_the_real_product_wrote_is_read(name: str) -> None:
    """Both files are of one run of mem0ai 2.2.1: two memories, one reworded, a third one deleted."""
    source = read(GOLDEN / f"mem0-2.2.1-{name}")

    found = {one.name[:8]: one.text for one in items(source)}
    assert found == {"df5cd73f": "I prefer pnpm over npm and yarn", "bd83165f": "Staging deploys on 😀 Fridays"}
    assert {one.created for one in items(source)} == {"2026-12-03T14:39:42Z"}
