"""pi-memory's SQLite database: facts with keys, lessons, and the events that say when they changed.

What belongs to another project is left over; what the product tells in every project (`user.`, `pref.`, lessons without
a project) is the user's and goes where that is kept. A fact's text is its value; its key stays its key.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noforgetti.importers import databases, files
from noforgetti.importers.base import Item, Leftover, Revision, Source, SourceBranch, SourceError
from noforgetti.importers.listing import tag
from noforgetti.model.entry import Category, Cue, Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from noforgetti.importers.databases import Database

FORMAT = "pi-memory"
NAME = "memory.db"
# Parts of a path that name no project (the product's own list; it adds the user's name).
_UNNAMED = frozenset({"workplace", "local", "home", "src", "scratch"})
_FACT = ("key", "value", "confidence", "source", "created_at", "updated_at")
_LESSON = ("id", "rule", "category", "source", "negative", "is_deleted", "created_at", "project")
_EVENT = ("id", "event_type", "memory_type", "memory_key", "details", "created_at")
_CATEGORIES = {"pref": Category.PREFERENCE, "tool": Category.PREFERENCE, "user": Category.PREFERENCE}


def find(project: str, environ: Mapping[str, str]) -> Path | None:
    """The database of the project's own settings, else that of all projects."""
    found = [path for path in (_local(project), _inside(Path(project, ".pi"))) if path] if project else []
    if environ.get("HOME"):
        found.append(Path(environ["HOME"], ".pi", "memory", NAME))
    return next((path for path in found if path.is_file()), None)


def _local(project: str) -> Path | None:
    """Where the project's settings put the database, by either of the product's two keys."""
    try:
        settings = json.loads(files.whole(Path(project, ".pi", "settings.json")))
    except (SourceError, ValueError, RecursionError):
        return None
    for key, below in (("pi-memory", (NAME,)), ("pi-total-recall", ("memory", NAME))):
        block = settings.get(key) if isinstance(settings, dict) else None
        path = block.get("localPath") if isinstance(block, dict) else None
        if isinstance(path, str) and path.strip():
            return Path(project, path, *below)
    return None


def _inside(folder: Path) -> Path | None:
    return next((path for path in (folder / NAME, folder / "memory" / NAME) if path.is_file()), None)


def read(path: Path, *, project: str = "") -> Source:
    """The memory of a database, or of the one in a folder (also in its `memory` or `.pi/memory`). Raises
    `SourceError`."""
    if path.is_dir():
        found = _inside(path) or _inside(path / ".pi")
        if found is None:
            raise SourceError(
                f"`{files.shown(path)}` holds no `{NAME}`. Nothing was imported.", hint="name the database file"
            )
        path = found
    with databases.opened(path) as base:
        if not {"key", "value"} <= set(base.columns("semantic")) or "rule" not in base.columns("lessons"):
            raise SourceError(
                f"`{files.shown(path)}` is no memory of pi-memory that this version knows. Nothing was imported.",
                hint="name its memory.db; a newer product needs a newer noforgetti",
            )
        reading = _Reading(base, slug(project))
        reading.facts()
        reading.lessons()
        reading.deleted()
        lost = (*base.left(), *reading.leftovers)
    return Source(FORMAT, (SourceBranch((Revision(files.distinct(reading.items)),)),), lost)


def slug(project: str) -> str:
    """What the product calls a project: the last part of its path that is no common folder, in small letters."""
    parts = (one.lower() for one in reversed(project.split("/")))
    return next((one for one in parts if len(one) > 1 and one not in _UNNAMED), "")


