"""History in the terms of entries, whoever made the commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store.builders import Clock, git

from noforgetti.service import writes
from noforgetti.service.history import between, blame, log, resolve
from noforgetti.store.base import UnknownRevision

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.model.entry import CommitId
    from noforgetti.service.memory import Memory

DAY = 86_400


@pytest.fixture
def commits(memory: Memory, clock: Clock) -> list[CommitId]:
    """Three writes, a day apart, oldest first."""
    found = []
    for text in ("Use tabs.", "Sort imports by module.", "Run the linter before each commit."):
        done = writes.add(memory, "main", text)
        assert done.commit is not None
        found.append(done.commit)
        clock.tick(DAY)
    return found


NAMED = [
    ("HEAD", 2), ("@", 2), ("main", 2), ("HEAD^", 1), ("HEAD~1", 1), ("HEAD~", 1), ("HEAD^^", 0), ("main~1^", 0),
    ("2026-12-01", 0), ("2026-12-02T12:00Z", 1), ("2026-12-02 11:59", 0), ("2030-01-01", 2), ("HEAD~0", 2),
]  # fmt: skip


@pytest.mark.parametrize(("revision", "index"), NAMED)
def test_a_revision_names_a_commit(memory: Memory, commits: list[CommitId], revision: str, index: int) -> None:
    assert resolve(memory, "main", revision) == commits[index]


def test_the_beginning_of_an_id_names_its_commit(memory: Memory, commits: list[CommitId]) -> None:
    assert resolve(memory, "main", commits[1][:10]) == commits[1]
    assert resolve(memory, "main", commits[1][:10].upper() + "^") == commits[0]


@pytest.mark.parametrize(
    "revision", ["", "nothing", "HEAD~3", "HEAD^^^", "2020-01-01", "abcd", "-x", "HEAD:lessons", "\0"]
)
def test_what_names_no_commit_is_refused(memory: Memory, commits: list[CommitId], revision: str) -> None:
    with pytest.raises(UnknownRevision):
        resolve(memory, "main", revision)


def test_a_commit_made_by_hand_shows_up_like_ours(memory: Memory, commits: list[CommitId], tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", memory.path, "clone")
    (tmp_path / "clone/lessons/by-hand.md").write_text("Written with an editor.\n", encoding="utf-8")
    git(tmp_path / "clone", "add", "-A")
    git(tmp_path / "clone", "commit", "-q", "-m", "by hand")
    git(tmp_path / "clone", "push", "-q", "origin", "main")

    newest, *older = log(memory, "main")

    assert (newest.commit.kind, newest.commit.subject, newest.commit.author.name) == ("other", "by hand", "somebody")
    assert [(one.sign, one.id, one.entry.text) for one in newest.changes] == [
        ("+", "by-hand", "Written with an editor.")
    ]
    assert [one.commit.id for one in older] == commits[::-1]
    assert {entry.id: commit.id for entry, commit in blame(memory, "main", "by-hand")} == {"by-hand": newest.commit.id}


def test_the_difference_of_two_commits_is_told_by_entry(memory: Memory, commits: list[CommitId]) -> None:
    assert [(one.sign, one.entry.text) for one in between(memory, commits[0], commits[1])] == [
        ("+", "Sort imports by module.")
    ]
    assert [one.sign for one in between(memory, commits[1], commits[0])] == ["-"]
    assert between(memory, commits[1], commits[1]) == ()
