"""Fixtures: the tools once a run, a lab per test, and a fake bridge for tests of the extension alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from .fake_bridge import FakeBridge
from .lab import BRIDGE, Lab
from .scripted_model import ScriptedModel
from .toolbox import Tools, ToolsMissingError, required, tools

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class MakeLab(Protocol):
    """Makes the lab of a test."""

    def __call__(self, *, bridge: Sequence[str] = BRIDGE) -> Lab: ...


@pytest.fixture(scope="session")
def pi_tools() -> Tools:
    """Pi and Node, installed on first use; skips where they cannot be had, unless `CI` is set."""
    try:
        return tools()
    except ToolsMissingError as missing:
        if required():
            raise
        pytest.skip(str(missing))


@pytest.fixture
def make_lab(tmp_path: Path, pi_tools: Tools) -> Iterator[MakeLab]:
    """A factory for the lab of this test."""
    with ScriptedModel() as model:

        def make(*, bridge: Sequence[str] = BRIDGE) -> Lab:
            return Lab(tmp_path / "lab", pi_tools, model, bridge)

        yield make


@pytest.fixture
def lab(make_lab: MakeLab) -> Lab:
    """A lab with the real bridge."""
    return make_lab()


@pytest.fixture
def bridge(tmp_path: Path) -> Iterator[FakeBridge]:
    """A scripted bridge that keeps what it hears."""
    with FakeBridge(tmp_path) as fake:
        yield fake


@pytest.fixture
def fake_lab(make_lab: MakeLab, bridge: FakeBridge) -> Lab:
    """A lab whose extension talks to the scripted bridge."""
    return make_lab(bridge=bridge.command)
