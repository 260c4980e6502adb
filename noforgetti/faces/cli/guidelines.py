"""`guidelines`: review preferences that were learned from skipped findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from noforgetti.faces import code_reviews
from noforgetti.faces.cli.commands import _words
from noforgetti.faces.cli.main import Session, cli, pass_session

if TYPE_CHECKING:
    from noforgetti.service.guidelines import Changed


@cli.group(invoke_without_command=True)
@click.pass_context
def guidelines(context: click.Context) -> None:
    """What reviewers of code must not raise again; they read it before a review.

    \b
    Learn one when a finding is skipped for a reason that holds beyond it:
      noforgetti guidelines add "Do not ask for docstrings in tests."
      noforgetti guidelines remove docstrings
    """
    if context.invoked_subcommand is None:
        _listed(context.obj)


@guidelines.command("list")
@pass_session
def guidelines_list(session: Session) -> None:
    """The guidelines of the branch, as reviewers read them."""
    _listed(session)


@guidelines.command("add")
@click.argument("words", metavar="TEXT")
@pass_session
def guidelines_add(session: Session, words: str) -> None:
    """Learn one guideline, as one commit. `-` reads it from standard input."""
    from noforgetti.service import guidelines as service

    _changed(session, service.learn(session.memory, session.branch, [_words(words)]))


@guidelines.command("remove")
@click.argument("old")
@pass_session
def guidelines_remove(session: Session, old: str) -> None:
    """Take one guideline out; OLD is its text or a unique piece of it. History keeps it."""
    from noforgetti.service import guidelines as service

    _changed(session, service.forget(session.memory, session.branch, old))


def _listed(session: Session) -> None:
    from noforgetti.service import guidelines as service
    from noforgetti.service.code_review_views import guidelines_view

    found = service.listed(session.memory, session.memory.snapshot(session.branch))
    session.print(guidelines_view(session.branch, found), code_reviews.guidelines)


def _changed(session: Session, changed: Changed) -> None:
    from noforgetti.service.code_review_views import guideline_changed_view

    doc = guideline_changed_view(changed)
    if changed.outcome == "refused":
        session.refuse(doc)
    else:
        session.print(doc, code_reviews.guideline_changed)
