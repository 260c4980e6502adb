"""What helps with the commands themselves: completion of a shell, and the man page."""

from __future__ import annotations

import click

from noforgetti.faces.cli.main import Session, cli, pass_session


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
