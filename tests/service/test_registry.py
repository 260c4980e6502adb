"""P1: one folder is one memory under every spelling, and a moved project finds its memory again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from store.builders import made_project, opened, texts

from noforgetti.service import writes
from noforgetti.service.memory import open_memory
from noforgetti.service.registry import NotRelinked, known, orphans, relink
from noforgetti.service.views import status_view

if TYPE_CHECKING:
    from pathlib import Path


def test_every_spelling_of_a_folder_is_one_memory(project: Path, home: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(project)
    (project / "src").mkdir()
    spellings = [str(project), str(link), f"{project}/src/..", f"{project}/", f"{link}/src"]

    keys = set()
    for number, spelling in enumerate(spellings):
        memory = open_memory(spelling, {"NOFORGETTI_HOME": str(home)})
        writes.add(memory, "main", f"Fact {number} holds.")
        keys.add(status_view(memory, "main")["project"]["key"])
        memory.close()

    assert len(keys) == 1
    assert os.listdir(home / "data/projects") == [os.path.basename(memory.path)]
    assert texts(memory.twin().snapshot("main")) == [f"Fact {number} holds." for number in range(5)]


def test_a_moved_project_is_told_of_its_memory_and_relinks_it(project: Path, home: Path, tmp_path: Path) -> None:
    old = opened(project, home)
    writes.add(old, "main", "Use tabs.")
    old.close()
    project.rename(tmp_path.resolve() / "moved")
    new = opened(tmp_path / "moved", home)
    key = old.project.key
    assert any(f"relink {key}" in note for note in status_view(new, "main")["notes"])
    assert [one.key for one in orphans(new.places)] == [key]

    relink(new, key)

    assert texts(new.snapshot("main")) == ["Use tabs."]
    assert [(one.path, one.root) for one in known(new.places)] == [(new.path, new.project.root)]


def test_a_memory_whose_project_is_there_is_not_relinked(project: Path, home: Path, tmp_path: Path) -> None:
    old = opened(project, home)
    writes.add(old, "main", "Use tabs.")
    other = opened(made_project(tmp_path / "other"), home)

    with pytest.raises(NotRelinked, match="which is still there"):
        relink(other, old.project.key)

    assert texts(old.twin().snapshot("main")) == ["Use tabs."]
