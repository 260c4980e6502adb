"""A Markdown document as a list of memories: one item a bullet, paragraph, table and block of code."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING

from noforgetti.importers.base import Item, Leftover
from noforgetti.importers.files import day, digest
from noforgetti.importers.markdown import BULLET, Block, Kind, leads
from noforgetti.model.entry import Category

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from noforgetti.importers.markdown import Front


ALONE = 40  # columns (a wide letter has two) from which a bullet is understood without its heading: some seven words
TOGETHER = 800  # characters up to which a lead-in and its list are one item: the limit of an entry
_HEADINGS = 1_024  # headings whose words are kept: every item below one asks for them again
_SHORT = 120  # characters of what says nothing: a placeholder, a line about the file
_TITLE = 200  # characters of a heading that are looked at
_TAG = 40  # characters of a tag, as of the readable part of an id

_LABEL = re.compile(r"\[([\w./ -]{1,40})\] +(?=\S)")
_BOX = re.compile(r"\[([ xX])\] +(?=\S)")
_MARKUP = re.compile(r"[*_`~#]+|^[^\w\[(]+|\[([^\]]*)\]\([^)]*\)")
_EMPTY = re.compile(
    r"[(\[_*]*(?:none|n/?a|tbd|todo|empty|nothing|no entries|无|暂无|待补充|なし)(?![a-z])(?: yet| so far)?[^\w]*"
    r"(?:add via .*|to be filled.*)?[)\]_*.]*",
    re.IGNORECASE,
)
_ABOUT_FILE = re.compile(
    r"[*_>(\s]*(?:last )?(?:updated|consolidated|modified|reviewed|update)\b[^\n]{0,80}"
    r"|[*_>(\s]*(?:最后更新|最終更新|更新时间|更新日)[^\n]{0,80}",
    re.IGNORECASE,
)

# Words of labels and headings, and what sort of fact stands below them; the four first are Claude Code's own types.
CATEGORIES: Mapping[str, Category] = {
    **dict.fromkeys(
        ("user", "preference", "preferences", "pref", "prefs", "style", "偏好", "喜好", "好み"), Category.PREFERENCE
    ),
    **dict.fromkeys(
        ("feedback", "lesson", "lessons", "learned", "learnings", "learning", "gotcha", "gotchas", "教训", "经验"),
        Category.LESSON,
    ),
    **dict.fromkeys(("project", "decision", "decisions", "adr", "决策", "决定", "決定"), Category.DECISION),
    **dict.fromkeys(
        (
            *("reference", "references", "pattern", "patterns", "convention", "conventions", "architecture"),
            *("structure", "layout", "commands", "约定", "规范", "架构", "模式", "規約"),
        ),
        Category.PATTERN,
    ),
    **dict.fromkeys(
        ("mistake", "mistakes", "pitfall", "pitfalls", "bug", "bugs", "error", "errors", "错误", "踩坑"),
        Category.MISTAKE,
    ),
    **dict.fromkeys(("done", "completed", "complete", "finished", "changelog", "完成", "已完成"), Category.DONE),
}


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that stands above a block."""

    level: int
    text: str

    @property
    def plain(self) -> str:
        """Its words without markup and pictures."""
        return _plain(self.text[:_TITLE])


