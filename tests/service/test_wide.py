"""The user-wide memory: one more repository, which belongs to no project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from store.builders import fsck, git, made_project, opened

from noforgetti.service import registry, writes
from noforgetti.service.branches import KeptBranch, fork
from noforgetti.service.health.examining import examine
from noforgetti.service.memory import open_wide

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.service.memory import Memory

ZONE = "The user's time zone is Europe/Vienna."


def _texts(memory: Memory) -> list[str]:
    return [entry.text for entry in memory.snapshot("main")]


def test_the_user_wide_memory_is_a_repository_of_its_own_made_by_its_first_write(memory: Memory) -> None:
    assert not memory.wide.exists

    done = writes.add(memory.wide, "main", ZONE)

    assert done.outcome == "added"
    assert memory.wide.path == f"{memory.places.data}/user.git"
    assert not memory.exists
    assert fsck(memory.wide.path) == ""
    assert "noforgetti.root" not in git(memory.wide.path, "config", "--list", "--local")
    assert (os.stat(memory.wide.path).st_mode & 0o777) == 0o700


def test_every_project_has_the_same_user_wide_memory(memory: Memory, tmp_path: Path, home: Path) -> None:
    writes.add(memory.wide, "main", ZONE)
    other = opened(made_project(tmp_path / "elsewhere" / "project"), home)

    assert _texts(other.wide) == [ZONE]
    assert _texts(other) == []
    assert other.wide.wide is other.wide
    assert _texts(open_wide({"NOFORGETTI_HOME": str(home)})) == [ZONE]


def test_the_user_wide_memory_counts_against_its_own_limit(memory: Memory) -> None:
    for number in range(8):
        writes.add(memory.wide, "main", f"{number} " + "x" * 700)
    refused = writes.add(memory.wide, "main", "y" * 500)
    assert refused.refusal is not None
    assert refused.refusal.rule == "capacity"
    assert writes.add(memory, "main", "y" * 500).outcome == "added"


def test_nobody_takes_the_user_wide_memory_for_one_without_its_project(memory: Memory) -> None:
    writes.add(memory.wide, "main", ZONE)

    assert registry.orphans(memory.places) == ()
    assert registry.known(memory.places) == ()
    assert [one.level for one in examine(memory.wide) if one.level in ("warning", "error")] == []


def test_the_user_wide_memory_has_one_branch(memory: Memory) -> None:
    writes.add(memory.wide, "main", ZONE)
    with pytest.raises(KeptBranch, match="has one branch"):
        fork(memory.wide, "main", "experiment")


def test_the_user_wide_memory_takes_over_no_projects_memory(memory: Memory, project: Path) -> None:
    writes.add(memory, "main", "Run make check first.")
    project.rename(project.with_name("gone"))
    with pytest.raises(registry.NotRelinked, match="belongs to no project"):
        registry.relink(memory.wide, memory.project.key)
