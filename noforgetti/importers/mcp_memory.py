"""The MCP reference memory server's knowledge graph: JSON Lines of entities with observations, and of relations.

An observation is one memory that begins with its entity's name; an entity without any, and a relation, are a sentence
each. The graph has no times. Its whole form, as the server's tool `read_graph` answers it, is understood, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from noforgetti.importers import files
from noforgetti.importers.base import Item, Leftover, Revision, Source, SourceBranch, SourceError
from noforgetti.importers.listing import CATEGORIES, tag
from noforgetti.model.entry import Category

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT = "mcp-memory"
_ENTITY = ("type", "name", "entityType", "observations")
_RELATED = ("type", "from", "to", "relationType")
_RELATION = re.compile(r"[_\s]+|(?<=[a-z])(?=[A-Z])")


def read(path: Path, *, project: str = "") -> Source:
    """The graph in a file (`memory.jsonl`), or in the file of that name in a folder. Raises `SourceError`."""
    del project
    if path.is_dir() and (path / "memory.jsonl").exists():
        path = path / "memory.jsonl"
    where = path.name
    values, lost = files.documents(files.whole(path), where)
    items: list[Item] = []
    seen = False
    for number, value in _parts(values):
        made = _items(value)
        seen = seen or made is not None
        if made is None:
            lost.append(Leftover(f"{where}:{number}", "is neither an entity nor a relation"))
        elif not made:
            lost.append(Leftover(f"{where}:{number}", "has no name"))
        items += made or ()
        lost += [Leftover(f"{where}:{number}", why) for why in (_untold(value) if made else ())]
    if values and not seen:
        raise SourceError(
            f"`{files.shown(path)}` holds no entities and relations. Nothing was imported.",
            hint="name the memory server's file, memory.jsonl",
        )
    return Source(FORMAT, (SourceBranch((Revision(files.distinct(items)),)),), tuple(lost))


def _parts(values: list[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """The entities and relations with their numbers, of lines or of one whole graph."""
    for number, value in values:
        inner = value.get("graph", value) if isinstance(value, dict) else value
        if isinstance(inner, dict) and isinstance(inner.get("entities"), list):
            entities = [{"type": "entity", **one} if isinstance(one, dict) else one for one in inner["entities"]]
            relations = inner.get("relations")
            relations = relations if isinstance(relations, list) else []
            whole = [*entities, *({"type": "relation", **one} if isinstance(one, dict) else one for one in relations)]
            yield from enumerate(whole, 1)
        elif isinstance(value, list) and len(values) == 1:
            yield from enumerate(value, 1)
        else:
            yield number, value


def _items(value: Any) -> list[Item] | None:
    """What one line holds: None when it is of no sort we know, nothing when it has no name."""
    if not isinstance(value, dict):
        return None
    match value.get("type"):
        case "entity":
            return _entity(value)
        case "relation":
            return _relation(value)
        case _:
            return None


def _entity(value: dict[str, Any]) -> list[Item]:
    name, sort = files.mended(value.get("name")), files.mended(value.get("entityType"))
    observations = files.strings(value.get("observations"))
    if not name:
        return []
    category = CATEGORIES.get(sort.casefold(), Category.LESSON)
    tags = tuple(one for one in (tag(sort),) if one)
    about = f"{name} ({sort})" if sort else name
    if not observations:
        text = f"{name} is a {sort}." if sort else name
        return [Item(f"entity/{name}", text, f"entity/{name}", category, tags=tags)]
    return [
        Item(
            name=f"entity/{name}#{files.digest(one)}",
            text=one if _says(one, name) else f"{about}: {one}",
            group=f"entity/{name}",
            category=category,
            tags=tags,
        )
        for one in observations
    ]


def _says(text: str, name: str) -> bool:
    """Whether a text names its entity, as a word and not as a part of one."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _untold(value: dict[str, Any]) -> Iterator[str]:
    """What an entity or relation holds that nothing is made of."""
    told = value.get("observations")
    odd = [one for one in (told if isinstance(told, list) else [told]) if one is not None and not isinstance(one, str)]
    if odd:
        yield f"{len(odd):,} of its observations are no text"
    known = _ENTITY if value.get("type") == "entity" else _RELATED
    yield from (f"is not carried: {note}" for note in files.untold(value, known))


def _relation(value: dict[str, Any]) -> list[Item]:
    start, end = files.mended(value.get("from")), files.mended(value.get("to"))
    sort = files.mended(value.get("relationType"))
    if not (start and end):
        return []
    words = " ".join(_RELATION.split(sort)).strip().lower() or "is related to"
    return [Item(f"relation/{start}/{sort}/{end}", f"{start} {words} {end}.", f"relation/{start}", tags=("relation",))]
