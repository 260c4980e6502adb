"""Agent programs from npm, as their makers ship them."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

from npm_packages import ToolsMissingError, installed

HERE = Path(__file__).resolve().parent
USUAL, FURTHER = (HERE, "agents"), (HERE / "further", "further-agents")  # 330 MB of every run; 750 MB of the slow tests
_FILES = {
    "claude-code": (USUAL, "@anthropic-ai/claude-code-linux-x64/claude"),
    "cline": (FURTHER, "@cline/cli-linux-x64/bin/cline"),
    "codex": (FURTHER, "@openai/codex/bin/codex.js"),
    "gemini": (USUAL, "@google/gemini-cli/bundle/gemini.js"),
    "opencode": (FURTHER, "opencode-linux-x64/bin/opencode"),
}


def program(name: str) -> list[str]:
    """The command of one program; the first call on a machine runs npm for half a minute. Raises
    `ToolsMissingError`."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        msg = "the agent programs are pinned for Linux on x86-64"
        raise ToolsMissingError(msg)
    (folder, cache), path = _FILES[name]
    file = installed(folder, cache) / path
    node = [shutil.which("node") or "node"] if file.suffix == ".js" else []
    return [*node, str(file)]
