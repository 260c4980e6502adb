"""The commands around the skills of a branch."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from noforgetti.faces import promoted, text
from noforgetti.faces.cli import completing
from noforgetti.faces.cli.commands import _kept
from noforgetti.faces.cli.main import Session, cli, pass_session

if TYPE_CHECKING:
    from noforgetti.service.skills import Changed

_LARGEST = 4_000_000  # bytes read from standard input, as for `add -`
_NEW = """\
---
name: {name}
description: ""
---

# {name}

"""


@cli.group(invoke_without_command=True)
@click.pass_context
def skills(context: click.Context) -> None:
    """The skills of the branch: procedures that a host offers to the agent."""
    if context.invoked_subcommand is None:
        _listed(context.obj, archived=False)


@skills.command("list")
@click.option("--all", "archived", is_flag=True, help="Deleted ones, too.")
@pass_session
def skills_list(session: Session, archived: bool) -> None:
    """The skills by name, and why one is not offered."""
    _listed(session, archived=archived)


@skills.command("show")
@click.argument("name", shell_complete=completing.skills)
@pass_session
def skills_show(session: Session, name: str) -> None:
    """The file of skill NAME."""
    from noforgetti.service import skills as service
    from noforgetti.service.promotion_views import skill_view

    found = service.find(session.memory, session.branch, name)
    session.print({"branch": session.branch, **skill_view(found)}, promoted.skill)


@skills.command("edit")
@click.argument("name", shell_complete=completing.skills)
@click.argument("source", metavar="[-]", required=False, type=click.Choice(["-"]))
@pass_session
def skills_edit(session: Session, name: str, source: str | None) -> None:
    """Open skill NAME in $EDITOR, or with `-` read its whole file from standard input. A name that is not there yet
    makes a new skill."""
    from noforgetti.policy.skill import name_refused
    from noforgetti.service import skills as service

    refusal = name_refused(name)
    if refusal is not None:
        _changed(session, service.Changed("refused", session.branch, name, refusal=refusal))
        return
    if source == "-":
        words = sys.stdin.buffer.read(_LARGEST).decode("utf-8", "surrogateescape")
        _changed(session, service.save(session.memory, session.branch, name, words))
        return
    known = name in service.names(session.memory.snapshot(session.branch))
    before = service.find(session.memory, session.branch, name).text if known else _NEW.format(name=name)
    after = click.edit(before, extension=".md", require_save=True)
    if after is None or not after.strip():  # an emptied file calls it off, as in git
        doc = {"outcome": "nothing", "branch": session.branch, "name": name, "commit": None}
        session.print(doc, lambda *_: "Not saved: nothing was changed.")
        return
    done = service.save(session.memory, session.branch, name, after)
    _changed(session, done, kept=_kept(session.memory, after) if done.refusal else "")


@skills.command("delete")
@click.argument("name", shell_complete=completing.skills)
@pass_session
def skills_delete(session: Session, name: str) -> None:
    """Set skill NAME aside: no host is given it any more. The branch keeps it, and `skills undo` brings it back."""
    from noforgetti.service import skills as service

    _changed(session, service.delete(session.memory, session.branch, name))


@skills.command("undo")
@click.argument("name", shell_complete=completing.skills)
@pass_session
def skills_undo(session: Session, name: str) -> None:
    """Take back the newest change of skill NAME: an edit, a deletion, or its making."""
    from noforgetti.service import skills as service
    from noforgetti.service.views import undone_view

    result = service.undo(session.memory, session.branch, name)
    doc = undone_view(result)
    if result.outcome == "halted":
        session.refuse({**doc, "reason": text.undone(doc), "hint": doc["hint"] or "compare with `noforgetti log`"})
    else:
        session.print(doc, text.undone)


def _listed(session: Session, *, archived: bool) -> None:
    from noforgetti.service import skills as service
    from noforgetti.service.promotion_views import skills_view

    found = service.listed(session.memory, session.branch, archived=archived)
    session.print(skills_view(session.branch, found), promoted.skills)


def _changed(session: Session, changed: Changed, *, kept: str = "") -> None:
    from noforgetti.service.promotion_views import skill_changed_view

    doc: dict[str, Any] = skill_changed_view(changed)
    if changed.refusal is None:
        session.print(doc, promoted.skill_changed)
        return
    if kept:
        doc["hint"] = f"your text is kept in `{kept}`; {doc['hint']}"
    session.refuse(doc)
