"""Where Cline keeps its sessions. Standard library alone: a hook asks, too."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # a hook has no time to load `typing`
if TYPE_CHECKING:
    from collections.abc import Mapping


def sessions(environ: Mapping[str, str]) -> str:
    """The folder with a folder for each session."""
    top = environ.get("CLINE_DIR") or os.path.join(environ.get("HOME", ""), ".cline")
    data = environ.get("CLINE_DATA_DIR") or os.path.join(top, "data")
    return environ.get("CLINE_SESSION_DATA_DIR") or os.path.join(data, "sessions")


def file_of(session: str, environ: Mapping[str, str]) -> str:
    """The file of a session, or empty when there is none of that name."""
    if not session or session.startswith(".") or "/" in session:
        return ""
    path = os.path.join(sessions(environ), session, f"{session}.messages.json")
    return path if os.path.isfile(path) else ""
