"""The whole examination: the machine, this memory, what it rests on, the memories of other projects."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from noforgetti.errors import NoForgettiError
from noforgetti.service.health import derived, hosts, machine, projects, repository
from noforgetti.service.health.finding import Finding
from noforgetti.service.places import places

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from noforgetti.service.memory import Memory


def opened(folder: str, environ: Mapping[str, str], *, wide: bool = False) -> tuple[Memory, list[Finding]]:
    """The memory to examine, with the default settings where the file cannot be used; and that as a finding."""
    from noforgetti.service.memory import open_memory, open_wide
    from noforgetti.service.settings import BadSettings, Settings, load

    settings, found = Settings(), []
    try:
        settings = load(places(environ).config)
    except BadSettings as error:
        found.append(Finding("error", "bad-settings", error.message, error.hint))
    if wide:
        return open_wide(environ, settings=settings), found
    return open_memory(folder, environ, settings=settings), found


def examine(memory: Memory, environ: Mapping[str, str] = os.environ) -> list[Finding]:
    """Everything that can be said about this project's memory and what is around it. Changes nothing."""
    found: list[Finding] = []
    parts = [
        machine.examine(memory, environ),
        derived.examine(memory),
        hosts.examine(memory, environ),
        projects.examine(memory),
    ]
    if memory.exists:
        parts.insert(1, repository.examine(memory))
    else:
        found.append(Finding("ok", "no-memory", "no memory yet: the first write makes it"))
    for part in parts:
        _take(part, found)
    return found


def _take(part: Iterator[Finding], found: list[Finding]) -> None:
    """What a part finds, as far as it gets: a repository that cannot be read ends it, and is told once."""
    try:
        for one in part:
            found.append(one)  # noqa: PERF402 - what was found before the end stays
    except NoForgettiError as error:
        if all(one.what != error.message for one in found):
            found.append(Finding("error", error.reason, error.message, error.hint))
