"""The entry point of the command `noforgetti` and of `python -m noforgetti`.

The command an agent's hook calls on every prompt is answered before the command-line library is imported.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line with this process's arguments, and exit."""
    os.umask(0o077)  # everything we make is the user's alone, whatever the shell says
    arguments = sys.argv[1:]
    if "show" in arguments[:5]:
        from noforgetti.faces.cli.fast import show

        if show(arguments, os.environ):
            sys.stdout.flush()
            # Nothing is open and nothing is registered: tearing the interpreter down would only cost time.
            os._exit(0)
    from noforgetti.faces.cli.main import run

    sys.exit(run(arguments))


if __name__ == "__main__":
    main()
