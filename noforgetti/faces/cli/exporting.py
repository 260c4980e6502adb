"""`export`: the memory in other forms."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from noforgetti.faces.cli.main import Session, cli, pass_session
from noforgetti.faces.text import clean, counted

if TYPE_CHECKING:
    from noforgetti.faces.text import Style
    from noforgetti.service.exporting import Exported

_FORMATS = ("json", "scores", "topics", "markdown", "bundle")


@cli.command("export")
@click.argument("form", metavar="FORMAT", type=click.Choice(_FORMATS))
@click.argument("path", metavar="[PATH|-]", required=False, default="-")
@click.option("--all", "everything", is_flag=True, help="json: every branch, not only the selected one.")
@click.option("--force", is_flag=True, help="Replace a file or folder that no export of ours wrote.")
@pass_session
def export(session: Session, form: str, path: str, everything: bool, force: bool) -> None:
    """Write the memory as FORMAT to PATH, or to standard output.

    \b
    json      everything: entries with ids, times, scores and what use says
    scores    one JSON line an entry: score, evidence, lifecycle, and the entry
    topics    a folder of topic files with their score index
    markdown  one document for reading
    bundle    a git bundle of the whole repository, all branches and history

    `noforgetti import noforgetti PATH` brings json, scores, topics and bundles back.
    """
    from noforgetti.service import exporting

    fmt = exporting.Format(form)
    if everything and fmt is not exporting.Format.JSON:
        raise click.UsageError("--all belongs to json; a bundle holds every branch anyway.")
    if path == "-" and (fmt.is_folder or fmt is exporting.Format.BUNDLE):
        raise click.UsageError(f"`{form}` needs a PATH: it cannot be written to standard output.")
    if path == "-" and session.output.as_json and fmt is not exporting.Format.JSON:
        raise click.UsageError("--json describes what was written to a PATH; name one.")
    memory = session.memory
    if fmt is exporting.Format.BUNDLE:
        done = exporting.bundle(memory, path, force=force)
    else:
        branches = list(memory.heads()) if everything else [session.branch]
        done = exporting.made(memory, branches or [session.branch], fmt)
        if path == "-":
            _stream(done)
            return
        exporting.save(memory, done, path, force=force)
    session.print(exporting.exported_view(done, path), _exported)


def _stream(done: Exported) -> None:
    """The export itself, byte for byte; what stays behind is said beside it."""
    sys.stdout.flush()
    sys.stdout.buffer.write(done.files[""])
    sys.stdout.buffer.flush()
    for sentence in _behind(list(done.hidden), list(done.damaged)):
        print(clean(sentence), file=sys.stderr)


def _exported(doc: dict[str, Any], style: Style) -> str:
    del style
    branches = ", ".join(f"`{one}`" for one in doc["branches"])
    first = f"Exported {counted(doc['entries'], 'entry', 'entries')} of {branches} to {clean(doc['path'])}."
    return "\n".join([first, *map(clean, doc["notes"]), *map(clean, _behind(doc["hidden"], doc["damaged"]))])


def _behind(hidden: list[str], damaged: list[str]) -> list[str]:
    said = []
    if hidden:
        named = ", ".join(f"`{own}`" for own in hidden)
        said.append(f"Not exported, as their text may not be shown: {named}.")
    if damaged:
        said.append(f"Not exported, as they cannot be read: {'; '.join(damaged)}.")
    return said
