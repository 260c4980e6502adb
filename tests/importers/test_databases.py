"""Databases that somebody is writing, or that a killed writer left: what is read is what was committed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from noforgetti.importers.base import SourceError
from noforgetti.importers.databases import opened

if TYPE_CHECKING:
    from pathlib import Path

KILLED = """
import os, sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
base.execute("PRAGMA cache_size = 1")  # pages go to the file before the commit
base.execute("BEGIN")
base.execute("UPDATE note SET text = 'not ' || text")
os._exit(9)
"""
COMMITTED = "committed " * 50


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A database of one table with rows on many pages."""
    path = tmp_path / "some.db"
    made = sqlite3.connect(path)
    made.execute("CREATE TABLE note (text)")
    made.executemany("INSERT INTO note VALUES (?)", [(COMMITTED,)] * 200)
    made.commit()
    made.close()
    for name in os.listdir(tmp_path):
        os.utime(tmp_path / name, (1, 1))
    return path


def notes(path: Path) -> set[str]:
    """The texts of a database, each once."""
    with opened(path) as found:
        return {row["text"] for row in found.rows("note", "text")}


@pytest.mark.parametrize("linked", [False, True])
def test_what_a_killed_writer_had_not_committed_is_not_read(base: Path, tmp_path: Path, linked: bool) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(base)], check=False)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    assert set(before) == {"some.db", "some.db-journal"}
    assert b"not committed" in before["some.db"]
    if linked:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "link.db").symlink_to(base)

    assert notes(tmp_path / "elsewhere" / "link.db" if linked else base) == {COMMITTED}
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def written_while_copied(monkeypatch: pytest.MonkeyPatch, *, times: int) -> None:
    """Somebody commits while the database is copied, the first `times` times."""
    copyfile = shutil.copyfile
    texts = iter(range(times))

    def copy(source: str, target: str) -> None:
        copyfile(source, target)
        if source.endswith(".db") and (number := next(texts, None)) is not None:
            with closing(sqlite3.connect(source)) as base, base:
                base.execute("UPDATE note SET text = ?", (f"change {number}",))
            os.utime(source, (1, number + 2))

    monkeypatch.setattr(shutil, "copyfile", copy)


def test_a_database_that_is_written_all_the_time_is_refused(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written_while_copied(monkeypatch, times=1_000)

    with pytest.raises(SourceError, match="is being written all the time"):
        notes(base)


def test_a_database_is_copied_again_after_its_writer_wrote(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written_while_copied(monkeypatch, times=2)

    assert notes(base) == {"change 1"}


def test_a_journal_that_names_another_file_is_refused_and_the_file_stays(base: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(base)], check=False)
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    name = str(mine).encode()
    end = [len(name).to_bytes(4), sum(name).to_bytes(4), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"]
    with (tmp_path / "some.db-journal").open("ab") as journal:
        journal.write(b"".join([(1 << 30).to_bytes(4), name, *end]))

    with pytest.raises(SourceError, match="a change to several databases"):
        notes(base)
    assert mine.read_text() == "mine"
