"""A memory repository is there whole or not at all, and it is the user's alone."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from noforgetti.service import writes
from noforgetti.store.base import Unwritable
from noforgetti.store.create import create, read_root, write_root
from noforgetti.store.git import Store

from .builders import bytes_of, entry, fsck, git, published

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noforgetti.service.memory import Memory

SETTINGS = {
    "core.bare": "true",
    "core.hookspath": "/dev/null",
    "core.logallrefupdates": "always",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "noforgetti.format": "1",
    "receive.autogc": "false",
    "receive.denynonfastforwards": "true",
    "receive.fsckobjects": "true",
    "user.email": "noforgetti@localhost",
    "user.name": "noforgetti",
}


@pytest.fixture
def lax_umask() -> Iterator[None]:
    """A user who lets everybody read and write everything."""
    old = os.umask(0)
    yield
    os.umask(old)


def settings_of(repository: str) -> dict[str, str]:
    lines = git(repository, "config", "--file", f"{repository}/config", "--list").splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_a_new_repository_is_one_that_git_accepts(tmp_path: Path) -> None:
    path = str(tmp_path / "projects" / "p.git")
    create(path, "/home/me/p")

    assert fsck(path) == ""
    assert settings_of(path).items() >= {**SETTINGS, "noforgetti.root": "/home/me/p"}.items()
    assert read_root(path) == "/home/me/p"
    assert (Path(path) / "description").read_text() == "noforgetti memory of /home/me/p\n"
    assert "ordinary bare git repository" in (Path(path) / "README").read_text()
    assert git(path, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert not (Path(path) / "hooks").exists()
    assert os.listdir(os.path.dirname(path)) == ["p.git"]


@pytest.mark.usefixtures("lax_umask")
def test_everything_in_a_memory_is_the_users_alone_whatever_the_umask(memory: Memory, home: Path) -> None:
    writes.add(memory, "main", "Use tabs.")
    writes.add(memory, "main", "Sort imports by module.")
    memory.state.trace("note", "something")
    memory.select(memory.current())

    open_to_others = {
        str(path.relative_to(home)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in [home, *home.rglob("*")]
        if path.stat().st_mode & 0o077
    }
    assert open_to_others == {}


def test_creating_what_is_there_changes_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "p.git")
    create(path, "/home/me/p")
    store = Store(path)
    published(store, entry("Use tabs."))
    store.close()
    before = bytes_of(tmp_path)

    create(path, "/somewhere/else")

    assert bytes_of(tmp_path) == before


def test_of_many_creators_each_finds_one_whole_repository(tmp_path: Path) -> None:
    path = str(tmp_path / "p.git")

    def attempt(_: int) -> bool:
        create(path, "/home/me/p")
        return read_root(path) == "/home/me/p"

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(attempt, range(16))) == [True] * 16

    assert os.listdir(tmp_path) == ["p.git"]
    assert fsck(path) == ""


def test_a_place_that_takes_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "projects").write_text("a file is in the way")

    with pytest.raises(Unwritable) as caught:
        create(str(tmp_path / "projects" / "p.git"), "/home/me/p")

    assert str(tmp_path / "projects") in str(caught.value)
    assert str(caught.value).endswith("Nothing was changed.")


def test_a_file_in_the_repositorys_place_is_kept(tmp_path: Path) -> None:
    (tmp_path / "p.git").write_text("mine")

    with pytest.raises(Unwritable):
        create(str(tmp_path / "p.git"), "/home/me/p")

    assert bytes_of(tmp_path) == {"p.git": b"mine"}


def test_a_root_that_is_no_unicode_is_kept_readable(tmp_path: Path) -> None:
    path = str(tmp_path / "p.git")
    create(path, os.fsdecode(b"/home/me/caf\xe9"))

    assert read_root(path) == "/home/me/caf\N{REPLACEMENT CHARACTER}"


def test_another_root_is_written_over_the_old_one(tmp_path: Path) -> None:
    path = str(tmp_path / "p.git")
    create(path, "/home/me/p")

    write_root(path, "/home/me/q")

    assert read_root(path) == "/home/me/q"
    assert (Path(path) / "description").read_text() == "noforgetti memory of /home/me/q\n"


@pytest.mark.parametrize("content", [None, b"", b"\xff\0 no config"])
def test_what_is_no_repository_has_no_root(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "config").write_bytes(content)

    assert read_root(str(tmp_path)) is None
