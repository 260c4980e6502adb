"""The entry point of the command `noforgetti` and of `python -m noforgetti`.

What a host's hook calls on every prompt is answered before the command-line library is imported.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line with this process's arguments, and exit."""
    os.umask(0o077)  # everything we make is the user's alone, whatever the shell says
    _open_streams()
    try:
        status = _run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules are loaded; later the command line answers it
        status = 130
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["hook"] and not any(one.startswith("-") for one in arguments):
        from noforgetti.faces.hook.quick import run as hook

        hook(arguments[1:], os.environ)
        os._exit(0)
    if "show" in arguments[:5]:
        from noforgetti.faces.cli.fast import show

        if show(arguments, os.environ):
            # Nothing is open and nothing is registered: tearing the interpreter down would only cost time.
            os._exit(0)
    from noforgetti.faces.cli.main import run

    return run(arguments)


def _open_streams() -> None:
    """Give a stream that the caller closed to /dev/null, in order, so that no file of ours gets its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open as long as we are


if __name__ == "__main__":
    main()
