"""A project with a home of its own, where servers run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .client import Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(project: Path, home: Path) -> Place:
    """Nothing is written yet."""
    return Place(project, home, {})
