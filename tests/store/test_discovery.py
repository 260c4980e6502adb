"""Discovery against real repositories in temporary folders."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from noforgetti.errors import Kind
from noforgetti.store.discovery import (
    Disk,
    MissingFolder,
    Project,
    UnreadableFolder,
    discover,
    readable_name,
    same_folder,
    spelled_on_disk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).resolve().parents[2]


def git(folder: Path, *words: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    settings = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    options = ["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *options, *words], cwd=folder, env={**kept, **settings}, capture_output=True)
    assert done.returncode == 0, done.stderr


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def repository(folder: Path, *options: str) -> Path:
    git(made(folder), "init", *options)
    git(folder, "commit", "--allow-empty", "-m", "first")
    return folder


def worktree(main: Path, at: Path) -> Path:
    git(main, "worktree", "add", "--detach", str(at))
    return at


def submodule(superproject: Path, source: Path, name: str) -> Path:
    git(superproject, "submodule", "add", str(source), name)
    git(superproject, "commit", "-m", f"add {name}")
    return superproject / name


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A temporary folder by its resolved name."""
    return tmp_path.resolve()


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder while this process has no right to look past permissions."""
    with tempfile.TemporaryDirectory() as made_here:
        folder = Path(made_here).resolve()
        folder.chmod(0o777)
        was = os.geteuid()
        if was == 0:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(was)
            for below, folders, _ in os.walk(folder):
                for name in folders:
                    (Path(below) / name).chmod(0o700)


# The root


def test_a_folder_below_a_repository_belongs_to_its_root(here: Path) -> None:
    root = repository(here / "p")
    deep = made(root / "src" / "deep")

    assert discover(str(deep)) == Project(str(root), kind="git")


def test_without_git_the_exact_launch_folder_is_the_project(here: Path) -> None:
    deep = made(here / "notes" / "today")

    assert discover(str(deep)) == Project(str(deep), kind="folder")


def test_the_nearest_of_two_nested_repositories_wins(here: Path) -> None:
    inner = repository(repository(here / "outer") / "inner")

    assert discover(str(inner)).root == str(inner)


def test_every_spelling_of_a_folder_gives_one_project(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(here / "real" / "p")
    made(root / "sub")
    (here / "link").symlink_to(here / "real")
    (here / "to-sub").symlink_to(root / "sub")
    monkeypatch.chdir(root / "sub")
    spellings = [
        str(root),
        f"{root}/",
        f"{root}//sub/../.",
        f"{here}/link/p",
        f"{here}/link/p/sub/",
        f"{here}/to-sub",
        f"{here}/to-sub/..",
        ".",
        "..",
        "../sub",
    ]

    assert {discover(spelling) for spelling in spellings} == {Project(str(root), kind="git")}


def test_git_variables_of_the_environment_are_not_read(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, other = repository(here / "p"), repository(here / "other")
    below = made(root / "sub")
    for name in ("GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root))

    assert discover(str(below)).root == str(root)


def test_nothing_is_written_into_the_project(here: Path) -> None:
    root = repository(here / "p")
    before = sorted((str(p), p.lstat().st_mtime_ns) for p in here.rglob("*"))

    discover(str(root), worktrees="shared", submodules="shared")

    assert sorted((str(p), p.lstat().st_mtime_ns) for p in here.rglob("*")) == before


# What counts as `.git`


@pytest.mark.parametrize("litter", [[], [".DS_Store"], ["Thumbs.db", "desktop.ini"]])
def test_a_stray_git_folder_is_no_root(here: Path, litter: list[str]) -> None:
    stray = made(here / "notes" / ".git").parent
    for name in litter:
        (stray / ".git" / name).touch()
    below = made(stray / "today")

    assert discover(str(below)) == Project(str(below), kind="folder")


def test_a_stray_git_folder_does_not_hide_the_repository_above(here: Path) -> None:
    root = repository(here / "p")
    made(root / "sub" / ".git")

    assert discover(str(root / "sub")).root == str(root)


@pytest.mark.parametrize("left", ["HEAD", "config", "something"])
def test_a_broken_git_folder_still_is_a_root(here: Path, left: str) -> None:
    root = made(here / "p" / ".git").parent
    (root / ".git" / left).write_bytes(b"\x00broken")

    assert discover(str(made(root / "src"))) == Project(str(root), kind="git")


@pytest.mark.parametrize("sharing", ["separate", "shared"])
@pytest.mark.parametrize(
    "pointer",
    [b"gitdir: /nowhere/.git/worktrees/x\n", b"gitdir:", b"gitdir: \n", b"gitdir: a\0b\n", b"gitdir: \xff\n"],
)
def test_a_git_file_that_points_nowhere_still_is_a_root(here: Path, pointer: bytes, sharing: str) -> None:
    root = made(here / "p")
    (root / ".git").write_bytes(pointer)

    assert discover(str(made(root / "src")), worktrees=sharing, submodules=sharing) == Project(str(root), kind="git")


@pytest.mark.parametrize("content", [b"", b"ignore this folder\n", b"\xff\xfe", b" gitdir: x\n"])
def test_a_file_called_git_without_a_pointer_is_no_root(here: Path, content: bytes) -> None:
    folder = made(here / "p")
    (folder / ".git").write_bytes(content)

    assert discover(str(made(folder / "src"))).root == str(folder / "src")


def test_a_pipe_called_git_is_passed_by_without_waiting(here: Path) -> None:
    folder = made(here / "p")
    os.mkfifo(folder / ".git")

    assert discover(str(folder)).kind == "folder"


def test_a_git_link_counts_whether_or_not_it_leads_somewhere(here: Path) -> None:
    whole, broken = made(here / "whole"), made(here / "broken")
    (whole / ".git").symlink_to(repository(here / "elsewhere") / ".git")
    (broken / ".git").symlink_to(here / "gone")

    assert [discover(str(made(p / "src"))).root for p in (whole, broken)] == [str(whole), str(broken)]


@pytest.mark.parametrize("below", [".git", ".git/hooks", ".git/refs/heads"])
def test_inside_the_git_folder_the_root_is_its_checkout(here: Path, below: str) -> None:
    root = repository(here / "p")

    assert discover(str(root / below)) == Project(str(root), kind="git")


def test_in_a_bare_repository_the_launch_folder_is_the_project(here: Path) -> None:
    git(here, "init", "--bare", "p.git")

    assert discover(str(here / "p.git")) == Project(str(here / "p.git"), kind="folder")
    assert discover(str(here / "p.git" / "refs")).root == str(here / "p.git" / "refs")


@pytest.mark.parametrize("sharing", ["separate", "shared"])
def test_a_separate_git_folder_leaves_the_checkout_the_root(here: Path, sharing: str) -> None:
    root = repository(here / "p", f"--separate-git-dir={here / 'kept.git'}")

    assert discover(str(root), worktrees=sharing, submodules=sharing) == Project(str(root), kind="git")
    assert discover(str(here / "kept.git")).kind == "folder"


# Worktrees


def test_a_linked_worktree_is_its_own_project_and_names_its_main_checkout(here: Path) -> None:
    main = repository(here / "main")
    linked = worktree(main, here / "linked")

    found = discover(str(made(linked / "src")))

    assert (found.root, found.kind, found.worktree_of) == (str(linked), "git", str(main))


def test_a_shared_worktree_has_the_root_of_the_main_checkout(here: Path) -> None:
    main = repository(here / "main")
    inside = worktree(main, main / ".worktrees" / "x")

    found = discover(str(inside), worktrees="shared")

    assert (found.root, found.key, found.checkout) == (str(main), discover(str(main)).key, str(inside))


@pytest.mark.parametrize("layout", ["p.git", "p/.git", "p/.bare"])
def test_worktrees_of_a_bare_repository_share_what_a_walk_finds_there(here: Path, layout: str) -> None:
    source = repository(here / "source")
    bare = here / layout
    git(here, "clone", "--bare", str(source), str(bare))
    expected = bare if layout == "p.git" else bare.parent
    if layout == "p/.bare":
        (bare.parent / ".git").write_text("gitdir: ./.bare\n")
    linked = worktree(bare, here / "p" / "feature")

    assert discover(str(linked), worktrees="shared").root == str(expected) == discover(str(expected)).root


def test_a_worktree_of_a_separate_git_folder_stays_separate(here: Path) -> None:
    main = repository(here / "p", f"--separate-git-dir={here / 'kept.git'}")
    linked = worktree(main, here / "linked")

    found = discover(str(linked), worktrees="shared")

    assert (found.root, found.worktree_of) == (str(linked), None)


@pytest.mark.parametrize(
    "damage", ["main gone", "commondir gone", "commondir empty", "commondir pipe", "gitdir gone", "not named"]
)
def test_a_worktree_with_unreadable_metadata_stays_separate(here: Path, damage: str) -> None:
    main = repository(here / "main")
    linked = worktree(main, here / "linked")
    metadata = main / ".git" / "worktrees" / "linked"
    if damage == "main gone":
        main.rename(here / "moved")
    elif damage == "not named":
        (metadata / "gitdir").write_text(f"{made(here / 'another')}/.git\n")
    elif damage == "commondir pipe":
        (metadata / "commondir").unlink()
        os.mkfifo(metadata / "commondir")
    elif damage == "commondir empty":
        (metadata / "commondir").write_text("")
    else:
        (metadata / damage.removesuffix(" gone")).unlink()

    assert discover(str(linked), worktrees="shared") == Project(str(linked), kind="git")


def test_a_crafted_git_file_cannot_reach_the_memory_of_another_project(here: Path) -> None:
    private = repository(here / "private")
    worktree(private, here / "linked")
    crafted = made(here / "archive")
    (crafted / ".git").write_text(f"gitdir: {private}/.git/worktrees/linked\n")

    assert discover(str(crafted), worktrees="shared", submodules="shared").root == str(crafted)


def test_relative_worktree_pointers_are_followed(here: Path) -> None:
    main = repository(here / "main")
    linked = worktree(main, here / "linked")
    (linked / ".git").write_text("gitdir: ../main/.git/worktrees/linked\n")
    (main / ".git" / "worktrees" / "linked" / "gitdir").write_text("../../../../linked/.git\n")

    assert discover(str(linked), worktrees="shared").root == str(main)


# Submodules


def test_a_submodule_is_its_own_project_and_names_its_superproject(here: Path) -> None:
    top = repository(here / "top")
    sub = submodule(top, repository(here / "lib"), "vendor/lib")
    below = made(sub / "src")

    found = discover(str(below))

    assert (found.root, found.superproject, found.worktree_of) == (str(sub), str(top), None)
    assert discover(str(sub)) == found


def test_shared_submodules_arrive_at_the_outermost_superproject(here: Path) -> None:
    middle = repository(here / "source" / "middle")
    submodule(middle, repository(here / "source" / "leaf"), "leaf")
    top = repository(here / "top")
    submodule(top, middle, "middle")
    git(top, "submodule", "update", "--init", "--recursive")

    found = discover(str(top / "middle" / "leaf"), submodules="shared")

    assert (found.root, found.superproject) == (str(top), str(top / "middle"))
    assert found.checkout == str(top / "middle" / "leaf")


def test_a_submodule_with_a_git_folder_of_its_own_is_known_by_gitmodules(here: Path) -> None:
    top = repository(here / "top")
    sub = repository(top / "my lib; old")
    git(top, "submodule", "add", "./my lib; old")

    assert (sub / ".git").is_dir()
    assert discover(str(sub)).superproject == str(top)


def test_a_nested_repository_that_nobody_registered_has_no_superproject(here: Path) -> None:
    nested = repository(repository(here / "top") / "nested")

    assert discover(str(nested), submodules="shared") == Project(str(nested), kind="git")


@pytest.mark.parametrize("place", ["linked", "top/linked", "top/lib/linked"])
@pytest.mark.parametrize(
    ("worktrees", "submodules", "expected"),
    [
        ("separate", "separate", None),
        ("separate", "shared", None),
        ("shared", "separate", "top/lib"),
        ("shared", "shared", "top"),
    ],
)
def test_a_worktree_of_a_submodule_follows_both_settings(
    here: Path, place: str, worktrees: str, submodules: str, expected: str | None
) -> None:
    sub = submodule(repository(here / "top"), repository(here / "lib"), "lib")
    linked = worktree(sub, here / place)

    found = discover(str(linked), worktrees=worktrees, submodules=submodules)

    assert found.root == str(here / (expected or place))
    assert (found.worktree_of, found.superproject) == (str(sub), None)


def test_a_worktree_setting_kept_per_worktree_is_read_too(here: Path) -> None:
    sub = submodule(repository(here / "top"), repository(here / "lib"), "lib")
    linked = worktree(sub, here / "linked")
    kept = here / "top" / ".git" / "modules" / "lib"
    git(here, "config", "--file", str(kept / "config"), "--unset", "core.worktree")
    git(here, "config", "--file", str(kept / "config.worktree"), "core.worktree", "../../../lib")

    assert discover(str(linked), worktrees="shared").root == str(sub)


def test_a_submodule_stays_one_while_a_branch_does_not_list_it(here: Path) -> None:
    top = repository(here / "top")
    sub = submodule(top, repository(here / "lib"), "lib")
    (top / ".gitmodules").unlink()

    assert discover(str(sub), submodules="shared").root == str(top)


@pytest.mark.parametrize(
    ("worktrees", "expected"), [("separate", "linked"), ("shared", "top")], ids=["separate", "shared"]
)
def test_a_submodule_inside_a_worktree_of_the_superproject_follows_both_settings(
    here: Path, worktrees: str, expected: str
) -> None:
    top = repository(here / "top")
    submodule(top, repository(here / "lib"), "lib")
    linked = worktree(top, here / "linked")
    git(linked, "submodule", "update", "--init")

    found = discover(str(linked / "lib"), worktrees=worktrees, submodules="shared")

    assert (found.root, found.superproject) == (str(here / expected), str(linked))


@pytest.mark.parametrize("setting", ["", "Shared", "none"])
def test_an_unknown_sharing_mode_is_refused(here: Path, setting: str) -> None:
    with pytest.raises(ValueError, match="sharing is one of"):
        discover(str(here), worktrees=setting)
    with pytest.raises(ValueError, match="sharing is one of"):
        discover(str(here), submodules=setting)


# Key and name


def test_the_key_is_the_start_of_the_digest_of_the_root(here: Path) -> None:
    root = repository(here / "My Project")

    found = discover(str(root))

    assert found.key == hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    assert found.repository_name == f"my-project-{found.key}.git"


@pytest.mark.parametrize(
    ("root", "name"),
    [
        ("/home/a/noforgetti", "noforgetti"),
        ("/home/a/My_Project 2.0", "my-project-2-0"),
        ("/home/a/--x--", "x"),
        ("/home/a/Über Straße", "uber-strasse"),
        ("/home/a/项目", "project"),
        ("/home/a/..;rm -rf ~", "rm-rf"),
        ("/home/a/a\nb", "a-b"),
        ("/home/a/\udcff\udcfe", "project"),
        ("/home/a/" + "abc-" * 40, "abc-" * 9 + "abc"),
        ("/", "project"),
    ],
)
def test_the_name_is_a_slug_of_the_last_part(root: str, name: str) -> None:
    assert readable_name(root) == name


def test_roots_with_equal_names_have_different_repositories(here: Path) -> None:
    one, other = made(here / "a" / "p"), made(here / "b" / "p")

    assert discover(str(one)).name == discover(str(other)).name
    assert discover(str(one)).repository_name != discover(str(other)).repository_name


@pytest.mark.parametrize("name", ["a b", "naïve 项目", "two\nlines", "quote'\"`$x", "-rf", "ends.", "\udcff\udc80"])
def test_unusual_names_are_roots_like_any_other(here: Path, name: str) -> None:
    root = repository(here / name)

    found = discover(str(made(root / name)), worktrees="shared", submodules="shared")

    assert (found.root, found.key) == (str(root), hashlib.sha256(os.fsencode(root)).hexdigest()[:16])


@pytest.mark.parametrize("name", ["a b", "naïve 项目", "two\nlines", "\udcff\udc80"])
def test_worktrees_with_unusual_names_are_shared_too(here: Path, name: str) -> None:
    main = repository(here / f"main {name}")

    assert discover(str(worktree(main, here / name)), worktrees="shared").root == str(main)


def test_a_root_four_thousand_characters_deep_is_found(here: Path) -> None:
    root = repository(here / "p")
    deep, was = str(root), os.open(".", os.O_RDONLY)
    try:
        while len(deep) < 4_000 - 60:
            os.makedirs(os.path.join(deep, "d" * 50))
            deep = os.path.join(deep, "d" * 50)
        assert discover(deep).root == str(root)
    finally:
        os.fchdir(was)
        os.close(was)


def test_a_project_does_not_change(here: Path) -> None:
    found = discover(str(here))

    with pytest.raises(AttributeError, match="does not change"):
        found.root = "/elsewhere"


# Letter case


def test_spellings_in_two_letter_cases_are_two_projects_only_where_they_are_two_folders(here: Path) -> None:
    made(here / "Proj")
    ignores_case = (here / "pROJ").exists()
    (here / "pROJ").mkdir(exist_ok=True)

    assert (discover(str(here / "Proj")) == discover(str(here / "pROJ"))) is ignores_case


class Folding(Disk):
    """A volume that ignores letter case below `/Vol`, and lists what it was given."""

    def __init__(self, *folders: str) -> None:
        self.folders = folders
        self.listed: list[str] = []

    def identity(self, path: str) -> tuple[int, int] | None:
        same = [i for i, f in enumerate(self.folders) if f == path or (self._folds(f) and f.lower() == path.lower())]
        return (1, same[0]) if same else None

    def names(self, folder: str) -> list[str]:
        self.listed.append(folder)
        return [os.path.basename(f) for f in self.folders if os.path.dirname(f) == folder]

    def _folds(self, folder: str) -> bool:
        return folder.startswith("/Vol/")


@pytest.mark.parametrize("spelling", ["/Vol/Work/My Proj", "/Vol/work/my proj", "/Vol/WORK/mY pROJ"])
def test_on_a_volume_that_ignores_case_the_spelling_on_disk_wins(spelling: str) -> None:
    disk = Folding("/Vol", "/Vol/Work", "/Vol/Work/My Proj")

    assert spelled_on_disk(spelling, disk) == "/Vol/Work/My Proj"


def test_no_folder_is_listed_where_case_matters() -> None:
    disk = Folding("/home", "/home/Work", "/home/work", "/home/wORK")

    assert spelled_on_disk("/home/Work", disk) == "/home/Work"
    assert disk.listed == []


def test_a_listed_spelling_stays_when_another_name_reaches_the_same_folder() -> None:
    assert spelled_on_disk("/Vol/work", Folding("/Vol", "/Vol/Work", "/Vol/work")) == "/Vol/work"


def test_a_spelling_stays_when_its_folder_cannot_be_listed() -> None:
    disk = Folding("/Vol", "/Vol/Work")
    disk.names = lambda folder: []  # type: ignore[method-assign]

    assert spelled_on_disk("/Vol/work", disk) == "/Vol/work"


def test_two_paths_to_one_folder_are_the_same_folder(here: Path) -> None:
    (here / "link").symlink_to(made(here / "real"))

    assert same_folder(str(here / "real"), str(here / "link"))
    assert not same_folder(str(here / "real"), str(here / "gone"))


# Trouble


@pytest.mark.parametrize("name", ["gone", "file", "file/below", "gone/../here", "loop", "n\0ul", "\ud800", "x" * 300])
def test_a_launch_folder_that_is_none_is_named_in_one_line(here: Path, name: str) -> None:
    made(here / "here")
    (here / "file").touch()
    (here / "loop").symlink_to(here / "loop")

    with pytest.raises(MissingFolder) as caught:
        discover(f"{here}/{name}")

    assert (caught.value.kind, caught.value.reason) == (Kind.USER, "no-such-folder")
    assert caught.value.message.startswith("There is no folder `/")
    assert caught.value.message.isprintable()
    assert "-C DIR" in caught.value.hint


def test_an_empty_launch_folder_is_not_the_current_one() -> None:
    with pytest.raises(MissingFolder, match="with an empty name"):
        discover("")


@pytest.mark.parametrize("start", [r"C:\Users\A B\p", "c:/Users/A B/p", r"\\server\share\p", "file:///home/a/p"])
def test_a_spelling_of_another_system_is_refused_and_nothing_is_created(
    here: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    monkeypatch.chdir(here)

    with pytest.raises(MissingFolder) as caught:
        discover(start)

    assert caught.value.hint == "name the folder the way this system spells it"
    assert list(here.iterdir()) == []


def test_a_launch_folder_deleted_under_the_process_is_missing(here: Path) -> None:
    code = (
        "import os, sys; os.makedirs(sys.argv[1]); os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])\n"
        "from noforgetti.store.discovery import MissingFolder, discover\n"
        "try: discover('.')\n"
        "except MissingFolder as e: print(e.reason)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(here / "gone")],
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        capture_output=True,
        text=True,
    )

    assert (done.stdout, done.stderr) == ("no-such-folder\n", "")


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o100])
def test_a_closed_launch_folder_is_unreadable(unprivileged: Path, mode: int) -> None:
    closed = made(unprivileged / "closed")
    closed.chmod(mode)

    with pytest.raises(UnreadableFolder) as caught:
        discover(str(closed))

    assert (caught.value.kind, caught.value.reason) == (Kind.USER, "unreadable-folder")
    assert caught.value.message == f"The folder `{closed}` cannot be read."


def test_a_folder_above_that_may_be_passed_but_not_listed_is_no_obstacle(unprivileged: Path) -> None:
    root = repository(made(unprivileged / "home") / "p")
    (unprivileged / "home").chmod(0o100)

    assert discover(str(made(root / "src"))).root == str(root)


def test_a_closed_git_folder_moves_nobody_to_another_memory(unprivileged: Path) -> None:
    root = repository(unprivileged / "p")
    before = discover(str(made(root / "src")))
    (root / ".git").chmod(0o000)

    assert discover(str(root / "src"), worktrees="shared", submodules="shared") == before


def test_a_closed_git_file_moves_nobody_to_another_memory(unprivileged: Path) -> None:
    root = made(unprivileged / "p")
    (root / ".git").write_text("gitdir: /nowhere\n")
    (root / ".git").chmod(0o000)

    assert discover(str(made(root / "src")), worktrees="shared").root == str(root)


# Start-up


def test_importing_and_using_discovery_loads_nothing_heavy(here: Path) -> None:
    code = (
        "import os, sys; import noforgetti.errors; before = set(sys.modules)\n"
        "from noforgetti.store.discovery import discover; discover(sys.argv[1])\n"
        "print(*sorted({m.partition('.')[0] for m in set(sys.modules) - before}))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, str(repository(here / "p"))],
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        capture_output=True,
        text=True,
    )

    loaded = set(done.stdout.split())
    assert loaded <= {"noforgetti", "__future__", "errno", "_sha2", "_sha256"}, done.stderr
    assert "noforgetti" in loaded
