"""Neither a hook's environment nor a hostile git configuration reaches a memory, and a memory reaches no repository."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from .builders import bytes_of, cli, git, made_project, opened

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.service.memory import Memory

WRITES = (
    ("add", "Use tabs."),
    ("add", "Sort imports by module."),
    ("replace", "Use tabs.", "Use two blanks."),
    ("fork", "experiment"),
    ("--branch", "experiment", "remove", "Sort imports by module."),
    ("branch", "delete", "experiment"),
    ("undo", "HEAD"),
    ("redo",),
    ("gc",),
    ("doctor",),
)


def hook_environment(project: Path) -> dict[str, str]:
    """What git sets around a hook, and more."""
    inside = str(project / ".git")
    return {
        "GIT_DIR": inside,
        "GIT_WORK_TREE": str(project),
        "GIT_INDEX_FILE": f"{inside}/index",
        "GIT_OBJECT_DIRECTORY": f"{inside}/objects",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{inside}/objects",
        "GIT_COMMON_DIR": inside,
        "GIT_CONFIG_PARAMETERS": "'core.bare=false' 'user.name=hook'",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": "/nowhere",
        "GIT_AUTHOR_NAME": "hook",
        "GIT_AUTHOR_EMAIL": "hook@example.org",
        "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z",
        "GIT_NAMESPACE": "elsewhere",
        "GIT_PREFIX": "src/",
    }


def test_commands_inside_a_hook_leave_the_users_repository_as_it_is(memory: Memory, project: Path) -> None:
    (project / "code.py").write_text("print()\n")
    git(project, "add", "code.py")
    before = bytes_of(project)

    for words in WRITES:
        cli(memory, *words, environ=hook_environment(project))

    assert bytes_of(project) == before
    authors = git(memory.path, "log", "--format=%an %ae", "main").splitlines()
    assert set(authors) == {"user user@noforgetti"}
    assert "2001" not in git(memory.path, "log", "--format=%ad %cd", "main")
    git(project, "commit", "-q", "-m", "the staged commit")
    assert git(project, "show", "--stat", "--format=%s", "HEAD").startswith("the staged commit")


def hostile(folder: Path) -> dict[str, str]:
    """A home whose git configuration runs programs, signs and rewrites; every program would leave a mark."""
    mark = folder / "mark"
    script = f"#!/bin/sh\ntouch {mark}\nexit 1\n"
    for name in ("hooks", "template/hooks"):
        (folder / name).mkdir(parents=True)
        for hook in ("pre-commit", "post-commit", "reference-transaction", "pre-receive", "update", "post-update"):
            path = folder / name / hook
            path.write_text(script)
            path.chmod(0o755)
    (folder / "monitor").write_text(script)
    (folder / "monitor").chmod(0o755)
    (folder / ".gitconfig").write_text(
        f"""
[core]
    hooksPath = {folder}/hooks
    autocrlf = true
    fsmonitor = {folder}/monitor
    pager = {folder}/monitor
[commit]
    gpgsign = true
[gpg]
    program = {folder}/monitor
[init]
    templateDir = {folder}/template
    defaultBranch = trunk
[safe]
    directory =
"""
    )
    return {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config")}


def trees_with(folder: Path, environ: dict[str, str]) -> list[str]:
    memory = opened(made_project(folder / "project"), folder / "home")
    ids = {}
    for words in (("add", "Use tabs."), ("add", "Sort imports by module.")):
        cli(memory, *words, environ=environ)
    for line in git(memory.path, "ls-tree", "-r", "main").splitlines():
        head, _, path = line.partition("\t")
        ids[path] = head
    assert git(memory.path, "symbolic-ref", "HEAD") == "refs/heads/main"
    contents = [git(memory.path, "cat-file", "blob", head.split()[2]) for head in ids.values()]
    cli(memory, "gc", environ=environ)
    cli(memory, "fsck", environ=environ)
    return sorted("\n".join(line for line in one.splitlines() if not line.startswith("created")) for one in contents)


def test_a_hostile_configuration_changes_nothing_and_runs_nothing(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    bad = folder / "bad"
    bad.mkdir()
    environ = hostile(bad)
    quiet = folder / "quiet"
    quiet.mkdir()

    assert trees_with(folder / "one", environ) == trees_with(folder / "two", {"HOME": str(quiet)})

    assert not (bad / "mark").exists()


@pytest.mark.parametrize("content", [b"[core\n\0 not a configuration", b"\xff\xfe"])
def test_an_unreadable_configuration_stops_nothing(memory: Memory, tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".gitconfig").write_bytes(content)
    environ = {"HOME": str(tmp_path), "GIT_CONFIG_GLOBAL": os.path.join(str(tmp_path), ".gitconfig")}

    for words in WRITES:
        cli(memory, *words, environ=environ)
