"""What use has said about an entry. Lives beside the branches, so that using a memory never changes its text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signal:
    """How often an entry was confirmed, and when last. An entry that nobody confirmed has the default.

    `evidence` counts from 1, the writing itself; `reinforced` is an RFC 3339 UTC time, empty before the first
    reinforcement; `forgotten` keeps the entry from being told without removing it.
    """

    evidence: int = 1
    reinforced: str = ""
    forgotten: bool = False


NEW = Signal()
