"""Codex: `hooks.json` in its folder, and a table with the server in `config.toml`.

Codex starts servers with a few variables only, so those that say where memory lies are named. It runs a user's hook
only once the user has approved it, and asks again when the command line changes: the lines hold no version.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from noforgetti.hosts.base import Host, named_or
from noforgetti.hosts.hooked import HOOK_SECONDS, NAME, START_SECONDS, group_members, is_server
from noforgetti.hosts.parts import JsonMembers, TomlTable

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.hosts.base import Launch
    from noforgetti.hosts.parts import Part

WORD = "codex"
EVENTS = (
    ("SessionStart", HOOK_SECONDS),
    ("UserPromptSubmit", HOOK_SECONDS),
    ("PreCompact", HOOK_SECONDS),
    ("Stop", HOOK_SECONDS),
    ("SessionEnd", 3),  # seconds; Codex allows no more
)
VARIABLES = ("NOFORGETTI_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")


def _parts(home: Path, launch: Launch) -> tuple[Part, ...]:
    command, arguments = launch.words("mcp")
    body = "\n".join(
        [
            f"[mcp_servers.{NAME}]",
            f"command = {_toml(command)}",
            f"args = [{', '.join(map(_toml, arguments))}]",
            f"env_vars = [{', '.join(map(_toml, VARIABLES))}]",
            f"startup_timeout_sec = {START_SECONDS}",
        ]
    )
    return (
        JsonMembers(home / "hooks.json", group_members(launch, WORD, EVENTS)),
        TomlTable(home / "config.toml", ("mcp_servers", NAME), body, is_server),
    )


def _toml(text: str) -> str:
    """A TOML string. JSON's is one, but for DEL, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


HOST = Host(
    name=WORD,
    title="Codex",
    programs=("codex",),
    home=lambda environ: named_or(environ, "CODEX_HOME", ".codex"),
    parts=_parts,
    then=("Open /hooks in Codex and approve the hooks of noforgetti: until then it skips them without a word.",),
    cannot=("Memory's prompts are not offered as slash commands.", "Rules of entries are not enforced on tool calls."),
)
