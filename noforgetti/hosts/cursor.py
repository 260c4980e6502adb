"""Cursor: elements of its `hooks.json`, and the server in its `mcp.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noforgetti.hosts.base import Host, user_home
from noforgetti.hosts.hooked import HOOK_SECONDS, is_line, server_member
from noforgetti.hosts.parts import JsonMembers, Member

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from noforgetti.hosts.base import Launch
    from noforgetti.hosts.parts import Part

WORD = "cursor"
EVENTS = ("sessionStart", "preCompact", "stop", "sessionEnd")  # a prompt hook of its can block, not tell


def _parts(home: Path, launch: Launch) -> tuple[Part, ...]:
    hooks = tuple(
        Member(
            ("hooks", event, None),
            {"command": launch.line("hook", WORD, event), "timeout": HOOK_SECONDS},
            _hook_of(event),
            f"hooks.{event}",
        )
        for event in EVENTS
    )
    return (
        JsonMembers(home / "hooks.json", hooks, {"version": 1}),
        JsonMembers(home / "mcp.json", (server_member(launch),)),
    )


def _hook_of(event: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and is_line(value.get("command"), WORD, event)


HOST = Host(
    name=WORD,
    title="Cursor",
    programs=("cursor", "cursor-agent"),
    home=lambda environ: user_home(environ) / ".cursor",
    parts=_parts,
    then=("Restart Cursor.",),
    cannot=(
        "Cursor's editor drops what a hook gives; only its command line takes it in. The editor has memory's tools.",
        "Rules of entries are not enforced on tool calls.",
    ),
)
