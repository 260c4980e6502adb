"""mem0: an export (what `get_all` answers, or the platform's list) as JSON or JSON Lines, or the local `history.db`.

The local vector store keeps pickled objects, which run whatever code is in them when they are read; it is never
opened. The history beside it holds the same texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noforgetti.importers import databases, files
from noforgetti.importers.base import Item, Leftover, Revision, Source, SourceBranch, SourceError
from noforgetti.importers.listing import CATEGORIES, tag
from noforgetti.model.entry import Category

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT = "mem0"
_TEXT = ("memory", "text", "data", "content", "new_memory")
_PLAIN = (  # keys that something is made of, and those that mem0 derives from the text
    *("id", "hash", "score", "metadata", "created_at", "updated_at", "run_id", "categories", "immutable", "embedding"),
    "expiration_date",
)
_HISTORY = ("id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at", "is_deleted")


def read(path: Path, *, project: str = "") -> Source:
    """The memories of an export or a history, or of `history.db` in mem0's folder. Raises `SourceError`."""
    del project
    if path.is_dir():
        path = _inside(path)
    if databases.is_database(path):
        items, lost = _history(path)
    else:
        items, lost = _export(path, files.whole(path))
    return Source(FORMAT, (SourceBranch((Revision(files.distinct(items)),)),), tuple(lost))


def _inside(folder: Path) -> Path:
    if (folder / "history.db").exists():
        return folder / "history.db"
    raise SourceError(
        f"`{files.shown(folder)}` holds no `history.db`. Nothing was imported.",
        hint="name mem0's folder (~/.mem0), or a file with what `get_all` answers as JSON",
    )


def _export(path: Path, data: bytes) -> tuple[list[Item], list[Leftover]]:
    values, lost = files.documents(data, path.name)
    found = list(_memories(values))
    items: list[Item] = []
    known = not found
    for number, value in found:
        item = _item(value)
        if item is None:
            lost.append(Leftover(f"{path.name}:{number}", "is no memory: it has no text"))
        else:
            items.append(item)
        known = known or item is not None
    if not known:
        raise SourceError(
            f"`{files.shown(path)}` holds no memories of mem0. Nothing was imported.",
            hint='an export is a JSON list of objects with "memory", or such a list under "results"',
        )
    return items, lost


def _memories(values: list[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """The memories and relations with their numbers, wherever an export has its list."""
    for number, value in values:
        if isinstance(value, dict) and not any(key in value for key in _TEXT):
            lists = [value[key] for key in ("results", "memories", "relations") if isinstance(value.get(key), list)]
            yield from enumerate((one for part in lists for one in part), 1) if lists else ((number, value),)
        elif isinstance(value, list):
            yield from enumerate(value, 1)
        else:
            yield number, value


def _item(value: Any) -> Item | None:
    if not isinstance(value, dict):
        return None
    relation = [files.mended(value.get(key)) for key in ("source", "relationship", "target")]
    relation[2] = relation[2] or files.mended(value.get("destination"))
    if all(relation):
        return Item(f"relation/{'/'.join(relation)}", f"{' '.join(relation).replace('_', ' ')}.", tags=("relation",))
    text = next((found for key in _TEXT if (found := files.mended(value.get(key)))), "")
    if not text:
        return None
    about = value.get("metadata")
    about = about if isinstance(about, dict) else {}
    labels = [*files.strings(about.get("category")), *files.strings(value.get("categories"))]
    labels += files.strings(about.get("tags"))
    created, updated = files.stamp(value.get("created_at")), files.stamp(value.get("updated_at"))
    named = files.mended(value.get("id")) or files.digest(text)
    return Item(
        name=named,
        text=text,
        group=named,
        category=next((CATEGORIES[one.casefold()] for one in labels if one.casefold() in CATEGORIES), Category.LESSON),
        tags=tuple(dict.fromkeys(tag(one) for one in labels if one.casefold() not in CATEGORIES and tag(one))),
        created=created,
        reinforced=updated if updated > created else "",
        session=files.mended(value.get("run_id")),
        pinned=value.get("immutable") is True,
        notes=tuple(_notes(value, about, text)),
    )


def _notes(value: dict[str, Any], about: dict[str, Any], text: str) -> Iterator[str]:
    """What else is said of a memory."""
    if value.get("expiration_date"):
        yield f"expires: {str(value['expiration_date'])[:40]}"
    yield from files.untold(value, [*_PLAIN, *(key for key in _TEXT if files.mended(value.get(key)) == text)])
    yield from files.untold(about, ("category", "tags"))


def _history(path: Path) -> tuple[list[Item], list[Leftover]]:
    """The newest text of every memory that was not deleted."""
    newest: dict[str, dict[str, Any]] = {}
    gone: set[str] = set()
    with databases.opened(path) as base:
        if not {"memory_id", "new_memory", "event"} <= set(base.columns("history")):
            raise SourceError(
                f"`{files.shown(path)}` holds no history of mem0 that this version knows. Nothing was imported.",
                hint="export the memories as JSON with `get_all` instead",
            )
        for row in base.rows("history", *_HISTORY):
            own = str(row["memory_id"])
            first = newest.get(own, {}).get("created_at") or row["created_at"]
            text = row["new_memory"] or row["old_memory"]
            newest[own] = {"id": own, "memory": text, "created_at": first, "updated_at": row["updated_at"]}
            (gone.add if row["is_deleted"] or row["event"] == "DELETE" else gone.discard)(own)
        lost = base.left()
    if gone:
        lost.append(Leftover(path.name, f"{len(gone):,} of its memories were deleted there"))
    items: list[Item] = []
    for own, value in newest.items():
        item = None if own in gone else _item(value)
        if item is not None:
            items.append(item)
        elif own not in gone:
            lost.append(Leftover(f"{path.name}: {files.shown(own)}", "has no text"))
    return items, lost
