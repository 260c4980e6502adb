"""Cline: a script for each event in its folder of hooks, and the server in its settings of MCP.

Where its files lie depends on how it was installed: below the storage of an editor's extension, or in `~/.cline`. Every
place that is there gets the server; the scripts go to the one folder that this installation reads.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from noforgetti.hosts.base import Host, user_home
from noforgetti.hosts.hooked import server, server_member
from noforgetti.hosts.parts import JsonMembers, OwnFile

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.hosts.base import Launch
    from noforgetti.hosts.parts import Part

WORD = "cline"
EVENTS = ("TaskStart", "UserPromptSubmit", "PreCompact", "TaskComplete")
EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
SERVER_SECONDS = (
    60  # for the server to answer; without it Cline gives up after 3, which a busy machine needs to start it
)
_EXTENSION = ("User", "globalStorage", "saoudrizwan.claude-dev")


def _parts(home: Path, launch: Launch) -> tuple[Part, ...]:
    storages = _storages(home)
    newer = home / ".cline"
    in_home = newer.is_dir() or not storages
    hooks = newer / "hooks" if in_home else home / "Documents" / "Cline" / "Hooks"
    settings = [*storages, newer / "data"] if in_home else storages
    scripts = [
        OwnFile(hooks / event, f"#!/bin/sh\nexec {launch.line('hook', WORD, event)}\n", launch.program[0], 0o700)
        for event in EVENTS
    ]
    member = server_member(launch, {**server(launch), "timeout": SERVER_SECONDS})
    servers = [JsonMembers(one / "settings" / "cline_mcp_settings.json", (member,)) for one in settings]
    return (*servers, *scripts)


def _storages(home: Path) -> list[Path]:
    """Where editors keep what belongs to Cline, for those that have it."""
    config = home / "Library" / "Application Support" if sys.platform == "darwin" else home / ".config"
    return [found for editor in EDITORS if (found := config.joinpath(editor, *_EXTENSION)).is_dir()]


HOST = Host(
    name=WORD,
    title="Cline",
    programs=("cline",),
    home=user_home,
    parts=_parts,
    present=lambda home: (home / ".cline").is_dir() or bool(_storages(home)),
    then=("Switch hooks on in Cline's settings, and restart it.",),
    cannot=(
        "Hooks tell the memory in the editor only; on the command line Cline takes in nothing at the start of a task.",
        "Sessions of extensions before Cline 4 are not reviewed by themselves: they are kept in another form.",
    ),
)
