"""The parameters of each method, checked. Unknown fields are ignored; a missing or wrong one is named."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Session(msgspec.Struct):
    """The host's session; `file` is None when it is not persisted."""

    id: str
    file: str | None = None


class Hello(msgspec.Struct):
    """The host introduces itself."""

    cwd: str
    protocol: int = 1
    host: str = ""
    host_version: str = ""


class SessionStart(msgspec.Struct):
    """A session begins, is resumed, or moved to another path."""

    session: Session
    branch: str | None = None
    reason: str = ""


class SkillsPaths(msgspec.Struct):
    """The host asks where the skills of the session's branch are."""

    session: Session
    branch: str | None = None


class TurnStart(msgspec.Struct):
    """The user's prompt is about to go to the model, below a system prompt of so many characters."""

    session: Session
    branch: str | None = None
    prompt: str = ""
    system_characters: int | None = None


class TurnSettled(msgspec.Struct):
    """The agent is idle again. `prompts` are the completed inputs of the user."""

    session: Session
    branch: str | None = None
    outcome: Literal["completed", "aborted", "error"] = "completed"
    prompts: list[str] = msgspec.field(default_factory=list)


class Command(msgspec.Struct):
    """What the user typed after `/memory`."""

    session: Session
    line: str
    branch: str | None = None
    interactive: bool = True


class Complete(msgspec.Struct):
    """Completions of what stands after `/memory `."""

    prefix: str
    branch: str | None = None


class Tool(msgspec.Struct):
    """The agent calls one of the tools."""

    name: str
    session: Session
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    branch: str | None = None


class ToolCall(msgspec.Struct):
    """The agent is about to call one of the host's tools."""

    session: Session
    id: str
    tool: str
    input: dict[str, Any] = msgspec.field(default_factory=dict)
    branch: str | None = None


class ToolResult(ToolCall):
    """A tool that the agent called is done; `error` says that it failed."""

    error: bool = False


class TurnEnd(msgspec.Struct):
    """The model answered and its tools ran."""

    session: Session
    branch: str | None = None


class SessionEnd(msgspec.Struct):
    """The session ends; running reviews may take `wait` seconds more."""

    reason: str = ""
    wait: float = 2.0
