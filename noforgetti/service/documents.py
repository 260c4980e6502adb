"""The checked-in documents of a project that an agent sees anyway: what they say is not worth remembering again."""

from __future__ import annotations

import os

# Instruction files of the hosts we know, then what every contributor reads. Names as each project publishes them.
_NAMES = (
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".github/copilot-instructions.md",
    ".cursorrules",
    "CONTRIBUTING.md",
    "README.md",
)
_LIMIT = 131_072  # bytes of one document; longer ones are read up to here


def documents(root: str) -> tuple[tuple[str, str], ...]:
    """Name and text of each document that is there and readable. No link leads out of the project."""
    found = []
    for name in _NAMES if root else ():
        path = os.path.join(root, name)
        real = os.path.realpath(path)
        if not real.startswith(os.path.realpath(root) + os.sep) or not os.path.isfile(real):
            continue
        try:
            with open(real, "rb") as file:
                found.append((name, file.read(_LIMIT).decode("utf-8", "replace")))
        except OSError:
            continue
    return tuple(found)
