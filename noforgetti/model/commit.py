"""A commit as a value: who, when, why, in the words of the audit trail. Knows no git."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from noforgetti.model.entry import CommitId, Writer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.model.change import Change

SUBJECT_LIMIT = 72  # code points; the width that `git log --oneline` and mail clients show


class CommitKind(StrEnum):
    """What sort of change a commit is (trailer `Kind`). `OTHER` is a commit that we did not make."""

    WRITE = "write"
    REVIEW = "review"
    DREAM = "dream"
    UNDO = "undo"
    REDO = "redo"
    EDIT = "edit"
    IMPORT = "import"
    MERGE = "merge"
    REPAIR = "repair"
    ARCHIVE = "archive"
    PROMOTE = "promote"  # a promotion was proposed, applied or rejected
    RULE = "rule"  # a rule was bound to an entry, or taken off
    SKILL = "skill"
    GUIDELINE = "guideline"  # a review guideline was learned, or taken out
    CANDIDATE = "candidate"  # of the queue beside a branch, never of the branch
    REINFORCE = "reinforce"  # of the signals beside a branch, never of the branch
    OTHER = "other"


REVIEWS = frozenset({CommitKind.REVIEW, CommitKind.DREAM})


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a change. The address is not a mailbox: it names the sort of writer."""

    name: str
    email: str


AUTHORS = {
    Writer.USER: Author("user", "user@noforgetti"),
    Writer.AGENT: Author("agent", "agent@noforgetti"),
    Writer.REVIEW: Author("reviewer", "reviewer@noforgetti"),
    Writer.DREAM: Author("reviewer", "reviewer@noforgetti"),
    Writer.IMPORT: Author("importer", "importer@noforgetti"),
}


@dataclass(frozen=True, slots=True)
class Message:
    """A commit message in three parts: one line, what was done, and trailers that git reads."""

    subject: str
    body: str = ""
    trailers: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        trailers = "\n".join(f"{key}: {one_line(value)}" for key, value in self.trailers)
        parts = (clip(one_line(self.subject), SUBJECT_LIMIT), self.body.rstrip(), trailers)
        return "\n\n".join(part for part in parts if part) + "\n"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a memory branch. `time` is RFC 3339 UTC; `trailers` are in the order of the message."""

    id: CommitId
    parents: tuple[CommitId, ...]
    time: str
    author: Author
    subject: str
    body: str
    trailers: tuple[tuple[str, str], ...]

    def trailer(self, key: str) -> str:
        """The last value of a trailer, or an empty string."""
        return next((value for name, value in reversed(self.trailers) if name == key), "")

    @property
    def kind(self) -> CommitKind:
        """The commit's kind; anything we did not write is `OTHER`."""
        try:
            return CommitKind(self.trailer("Kind"))
        except ValueError:
            return CommitKind.OTHER

    @property
    def parent(self) -> CommitId | None:
        """The first parent: the branch's state before this commit."""
        return self.parents[0] if self.parents else None


def trailers(kind: CommitKind, entries: str = "", session: str = "") -> tuple[tuple[str, str], ...]:
    """The trailers that every change has: its kind, the entries it touches and the session it was asked for in, where
    there are any."""
    found = (("Kind", str(kind)), ("Entries", entries), ("Session", session))
    return tuple(one for one in found if one[1])


def parse_message(text: str) -> Message:
    """Split a message as git does: the trailers are the last paragraph, when each of its lines reads `Key: value`."""
    subject, _, rest = text.replace("\r\n", "\n").strip("\n").partition("\n")
    paragraphs = rest.strip("\n").split("\n\n") if rest.strip() else []
    trailers = _trailers(paragraphs[-1]) if paragraphs else ()
    if trailers:
        paragraphs.pop()
    return Message(subject.strip(), "\n\n".join(paragraphs), trailers)


def _trailers(paragraph: str) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for line in paragraph.splitlines():
        key, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and found:  # a folded value goes on
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif colon and key.strip() and all(c.isalnum() or c == "-" for c in key.strip()) and key.isascii():
            found.append((key.strip(), value.strip()))
        else:
            return ()
    return tuple(found)


def describe(changes: Iterable[Change]) -> str:
    """The body of a message: one block an operation, `+` new text, `-` old text, each line indented."""
    lines: list[str] = []
    for change in changes:
        if change.before is not None and change.after is not None and change.before.text == change.after.text:
            lines.append(f"~ {change.id} ({_assessed(change)})")
            continue
        lines.append(f"{change.sign} {change.id}")
        lines += [f"  - {line}" for line in _lines(change.before.text if change.before else "")]
        lines += [f"  + {line}" for line in _lines(change.after.text if change.after else "")]
    return "\n".join(lines)


def _assessed(change: Change) -> str:
    before, after = change.before, change.after
    assert before is not None
    assert after is not None
    if before.importance != after.importance:
        return f"importance {before.importance} to {after.importance}"
    if before.pinned != after.pinned:
        return "pinned" if after.pinned else "unpinned"
    if before.category != after.category:
        return f"moved from {before.category} to {after.category}"
    if before.rule != after.rule:
        return (
            "a rule is bound to it"
            if after.rule and not before.rule
            else "other rule"
            if after.rule
            else "rule taken off"
        )
    if before.archived != after.archived:
        return "archived" if after.archived else "brought back"
    return "same text"


def _lines(text: str) -> list[str]:
    # An empty line would end the paragraph, and a later `Key: value` paragraph would read as trailers.
    return [line or "\u00b7" for line in text.splitlines()]


def entries_trailer(changes: Iterable[Change]) -> str:
    """The value of trailer `Entries`: `+id ~id -id`, in the order of the changes."""
    return " ".join(f"{change.sign}{change.id}" for change in changes)


def counted(changes: Iterable[Change]) -> str:
    """`add 2, replace 1, remove 3`: the part of a subject that counts operations; empty when there are none."""
    signs = [change.sign for change in changes]
    words = (("add", signs.count("+")), ("replace", signs.count("~")), ("remove", signs.count("-")))
    return ", ".join(f"{word} {count}" for word, count in words if count)


def one_line(text: str) -> str:
    """Every run of blanks and line ends as one blank."""
    return " ".join(text.split())


def clip(text: str, limit: int) -> str:
    """At most `limit` code points, the last of them `…` when something was cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
