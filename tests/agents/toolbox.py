"""Agent programs from npm, as their makers ship them."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

from npm_packages import ToolsMissingError, installed

HERE = Path(__file__).resolve().parent
_FILES = {
    "claude-code": "@anthropic-ai/claude-code-linux-x64/claude",
    "codex": "@openai/codex/bin/codex.js",
    "gemini": "@google/gemini-cli/bundle/gemini.js",
    "opencode": "opencode-linux-x64/bin/opencode",
}


def program(name: str) -> list[str]:
    """The command of one program; the first call on a machine runs npm for half a minute. Raises
    `ToolsMissingError`."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        msg = "the agent programs are pinned for Linux on x86-64"
        raise ToolsMissingError(msg)
    file = installed(HERE, "agents") / _FILES[name]
    node = [shutil.which("node") or "node"] if file.suffix == ".js" else []
    return [*node, str(file)]
