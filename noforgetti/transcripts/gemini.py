"""Gemini CLI's session files: what was said, as release 0.61 writes it.

A file is a header and then records: a message (again whenever it changes, under the same id), `{"$set": …}` with parts
of the header or, after a resume or a compression, the messages the model now has, and `{"$rewindTo": id}`. A message
that a `$set` no longer holds was said all the same. `displayContent` is what was typed; without it the first text part
is, unless the host made it (`<session_context>`, `<hook_context>`). A subagent's file holds no evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.evidence import Item, Role, Transcript
from noforgetti.transcripts.base import completed, name_of, objects, own_tool, own_words, safe_id, safe_name, when
from noforgetti.transcripts.qwen import parts_of, summary, texts, typed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    Entry = Mapping[str, Any]

_ROOT = ".project_root"  # beside the folder of the chats: the folder the project's sessions were started in
_ROOT_BYTES = 8_192
_MADE = ("<session_context>", "<hook_context>")
_SUMMARY = "<state_snapshot>"


def parse(data: bytes, *, path: Path | None = None, branch: BranchName = MAIN) -> Transcript:
    """The transcript of a file's bytes. Ids are the host's. Which folder it was started in stands beside the file."""
    found = _Session()
    for line in objects(data):
        found.take(line)
    session = safe_name(found.header.get("sessionId"))
    items = [one for line in found.messages.values() for one in _items(line, branch)]
    said = () if aside(found.header) else completed(items)
    return Transcript(session, said, (session,) if session else (), root_of(path) if path else "", found.broken)


@dataclass(slots=True)
class _Session:
    """The messages by id, in the order in which they were first said."""

    header: dict[str, Any] = field(default_factory=dict)
    messages: dict[str, Entry] = field(default_factory=dict)
    broken: int = 0

    def take(self, line: Entry | None) -> None:
        if line is None:
            self.broken += 1
        elif isinstance(to := line.get("$rewindTo"), str):
            self._rewind(to)
        elif isinstance(patch := line.get("$set"), dict):
            self._keep(patch.get("messages"))
        elif isinstance(own := line.get("id"), str) and own:
            self.messages[own] = line
        elif "sessionId" in line:
            self.header = self.header or dict(line)
            self._keep(line.get("messages"))

    def _keep(self, messages: object) -> None:
        """Messages as the model has them: those known by id or by their words are here already."""
        listed = [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
        known = {spoken(one) for one in self.messages.values()} - {None}
        for one in listed:
            own = one.get("id")
            if isinstance(own, str) and own and own not in self.messages and spoken(one) not in known:
                self.messages[own] = one

    def _rewind(self, to: str) -> None:
        if to not in self.messages:
            self.messages.clear()
        while to in self.messages:
            self.messages.popitem()


def _items(line: Entry, branch: BranchName) -> Iterator[Item]:
    own, at = safe_id(str(line["id"])), when(line)
    if said := spoken(line):
        yield Item(own, *said, at, branch)
    elif line.get("type") == "gemini":
        text = own_words(texts(parts_of(line.get("content")))).strip()
        calls = line.get("toolCalls")
        called = [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
        if text or called:
            yield Item(own, Role.ASSISTANT, text, at, branch)
        for number, call in enumerate(called, 1):
            if not own_tool(name := name_of(call)):
                state = "completed" if call.get("status") == "success" else "failed"
                yield Item(f"{own}:{number}", Role.TOOL, f"{name} {state}", at, branch)


def spoken(line: Entry) -> tuple[Role, str] | None:
    """What a record holds of the user's words, or the host's summary; None for every other record."""
    if line.get("type") != "user":
        return None
    shown = parts_of(line.get("displayContent"))
    parts = shown or parts_of(line.get("content"))
    first = next((str(one["text"]) for one in parts if isinstance(one.get("text"), str)), "")
    if first.lstrip().startswith(_MADE):
        return None
    if not shown and _SUMMARY in first:
        return (Role.SUMMARY, text) if (text := summary(first)) else None
    text = own_words(texts(parts)).strip() if shown else typed(parts)
    return (Role.USER, text) if text else None


def aside(header: Entry) -> bool:
    """Whether a session is a subagent's."""
    return header.get("kind") == "subagent"


def root_of(path: Path) -> str:
    """The folder that the sessions beside `path` were started in, as the host has noted it, or empty."""
    try:
        with (path.parent.parent / _ROOT).open("rb") as file:
            return file.read(_ROOT_BYTES).decode(errors="surrogateescape").strip()
    except (OSError, ValueError):
        return ""
