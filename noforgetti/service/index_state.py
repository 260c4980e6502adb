"""How the derived index stands, looked at from outside: `status` asks it of every process and must not load it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory

SESSIONS, VECTORS = "sessions.sqlite", "vectors.sqlite"


def file_of(memory: Memory, name: str) -> str:
    """Where one of the derived databases is."""
    return os.path.join(memory.places.cache_of(memory.name), name)


def index_state(memory: Memory) -> dict[str, Any]:
    """`state` is `ready`, `absent` (made at the next search), `damaged` (begun anew then) or `busy` (nobody can tell
    now: another process is at work, or the disk is full or closed to us). Entries are indexed by
    each process for itself, so nothing about them can be stale."""
    path = file_of(memory, SESSIONS)
    found: dict[str, Any] = {"state": "absent", "sessions": 0, "passages": 0, "bytes": 0}
    if not os.path.exists(path):
        return found
    try:
        found["bytes"] = sum(os.path.getsize(path + tail) for tail in ("", "-wal") if os.path.exists(path + tail))
        counts = _one(path, "select count(distinct grp), count(*) from passage")
    except (OSError, sqlite3.OperationalError) as error:
        return found | {"state": "absent" if "no such table" in str(error) else "busy"}
    except sqlite3.Error:
        return found | {"state": "damaged"}
    return found | {"state": "ready", "sessions": counts[0], "passages": counts[1]}


def vectors_kept(memory: Memory) -> int:
    """How many vectors are stored; 0 when nobody can tell."""
    try:
        return int(_one(file_of(memory, VECTORS), "select count(*) from vector")[0])
    except (OSError, sqlite3.Error):
        return 0


def _one(path: str, query: str) -> tuple[int, ...]:
    if not os.path.exists(path):
        raise FileNotFoundError(path)
    with closing(sqlite3.connect(path, timeout=0.1)) as db:
        row: tuple[int, ...] = db.execute(query).fetchone()
        return row
