"""The file of signals: what use has said about entries, beside the branches and never in them.

`refs/noforgetti/signals/<branch>` is a chain of commits whose tree holds `signals.jsonl`: one JSON object a line for
each entry that was reinforced or forgotten, sorted by id. Reading is total: a line that cannot be read is left out, and
told. Writing keeps it, byte for byte, and keeps every key that this version does not know.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from noforgetti.model.entry import CommitId, EntryId
from noforgetti.model.signal import Signal
from noforgetti.store.base import Book

if TYPE_CHECKING:
    from collections.abc import Mapping

SPACE = "refs/noforgetti/signals/"  # one beside each branch
FILE = "signals.jsonl"
BOOK = Book(SPACE, FILE, "signals")
_MOST = 2**53 - 1  # the largest count that every reader of JSON reads alike


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals of a branch at one commit of their ref. `reason` says in one sentence what could not be read."""

    by_id: Mapping[EntryId, Signal] = field(default_factory=lambda: MappingProxyType({}))
    commit: CommitId | None = None
    reason: str = ""


def decode(data: bytes, commit: CommitId | None = None) -> Signals:
    """The signals in a file. Never raises; of two lines for one entry the later counts."""
    found: dict[EntryId, Signal] = {}
    bad = 0
    for line in _lines(data):
        read = _read(line)
        if read is None:
            bad += 1
        else:
            found[EntryId(read["id"])] = _signal(read)
    lines = "1 line" if bad == 1 else f"{bad:,} lines"
    reason = f"{lines} of the memory's signals cannot be read; these entries count as never reinforced." if bad else ""
    return Signals(MappingProxyType(found), commit, reason)


def encode(data: bytes, changed: Mapping[EntryId, Signal]) -> bytes:
    """The file after some signals changed: sorted by id, what cannot be read behind."""
    known: dict[str, bytes] = {}
    objects: dict[str, dict[str, Any]] = {}
    unread: list[bytes] = []
    for line in _lines(data):
        read = _read(line)
        if read is None:
            unread.append(line)
        else:
            known[read["id"]], objects[read["id"]] = line, read
    for own, signal in changed.items():
        known[own] = _written(own, signal, objects.get(own, {}))
    return b"".join(line + b"\n" for line in (*(known[own] for own in sorted(known)), *unread))


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.strip()]


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict):
        return None
    evidence, forgotten = read.get("evidence", 1), read.get("forgotten", False)
    right = (
        isinstance(read.get("id"), str)
        and type(evidence) is int
        and 1 <= evidence <= _MOST
        and isinstance(read.get("reinforced", ""), str)
        and isinstance(forgotten, bool)
    )
    return read if right else None


def _signal(read: Mapping[str, Any]) -> Signal:
    return Signal(read.get("evidence", 1), read.get("reinforced", ""), read.get("forgotten", False))


def _written(own: str, signal: Signal, before: Mapping[str, Any]) -> bytes:
    known = {"id": own, "evidence": min(signal.evidence, _MOST), "reinforced": signal.reinforced}
    if signal.forgotten:
        known["forgotten"] = True
    others = {key: value for key, value in before.items() if key not in (*known, "forgotten")}
    return json.dumps(known | others, ensure_ascii=True, separators=(",", ":")).encode("ascii")
