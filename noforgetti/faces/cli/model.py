"""The commands around the model that search by meaning uses."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from noforgetti.faces import text
from noforgetti.faces.cli.main import Session, cli, pass_session

if TYPE_CHECKING:
    from noforgetti.service.embedding import Embedding


@cli.group()
def model() -> None:
    """The model for search by meaning: bring one, or see which is used."""


@model.command()
@click.argument("name", required=False, default="")
@pass_session
def fetch(session: Session, name: str) -> None:
    """Download a model for this machine (67 MB), the only command that does: NAME, else the settings' or bge-small."""
    from noforgetti.service.embedding import fetch as service

    embedding = _embedding()
    if sys.stderr.isatty() and not session.output.as_json:
        click.echo("Fetching …", err=True)
    done = service(embedding.settings, embedding.where, os.environ, name)
    doc = {
        "outcome": "fetched" if done.fresh else "present",
        "model": done.model,
        "folder": str(done.folder),
        "bytes": done.size,
        "used": done.model in embedding.view()["model"],
    }
    session.print(doc, _fetched)


def _fetched(doc: dict[str, Any], style: text.Style) -> str:
    how = "Fetched" if doc["outcome"] == "fetched" else "Here already:"
    line = f"{how} {doc['model']}, {doc['bytes'] / 1e6:.0f} MB, in {text.clean(doc['folder'])}."
    if doc["used"]:
        return line + "\nHosts that run now use it from their next start."
    return line + "\n" + style("33", "The settings name another model; see `noforgetti model status`.")


@model.command()
@click.option(
    "--try", "tried", is_flag=True, help="Embed one sentence with it: where settings say so, over the network."
)
@pass_session
def status(session: Session, tried: bool) -> None:
    """Which model is used, from where, and what stands against it."""
    from noforgetti.service.embedding import fetched, models

    embedding = _embedding()
    took = embedding.try_out() if tried else None
    doc = {
        "type": embedding.settings.type,
        **embedding.view(),
        "milliseconds": took,
        "fetched": list(fetched(embedding.where)),
        "folder": str(models(embedding.where)),
    }
    session.print(doc, _status)
    if tried and doc["state"] not in ("ready", "off"):
        session.exit = 1


def _status(doc: dict[str, Any], style: text.Style) -> str:
    width = f", {doc['width']:,} dimensions" if doc["width"] else ""
    rows = [("embedding", doc["type"]), ("state", doc["state"])]
    rows += [("model", f"{doc['model']}{width}")] if doc["model"] else []
    rows += [("answered in", f"{doc['milliseconds']:,.0f} ms")] if doc["milliseconds"] is not None else []
    rows += [("fetched", ", ".join(doc["fetched"]) or "nothing"), ("folder", doc["folder"])]
    rows += [(key, doc[key]) for key in ("reason", "hint") if doc[key]] + [("note", one) for one in doc["notes"]]
    return "\n".join(f"{style.bold(name.ljust(12))} {text.clean(str(value))}" for name, value in rows)


def _embedding() -> Embedding:
    """What the settings say, without a project: a model is the user's, not a project's."""
    from noforgetti.service.embedding import Embedding
    from noforgetti.service.places import places
    from noforgetti.service.settings import load

    where = places(os.environ)
    return Embedding(load(where.config).embedding, where, os.environ)
