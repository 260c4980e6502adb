"""What the tests of readers share: files to read, and sources as what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.importers.base import Item, Source


def put(folder: Path, name: str, text: str | bytes) -> Path:
    """A file below a folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def items(source: Source) -> tuple[Item, ...]:
    """The items of a source of one branch and one state."""
    (branch,) = source.branches
    (state,) = branch.revisions
    return state.items


def said(source: Source) -> list[tuple[str, str]]:
    """Category and text of every item, in order."""
    return [(one.category, one.text) for one in items(source)]


def left(source: Source) -> list[tuple[str, str]]:
    """Place and reason of everything left over."""
    return [(one.where, one.why) for one in source.leftovers]
