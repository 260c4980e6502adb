"""Fixtures that every part may use: a real git project and its memory, away from the user's home."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from store.builders import Clock, made_project, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from noforgetti.service.memory import Memory


def pytest_configure() -> None:
    """Programs that tests start heed an interrupt, also where a shell's background job was told to ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def clock() -> Clock:
    """A clock that stands at 2026-12-01T12:00:00Z until a test moves it."""
    return Clock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """What NOFORGETTI_HOME would name."""
    return tmp_path.resolve() / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A real git project without commits."""
    return made_project(tmp_path.resolve() / "project")


@pytest.fixture
def memory(project: Path, home: Path, clock: Clock) -> Iterator[Memory]:
    """The memory of `project`; nothing is written yet."""
    made = opened(project, home, clock)
    yield made
    made.close()
