"""What we remember of each file that we touched: its bytes before, and what we wrote.

One record a file, in the state folder, the user's alone. It is written before the file is: whoever is killed between
the two finds the file as it was, and the next run goes on from there. A record that cannot be read counts as lost: our
pieces are still recognised by their values, and cut out instead of putting the old bytes back.
"""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noforgetti.hosts import files
from noforgetti.hosts.parts import NO_MARKS, Marks

if TYPE_CHECKING:
    from noforgetti.hosts.jsonc import Path as Place

VERSION = 1


@dataclass(frozen=True, slots=True)
class Record:
    """`before` are the bytes that uninstalling gives back (None: there was no file), `mode` and `changed` (nanoseconds)
    go with them; `wrote` is the digest of what we wrote; `folders` are those that we made."""

    path: Path
    before: bytes | None
    mode: int
    changed: int | None
    wrote: str
    folders: tuple[Path, ...] = ()
    marks: Marks = NO_MARKS


class Records:
    """The records of one host, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of(self, path: Path) -> Record | None:
        """What is remembered of a file; None when nothing is, or it cannot be read."""
        try:
            kept = files.read(self._place(path))
            record = _read(json.loads(kept.data)) if kept else None
        except (files.UnusableFile, ValueError, KeyError, TypeError, RecursionError):
            return None
        return record if record and record.path == path else None

    def all(self) -> tuple[Record, ...]:
        """Every record that can be read."""
        found = []
        with suppress(OSError):
            for place in sorted(self.folder.glob("*.json")):
                with suppress(files.UnusableFile, ValueError, KeyError, TypeError, RecursionError):
                    kept = files.read(place)
                    if kept:
                        found.append(_read(json.loads(kept.data)))
        return tuple(found)

    def keep(self, record: Record) -> None:
        """Remember, durably. Raises `UnusableFile`."""
        place = self._place(record.path)
        files.make_folders(place)
        files.write(place, json.dumps(_written(record), indent=1).encode(), mode=0o600)

    def forget(self, path: Path) -> None:
        """Nothing is remembered of the file any more. Raises `UnusableFile`."""
        files.remove(self._place(path))
        files.remove_folders((self.folder, self.folder.parent))

    def _place(self, path: Path) -> Path:
        return self.folder / f"{files.digest(str(path).encode('utf-8', 'surrogateescape'))[:32]}.json"


def with_folders(record: Record, folders: tuple[Path, ...]) -> Record:
    """The record, which remembers more folders as made by us."""
    return replace(record, folders=(*record.folders, *(one for one in folders if one not in record.folders)))


def _written(record: Record) -> dict[str, Any]:
    return {
        "version": VERSION,
        "path": str(record.path),
        "before": None if record.before is None else base64.b64encode(record.before).decode("ascii"),
        "mode": record.mode,
        "changed": record.changed,
        "wrote": record.wrote,
        "folders": [str(folder) for folder in record.folders],
        "values": [list(pair) for pair in record.marks.values],
        "made": [list(place) for place in record.marks.made],
        "tight": [list(place) for place in record.marks.tight],
    }


def _read(doc: dict[str, Any]) -> Record:
    if doc["version"] != VERSION:
        raise ValueError("a record of another version")
    before = doc["before"]
    return Record(
        path=Path(doc["path"]),
        before=None if before is None else base64.b64decode(before, validate=True),
        mode=int(doc["mode"]),
        changed=None if doc["changed"] is None else int(doc["changed"]),
        wrote=str(doc["wrote"]),
        folders=tuple(Path(one) for one in doc["folders"]),
        marks=Marks(
            tuple((str(name), value) for name, value in doc["values"]), _places(doc["made"]), _places(doc["tight"])
        ),
    )


def _places(given: list[list[str | int | None]]) -> tuple[Place, ...]:
    return tuple(tuple(place) for place in given)
