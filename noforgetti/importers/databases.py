"""SQLite databases of foreign memories: a copy is read, with what lies in the write-ahead log.

A database that another process writes, or that a killed one left, is whole only with its log; opening it where it lies
would write beside it. What is damaged is read as far as it goes.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noforgetti.importers.base import Leftover, SourceError
from noforgetti.importers.files import shown, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGNATURE = b"SQLite format 3\0"
_SEARCH = re.compile(r"_fts(?:_\w+)?$")
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
            shutil.copyfile(path, copy)
            log = Path(f"{path}-wal")
            if log.is_file():
                shutil.copyfile(log, f"{copy}-wal")
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
