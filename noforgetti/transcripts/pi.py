"""Pi's session files: what was said on the current path, root to leaf.

A file is JSON lines forming a tree (`id`, `parentId`); the last line is the current leaf and everything off
its path was abandoned. Older files have no ids: they are one path, named by line. A fork's file copies the
path with the same ids.

Only what completed counts: answers that ended in `error` or `aborted` are left out, and words after the
last answer that completed wait for the next one that does. `context_edit` entries hold: what was taken out
of the model's context is no evidence either (the item stays with empty text, so that a position on it can
still be found)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.evidence import Item, Role, Transcript
from noforgetti.transcripts.base import (
    encodable,
    name_of,
    objects,
    own_tool,
    own_words,
    safe_id,
    safe_name,
    text_of,
    when,
)
from noforgetti.transcripts.base import read as read_file
from noforgetti.transcripts.tree import Tree

Entry = Mapping[str, Any]

CUSTOM_TYPE = "noforgetti"  # our entries in a session: {"branch": name}
_FAILED = ("error", "aborted")  # stopReason of an answer that did not complete; length and toolUse do
_ANCESTORS = 32  # forks of forks followed through their files' headers: a bound, nobody forks that deep
_HEADER_BYTES = 64 * 1024  # a header is some 200 bytes


def read(
    source: Path | bytes | Iterable[Entry], *, session: str = "", cwd: str = "", branch: BranchName = MAIN
) -> Transcript:
    """The transcript of a session file, its bytes, or the entries a running host hands over (then `session`
    and `cwd` say whose they are). `branch` is the memory branch selected before the first entry. Raises
    `TranscriptError` for a path that cannot be opened; nothing inside a file raises."""
    if isinstance(source, Path):
        return read_file(source, kind="pi", branch=branch)
    if isinstance(source, bytes):
        return parse(source, branch=branch)
    return _transcript(_Lines.of(source), session=session, cwd=cwd, branch=branch)


def parse(data: bytes, *, path: Path | None = None, branch: BranchName = MAIN) -> Transcript:
    """The transcript of a file's bytes. `path` lets forks of forks be followed through the parents'
    headers."""
    return _transcript(_Lines.of(objects(data)), branch=branch, beside=path)


@dataclass(slots=True)
class _Lines:
    """A file's header and its entries. Without ids they are one path, named by line."""

    header: Entry = field(default_factory=dict)
    tree: Tree = field(default_factory=Tree)
    broken: int = 0

    @classmethod
    def of(cls, lines: Iterable[Entry | None]) -> _Lines:
        found = cls()
        for number, line in enumerate(lines, 1):
            if not isinstance(line, Mapping):
                found.broken += 1
            elif line.get("type") == "session":
                found.header = found.header or line
            else:
                found.add(line, number)
        return found

    def add(self, line: Entry, number: int) -> None:
        own = line.get("id")
        named = isinstance(own, str) and bool(own)
        new = self.tree.add(str(own), line.get("parentId"), line) if named else self._next(line, number)
        self.broken += not new

    def _next(self, line: Entry, number: int) -> bool:
        return self.tree.add(f"#{number}", self.tree.leaf, line)


def _transcript(
    lines: _Lines, *, session: str = "", cwd: str = "", branch: BranchName = MAIN, beside: Path | None = None
) -> Transcript:
    own = lines.header.get("id")
    session = safe_name(own if isinstance(own, str) else session)
    folder = lines.header.get("cwd")
    items = tuple(_items(lines.tree.path(bridged=lines.broken > 0), branch))
    return Transcript(
        session=session,
        items=items,
        lineage=(session, *_ancestors(lines.header, beside)) if session else (),
        cwd=encodable(folder) if isinstance(folder, str) else cwd,
        broken=lines.broken,
    )


def _items(path: list[tuple[str, Entry]], branch: BranchName) -> Iterator[Item]:
    edits = _edits(path)
    for own, entry in islice(path, _completed(path)):
        match entry.get("type"):
            case "message":
                yield from _message(own, entry, branch, edits)
            case "compaction" | "branch_summary":
                if text := own_words(text_of(entry.get("summary"))):
                    yield Item(safe_id(own), Role.SUMMARY, text, when(entry), branch)
            case "custom" if entry.get("customType") == CUSTOM_TYPE:
                branch = _selected(entry.get("data"), branch)
            case _:
                pass


def _message(own: str, entry: Entry, branch: BranchName, edits: Mapping[str, Any]) -> Iterator[Item]:
    message = entry.get("message")
    if not isinstance(message, dict):
        return
    content = edits.get(own, message.get("content"))
    match message.get("role"):
        case "user":
            yield Item(safe_id(own), Role.USER, own_words(text_of(content)), when(entry), branch)
        case "assistant" if message.get("stopReason") not in _FAILED:
            yield Item(safe_id(own), Role.ASSISTANT, own_words(text_of(content)), when(entry), branch)
        case "toolResult" if not own_tool(name_of(message)):
            state = "failed" if message.get("isError") else "completed"
            yield Item(safe_id(own), Role.TOOL, f"{name_of(message)} {state}", when(entry), branch)
        case _:
            pass


def _completed(path: list[tuple[str, Entry]]) -> int:
    """How many entries of the path belong to what completed: up to the last good answer, with the tool
    results and summaries that follow it at once."""
    end = 0
    for number, (_, entry) in enumerate(path, 1):
        message = entry.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        good = isinstance(message, dict) and role == "assistant" and message.get("stopReason") not in _FAILED
        if good or (end == number - 1 and role not in ("user", "assistant")):
            end = number
    return end


def _edits(path: list[tuple[str, Entry]]) -> dict[str, Any]:
    return {
        str(entry["targetId"]): entry.get("replacement")
        for _, entry in path
        if entry.get("type") == "context_edit" and isinstance(entry.get("targetId"), str)
    }


def _selected(data: Any, branch: BranchName) -> BranchName:
    name = data.get("branch") if isinstance(data, dict) else None
    return BranchName(name) if isinstance(name, str) and name else branch


def _ancestors(header: Entry, beside: Path | None) -> tuple[str, ...]:
    """The sessions this one was forked from, nearest first: by the parents' files where they can be read,
    else by name (`<time>_<session id>.jsonl`)."""
    found: list[str] = []
    while len(found) < _ANCESTORS:
        parent = header.get("parentSession")
        if not isinstance(parent, str) or not parent:
            break
        header = _header(Path(parent)) if beside else {}
        named = header.get("id")
        one = safe_name(named if isinstance(named, str) else Path(parent).stem.partition("_")[2])
        if not one or one in found:
            break
        found.append(one)
    return tuple(found)


def _header(path: Path) -> Entry:
    try:
        with path.open("rb") as file:
            head = file.readline(_HEADER_BYTES)
    except (OSError, ValueError):  # gone, not a file, or a path that no system accepts: its name must do
        return {}
    return next((one for one in objects(head) if one is not None and one.get("type") == "session"), {})
