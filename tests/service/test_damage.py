"""P10: one entry file is damaged. The others are served, the bad one is named, and only `doctor --fix` rewrites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store.builders import cli, published, texts

from noforgetti.service import writes
from noforgetti.service.health.examining import examine
from noforgetti.service.health.gitprogram import fsck
from noforgetti.service.health.mending import mend
from noforgetti.service.views import show_view, status_view
from noforgetti.store.base import PutFile

if TYPE_CHECKING:
    from noforgetti.model.entry import CommitId
    from noforgetti.service.memory import Memory

DAMAGES = [
    (b"Use tabs.\n\x00\x93\x01\xfe\x00\x17", "is not UTF-8 at byte 11"),
    (b"---\npinned: y", "has front matter without an end"),
    (b"Use \xe9 tabs.", "is not UTF-8 at byte 4"),
    (b"", "has no text"),
    (bytes(512), "holds a NUL character"),
    (b"---\nx: y\n---\n\n\n", "has no text"),
]
WHOLE = "Sort imports by module."


def damaged(memory: Memory, data: bytes) -> tuple[str, CommitId]:
    """Two entries, of which one is then damaged by hand; its path, and the head."""
    writes.add(memory, "main", WHOLE)
    added = writes.add(memory, "main", "Use tabs.").entry
    assert added is not None
    path = f"lessons/{added.id}.md"
    return path, published(memory.store, PutFile(path, data))


@pytest.mark.parametrize(("data", "reason"), DAMAGES)
def test_the_others_are_served_and_the_bad_one_is_named(memory: Memory, data: bytes, reason: str) -> None:
    path, head = damaged(memory, data)

    shown = show_view("main", memory.snapshot("main"))

    assert [one["text"] for one in shown["entries"]] == [WHOLE]
    assert shown["damaged"] == [{"path": path, "reason": reason}]
    assert status_view(memory, "main")["degraded"] == [f"`{path}` {reason}"]
    found = [one for one in examine(memory) if one.level == "error"]
    assert [(one.what, one.mendable) for one in found] == [(f"branch `main`: `{path}` {reason}", True)]
    assert memory.head("main") == head


@pytest.mark.parametrize(("data", "reason"), DAMAGES)
def test_mending_restores_the_entry_and_keeps_the_damaged_bytes(memory: Memory, data: bytes, reason: str) -> None:
    path, head = damaged(memory, data)

    done = mend(memory)

    assert [one.level for one in done] == ["ok"]
    assert path in done[0].what
    assert texts(memory.snapshot("main")) == [WHOLE, "Use tabs."]
    assert memory.store.read_file(head, path) == data
    assert mend(memory) == []
    assert fsck(memory) == (True, "")


def test_a_write_beside_a_damaged_entry_leaves_it_as_it_is(memory: Memory) -> None:
    path, head = damaged(memory, b"Use \xe9 tabs.")

    writes.add(memory, "main", "Run the linter before each commit.")

    assert memory.snapshot("main").files[path] == memory.store.snapshot(head).files[path]


def test_a_damaged_entry_can_be_removed_by_its_path(memory: Memory) -> None:
    path, _ = damaged(memory, b"")

    assert writes.remove(memory, "main", path).outcome == "removed"

    assert memory.snapshot("main").damaged == ()


def test_doctor_ends_with_status_1_until_it_has_mended(memory: Memory) -> None:
    path, _ = damaged(memory, b"")

    assert path in cli(memory, "doctor", status=1).stdout
    cli(memory, "doctor", "--fix")
    cli(memory, "doctor")
