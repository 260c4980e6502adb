"""Derived state of one project, in SQLite: review cadence and leases, positions without a commit, traces.

Everything here may be lost. What is lost costs a repeated review at most: the memory, its history and the positions of
reviews that changed something are in the repository. A file that is no database any more is set aside and begun anew.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from noforgetti.store import folders, locks

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEMA = """
create table if not exists cadence(branch text primary key, value text not null);
create table if not exists dream(branch text primary key, value text not null);
create table if not exists position(branch text, session text, item text not null, offset integer not null,
    head text not null, time text not null, primary key (branch, session));
create table if not exists chain(branch text primary key, head text not null, value text not null);
create table if not exists account(id integer primary key, time text, branch text, reviewer text, outcome text,
    value text not null);
create table if not exists unread(branch text, session text, file text not null, messages integer not null,
    unread integer not null, owner text not null, since text not null, primary key (branch, session));
create table if not exists approval(entry text, command text, time text not null, primary key (entry, command));
create table if not exists heard(sentence text primary key, at real not null);
create table if not exists trace(id integer primary key, time text not null, level text not null, text text not null);
"""
_FORGET = (
    "delete from cadence where branch = ?",
    "delete from dream where branch = ?",
    "delete from position where branch = ?",
    "delete from chain where branch = ?",
    "delete from unread where branch = ?",
)
_UNREADABLE = {"turns": None}
_BUSY = 2_000  # ms; longer than any transaction here, shorter than a user's patience
_KEPT = 200  # rows of accounts and traces that are kept


class State:
    """The state of one project. Belongs to one thread."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._path = os.path.join(folder, "state.sqlite")
        try:
            folders.make(folder)
            self._db = self._open()
        except (OSError, sqlite3.OperationalError) as error:
            # Nothing canonical is in here: without a place to write, it lasts as long as the process.
            self._db = self._connect(":memory:")
            self.trace("warning", f"the state folder cannot be used ({error}); reviews are counted in memory only")

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect(self._path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            with locks.alone(self.folder):
                return self._anew()

    def _anew(self) -> sqlite3.Connection:
        try:
            return self._connect(self._path)  # somebody else may have begun it anew while we waited
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            aside = f"{self._path}.damaged-{int(time.time())}"
            for tail in ("-wal", "-shm"):  # before the file: whoever finds no file begins its own
                if os.path.exists(self._path + tail):
                    os.unlink(self._path + tail)
            os.replace(self._path, aside)
            self._db = self._connect(self._path)
        aside = os.path.basename(aside)
        self.trace("warning", f"the state database was damaged; it was set aside as `{aside}` and begun anew")
        return self._db

    def _connect(self, path: str) -> sqlite3.Connection:
        if path == self._path:
            _made(path)
        db = sqlite3.connect(path, isolation_level=None, timeout=_BUSY / 1000)
        try:
            db.execute("pragma journal_mode=wal")
            db.execute("pragma synchronous=normal")
            db.executescript(_SCHEMA)
            _whole(db)
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

    def cadence(self, branch: str) -> dict[str, Any] | None:
        """The stored review schedule of a branch, or None; a torn one comes back unreadable."""
        row = self._db.execute("select value from cadence where branch = ?", (branch,)).fetchone()
        return (_object(row[0]) or _UNREADABLE) if row else None

    def put_cadence(self, branch: str, value: dict[str, Any]) -> None:
        """Store the review schedule of a branch."""
        self._db.execute("insert or replace into cadence values (?, ?)", (branch, json.dumps(value)))

    def dream(self, branch: str) -> dict[str, Any]:
        """When the branch was last consolidated, and who is at it; empty when nobody knows."""
        row = self._db.execute("select value from dream where branch = ?", (branch,)).fetchone()
        return (_object(row[0]) or {}) if row else {}

    def put_dream(self, branch: str, value: dict[str, Any]) -> None:
        """Remember that."""
        self._db.execute("insert or replace into dream values (?, ?)", (branch, json.dumps(value)))

    def chain(self, branch: str) -> tuple[str, dict[str, str]]:
        """The head up to which the branch's trailers were read, and the positions found: session to `item[+offset]`."""
        row = self._db.execute("select head, value from chain where branch = ?", (branch,)).fetchone()
        found = _object(row[1]) if row else None
        return (row[0], found) if found is not None else ("", {})

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
        for statement in _FORGET:
            self._db.execute(statement, (branch,))

    def put_unread(self, branch: str, session: str, file: str, prompts: int, owner: str) -> None:
        """Count prompts of a session that no review has read yet. `owner` is the process the session runs in."""
        self._db.execute(
            "insert into unread values (?, ?, ?, ?, ?, ?, ?) on conflict do update set file = excluded.file, "
            "messages = messages + excluded.messages, unread = unread + excluded.unread, owner = excluded.owner, "
            "since = iif(unread = 0, excluded.since, since)",
            (branch, session, file, prompts, prompts, owner, _now()),
        )

    def correct_unread(self, branch: str, session: str, messages: int, unread: int) -> None:
        """What the session really holds, where it was counted."""
        self._db.execute(
            "update unread set messages = ?, unread = ? where branch = ? and session = ?",
            (messages, unread, branch, session),
        )

    def read_all(self, branch: str, session: str) -> None:
        """A review has read the session to its end."""
        self._db.execute("update unread set unread = 0 where branch = ? and session = ?", (branch, session))

    def leave_unread(self, branch: str, session: str) -> None:
        """The session ended: its process does not read it any more."""
        self._db.execute("update unread set owner = '' where branch = ? and session = ?", (branch, session))

    def forget_unread(self, branch: str, session: str) -> None:
        """Nothing of the session waits to be read."""
        self._db.execute("delete from unread where branch = ? and session = ?", (branch, session))

    def unread(self) -> list[tuple[str, str, str, int, int, str, str]]:
        """Branch, session, file, messages, unread ones, owner and since when; the longest waiting first."""
        return self._db.execute("select * from unread order by since, branch, session").fetchall()

    def first_heard(self, sentence: str, at: float, within: float) -> bool:
        """Note a sentence by its name at `at` (UNIX time); False when it was noted within so many seconds before."""
        with self.transaction() as db:
            db.execute("delete from heard where at <= ? or at > ?", (at - within, at))
            return db.execute("insert or ignore into heard values (?, ?)", (sentence, at)).rowcount == 1

    def unheard(self, sentence: str) -> None:
        """Nothing became of the sentence: it may be noted again."""
        self._db.execute("delete from heard where sentence = ?", (sentence,))

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
        return {"time": row[0], "reviewer": row[1], "outcome": row[2], **(_object(row[3]) or {})} if row else None

    def approve(self, entry: str, command: str) -> None:
        """The user of this machine lets the entry's rule run exactly this command."""
        self._db.execute("insert or replace into approval values (?, ?, ?)", (entry, command, _now()))

    def approved(self) -> frozenset[tuple[str, str]]:
        """Entries and the commands that their rules may run on this machine."""
        return frozenset(self._db.execute("select entry, command from approval").fetchall())

    def trace(self, level: str, text: str) -> None:
        """Leave a trace that `status` shows; of one that says the same, this is the newest time."""
        self._db.execute("delete from trace where text = ?", (text,))
        self._db.execute("insert into trace(time, level, text) values (?, ?, ?)", (_now(), level, text))
        self._db.execute("delete from trace where id <= (select max(id) from trace) - ?", (_KEPT,))

    def traces(self, limit: int = 5) -> list[dict[str, str]]:
        """The newest traces first."""
        rows = self._db.execute("select time, level, text from trace order by id desc limit ?", (limit,)).fetchall()
        return [{"time": time_, "level": level, "text": text} for time_, level, text in rows]

    def close(self) -> None:
        """Close the database."""
        self._db.close()


def _made(path: str) -> None:
    """Make the file if it is missing: SQLite's own mode would be 0644, and its other files take over what this has.

    A file that is there is never opened: closing it would drop the locks of this process's other connections, and
    the next process to leave would delete the journal under them.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path) from None


def _whole(db: sqlite3.Connection) -> None:
    """SQLite notices a torn page when it reads it: better at the start than in the middle of a review."""
    found = db.execute("pragma quick_check(1)").fetchone()
    if found != ("ok",):
        raise sqlite3.DatabaseError(str(found))


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object in a column, or None when it holds something else."""
    try:
        read = json.loads(text)
    except (TypeError, ValueError):
        return None
    return read if isinstance(read, dict) else None


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
