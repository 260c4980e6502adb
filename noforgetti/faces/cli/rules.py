"""The commands around rules: what an entry enforces in a host."""

from __future__ import annotations

import json

import click

from noforgetti.faces import ruled
from noforgetti.faces.cli import completing
from noforgetti.faces.cli.main import Session, cli, pass_session


@cli.group(invoke_without_command=True)
@click.pass_context
def rules(context: click.Context) -> None:
    """What entries enforce in a host: list, set, clear, approve, test."""
    if context.invoked_subcommand is None:
        context.invoke(rules_list)


@rules.command("list")
@pass_session
def rules_list(session: Session) -> None:
    """Every rule, whether it is in force, and what is odd about it."""
    from noforgetti.service.rule_views import rules_view
    from noforgetti.service.rules import listed

    session.print(rules_view(session.branch, listed(session.memory, session.branch)), ruled.listed)


@rules.command("set")
@click.argument("old", metavar="ENTRY", shell_complete=completing.entries)
@click.option(
    "--trigger",
    default="",
    metavar="T",
    help="`bash_contains WORDS`, `bash_regex RE`, `tool_name NAME` or `file_modified GLOB`.",
)
@click.option("--action", type=click.Choice(["block", "run_after", "warn"]), help="What happens when the trigger fits.")
@click.option("--command", default="", metavar="C", help="The command that `run_after` runs.")
@click.option(
    "--verifier", default="", metavar="V", help="`tool_called TOOL before COMMAND`, asked at the end of a turn."
)
@pass_session
def rules_set(session: Session, old: str, trigger: str, action: str | None, command: str, verifier: str) -> None:
    """Bind a rule to ENTRY, in place of one that it had. Setting a command here approves it on this machine."""
    from noforgetti.policy import enforcement
    from noforgetti.service.rule_views import bound_view
    from noforgetti.service.rules import bind

    rule = enforcement.made(trigger, action or "", command, verifier)
    if isinstance(rule, enforcement.BadRule):
        raise click.UsageError(f"That is no rule: {rule.reason}. Nothing was written.")
    _print(session, bound_view(bind(session.memory, session.branch, old, rule)))


@rules.command("clear")
@click.argument("old", metavar="ENTRY", shell_complete=completing.entries)
@pass_session
def rules_clear(session: Session, old: str) -> None:
    """Take the rule off ENTRY; the entry stays."""
    from noforgetti.service.rule_views import bound_view
    from noforgetti.service.rules import clear

    _print(session, bound_view(clear(session.memory, session.branch, old)))


@rules.command("approve")
@click.argument("old", metavar="ENTRY", shell_complete=completing.entries)
@pass_session
def rules_approve(session: Session, old: str) -> None:
    """Let the rule of ENTRY run its command on this machine: that very command, until it changes."""
    from noforgetti.service.rule_views import bound_view
    from noforgetti.service.rules import approve

    _print(session, bound_view(approve(session.memory, session.branch, old)))


@rules.command("test")
@click.option("--tool", default="bash", show_default=True, help="The tool that would be called.")
@click.argument("given", metavar="INPUT")
@pass_session
def rules_test(session: Session, tool: str, given: str) -> None:
    """Which rules would fire. INPUT is a shell command, or the tool's input as a JSON object."""
    from noforgetti.policy.enforcement import Call
    from noforgetti.service.rule_views import tested_view
    from noforgetti.service.rules import listed

    try:
        read = json.loads(given)
    except ValueError:
        read = None
    call = Call("test", tool, read if isinstance(read, dict) else {"command": given, "path": given})
    session.print(tested_view(session.branch, listed(session.memory, session.branch), call), ruled.fired)


def _print(session: Session, doc: dict[str, object]) -> None:
    if doc["outcome"] == "refused":
        session.refuse(doc)
    else:
        session.print(doc, ruled.bound)
