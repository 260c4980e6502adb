"""Comments on pull requests, in one SQLite file of the user's. It is no copy of anything: nothing of it may be lost.

A write is on the disk when it returns. A file is put in its place whole, so an empty one is a damaged one. A damaged
file, or one of a newer version, is neither read in part nor written to; `recovered` sets it aside and begins a new one
with every row that can be read.

The tables and columns are those of the reference system, whose files `read` reads, too.
"""

# ruff: noqa: S608 - the pieces that SQL is put together from are the names above and below, never somebody's words
from __future__ import annotations

import os
import sqlite3
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.code_review import Comment, PullRequest, Resolution, Review, Said, Status
from noforgetti.store import folders, locks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

VERSION = 1  # `pragma user_version` of the files this version writes; the reference's have 0
_SCHEMA = """
create table pr_reviews(id integer primary key autoincrement, owner text not null, repo text not null,
    pr_number integer not null, head_sha text not null, author text, created_at text not null);
create table pr_comments(id integer primary key autoincrement,
    review_id integer not null references pr_reviews(id) on delete cascade, thread_id text, comment_id integer,
    path text, line integer, body text, severity text, posted_at text, status text not null default 'posted',
    skip_reason text, resolution_status text, author_response text);
create index pr_comments_of_review on pr_comments(review_id);
create index pr_comments_of_file on pr_comments(path);
create index pr_reviews_of_pull on pr_reviews(owner collate nocase, repo collate nocase, pr_number);
"""
_REVIEW = ("owner", "repo", "pr_number", "head_sha", "author", "created_at")
_COMMENT = (
    "thread_id",
    "comment_id",
    "path",
    "line",
    "body",
    "severity",
    "posted_at",
    "status",
    "skip_reason",
    "resolution_status",
    "author_response",
)
_BUSY = 5_000  # ms; a batch is written in far less
_PULL = "owner = ? collate nocase and repo = ? collate nocase"
_JOINED = f"""select {", ".join("r." + one for one in _REVIEW)}, {", ".join("c." + one for one in _COMMENT)}
    from pr_comments c join pr_reviews r on r.id = c.review_id where """
_ORDER = " order by r.created_at, c.id"


class ReviewsDamaged(NoForgettiError):
    """The file cannot be read as what it should be."""

    kind = Kind.CORRUPT
    reason = "damaged-reviews"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"The comments on pull requests in `{path}` cannot be read: {why}. Nothing was changed.",
            hint="`noforgetti pr-reviews recover` sets the file aside and keeps every comment that can be read",
        )


class NewerReviews(NoForgettiError):
    """The file was written by a newer version."""

    kind = Kind.UNAVAILABLE
    reason = "newer-format"

    def __init__(self, path: str, found: int) -> None:
        super().__init__(
            f"The comments on pull requests in `{path}` have version {found}, newer than {VERSION}."
            " Nothing was changed.",
            hint="upgrade noforgetti",
        )


class ReviewsUnavailable(NoForgettiError):
    """The disk, its permissions or another process do not allow it now."""

    kind = Kind.UNAVAILABLE
    reason = "reviews-unavailable"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"The comments on pull requests in `{path}` cannot be used now: {why}. Nothing was changed.",
            hint="try again when no other process uses them; else check space and permissions",
        )


