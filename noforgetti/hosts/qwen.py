"""Qwen Code: members of its `settings.json`. Time limits are milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.hosts.base import Host, user_home
from noforgetti.hosts.hooked import HOOK_SECONDS, START_SECONDS, group_members, server, server_member
from noforgetti.hosts.parts import JsonMembers

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.hosts.base import Launch
    from noforgetti.hosts.parts import Part

WORD = "qwen"
EVENTS = ("UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")


def _parts(home: Path, launch: Launch) -> tuple[Part, ...]:
    served = {**server(launch), "timeout": START_SECONDS * 1000}
    members = (
        server_member(launch, served),
        *group_members(launch, WORD, [(event, HOOK_SECONDS * 1000) for event in EVENTS]),
    )
    return (JsonMembers(home / "settings.json", members),)


HOST = Host(
    name=WORD,
    title="Qwen Code",
    programs=("qwen",),
    home=lambda environ: user_home(environ) / ".qwen",
    parts=_parts,
    then=("Start a new session.",),
    cannot=(
        "The model finds memory's tools only through its tool search.",
        "Rules of entries are not enforced on tool calls.",
    ),
)
