"""One root for every expected trouble: it has a kind, one sentence and, where something helps, a hint.

Business outcomes (refused by a guard, undo halted, duplicate) are values, not exceptions. An exception means that an
expectation was broken: a stale head, a held lock, a corrupt object, an unknown branch, a word that cannot be meant.
The class lives beside the code that raises it; only faces turn it into text and an exit status.
"""

from enum import StrEnum


class Kind(StrEnum):
    """Whose turn it is when this happens."""

    USER = "user"  # the words or the state do not allow it; the user can act
    CONFLICT = "conflict"  # somebody else moved first; planning again may help
    BUSY = "busy"  # a lock is held by a living process; waiting helps
    CORRUPT = "corrupt"  # stored data cannot be read as what it should be
    UNAVAILABLE = "unavailable"  # a folder, program, model or network is not there now
    INTERNAL = "internal"  # a fault of ours


class NoForgettiError(Exception):
    """Root of all expected trouble. `str()` is one sentence; `hint` is one imperative or empty."""

    kind: Kind = Kind.INTERNAL
    reason: str = "internal"  # machine-readable, kebab-case; `code` in `--json`

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def shown(value: str, limit: int = 80) -> str:
    """What somebody gave, as a sentence may quote it: one line of at most `limit` code points, all printable."""
    line = "".join(char if char.isprintable() else "\ufffd" for char in value[: limit + 1])
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
