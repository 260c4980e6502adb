"""A host as data: what it is called, what we may write for it, and what was found there.

Nothing here reads the environment or knows a memory; folders and the environment are handed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - dataclasses read the annotations
from typing import Literal

Deed = Literal["create", "change", "none", "delete", "keep"]


@dataclass(frozen=True, slots=True)
class Step:
    """One file that installing or uninstalling a host touches. `shown` is the change as a unified diff with secrets
    masked; `why` a sentence when the file is left as it is (`keep`)."""

    path: Path
    deed: Deed
    shown: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Wiring:
    """What a host's configuration says of us now. `command` is the program it would start; `troubles` say what is
    wrong: stale, duplicated, foreign."""

    host: str
    installed: bool
    paths: tuple[Path, ...] = ()
    command: tuple[str, ...] = ()
    troubles: tuple[Trouble, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something wrong with a host's wiring. `code` is a stable word: `stale-command`, `second-install`,
    `foreign-entry`, `changed-block`, `missing-file`, `unreadable-file`, `old-version`, `untrusted-hook`."""

    code: str
    what: str
    hint: str
