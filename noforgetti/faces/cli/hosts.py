"""The commands around hosts, reviews and health."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from noforgetti.faces import text
from noforgetti.faces.cli.main import Session, cli, pass_session


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
    help="A session file; without it the project's newest Pi session.",
)
@click.option(
    "--reviewer", type=click.Choice(["rules", "command", "http"]), help="Who reads it; without it the settings say."
)
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
    by = choose(memory.settings, name=reviewer or "")
    done = [service(memory, branch, said, by, forced=True)]
    while done[-1].more and done[-1].outcome in ("applied", "no-change"):
        done.append(service(memory, branch, said, by, forced=True))
    doc = reviewed_view(done, str(path))
    if doc["outcome"] in ("failed", "invalid", "held", "stale", "running"):
        session.refuse(doc)
    else:
        session.print(doc, _reviewed)


def _reviewed(doc: dict[str, Any], style: text.Style) -> str:
    if not doc["commits"]:
        lines = [f"Nothing to remember: {doc['reason'] or 'no durable statement was found'}."]
    else:
        lines = [f"Review by {doc['reviewer']}: commit {', '.join(one[:12] for one in doc['commits'])}."]
    lines += [f"  {line}" for one in doc["operations"] for line in text.operation(one, style)]
    lines += [style.dim(f"  left out ({one['rule']}): {text.clean(one['reason'])}") for one in doc["refused"]]
    return "\n".join(lines)


@cli.command()
@click.option("--fix", is_flag=True, help="Restore damaged entries and torn branches from their own history.")
@click.option("--adopt", metavar="KEY", help="Make the memory of a moved project this project's.")
@pass_session
def doctor(session: Session, fix: bool, adopt: str | None) -> None:
    """What is wrong with the memory, by name; with --fix mended from history."""
    from noforgetti.service import doctor as service

    memory = session.memory
    done: list[service.Finding] = []
    if adopt is not None:
        from noforgetti.service.registry import adopt as take

        other = take(memory, adopt)
        done.append(service.Finding("ok", f"the memory of `{other.root}` belongs to this project now"))
    if fix:
        done += service.mend(memory)
    found = service.examine(memory)
    doc: dict[str, Any] = {
        "outcome": "ok" if not any(one.level == "error" for one in found) else "unhealthy",
        "mended": [_finding(one) for one in done],
        "findings": [_finding(one) for one in found],
    }
    session.print(doc, _examined)
    if doc["outcome"] != "ok":
        session.exit = 1


def _finding(one: Any) -> dict[str, str]:
    return {"level": one.level, "what": one.what, "hint": one.hint}


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
    from noforgetti.service.doctor import fsck as service

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
    from noforgetti.service.doctor import pack

    if session.memory.exists:
        pack(session.memory)
    session.print({"outcome": "packed"}, lambda *_: "Packed.")
