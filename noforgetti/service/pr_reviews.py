"""What was said in reviews of pull requests: kept, so that what was settled once is not raised again.

There is one store for the user, `pr-reviews.sqlite` beside the memories: a pull request names its repository itself,
and may be reviewed from any checkout of it. What reviewers send is judged whole before anything is written.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.code_review import Comment, PullRequest, Resolution, Review, Said, Status
from noforgetti.policy import secrecy
from noforgetti.policy.dismissal import former
from noforgetti.policy.text import normalise
from noforgetti.service import guidelines
from noforgetti.store import pr_reviews as store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from noforgetti.service.memory import Memory

Choice = TypeVar("Choice", Status, Resolution)
LARGEST = 4_000_000  # bytes of a batch, as of whatever else is read from standard input
_COMMENTS = 1_000  # of one batch: a review with more is no review
_BODY = 65_536  # characters of a body or an answer: the most that GitHub takes
_SHORT = 200  # characters of names, severities, ids of threads
_PATH = 4_096  # characters of a path: the most that Linux takes
_MOST = 2**63 - 1  # the largest number that SQLite keeps
_OWNER = re.compile(r"[A-Za-z0-9_][\w.-]*(?:/[\w.-]+)*", re.ASCII)  # groups of GitLab have slashes
_REPO = re.compile(r"[\w.-]+", re.ASCII)
_PULL = re.compile(r"(.+)/([^/#]+)#([0-9]{1,18})")
_OLD = "name the `pr-reviews.db` in `.pi/data` of a project"


class BadReview(NoForgettiError):
    """What was handed in is no review, or one of its comments is not complete. Nothing was written."""

    kind = Kind.USER
    reason = "bad-review"

    def __init__(self, what: str, hint: str = "`noforgetti pr-reviews add --help` shows the form") -> None:
        super().__init__(f"{what}. Nothing was written.", hint=hint)


@dataclass(frozen=True, slots=True)
class Batch:
    """A review as it was handed in, and the guidelines that its skipped comments teach."""

    review: Review
    guidelines: tuple[str, ...] = ()
    masked: int = 0  # secrets that were taken out of its texts


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a batch: how many comments were kept, how many were there already, and what was learned."""

    pull: PullRequest
    kept: int
    known: int
    masked: int
    learned: guidelines.Changed | None = None


@dataclass(frozen=True, slots=True)
class Matched:
    """A comment of a new review, and the newest former one that is the same finding (None: there is none)."""

    comment: Comment
    by: Said | None


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import of another store's file came to; `left` are comments that cannot be carried over, and why."""

    kept: int
    known: int
    masked: int
    left: tuple[tuple[str, str], ...]


def opened(memory: Memory) -> store.PrReviews:
    """The user's store."""
    return store.PrReviews(os.path.join(memory.places.data, "pr-reviews.sqlite"))


def add(memory: Memory, branch: str, data: bytes) -> Added:
    """Keep the comments of a review, all or none, and learn the guidelines that skipped ones teach. Raises
    `BadReview`, and what the store raises. A guideline that is refused refuses the batch."""
    batch = read(data)
    review = replace(batch.review, time=memory.stamp())
    learned = guidelines.learn(memory, branch, batch.guidelines) if batch.guidelines else None
    if learned is not None and learned.outcome == "refused":
        return Added(review.pull, 0, 0, 0, learned)
    kept, known = opened(memory).add([review], once=False)
    return Added(review.pull, kept, known, batch.masked, learned)


def match(memory: Memory, data: bytes) -> tuple[PullRequest, tuple[Matched, ...]]:
    """Which comments of a new review were made before, in any pull request of the repository. Writes nothing.
    Raises `BadReview`, and what the store raises."""
    review = read(data, finished=False).review
    kept, pull = opened(memory), review.pull
    files = {one.path: kept.of_file(pull.owner, pull.repo, one.path) for one in review.comments}
    return pull, tuple(Matched(one, former(one, files[one.path])) for one in review.comments)


