"""Evidence: what was said in a session, as values. Never an instruction to whoever reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.sentinels import BEGIN, END

__all__ = ["BEGIN", "END", "Item", "Position", "Role", "Section", "Transcript", "Window"]


class Role(StrEnum):
    """Who speaks in one item of evidence."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"  # only the tool's name and whether it worked
    SUMMARY = "summary"  # the host's own compaction or branch summary


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was said. `id` is the host's entry id (or `#<line>` where a format has none), `at` its RFC 3339
    time or empty, `branch` the memory branch that was selected when it was said."""

    id: str
    role: Role
    text: str
    at: str = ""
    branch: BranchName = MAIN


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session's current path, root to leaf. `lineage` is the session's own id, then those it was forked from, whose
    items have the same ids. `broken` counts lines that could not be read."""

    session: str
    items: tuple[Item, ...]
    lineage: tuple[str, ...] = ()
    cwd: str = ""
    broken: int = 0
    _places: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def place(self, item: str) -> int | None:
        """The index of an item, or None when it is not on the path. Looked up once: a session may have 100,000."""
        if not self._places:
            self._places.update((one.id, index) for index, one in enumerate(self.items))
        return self._places.get(item)


@dataclass(frozen=True, slots=True)
class Position:
    """How far review has read: every item up to and with `item`, or, with `offset` > 0, only that many code points of
    the item's sanitised text."""

    item: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.item}+{self.offset}" if self.offset else self.item


@dataclass(frozen=True, slots=True)
class Section:
    """One item as the reviewer sees it: `label` is what an operation cites (`e1`, `e2`, …), `text` is sanitised."""

    label: str
    role: Role
    text: str
    item: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """The evidence of one review: at most 12 user turns and 32,000 sanitised characters (the contract's review window),
    oldest unreviewed first. `last` is where the position stands once this window is reviewed."""

    session: str
    sections: tuple[Section, ...]
    first: Position
    last: Position
    turns: int
    characters: int
    redactions: int = 0
