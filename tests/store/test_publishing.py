"""Publishing is a compare-and-swap: on the expected head, or not at all."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from noforgetti.model.commit import Author, CommitKind
from noforgetti.model.entry import CommitId
from noforgetti.service import branches, writes
from noforgetti.store.base import BranchExists, Conflict, Drop, PutFile, UnknownBranch
from noforgetti.store.git import Store

from .builders import NOW, STAMP, bytes_of, entry, fsck, git, message, new_store, opened, published, texts, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noforgetti.service.memory import Memory


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A fresh repository without commits."""
    made = new_store(tmp_path)
    yield made
    made.close()


def test_publishing_on_a_stale_head_changes_nothing(store: Store) -> None:
    first = published(store, entry("Use tabs."))
    second = published(store, entry("Sort imports."))
    late = written(store, first, entry("Run the linter."))
    before = bytes_of(Path(store.path) / "refs"), bytes_of(Path(store.path) / "logs")

    with pytest.raises(Conflict) as caught:
        store.publish("main", late, first)

    assert (caught.value.branch, caught.value.expected, caught.value.actual) == ("main", first, second)
    assert str(caught.value) == (
        f"Branch `main` moved from {first[:12]} to {second[:12]} while this change was made. Nothing was written."
    )
    assert (bytes_of(Path(store.path) / "refs"), bytes_of(Path(store.path) / "logs")) == before


def test_the_same_change_is_published_once(store: Store) -> None:
    first = published(store, entry("Use tabs."))
    second = written(store, first, entry("Sort imports."))
    store.publish("main", second, first)

    with pytest.raises(Conflict):
        store.publish("main", second, first)

    assert store.head("main") == second


def test_a_branch_is_created_and_never_overwritten(store: Store) -> None:
    first = published(store, entry("Use tabs."))
    other = written(store, first, entry("Sort imports."))

    with pytest.raises(Conflict) as caught:
        store.publish("main", other, None)

    assert caught.value.actual == first
    assert store.heads() == {"main": first}


@pytest.mark.parametrize("name", ["Experiment", "EXPERIMENT", "experimenT"])
def test_a_branch_that_differs_by_case_only_is_not_created(store: Store, name: str) -> None:
    first = published(store, entry("Use tabs."), branch="experiment")

    with pytest.raises(BranchExists) as caught:
        store.publish(name, first, None)

    assert str(caught.value) == f"Memory branch `{name}` differs from `experiment` only by case. Nothing was written."
    assert store.heads() == {"experiment": first}


def test_a_branch_that_is_not_there_is_not_moved(store: Store) -> None:
    first = published(store, entry("Use tabs."))

    with pytest.raises(Conflict) as caught:
        store.publish("other", first, first)

    assert caught.value.actual is None
    assert store.heads() == {"main": first}


def test_of_many_threads_that_publish_on_one_head_one_wins(store: Store) -> None:
    first = published(store, entry("Use tabs."))

    def attempt(number: int) -> CommitId | None:
        own = Store(store.path)
        new = written(own, first, entry(f"Thread {number} was here.", f"t{number}"))
        try:
            own.publish("main", new, first)
        except Conflict:
            return None
        finally:
            own.close()
        return new

    with ThreadPoolExecutor(8) as pool:
        won = [new for new in pool.map(attempt, range(16)) if new]

    assert won == [store.head("main")]


def test_of_many_threads_that_create_one_branch_one_wins(store: Store) -> None:
    first = published(store, entry("Use tabs."))

    def attempt(number: int) -> bool:
        own = Store(store.path)
        try:
            own.publish("fork" if number % 2 else "Fork", first, None)
        except (Conflict, BranchExists):
            return False
        finally:
            own.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(attempt, range(16))).count(True) == 1

    assert len(store.heads()) == 2


def test_a_deleted_branch_is_not_brought_back_by_a_late_writer(store: Store) -> None:
    first = published(store, entry("Use tabs."), branch="other")
    late = written(store, first, entry("Sort imports."))
    git(store.path, "update-ref", "-d", "refs/heads/other")

    with pytest.raises(Conflict) as caught:
        store.publish("other", late, first)

    assert caught.value.actual is None
    assert store.heads() == {}


def test_a_branch_moved_by_git_is_not_overwritten(store: Store) -> None:
    first = published(store, entry("Use tabs."))
    second = published(store, entry("Sort imports."))
    late = written(store, second, entry("Run the linter."))
    git(store.path, "update-ref", "refs/heads/main", first)

    with pytest.raises(Conflict) as caught:
        store.publish("main", late, second)

    assert caught.value.actual == first
    assert store.head("main") == first


def test_a_direct_write_plans_again_on_a_head_that_git_moved(memory: Memory) -> None:
    writes.add(memory, "main", "Use tabs.")
    writes.add(memory, "main", "Sort imports by module.")
    memory.snapshot("main")
    git(memory.path, "update-ref", "refs/heads/main", "main~1")

    assert writes.add(memory, "main", "Run the linter.").outcome == "added"

    assert texts(memory.snapshot("main")) == ["Run the linter.", "Use tabs."]


def test_a_write_to_a_branch_that_was_deleted_under_us_is_refused(memory: Memory) -> None:
    writes.add(memory, "main", "Use tabs.")
    branches.fork(memory, "main", "other")
    memory.snapshot("other")
    git(memory.path, "branch", "-D", "other")

    with pytest.raises(UnknownBranch, match="There is no memory branch `other`"):
        writes.add(memory, "other", "Sort imports.")

    assert list(memory.heads()) == ["main"]


