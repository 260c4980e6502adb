"""What was put before the agent, as JSON lines in the state folder: for whoever wonders why a memory was or was not
there. Local, bounded, without a word of the prompt; the setting `telemetry = false` turns it off."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from noforgetti.store import folders

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory

_BYTES = 500_000  # the reference system's cap of its telemetry file
_KEPT = 200  # newest lines that survive when the file reaches it (the same)


def record(memory: Memory, event: dict[str, Any]) -> None:
    """Append one event. Trouble is ignored: nobody's turn fails for the sake of a log."""
    if not memory.settings.telemetry or not memory.exists:
        return
    path = file_of(memory)
    line = json.dumps({"time": memory.stamp(), **event}, ensure_ascii=True, separators=(",", ":"))
    with suppress(OSError):
        folders.make(os.path.dirname(path))
        with open(path, "ab", opener=folders.private) as file:
            file.write(line.encode() + b"\n")
            full = file.tell() > _BYTES
        if full:
            _shorten(path)


def newest(memory: Memory, limit: int = _KEPT) -> list[dict[str, Any]]:
    """The newest events, newest first; lines that cannot be read are passed over."""
    try:
        with open(file_of(memory), "rb") as file:
            lines = file.read(2 * _BYTES).splitlines()
    except OSError:
        return []
    found = []
    for line in reversed(lines):
        with suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict):
                found.append(event)
        if len(found) >= limit:
            break
    return found


def file_of(memory: Memory) -> str:
    """Where the events are."""
    return os.path.join(memory.places.state_of(memory.name), "telemetry.jsonl")


def _shorten(path: str) -> None:
    with open(path, "rb") as file:
        newest_lines = file.read().splitlines(keepends=True)[-_KEPT:]
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb", opener=folders.private) as file:
        file.writelines(newest_lines)
    os.replace(temporary, path)
