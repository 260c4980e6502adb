"""The memory as resources: a branch, one entry, the report. Reading them changes nothing and needs no tool call."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mcp_types import Resource, ResourceTemplate

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.faces import text
from noforgetti.faces.mcp import tools
from noforgetti.faces.mcp.parameters import shown
from noforgetti.model.entry import MAIN, Snapshot, Stored
from noforgetti.policy import addressing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.faces.mcp.connection import Connection, Work
    from noforgetti.model.entry import Entry

_LISTED = 100  # entries listed one by one, newest first; the rest is reached through the template
_TEXT, _JSON = "text/plain", "application/json"
_URI = re.compile(r"memory://(branch|entry|report)(?:/([^/?#]{1,300}))?")
TEMPLATES = (
    ResourceTemplate(
        uri_template="memory://entry/{id}",
        name="entry",
        title="One entry",
        description="One entry with everything that is known of it, as JSON; a unique beginning of its id is enough.",
        mime_type=_JSON,
    ),
    ResourceTemplate(
        uri_template="memory://branch/{name}",
        name="branch-by-name",
        title="A memory branch",
        description="The entries of a memory branch, by topic.",
        mime_type=_TEXT,
    ),
    ResourceTemplate(
        uri_template="memory://report/{name}",
        name="report-by-branch",
        title="The report of a memory branch",
        description="What an agent is told of a memory branch at the start of a turn.",
        mime_type=_TEXT,
    ),
)


class NoResource(NoForgettiError):
    """No resource has this address."""

    kind = Kind.USER
    reason = "unknown-resource"

    def __init__(self, uri: str, why: str = "") -> None:
        super().__init__(
            f"There is no resource `{shown(uri)}`{f': {why}' if why else '.'}",
            hint="memory://branch, memory://entry/{id} and memory://report are there",
        )


@dataclass(frozen=True, slots=True)
class Read:
    """What a resource holds."""

    text: str
    mime_type: str


def listed(connection: Connection) -> list[Resource]:
    """The active branch, its report, and its newest entries."""
    work = connection.at()
    branch = Resource(
        uri="memory://branch",
        name="branch",
        title=f"Memory branch {work.branch}",
        description="The entries of the active memory branch, by topic, and what holds for the user in every project.",
        mime_type=_TEXT,
    )
    report = Resource(
        uri="memory://report",
        name="report",
        title="Memory report",
        description="What an agent is told of the active memory branch at the start of a turn.",
        mime_type=_TEXT,
    )
    return [branch, report, *(_entry(one) for one in _newest(work.memory.snapshot(work.branch)))]


def _newest(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda one: (one.created, one.id), reverse=True)[:_LISTED]


def _entry(entry: Entry) -> Resource:
    from noforgetti.service.views import entry_view

    shown = entry_view(entry)
    return Resource(
        uri=f"memory://entry/{entry.id}",
        name=entry.id,
        title=text.clip(shown["text"], 80),
        description=f"{entry.category}, {entry.importance}",
        mime_type=_JSON,
    )


def read(connection: Connection, uri: str) -> Read:
    """What the resource at this address holds now. Raises `NoResource` and what the memory raises."""
    parts = _URI.fullmatch(uri)
    if parts is None or (parts[1] == "entry" and not parts[2]):
        raise NoResource(uri)
    what, name = parts[1], unquote(parts[2] or "")
    if what == "entry":
        return _one(connection.at(), uri, name)
    work = connection.at(name)
    return Read(_shown(work) if what == "branch" else tools.reported(work)["report"], _TEXT)


def _shown(work: Work) -> str:
    from noforgetti.service.views import shown_view

    return text.show(shown_view(work.memory, work.branch, work.memory.snapshot(work.branch), session=work.session))


def _one(work: Work, uri: str, name: str) -> Read:
    from noforgetti.service.views import entry_view

    wide = work.memory.wide
    for now in (work.memory.snapshot(work.branch), wide.snapshot(MAIN) if wide is not work.memory else Snapshot()):
        meant = addressing.find(now, name)
        if isinstance(meant, Stored) and meant.entry.id.startswith(name):
            return Read(json.dumps(entry_view(meant.entry), ensure_ascii=False, indent=2), _JSON)
    raise NoResource(uri, f"no entry of branch `{work.branch}` has an id that begins so.")
