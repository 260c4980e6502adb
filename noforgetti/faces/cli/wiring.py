"""`install` and `uninstall`: a host's configuration, written and taken back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from noforgetti.faces.cli.main import Session, cli, pass_session, plain

if TYPE_CHECKING:
    from noforgetti.faces import text
    from noforgetti.service.wiring import Direction

_HOSTS = ("claude-code", "cline", "codex", "cursor", "gemini", "opencode", "pi", "qwen", "windsurf")


@cli.command()
@click.argument("host", metavar="[HOST]", type=click.Choice(_HOSTS), required=False)
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@pass_session
def install(session: Session, host: str | None, dry_run: bool) -> None:
    """Install noforgetti for a host, the program your agent runs in.

    Shows each change, then writes it. Comments and other people's entries keep their bytes; nothing is written into a
    project. Twice changes nothing, and `uninstall` gives back the bytes that were there. Without HOST: which hosts are
    on this machine, and whether they are installed.

    \b
    noforgetti install                        what is here?
    noforgetti install claude-code --dry-run  what would be written?
    noforgetti install claude-code
    """
    if host is None:
        _list(session)
    elif host == "pi":
        _pi(session, "install", dry=dry_run)
    else:
        _run(session, host, "install", dry=dry_run)


@cli.command()
@click.argument("host", metavar="HOST", type=click.Choice(_HOSTS))
@click.option("--dry-run", is_flag=True, help="Show what would be taken out, and write nothing.")
@pass_session
def uninstall(session: Session, host: str, dry_run: bool) -> None:
    """Take noforgetti out of a host again. Memory stays.

    A file that nobody has changed since gets its old bytes back; out of a changed one only our pieces are cut. What you
    changed in our pieces is kept and named.
    """
    if host == "pi":
        _pi(session, "uninstall", dry=dry_run)
    else:
        _run(session, host, "uninstall", dry=dry_run)


def _run(session: Session, host: str, direction: Direction, *, dry: bool) -> None:
    from noforgetti.faces import wired
    from noforgetti.service import wiring

    doc = wiring.run(host, direction, os.environ, dry=dry)
    if "reason" in doc:
        session.refuse(doc)
    else:
        session.print(doc, wired.shown)


def _list(session: Session) -> None:
    from noforgetti.faces import wired
    from noforgetti.faces.pi import install as pi
    from noforgetti.service import wiring

    session.print({"hosts": [*wiring.known(os.environ), pi.listed(os.environ)]}, plain(wired.listed))


def _pi(session: Session, direction: Direction, *, dry: bool) -> None:
    from noforgetti.faces.pi import install as pi

    if direction == "install":
        done = pi.install(None, command=bridge_command(), environ=os.environ, dry=dry)
    else:
        done = pi.uninstall(None, environ=os.environ, dry=dry)
    doc = {
        "outcome": str(done.outcome),
        "host": "pi",
        "folder": str(done.folder),
        "paths": [str(path) for path in done.paths],
        "kept": [str(path) for path in done.kept],
        "warnings": list(done.warnings),
    }

    def shown(d: dict[str, Any], _: text.Style) -> str:
        would = " (dry run: nothing was written)" if dry else ""
        lines = [f"Pi extension {d['outcome']}{would}: {d['folder']}", *(f"Kept: {path}" for path in d["kept"])]
        return "\n".join([*lines, *(f"Note: {warning}" for warning in d["warnings"])])

    session.print(doc, shown)


def bridge_command() -> list[str]:
    """How a host starts the bridge."""
    from noforgetti.service.wiring import program

    return [*program(), "serve", "--stdio"]
