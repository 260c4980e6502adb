"""What is wrong between hosts and us: their configuration, the program they start, hooks that could not answer."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from noforgetti.service import wiring
from noforgetti.service.health.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from noforgetti.service.memory import Memory

_LOOKED_AT = 50  # traces
_DAY = 86_400  # seconds; what hooks could not do before that is over


def examine(memory: Memory, environ: Mapping[str, str]) -> Iterator[Finding]:
    """The hosts that we are installed for, and those that only look so."""
    for code, what, hint in wiring.troubles(environ):
        yield Finding("warning", code, what, hint)
    yield from _pi(environ)
    yield from _extra(environ)
    if memory.exists:
        yield from _hooks(memory)


def _pi(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Pi's extension starts the program that its `launch.json` names."""
    agent = environ.get("PI_CODING_AGENT_DIR") or os.path.join(environ.get("HOME", ""), ".pi", "agent")
    folder = os.path.join(os.path.expanduser(agent), "extensions", "noforgetti")
    if not os.path.isdir(folder):
        return
    again = "`noforgetti install pi` writes it anew"
    try:
        with open(os.path.join(folder, "launch.json"), encoding="utf-8") as file:
            program = json.load(file)["command"][0]
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        yield Finding("warning", "missing-file", f"Pi's extension in `{folder}` does not say what to start", again)
        return
    if not os.path.exists(str(program)):
        yield Finding("warning", "stale-command", f"Pi starts `{program}`, which is not there any more", again)


def _extra(environ: Mapping[str, str]) -> Iterator[Finding]:
    from importlib.util import find_spec

    if find_spec("mcp") is not None:
        return
    wired = [one["title"] for one in wiring.known(environ) if one["installed"]]
    if wired:
        what = f"{', '.join(wired)} would start our MCP server, which needs the extra `mcp`"
        yield Finding("warning", "missing-extra", what, "install it: `pip install 'noforgetti[mcp]'`")


def _hooks(memory: Memory) -> Iterator[Finding]:
    from noforgetti.policy import scoring
    from noforgetti.service.health.derived import state_is_there

    if not state_is_there(memory):
        return
    for one in memory.state.traces(_LOOKED_AT):
        age = memory.clock() - (scoring.seconds_of(one["time"]) or 0.0)
        if one["text"].startswith("a hook of ") and age < _DAY:
            hint = "mend what it names; `noforgetti install HOST` writes a host's hooks anew"
            yield Finding("warning", "hook-failing", one["text"], hint)
            return