def resolve(
    memory: Memory, pull: PullRequest, path: str, line: int | None, resolution: Resolution, response: str
) -> Said | None:
    """Note what came of the newest posted comment on that line (None: anywhere in the file); None when there is none.
    Raises `BadReview`, and what the store raises."""
    said, _ = _masked(_text({"response": response}, "response", "The answer", _BODY))
    return opened(memory).resolve(pull, _path({"path": path}, "path", "The answer"), line, resolution, said)


def history(memory: Memory, pull: PullRequest) -> tuple[Said, ...]:
    """All that was said in reviews of a pull request, oldest first."""
    return opened(memory).of_pull(pull)


def take_over(memory: Memory, path: str) -> Imported:
    """Keep what a file of the reference system's store (`pr-reviews.db`) holds. Taking it over again keeps nothing
    twice. The file is opened read-only. Raises `BadReview` when it cannot be read."""
    if not os.path.isfile(path):
        raise BadReview(f"`{path}` is no file", _OLD)
    try:
        found = store.read(path)
    except sqlite3.DatabaseError as error:
        raise BadReview(f"`{path}` is no store of reviews that can be read ({error})", _OLD) from None
    masked, left, reviews = 0, [], []
    for number, review in enumerate(found, 1):
        where = f"review {number} ({review.pull})"
        why = _wrong(review.pull)
        if why:
            left += [(f"{where}, comment {at}", why) for at in range(1, len(review.comments) + 1)]
            continue
        comments = []
        for comment in review.comments:
            clean, count = _clean(comment)
            comments.append(clean)
            masked += count
        time = _time(review.time) or memory.stamp()
        reviews.append(replace(review, comments=tuple(comments), time=time))
    kept, known = opened(memory).add(reviews, once=True)
    return Imported(kept, known, masked, tuple(left))


def recover(memory: Memory) -> tuple[str, int] | None:
    """Set a damaged store aside and begin anew with what can be read; see `PrReviews.recovered`."""
    return opened(memory).recovered()


def pull_of(words: str) -> PullRequest:
    """The pull request that `OWNER/REPO#N` names. Raises `BadReview`."""
    found = _PULL.fullmatch(words)
    pull = PullRequest(found[1], found[2], int(found[3])) if found else None
    if pull is None or _wrong(pull):
        raise BadReview(f"`{_shown(words)}` names no pull request", "write OWNER/REPO#N, such as octo/shop#12")
    return pull


def read(data: bytes, *, finished: bool = True) -> Batch:
    """A review from its JSON form (docs/pr-reviews.md). One that is not `finished` is not decided yet: its comments
    need no status and no reason. Raises `BadReview`."""
    if len(data) > LARGEST:
        raise BadReview(f"The review has more than {LARGEST:,} bytes")
    try:
        doc = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadReview(f"The review is no JSON document ({_shown(str(error))})") from None
    about = doc.get("metadata") if isinstance(doc, dict) else None
    listed = doc.get("comments") if isinstance(doc, dict) else None
    if not isinstance(about, dict) or not isinstance(listed, list):
        raise BadReview("The review is no object with `metadata` and a list of `comments`")
    if len(listed) > _COMMENTS:
        raise BadReview(f"The review has {len(listed):,} comments, more than {_COMMENTS:,}")
    where = "The metadata"
    pull = PullRequest(
        _text(about, "owner", where, _SHORT), _text(about, "repo", where, _SHORT), _pull_number(about.get("pr_number"))
    )
    why = _wrong(pull)
    if why:
        raise BadReview(f"{where}: {why}")
    head = _text(about, "head_sha", where, _SHORT) or _text(about, "commit_sha", where, _SHORT)
    author = _text(about, "author", where, _SHORT)
    comments, taught, masked = [], [], 0
    for at, one in enumerate(listed, 1):
        if not isinstance(one, dict):
            raise BadReview(f"Comment {at} is no object")
        comment, count = _clean(_comment(one, f"Comment {at}", finished=finished))
        comments.append(comment)
        masked += count
        taught += _taught(one, comment, f"Comment {at}") if finished else []
    return Batch(Review(pull, tuple(comments), head, author), tuple(taught), masked)


