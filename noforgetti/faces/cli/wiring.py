"""`install` and `uninstall`: a host's configuration, written and taken back."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noforgetti.faces.cli.main import Session, cli, pass_session

if TYPE_CHECKING:
    from noforgetti.faces import text


@cli.command()
@click.argument("host", type=click.Choice(["pi"]))
@pass_session
def install(session: Session, host: str) -> None:
    """Install the extension for a host. Twice changes nothing; `uninstall` takes it back."""
    from noforgetti.faces.pi import install as pi

    done = pi.install(None, command=bridge_command(), environ=os.environ)
    _installed(session, host, done)


@cli.command()
@click.argument("host", type=click.Choice(["pi"]))
@pass_session
def uninstall(session: Session, host: str) -> None:
    """Take a host's extension out again. Memory stays."""
    from noforgetti.faces.pi import install as pi

    _installed(session, host, pi.uninstall(None, environ=os.environ))


def _installed(session: Session, host: str, done: Any) -> None:
    doc = {
        "outcome": str(done.outcome),
        "host": host,
        "folder": str(done.folder),
        "paths": [str(path) for path in done.paths],
        "kept": [str(path) for path in done.kept],
        "warnings": list(done.warnings),
    }

    def shown(d: dict[str, Any], _: text.Style) -> str:
        lines = [f"Pi extension {d['outcome']}: {d['folder']}", *(f"Kept: {path}" for path in d["kept"])]
        return "\n".join([*lines, *(f"Note: {warning}" for warning in d["warnings"])])

    session.print(doc, shown)


def bridge_command() -> list[str]:
    """How a host starts the bridge: by the installed script, whose folder is not on Python's path (a project's own
    `pydantic/` folder must not be imported); without one, by this interpreter in its safe-path mode."""
    script = Path(sys.executable).parent / "noforgetti"
    if script.is_file():
        return [str(script), "serve", "--stdio"]
    return [sys.executable, "-P", "-m", "noforgetti", "serve", "--stdio"]
