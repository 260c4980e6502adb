"""SQLite databases of foreign memories: a copy is read, with its write-ahead log or rollback journal.

A database that another process writes, or that a killed one left, is whole only with its log or journal; opening it
where it lies would write beside it. What is damaged is read as far as it goes.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noforgetti.importers.base import Leftover, SourceError
from noforgetti.importers.files import shown, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGNATURE = b"SQLite format 3\0"
_SEARCH = re.compile(r"_fts(?:_\w+)?$")
_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"  # ends a journal that names the super-journal of several (pager.c)
_TRIES, _PAUSE = 20, 0.05  # of copying, and seconds between: a writer's commit takes some milliseconds
_TICK = (
    20_000_000  # nanoseconds in which two writes may get one time: a kernel's clock for files ticks every 1 to 10 ms
)
LARGEST = 1 << 30  # bytes: with vectors a database of 100,000 memories has some 200 MB


class Database:
    """An open copy. `left` says what could not be read, and what nobody asked for."""

    def __init__(self, base: sqlite3.Connection, where: str) -> None:
        self._base, self.where = base, where
        self._leftovers: list[Leftover] = []
        self._read: dict[str, set[str]] = {}

    def columns(self, table: str) -> tuple[str, ...]:
        """The columns of a table; none when there is no such table."""
        try:
            return tuple(str(row[1]) for row in self._base.execute(f'PRAGMA table_info("{table}")'))
        except sqlite3.Error as error:
            self._damaged(table, error)
            return ()

    def rows(self, table: str, *columns: str) -> Iterator[dict[str, Any]]:
        """The rows of a table in the order they were written, with those of the columns that it has; the others are
        None. A table that is not there has no rows, and one that is damaged those before the damage."""
        there = self.columns(table)
        self._read.setdefault(table, set()).update(columns)
        known = [one for one in columns if one in there]
        if not known:
            return
        named = ", ".join(f'"{one}"' for one in known)
        try:
            for row in self._base.execute(f'SELECT {named} FROM "{table}" ORDER BY rowid'):  # noqa: S608 - ours
                yield {**dict.fromkeys(columns), **dict(zip(known, row, strict=True))}
        except sqlite3.Error as error:
            self._damaged(table, error)

    def left(self) -> list[Leftover]:
        """What is damaged, and the tables and columns that hold something and were not read. A search index holds
        nothing of its own."""
        found = list(self._leftovers)
        try:
            told = self._base.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
            for table in (str(row[0]) for row in told):
                if table in self._read:
                    names = [one for one in self.columns(table) if one not in self._read[table]]
                    if more := [one for one in names if self._holds(table, f'"{one}" IS NOT NULL AND "{one}" <> \'\'')]:
                        found.append(Leftover(f"{self.where}: {table}", f"is not carried: {_named(more)}"))
                elif not table.startswith("sqlite_") and not _SEARCH.search(table) and self._holds(table, "1"):
                    found.append(Leftover(f"{self.where}: {shown(table)}", "is a table of something else"))
        except sqlite3.Error as error:
            found.append(Leftover(self.where, f"is damaged: {error}"))
        return found

    def _holds(self, table: str, condition: str) -> bool:
        query = f'SELECT 1 FROM "{table}" WHERE {condition} LIMIT 1'  # noqa: S608 - its own names, quoted
        return self._base.execute(query).fetchone() is not None

    def _damaged(self, table: str, error: sqlite3.Error) -> None:
        self._leftovers.append(Leftover(f"{self.where}: {table}", f"is damaged: {error}; what was read before is here"))


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """A database for reading. Raises `SourceError` when the file is none, is too large, or cannot be opened at all."""
    _look(path)
    with tempfile.TemporaryDirectory(prefix="noforgetti-") as folder:
        copy = Path(folder, "copy.db")
        try:
            _copy(path, copy)
        except OSError as error:
            raise SourceError(
                f"`{shown(path)}` cannot be copied: {error.strerror}. Nothing was imported.", hint="free space"
            ) from error
        base = sqlite3.connect(copy)
        base.text_factory = lambda raw: raw.decode(errors="replace")
        try:
            base.execute("SELECT count(*) FROM sqlite_master").fetchone()
            yield Database(base, path.name)
        except sqlite3.Error as error:
            raise SourceError(
                f"`{shown(path)}` cannot be read as a database: {error}. Nothing was imported.",
                hint="name the database file, or a backup of it",
            ) from error
        finally:
            base.close()


def _copy(path: Path, copy: Path) -> None:
    """Copy a database with its log and journal, all of one moment: again, while somebody writes."""
    real = os.path.realpath(path)  # beside it the log and journal lie
    for _ in range(_TRIES):
        began, before = time.time_ns(), _stamps(real)
        shutil.copyfile(real, copy)
        for beside in ("-wal", "-journal"):
            Path(f"{copy}{beside}").unlink(missing_ok=True)
            if os.path.isfile(real + beside) and not os.path.islink(real + beside):
                with suppress(FileNotFoundError):
                    shutil.copyfile(real + beside, f"{copy}{beside}")
        if _stamps(real) == before and not any(0 <= began - written < _TICK for _, _, written in before):
            break
        time.sleep(_PAUSE)
    else:
        raise SourceError(
            f"`{shown(path)}` is being written all the time. Nothing was imported.",
            hint="close the program that writes it, and import again",
        )
    _look_at_journal(path, Path(f"{copy}-journal"))


def _stamps(real: str) -> list[tuple[int, int, int]]:
    """What changes with every write to a database, its log and its journal: file, size, time."""
    found = []
    for name in (real, f"{real}-wal", f"{real}-journal"):
        try:
            about = os.lstat(name)
            found.append((about.st_ino, about.st_size, about.st_mtime_ns))
        except FileNotFoundError:
            found.append((0, 0, 0))
    return found


def _look_at_journal(path: Path, journal: Path) -> None:
    """Refuse a journal that names a file: SQLite may remove that file, wherever it is, when it rolls back."""
    data = journal.read_bytes() if journal.is_file() else b""
    if data[:1] not in (b"", b"\0") and data.endswith(_JOURNAL):
        raise SourceError(
            f"`{shown(path)}` is in the middle of a change to several databases. Nothing was imported.",
            hint="open it once with its own program, and import again",
        )


def is_database(path: Path) -> bool:
    """Whether a regular file begins as a database does."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except (OSError, ValueError, RuntimeError):
        return False


def _look(path: Path) -> None:
    if not is_database(path):
        whole(path)  # says what is wrong with a path that is no file
        raise SourceError(
            f"`{shown(path)}` is no SQLite database. Nothing was imported.", hint="name the database file"
        )
    size = path.stat().st_size
    if size > LARGEST:
        raise SourceError(
            f"`{shown(path)}` has {size:,} bytes, more than {LARGEST:,}. Nothing was imported.",
            hint="name another file",
        )


def _named(columns: list[str]) -> str:
    return ", ".join(f"`{shown(one)}`" for one in columns)
