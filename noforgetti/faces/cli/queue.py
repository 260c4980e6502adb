"""The commands around what waits: candidates, the queue of work, and the worker."""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING

import click

from noforgetti.faces import queued
from noforgetti.faces.cli import completing
from noforgetti.faces.cli.main import _CATEGORIES, Session, cli, pass_session
from noforgetti.model.entry import Category
from noforgetti.service.settings import CHOICES

if TYPE_CHECKING:
    from noforgetti.service.worker import Work


@cli.group(invoke_without_command=True)
@click.pass_context
def candidates(context: click.Context) -> None:
    """What may become a memory and waits for you to say so; alone it lists them."""
    if context.invoked_subcommand is None:
        context.invoke(candidates_list)


@candidates.command("list")
@pass_session
def candidates_list(session: Session) -> None:
    """What waits on the branch, the oldest first."""
    from noforgetti.service.queue_views import candidates_view

    session.memory.head(session.branch)
    session.print(candidates_view(session.memory, session.branch), queued.candidates)


@candidates.command("accept")
@click.argument("own", metavar="ID", shell_complete=completing.candidates)
@click.option("--text", "words", metavar="T", default="", help="Say it in these words instead.")
@click.option("--category", type=click.Choice(_CATEGORIES), help="What sort of fact it is.")
@pass_session
def candidates_accept(session: Session, own: str, words: str, category: str | None) -> None:
    """Write a candidate into the memory; a held review is committed as it was."""
    from noforgetti.model.candidate import Candidate
    from noforgetti.service import accepting
    from noforgetti.service.queue_views import accepted_view
    from noforgetti.service.views import refused_view

    memory, branch = session.memory, session.branch
    memory.head(branch)
    one = accepting.find(memory, branch, own)
    if not isinstance(one, Candidate):
        session.refuse(refused_view(one))
        return
    topic = Category(category) if category else None
    doc = accepted_view(accepting.accept(memory, branch, one, text=words, category=topic))
    if doc["outcome"] == "refused":
        session.refuse(doc)
    else:
        session.print(doc, queued.accepted)


@candidates.command("discard")
@click.argument("ids", metavar="ID…", nargs=-1, required=True, shell_complete=completing.candidates)
@pass_session
def candidates_discard(session: Session, ids: tuple[str, ...]) -> None:
    """Drop candidates."""
    from noforgetti.model.candidate import Candidate
    from noforgetti.service import accepting
    from noforgetti.service.queue_views import candidate_view
    from noforgetti.service.views import refused_view

    memory, branch = session.memory, session.branch
    memory.head(branch)
    wanted = []
    for own in ids:
        one = accepting.find(memory, branch, own)
        if not isinstance(one, Candidate):
            session.refuse(refused_view(one))
            return
        wanted.append(one.id)
    gone = accepting.discard(memory, branch, wanted)
    doc = {"outcome": "discarded", "branch": branch, "discarded": [candidate_view(one) for one in gone]}
    session.print(doc, queued.discarded)


@cli.command("queue")
@pass_session
def queue_(session: Session) -> None:
    """What is due: sessions to review, dreams, reviews that back off, and how much waits for you."""
    from noforgetti.service.queue_views import queue_view

    session.print(queue_view(session.memory), queued.queue)


@cli.command()
@click.option("--once", is_flag=True, help="Do what is due and end.")
@click.option("--reviewer", type=click.Choice(CHOICES), help="Who does it; without it the settings say.")
@pass_session
def worker(session: Session, once: bool, reviewer: str | None) -> None:
    """Review sessions that ended unreviewed, and dream when it is time; without --once until it is stopped."""
    from noforgetti.service import worker as service
    from noforgetti.service.queue_views import work_view
    from noforgetti.service.reviewers import suiting

    memory = session.memory
    by = suiting(memory.settings, name=reviewer or "")
    stopped = _stopped(by)
    done: list[Work] = []
    with service.alone(memory) as mine:
        while mine:
            for one in service.work(memory, by, cancelled=stopped.is_set):
                if once or session.output.as_json:
                    done.append(one)
                else:
                    session.print(work_view([one], running=False), queued.work)
                    sys.stdout.flush()
            if once or stopped.wait(memory.settings.worker_interval):
                break
    if once or not mine or session.output.as_json:
        session.print(work_view(done, running=not mine), queued.work)


def _stopped(by: object) -> threading.Event:
    """Set when the process is told to end; what the reviewer does is called off at once."""
    stopped = threading.Event()

    def stop(*_: object) -> None:
        stopped.set()
        getattr(by, "stop", lambda: None)()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return stopped
