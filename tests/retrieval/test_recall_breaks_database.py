"""A derived database that could not be opened comes back when it can."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from noforgetti.retrieval.database import _PAUSE, Database

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "create table word(text text primary key)"


def test_a_database_that_was_busy_when_it_was_opened_is_tried_again(tmp_path: Path) -> None:
    path = str(tmp_path / "words.sqlite")
    Database(path, SCHEMA, 1).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("pragma journal_mode=delete")
    other.execute("begin exclusive")
    database = Database(path, SCHEMA, 1)
    with database.transaction() as db:
        db.execute("insert into word values ('in memory')")
    assert "kept in memory for now" in database.trouble

    still = [database.renewed() for _ in range(_PAUSE)]
    kept = database.db.execute("select text from word").fetchall()
    other.close()
    then = [database.renewed() for _ in range(_PAUSE)]

    assert (any(still), kept) == (False, [("in memory",)])
    assert then == [False] * (_PAUSE - 1) + [True]
    assert (database.trouble, database.db.execute("select text from word").fetchall()) == ("", [])
    database.close()


def test_a_folder_that_comes_back_is_used_again_and_nobody_complains(tmp_path: Path) -> None:
    blocked = tmp_path / "cache"
    blocked.write_text("no folder")
    database = Database(str(blocked / "words.sqlite"), SCHEMA, 1)
    assert database.trouble
    blocked.unlink()

    renewed = [database.renewed() for _ in range(_PAUSE)]

    assert (sum(renewed), database.trouble) == (1, "")
    database.close()
