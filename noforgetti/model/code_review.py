"""Reviews of pull requests as values: what was said of which line, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Whether a finding was put before the author, or kept back for a reason."""

    POSTED = "posted"
    SKIPPED = "skipped"


class Resolution(StrEnum):
    """What a reviewer judged of the author's answer to a posted comment."""

    FIXED = "resolved_fixed"
    ACCEPTED = "resolved_accepted"  # the author's reason not to change anything holds
    BAD_FIX = "resolved_bad_fix"
    NO_FIX = "resolved_no_fix"


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request: `owner` and `repo` as the forge spells them (their case means nothing), its number."""

    owner: str
    repo: str
    number: int

    def __str__(self) -> str:
        return f"{self.owner}/{self.repo}#{self.number}"


@dataclass(frozen=True, slots=True)
class Comment:
    """One finding of a review. `path` is empty and `line` None where it is about more; empty texts are unknown.
    `posted` is an RFC 3339 UTC time."""

    path: str
    line: int | None
    body: str
    status: Status = Status.POSTED
    skip_reason: str = ""
    severity: str = ""
    thread: str = ""
    number: int | None = None  # the forge's id of the comment
    posted: str = ""
    resolution: Resolution | None = None
    response: str = ""  # the author's, or what was done

    @property
    def dismissed(self) -> bool:
        """Is it settled that nothing is to be changed? Then it must not be raised again."""
        return self.status is Status.SKIPPED or self.resolution is Resolution.ACCEPTED


@dataclass(frozen=True, slots=True)
class Review:
    """One review of a pull request at one commit. `time` is RFC 3339 UTC."""

    pull: PullRequest
    comments: tuple[Comment, ...]
    head: str = ""
    author: str = ""
    time: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A comment as it was said: in which review."""

    comment: Comment
    pull: PullRequest
    head: str
    time: str
