"""What a command prints, and how it ends: one JSON document, or text for people; exit statuses of the contract."""

from __future__ import annotations

import json
import os
import platform
import sys
import traceback
from typing import TYPE_CHECKING, Any

from noforgetti import __version__
from noforgetti.faces import text

if TYPE_CHECKING:
    from noforgetti.errors import NoForgettiError

DONE, REFUSED, USAGE, FAULT, INTERRUPTED = 0, 1, 2, 3, 130


class Output:
    """Where a command's answer goes."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.style = text.Style(colour=not as_json and sys.stdout.isatty() and not os.environ.get("NO_COLOR"))

    def document(self, doc: dict[str, Any], shown: str) -> None:
        """Print the document, or what it says to people."""
        print(json.dumps(doc, ensure_ascii=not _unicode(), indent=2) if self.as_json else _printable(shown))

    def refused(self, doc: dict[str, Any], reason: str, hint: str) -> int:
        """Print a refusal: the sentence and the hint on stderr, the whole document with `--json`."""
        if self.as_json:
            print(json.dumps(doc, ensure_ascii=not _unicode(), indent=2))
        complain(reason, hint)
        return REFUSED

    def failed(self, error: NoForgettiError) -> int:
        """Print expected trouble."""
        doc = {
            "outcome": "failed",
            "reason": error.message,
            "hint": error.hint,
            "code": error.reason,
            "kind": error.kind,
        }
        return self.refused(doc, error.message, error.hint)

    def misused(self, message: str, hint: str) -> int:
        """Print that the words of the command are off."""
        self.refused(
            {"outcome": "failed", "reason": message, "hint": hint, "code": "usage", "kind": "user"},
            message,
            hint,
        )
        return USAGE

    def unasked(self, help_text: str, hint: str) -> int:
        """Print what could be asked for, where nothing was."""
        if self.as_json:
            return self.misused("No command is named.", hint)
        print(_printable(help_text), file=sys.stderr)
        return USAGE

    def fault(self, error: BaseException) -> int:
        """Print a report of a fault of ours that can be pasted into an issue. It names no argument and no memory."""
        frames = traceback.extract_tb(error.__traceback__)
        ours = [f"  {os.path.basename(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames]
        lines = [
            "noforgetti met a fault of its own; nothing that was not published has changed.",
            "Hint: report it with these lines.",
            f"  noforgetti {__version__}, Python {platform.python_version()}, {platform.system()}",
            f"  {type(error).__name__}",
            *ours[-12:],
        ]
        if os.environ.get("NOFORGETTI_DEBUG"):
            lines.append("".join(traceback.format_exception(error)))
        if self.as_json:
            print(
                json.dumps(
                    {
                        "outcome": "failed",
                        "reason": lines[0],
                        "hint": lines[1],
                        "code": "internal",
                        "kind": "internal",
                    }
                )
            )
        print("\n".join(lines), file=sys.stderr)
        return FAULT


def complain(reason: str, hint: str) -> None:
    """One sentence and a hint on stderr."""
    print(_printable(reason), file=sys.stderr)
    if hint:
        print(_printable(f"Hint: {hint}"), file=sys.stderr)


def _unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def _printable(shown: str) -> str:
    """What the terminal's encoding can carry; the rest as escapes, never a traceback."""
    encoding = sys.stdout.encoding or "ascii"
    return shown.encode(encoding, "backslashreplace").decode(encoding)
