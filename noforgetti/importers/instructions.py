"""Instruction files (`CLAUDE.md`, `AGENTS.md` and their kind): one memory a bullet, its heading as tag.

What such a file says its host tells the agent anyway, so nothing is imported from one that nobody named; every item
has a note of it. Prose, code, tables and `@imports` are no facts by themselves and are left over.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from noforgetti.importers import files, markdown
from noforgetti.importers.base import Item, Leftover, Revision, Source, SourceBranch, SourceError
from noforgetti.importers.listing import Listing
from noforgetti.importers.markdown import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "instructions"
# Where hosts look for instructions in a project, and in folders of it.
NAMES = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "GEMINI.md",
    "QWEN.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".github/copilot-instructions.md",
)
FOLDERS = (".cursor/rules", ".clinerules", ".claude/rules")


def find(project: str, environ: Mapping[str, str]) -> Path | None:
    """The project itself when it holds an instruction file."""
    del environ
    return Path(project) if project and _inside(Path(project)) else None


def read(path: Path, *, project: str = "") -> Source:
    """The lists of a file, or of all instruction files of a folder. Raises `SourceError`."""
    del project
    if not path.is_dir():
        items, lost = _file(path, path.name)
        return replace(_source(items, lost), only=path.name)
    found = _inside(path)
    if not found:
        raise SourceError(
            f"`{files.shown(path)}` holds no instruction file. Nothing was imported.",
            hint=f"name one, such as {path / NAMES[0]}",
        )
    items, lost = [], []
    for one in found:
        try:
            more, left = _file(one, files.name(one, path))
        except SourceError as error:
            more, left = [], [Leftover(files.name(one, path), error.message.partition(". ")[0])]
        items += more
        lost += left
    return _source(items, lost)


def _inside(folder: Path) -> list[Path]:
    """The instruction files of a folder; one that is a link to another of them is read once."""
    named = [folder / name for name in NAMES]
    for inside in FOLDERS:
        rules = folder / inside
        if rules.is_dir():
            named += sorted(one for one in rules.iterdir() if one.suffix in (".md", ".mdc"))
    found: dict[str, Path] = {}
    for one in named:
        try:
            if one.is_file():
                found.setdefault(str(one.resolve()), one)
        except (OSError, RuntimeError):  # a loop of links
            continue
    return list(found.values())


def _file(path: Path, where: str) -> tuple[list[Item], list[Leftover]]:
    lines, lost = files.lines(files.whole(path), where)
    head = markdown.front(lines)
    listing = Listing(where, files.written(path))
    listing.front(head)
    note = f"its host reads `{where}` anyway"
    found = markdown.blocks(head.lines, head.first)
    for block, following in zip_longest(found, found[1:]):
        if block.kind is Kind.HEADING:
            listing.enter(block, following)
        elif block.kind is Kind.BULLET and not block.text.startswith("@"):
            listing.add(block.text, line=block.line, notes=(note,))
        else:
            imports = block.text.startswith("@")
            listing.left(block, "imports another file" if imports else f"is {block.kind}, no list item")
    return listing.items, [*lost, *listing.leftovers]


def _source(items: list[Item], lost: list[Leftover]) -> Source:
    state = Revision(files.distinct(items))
    return Source(FORMAT, (SourceBranch((state,)),), tuple(lost))
