"""The file of candidates: what waits for somebody to say whether it becomes a memory, beside the branches.

`refs/noforgetti/candidates/<branch>` is a chain of commits whose tree holds `candidates.jsonl`: one JSON object a line,
the oldest first. Reading is total: a line that cannot be read is left out, and told. Writing keeps it, byte for byte,
and keeps every key that this version does not know.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from noforgetti.model.candidate import Candidate, CandidateKind
from noforgetti.model.entry import Category, CommitId, EntryId, Writer
from noforgetti.store.base import Book

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

BOOK = Book("refs/noforgetti/candidates/", "candidates.jsonl", "candidates")
_TEXTS = ("entry", "session", "said", "at", "reason", "operations")


@dataclass(frozen=True, slots=True)
class Queue:
    """The candidates of a branch at one commit of their ref, the oldest first. `reason` says in one sentence what could
    not be read."""

    candidates: tuple[Candidate, ...] = ()
    commit: CommitId | None = None
    reason: str = ""


def decode(data: bytes, commit: CommitId | None = None) -> Queue:
    """The candidates in a file. Never raises; of two lines with one id the later counts, in the place of the first."""
    found: dict[str, Candidate] = {}
    bad = 0
    for line in _lines(data):
        read = _read(line)
        if read is None:
            bad += 1
        else:
            found[read.id] = read
    lines = "1 line" if bad == 1 else f"{bad:,} lines"
    reason = f"{lines} of the memory's candidates cannot be read; they are kept as they are." if bad else ""
    return Queue(tuple(found.values()), commit, reason)


def encode(data: bytes, *, added: Iterable[Candidate] = (), gone: Collection[str] = ()) -> bytes:
    """The file without the candidates whose ids are `gone`, and with the new ones behind; every other line as it is."""
    kept = [line for line in _lines(data) if (read := _read(line)) is None or read.id not in gone]
    return b"".join(line + b"\n" for line in (*kept, *(_written(one) for one in added)))


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.strip()]


def _read(line: bytes) -> Candidate | None:
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict):
        return None
    texts: dict[str, Any] = {name: read.get(name, "") for name in (*_TEXTS, "category")}
    own, text, category = read.get("id"), read.get("text"), texts.pop("category")
    if not isinstance(own, str) or not own or not isinstance(text, str):
        return None
    if not all(isinstance(value, str) for value in (*texts.values(), category)):
        return None
    try:
        kind, writer = CandidateKind(str(read.get("kind"))), Writer(read.get("writer", "user"))
        topic = Category(category) if category else None
    except ValueError:
        return None
    return Candidate(own, kind, text, writer=writer, category=topic, **{**texts, "entry": EntryId(texts["entry"])})


def _written(one: Candidate) -> bytes:
    values = {"id": one.id, "kind": one.kind, "text": one.text, "writer": one.writer, "category": one.category or ""}
    values |= {name: getattr(one, name) for name in _TEXTS}
    return json.dumps({key: value for key, value in values.items() if value}, separators=(",", ":")).encode("ascii")
