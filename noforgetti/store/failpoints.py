"""Named moments of a write, so that a test can kill the process at each of them. In production nothing is armed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = (
    "write:before-objects",
    "write:blob",
    "write:tree",
    "write:commit",
    "write:before-sync",
    "write:after-sync",
    "publish:before-lock",
    "publish:locked",
    "publish:ref-locked",
    "publish:compared",
    "publish:ref-set",
    "publish:done",
    "create:files",
    "create:before-rename",
    "create:renamed",
)

_armed: Callable[[str], None] | None = None


def arm(reached: Callable[[str], None] | None) -> None:
    """Call `reached` with the name of every moment that passes; None disarms."""
    global _armed  # noqa: PLW0603 - one process, one test that kills it
    _armed = reached


def reach(name: str) -> None:
    """The moment `name` passes now."""
    if _armed is not None:
        _armed(name)
