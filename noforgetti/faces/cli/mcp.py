"""`noforgetti mcp`: the MCP server."""

from __future__ import annotations

import os
import sys

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.faces.cli.main import Session, cli, pass_session
from noforgetti.faces.cli.output import complain


class NoProtocol(NoForgettiError):
    """The extra `mcp` is not installed, or is of an older generation."""

    kind = Kind.UNAVAILABLE
    reason = "missing-extra"

    def __init__(self) -> None:
        super().__init__(
            "The MCP server needs the package `mcp` 2, which is not installed. Nothing was started.",
            hint="pip install 'noforgetti[mcp]'",
        )


@cli.command()
@pass_session
def mcp(session: Session) -> None:
    """Serve the memory to an agent over MCP, on standard input and output.

    A host starts it: give it the command `noforgetti mcp` and no more. The folder it is started in (or -C) decides the
    project; --branch and --user say what it works on at first. See docs/mcp.md.
    """
    from noforgetti.service.places import child_of

    if guard := child_of(os.environ):
        print(f"{guard} is set: a reviewer or subagent works without memory.", file=sys.stderr)
        return
    try:
        from noforgetti.faces.mcp.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise NoProtocol from error
    if sys.stdin.isatty():
        complain("`noforgetti mcp` waits for a client on standard input; a host starts it.", "end it with Ctrl-D")
    session.exit = serve(os.environ, session.folder, branch=session.named or "", user=session.user)
