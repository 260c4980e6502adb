"""Foreign memories as values: one protocol, one register of formats.

A reader is total: what it cannot read is a `Leftover` that says where and why, never an error; what is torn is read as
far as it goes. It changes nothing and opens its source read-only. Only a source that cannot be opened at all, is of
another format, or of a newer version than the reader knows raises `SourceError`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.entry import Category, Cue, Entry, Importance, Scope

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class SourceError(NoForgettiError):
    """A source that cannot be imported: missing, closed to us, another format, or newer than we know."""

    kind = Kind.USER
    reason = "unreadable-source"


@dataclass(frozen=True, slots=True)
class Item:
    """One remembered thing of a foreign memory.

    `name` is the source's stable name for it (an id, a key, a file and heading), unique in its branch; where the source
    has none, a file and a digest of the text. `group` is where it stands (a file, or a file and heading): an item whose
    name is new and one of the same group whose name is gone may be one thing, reworded. `text` is as the source has it,
    of any length. Times are RFC 3339 UTC or empty. `evidence` and `reinforced` are use, not content; 0 and empty mean
    that the source does not say. `rule` is one JSON object as `policy.enforcement` reads it, or empty. `notes` are
    facts about the item that no field holds; they are told in the report of the import. `own` is an entry of an export
    of ours: it arrives as it was, id and all, where its id is free.
    """

    name: str
    text: str
    group: str = ""
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
    rule: str = ""
    scope: Scope = Scope.PROJECT
    created: str = ""
    session: str = ""
    derived: tuple[str, ...] = ()  # names of other items
    informs: tuple[str, ...] = ()
    evidence: int = 0
    reinforced: str = ""
    forgotten: bool = False
    notes: tuple[str, ...] = ()
    own: Entry | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """One state of a branch of the source: everything it held at `time`. `subject` says what the source says of it."""

    items: tuple[Item, ...]
    time: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class SourceBranch:
    """A branch of the source, oldest revision first. `parent` is the branch it was forked from, if any. An empty `name`
    is the branch that the import was asked for."""

    revisions: tuple[Revision, ...]
    name: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something of the source that is not carried over: where it is, and why."""

    where: str
    why: str


@dataclass(frozen=True, slots=True)
class Source:
    """A foreign memory, read. `files` beside the entries go into the branch's tree as they are (`promotions.md`, say):
    path in the tree to bytes. `project` is the folder that the source names as its own, or empty. `only` is the name of
    the one file that was read where a memory has many: of the others it says nothing, nor that they are gone."""

    format: str
    branches: tuple[SourceBranch, ...]
    leftovers: tuple[Leftover, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    project: str = ""
    only: str = ""

    @property
    def items(self) -> int:
        """How many items the newest revisions hold."""
        return sum(len(one.revisions[-1].items) for one in self.branches if one.revisions)


class Reader(Protocol):
    """Reads the memory at a path (a file or a folder, as the format has it). `project` is the folder of the project
    that is imported into, for formats that keep many projects in one place."""

    def __call__(self, path: Path, *, project: str = "") -> Source: ...


class Finder(Protocol):
    """Where a project's memory of this format usually lies, or None. Looks, and opens nothing."""

    def __call__(self, project: str, environ: Mapping[str, str]) -> Path | None: ...


@dataclass(frozen=True, slots=True)
class Format:
    """A product's memory format. `reader` and `finder` are `module:function`, imported on first use."""

    name: str
    title: str
    reader: str
    finder: str = ""

    def load(self) -> Reader:
        """The reading function."""
        found: Reader = _function(self.reader)
        return found

    def find(self, project: str, environ: Mapping[str, str]) -> Path | None:
        """Where the memory usually lies, if it is there."""
        found: Finder | None = _function(self.finder) if self.finder else None
        return found(project, environ) if found else None


def _function(named: str):  # type: ignore[no-untyped-def]
    module, _, function = named.partition(":")
    return getattr(import_module(module), function)


FORMATS = (
    Format("no-forgetti", "No Forgetti's JSON store", "noforgetti.importers.no_forgetti:read"),
    Format(
        "pi-memory",
        "pi-memory's SQLite database",
        "noforgetti.importers.pi_memory:read",
        "noforgetti.importers.pi_memory:find",
    ),
    Format(
        "topics",
        "topic files with their score index",
        "noforgetti.importers.topics:read",
        "noforgetti.importers.topics:find",
    ),
    Format("memories-db", "the older memories.db", "noforgetti.importers.memories_db:read"),
    Format(
        "claude-code",
        "Claude Code's memory folder",
        "noforgetti.importers.claude_code:read",
        "noforgetti.importers.claude_code:find",
    ),
    Format(
        "instructions",
        "bullet lists of CLAUDE.md, AGENTS.md and their kind",
        "noforgetti.importers.instructions:read",
        "noforgetti.importers.instructions:find",
    ),
    Format("mcp-memory", "the MCP reference memory server's JSONL graph", "noforgetti.importers.mcp_memory:read"),
    Format("mem0", "an export of mem0", "noforgetti.importers.mem0:read"),
    Format("basic-memory", "basic-memory's notes", "noforgetti.importers.basic_memory:read"),
    Format("noforgetti", "an export of noforgetti", "noforgetti.importers.own:read"),
)