PACKINGS = [["pack-refs", "--all"], ["gc", "-q"], ["repack", "-a", "-d", "-q"], ["gc", "-q", "--aggressive"]]


@pytest.mark.parametrize("words", PACKINGS, ids=" ".join)
def test_an_open_store_reads_and_writes_on_after_git_packed(store: Store, words: list[str]) -> None:
    first = published(store, entry("Use tabs."))
    published(store, entry("Use tabs."), branch="other")
    git(store.path, *words)

    assert store.head("main") == first
    assert set(store.heads()) == {"main", "other"}
    second = published(store, entry("Sort imports."))
    git(store.path, *words)
    third = published(store, Drop("lessons/sort.md"))

    assert [one.id for one in store.walk(store.head("main"))] == [third, second, first]
    assert texts(store.snapshot(third)) == ["Use tabs."]
    assert fsck(store.path) == ""


def test_a_packed_branch_is_deleted_for_good(store: Store) -> None:
    first = published(store, entry("Use tabs."), branch="other")
    git(store.path, "pack-refs", "--all")

    store.delete("other", first)

    assert store.heads() == {}
    assert git(store.path, "for-each-ref") == ""
    store.publish("other", first, None)
    assert store.head("other") == first


def test_a_branch_that_moved_is_not_deleted(store: Store) -> None:
    first = published(store, entry("Use tabs."))
    second = published(store, entry("Sort imports."))

    with pytest.raises(Conflict):
        store.delete("main", first)

    assert store.head("main") == second


def test_a_lock_file_of_a_living_git_is_waited_for(store: Store) -> None:
    first = published(store, entry("Use tabs."))
    second = written(store, first, entry("Sort imports."))
    lock = Path(store.path) / "refs/heads/main.lock"
    lock.touch()
    timer = threading.Timer(0.3, lock.unlink)
    start = time.monotonic()
    timer.start()

    store.publish("main", second, first)

    assert time.monotonic() - start >= 0.3
    assert store.head("main") == second
    assert store.traces == []


def test_plain_git_pushes_into_a_memory_and_only_forward(project: Path, home: Path, tmp_path: Path) -> None:
    memory = opened(project, home)
    writes.add(memory, "main", "Use tabs.")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", memory.path, str(clone))
    (clone / "lessons" / "by-hand.md").write_text("Written with an editor.\n", encoding="utf-8")
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "by hand")
    git(clone, "push", "-q", "origin", "main")

    assert texts(memory.snapshot("main")) == ["Use tabs.", "Written with an editor."]
    git(clone, "commit", "-q", "--amend", "-m", "rewritten")
    with pytest.raises(AssertionError, match="denying non-fast-forward"):
        git(clone, "push", "-q", "--force", "origin", "main")
    assert memory.store.commit(memory.head("main") or CommitId("")).subject == "by hand"


COMMIT = """\
tree {tree}
parent {parent}
author user <user@noforgetti> 1796126400 +0000
committer user <user@noforgetti> 1796126400 +0000

add: Sort imports by module.

+ sort-imports-by-module-{tail}
  + Sort imports by module.

Kind: write
Entries: +sort-imports-by-module-{tail}
Session: s-1
"""


def test_a_commit_is_what_git_expects_to_the_byte(memory: Memory) -> None:
    first = writes.add(memory, "main", "Use tabs.")
    second = writes.add(memory, "main", "Sort imports by module.", session="s-1")
    assert second.entry is not None

    raw = git(memory.path, "cat-file", "commit", "main") + "\n"

    tail, tree = second.entry.id[-4:], git(memory.path, "rev-parse", "main^{tree}")
    assert raw == COMMIT.format(tree=tree, parent=first.commit, tail=tail)
    body = git(memory.path, "log", "-1", "--format=%B", "main")
    assert git(memory.path, "interpret-trailers", "--parse", stdin=body.encode()).splitlines() == [
        "Kind: write",
        f"Entries: +{second.entry.id}",
        "Session: s-1",
    ]
    read = memory.store.commit(CommitId(git(memory.path, "rev-parse", "main")))
    assert (read.kind, read.time, read.author) == (CommitKind.WRITE, STAMP, Author("user", "user@noforgetti"))


def test_the_reflog_names_every_move(store: Store) -> None:
    first = published(store, entry("Use tabs."), said=message("add: Use tabs."))
    second = written(store, first, entry("Sort imports."))
    store.publish("main", second, first, reason="add: Sort imports.")

    assert git(store.path, "log", "-g", "--format=%H %gs", "main").splitlines() == [
        f"{second} add: Sort imports.",
        f"{first} publish",
    ]


def test_files_that_are_no_entries_stay_as_they_are(store: Store) -> None:
    first = published(store, PutFile("skills/deploy/SKILL.md", b"\xff\0anything"), PutFile("notes.txt", b"mine"))
    second = published(store, entry("Use tabs."), at=NOW + 1)

    assert set(store.snapshot(second).files) == {
        "format", "lessons/use.md", "notes.txt", "skills/deploy/SKILL.md",
    }  # fmt: skip
    for path in ("skills/deploy/SKILL.md", "notes.txt", "format"):
        assert store.snapshot(second).files[path] == store.snapshot(first).files[path]
    assert store.snapshot(second).damaged == ()