def _comment(one: Mapping[str, Any], where: str, *, finished: bool) -> Comment:
    status, reason = Status.POSTED, ""
    if finished:
        status = _one_of(Status, one.get("status"), "status", where) or Status.POSTED
        reason = _text(one, "skip_reason", where, _BODY)
        if status is Status.SKIPPED and not reason:
            raise BadReview(f"{where} was skipped without a `skip_reason`")
    body = _text(one, "body", where, _BODY)
    if not body:
        raise BadReview(f"{where} has no `body`")
    posted = _text(one, "posted_at", where, _SHORT)
    if posted and not _time(posted):
        raise BadReview(f"{where}: `posted_at` is `{_shown(posted)}`, no time such as 2026-11-30T12:00:00Z")
    return Comment(
        path=_path(one, "path", where),
        line=_number(one, "line", where),
        body=body,
        status=status,
        skip_reason=reason,
        severity=_text(one, "severity", where, _SHORT),
        thread=_text(one, "thread_id", where, _SHORT),
        number=_number(one, "comment_id", where),
        posted=_time(posted),
        resolution=_one_of(Resolution, one.get("resolution_status"), "resolution_status", where),
        response=_text(one, "author_response", where, _BODY),
    )


def _taught(one: Mapping[str, Any], comment: Comment, where: str) -> list[str]:
    text = _text(one, "guideline", where, _BODY)
    if text and comment.status is not Status.SKIPPED:
        raise BadReview(f"{where} has a `guideline`, which only a skipped one teaches")
    return [text] if text else []


def _clean(comment: Comment) -> tuple[Comment, int]:
    """The comment without secrets and without characters that no store keeps, and how many secrets there were."""
    (body, one), (reason, other), (response, third) = (
        _masked(text) for text in (comment.body, comment.skip_reason, comment.response)
    )
    return replace(comment, body=body, skip_reason=reason, response=response), one + other + third


def _masked(text: str) -> tuple[str, int]:
    return secrecy.redact(normalise(text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")))


def _text(one: Mapping[str, Any], key: str, where: str, most: int) -> str:
    value = one.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadReview(f"{where}: `{key}` is no text")
    value = value.encode("utf-8", "replace").decode().strip()
    if len(value) > most:
        raise BadReview(f"{where}: `{key}` has {len(value):,} characters, more than {most:,}")
    return value


def _path(one: Mapping[str, Any], key: str, where: str) -> str:
    path = _text(one, key, where, _PATH)
    if any(ord(char) < 32 for char in path):
        raise BadReview(f"{where}: `{key}` holds a control character")
    return path.removeprefix("./")


def _number(one: Mapping[str, Any], key: str, where: str) -> int | None:
    value = one.get(key)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        value = int(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST):
        return value
    raise BadReview(f"{where}: `{key}` is no number from 1 on")


def _pull_number(value: object) -> int:
    return _number({"pr_number": value}, "pr_number", "The metadata") or 0


def _one_of(kind: type[Choice], value: object, key: str, where: str) -> Choice | None:
    if value is None:
        return None
    found = next((one for one in kind if one == value), None)
    if found is None:
        choices = ", ".join(kind)
        raise BadReview(f"{where}: `{key}` is `{_shown(str(value))}`, none of {choices}")
    return found


def _wrong(pull: PullRequest) -> str:
    if not _OWNER.fullmatch(pull.owner) or not _REPO.fullmatch(pull.repo):
        return f"`{_shown(pull.owner)}` and `{_shown(pull.repo)}` are no `owner` and `repo`"
    return "" if 0 < pull.number <= _MOST else "there is no `pr_number` from 1 on"


def _time(text: str) -> str:
    """The time as RFC 3339 UTC, or nothing when it is none."""
    try:
        found = datetime.fromisoformat(text)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return found.isoformat().replace("+00:00", "Z")


def _shown(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())[:80]
