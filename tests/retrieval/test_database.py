"""A derived database may vanish, be torn or locked at any moment."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from noforgetti.retrieval.database import Database

SCHEMA = "create table word(text text primary key)"


def words(database: Database) -> list[str]:
    return [text for (text,) in database.db.execute("select text from word order by text")]


def add(database: Database, text: str) -> None:
    with database.transaction() as db:
        db.execute("insert into word values (?)", (text,))


def test_what_one_connection_wrote_another_reads(tmp_path: Path) -> None:
    path = str(tmp_path / "cache" / "words.sqlite")
    add(Database(path, SCHEMA, 1), "kept")

    assert words(Database(path, SCHEMA, 1)) == ["kept"]


def test_the_file_is_private_and_its_folder_too(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "words.sqlite"
    add(Database(str(path), SCHEMA, 1), "kept")

    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize("damage", [b"", b"no database" * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_begun_anew(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "words.sqlite"
    path.write_bytes(damage)

    database = Database(str(path), SCHEMA, 1)
    add(database, "new")

    assert words(database) == ["new"]
    assert bool(database.trouble) == bool(damage)


def test_damage_that_shows_later_is_begun_anew(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "words.sqlite"), SCHEMA, 1)
    add(database, "old")

    database.begin_anew(sqlite3.DatabaseError("torn page"))
    add(database, "new")

    assert words(database) == ["new"]
    assert "torn page" in database.trouble


def test_a_file_of_another_version_is_begun_anew(tmp_path: Path) -> None:
    path = str(tmp_path / "words.sqlite")
    add(Database(path, SCHEMA, 1), "old")

    assert words(Database(path, SCHEMA, 2)) == []


def test_a_file_that_was_deleted_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "words.sqlite"
    database = Database(str(path), SCHEMA, 1)
    add(database, "old")
    for one in tmp_path.iterdir():
        one.unlink()

    assert database.renewed()
    assert words(database) == []
    assert not database.renewed()


def test_a_place_that_cannot_be_written_serves_from_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    database = Database(str(tmp_path / "file" / "words.sqlite"), SCHEMA, 1)
    add(database, "here")

    assert words(database) == ["here"]
    assert "kept in memory" in database.trouble


def test_a_failure_takes_the_whole_transaction_back(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "words.sqlite"), SCHEMA, 1)

    def fail() -> None:
        with database.transaction() as db:
            db.execute("insert into word values ('half')")
            with database.transaction() as inner:
                inner.execute("insert into word values ('half')")

    with pytest.raises(sqlite3.IntegrityError):
        fail()

    assert words(database) == []


def test_reading_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    path = str(tmp_path / "words.sqlite")
    writer, reader = Database(path, SCHEMA, 1), Database(path, SCHEMA, 1)
    add(writer, "before")
    with writer.transaction() as db:
        db.execute("insert into word values ('during')")
        seen = words(reader)

    assert seen == ["before"]


def test_a_second_writer_is_told_that_the_first_is_at_work(tmp_path: Path) -> None:
    path = str(tmp_path / "words.sqlite")
    first, second = Database(path, SCHEMA, 1), Database(path, SCHEMA, 1)

    with first.transaction(), pytest.raises(sqlite3.OperationalError):
        add(second, "too soon")

    add(second, "now")
    assert words(first) == ["now"]


def test_an_unwritable_folder_is_no_reason_to_fail(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        path = Path("/proc/none")  # root writes everywhere else
    else:
        path = tmp_path / "closed"
        path.mkdir(mode=0o500)

    assert words(Database(str(path / "words.sqlite"), SCHEMA, 1)) == []


def test_an_index_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "words.sqlite")
    add(Database(path, SCHEMA, 2), "newer")

    older = Database(path, SCHEMA, 1)
    add(older, "older")

    assert words(older) == ["older"]
    assert "newer version" in older.trouble
    assert words(Database(path, SCHEMA, 2)) == ["newer"]
