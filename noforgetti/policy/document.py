"""A branch as one Markdown document, and back again.

    # Lessons
    - Use pnpm check before pnpm test. *(pinned)* *(high)* [use-pnpm-check-7k3f]
      A second line of the same entry.

One bullet is one entry. The id in brackets ties a bullet to its entry; a bullet without one is new, an entry without a
bullet is removed, and moving a bullet under another heading changes its category. Everything that cannot be read is an
error with its line number: an editor's slip must not become a removal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.entry import Category, Entry, EntryId, Importance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEADINGS = {
    Category.PREFERENCE: "Preferences",
    Category.LESSON: "Lessons",
    Category.PATTERN: "Patterns",
    Category.DECISION: "Decisions",
    Category.DONE: "Completions",
    Category.MISTAKE: "Mistakes",
}
_CATEGORIES = {heading.casefold(): category for category, heading in HEADINGS.items()}
_BULLET = re.compile(r"[-*] (?P<rest>.*)")
_ID = re.compile(r"(?:^|\s)\[(?P<id>[A-Za-z0-9_-]{1,128})\]\s*$")
_MARK = re.compile(r"(?:^|\s)\*\((?P<mark>pinned|enforced|high|low)\)\*\s*$")
_COMMENT = re.compile(r"^<!--.*?-->", re.DOTALL | re.MULTILINE)  # elsewhere it is a part of what an entry says


class DocumentError(NoForgettiError):
    """A line of the document that stands for no entry."""

    kind = Kind.USER
    reason = "unreadable-document"

    def __init__(self, line: int, why: str) -> None:
        super().__init__(
            f"Line {line} of the document {why}. Nothing was written.", hint="a bullet under a heading is one entry"
        )
        self.line = line


@dataclass(frozen=True, slots=True)
class Line:
    """One bullet: what it says about an entry. `id` is None for a new one."""

    id: EntryId | None
    text: str
    category: Category
    importance: Importance
    pinned: bool
    number: int
    raw: str = ""

    def stands_for(self, entry: Entry) -> bool:
        """True when the bullet is as `render` wrote it: whatever its text looks like, the entry is untouched."""
        return self.category is entry.category and self.raw.rstrip() == _bullet(entry, ids=True).rstrip()


def render(entries: Iterable[Entry], *, preface: str = "", ids: bool = True) -> str:
    """The document, topic by topic. Without `ids` it is for reading (topic files), not for editing."""
    lines = [f"<!-- {preface} -->", ""] if preface else []
    found = list(entries)
    for category, heading in HEADINGS.items():
        here = [entry for entry in found if entry.category is category]
        if here:
            lines += [f"# {heading}", *(_bullet(entry, ids=ids) for entry in here), ""]
    return "\n".join(lines)


def _bullet(entry: Entry, *, ids: bool) -> str:
    marks = [mark for mark, on in (("pinned", entry.pinned), ("enforced", entry.enforced)) if on]
    if entry.importance is not Importance.NORMAL:
        marks.append(entry.importance)
    first, *rest = entry.text.split("\n")
    tail = " ".join([*(f"*({mark})*" for mark in marks), *([f"[{entry.id}]"] if ids else [])])
    return "\n".join([f"- {first} {tail}".rstrip(), *(f"  {line}".rstrip() for line in rest)])


def parse(document: str) -> tuple[Line, ...]:
    """The bullets of a document. Raises `DocumentError` for a line that is none of its parts."""
    found: list[Line] = []
    category: Category | None = None
    blank = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), document)
    for number, line in _numbered(blank):
        if line.startswith("#"):
            heading = line.strip("# ").casefold()
            category = _CATEGORIES.get(heading)
            if category is None:
                raise DocumentError(number, f"names no topic: `{heading[:40]}`")
        elif bullet := _BULLET.fullmatch(line):
            if category is None:
                raise DocumentError(number, "is a bullet before the first heading")
            found.append(replace(_read(bullet["rest"], category, number), raw=line))
        elif line.startswith("  ") and found:
            last = found[-1]
            found[-1] = replace(last, text=f"{last.text}\n{line[2:]}", raw=f"{last.raw}\n{line}")
        elif line.strip():
            raise DocumentError(number, "is neither a heading nor a bullet nor part of one")
        elif found and category is not None:
            last = found[-1]
            found[-1] = replace(last, text=last.text + "\n", raw=last.raw + "\n")
    _refuse_twins(found)
    return tuple(found)


def _refuse_twins(found: list[Line]) -> None:
    seen: set[EntryId] = set()
    for one in found:
        if one.id in seen:
            raise DocumentError(one.number, f"uses the id `{one.id}` a second time")
        if one.id is not None:
            seen.add(one.id)


def _numbered(document: str) -> Iterator[tuple[int, str]]:
    return enumerate(document.replace("\r\n", "\n").split("\n"), 1)


def _read(rest: str, category: Category, number: int) -> Line:
    one = None
    if found := _ID.search(rest):
        one, rest = EntryId(found["id"]), rest[: found.start()]
    marks: set[str] = set()
    while found := _MARK.search(rest):
        marks.add(found["mark"])
        rest = rest[: found.start()]
    importance = next((Importance(mark) for mark in ("high", "low") if mark in marks), Importance.NORMAL)
    return Line(one, rest, category, importance, "pinned" in marks, number)
