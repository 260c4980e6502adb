"""Where hosts keep their sessions. Only looked for when a user asks; the folder names are as each host writes them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from noforgetti.store.discovery import Project


class NoSession(NoForgettiError):
    """No session of this project was found."""

    kind = Kind.USER
    reason = "no-session"


def newest(project: Project, environ: Mapping[str, str]) -> Path:
    """The project's newest Pi session file. Raises `NoSession`."""
    home = environ.get("HOME", "")
    agent = environ.get("PI_CODING_AGENT_DIR") or os.path.join(home, ".pi", "agent")
    folder = Path(environ.get("PI_CODING_AGENT_SESSION_DIR") or os.path.join(agent, "sessions")) / _folder(
        project.checkout
    )
    files = sorted(folder.glob("*.jsonl"), key=lambda file: file.name)
    if not files:
        raise NoSession(
            f"Pi has no session of `{project.checkout}`. Nothing was reviewed.",
            hint="name a session file with --transcript",
        )
    return files[-1]


def _folder(cwd: str) -> str:
    """Pi's name of a folder's sessions: separators and colons become dashes, between double dashes."""
    return "--" + cwd.lstrip("/").replace("/", "-").replace("\\", "-").replace(":", "-") + "--"
