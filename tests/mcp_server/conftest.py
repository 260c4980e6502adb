"""A project with a home of its own, where servers run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from .client import Place, Wire

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Start(Protocol):
    """Starts a server whose pipes the test holds; `words` stand before the command."""

    def __call__(self, *words: str, place: Place | None = None) -> Wire: ...


@pytest.fixture
def place(project: Path, home: Path) -> Place:
    """Nothing is written yet."""
    return Place(project, home, {})


@pytest.fixture
def start(place: Place) -> Iterator[Start]:
    """Servers that are gone when the test is over."""
    wires: list[Wire] = []

    def started(*words: str, place: Place | None = place) -> Wire:
        assert place
        wires.append(Wire(place, *words))
        return wires[-1]

    yield started
    for wire in wires:
        wire.close()
