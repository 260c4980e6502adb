"""Three-way merge in the terms of entries, by blob id.

Each entry is taken from the side that changed it. An entry that both sides changed in different ways is a conflict: the
caller says which side counts, or nothing is merged. Two entries with the same words are one fact: the one that is here
already stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from noforgetti.policy.undo import Place, places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from noforgetti.model.entry import BlobId, Snapshot

_NOWHERE: Place = frozenset()


class Side(StrEnum):
    """Whose version counts when both changed an entry."""

    OURS = "ours"
    THEIRS = "theirs"


@dataclass(frozen=True, slots=True)
class Merged:
    """What to write on our side: blobs to put at paths, paths to drop. `entries` change, `settled` were conflicts."""

    put: Mapping[str, BlobId]
    drop: tuple[str, ...]
    entries: tuple[str, ...]
    settled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflicted:
    """Both sides changed these entries in different ways. Nothing may be written."""

    entries: tuple[str, ...]


def merge(base: Snapshot, ours: Snapshot, theirs: Snapshot, *, prefer: Side | None = None) -> Merged | Conflicted:
    """What our side has to take over so that it holds the changes of both."""
    was, mine, other = places(base), places(ours), places(theirs)
    taken, conflicts = [], []
    for one in {**mine, **other}:
        before, here, there = was.get(one, _NOWHERE), mine.get(one, _NOWHERE), other.get(one, _NOWHERE)
        if there in (before, here):
            continue
        if here != before:
            conflicts.append(one)
            if prefer is not Side.THEIRS:
                continue
        taken.append(one)
    if conflicts and prefer is None:
        return Conflicted(tuple(conflicts))
    return _taking(taken, ours, theirs, tuple(conflicts))


def _taking(taken: list[str], ours: Snapshot, theirs: Snapshot, conflicts: tuple[str, ...]) -> Merged:
    mine, other = places(ours), places(theirs)
    put: dict[str, BlobId] = {}
    drop: list[str] = []
    entries = []
    # Only what stays here can stand for an entry of theirs: a twin that they removed is about to go.
    staying = {entry.text for entry in ours if str(entry.id) not in taken}
    words = {str(entry.id): entry.text for entry in theirs}
    for one in taken:
        here, there = mine.get(one, _NOWHERE), other.get(one, _NOWHERE)
        if words.get(one) in staying:
            there = _NOWHERE
        if here == there:
            continue
        entries.append(one)
        kept = {path for path, _ in there}
        drop += [path for path, _ in here if path not in kept]
        put.update(dict(there - here))
    return Merged(put, tuple(drop), tuple(entries), conflicts)
