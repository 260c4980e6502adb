"""basic-memory: a folder of Markdown notes with observations (`- [category] text #tag (context)`) and relations
(`- relates_to [[Other note]]`).

An observation is one memory of its category, a relation a sentence that begins with its note's title; prose, code and
tables are memories as in any list. Written by the published format (docs.basicmemory.com, "Knowledge Format").
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from noforgetti.importers import files, markdown
from noforgetti.importers.base import Item, Leftover, Revision, Source, SourceBranch, SourceError
from noforgetti.importers.listing import Listing, listed, tag
from noforgetti.importers.markdown import Kind

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.importers.markdown import Block

FORMAT = "basic-memory"
_RELATION = re.compile(r"([^\[\]\n]*?)\s*\[\[([^\]\n|]+)(?:\|[^\]\n]*)?\]\]\s*(\([^\n]*\))?\s*")
_HASHTAG = re.compile(r"(?:(?<=\s)|^)#(\w[\w/-]*)")
_LONGEST = 2_000  # characters of an observation or relation; what is longer is text
_FRONT = ("title", "permalink", "type", "tags", "modified", "updated", "created", "date")
_SECTIONS = ("observations", "relations")


def read(path: Path, *, project: str = "") -> Source:
    """The notes of a folder, or one note. Raises `SourceError`."""
    del project
    if not path.is_dir():
        items, lost = _note(path, path.name)
        return replace(_source(items, lost), only=items[0].group if items else path.name)
    found, lost = files.below(path, (".md",))
    items = []
    for one in found:
        where = files.name(one, path)
        try:
            more, left = _note(one, where)
        except SourceError as error:
            more, left = [], [Leftover(where, error.message.partition(". ")[0])]
        items += more
        lost += left
    return _source(items, lost)


def _source(items: list[Item], lost: list[Leftover]) -> Source:
    return Source(FORMAT, (SourceBranch((Revision(files.distinct(items)),)),), tuple(lost))


def _note(path: Path, where: str) -> tuple[list[Item], list[Leftover]]:
    lines, lost = files.lines(files.whole(path), where)
    head = markdown.front(lines)
    values = head.values
    title = values.get("title") or path.stem
    listing = Listing(where, markdown.times(values, "modified", "updated", "created", "date") or files.written(path))
    listing.front(head, _FRONT if values.get("type", "note") == "note" else [one for one in _FRONT if one != "type"])
    own = values.get("permalink") or where

    def aside(block: Block, listing: Listing) -> bool:
        """Take a relation out of the list."""
        relation = _RELATION.fullmatch(block.text) if len(block.text) <= _LONGEST else None
        if relation:
            words = relation[1].strip("`\"' ").replace("_", " ") or "relates to"
            text = " ".join(part for part in (title, words, relation[2].strip()) if part)
            text += f" {relation[3]}" if relation[3] else ""
            listing.add(text + ".", line=block.line, bullet=False)
            listing.items[-1] = replace(listing.items[-1], tags=("relation",))
            return True
        return False

    found = []
    for block in markdown.blocks(head.lines, head.first):
        plain = block.kind is Kind.HEADING and block.text.casefold() in _SECTIONS
        # A conventional heading says nothing of what stands below it; the note's title does.
        found.append(replace(block, text=title) if plain else block)
    listed(listing, found, aside)
    shared = tuple(one for one in map(tag, _tags(head)) if one)
    return [_tagged(item, shared, own) for item in listing.items], [*lost, *listing.leftovers]


def _tags(head: markdown.Front) -> tuple[str, ...]:
    told = head.values.get("tags", "")
    return head.lists.get("tags", ()) or tuple(part.strip() for part in told.split(",") if part.strip())


def _tagged(item: Item, shared: tuple[str, ...], own: str) -> Item:
    """The item with the tags of its text and note. The words of a hashtag that ends the text are tags alone."""
    if len(item.text) > _LONGEST:
        return replace(item, group=own, name=f"{own}#{files.digest(item.text)}", tags=(*item.tags, *shared))
    inline = tuple(one for one in map(tag, _HASHTAG.findall(item.text)) if one)
    text = re.sub(r"(?:\s+#\w[\w/-]*)+(?=\s*(?:\([^()\n]*\))?\s*$)", "", item.text).strip() or item.text
    return replace(
        item,
        text=text,
        name=f"{own}#{files.digest(text)}",
        group=own,
        tags=tuple(dict.fromkeys([*item.tags, *inline, *shared])),
    )
