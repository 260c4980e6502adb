"""What helps with the commands themselves: help by name, completion of a shell, and the man page."""

from __future__ import annotations

import click

from noforgetti.faces.cli import completing
from noforgetti.faces.cli.main import Session, cli, pass_session


@cli.command("help")
@click.argument("names", metavar="[COMMAND]…", nargs=-1, shell_complete=completing.commands)
@click.pass_context
def help_(context: click.Context, names: tuple[str, ...]) -> None:
    """What a command does, its options and examples; alone what there is.

    \b
      noforgetti help undo
      noforgetti help promotions accept
    """
    above = context.find_root()
    for name in names:
        command = above.command
        if not isinstance(command, click.Group):
            raise click.UsageError(f"`{above.command_path}` has no commands of its own.", above)
        _, found, _ = command.resolve_command(above, [name])
        assert found is not None  # else it raised
        above = click.Context(found, parent=above, info_name=name)
    session: Session = context.obj
    session.print({"command": above.command_path, "help": above.get_help()}, lambda d, _: d["help"])


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@pass_session
def completion(session: Session, shell: str) -> None:
    """Print the completion script of a shell. It completes commands, options, and what is there: branches, entries,
    promotions, hosts."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:  # the choice above allows only shells that Click knows
        raise click.UsageError(f"no completion for {shell}")
    script = found(cli, {}, "noforgetti", completing.VARIABLE).source()
    session.print({"shell": shell, "script": script}, lambda d, _: d["script"])


@cli.command()
@pass_session
def man(session: Session) -> None:
    """Print the manual page of all commands, for `man`."""
    from noforgetti.faces.cli.man_page import page

    session.print({"page": page(cli)}, lambda d, _: d["page"])
