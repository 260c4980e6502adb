"""The commands around promotions, and `reinforce`, which leads to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from noforgetti.faces import promoted
from noforgetti.faces.cli import completing
from noforgetti.faces.cli.main import Session, cli, pass_session

if TYPE_CHECKING:
    from noforgetti.service.settling import Decided

_DECIDE = "`noforgetti promotions accept ID` or `reject ID` decides it"


@cli.group(invoke_without_command=True)
@click.pass_context
def promotions(context: click.Context) -> None:
    """What memories with much evidence could become: a rule, a skill, a rule of the project, or nothing."""
    if context.invoked_subcommand is None:
        _listed(context.obj, settled=False)


@promotions.command("list")
@click.option("--all", "settled", is_flag=True, help="Applied and rejected ones, too.")
@pass_session
def promotions_list(session: Session, settled: bool) -> None:
    """The open promotions, oldest first."""
    _listed(session, settled=settled)


@promotions.command("show")
@click.argument("own", metavar="ID", shell_complete=completing.promotions)
@pass_session
def promotions_show(session: Session, own: str) -> None:
    """One promotion with everything that is known of it."""
    from noforgetti.policy.verdict import Refusal
    from noforgetti.service import promotions as service
    from noforgetti.service.promotion_views import promotion_view
    from noforgetti.service.views import refused_view

    found = service.find(service.queue(session.memory, session.branch), own)
    if isinstance(found, Refusal):
        session.refuse(refused_view(found))
    else:
        session.print(promotion_view(found), promoted.promotion)


@promotions.command("accept")
@click.argument("own", metavar="ID", shell_complete=completing.promotions)
@click.option("--trigger", default="", help="For a rule: what it watches, such as `bash_contains git push`.")
@click.option("--action", type=click.Choice(["block", "warn"]), default=None, help="For a rule: what it does.")
@pass_session
def promotions_accept(session: Session, own: str, trigger: str, action: str | None) -> None:
    """Do what a promotion proposes, as one commit. A project rule is printed for you to copy."""
    from noforgetti.service import settling

    _decided(
        session, settling.accept(session.memory, session.branch, own, trigger=trigger.strip(), action=action or "")
    )


@promotions.command("reject")
@click.argument("own", metavar="ID", shell_complete=completing.promotions)
@pass_session
def promotions_reject(session: Session, own: str) -> None:
    """Settle a promotion as not wanted; it is never proposed again."""
    from noforgetti.service import settling

    _decided(session, settling.reject(session.memory, session.branch, own))


@promotions.command("undo")
@click.argument("own", metavar="ID", shell_complete=completing.promotions)
@pass_session
def promotions_undo(session: Session, own: str) -> None:
    """Take back what accepting, applying or rejecting did. Halts when the entry or skill changed since."""
    from noforgetti.service import settling

    _decided(session, settling.undo(session.memory, session.branch, own))


@cli.command()
@click.argument("old", shell_complete=completing.entries)
@pass_session
def reinforce(session: Session, old: str) -> None:
    """Confirm an entry: one more piece of evidence for it. OLD is an id or a unique piece of its text."""
    from noforgetti.model.entry import Stored, Writer
    from noforgetti.policy import addressing
    from noforgetti.service import promotions as service
    from noforgetti.service import signals
    from noforgetti.service.promotion_views import passed_view
    from noforgetti.service.views import refused_view

    memory, branch = session.memory, session.branch
    found = addressing.meant(memory.snapshot(branch), old)
    if not isinstance(found, Stored):
        session.refuse(refused_view(found))
        return
    own = found.entry.id
    done = signals.reinforce(memory, branch, [own], by=Writer.USER)
    passed = service.after_reinforcement(memory, branch, [own], by=Writer.USER)
    doc = {
        "outcome": "reinforced",
        "branch": branch,
        "entry": own,
        "evidence": done.signals[own].evidence,
        "commit": done.commit,
        "promotions": passed_view(passed),
    }
    session.print(doc, _reinforced)


def _reinforced(doc: dict[str, Any], _: object) -> str:
    first = f"Reinforced `{doc['entry']}`: evidence {doc['evidence']}."
    return "\n".join([first, *promoted.passed(doc["promotions"], decide=_DECIDE)])


def _listed(session: Session, *, settled: bool) -> None:
    from noforgetti.service import promotions as service
    from noforgetti.service.promotion_views import promotions_view

    known = service.queue(session.memory, session.branch)
    session.print(promotions_view(session.branch, known, settled=settled), promoted.promotions)


def _decided(session: Session, decided: Decided) -> None:
    from noforgetti.service.promotion_views import decided_view

    doc = decided_view(decided)
    if decided.outcome in ("refused", "halted"):
        session.refuse(doc)
    else:
        session.print(doc, promoted.decided)
