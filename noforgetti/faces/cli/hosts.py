"""The commands that hosts and reviews are started by."""

from __future__ import annotations

import os
from pathlib import Path

import click

from noforgetti.faces import text
from noforgetti.faces.cli.main import Session, cli, pass_session
from noforgetti.service.settings import CHOICES


@cli.command()
@click.option(
    "--stdio", is_flag=True, required=True, expose_value=False, help="Speak JSON-RPC lines on stdin and stdout."
)
@pass_session
def serve(session: Session) -> None:
    """The resident bridge that a host starts; see docs/bridge-protocol.md."""
    from noforgetti.faces.bridge.server import serve as service

    session.exit = service(os.environ, session.folder)


@cli.command()
@click.option(
    "--transcript",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A session of any host: a file, or FILE#SESSION in a database; without it the project's newest.",
)
@click.option("--reviewer", type=click.Choice(CHOICES), help="Who reads it; without it the settings say.")
@click.argument("retry", required=False, expose_value=False, type=click.Choice(["retry"]))
@pass_session
def review(session: Session, transcript: Path | None, reviewer: str | None) -> None:
    """Review a session now: what was learned in it becomes one commit."""
    from noforgetti.model.entry import BranchName
    from noforgetti.service.reviewers import choose
    from noforgetti.service.reviews import review as service
    from noforgetti.service.sessions import newest
    from noforgetti.service.views import reviewed_view
    from noforgetti.transcripts import base

    memory = session.memory
    branch = BranchName(session.branch)
    memory.head(branch)
    path = transcript or newest(memory.project, os.environ)
    said = base.read(path, branch=branch)
    by = choose(memory.settings, name=reviewer or "", host=base.format_of(path))
    done = [service(memory, branch, said, by, forced=True)]
    while done[-1].more and done[-1].outcome in ("applied", "no-change"):
        done.append(service(memory, branch, said, by, forced=True))
    doc = reviewed_view(done, str(path))
    if doc["outcome"] in ("failed", "invalid", "held", "stale", "running"):
        session.refuse(doc)
    else:
        session.print(doc, text.reviewed)
