"""Qwen Code's session files: what was said on the current path, as release 0.15 writes it.

A file is JSON lines forming a tree (`uuid`, `parentUuid`). Of a message of the user's only the first text part is what
was typed; the parts after it are files that were named and what hooks told the model, its markup escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.evidence import Item, Role, Transcript
from noforgetti.transcripts.base import (
    completed,
    encodable,
    name_of,
    objects,
    own_tool,
    own_words,
    safe_id,
    safe_name,
    when,
)
from noforgetti.transcripts.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    Entry = Mapping[str, Any]

_SUMMARY = "<state_snapshot>"


def parse(data: bytes, *, path: Path | None = None, branch: BranchName = MAIN) -> Transcript:
    """The transcript of a file's bytes. Ids are the host's."""
    del path
    tree = Tree()
    session, cwd, broken = "", "", 0
    for line in objects(data):
        own = line.get("uuid") if line is not None else None
        if line is None or not isinstance(own, str) or not own:
            broken += line is None
        elif not aside(line):
            session = safe_name(line.get("sessionId")) or session
            cwd = cwd or cwd_of(line)
            broken += not tree.add(own, line.get("parentUuid"), line)
    items = completed([one for own, line in tree.path() for one in _items(own, line, branch)])
    return Transcript(session, items, (session,) if session else (), cwd, broken)


def _items(own: str, line: Entry, branch: BranchName) -> Iterator[Item]:
    if said := spoken(line):
        yield Item(safe_id(own), said[0], said[1], when(line), branch)
    elif line.get("type") == "assistant":
        parts = parts_of(line.get("message"))
        text = own_words(texts(parts)).strip()
        if text or any("functionCall" in one for one in parts):
            yield Item(safe_id(own), Role.ASSISTANT, text, when(line), branch)
    elif line.get("type") == "tool_result":
        yield from _result(own, line, branch)


def spoken(line: Entry) -> tuple[Role, str] | None:
    """What a line holds of the user's words, or the host's summary; None for every other line."""
    role, text = Role.USER, ""
    if line.get("type") == "user":
        text = typed(parts_of(line.get("message")))
    elif line.get("type") == "system" and line.get("subtype") == "chat_compression":
        role, text = Role.SUMMARY, _summary(line.get("systemPayload"))
    return (role, text) if text else None


def _result(own: str, line: Entry, branch: BranchName) -> Iterator[Item]:
    done = line.get("toolCallResult")
    state = "completed" if isinstance(done, dict) and done.get("status") == "success" else "failed"
    for part in parts_of(line.get("message")):
        answer = part.get("functionResponse")
        name = name_of(answer) if isinstance(answer, dict) else "tool"
        if isinstance(answer, dict) and not own_tool(name):
            yield Item(safe_id(own), Role.TOOL, f"{name} {state}", when(line), branch)
            return  # a line holds one result


def _summary(payload: object) -> str:
    history = payload.get("compressedHistory") if isinstance(payload, dict) else None
    for message in history if isinstance(history, list) else []:
        text = texts(parts_of(message))
        if _SUMMARY in text:
            return summary(text)
    return ""


def summary(text: str) -> str:
    """A host's summary without the tags around it."""
    return own_words(text.replace(_SUMMARY, "").replace("</state_snapshot>", "")).strip()


def parts_of(message: object) -> list[Entry]:
    """The parts of a message, in Gemini's form; a plain text is one part."""
    parts = message.get("parts") if isinstance(message, dict) else message
    if isinstance(parts, str):
        return [{"text": parts}]
    return [one for one in parts if isinstance(one, dict)] if isinstance(parts, list) else []


def texts(parts: list[Entry]) -> str:
    """The visible text of parts; thoughts, images, calls and their answers stay out."""
    found = (one.get("text") for one in parts if not one.get("thought"))
    return encodable("\n".join(one for one in found if isinstance(one, str)))


def typed(parts: list[Entry]) -> str:
    """What the user typed of a message: its first text part. Files and what hooks told follow it."""
    first = next((one for one in parts if isinstance(one.get("text"), str)), None)
    return own_words(texts([first])).strip() if first else ""


def aside(line: Entry) -> bool:
    """Whether a line belongs to a subagent."""
    return bool(line.get("isSidechain") or line.get("agentId"))


def cwd_of(line: Entry) -> str:
    """The folder a line says it was written in, or empty."""
    cwd = line.get("cwd")
    return encodable(cwd) if isinstance(cwd, str) else ""
