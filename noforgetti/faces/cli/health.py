"""The commands of health: what is wrong, mended, checked, packed, and given back to a project that moved."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from noforgetti.faces import text
from noforgetti.faces.cli.main import Session, cli, pass_session

if TYPE_CHECKING:
    from noforgetti.service.health.finding import Finding


@cli.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended; damaged bytes are kept.")
@click.option("--adopt", metavar="KEY", help="The same as `relink KEY`, before looking.")
@pass_session
def doctor(session: Session, fix: bool, adopt: str | None) -> None:
    """What is wrong, each thing with what mends it: settings, programs, folders, the repository and its branches,
    search and reviews, hosts, memories of moved projects. Status 1 when something is."""
    from noforgetti.service.health import examining, mending

    memory, found = session.examined()
    done: list[Finding] = []
    if adopt is not None:
        done.append(_relinked(session, adopt))
    if fix:
        done += mending.mend(memory)
    found += examining.examine(memory, os.environ)
    doc: dict[str, Any] = {
        "outcome": "unhealthy" if any(one.wrong for one in found) else "ok",
        "mended": [_finding(one) for one in done],
        "findings": [_finding(one) for one in found],
    }
    session.print(doc, _examined)
    if doc["outcome"] != "ok":
        session.exit = 1


@cli.command()
@click.argument("key")
@pass_session
def relink(session: Session, key: str) -> None:
    """Give the memory of a project that was moved or renamed to the project here. `doctor` lists such memories with
    their KEY, of which the beginning is enough."""
    done = _relinked(session, key)
    doc = {"outcome": "relinked", "project": session.memory.project.root, "repository": session.memory.path}
    session.print({**doc, "was": done.what}, lambda *_: f"Done: {done.what}.")


def _relinked(session: Session, key: str) -> Finding:
    from noforgetti.service.health.finding import Finding
    from noforgetti.service.registry import relink as service

    other = service(session.memory, key)
    return Finding("ok", "relinked", f"the memory of `{other.root}` belongs to `{session.memory.project.root}` now")


def _finding(one: Finding) -> dict[str, Any]:
    return {"level": one.level, "code": one.code, "what": one.what, "hint": one.hint, "mendable": one.mendable}


def _examined(doc: dict[str, Any], style: text.Style) -> str:
    colours = {"ok": "32", "note": "36", "warning": "33", "error": "31"}
    lines = []
    for one in [*doc["mended"], *doc["findings"]]:
        lines.append(f"{style(colours[one['level']], one['level'].ljust(8))}{text.clean(one['what'])}")
        if one["hint"]:
            lines.append(f"        {style.dim(text.clean(one['hint']))}")
    return "\n".join(lines) or "Everything is in order."


@cli.command()
@pass_session
def fsck(session: Session) -> None:
    """Check the repository with `git fsck --strict`."""
    from noforgetti.service.health.gitprogram import fsck as service

    if not session.memory.exists:
        session.print({"outcome": "clean", "output": ""}, lambda *_: "No memory yet: nothing to check.")
        return
    clean, said = service(session.memory)
    if clean:
        session.print({"outcome": "clean", "output": said}, lambda *_: "The repository is clean.")
    else:
        session.refuse(
            {
                "outcome": "unhealthy",
                "output": said,
                "reason": f"git fsck found trouble: {said.splitlines()[0] if said else 'no word of what'}.",
                "hint": "run `noforgetti doctor --fix`",
            }
        )


@cli.command()
@pass_session
def gc(session: Session) -> None:
    """Pack the repository. Safe beside running writers; throws nothing away."""
    from noforgetti.service.health.gitprogram import pack

    if session.memory.exists:
        pack(session.memory)
    session.print({"outcome": "packed"}, lambda *_: "Packed.")
