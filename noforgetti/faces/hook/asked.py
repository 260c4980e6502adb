"""What a hook is asked: the host's words, made one shape. Standard library, and little of it."""

from __future__ import annotations

import os

from noforgetti.faces.hook import contracts

TYPE_CHECKING = False  # a hook has no time to load `typing`
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LIMIT = 8 * 1024 * 1024  # bytes of input; a pasted log may be long, a gigabyte is no prompt
_PROMPT = 20_000  # code points that are looked at
_NAME = 200  # code points of a session's id or a path's part that anybody means


class Asked:
    """One call of a hook. `folder` is where the host works, `file` the session's transcript or empty."""

    __slots__ = ("child", "event", "file", "folder", "host", "key", "prompt", "purpose", "session", "source")

    def __init__(self, host: str, event: str, said: dict[str, Any], environ: Mapping[str, str]) -> None:
        inner = said.get(event[:1].lower() + event[1:])
        inner = inner if isinstance(inner, dict) else {}
        self.host, self.event = host, event
        self.purpose = contracts.HOSTS.get(host, {}).get(event, "")
        around = said.get("sessionContext")  # Cline's: a task of its command line is not its session
        root = _word(around, "rootSessionId") if isinstance(around, dict) else ""
        self.session = root or _word(said, *contracts.SESSION)
        self.folder = _folder(said)
        self.file = _word(said, "transcript_path", limit=4096) or (_file_of(root, environ) if root else "")
        self.prompt = (_word(said, "prompt", limit=_PROMPT) or _word(inner, "prompt", "task", limit=_PROMPT)).strip()
        self.source = _word(said, "source")
        self.key = _word(said, "turn_id", "prompt_id", "generation_id") or self.prompt
        # A subagent of the host's: its turns are not the user's. Cline names every agent, and the one above it.
        self.child = bool(said.get("parent_agent_id" if "parent_agent_id" in said else "agent_id"))


def _file_of(session: str, environ: Mapping[str, str]) -> str:
    from noforgetti.transcripts import cline_folder

    return cline_folder.file_of(session, environ)


def _word(said: dict[str, Any], *names: str, limit: int = _NAME) -> str:
    for name in names:
        found = said.get(name)
        if isinstance(found, str) and found.strip() and "\0" not in found:
            return found[:limit].encode("utf-8", "replace").decode()
    return ""


def _folder(said: dict[str, Any]) -> str:
    """The host's working folder, if it is an absolute path that is there; else this process's own. An editor's first
    folder counts before `cwd`, which may be the folder of its hooks."""
    listed = [said.get(name) for name in contracts.FOLDERS]
    named = [one[0] for one in listed if isinstance(one, list) and one]
    named += [said.get(name) for name in contracts.FOLDER]
    for one in named:
        if isinstance(one, str) and "\0" not in one and os.path.isabs(one) and os.path.isdir(one):
            return one
    return os.getcwd()
