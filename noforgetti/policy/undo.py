"""Selective undo, as a comparison of three states by blob id.

A commit turned `before` into `after`; the branch is at `now`. An entry that the commit touched is put back only if it
is still exactly what the commit left. One that somebody changed since stops the whole undo: nothing is written. What
the commit did not touch stays as it is. Undoing an undo by the same rule is redo.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from noforgetti.model.entry import BlobId, Entry, EntryId, Snapshot

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Place = frozenset[tuple[str, BlobId]]
_NOWHERE: Place = frozenset()


@dataclass(frozen=True, slots=True)
class Restore:
    """What to write: blobs to put at paths, paths to drop. `entries` are put back or taken out, `already` are."""

    put: Mapping[str, BlobId]
    drop: tuple[str, ...]
    entries: tuple[str, ...]
    already: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Halted:
    """Undo would overwrite later work, so nothing may be written. `entries` changed since."""

    entries: tuple[str, ...]


def plan(before: Snapshot, after: Snapshot, now: Snapshot, *, only: Collection[str] | None = None) -> Restore | Halted:
    """Take back what turned `before` into `after`, unless what it touched changed since. `only` names the entries (by
    id) and other files (by path) that are meant; None means all."""
    was, left, here = places(before), places(after), places(now)
    touched = [one for one in {**was, **left} if was.get(one) != left.get(one) and (only is None or one in only)]
    # What says the words without this commit: an entry it touched may be about to change or go itself.
    texts = {entry.text: entry.id for entry in now if entry.id not in touched or _same(entry.id, here, was)}
    moved, already, entries = [], [], []
    put: dict[str, BlobId] = {}
    drop: list[str] = []
    for one in touched:
        old, current = was.get(one, _NOWHERE), here.get(one, _NOWHERE)
        twin = texts.get(text) if (text := _text(before, one)) is not None else None
        if current == old:
            already.append(one)
        elif current != left.get(one, _NOWHERE):
            moved.append(one)
        elif twin is not None and twin != one:
            # Somebody wrote the same words again: they are back already, and a second copy helps nobody.
            already.append(one)
            drop += [path for path, _ in current]
        else:
            entries.append(one)
            drop += [path for path, _ in current - old if path not in {place for place, _ in old}]
            put.update(dict(old - current))
    if moved:
        return Halted(tuple(moved))
    return Restore(put, tuple(drop), tuple(entries), tuple(already))


def _same(one: str, here: Mapping[str, Place], was: Mapping[str, Place]) -> bool:
    return here.get(one) == was.get(one)


def touched(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Ids of the entries (and paths of other files) that differ between two states."""
    was, left = places(before), places(after)
    return tuple(one for one in {**was, **left} if was.get(one) != left.get(one))


def places(snapshot: Snapshot) -> dict[str, Place]:
    """Every file by what it stands for: an entry's id for the files in the folders of entries, the path for others."""
    found: dict[str, set[tuple[str, BlobId]]] = {}
    ids = {stored.path: str(stored.entry.id) for stored in snapshot.entries}
    for path, blob in snapshot.files.items():
        if path != "format":
            found.setdefault(ids.get(path, path), set()).add((path, blob))
    return {one: frozenset(places) for one, places in found.items()}


def _text(snapshot: Snapshot, one: str) -> str | None:
    stored = snapshot.get(EntryId(one))
    return stored.entry.text if stored else None


def size_after(now: Snapshot, texts: Mapping[str, Entry], drop: Collection[str]) -> int:
    """Characters of the branch once paths are dropped and the entries of `texts` (by path) put."""
    kept = {stored.path: stored.entry for stored in now.entries if stored.path not in drop}
    return sum(len(entry.text) for entry in {**kept, **texts}.values() if not entry.archived)
