"""One table of ours in a TOML file, between two comments, at its end. The rest keeps its bytes.

A host that writes the file itself (Codex, when a project is trusted) may put its own tables before our closing comment;
they are not ours, and stay when we go.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGIN = "# >>> noforgetti >>>"
END = "# <<< noforgetti <<<"

_BEGIN = re.compile(r"^# >>> noforgetti >>>[ \t]*\r?\n", re.MULTILINE)
_END = re.compile(r"^# <<< noforgetti <<<[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


class Unreadable(Exception):
    """The text is not TOML, or our table cannot stand in it. `str()` says why."""


@dataclass(frozen=True, slots=True)
class Block:
    """Our table in a text: from `start` to `end`, and the closing comment from `closing` to `closed` (equal: there is
    none). `value` is what the table says; None when it cannot be read by itself."""

    start: int
    end: int
    closing: int
    closed: int
    value: dict[str, Any] | None


def loaded(text: str) -> dict[str, Any]:
    """The document, without its byte order mark. Raises `Unreadable`."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Unreadable(f"it is not TOML ({error})") from error


def block_in(text: str) -> Block | None:
    """Our block; None when there is none. Raises `Unreadable` when it stands there twice."""
    begins = list(_BEGIN.finditer(text))
    if not begins:
        return None
    if len(begins) > 1:
        raise Unreadable("our block stands in it twice")
    begin = begins[0]
    header = _TABLE.search(text, begin.end())
    closing = _END.search(text, begin.end())
    own = header if header and (not closing or header.start() < closing.start()) else None
    following = _TABLE.search(text, own.end()) if own else None
    stop = min(one.start() for one in (following, closing, _nothing(text)) if one)
    try:
        value = tomllib.loads(text[begin.end() : stop])
    except (tomllib.TOMLDecodeError, RecursionError):
        value = None
    ended = (closing.start(), closing.end()) if closing else (stop, stop)
    return Block(begin.start(), stop, *ended, value)


def put(text: str, table: Sequence[str], body: str) -> str:
    """The text with our block, at its end or in the place of the one that is there; `body` is the table's lines with
    LF, `table` its path. Raises `Unreadable`, also when the table stands elsewhere."""
    before = loaded(text)
    ending = "\r\n" if "\r\n" in text else "\n"
    lines = body.strip("\n").replace("\n", ending) + ending
    block = block_in(text)
    if block:
        new = f"{text[: block.start]}{BEGIN}{ending}{lines}{text[block.end :]}"
    elif _under(before, table) is not None:
        raise Unreadable(f"`{'.'.join(table)}` stands in it already, and not from us")
    else:
        apart = ending if text.removeprefix("\ufeff") else ""
        new = f"{text}{apart}{BEGIN}{ending}{lines}{END}{ending}"
    try:
        loaded(new)
    except Unreadable:
        raise Unreadable(f"`{'.'.join(table)}` cannot stand in it beside what is there") from None
    return new


def cut(text: str) -> str:
    """The text without our block and the line break before it; tables of others inside of it stay. Raises
    `Unreadable`."""
    block = block_in(text)
    if block is None:
        return text
    start = block.start
    for ending in ("\r\n", "\n"):
        if text[:start].endswith(ending):
            start -= len(ending)
            break
    others = text[block.end : block.closing]
    if others.strip():
        new = text[: block.start] + others + text[block.closed :]
    else:
        new = text[:start] + text[block.closed :]
        if start and not text[:start].endswith("\n") and text[block.closed :].strip():
            new = text[: block.start] + text[block.closed :]
    loaded(new)
    return new


def _under(value: Any, table: Sequence[str]) -> Any:
    for name in table:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _nothing(text: str) -> re.Match[str] | None:
    return re.compile(r"\Z").search(text)
