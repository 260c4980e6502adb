"""Cline's session files, `<session>/<session>.messages.json`, by the contract that its makers publish (version 1).

One JSON document, written anew at every step, with messages in Anthropic's form: what tools answered stands in messages
of the user's. Of those only what stands in `<user_input>` was typed. The folder is told by a file beside. Files of
subagents say so; editors' extensions before 4.0 kept sessions in another form, which is not read.
"""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.evidence import Item, Role, Transcript
from noforgetti.transcripts.base import (
    completed,
    encodable,
    name_of,
    own_tool,
    own_words,
    safe_id,
    safe_name,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    Entry = Mapping[str, Any]

END = ".messages.json"
_VERSION = 1  # another one means a change that breaks readers, says the contract
_NOTE = 4 * 1024 * 1024  # bytes; a larger file beside is none of Cline's
_TYPED = re.compile(r"<user_input\b[^<>]{0,200}>(.*?)(?:</user_input>|\Z)", re.DOTALL)
_TAGGED = re.compile(r"\s*<[a-z]+(?:_[a-z]+)+[ >]")  # how what the host says begins


def parse(data: bytes, *, path: Path | None = None, branch: BranchName = MAIN) -> Transcript:
    """The transcript of a file's bytes. A file that is being written, or of another version, has nothing yet."""
    doc = _object(data)
    messages = doc.get("messages")
    if doc.get("version") != _VERSION or not isinstance(messages, list):
        return Transcript("", (), broken=1)
    session = safe_name(doc.get("sessionId"))
    tools: dict[str, str] = {}
    items: list[Item] = []
    broken = 0
    for number, message in enumerate(messages, 1):
        broken += not isinstance(message, dict)
        if isinstance(message, dict) and doc.get("agent", "lead") == "lead":
            items += _items(message, number, branch, tools)
    return Transcript(session, completed(items), (session,) if session else (), cwd_of(path), broken)


def _items(message: Entry, number: int, branch: BranchName, tools: dict[str, str]) -> Iterator[Item]:
    own = message.get("id")
    own = safe_id(own) if isinstance(own, str) and own else f"#{number}"
    at, content = _time(message.get("ts")), message.get("content")
    blocks = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    if message.get("role") == "assistant":
        calls = [one for one in blocks if one.get("type") == "tool_use"]
        tools |= {str(one.get("id")): name_of(one) for one in calls}
        text = own_words(text_of(content)).strip()
        if text or calls:
            yield Item(own, Role.ASSISTANT, text, at, branch)
    elif message.get("role") == "user":
        if text := typed(text_of(content)):
            yield Item(own, Role.USER, text, at, branch)
        for part, one in enumerate((one for one in blocks if one.get("type") == "tool_result"), 1):
            name = tools.get(str(one.get("tool_use_id")), "tool")
            if not own_tool(name):
                state = "failed" if one.get("is_error") else "completed"
                yield Item(safe_id(f"{own}:{part}"), Role.TOOL, f"{name} {state}", at, branch)


def typed(text: str) -> str:
    """What the user typed of a message: what is marked as such, else all of it unless the host begins it."""
    marked = _TYPED.findall(text)
    if not marked and _TAGGED.match(text):
        return ""
    return own_words("\n".join(marked) if marked else text).strip()


def cwd_of(path: Path | None) -> str:
    """The folder that a session was started in, by the file beside its own; empty when that does not say."""
    if path is None or not path.name.endswith(END):
        return ""
    try:
        with path.with_name(path.name.removesuffix(END) + ".json").open("rb") as file:
            folder = _object(file.read(_NOTE)).get("cwd")
    except OSError:
        return ""
    return encodable(folder) if isinstance(folder, str) and os.path.isabs(folder) else ""


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data.decode("utf-8-sig", errors="replace"), strict=False)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _time(ms: object) -> str:
    if not isinstance(ms, int):
        return ""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):
        return ""
