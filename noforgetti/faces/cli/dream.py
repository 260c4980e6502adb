"""`dream`: consolidate the branch now."""

from __future__ import annotations

import click

from noforgetti.faces import dreamt
from noforgetti.faces.cli.main import Session, cli, pass_session
from noforgetti.service.settings import CHOICES


@cli.command()
@click.option("--reviewer", type=click.Choice(CHOICES), help="Who does it; without it the settings say.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@pass_session
def dream(session: Session, reviewer: str | None, dry_run: bool) -> None:
    """Consolidate the branch: repetitions merged, stale entries set aside, candidates decided, as one commit."""
    from noforgetti.model.entry import BranchName
    from noforgetti.service.dream import dream as service
    from noforgetti.service.dream_views import dreamt_view
    from noforgetti.service.reviewers import choose

    memory = session.memory
    branch = BranchName(session.branch)
    memory.head(branch)
    by = choose(memory.settings, name=reviewer or "")
    doc = dreamt_view(memory, service(memory, branch, by, forced=True, dry_run=dry_run))
    if doc["outcome"] in ("failed", "invalid", "held", "stale", "running", "aborted"):
        session.refuse(doc)
    else:
        session.print(doc, dreamt.dreamt)
