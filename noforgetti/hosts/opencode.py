"""OpenCode: one plugin file that is wholly ours. It adds the server and `/memory` itself, so no file of the user's is
touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from noforgetti.hosts.base import Host, named_or
from noforgetti.hosts.parts import OwnFile

if TYPE_CHECKING:
    from noforgetti.hosts.base import Launch
    from noforgetti.hosts.parts import Part

PLUGIN = Path(__file__).with_name("opencode_plugin.js")
_PROGRAM = '["@PROGRAM@"]'


def _parts(home: Path, launch: Launch) -> tuple[Part, ...]:
    content = PLUGIN.read_text(encoding="utf-8").replace(_PROGRAM, json.dumps(list(launch.program)), 1)
    return (OwnFile(home / "plugins" / "noforgetti.js", content, launch.program[0]),)


HOST = Host(
    name="opencode",
    title="OpenCode",
    programs=("opencode",),
    home=lambda environ: named_or(environ, "XDG_CONFIG_HOME", ".config") / "opencode",
    parts=_parts,
    then=("Start OpenCode again.",),
    cannot=("Commands that a rule would run after a tool call are not run.",),
)
