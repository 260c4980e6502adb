"""Hooks and servers as the values that several hosts take alike.

Time limits: a hook answers within a second or says nothing (docs/hooks.md), so 10 s are for a machine under load; a
server starts within half a second, and needed 1.4 s with an installation running beside it, so 20 s.
"""

from __future__ import annotations

import os.path
import shlex
from typing import TYPE_CHECKING, Any

from noforgetti.hosts.parts import Member

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from noforgetti.hosts.base import Launch

NAME = "noforgetti"
HOOK_SECONDS = 10
START_SECONDS = 20


def server(launch: Launch) -> dict[str, Any]:
    """The MCP server, as most hosts spell it."""
    command, arguments = launch.words("mcp")
    return {"command": command, "args": arguments}


def group(launch: Launch, host: str, event: str, timeout: int) -> dict[str, Any]:
    """One entry of an event, in the shape of Claude Code, Codex, Gemini and Qwen."""
    hook = {"type": "command", "command": launch.line("hook", host, event), "timeout": timeout}
    return {"hooks": [hook]}


def group_members(launch: Launch, host: str, events: Iterable[tuple[str, int]]) -> tuple[Member, ...]:
    """Each event's entry as an element of its list in a shared file. The second of a pair is the time limit."""
    return tuple(
        Member(("hooks", event, None), group(launch, host, event, limit), _group_of(host, event), f"hooks.{event}")
        for event, limit in events
    )


def server_member(launch: Launch, value: dict[str, Any] | None = None) -> Member:
    """The MCP server as a member of `mcpServers`."""
    return Member(("mcpServers", NAME), value or server(launch), is_server, f"mcpServers.{NAME}")


def is_server(value: Any) -> bool:
    """True for an entry that starts our server by a program of our name, with nothing of the user's own."""
    match value:
        case {"command": str(command), "args": [*words]}:
            return words[-1:] == ["mcp"] and (_is_us(command) or words[-3:-1] == ["-m", NAME])
    return False


def is_line(line: Any, host: str, event: str) -> bool:
    """True for a command line that starts our hook."""
    if not isinstance(line, str) or "hook" not in line:
        return False
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    return words[-3:] == ["hook", host, event] and (_is_us(words[0]) or words[-5:-3] == ["-m", NAME])


def _group_of(host: str, event: str) -> Callable[[Any], bool]:
    def ours(value: Any) -> bool:
        hooks = value.get("hooks") if isinstance(value, dict) else None
        lines = [hook.get("command") for hook in hooks if isinstance(hook, dict)] if isinstance(hooks, list) else []
        return any(is_line(line, host, event) for line in lines)

    return ours


def _is_us(program: str) -> bool:
    return os.path.basename(program) == NAME
