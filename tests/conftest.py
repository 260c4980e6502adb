"""Fixtures that every part may use: a real git project and its memory, away from the user's home."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from store.builders import Clock, made_project, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from noforgetti.service.memory import Memory


def pytest_configure() -> None:
    """A busy machine and a shell's background job, which is told to ignore interrupts, change no result."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Time is measured by benchmarks, not by tests: a busy machine is slow.
    settings.register_profile("noforgetti", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("noforgetti")


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
