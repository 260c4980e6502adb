"""After a power cut: files of the newest write are missing, empty, zeroed or torn."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from noforgetti.service import branches, writes
from noforgetti.service.health.examining import examine
from noforgetti.service.health.mending import mend
from noforgetti.service.views import status_view
from noforgetti.store.base import Unreadable
from noforgetti.store.git import Store

from .builders import entry, fsck, git, loose_path, new_store, published, texts, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.model.entry import CommitId
    from noforgetti.service.memory import Memory

FIRST, SECOND, THIRD = "Use tabs.", "Sort imports by module.", "Run the linter before each commit."


def torn(path: Path) -> None:
    data = path.read_bytes()
    replaced(path, data[: len(data) // 2])


def zeroed(path: Path) -> None:
    replaced(path, bytes(path.stat().st_size))


def empty(path: Path) -> None:
    replaced(path, b"")


def missing(path: Path) -> None:
    path.unlink()


def replaced(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)


DAMAGES = [torn, zeroed, empty, missing]


@pytest.fixture
def written_twice(memory: Memory) -> tuple[CommitId, CommitId]:
    """The two commits of `main`; a branch `other` stands at the first."""
    first = writes.add(memory, "main", FIRST).commit
    branches.fork(memory, "main", "other")
    second = writes.add(memory, "main", SECOND).commit
    memory.close()
    assert first is not None
    assert second is not None
    return first, second


def lose_log(memory: Memory) -> None:
    """The power cut took the object log too (or it began anew just before)."""
    log = Path(memory.path) / "objects.log"
    log.unlink(missing_ok=True)


def object_of(memory: Memory, name: str) -> Path:
    return loose_path(memory.path, git(memory.path, "rev-parse", name))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("what", ["main", "main^{tree}", "main:lessons"])
def test_the_newest_commit_that_reads_is_served(
    memory: Memory, written_twice: tuple[CommitId, CommitId], damage: Callable[[Path], None], what: str
) -> None:
    first, second = written_twice
    damage(object_of(memory, what))
    lose_log(memory)

    now = memory.snapshot("main")

    assert (now.commit, texts(now)) == (first, [FIRST])
    assert [one["text"] for one in status_view(memory, "main")["traces"]] == [
        f"branch `main` named {second[:12]}, which cannot be read; it was taken back to {first[:12]}"
    ]
    assert memory.heads() == {"main": first, "other": first}
    assert writes.add(memory, "main", THIRD).outcome == "added"
    assert texts(memory.twin().snapshot("main")) == [THIRD, FIRST]
    assert texts(memory.twin().snapshot("other")) == [FIRST]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("what", ["main", "main^{tree}", "main:lessons"])
def test_the_object_log_brings_the_newest_commit_back_whole(
    memory: Memory, written_twice: tuple[CommitId, CommitId], damage: Callable[[Path], None], what: str
) -> None:
    _, second = written_twice
    damage(object_of(memory, what))

    now = memory.snapshot("main")

    assert (now.commit, texts(now)) == (second, [SECOND, FIRST])
    assert fsck(memory.path) == ""
    assert len(status_view(memory, "main")["traces"]) == 1


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("what", ["main", "main^{tree}", "main:lessons", "blob"])
def test_a_memory_opened_after_a_restart_of_the_machine_is_healed_at_once(
    memory: Memory, written_twice: tuple[CommitId, CommitId], damage: Callable[[Path], None], what: str
) -> None:
    blob = git(memory.path, "diff-tree", "-r", "main~1", "main").split()[3]
    log = Path(memory.path) / "objects.log"
    head, _, rest = log.read_bytes().partition(b"\n")
    log.write_bytes(head[:-4] + b"past\n" + rest)
    damage(loose_path(memory.path, blob) if what == "blob" else object_of(memory, what))

    store = Store(memory.path)

    assert fsck(memory.path) == ""
    assert (store.head("main"), texts(store.snapshot(store.head("main")))) == (written_twice[1], [SECOND, FIRST])
    assert len(store.traces) == 1
    assert not Store(memory.path).traces
    store.close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_lost_entry_is_named_and_the_others_are_served(
    memory: Memory, written_twice: tuple[CommitId, CommitId], damage: Callable[[Path], None]
) -> None:
    path, blob = git(memory.path, "diff-tree", "-r", "main~1", "main").split()[5::-2][:2]
    damage(loose_path(memory.path, blob))
    lose_log(memory)

    now = memory.snapshot("main")

    assert (now.commit, texts(now)) == (written_twice[1], [FIRST])
    assert [(one.path, one.reason) for one in now.damaged] == [(path, "has a missing or damaged object")]
    assert status_view(memory, "main")["degraded"] == [f"`{path}` has a missing or damaged object"]
    assert writes.add(memory, "main", THIRD).outcome == "added"
    assert texts(memory.twin().snapshot("main")) == [THIRD, FIRST]


@pytest.mark.parametrize("damage", [torn, zeroed, empty])
def test_an_identical_object_that_is_written_again_is_healed(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    store = new_store(tmp_path)
    first = published(store, entry(FIRST))
    blob = store.snapshot(first).files["lessons/use.md"]
    store.close()
    damage(loose_path(store.path, blob))
    (Path(store.path) / "objects.log").unlink()

    again = Store(store.path)
    written(again, first, entry(FIRST))

    assert fsck(store.path) == ""
    assert texts(again.snapshot(first)) == [FIRST]
    again.close()


@pytest.mark.parametrize(
    "content", [b"", bytes(41), b"abc\n", b"\xff" * 41], ids=["empty", "zeroed", "short", "binary"]
)
def test_a_torn_ref_goes_back_along_the_reflog(
    memory: Memory, written_twice: tuple[CommitId, CommitId], content: bytes
) -> None:
    (Path(memory.path) / "refs/heads/main").write_bytes(content)

    now = memory.snapshot("main")

    assert (now.commit, texts(now)) == (written_twice[1], [SECOND, FIRST])
    assert [one["text"] for one in status_view(memory, "main")["traces"]] == [
        f"branch `main` named an unreadable ref, which cannot be read; it was taken back to {written_twice[1][:12]}"
    ]
    assert writes.add(memory, "main", THIRD).outcome == "added"
    assert fsck(memory.path) == ""


def test_a_torn_line_of_the_reflog_is_skipped(memory: Memory, written_twice: tuple[CommitId, CommitId]) -> None:
    log = Path(memory.path) / "logs/refs/heads/main"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(lines[0] + lines[1][:60] + bytes(40))
    (Path(memory.path) / "refs/heads/main").write_bytes(b"")

    assert memory.snapshot("main").commit == written_twice[0]


def test_a_branch_without_any_way_back_is_reported_and_left_alone(
    memory: Memory, written_twice: tuple[CommitId, CommitId]
) -> None:
    ref = Path(memory.path) / "refs/heads/main"
    ref.write_bytes(b"")
    (Path(memory.path) / "logs/refs/heads/main").unlink()

    with pytest.raises(Unreadable) as caught:
        memory.snapshot("main")

    assert str(caught.value) == (
        "The head of memory branch `main` cannot be read and no earlier commit is left. Nothing was changed."
    )
    assert ref.read_bytes() == b""
    assert texts(memory.snapshot("other")) == [FIRST]


def test_looking_changes_nothing_and_mending_goes_back(
    memory: Memory, written_twice: tuple[CommitId, CommitId]
) -> None:
    ref = Path(memory.path) / "refs/heads/main"
    ref.write_bytes(b"")

    found = [one for one in examine(memory) if one.level == "error"]

    assert len(found) == 1
    assert found[0].what.startswith("branch `main`: `refs/heads/main` of the memory cannot be read")
    assert found[0].mendable
    assert ref.read_bytes() == b""
    done = mend(memory)
    assert [one.level for one in done] == ["ok"]
    assert ref.read_text().strip() == written_twice[1]
    assert [one for one in examine(memory) if one.level == "error"] == []


def test_a_repository_that_git_cannot_open_is_named(memory: Memory, written_twice: tuple[CommitId, CommitId]) -> None:
    os.unlink(os.path.join(memory.path, "config"))
    (Path(memory.path) / "config").write_bytes(b"[core\n\0")

    with pytest.raises(Unreadable, match="is not a readable git repository"):
        memory.twin().snapshot("main")

    assert [one.level for one in examine(memory.twin())] == ["error"]
