"""`pr-reviews`: what was said in reviews of pull requests."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from noforgetti.faces import code_reviews
from noforgetti.faces.cli import completing
from noforgetti.faces.cli.main import Session, cli, pass_session

if TYPE_CHECKING:
    from noforgetti.model.code_review import PullRequest

_RESOLUTIONS = ["resolved_fixed", "resolved_accepted", "resolved_bad_fix", "resolved_no_fix"]


@cli.group("pr-reviews")
def pr_reviews() -> None:
    """What was said in reviews of pull requests, so that what was settled once is not raised again.

    \b
    A reviewer hands in its findings before it posts them, and all of them when it is done:
      noforgetti pr-reviews match findings.json
      noforgetti pr-reviews add findings.json
      noforgetti pr-reviews history octo/shop#12
    """


@pr_reviews.command("add")
@click.argument("file", default="-", metavar="[FILE|-]", shell_complete=completing.files)
@pass_session
def pr_reviews_add(session: Session, file: str) -> None:
    """Keep the findings of a review, posted and skipped ones. FILE or standard input is JSON:

    \b
      {"metadata": {"owner": "octo", "repo": "shop", "pr_number": 12, "head_sha": "…"},
       "comments": [
        {"path": "src/cart.py", "line": 40, "body": "Missing null check.", "status": "posted"},
        {"path": "src/cart.py", "line": 7, "body": "No docstring.", "status": "skipped",
         "skip_reason": "Tests have none here.", "guideline": "Do not ask for docstrings in tests."}]}

    A `guideline` of a skipped finding is learned (see `noforgetti guidelines`). When one comment is not complete,
    nothing at all is kept. Handing in the same again changes nothing.
    """
    from noforgetti.service import pr_reviews as service
    from noforgetti.service.code_review_views import added_view

    doc = added_view(service.add(session.memory, session.branch, _read(file)))
    if doc["outcome"] == "refused":
        session.refuse(doc)
    else:
        session.print(doc, code_reviews.added)


@pr_reviews.command("match")
@click.argument("file", default="-", metavar="[FILE|-]", shell_complete=completing.files)
@pass_session
def pr_reviews_match(session: Session, file: str) -> None:
    """Which findings of a new review were settled before, and why; do not raise these again. JSON as for `add`; no
    status is needed. Writes nothing.

    A finding is a former one when both are about one file and say the same, or most of the same within ten lines.
    """
    from noforgetti.service import pr_reviews as service
    from noforgetti.service.code_review_views import matched_view

    session.print(matched_view(*service.match(session.memory, _read(file))), code_reviews.matched)


@pr_reviews.command("update-resolution")
@click.argument("pull", metavar="OWNER/REPO#N")
@click.argument("path")
@click.argument("status", type=click.Choice(_RESOLUTIONS), metavar="STATUS")
@click.option("--line", type=click.IntRange(min=1), help="The line of the comment; any of the file if left out.")
@click.option("--response", default="", metavar="TEXT", help="What the author answered, or how it was fixed.")
@pass_session
def pr_reviews_update(session: Session, pull: str, path: str, status: str, line: int | None, response: str) -> None:
    """Note what came of the newest posted comment on a file. STATUS is resolved_fixed, resolved_accepted (the
    author's reason holds: never raise it again), resolved_bad_fix or resolved_no_fix.

    \b
      noforgetti pr-reviews update-resolution octo/shop#12 src/cart.py resolved_fixed --line 40
    """
    from noforgetti.model.code_review import Resolution
    from noforgetti.service import pr_reviews as service
    from noforgetti.service.code_review_views import resolved_view

    meant = service.pull_of(pull)
    said = service.resolve(session.memory, meant, path, line, Resolution(status), response)
    doc = resolved_view(meant, path, line, said)
    if said is None:
        session.refuse(doc)
    else:
        session.print(doc, code_reviews.resolved)


@pr_reviews.command("history")
@click.argument("pull", metavar="OWNER/REPO#N")
@pass_session
def pr_reviews_history(session: Session, pull: str) -> None:
    """All that was said of a pull request, oldest first, and what came of it."""
    from noforgetti.service import pr_reviews as service
    from noforgetti.service.code_review_views import history_view

    meant: PullRequest = service.pull_of(pull)
    session.print(history_view(meant, service.history(session.memory, meant)), code_reviews.history)


@pr_reviews.command("import")
@click.argument("file", shell_complete=completing.files)
@pass_session
def pr_reviews_import(session: Session, file: str) -> None:
    """Take over the store of Pi orchestrator memory: FILE is its `.pi/data/pr-reviews.db`. Taking it over again keeps
    nothing twice."""
    from noforgetti.service import pr_reviews as service
    from noforgetti.service.code_review_views import imported_view

    session.print(imported_view(service.take_over(session.memory, file)), code_reviews.imported)


@pr_reviews.command("recover")
@pass_session
def pr_reviews_recover(session: Session) -> None:
    """Set a damaged store aside and begin a new one with every comment that can be read."""
    from noforgetti.service import pr_reviews as service

    done = service.recover(session.memory)
    aside, kept = done or ("", 0)
    doc = {"outcome": "recovered" if done else "nothing", "aside": aside, "kept": kept}
    session.print(doc, code_reviews.recovered)


def _read(file: str) -> bytes:
    """The bytes of a file, or of standard input; as many as are judged, and one more."""
    from noforgetti.service.pr_reviews import LARGEST, BadReview

    if file == "-":
        if sys.stdin.isatty():
            raise click.UsageError("give a FILE, or pipe the review into `-`")
        return sys.stdin.buffer.read(LARGEST + 1)
    if not os.path.isfile(file):
        raise BadReview(f"`{file}` is no file", "name a file with a review, or pipe it into `-`")
    with open(file, "rb") as opened:
        return opened.read(LARGEST + 1)