@dataclass(slots=True)
class Listing:
    """A document as a list of memories, item by item. `where` is its name, `created` when nothing in it says when."""

    where: str
    created: str = ""
    category: Category | None = None
    items: list[Item] = field(default_factory=list)
    leftovers: list[Leftover] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    title: Heading | None = None

    def enter(self, block: Block, following: Block | None) -> None:
        """A heading: what follows stands below it. The first one of a document is its title when it is of level 1."""
        if following is None or (following.kind is Kind.HEADING and following.level <= block.level):
            self.left(block, "is a heading with nothing below it")
        new = Heading(block.level, block.text)
        if self.title is None:
            self.title = new
        self.headings = [*(one for one in self.headings if one.level < block.level), new]

    def front(self, front: Front, known: Sequence[str] = ()) -> None:
        """Front matter, of which only the `known` keys become something."""
        self.leftovers += [Leftover(f"{self.where}:1", f"is not carried: {note}") for note in front.untold(known)]

    def left(self, block: Block, why: str) -> None:
        """A block that is not carried."""
        self.leftovers.append(Leftover(f"{self.where}:{block.line}", why))

    def add(self, raw: str, *, line: int, bullet: bool = True, notes: tuple[str, ...] = ()) -> None:
        """One memory, unless it only holds a place or says something of the file."""
        text, category, tags, more = labelled(raw) if bullet else (raw, None, (), ())
        block = Block(Kind.TEXT, text, line)
        if len(text) <= _SHORT and _EMPTY.fullmatch(text):
            self.left(block, "holds a place only")
            return
        if not bullet and len(text) <= _SHORT and _ABOUT_FILE.fullmatch(text):
            self.left(block, "is about the file, not a memory")
            return
        struck = text.startswith("~~") and text.endswith("~~") and "~~" not in text[2:-2]
        if struck:
            text, more = text[2:-2].strip(), (*more, "it was struck out")
        above = self._above()
        if above and "\n" not in text and width(text) < ALONE:
            text = f"{above}: {text}"
        self.items.append(
            Item(
                name=f"{self.where}#{digest(text)}",
                text=text,
                group="#".join([self.where, *(one.text for one in self.headings)]),
                category=category or self._category(),
                archived=struck,
                tags=tuple(dict.fromkeys([*tags, *([tag(above)] if tag(above) else [])])),
                created=self._created(text),
                notes=(*notes, *more),
            )
        )

    def context(self, text: str) -> str:
        """A piece that says nothing alone (code, a table), with its heading."""
        above = self._above()
        return f"{above}:\n{text}" if above else text

    def _above(self) -> str:
        """The nearest heading that says what something is about: not the title, not a date, not a category's name."""
        for one in reversed(self.headings):
            plain = one.plain
            title = one is self.title and one.level == 1
            if plain and not title and not day(plain) and plain.casefold().rstrip("s") not in set(Category):
                return plain
        return ""

    def _category(self) -> Category:
        if self.category is not None:
            return self.category
        named = PurePath(self.where).stem.replace("_", " ").replace("-", " ")
        said = (category_of(one) for one in (*(one.plain for one in reversed(self.headings)), named))
        return next((found for found in said if found), Category.LESSON)

    def _created(self, text: str) -> str:
        head = re.match(r"[*_(\[]*20\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}", text)
        own = day(head[0]) if head else ""
        return own or next((at for one in reversed(self.headings) if (at := day(one.text))), "") or self.created


def listed(listing: Listing, found: Sequence[Block], aside: Callable[[Block, Listing], bool] | None = None) -> None:
    """Make items of the blocks: one a bullet, paragraph, table and block of code. A paragraph that ends in a colon
    belongs to the list below it. `aside` is True for a bullet that the format takes care of itself."""
    at = 0
    while at < len(found):
        block = found[at]
        at += 1
        if block.kind is Kind.HEADING:
            listing.enter(block, found[at] if at < len(found) else None)
        elif block.kind is Kind.COMMENT:
            listing.left(block, "is a comment")
        elif block.kind is Kind.BULLET:
            if aside is None or not aside(block, listing):
                for piece in _hanging(block.text):
                    listing.add(piece, line=block.line)
        elif block.kind is Kind.TEXT and leads(block.text):
            kinds = (Kind.BULLET,) if at < len(found) and found[at].kind is Kind.BULLET else (Kind.CODE, Kind.TABLE)
            end = next((end for end in range(at, len(found)) if found[end].kind not in kinds), len(found))
            below = [one for one in found[at:end] if aside is None or not aside(one, listing)]
            if below or end == at:  # else it led to what is taken care of
                _led(listing, block, below)
            at = end
        elif block.kind is Kind.TEXT:
            listing.add(block.text, line=block.line, bullet=False)
        elif block.kind is Kind.TABLE:
            rows = block.text.split("\n")
            for piece in _pieces(rows[:2], [[one] for one in rows[2:]]):
                listing.add(listing.context(piece), line=block.line, bullet=False)
        else:
            listing.add(listing.context(block.text), line=block.line, bullet=False)


