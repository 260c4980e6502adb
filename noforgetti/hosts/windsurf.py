"""Windsurf: the server in its `mcp_config.json`. Its hooks only observe or block, so there are none of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.hosts.base import Host, user_home
from noforgetti.hosts.hooked import server_member
from noforgetti.hosts.parts import JsonMembers

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.hosts.base import Launch
    from noforgetti.hosts.parts import Part


def _parts(home: Path, launch: Launch) -> tuple[Part, ...]:
    return (JsonMembers(home / "mcp_config.json", (server_member(launch),)),)


HOST = Host(
    name="windsurf",
    title="Windsurf",
    programs=("windsurf",),
    home=lambda environ: user_home(environ) / ".codeium" / "windsurf",
    parts=_parts,
    then=("Press the refresh button of Windsurf's MCP panel, or restart it.",),
    cannot=("Memory is not told by itself and sessions are not reviewed: the agent reaches it by its tools only.",),
)