class PrReviews:
    """The file at `path`. Reading one that is not there finds nothing and makes nothing; the first write makes it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def add(self, reviews: Sequence[Review], *, once: bool) -> tuple[int, int]:
        """Keep the comments of reviews, all or none; answers how many were kept and how many were there already.

        A comment is there already when one of the same pull request and commit says the same of the same line with the
        same status; with `once`, when its whole review is there (same pull request, commit and time).
        """
        kept = known = 0
        with self._written() as db:
            for review in reviews:
                new = review.comments
                if once:
                    new = () if _has_review(db, review) else new
                else:
                    new = tuple(one for one in dict.fromkeys(new) if not _has_comment(db, review, one))
                if new:
                    _insert(db, review, new)
                kept += len(new)
                known += len(review.comments) - len(new)
        return kept, known

    def resolve(
        self, pull: PullRequest, path: str, line: int | None, resolution: Resolution, response: str
    ) -> Said | None:
        """Note what came of the newest posted comment on that line (None: anywhere in the file); None when there is
        none. An empty `response` leaves the one that is there."""
        if not os.path.lexists(self.path):
            return None
        where = f"{_PULL} and pr_number = ? and path = ? and status = 'posted'"
        values: list[Any] = [pull.owner, pull.repo, pull.number, path]
        if line is not None:
            where, values = f"{where} and line = ?", [*values, line]
        with self._written() as db:
            row = db.execute(
                f"select c.id from pr_comments c join pr_reviews r on r.id = c.review_id where {where}"
                " order by r.created_at desc, c.id desc limit 1",
                values,
            ).fetchone()
            if row is None:
                return None
            db.execute(
                "update pr_comments set resolution_status = ?, author_response = coalesce(?, author_response)"
                " where id = ?",
                (resolution, response or None, row[0]),
            )
            return _said(db.execute(_JOINED + "c.id = ?", row).fetchone())

    def of_pull(self, pull: PullRequest) -> tuple[Said, ...]:
        """All that was said in reviews of a pull request, oldest first."""
        return self._found(f"{_PULL} and pr_number = ?", pull.owner, pull.repo, pull.number)

    def of_file(self, owner: str, repo: str, path: str) -> tuple[Said, ...]:
        """All that was said of a file in any pull request of the repository, oldest first."""
        return self._found(f"{_PULL} and path = ?", owner, repo, path)

    def trouble(self) -> NoForgettiError | None:
        """Why the file cannot be used, or None; for `doctor`."""
        try:
            self._found("false")
        except NoForgettiError as error:
            return error
        return None

    def recovered(self) -> tuple[str, int] | None:
        """Set a damaged file aside and begin a new one with what can be read: the name it has now, and how many
        comments were read. None when nothing is wrong. Raises `NewerReviews`, `ReviewsUnavailable`."""
        if not os.path.lexists(self.path):
            return None
        with self._guarded(), locks.alone(os.path.dirname(self.path)):
            trouble = self.trouble()
            if not isinstance(trouble, ReviewsDamaged):
                if trouble is not None:
                    raise trouble
                return None
            reviews = salvaged(self.path)
            aside = f"{self.path}.damaged-{int(time.time())}"
            # The journal goes first: one that lies beside a file it does not belong to would be read into it.
            with suppress(FileNotFoundError):
                os.replace(f"{self.path}-wal", f"{aside}-wal")
            with suppress(FileNotFoundError):
                os.unlink(f"{self.path}-shm")
            os.replace(self.path, aside)
            self._made(reviews)
            return aside, sum(len(one.comments) for one in reviews)

    def _found(self, where: str, *values: object) -> tuple[Said, ...]:
        if not os.path.lexists(self.path):
            return ()
        with self._guarded():
            db = self._opened()
            try:
                return tuple(_said(row) for row in db.execute(_JOINED + where + _ORDER, values))
            finally:
                db.close()

    @contextmanager
    def _written(self) -> Iterator[sqlite3.Connection]:
        with self._guarded():
            if not os.path.lexists(self.path):
                folders.make(os.path.dirname(self.path))
                with locks.alone(os.path.dirname(self.path)):
                    if not os.path.lexists(self.path):
                        self._made(())
            db = self._opened()
            try:
                db.execute("begin immediate")
                try:
                    yield db
                except BaseException:
                    db.execute("rollback")
                    raise
                db.execute("commit")
            finally:
                db.close()

    def _opened(self) -> sqlite3.Connection:
        if not os.path.isfile(self.path):
            raise ReviewsDamaged(self.path, "it is no file")
        if not os.path.getsize(self.path):
            raise ReviewsDamaged(self.path, "the file is empty")
        db = sqlite3.connect(self.path, isolation_level=None, timeout=_BUSY / 1000)
        try:
            self._checked(db)
            db.execute("pragma foreign_keys = on")
            db.execute("pragma synchronous = full")
        except BaseException:
            db.close()
            raise
        return db

    def _checked(self, db: sqlite3.Connection) -> None:
        found = db.execute("pragma user_version").fetchone()[0]
        if found > VERSION:
            raise NewerReviews(self.path, found)
        if found != VERSION:
            raise ReviewsDamaged(self.path, "it is another program's file")
        if db.execute("pragma quick_check(1)").fetchone()[0] != "ok":
            raise ReviewsDamaged(self.path, "it is damaged")

    def _made(self, reviews: Iterable[Review]) -> None:
        """Put a new file with these reviews in its place, whole."""
        temporary = f"{self.path}.new-{os.getpid()}"
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        db = sqlite3.connect(temporary, isolation_level=None)
        try:
            db.execute("pragma synchronous = full")
            db.executescript(f"begin; {_SCHEMA} pragma user_version = {VERSION}; commit;")
            db.execute("begin")
            for review in reviews:
                _insert(db, review, review.comments)
            db.execute("commit")
            db.execute("pragma journal_mode = wal")
        finally:
            db.close()
        os.replace(temporary, self.path)
        folder = os.open(os.path.dirname(self.path), os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn what SQLite and the system say into what a user can act upon."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise ReviewsUnavailable(self.path, str(error)) from error
        except sqlite3.DatabaseError as error:
            raise ReviewsDamaged(self.path, str(error)) from error
        except OSError as error:
            raise ReviewsUnavailable(self.path, error.strerror or str(error)) from error


def read(path: str) -> tuple[Review, ...]:
    """The reviews in a file of the reference system, or of ours, oldest first; it is opened read-only. Columns that an
    older version did not have are empty. Raises `sqlite3.DatabaseError` when it is no such file or damaged."""
    db = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, isolation_level=None, timeout=_BUSY / 1000)
    try:
        found = db.execute("pragma quick_check(1)").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        return _reviews(_rows(db, "pr_reviews", _REVIEW), _rows(db, "pr_comments", ("review_id", *_COMMENT)))
    finally:
        db.close()


def salvaged(path: str) -> tuple[Review, ...]:
    """Every review and comment that can still be read in a damaged file. Never raises for what the file holds."""
    if not os.path.isfile(path):
        return ()
    try:
        db = sqlite3.connect(path, isolation_level=None, timeout=_BUSY / 1000)
    except sqlite3.DatabaseError:
        return ()
    try:
        with suppress(sqlite3.DatabaseError):
            db.execute("pragma wal_checkpoint(truncate)")
        return _reviews(
            _rows(db, "pr_reviews", _REVIEW, torn=True), _rows(db, "pr_comments", ("review_id", *_COMMENT), torn=True)
        )
    finally:
        db.close()


def _rows(
    db: sqlite3.Connection, table: str, columns: Sequence[str], *, torn: bool = False
) -> dict[int, dict[str, Any]]:
    """The rows of a table by id. Of a torn one, those before the damage and those behind it."""
    found: dict[int, dict[str, Any]] = {}
    try:
        there = {row[1] for row in db.execute(f"pragma table_info({table})")}
    except sqlite3.DatabaseError:
        if torn:
            return {}
        raise
    listed = ", ".join(one if one in there else f"null as {one}" for one in columns)
    for order in ("asc", "desc") if torn else ("asc",):
        try:
            for own, *values in db.execute(f"select id, {listed} from {table} order by id {order}"):
                found[own] = dict(zip(columns, values, strict=True))
        except sqlite3.DatabaseError:
            if not torn:
                raise
    return dict(sorted(found.items()))


def _reviews(reviews: dict[int, dict[str, Any]], comments: dict[int, dict[str, Any]]) -> tuple[Review, ...]:
    of: dict[int, list[Comment]] = {own: [] for own in reviews}
    for row in comments.values():
        if row["review_id"] in of:
            of[row["review_id"]].append(_comment(row))
    return tuple(_review(row, of[own]) for own, row in reviews.items())


def _has_review(db: sqlite3.Connection, review: Review) -> bool:
    pull = review.pull
    return bool(
        db.execute(
            f"select 1 from pr_reviews where {_PULL} and pr_number = ? and head_sha = ? and created_at = ?",
            (pull.owner, pull.repo, pull.number, review.head, review.time),
        ).fetchone()
    )


def _has_comment(db: sqlite3.Connection, review: Review, comment: Comment) -> bool:
    pull = review.pull
    return bool(
        db.execute(
            "select 1 from pr_comments c join pr_reviews r on r.id = c.review_id"
            f" where {_PULL} and pr_number = ? and head_sha = ?"
            " and path = ? and line is ? and body = ? and status = ? and coalesce(skip_reason, '') = ?",
            (
                *(pull.owner, pull.repo, pull.number, review.head),
                *(comment.path, comment.line, comment.body, comment.status, comment.skip_reason),
            ),
        ).fetchone()
    )


def _insert(db: sqlite3.Connection, review: Review, comments: Iterable[Comment]) -> None:
    pull = review.pull
    own = db.execute(
        f"insert into pr_reviews({', '.join(_REVIEW)}) values (?, ?, ?, ?, ?, ?)",
        (pull.owner, pull.repo, pull.number, review.head, review.author or None, review.time),
    ).lastrowid
    db.executemany(
        f"insert into pr_comments(review_id, {', '.join(_COMMENT)}) values (?{', ?' * len(_COMMENT)})",
        [
            (
                *(own, one.thread or None, one.number, one.path, one.line, one.body, one.severity or None),
                *(one.posted or None, one.status, one.skip_reason or None, one.resolution, one.response or None),
            )
            for one in comments
        ],
    )


def _said(row: tuple[Any, ...]) -> Said:
    review = dict(zip(_REVIEW, row[: len(_REVIEW)], strict=True))
    comment = dict(zip(_COMMENT, row[len(_REVIEW) :], strict=True))
    told = _review(review, ())
    return Said(_comment(comment), told.pull, told.head, told.time)


def _review(row: dict[str, Any], comments: Iterable[Comment]) -> Review:
    pull = PullRequest(_text(row["owner"]), _text(row["repo"]), _number(row["pr_number"]) or 0)
    return Review(pull, tuple(comments), _text(row["head_sha"]), _text(row["author"]), _text(row["created_at"]))


def _comment(row: dict[str, Any]) -> Comment:
    """A row as a value: whatever another program wrote into a column, it becomes something of its type."""
    resolution = _text(row["resolution_status"])
    return Comment(
        path=_text(row["path"]),
        line=_number(row["line"]),
        body=_text(row["body"]),
        status=Status.SKIPPED if row["status"] == Status.SKIPPED else Status.POSTED,
        skip_reason=_text(row["skip_reason"]),
        severity=_text(row["severity"]),
        thread=_text(row["thread_id"]),
        number=_number(row["comment_id"]),
        posted=_text(row["posted_at"]),
        resolution=Resolution(resolution) if resolution in tuple(Resolution) else None,
        response=_text(row["author_response"]),
    )


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path)
