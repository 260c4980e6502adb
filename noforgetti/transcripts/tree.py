"""A session as a tree of lines, and its current path: root to leaf, where the last line is the leaf.

Everything off the path was abandoned. A parent that is not there (on an unreadable line, or taken out by the host) can
be bridged by the line before it in the file: in a session that was never wound back that is the same path, and losing
everything before one gap would be worse.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class Tree:
    """Lines by id; `previous` is the line before each in the file, whatever its parent."""

    entries: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    parents: dict[str, str | None] = field(default_factory=dict)
    previous: dict[str, str] = field(default_factory=dict)
    leaf: str = ""

    def add(self, own: str, parent: object, entry: Mapping[str, Any]) -> bool:
        """Take the next line of the file; answers whether its id is new."""
        if own in self.entries:
            return False
        self.entries[own] = entry
        self.parents[own] = parent if isinstance(parent, str) and parent else None
        self.previous[own] = self.leaf
        self.leaf = own
        return True

    def path(self, *, bridged: bool = True) -> list[tuple[str, Mapping[str, Any]]]:
        """The lines from the root to the leaf; unless `bridged`, from the last one whose parent is not there."""
        found: list[tuple[str, Mapping[str, Any]]] = []
        seen: set[str] = set()
        at = self.leaf
        while at and at not in seen:
            seen.add(at)
            found.append((at, self.entries[at]))
            parent = self.parents[at]
            gone = parent is not None and parent not in self.entries
            before = self.previous[at] if bridged else ""
            at = before if gone else parent or ""
        return found[::-1]
