"""Markdown that people and agents keep memories in: its front matter, and its lines as blocks.

Total: every line of a document is part of a block, a heading, a comment or blank. Only what lists of memories use is
known: headings, bullets with what hangs below them, code, tables and paragraphs. No pattern here looks at a long line
more than once, for a line may have a million characters.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from noforgetti.importers.files import mended, stamp, untold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
BULLET = re.compile(r"( *)([-*+•]|\d{1,9}[.)])( +)(?=\S)")
_KEY = re.compile(r"([A-Za-z_][\w-]*) *:(?: +(.*)|$)")
_FRONT = 200  # lines within which front matter ends: the longest in public folders has some thirty
_FENCE = re.compile(r" *(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,}|=+)")
_SEPARATOR = frozenset("|:- \t")  # what the second line of a table is made of


class Kind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    BULLET = "bullet"
    TEXT = "prose"
    CODE = "code"
    TABLE = "a table"
    COMMENT = "a comment"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document: its text without the outer marks, its first line's number, and a heading's level."""

    kind: Kind
    text: str
    line: int
    level: int = 0


@dataclass(slots=True)
class Front:
    """A document's front matter: its plain values, those of `metadata:` too, and the lines and the line that follow."""

    values: dict[str, str] = field(default_factory=dict)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    first: int = 1

    def read(self, key: str, value: str) -> None:
        """Take one value; of two with one key the first counts."""
        if value.startswith("[") and value.endswith("]"):
            self.lists[key] = tuple(one for part in value[1:-1].split(",") if (one := _scalar(part)))
        elif value and value not in ("|", ">", "|-", ">-"):
            self.values.setdefault(key, _scalar(value))

    def untold(self, known: Iterable[str]) -> tuple[str, ...]:
        """What it says under other keys than those that something is made of."""
        return untold({**self.values, **{key: ", ".join(one) for key, one in self.lists.items()}}, known)


def front(lines: Sequence[str]) -> Front:
    """The front matter of a document, if it begins with one that ends. What only looks like one (a document that begins
    with a rule) is text."""
    whole = Front(lines=list(lines))
    if not lines or lines[0].rstrip() != "---":
        return whole
    end = next((at for at, line in enumerate(lines[1:_FRONT], 1) if line.rstrip() in ("---", "...")), 0)
    found = Front(lines=list(lines[end + 1 :]), first=end + 2)
    key = ""
    for line in lines[1:end]:
        text = line.strip()
        if match := _KEY.match(text):
            key = match[1].lower()
            found.read(key, (match[2] or "").strip())
        elif text.startswith("- ") and key:
            found.lists[key] = (*found.lists.get(key, ()), _scalar(text[2:]))
        elif text and key and line[:1] in " \t":  # a value that goes on
            found.values[key] = f"{found.values.get(key, '')} {text}".strip()
        elif text and not (key and text.startswith("#")):
            return whole
    return found if key else whole


def _scalar(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            read = json.loads(value)
            return mended(read) if isinstance(read, str) else value
        except ValueError:
            return value[1:-1]
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value


def blocks(lines: Sequence[str], first: int = 1) -> list[Block]:
    """The blocks of a document, in order. `first` is the number of its first line."""
    return _Parser(lines, first).parse()


class _Parser:
    """Goes through the lines once; `at` is the next one."""

    def __init__(self, lines: Sequence[str], first: int) -> None:
        self.lines = [_indented(line) for line in lines]
        self.first, self.at = first, 0
        self.found: list[Block] = []

    def parse(self) -> list[Block]:
        while self.at < len(self.lines):
            line, start = self.lines[self.at], self.at
            if not line.strip() or _RULE.fullmatch(line):
                self.at += 1
            elif match := _HEADING.match(line):
                self.at += 1
                self.found.append(Block(Kind.HEADING, _title(line[match.end() :]), self.first + start, len(match[1])))
            elif fence := _FENCE.match(line):
                self._add(Kind.CODE, self._fenced(fence[1]), start)
            elif line.lstrip().startswith("<!--"):
                self._add(Kind.COMMENT, self._comment(), start)
            elif match := BULLET.match(line):
                self._add(Kind.BULLET, self._bullet(match), start)
            elif line.lstrip().startswith("|"):
                self._table(start)
            else:
                self._add(Kind.TEXT, self._paragraph(), start)
        return self.found

    def _add(self, kind: Kind, lines: list[str], start: int) -> None:
        text = "\n".join(lines).strip("\n").rstrip()
        if text.strip():
            self.found.append(Block(kind, text, self.first + start))

    def _fenced(self, mark: str) -> list[str]:
        """A block of code; one that nobody closed goes to the end."""
        start = self.at
        self.at += 1
        closing = re.compile(rf" *{re.escape(mark[0])}{{{len(mark)},}} *")
        while self.at < len(self.lines) and not closing.fullmatch(self.lines[self.at]):
            self.at += 1
        self.at = min(self.at + 1, len(self.lines))
        return self.lines[start : self.at]

    def _comment(self) -> list[str]:
        start = self.at
        while self.at < len(self.lines) and "-->" not in self.lines[self.at]:
            self.at += 1
        self.at = min(self.at + 1, len(self.lines))
        return self.lines[start : self.at]

    def _bullet(self, match: re.Match[str]) -> list[str]:
        """A bullet with all that hangs below it: deeper lines, blank lines between them, code, and the next line of a
        sentence."""
        depth = len(match[1])
        found = [self.lines[self.at][match.end() :]]
        self.at += 1
        after_blank = False
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                after_blank = True
                found.append("")
                self.at += 1
                continue
            deeper = len(line) - len(line.lstrip()) > depth
            if not deeper and (after_blank or self._begins(line) or leads(line)):
                break
            if (fence := _FENCE.match(line)) and deeper:
                found += [_dedented(one, match.end()) for one in self._fenced(fence[1])]
            else:
                found.append(_dedented(line, match.end()))
                self.at += 1
            after_blank = False
        return found

    def _begins(self, line: str) -> bool:
        """Whether a line begins another block."""
        return bool(
            _HEADING.match(line)
            or _FENCE.match(line)
            or BULLET.match(line)
            or _RULE.fullmatch(line)
            or line.lstrip().startswith(("|", "<!--"))
        )

    def _table(self, start: int) -> None:
        rows: list[str] = []
        while self.at < len(self.lines) and self.lines[self.at].lstrip().startswith("|"):
            rows.append(self.lines[self.at].strip())
            self.at += 1
        if not (len(rows) == 2 and set(rows[1]) <= _SEPARATOR):  # a head without rows holds nothing
            self._add(Kind.TABLE, rows, start)

    def _paragraph(self) -> list[str]:
        found: list[str] = []
        while self.at < len(self.lines) and self.lines[self.at].strip() and not (found and self._begins(self._line)):
            found.append(self._line.strip().removeprefix("> "))
            self.at += 1
        return found

    @property
    def _line(self) -> str:
        return self.lines[self.at]


def _title(text: str) -> str:
    """A heading's text without the signs that may close it."""
    text = text.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else text


def _indented(line: str) -> str:
    body = line.lstrip()
    return line[: len(line) - len(body)].expandtabs(4) + body


def _dedented(line: str, by: int) -> str:
    return line[min(by, len(line) - len(line.lstrip())) :]


def leads(text: str) -> bool:
    """Whether a paragraph or line leads in what stands below it."""
    return text.rstrip("*_ ").endswith((":", "："))


def times(values: Mapping[str, str], *keys: str) -> str:
    """The first of some values of a front matter that is a time."""
    return next((at for key in keys if (at := stamp(values.get(key)))), "")
