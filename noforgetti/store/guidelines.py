"""The file of review guidelines, `review-guidelines.md` in a branch's tree: Markdown that reviewers read first.

A bullet at the margin is one guideline; every other line is somebody's own and stays byte for byte. Reading is total.
Undo and merge work guideline by guideline: what one side learned never stands in the way of what the other learned.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

FILE = "review-guidelines.md"
HEADER = """\
# Review guidelines

Read these before a review of code, and raise nothing that one of them settles. One bullet is one guideline.

"""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BULLET = re.compile(r"\ufeff?[-*+][ \t]+(\S.*?)\s*")


def decode(data: bytes) -> tuple[str, ...]:
    """The guidelines of a file in its order, each once. Never raises; bytes that are no UTF-8 become `�`."""
    found = (_read(line) for line in _lines(data.decode("utf-8", "replace")))
    return tuple(dict.fromkeys(one for one in found if one))


def encode(data: bytes, *, add: Iterable[str] = (), drop: Collection[str] = ()) -> bytes:
    """The file with some guidelines put last and some taken out. Each is one line without blanks at its ends."""
    kept = [line for line in _lines(_text(data) or HEADER) if _read(line) not in drop]
    there = {_read(line) for line in kept}
    new = [one for one in dict.fromkeys(add) if one not in there]
    if new and kept and not kept[-1].endswith("\n"):
        kept[-1] += "\n"
    return "".join([*kept, *(f"- {one}\n" for one in new)]).encode("utf-8", "surrogateescape")


def merge(
    base: bytes, ours: bytes, theirs: bytes, *, prefer: Literal["ours", "theirs"] | None = None
) -> tuple[bytes, tuple[str, ...]]:
    """Our file with what was learned and taken out from `base` to `theirs`, and no conflicts: a guideline is there or
    it is not, so two sides cannot change one in different ways. With base = after, ours = now and theirs = before it
    is an undo."""
    del prefer
    if base == ours:
        return theirs, ()
    was, there = _raw(base), _raw(theirs)
    here = _raw(ours)
    learned = [one for one in there if one not in was and one not in here]
    gone = {one for one in was if one not in there and one in here}
    return (encode(ours, add=learned, drop=gone) if learned or gone else ours), ()


def _raw(data: bytes) -> tuple[str, ...]:
    """As `decode`, with bytes that are no UTF-8 kept, so that they can be written again."""
    return tuple(dict.fromkeys(one for line in _lines(_text(data)) if (one := _read(line))))


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _read(line: str) -> str:
    """The guideline that a line of the file is, or nothing."""
    found = _BULLET.fullmatch(line)
    return found[1] if found else ""
