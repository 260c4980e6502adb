"""What a shell completes: names of what is there. Quick, and silent: whatever is wrong completes nothing.

A shell asks at every press of a key, so the repository is opened only for what no smaller file tells: branches are
read from ref files, entries from the text that `show` keeps of a commit.
"""

from __future__ import annotations

import json
import os
from contextlib import redirect_stderr, suppress
from typing import TYPE_CHECKING, Any

from click.shell_completion import CompletionItem, shell_complete

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

    from noforgetti.service.memory import Memory

    Items = list[CompletionItem[str]]

VARIABLE = "_NOFORGETTI_COMPLETE"
_COMMITS = 20  # that are offered: what fits a screen
_HELP = 60  # letters of a text beside what it is the text of


def answer(root: click.Command) -> int:
    """Answer the shell that asks through the environment."""
    status = 1
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stderr(nowhere), suppress(Exception):
        status = shell_complete(root, {}, "noforgetti", VARIABLE, os.environ[VARIABLE])
    return status


def branches(context: click.Context, _: click.Parameter, incomplete: str) -> Items:
    """The memory branches."""
    from noforgetti.store.ref_files import branches as read

    return _fitting(((one, "") for one in read(_memory(context).path)), incomplete)


def entries(context: click.Context, _: click.Parameter, incomplete: str) -> Items:
    """The ids of the branch's entries, each with its text."""
    memory, branch = _opened(context)
    return _fitting(((one["id"], one["text"]) for one in _shown(memory, branch)), incomplete)


def commits(context: click.Context, _: click.Parameter, incomplete: str) -> Items:
    """The newest commits of the branch."""
    from itertools import islice

    memory, branch = _opened(context)
    found = islice(memory.store.walk(memory.head(branch)), _COMMITS) if memory.exists else ()
    return _fitting(((one.id[:12], one.subject) for one in found), incomplete)


def revisions(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Branches, then commits."""
    return [*branches(context, parameter, incomplete), *commits(context, parameter, incomplete)]


def promotions(context: click.Context, _: click.Parameter, incomplete: str) -> Items:
    """Promotions: those that wait, for `accept` and `reject`; else all."""
    from noforgetti.service.promotions_file import queue

    memory, branch = _opened(context)
    waiting = context.info_name in ("accept", "reject")
    found = (one for one in queue(memory, memory.snapshot(branch)) if one.open or not waiting)
    return _fitting(((one.id, f"{one.destination}: {one.text}") for one in found), incomplete)


def candidates(context: click.Context, _: click.Parameter, incomplete: str) -> Items:
    """Candidates of the queue, each with its text."""
    from noforgetti.service.candidates import read

    return _fitting(((one.id, one.text) for one in read(*_opened(context)).candidates), incomplete)


def skills(context: click.Context, _: click.Parameter, incomplete: str) -> Items:
    """The skills of the branch."""
    from noforgetti.service.skills import listed

    return _fitting(((one.name, one.description) for one in listed(*_opened(context))), incomplete)


def commands(context: click.Context, _: click.Parameter, incomplete: str) -> Items:
    """The commands below those that are named already, for `help`."""
    group: Any = context.find_root().command
    for name in context.params.get("names") or ():
        group = group.commands[name]
    from noforgetti.faces.cli.helping import gist

    found = getattr(group, "commands", {}).items()
    return _fitting(((name, gist(one)) for name, one in found if not one.hidden), incomplete)


def folders(_: click.Context, __: click.Parameter, incomplete: str) -> Items:
    """Folders, as the shell knows them."""
    return [CompletionItem(incomplete, type="dir")]


def files(_: click.Context, __: click.Parameter, incomplete: str) -> Items:
    """Files, as the shell knows them."""
    return [CompletionItem(incomplete, type="file")]


def _memory(context: click.Context) -> Memory:
    from noforgetti.service.memory import open_memory, open_wide

    said = context.find_root().params
    return open_wide(os.environ) if said.get("user") else open_memory(said.get("folder") or ".", os.environ)


def _opened(context: click.Context) -> tuple[Memory, str]:
    """The memory, and the branch that the command would work on."""
    from noforgetti.store.ref_files import selected

    memory = _memory(context)
    branch = context.find_root().params.get("branch")
    return memory, branch or selected(memory.places.state_of(memory.name))


def _shown(memory: Memory, branch: str) -> list[dict[str, Any]]:
    """The branch's entries as `show` tells them, from the copy that it keeps where that is still right."""
    from noforgetti.service.rendered import file_of, keep, stamp
    from noforgetti.store.ref_files import head_of

    head = head_of(memory.path, branch)
    path = file_of(memory.places.cache_of(memory.name), branch)
    with suppress(OSError, ValueError, KeyError, TypeError), open(path, encoding="utf-8") as file:
        if head and file.readline() == stamp(head, head_of(memory.wide.path, "main")):
            known: list[dict[str, Any]] = json.loads(file.read())["entries"]
            return known
    from noforgetti.service.views import shown_view

    doc = shown_view(memory, branch, memory.snapshot(branch), session="")
    keep(memory, doc)
    found: list[dict[str, Any]] = doc["entries"]
    return found


def _fitting(found: Iterable[tuple[str, str]], incomplete: str) -> Items:
    from noforgetti.faces.text import clip

    return [
        CompletionItem(name, help=clip(what, _HELP) if what else None)
        for name, what in found
        if name.startswith(incomplete)
    ]
