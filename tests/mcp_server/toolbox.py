"""The official inspector's command line, from npm."""

from __future__ import annotations

import shutil
from pathlib import Path

from npm_packages import installed

HERE = Path(__file__).resolve().parent


def inspector() -> list[str]:
    """The inspector's command; the first call on a machine runs npm. Raises `ToolsMissingError`."""
    script = installed(HERE, "inspector") / "@modelcontextprotocol/inspector-cli/build/index.js"
    return [shutil.which("node") or "node", str(script)]
