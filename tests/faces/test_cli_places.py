"""One project under several names, and what one process says to another."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from faces.conftest import CommandLine


def test_what_one_process_reports_as_written_the_next_one_reads(nf: CommandLine) -> None:
    for number in range(5):
        assert nf.process("add", f"Fact number {number}.").status == 0
        assert f"Fact number {number}." in nf.process("show").out
        assert f"Fact number {number}." in nf.process("list").out


@pytest.fixture
def bound(nf: CommandLine, tmp_path: Path) -> Path:
    """The project's folder, mounted a second time. Skips where mounting is not allowed."""
    place = tmp_path / "bound"
    place.mkdir()
    done = subprocess.run(["mount", "--bind", str(nf.project), str(place)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no bind mount here: {done.stderr.strip()}")
    return place


def test_a_bind_mount_of_a_project_has_the_project_memory(nf: CommandLine, bound: Path) -> None:
    try:
        nf("add", "Written in the project.")
        nf("-C", str(bound), "add", "Written through the mount.")

        assert len(nf.json("show")["entries"]) == 2
        assert nf.json("-C", str(bound), "status")["project"]["key"] == nf.json("status")["project"]["key"]
        assert len(list((nf.home / "data" / "projects").glob("*.git"))) == 1
    finally:
        subprocess.run(["umount", str(bound)], check=True)