class _Reading:
    """What was read so far of a database for one project."""

    def __init__(self, base: Database, here: str) -> None:
        self.base, self.here = base, here
        self.items: list[Item] = []
        self.leftovers: list[Leftover] = []
        self.began: dict[str, str] = {}
        self.updates: Counter[str] = Counter()
        self.gone: dict[str, str] = {}  # facts that are no more
        for row in base.rows("events", *_EVENT):
            key = files.mended(row["memory_key"])
            if row["event_type"] == "create":
                self.began.setdefault(key, files.stamp(row["created_at"]))
                self.gone.pop(key, None)
            elif row["event_type"] == "update":
                self.updates[key] += 1
            elif row["event_type"] == "delete" and row["memory_type"] == "semantic":
                self.gone[key] = files.stamp(row["created_at"])

    def facts(self) -> None:
        """Facts, each under its key."""
        for row in self.base.rows("semantic", *_FACT):
            key, value = files.mended(row["key"]).lower(), files.mended(row["value"])
            first, *more = key.split(".")
            self.gone.pop(key, None)
            if not value:
                self._left(f"semantic: {key}", "has no value")
            elif not (first == "project" and self._foreign(f"semantic: {key}", more[0] if more else "")):
                self.items.append(self._fact(key, first, value, row))

    def _fact(self, key: str, first: str, value: str, row: dict[str, Any]) -> Item:
        created = self.began.get(key) or files.stamp(row["created_at"])
        changed = files.stamp(row["updated_at"])
        return Item(
            name=f"fact/{key}",
            text=value,
            group=f"fact/{key}",
            category=_CATEGORIES.get(first, Category.PATTERN if first == "project" else Category.LESSON),
            key=key,
            cue=_cue(row["source"]),
            tags=("tool",) if first == "tool" else (),
            confidence=_confidence(row),
            scope=Scope.USER if first in ("user", "pref") else Scope.PROJECT,
            created=created,
            reinforced=changed if changed > created else "",
            notes=tuple(self._changes(key)),
        )

    def lessons(self) -> None:
        """Lessons. One that was deleted is left over."""
        for row in self.base.rows("lessons", *_LESSON):
            own, text = files.mended(row["id"]) or "lesson", files.mended(row["rule"])
            where = f"lessons: {own}"
            if row["is_deleted"]:
                self._left(where, "was deleted there")
            elif not text:
                self._left(where, "has no text")
            elif not (row["project"] and self._foreign(where, files.mended(row["project"]))):
                self.items.append(self._lesson(own, text, row))

    def _lesson(self, own: str, text: str, row: dict[str, Any]) -> Item:
        sort, source = files.mended(row["category"]).lower(), files.mended(row["source"])
        return Item(
            name=f"lesson/{own}",
            text=text,
            group=f"lesson/{own}",
            category=Category.LESSON,
            cue=_cue(source),
            negative=bool(row["negative"]),
            tags=(tag(sort),) if sort not in ("", "general") and tag(sort) else (),
            scope=Scope.PROJECT if row["project"] else Scope.USER,
            created=files.stamp(row["created_at"]),
            session=source.removeprefix("session:") if source.startswith("session:") else "",
        )

    def deleted(self) -> None:
        """Facts that the events say were deleted."""
        for key, at in self.gone.items():
            self._left(f"semantic: {files.shown(key)}", f"was deleted there{f' at {at}' if at else ''}")

    def _changes(self, key: str) -> list[str]:
        count = self.updates[key]
        return [f"changed {'once' if count == 1 else f'{count:,} times'} there"] if count else []

    def _foreign(self, where: str, name: str) -> bool:
        """Whether something is of another project; it is left over then."""
        if not self.here or name.lower() == self.here:
            return False
        self._left(where, f"is of project `{files.shown(name)}`; import it there")
        return True

    def _left(self, where: str, why: str) -> None:
        self.leftovers.append(Leftover(f"{self.base.where}: {files.shown(where)}", why))


def _cue(source: object) -> Cue:
    """What the user said or corrected is explicit; the rest somebody concluded from sessions."""
    return Cue.EXPLICIT if source in ("user", "correction") else Cue.BEHAVIORAL


def _confidence(row: dict[str, Any]) -> float | None:
    """How sure an automatic writer was; what the user said needs none."""
    number = row["confidence"]
    sure = isinstance(number, int | float) and 0 <= number <= 1 and row["source"] != "user"
    return float(number) if sure else None
