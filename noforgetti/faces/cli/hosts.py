"""The commands around hosts, reviews and health."""

from __future__ import annotations

import os
import sys
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


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@pass_session
def completion(session: Session, shell: str) -> None:
    """Print the completion script of a shell: `eval "$(noforgetti completion bash)"`."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:  # the choice above allows only shells that Click knows
        raise click.UsageError(f"no completion for {shell}")
    script = found(cli, {}, "noforgetti", "_NOFORGETTI_COMPLETE").source()
    session.print({"shell": shell, "script": script}, lambda d, _: d["script"])
