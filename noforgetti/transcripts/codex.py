"""Codex's session files ("rollouts"): what was typed and answered, as releases up to 0.171 write it.

A file is JSON lines `{timestamp, type, payload}` in order of time. Only the events that tell what was typed and what
was answered count: `item_completed`, and in older releases `user_message` and `agent_message`. What the model was sent
(`response_item`) also holds what hooks, `AGENTS.md` and the host told it, and is passed over. A rollback takes turns
off the path. A session of a subagent holds no evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.evidence import Item, Role, Transcript
from noforgetti.transcripts.base import completed, encodable, objects, own_tool, own_words, safe_id, safe_name, when

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Entry = Mapping[str, Any]

_REQUEST = "## My request for Codex:"  # before it an editor tells which files are open
_INJECTED = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions")
_TOOLS = {"CommandExecution": "shell", "FileChange": "apply_patch"}
_OLD = ("user_message", "agent_message")


def parse(data: bytes, *, path: Path | None = None, branch: BranchName = MAIN) -> Transcript:
    """The transcript of a file's bytes. Ids are those of the host's items, else `#<ordinal or line>`; `lineage` names
    the session it was forked from."""
    del path
    header: Entry = {}
    items: list[Item] = []
    broken, newer = 0, False
    for number, line in enumerate(objects(data), 1):
        inner = line.get("payload") if line is not None else None
        if line is None or not isinstance(inner, dict):
            broken += line is None
            continue
        if line.get("type") == "session_meta":
            header = header or inner
        elif inner.get("type") == "thread_rolled_back":
            _roll_back(items, inner.get("num_turns"))
        elif not (newer and inner.get("type") in _OLD) and (found := item(line, number)):
            newer = newer or inner.get("type") == "item_completed"
            if not (newer and items and _same(items[-1], *found[1:])):  # told by both kinds of events
                items.append(Item(*found, when(line), branch))
    session = safe_name(header.get("id"))
    lineage = dict.fromkeys(one for one in (session, safe_name(header.get("forked_from_id"))) if one)
    said = () if aside(header) else completed(items)
    return Transcript(session, said, tuple(lineage), cwd_of(header), broken)


def item(line: Entry, number: int) -> tuple[str, Role, str] | None:
    """What a line tells, as an item's id, role and text; None for every other line. `number` is the line's."""
    inner = line.get("payload")
    if not isinstance(inner, dict):
        return None
    ordinal = line.get("ordinal")
    own = f"#{ordinal if isinstance(ordinal, int) else number}"
    if line.get("type") == "compacted":
        return _told(own, Role.SUMMARY, inner.get("message"))
    if line.get("type") != "event_msg":
        return None
    match inner.get("type"):
        case "item_completed":
            return _completed(own, inner.get("item"))
        case "user_message" if inner.get("kind", "plain") == "plain":
            return _told(own, Role.USER, _typed(inner.get("message")))
        case "agent_message":
            return _told(own, Role.ASSISTANT, inner.get("message"))
        case _:
            return None


def _completed(own: str, done: object) -> tuple[str, Role, str] | None:
    if not isinstance(done, dict):
        return None
    name = done.get("id")
    own = safe_id(name) if isinstance(name, str) and name else own
    kind, content = done.get("type"), done.get("content")
    if kind == "UserMessage":
        return _told(own, Role.USER, _typed(_text(content)))
    if kind == "AgentMessage":
        return _told(own, Role.ASSISTANT, _text(content))
    tool = _TOOLS.get(str(kind), "") or (_word(done.get("tool")) if kind == "McpToolCall" else "")
    theirs = kind == "McpToolCall" and own_tool(_word(done.get("server")))
    if not tool or own_tool(tool) or theirs or done.get("source") == "user_shell":
        return None
    return own, Role.TOOL, f"{tool} {'completed' if done.get('status') == 'completed' else 'failed'}"


def _told(own: str, role: Role, text: object) -> tuple[str, Role, str] | None:
    told = own_words(encodable(text)).strip() if isinstance(text, str) else ""
    return (own, role, told) if told else None


def _typed(text: object) -> str:
    """What the user wrote of a message: without what an editor or an older release put before it."""
    if not isinstance(text, str) or text.lstrip().startswith(_INJECTED):
        return ""
    return text.rpartition(_REQUEST)[2]


def _text(content: object) -> str:
    """The texts of an item. Its kinds are written `text` for what was typed and `Text` for what was answered."""
    parts = content if isinstance(content, list) else []
    texts = (one.get("text") for one in parts if isinstance(one, dict) and str(one.get("type")).lower() == "text")
    return "\n".join(one for one in texts if isinstance(one, str))


def _word(value: object) -> str:
    return encodable("".join(value.split())[:80]) if isinstance(value, str) else ""


def _same(before: Item, role: Role, text: str) -> bool:
    return before.id.startswith("#") and (before.role, before.text) == (role, text)


def _roll_back(items: list[Item], turns: object) -> None:
    """Take the last turns off the path."""
    left = turns if isinstance(turns, int) else 0
    while left > 0 and items:
        left -= items.pop().role is Role.USER


def aside(header: Entry) -> bool:
    """Whether a session is a subagent's."""
    source = header.get("source")
    return header.get("thread_source") == "subagent" or (isinstance(source, dict) and "subagent" in source)


def cwd_of(header: Entry) -> str:
    """The folder a session was started in, or empty."""
    cwd = header.get("cwd")
    return encodable(cwd) if isinstance(cwd, str) else ""
