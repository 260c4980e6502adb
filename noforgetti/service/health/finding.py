"""One thing that a user should know about the health of the memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`level` says how bad: `ok` (done, or in order), `note` (worth knowing), `warning` (something is wrong, memory
    works), `error` (something cannot be read or written). `code` is a stable word for the sort of finding, `what` the
    sentence, `hint` what to do about it. `doctor --fix` mends what is `mendable`."""

    level: Level
    code: str
    what: str
    hint: str = ""
    mendable: bool = False

    @property
    def wrong(self) -> bool:
        """Whether something is wrong, so that `doctor` ends with status 1."""
        return self.level in ("warning", "error")
