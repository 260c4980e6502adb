"""The older `memories.db` of the memory architecture: one table `memories`, a row a memory, the oldest first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from noforgetti.importers import databases, files
from noforgetti.importers.base import Item, Leftover, Revision, Source, SourceBranch, SourceError
from noforgetti.importers.listing import CATEGORIES, tag
from noforgetti.model.entry import Category, Cue

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "memories-db"
NAME = "memories.db"
_COLUMNS = ("id", "date", "category", "sentiment", "summary", "details", "tags", "recall_count", "last_recalled")


def read(path: Path, *, project: str = "") -> Source:
    """The memory of a database, or of the one in a folder (also in its `.pi/memory`). Raises `SourceError`."""
    del project
    if path.is_dir():
        inside = (path / NAME, path / ".pi" / "memory" / NAME)
        path = next((one for one in inside if one.is_file()), path / NAME)
    with databases.opened(path) as base:
        if "summary" not in base.columns("memories"):
            raise SourceError(
                f"`{files.shown(path)}` has no table `memories` with summaries. Nothing was imported.",
                hint="name the older product's memories.db",
            )
        rows = list(base.rows("memories", *_COLUMNS))
        lost = base.left()
    items: list[Item] = []
    for row in sorted(rows, key=lambda one: files.stamp(one["date"])):
        item = _item(row)
        if item is None:
            lost.append(Leftover(f"{path.name}: {files.shown(str(row['id']))}", "has no text"))
        else:
            items.append(item)
    return Source(FORMAT, (SourceBranch((Revision(files.distinct(items)),)),), tuple(lost))


def _item(row: dict[str, Any]) -> Item | None:
    summary, details = files.mended(row["summary"]), files.mended(row["details"])
    text = "\n\n".join(one for one in (summary, details if details != summary else "") if one)
    if not text:
        return None
    own = str(row["id"]) if row["id"] is not None else files.digest(text)
    name = f"memories/{own}/{row['date']}" if row["date"] else f"memories/{own}"  # each database counts from 1
    sort = files.mended(row["category"]).lower()
    labels = re.split(r"[,;\[\]\"\s]+", files.mended(row["tags"]))
    known = sort in CATEGORIES
    said = {"sentiment": row["sentiment"], "recalled": row["recall_count"], "last recalled": row["last_recalled"]}
    return Item(
        name=name,
        text=text,
        group=name,
        category=CATEGORIES[sort] if known else Category.LESSON,
        cue=Cue.BEHAVIORAL,
        tags=tuple(dict.fromkeys(one for one in map(tag, [*labels, *([] if known else [sort])]) if one)),
        created=files.stamp(row["date"]),
        notes=tuple(f"{key}: {value}"[:120] for key, value in said.items() if value),
    )
