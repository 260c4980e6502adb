"""Derived state of one project, in SQLite: review cadence and leases, positions of reviews without a commit, accounts, traces.

Everything here may be lost. What is lost costs a repeated review at most: the memory, its history and the positions of
reviews that changed something are in the repository. A file that is no database any more is set aside and begun anew.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEMA = """
create table if not exists cadence(branch text primary key, value text not null);
create table if not exists position(branch text, session text, item text not null, offset integer not null,
    head text not null, time text not null, primary key (branch, session));
create table if not exists chain(branch text primary key, head text not null, value text not null);
create table if not exists account(id integer primary key, time text, branch text, reviewer text, outcome text, value text not null);
create table if not exists trace(id integer primary key, time text not null, level text not null, text text not null);
create table if not exists held(id integer primary key, branch text not null, time text not null, value text not null);
"""
_BUSY = 2_000  # ms; longer than any transaction here, shorter than a user's patience
_KEPT = 200  # rows of accounts and traces that are kept


class State:
    """The state of one project. Belongs to one thread."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._path = os.path.join(folder, "state.sqlite")
        self._db = self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            aside = f"{self._path}.damaged-{int(time.time())}"
            os.replace(self._path, aside)
            for tail in ("-wal", "-shm"):
                if os.path.exists(self._path + tail):
                    os.unlink(self._path + tail)
            db = self._connect()
        self._db = db
        self.trace(
            "warning",
            f"the state database was damaged; it was set aside as `{os.path.basename(aside)}` and begun anew",
        )
        return db

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, timeout=_BUSY / 1000)
        try:
            db.execute("pragma journal_mode=wal")
            db.execute("pragma synchronous=normal")
            db.executescript(_SCHEMA)
        except sqlite3.DatabaseError:
            db.close()
            raise
        return db

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One immediate transaction: read, decide, write, with nobody in between."""
        self._db.execute("begin immediate")
        try:
            yield self._db
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def value(self, table: str, branch: str) -> dict[str, Any] | None:
        """The stored JSON object of a branch in `cadence`, or None."""
        row = self._db.execute(f"select value from {_known(table)} where branch = ?", (branch,)).fetchone()
        try:
            read = json.loads(row[0]) if row else None
        except ValueError:
            return None
        return read if isinstance(read, dict) else None

    def put_value(self, table: str, branch: str, value: dict[str, Any]) -> None:
        """Store the JSON object of a branch in `cadence`."""
        self._db.execute(
            f"insert or replace into {_known(table)}(branch, value) values (?, ?)",
            (branch, json.dumps(value)),
        )

    def chain(self, branch: str) -> tuple[str, dict[str, str]]:
        """The head up to which the branch's trailers were read, and the positions found: session to `item[+offset]`."""
        row = self._db.execute("select head, value from chain where branch = ?", (branch,)).fetchone()
        try:
            return (row[0], json.loads(row[1])) if row else ("", {})
        except ValueError:
            return "", {}

    def put_chain(self, branch: str, head: str, found: dict[str, str]) -> None:
        """Remember what the trailers up to `head` say."""
        self._db.execute("insert or replace into chain values (?, ?, ?)", (branch, head, json.dumps(found)))

    def note(self, branch: str, session: str) -> tuple[str, int, str] | None:
        """The position of the last review that made no commit: item, offset and the head it saw."""
        row = self._db.execute(
            "select item, offset, head from position where branch = ? and session = ?", (branch, session)
        ).fetchone()
        return (row[0], row[1], row[2]) if row else None

    def put_note(self, branch: str, session: str, item: str, offset: int, head: str) -> None:
        """Note how far a review without a commit has read."""
        self._db.execute(
            "insert or replace into position values (?, ?, ?, ?, ?, ?)",
            (branch, session, item, offset, head, _now()),
        )

    def copy_notes(self, source: str, target: str) -> None:
        """A fork inherits the notes of its source."""
        self._db.execute(
            "insert or ignore into position select ?, session, item, offset, head, time from position where branch = ?",
            (target, source),
        )

    def forget_branch(self, branch: str) -> None:
        """Drop everything about a deleted branch."""
        for table in ("cadence", "position", "chain", "held"):
            self._db.execute(f"delete from {table} where branch = ?", (branch,))

    def account(self, branch: str, reviewer: str, outcome: str, value: dict[str, Any]) -> None:
        """Keep what a review cost and did."""
        self._db.execute(
            "insert into account(time, branch, reviewer, outcome, value) values (?, ?, ?, ?, ?)",
            (_now(), branch, reviewer, outcome, json.dumps(value)),
        )
        self._db.execute("delete from account where id <= (select max(id) from account) - ?", (_KEPT,))

    def last_account(self, branch: str) -> dict[str, Any] | None:
        """The newest account of a branch."""
        row = self._db.execute(
            "select time, reviewer, outcome, value from account where branch = ? order by id desc limit 1",
            (branch,),
        ).fetchone()
        return {"time": row[0], "reviewer": row[1], "outcome": row[2], **json.loads(row[3])} if row else None

    def trace(self, level: str, text: str) -> None:
        """Leave a trace that `status` shows."""
        self._db.execute("insert into trace(time, level, text) values (?, ?, ?)", (_now(), level, text))
        self._db.execute("delete from trace where id <= (select max(id) from trace) - ?", (_KEPT,))

    def traces(self, limit: int = 5) -> list[dict[str, str]]:
        """The newest traces first."""
        rows = self._db.execute("select time, level, text from trace order by id desc limit ?", (limit,)).fetchall()
        return [{"time": time_, "level": level, "text": text} for time_, level, text in rows]

    def close(self) -> None:
        """Close the database."""
        self._db.close()


def _known(table: str) -> str:
    if table != "cadence":
        raise ValueError(table)
    return table


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