def _hanging(text: str) -> list[str]:
    """A bullet as it is, or where it is too long for one entry, in pieces of what hangs below its first lines."""
    lines = text.split("\n")
    depth = min((len(one) - len(one.lstrip()) for one in lines[1:] if BULLET.match(one)), default=None)
    if len(text) <= TOGETHER or depth is None:
        return [text]
    head: list[str] = []
    parts: list[list[str]] = []
    for one in lines:
        if (match := BULLET.match(one)) and len(match[1]) == depth and head:
            parts.append([one])
        else:
            (parts[-1] if parts else head).append(one)
    return _pieces(head, parts)


def _pieces(head: list[str], parts: list[list[str]]) -> list[str]:
    """The parts packed into texts of one entry's length, as far as they are that short, each below the head."""
    found: list[list[str]] = []
    size = TOGETHER
    room = sum(len(one) + 1 for one in head)
    for part in parts:
        length = sum(len(one) + 1 for one in part)
        if size + length > TOGETHER:
            found.append([*head])
            size = room
        found[-1] += part
        size += length
    return ["\n".join(one).rstrip() for one in found] or ["\n".join(head)]


def _led(listing: Listing, lead: Block, below: Sequence[Block]) -> None:
    """A lead-in and the list below it: one item where that is short, else each bullet behind the lead-in."""
    marked = [f"- {_hung(one.text)}" if one.kind is Kind.BULLET else one.text for one in below]
    together = "\n".join([lead.text, *marked])
    if len(together) <= TOGETHER or not below or below[0].kind is not Kind.BULLET:
        listing.add(together, line=lead.line, bullet=False)
        return
    for one in below:
        listing.add(f"{lead.text} {one.text}", line=one.line, bullet=False)


def _hung(text: str) -> str:
    return text.replace("\n", "\n  ")


def labelled(text: str) -> tuple[str, Category | None, tuple[str, ...], tuple[str, ...]]:
    """A bullet without its label `[tag]` or box `[x]`: the text, what the label says of its sort, tags, notes."""
    if match := _BOX.match(text):
        done = match[1] != " "
        return text[match.end() :], Category.DONE if done else None, () if done else ("open",), ()
    match = _LABEL.match(text)
    if match is None:
        return text, None, (), ()
    found = CATEGORIES.get(match[1].strip().casefold())
    return text[match.end() :], found, () if found else (tag(match[1]),), ()


@lru_cache(maxsize=_HEADINGS)
def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(lambda match: match[1] or "", text).split())


@lru_cache(maxsize=_HEADINGS)
def category_of(heading: str) -> Category | None:
    """What sort of fact a heading announces, if one of its words says so."""
    words = re.findall(r"[a-z]+", heading.casefold())
    for word in reversed(words):
        if word in CATEGORIES and (word not in ("user", "project") or len(words) == 1):  # `Project structure` is none
            return CATEGORIES[word]
    return next((sort for word, sort in CATEGORIES.items() if not word.isascii() and word in heading), None)


@lru_cache(maxsize=_HEADINGS)
def tag(text: str) -> str:
    """A heading or label as a tag: small letters, digits and hyphens, at most 40 characters."""
    words = re.findall(r"\w+", text.casefold())
    found = ""
    for word in words:
        if len(found) + len(word) + 1 > _TAG:
            break
        found += f"-{word}" if found else word
    return found or "".join(words)[:_TAG]


def width(text: str) -> int:
    """Columns of a text: a wide letter has two, for it says as much."""
    if len(text) >= ALONE:
        return len(text)
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)
