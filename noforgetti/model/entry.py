"""An entry: one durable fact, and a snapshot: what a memory branch holds at one commit. Frozen values, no policy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EntryId = NewType("EntryId", str)
BranchName = NewType("BranchName", str)
CommitId = NewType("CommitId", str)
BlobId = NewType("BlobId", str)

MAIN = BranchName("main")


class Category(StrEnum):
    """What sort of fact an entry is. The order is the order of every view."""

    PREFERENCE = "preference"
    LESSON = "lesson"
    PATTERN = "pattern"
    DECISION = "decision"
    DONE = "done"
    MISTAKE = "mistake"

    @property
    def folder(self) -> str:
        """The folder of the branch's tree that holds entries of this category."""
        return FOLDERS[self]


FOLDERS: Mapping[Category, str] = MappingProxyType(
    {
        Category.PREFERENCE: "preferences",
        Category.LESSON: "lessons",
        Category.PATTERN: "patterns",
        Category.DECISION: "decisions",
        Category.DONE: "completions",
        Category.MISTAKE: "mistakes",
    }
)
CATEGORY_OF_FOLDER: Mapping[str, Category] = MappingProxyType({v: k for k, v in FOLDERS.items()})


class Importance(StrEnum):
    """The cost of forgetting an entry: not its certainty, age or urgency."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class Cue(StrEnum):
    """How strongly an entry was learned."""

    EXPLICIT = "explicit"
    STRUCTURAL = "structural"
    BEHAVIORAL = "behavioral"
    RECURRENCE = "recurrence"


class Scope(StrEnum):
    """How far an entry reaches. `USER` entries hold in every project and live in the user-wide memory; `TASK` and
    `SESSION` entries expire, and live beside the branch."""

    USER = "user"
    PROJECT = "project"
    TASK = "task"
    SESSION = "session"

    @property
    def lasting(self) -> bool:
        """True when an entry of this scope stays until somebody takes it out."""
        return self in (Scope.USER, Scope.PROJECT)


class Writer(StrEnum):
    """Who wrote something. `USER` and `AGENT` write directly; the others are automatic or bring old memories in."""

    USER = "user"
    AGENT = "agent"
    REVIEW = "review"
    DREAM = "dream"
    IMPORT = "import"

    @property
    def automatic(self) -> bool:
        """True for writers that nobody asked for this very change."""
        return self in (Writer.REVIEW, Writer.DREAM)


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact. Identity is `id`; it survives every rewording. Nothing here changes by use.

    `text` is normalised (NFC, LF, trimmed); `created` and `assessed` are RFC 3339 UTC times or empty (unknown, nobody
    judged it). `rule` is one JSON object (see `policy.enforcement`). `expires` is for a scope that passes; `session` or
    `task` says whose the entry is. `supersedes` are entries whose place this one took, `derived` what it was made from,
    `informs` names of what rests on it. `origin` says where an imported entry came from (see `importers.base`).
    `extra` holds front-matter lines this version does not know, byte for byte.
    """

    id: EntryId
    text: str
    category: Category = Category.LESSON
    importance: Importance = Importance.NORMAL
    assessed: str = ""
    pinned: bool = False
    key: str = ""
    cue: Cue = Cue.EXPLICIT
    negative: bool = False
    archived: bool = False
    tags: tuple[str, ...] = ()
    confidence: float | None = None
    rule: str = ""  # one JSON object as text; non-empty means enforced
    scope: Scope = Scope.PROJECT
    task: str = ""
    expires: str = ""
    created: str = ""
    writer: Writer = Writer.USER
    session: str = ""
    supersedes: tuple[EntryId, ...] = ()
    derived: tuple[EntryId, ...] = ()
    informs: tuple[str, ...] = ()
    origin: str = ""
    extra: tuple[str, ...] = ()

    @property
    def enforced(self) -> bool:
        """True when a rule is bound to the entry."""
        return bool(self.rule)

    def with_text(self, text: str) -> Entry:
        """The same entry, reworded."""
        return replace(self, text=text)


@dataclass(frozen=True, slots=True)
class Stored:
    """An entry as it lies in a tree: equality of `blob` and `path` means "not touched"."""

    entry: Entry
    path: str
    blob: BlobId


@dataclass(frozen=True, slots=True)
class Damaged:
    """A file of the tree that cannot be read as an entry: reported and kept, never dropped."""

    path: str
    blob: BlobId
    reason: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a branch holds at one commit (`None`: before the first write).

    `entries` are in the order of every view: category, then time of creation, then id. `files` maps every regular file
    of the tree (entries and all others) to its blob, so that two snapshots can be compared without reading content.
    """

    commit: CommitId | None = None
    entries: tuple[Stored, ...] = ()
    damaged: tuple[Damaged, ...] = ()
    files: Mapping[str, BlobId] = field(default_factory=lambda: MappingProxyType({}))
    format: str = "1"

    def __iter__(self) -> Iterator[Entry]:
        return (stored.entry for stored in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def get(self, entry_id: EntryId) -> Stored | None:
        """The stored entry of that id, or None."""
        return next((stored for stored in self.entries if stored.entry.id == entry_id), None)

    @property
    def characters(self) -> int:
        """Sum of the entry texts in code points: the size every limit speaks of."""
        return sum(len(stored.entry.text) for stored in self.entries if not stored.entry.archived)
