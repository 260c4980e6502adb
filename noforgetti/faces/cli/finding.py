"""The commands that find: in the memory, in past sessions, what a prompt would be given, and what fell cold."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from noforgetti.faces import found
from noforgetti.faces.cli import completing
from noforgetti.faces.cli.main import _CATEGORIES, Session, cli, pass_session
from noforgetti.model.entry import Category

if TYPE_CHECKING:
    from noforgetti.service.recall import Recall
    from noforgetti.service.signals import Archived


def _recall(session: Session) -> Recall:
    from noforgetti.service.embedding import Embedding
    from noforgetti.service.recall import Recall

    memory = session.memory
    return Recall(memory, Embedding(memory.settings.embedding, memory.places, os.environ))


def _query(words: tuple[str, ...]) -> str:
    return sys.stdin.buffer.read(4_000_000).decode("utf-8", "replace") if words == ("-",) else " ".join(words)


@cli.command()
@click.argument("words", metavar="QUERY", nargs=-1, required=True)
@click.option("-n", "limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="At most this many.")
@click.option("--category", type=click.Choice(_CATEGORIES), help="Only entries of this category.")
@pass_session
def search(session: Session, words: tuple[str, ...], limit: int, category: str | None) -> None:
    """Search the branch by words and by meaning, archived and faded entries too. `-` reads the query from stdin."""
    from noforgetti.service.found_views import found_entries_view

    recall, query = _recall(session), _query(words)
    recall.complete(session.branch)
    hits = recall.entries(session.branch, query, limit=limit, category=Category(category) if category else None)
    session.print(found_entries_view(session.branch, query, hits, recall), found.hits)
    recall.close()


@cli.command()
@click.argument("words", metavar="QUERY", nargs=-1, required=True)
@click.option("-n", "limit", type=click.IntRange(1, 100), default=5, show_default=True, help="At most this many.")
@pass_session
def sessions(session: Session, words: tuple[str, ...], limit: int) -> None:
    """Search the project's past sessions. `-` reads the query from stdin."""
    from noforgetti.service.found_views import found_sessions_view

    recall, query = _recall(session), _query(words)
    recall.complete_past()
    hits = recall.sessions(query, limit=limit)
    session.print(found_sessions_view(query, hits, recall), found.sessions)
    recall.close()


@cli.command()
@click.option("--prompt", metavar="P", default="", help="What fits this prompt, too. `-` reads it from stdin.")
@click.option("--why", is_flag=True, help="Instead of the text, for each entry why it is in or out.")
@pass_session
def report(session: Session, prompt: str, why: bool) -> None:
    """What would be put before the agent now, exactly; with --why for what reason instead."""
    from noforgetti.service.found_views import turn_view
    from noforgetti.service.recalling import at_once
    from noforgetti.service.turns import Turns

    memory, recall = session.memory, _recall(session)
    query = _query((prompt,))
    if query:
        recall.complete(session.branch)
        recall.complete_past()
    turn = Turns(memory, at_once(recall)).start(session.branch, query)
    session.print(turn_view(memory, query, turn, recall), found.why if why else found.report)
    recall.close()


@cli.command()
@pass_session
def archive(session: Session) -> None:
    """Set aside whole topics that went cold: nothing in them was said, corrected or reinforced for two half-lives. One
    commit, which `undo COMMIT` takes back; what is archived is still found by `search`."""
    from noforgetti.model.entry import Writer
    from noforgetti.service.signals import archive_cold

    done = archive_cold(session.memory, session.branch, by=Writer.USER)
    session.print(_archived("archived" if done.commit else "nothing", session.branch, done), found.archived)


@cli.command()
@click.argument("old", nargs=-1, required=True, shell_complete=completing.entries)
@pass_session
def unarchive(session: Session, old: tuple[str, ...]) -> None:
    """Bring archived entries back; each OLD is an id or a unique piece of an entry's text."""
    from noforgetti.model.entry import Stored, Writer
    from noforgetti.policy import addressing
    from noforgetti.service.signals import unarchive as bring_back
    from noforgetti.service.views import refused_view

    ids = []
    now = session.memory.snapshot(session.branch)
    for one in old:
        meant = addressing.meant(now, one)
        if not isinstance(meant, Stored):
            session.refuse(refused_view(meant))
            return
        ids.append(meant.entry.id)
    done = bring_back(session.memory, session.branch, ids, by=Writer.USER)
    if done.refusal:
        session.refuse(refused_view(done.refusal))
        return
    session.print(_archived("unarchived" if done.commit else "nothing", session.branch, done), found.archived)


def _archived(outcome: str, branch: str, done: Archived) -> dict[str, Any]:
    return {"outcome": outcome, "branch": branch, "commit": done.commit, "entries": list(done.entries)}
