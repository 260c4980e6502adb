"""Claude Code's memory folders: an index `MEMORY.md` and topic files.

A topic file with front matter is one memory; its `type` says what sort. Any other file, the index too, is a list: one
memory a bullet, paragraph, table or block of code, with the heading above it where it says too little alone. A line of
the index that only leads to a file that is there is no memory. Facts about the user stay in the project: what was
noted here may hold only here, and nothing is told in every project that nobody asked to be told there.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from noforgetti.importers import files, markdown
from noforgetti.importers.base import Item, Leftover, Revision, Source, SourceBranch, SourceError
from noforgetti.importers.listing import CATEGORIES, TOGETHER, Listing, listed, tag
from noforgetti.importers.markdown import Kind
from noforgetti.model.entry import Category, Importance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from noforgetti.importers.markdown import Block, Front

FORMAT = "claude-code"
INDEX = "MEMORY.md"
_MUNGED = re.compile(r"[^A-Za-z0-9]")  # Claude Code names a project's folder by its path, all else replaced by `-`
_MUNGED_LIMIT = 200  # characters; a longer name is cut and gets a hash
_LINK = re.compile(r"(?:[*~_]{0,4})\[([^\]\n]+)\]\(<?([^)>\n]+?\.md(?:#[^)>\n]*)?)>?\)(?:[*~_]{0,4})")
_LINE = 2_000  # characters of a line of the index that are looked at
_HOOK = re.compile(r"^\s*(?:—|–|--?|:|→|：)\s*")
_READ = (  # keys of front matter that become something of an item
    *("name", "description", "type", "metadata", "node_type", "tags", "originsessionid"),
    *("modified", "updated", "date", "created"),
)
_LISTED = ("type", "metadata", "node_type", "modified", "date", "created")  # the same of a list
_TYPES = ("user", "feedback", "project", "reference")


def find(project: str, environ: Mapping[str, str]) -> Path | None:
    """The memory folder that Claude Code keeps for the project, else one in the project itself."""
    kept = _kept(project, environ)
    inside = (Path(project, ".claude", "memory"), Path(project, "memory"))
    if kept is not None and kept.is_dir():
        return kept
    return next((path for path in inside if (path / INDEX).is_file()), None)


def _kept(project: str, environ: Mapping[str, str]) -> Path | None:
    home = environ.get("CLAUDE_CONFIG_DIR") or (str(Path(environ["HOME"], ".claude")) if environ.get("HOME") else "")
    if not home or not project:
        return None
    munged = _MUNGED.sub("-", project)
    folder = Path(home, "projects")
    if len(munged) <= _MUNGED_LIMIT:
        return folder / munged / "memory"
    return next((one / "memory" for one in folder.glob(munged[:_MUNGED_LIMIT] + "*")), None)


def read(path: Path, *, project: str = "") -> Source:
    """The memory of a folder, or of one of its files. Raises `SourceError` when it cannot be opened."""
    folder = _folder(path, project)
    if not folder.is_dir():
        reading = _Reading(folder.parent, (folder,))
        reading.file(folder, files.whole(folder))
        return replace(reading.source(), only=files.name(folder, folder.parent))
    found, lost = files.below(folder, (".md", ".markdown"))
    reading = _Reading(folder, found)
    reading.leftovers += lost
    for one in found:
        try:
            reading.file(one, files.whole(one))
        except SourceError as error:
            reading.leftovers.append(Leftover(files.name(one, folder), error.message.partition(". ")[0]))
    return reading.source()


def _folder(path: Path, project: str) -> Path:
    """The memory below a path: Claude Code's own folder and a project's folder in it are understood, too."""
    for inside in (path / "memory", *([path / "projects" / _MUNGED.sub("-", project) / "memory"] if project else [])):
        if not (path / INDEX).exists() and inside.is_dir():
            return inside
    return path


class _Reading:
    """What was read so far of the files of a folder."""

    def __init__(self, folder: Path, found: Sequence[Path]) -> None:
        self.folder = folder
        self.there = {_spelled(files.name(one, folder)) for one in found}
        self.items: list[Item] = []
        self.leftovers: list[Leftover] = []

    def file(self, path: Path, data: bytes) -> None:
        """Read one file."""
        where = files.name(path, self.folder)
        lines, lost = files.lines(data, where)
        self.leftovers += lost
        head = markdown.front(lines)
        written = files.day(where) or files.written(path)
        if path.name != INDEX and ({"name", "description", "type"} & head.values.keys()):
            self._topic(where, head, written)
            return
        listing = Listing(where, markdown.times(head.values, "modified", "date", "created") or written)
        listing.category = CATEGORIES.get(head.values.get("type", "").casefold())
        listing.front(head, _LISTED)
        listed(listing, markdown.blocks(head.lines, head.first), self._leads)
        self.items += listing.items
        self.leftovers += listing.leftovers

    def _topic(self, where: str, head: Front, written: str) -> None:
        """A topic file: its description and body as one memory; where they are too long for one entry, the description
        by itself, and the body behind it in rank, so that the room of a memory goes to what sums up."""
        values = head.values
        body = "\n".join(head.lines).strip()
        told = values.get("description", "") or ("" if body else values.get("name", ""))
        sort = values.get("type", "").casefold()
        if sort not in _TYPES:
            sort = next((one for one in _TYPES if re.match(rf"(?:.*/)?{one}[_-]", where)), sort)
        base = Item(
            name=where,
            text="",
            group=where,
            category=CATEGORIES.get(sort, Category.LESSON),
            created=markdown.times(values, "modified", "updated", "date", "created") or written,
            session=values.get("originsessionid", ""),
            tags=tuple(one for one in map(tag, head.lists.get("tags", ())) if one),
            notes=head.untold(_READ),
        )
        named = values.get("name", "")
        if named and not told.startswith(named) and tag(named) not in tag(Path(where).stem):
            base = replace(base, notes=(f"name: {named}"[:200], *base.notes))
        together = body if not told or " ".join(told.split()) in " ".join(body.split()) else f"{told}\n\n{body}".strip()
        if not together:
            self.leftovers.append(Leftover(where, "has no text"))
        elif len(together) <= TOGETHER or not told or not body:
            self.items.append(replace(base, text=together))
        else:
            self.items.append(replace(base, text=told))
            self.items.append(replace(base, text=body, name=f"{where}#body", importance=Importance.LOW))

    def _leads(self, block: Block, listing: Listing) -> bool:
        """True for a line of the index that only leads to a file. Of one whose file is missing the line is all there is
        left, and its words are the memory."""
        link = _LINK.match(block.text[:_LINE]) if block.kind is Kind.BULLET else None
        if link is None or "://" in link[2]:
            return False
        target = _spelled(unquote(link[2].partition("#")[0]).removeprefix("./"))
        near = _spelled((Path(listing.where).parent / target).as_posix())
        if target in self.there or near in self.there:
            return True
        hook = _HOOK.sub("", block.text[link.end() :])
        note = f"its file `{files.shown(target)}` is missing"
        if hook:
            listing.add(f"{link[1]}: {hook}", line=block.line, bullet=False, notes=(note,))
        else:
            listing.left(block, f"leads to `{files.shown(target)}`, which is missing")
        return True

    def source(self) -> Source:
        """All that was read, as one branch of one state."""
        state = Revision(files.distinct(self.items))
        return Source(FORMAT, (SourceBranch((state,)),), tuple(self.leftovers))


def _spelled(name: str) -> str:
    """A file's name in the one form in which names are compared: some systems take accents apart."""
    return unicodedata.normalize("NFC", name)
