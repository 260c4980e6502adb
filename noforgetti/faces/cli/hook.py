"""`noforgetti hook`: what a host's hook calls. The entry point answers it before this module is loaded."""

from __future__ import annotations

import os

import click

from noforgetti.faces.cli.main import cli


@cli.command()
@click.argument("host")
@click.argument("event")
def hook(host: str, event: str) -> None:
    """Answer a host's hook: one JSON object on stdin, one or nothing on stdout.

    `install HOST` writes the lines that call it. It never fails; what goes wrong stands in `status`.
    """
    from noforgetti.faces.hook.quick import run

    run([host, event], os.environ)
