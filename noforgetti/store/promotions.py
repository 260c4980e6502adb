"""The file of promotions, `promotions.md` in a branch's tree: Markdown that people read and may write into.

A heading `### <12 hex digits>` and the lines below it, up to an empty line or the next heading, are one promotion.
Reading is total: a block that cannot be read is told and counts for nothing. Writing changes only the blocks it is
given; everything else (broken blocks, lines this version does not know, words somebody wrote beside them) stays byte
for byte. Undo and merge work block by block, so that two promotions never stand in each other's way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from noforgetti.model.entry import Category, EntryId
from noforgetti.model.promotion import Destination, Promotion, Status
from noforgetti.store.codec import ENTRY_ID, quoted, unquoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

FILE = "promotions.md"
HEADER = """\
# Promotions

Memories with enough evidence to become something stronger: a rule, a skill, a rule of the project, or nothing.
`noforgetti promotions` lists, accepts and rejects them. Words beside the blocks are yours and stay as they are.
"""
_HEADING = re.compile(r"###\s+([0-9a-f]{12})\s*")
_LINE = re.compile(r"-\s+([a-z_]+):\s?(.*?)\s*")
_ANY_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def _entry(value: str) -> EntryId:
    if not ENTRY_ID.fullmatch(value):
        raise ValueError(value)
    return EntryId(value)


def _count(value: str) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) < 16):
        raise ValueError(value)
    return int(value)


# One line a key, in the order of the file: the line's key, how to write it, and which field it is read into.
_KEYS: tuple[tuple[str, str, Callable[[Promotion], str], Callable[[str], object]], ...] = (
    ("destination", "destination", lambda p: p.destination, Destination),
    ("status", "status", lambda p: p.status, Status),
    ("entry", "entry", lambda p: p.entry, _entry),
    ("category", "category", lambda p: p.category, Category),
    ("text", "text", lambda p: quoted(p.text), unquoted),
    ("reason", "reason", lambda p: quoted(p.reason) if p.reason else "", unquoted),
    ("created", "created", lambda p: quoted(p.created) if p.created else "", unquoted),
    ("evidence_count", "evidence", lambda p: str(p.evidence) if p.evidence else "", _count),
    ("trigger", "trigger", lambda p: quoted(p.trigger) if p.trigger else "", unquoted),
    ("action", "action", lambda p: quoted(p.action) if p.action else "", unquoted),
    ("verifier", "verifier", lambda p: quoted(p.verifier) if p.verifier else "", unquoted),
    ("skill_name", "skill_name", lambda p: quoted(p.skill_name) if p.skill_name else "", unquoted),
    ("skill_created", "skill_created", lambda p: quoted(p.skill_created) if p.skill_created else "", unquoted),
)
_READERS = {key: (name, read) for key, name, _, read in _KEYS}
_NEEDED = frozenset({"destination", "status", "entry", "category", "text"})


@dataclass(frozen=True, slots=True)
class Queue:
    """The promotions of a branch in the order of the file; `broken` are the ids of blocks that cannot be read."""

    by_id: Mapping[str, Promotion] = field(default_factory=lambda: MappingProxyType({}))
    broken: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Promotion]:
        return iter(self.by_id.values())


def decode(data: bytes) -> Queue:
    """The promotions in a file. Never raises; of two blocks with one id the first counts."""
    found: dict[str, Promotion] = {}
    broken: list[str] = []
    for own, raw in _blocks(data).items():
        read = _read(own, raw)
        if read is None:
            broken.append(own)
        else:
            found[own] = read
    return Queue(MappingProxyType(found), tuple(broken))


def encode(data: bytes, changed: Mapping[str, Promotion | None]) -> bytes:
    """The file after some promotions were written or (None) taken out. A new one comes last."""
    before = _blocks(data)
    raw = {own: None if one is None else _written(one, before.get(own, "")) for own, one in changed.items()}
    return _with(data, raw)


def blocks(data: bytes) -> dict[str, str]:
    """The blocks of a file by id, as they are written."""
    return _blocks(data)


def merge(
    base: bytes, ours: bytes, theirs: bytes, *, prefer: Literal["ours", "theirs"] | None = None
) -> tuple[bytes, tuple[str, ...]]:
    """Our file with the blocks taken over that changed from `base` to `theirs`, and the ids of those that both sides
    changed in different ways: they stay ours unless theirs are preferred. With base = after, ours = now and theirs =
    before it is an undo."""
    if base == ours:
        return theirs, ()
    was, here, there = _blocks(base), _blocks(ours), _blocks(theirs)
    taken = [one for one in {**was, **there} if there.get(one) != was.get(one) and there.get(one) != here.get(one)]
    conflicts = tuple(one for one in taken if here.get(one) != was.get(one))
    wanted = taken if prefer == "theirs" else [one for one in taken if one not in conflicts]
    return _with(ours, {one: there.get(one) for one in wanted}) if wanted else ours, conflicts


def _pieces(data: bytes) -> list[tuple[str, str]]:
    """The file cut into blocks (id, text) and what stands between them ("", text). Joined, they are the file."""
    pieces: list[tuple[str, str]] = []
    seen: set[str] = set()
    inside = False
    for line in _ANY_LINE.findall(data.decode("utf-8", "surrogateescape")):
        heading = _HEADING.fullmatch(line)
        if heading and heading[1] not in seen:
            seen.add(heading[1])
            pieces.append((heading[1], line))
            inside = True
            continue
        if inside and not line.startswith("#") and line.strip():
            pieces[-1] = (pieces[-1][0], pieces[-1][1] + line)
            continue
        if not pieces or pieces[-1][0]:
            pieces.append(("", line))
        else:
            pieces[-1] = ("", pieces[-1][1] + line)
        inside = False
    return pieces


def _blocks(data: bytes) -> dict[str, str]:
    return {own: raw for own, raw in _pieces(data) if own}


def _with(data: bytes, changed: Mapping[str, str | None]) -> bytes:
    """The file with some blocks replaced, taken out, or put last."""
    known = set()
    kept: list[str] = []
    for own, raw in _pieces(data or HEADER.encode()):
        known.add(own)
        new = changed.get(own, raw) if own else raw
        if new is not None:
            kept.append(new if raw == new else new.removesuffix("\n") + "\n")
    text = "".join(kept)
    for own, new in changed.items():
        if own not in known and new is not None:
            gap = "" if text.endswith("\n\n") or not text else "\n" if text.endswith("\n") else "\n\n"
            text += gap + new.removesuffix("\n") + "\n"
    return text.encode("utf-8", "surrogateescape")


def _read(own: str, raw: str) -> Promotion | None:
    fields: dict[str, object] = {}
    for line in _ANY_LINE.findall(raw)[1:]:
        found = _LINE.fullmatch(line)
        if found is None or found[1] not in _READERS:
            continue
        name, read = _READERS[found[1]]
        if name in fields:
            continue
        try:
            fields[name] = read(found[2])
        except ValueError:
            if name in _NEEDED:
                return None
    return Promotion(own, **fields) if fields.keys() >= _NEEDED else None  # type: ignore[arg-type]


def _written(one: Promotion, before: str) -> str:
    """The block of a promotion. Lines of the block it replaces that no key of ours stands for come last."""
    lines = [f"### {one.id}", *(f"- {key}: {value}" for key, _, write, _ in _KEYS if (value := write(one)))]
    for line in _ANY_LINE.findall(before)[1:]:
        found = _LINE.fullmatch(line)
        if found is None or found[1] not in _READERS:
            lines.append(line.removesuffix("\n"))
    return "\n".join(lines) + "\n"
