"""OpenCode's database of sessions: what was said in one of them, as release 1.18 keeps it.

A session is named `<database>#<session id>`; a database without such an end means its newest session. The database is
opened for reading only and no file is made beside it: where no log of changes (`-wal`) waits, it is opened as a
file that does not change, and where one waits whose index (`-shm`) is missing, what is in the log is read once the host
has opened it. Only text counts that was typed or answered: no part marked `synthetic`, no reasoning, no tool's input or
output. A fork's copies keep the time they were said at, which is before the fork was made: they count where they were
said. A child session (`parent_id`) is a subagent's.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.evidence import Item, Role, Transcript
from noforgetti.transcripts.base import (
    TranscriptError,
    completed,
    database_of,
    encodable,
    name_of,
    own_tool,
    own_words,
    safe_id,
    safe_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BUSY = 1.0  # seconds that a host in the middle of a write is waited for
_TEXT = 32 * 1024 * 1024  # characters of one value; a longer one is passed over, as a line of a file would be
_MESSAGES = (
    "SELECT m.id, m.data, p.id, p.data FROM message m LEFT JOIN part p ON p.message_id = m.id"
    " WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.time_created, p.id"
)


class Listed(NamedTuple):
    """A session as the database lists it: `changed` is in ms since 1970."""

    id: str
    directory: str
    changed: int


def parse(data: bytes, *, path: Path | None = None, branch: BranchName = MAIN) -> Transcript:
    """The transcript of the session that `path` names; without a path nothing was said. Ids are those of the host's
    messages. Raises `TranscriptError` when the database cannot be read or has no such session."""
    del data
    if path is None:
        return Transcript("", ())
    place = path if os.path.lexists(path) else database_of(path)
    wanted = "" if place == path else path.name.rpartition("#")[2]
    try:
        with closing(opened(place)) as database:
            return _transcript(database, path, wanted or _newest(database), branch)
    except sqlite3.Error as trouble:
        raise TranscriptError(
            f"OpenCode's database `{place}` cannot be read: {trouble}. Nothing was reviewed.",
            hint="look at it with OpenCode, or name another session with --transcript",
        ) from trouble


def sessions(place: Path, inside: tuple[str, ...] = ()) -> list[Listed]:
    """The sessions of a database, newest first, without those of subagents; of those that were started in one of the
    folders `inside`, or below. A database that cannot be read has none."""
    try:
        with closing(opened(place)) as database:
            rows = database.execute("SELECT id, directory, time_updated FROM session WHERE parent_id IS NULL")
            found = [Listed(str(own), str(folder), int(changed)) for own, folder, changed in rows]
    except (sqlite3.Error, OSError, ValueError, TypeError):
        return []
    wanted = [one for one in found if not inside or any(_below(one.directory, folder) for folder in inside)]
    return sorted(wanted, key=lambda one: (one.changed, one.id), reverse=True)


def stamped(place: Path, inside: tuple[str, ...] = ()) -> list[tuple[str, tuple[int, int, int, int]]]:
    """`sessions` as paths, each with what tells a session that changed from one that did not: the database's device
    and inode, the time of the last change in ms and in ns."""
    try:
        seen = os.stat(place)
    except OSError:
        return []
    return [
        (f"{place}#{one.id}", (seen.st_dev, seen.st_ino, one.changed, one.changed * 1_000_000))
        for one in sessions(place, inside)
    ]


def stamp_of(path: Path) -> tuple[int, int, int, int] | None:
    """The stamp of one session, or None when it is gone."""
    return next((stamp for name, stamp in stamped(database_of(path)) if name == str(path)), None)


def directory(path: Path) -> str:
    """The folder that the session `path` was started in, or empty."""
    wanted = path.name.rpartition("#")[2]
    return next((one.directory for one in sessions(database_of(path)) if one.id == wanted), "")


def _below(folder: str, top: str) -> bool:
    return folder == top or folder.startswith(top.rstrip("/") + "/")


def opened(place: Path) -> sqlite3.Connection:
    """The database for reading. Raises `sqlite3.Error`."""
    log, index = (Path(f"{place}{end}") for end in ("-wal", "-shm"))
    try:
        waits = log.stat().st_size > 0 and index.exists()
    except OSError:
        waits = False
    how = "mode=ro" if waits else "mode=ro&immutable=1"
    database = sqlite3.connect(f"file:{quote(os.path.abspath(place))}?{how}", uri=True, timeout=_BUSY)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _TEXT)
    database.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
    return database


def _newest(database: sqlite3.Connection) -> str:
    row = database.execute(
        "SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC, id DESC LIMIT 1"
    ).fetchone()
    return str(row[0]) if row else ""


def _transcript(database: sqlite3.Connection, path: Path, wanted: str, branch: BranchName) -> Transcript:
    row = database.execute(
        "SELECT directory, time_created, parent_id, revert FROM session WHERE id = ?", (wanted,)
    ).fetchone()
    if row is None:
        named = f"session `{wanted}`" if wanted else "session"
        raise TranscriptError(
            f"OpenCode's database `{database_of(path)}` has no {named}. Nothing was reviewed.",
            hint="`opencode session list` names its sessions",
        )
    directory, created, parent, revert = row
    undone = _object(revert).get("messageID")
    messages: dict[str, tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]] = {}
    broken = 0
    for own, data, part, said in database.execute(_MESSAGES, (wanted,)):
        if own == undone:
            break  # the user took this message back, and all that follow it
        message = messages.setdefault(str(own), (_object(data), []))
        if part is not None:
            message[1].append((str(part), value := _object(said)))
            broken += not value
    items: list[Item] = []
    for own, (about, parts) in messages.items():
        broken += not about
        if not isinstance(created, int) or _said(about) >= created:
            items.extend(_items(own, about, parts, branch))
    session = safe_name(wanted)
    told = () if parent else completed(items)
    return Transcript(session, told, (session,), encodable(str(directory or "")), broken)


def _items(
    own: str, about: Mapping[str, Any], parts: list[tuple[str, dict[str, Any]]], branch: BranchName
) -> Iterator[Item]:
    at = _time(_said(about))
    text = own_words(encodable("\n".join(_texts(parts)))).strip()
    tools = [one for _, one in parts if one.get("type") == "tool"]
    if about.get("role") == "user":
        if text := _unquoted(text):
            yield Item(safe_id(own), Role.USER, text, at, branch)
        return
    if about.get("role") != "assistant" or about.get("error"):
        return
    if text or tools:
        role = Role.SUMMARY if about.get("summary") is True else Role.ASSISTANT
        yield Item(safe_id(own), role, text, at, branch)
    for number, tool in enumerate(tools, 1):
        name = name_of({"name": tool.get("tool")})
        if not own_tool(name):
            state = tool.get("state")
            done = isinstance(state, dict) and state.get("status") == "completed"
            yield Item(safe_id(f"{own}:{number}"), Role.TOOL, f"{name} {'completed' if done else 'failed'}", at, branch)


def _texts(parts: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    for _, part in parts:
        text = part.get("text")
        shown = part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
        if shown and isinstance(text, str):
            yield text


def _unquoted(text: str) -> str:
    """`opencode run` keeps its prompt between quotation marks."""
    if len(text) > 2 and text[0] == text[-1] == '"' and '"' not in text[1:-1].replace('\\"', ""):
        return text[1:-1].replace('\\"', '"').strip()
    return text


def _said(about: Mapping[str, Any]) -> int:
    time = about.get("time")
    at = time.get("created") if isinstance(time, dict) else None
    return at if isinstance(at, int) else 0


def _time(ms: int) -> str:
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):
        return ""


def _object(text: object) -> dict[str, Any]:
    try:
        value = json.loads(text, strict=False) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
