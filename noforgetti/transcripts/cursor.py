"""Cursor's session files, `agent-transcripts/<session>/<session>.jsonl`, as releases of 2026 write them.

A line is `{role, message: {content: […]}}` without id, time or folder; what tools answered is not in the file. Of a
message of the user's only what stands in `<user_query>` was typed; the rest are files, rules and notes of the host's.
The folder is what Cursor noted of the project when its user trusted it, in a file beside. Known from what its users
published: the makers document the file's path only, so what is not known here is passed over.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.evidence import Item, Role, Transcript
from noforgetti.transcripts.base import completed, encodable, objects, own_words, safe_name, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOLDER = "agent-transcripts"  # of a project, with a folder for each session
_TRUSTED = ".workspace-trusted"  # beside it: JSON with `workspacePath`
_SMALL = 64 * 1024  # bytes; a larger note is none
_QUERY = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)
_TAGGED = re.compile(r"\s*<(?:timestamp|[a-z]+(?:_[a-z]+)+)>")  # how what the host says begins
_HIDDEN = re.compile(r"(?:\s*\[REDACTED\])+\s*\Z")  # what stands for thinking


def parse(data: bytes, *, path: Path | None = None, branch: BranchName = MAIN) -> Transcript:
    """The transcript of a file's bytes. Ids are `#<number of the line>`; the file's name names the session."""
    items: list[Item] = []
    broken = 0
    for number, line in enumerate(objects(data), 1):
        broken += line is None
        if line is not None and (said := _said(line)):
            items.append(Item(f"#{number}", said[0], said[1], "", branch))
    session = safe_name(path.stem) if path else ""
    return Transcript(session, completed(items), (session,) if session else (), cwd_of(path), broken)


def _said(line: Mapping[str, Any]) -> tuple[Role, str] | None:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    text = text_of(content)
    if line.get("role") == "user":
        text = typed(text)
        return (Role.USER, text) if text else None
    if line.get("role") != "assistant":
        return None
    text = own_words(_HIDDEN.sub("", text)).strip()
    called = isinstance(content, list) and any(
        isinstance(one, dict) and one.get("type") == "tool_use" for one in content
    )
    return (Role.ASSISTANT, text) if text or called else None


def typed(text: str) -> str:
    """What the user typed of a message: what is marked as such, else all of it unless the host begins it."""
    marked = _QUERY.findall(text)
    if not marked and _TAGGED.match(text):
        return ""
    return own_words("\n".join(marked) if marked else text).strip()


def cwd_of(path: Path | None) -> str:
    """The folder of the project whose session a file is, or empty. The name of the project's folder is of no use: it
    has dashes for all that is neither letter nor digit."""
    above = next((one.parent for one in path.parents if one.name == FOLDER), None) if path else None
    if above is None:
        return ""
    try:
        with (above / _TRUSTED).open("rb") as file:
            noted = json.loads(file.read(_SMALL))
    except (OSError, ValueError, RecursionError):
        return ""
    folder = noted.get("workspacePath") if isinstance(noted, dict) else None
    return encodable(folder) if isinstance(folder, str) else ""
