"""A derived SQLite database: it may vanish, be torn or be locked at any moment, and comes back empty.

What is in it can be made again, so trouble never stops a caller for long: a file that is no database any more is begun
anew, one that was deleted under us is noticed, and `trouble` says in one sentence what happened.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from noforgetti.store import folders

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAUSE = 16  # looks: a search or a refresh takes one to three
_BUSY = 0.25  # seconds: a search never waits for somebody else's indexing, which tries again later anyway


class Database:
    """One connection to the database at `path`, or to one in memory (`None`). Belongs to one thread."""

    def __init__(self, path: str | None, schema: str, version: int) -> None:
        self.path, self.trouble = path, ""
        self._schema, self._version = schema, version
        self._depth = 0
        self._file: tuple[int, int] | None = None
        self._in_memory = path is None
        self._looks = 0  # since it had to be kept in memory
        self.db = self._open() or self._connect(":memory:")

    def renewed(self) -> bool:
        """Look whether the file is still the one that was opened; open it anew if not. True when it was.

        One that could not be used is tried again now and then: it may only have been busy, or the disk full."""
        if self.path is None or self._depth:
            return False
        self._looks += self._in_memory
        if self._file == _identity(self.path) and (not self._in_memory or self._looks % _PAUSE):
            return False
        before, self.trouble = (self.trouble if self._in_memory else ""), ""
        db = self._open()
        if db is None and before:
            return False  # what is in memory stays
        self.close()
        self.db = db or self._connect(":memory:")
        return True

    def begin_anew(self, error: Exception) -> None:
        """The file turned out to be damaged: drop it and start with an empty one."""
        self.trouble = f"`{self.path}` was damaged ({error}); it was begun anew"
        self.close()
        if self.path is not None:
            _remove(self.path)
        self._depth = 0
        self.db = self._open() or self._connect(":memory:")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing. Transactions may be nested; the outermost one counts. Raises `sqlite3.OperationalError` when
        another process is writing."""
        if self._depth:
            yield self.db
            return
        self.db.execute("begin immediate")
        self._depth = 1
        try:
            yield self.db
        except BaseException:
            with suppress(sqlite3.Error):
                self.db.execute("rollback")
            raise
        else:
            self.db.execute("commit")
        finally:
            self._depth = 0

    def close(self) -> None:
        """Close the connection."""
        with suppress(sqlite3.Error):
            self.db.close()

    def _open(self) -> sqlite3.Connection | None:
        """The file, opened; None when it has to be kept in memory."""
        if self.path is None:
            return None
        try:
            folders.make(os.path.dirname(self.path))
            try:
                db = self._connect(self.path)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError as error:
                self.trouble = f"`{self.path}` was damaged ({error}); it was begun anew"
                _remove(self.path)
                db = self._connect(self.path)
            self._file = _identity(self.path)
        except (OSError, sqlite3.Error) as error:
            self.trouble = f"`{self.path}` cannot be used ({error}); it is kept in memory for now"
            self._file, self._in_memory = _identity(self.path), True
            return None
        self._in_memory = False
        return db

    def _connect(self, path: str) -> sqlite3.Connection:
        if path == self.path:
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        db = sqlite3.connect(path, isolation_level=None, timeout=_BUSY)
        try:
            db.execute("pragma journal_mode=wal")
            db.execute("pragma synchronous=off")  # derived: a power cut may cost the file, never a memory
            db.execute("pragma secure_delete=on")  # what a user deletes is gone from the file, whoever built SQLite
            made_by = _made_by(db)
            if made_by > self._version:  # a newer version runs beside this one; to drop its index would start a war
                raise sqlite3.OperationalError(f"it was made by a newer version of the index, {made_by}")
            if made_by not in (0, self._version):
                raise sqlite3.DatabaseError(f"it was made by version {made_by} of the index")
            if made_by == 0:
                self._create(db)
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _create(self, db: sqlite3.Connection) -> None:
        db.execute("begin immediate")
        if _made_by(db) == 0:  # else another process was faster
            for statement in self._schema.split(";"):
                if statement.strip():
                    db.execute(statement)
            db.execute(f"pragma user_version = {self._version}")
        db.execute("commit")


def _made_by(db: sqlite3.Connection) -> int:
    return int(db.execute("pragma user_version").fetchone()[0])


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove(path: str) -> None:
    for tail in ("-wal", "-shm", ""):
        with suppress(OSError):
            os.unlink(path + tail)
