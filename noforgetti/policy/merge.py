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
    # Only what stays here can stand for an entry of theirs: a twin that they removed is about to go.
    staying = {entry.text for entry in ours if str(entry.id) not in taken}
    doubled = {str(entry.id) for entry in theirs if entry.text in staying}
    wanted = {one: _NOWHERE if one in doubled else other.get(one, _NOWHERE) for one in taken}
    return _taking(wanted, mine, tuple(conflicts))


def _taking(wanted: Mapping[str, Place], mine: Mapping[str, Place], conflicts: tuple[str, ...]) -> Merged:
    put: dict[str, BlobId] = {}
    drop: list[str] = []
    entries = []
    for one, there in wanted.items():
        here = mine.get(one, _NOWHERE)
        if here == there:
            continue
        entries.append(one)
        kept = {path for path, _ in there}
        drop += [path for path, _ in here if path not in kept]
        put.update(dict(there - here))
    return Merged(put, tuple(drop), tuple(entries), conflicts)
