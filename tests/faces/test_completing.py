"""What a shell is offered: names of what is there, quickly to hand and without a word about trouble."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.shell_completion import ShellComplete

from noforgetti.faces.cli import completing
from noforgetti.faces.cli.main import cli

if TYPE_CHECKING:
    from .conftest import CommandLine

PNPM, ENTRY = "Use pnpm: never npm.", "use-pnpm-never-npm-"


def offered(words: str) -> list[tuple[str, str | None]]:
    """What stands to choose behind these words, with its help; the last word may be a beginning."""
    *before, last = words.split(" ")
    found = ShellComplete(cli, {}, "noforgetti", completing.VARIABLE).get_completions(before, last)
    return [(one.value, one.help) for one in found]


def names(words: str) -> list[str]:
    return [name for name, _ in offered(words)]


@pytest.fixture
def filled(nf: CommandLine) -> CommandLine:
    """A project with an entry and two branches; the registered commands."""
    nf("add", PNPM)
    nf("fork", "side")
    return nf


@pytest.mark.parametrize("words", ["use ", "branch delete ", "merge ", "--branch "])
def test_branches(filled: CommandLine, words: str) -> None:
    assert names(words) == ["main", "side"]
    assert names(words + "s") == ["side"]


def test_branches_that_git_packed(filled: CommandLine) -> None:
    filled("gc")
    filled.git("pack-refs", "--all")

    assert names("use ") == ["main", "side"]


@pytest.mark.parametrize(
    "words",
    ["remove ", "replace ", "show ", "log ", "blame ", "reinforce ", "rules set ", "rules clear ", "unarchive "],
)
def test_entries_with_their_text(filled: CommandLine, words: str) -> None:
    ((name, help_),) = offered(words)

    assert (name.startswith(ENTRY), help_) == (True, PNPM)
    assert names(words + "other") == []


def test_entries_of_the_branch_and_project_that_are_named(filled: CommandLine) -> None:
    filled("--branch", "side", "add", "Only on the side.")
    folder = filled.project
    os.chdir("/")

    assert len(names(f"-C {folder} --branch side remove ")) == 2
    assert len(names(f"-C {folder} remove ")) == 1


def test_an_entry_is_offered_at_once_and_no_longer_than_it_is_there(filled: CommandLine) -> None:
    assert len(names("remove ")) == 1
    filled("add", "Answer in German.")
    assert len(names("remove ")) == 2
    filled("remove", "German")
    assert len(names("remove ")) == 1


def test_commits_with_their_subject(filled: CommandLine) -> None:
    head = filled.git("rev-parse", "main")[:12]

    assert offered("undo ") == [(head, f"add: {PNPM}")]
    assert names("diff ") == ["main", "side", head]


def test_promotions_candidates_and_skills(filled: CommandLine) -> None:
    steps = filled.json("add", "To release: 1. bump the version 2. run the tests 3. push the tag")["entry"]["id"]
    filled("reinforce", steps)
    promotion = filled.json("reinforce", steps)["promotions"][0]["id"]

    assert names("promotions accept ") == [promotion]
    filled("promotions", "accept", promotion)
    assert (names("promotions accept "), names("promotions undo ")) == ([], [promotion])
    assert names("skills show ") == ["release"]
    assert names("candidates accept ") == []


def test_words_that_are_fixed() -> None:
    assert "claude-code" in names("install ")
    assert names("completion ") == ["bash", "zsh", "fish"]
    assert names("pr-reviews update-resolution octo/shop#1 a.py resolved_a") == ["resolved_accepted"]
    assert names("help promotions acc") == ["accept"]
    assert "--dry-run" in names("undo --")


@pytest.mark.parametrize("words", ["remove ", "use ", "undo ", "promotions accept ", "skills show "])
def test_a_project_without_memory_offers_nothing_and_gets_none(nf: CommandLine, words: str) -> None:
    before = sorted(Path(nf.home).rglob("*")) if Path(nf.home).exists() else []

    assert names(words) == []
    assert (sorted(Path(nf.home).rglob("*")) if Path(nf.home).exists() else []) == before


def asked(nf: CommandLine, words: str, shell: str = "bash", **environ: str) -> tuple[int, str, str]:
    """A process as the script of a shell starts it: status, stdout, stderr."""
    script = Path(sys.executable).parent / "noforgetti"
    said = {completing.VARIABLE: f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [str(script)], cwd=nf.project, env={**os.environ, **said, **environ}, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def test_the_process_that_a_shell_starts(filled: CommandLine) -> None:
    assert asked(filled, "noforgetti use ") == (0, "plain,main\nplain,side\n", "")


@pytest.mark.parametrize("trouble", ["a file as home", "torn settings", "torn repository", "no number", "odd shell"])
def test_trouble_completes_nothing_and_says_nothing(filled: CommandLine, trouble: str) -> None:
    home, environ, shell = Path(filled.home), {}, "bash"
    repository = filled.repository
    match trouble:
        case "a file as home":
            environ["NOFORGETTI_HOME"] = str(filled.project / ".git" / "HEAD")
        case "torn settings":
            (home / "config.toml").write_bytes(b"\xff= [")
        case "torn repository":
            shutil.rmtree(repository / "objects")
            (repository / "HEAD").write_bytes(b"\x00")
            shutil.rmtree(home / "cache", ignore_errors=True)
        case "no number":
            environ["COMP_CWORD"] = "x"
        case "odd shell":
            shell = "tcsh"

    _, out, err = asked(filled, "noforgetti remove ", shell, **environ)

    assert (out, err) == ("", "")


def script(nf: CommandLine, shell: str) -> Path:
    """The script as a user sources it, and the command on the path."""
    path = nf.project / f"completion.{shell}"
    path.write_text(nf("completion", shell).out)
    return path


def shell(nf: CommandLine, *command: str) -> str:
    """What a real shell answers, in the project."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=nf.project, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout


def test_in_bash(filled: CommandLine) -> None:
    asking = (
        f"source {script(filled, 'bash')}; COMP_WORDS=(noforgetti use ''); COMP_CWORD=2;"
        ' _noforgetti_completion noforgetti; printf "%s\\n" "${COMPREPLY[@]}"'
    )

    assert shell(filled, "bash", "--norc", "-c", asking) == "main\nside\n"


def test_in_fish(filled: CommandLine) -> None:
    asking = f"source {script(filled, 'fish')}; complete -C 'noforgetti use '; complete -C 'noforgetti remove '"

    first, second, third = shell(filled, "fish", "--no-config", "-c", asking).splitlines()

    assert [first, second] == ["main", "side"]
    assert third.startswith(ENTRY)
    assert third.endswith(f"\t{PNPM}")


def test_in_zsh(filled: CommandLine) -> None:
    asking = (
        "autoload -Uz compinit; compinit -u -d .zcompdump;"
        " _describe() { print -l -- $completions_with_descriptions };"
        f" words=(noforgetti remove ''); CURRENT=3; source {script(filled, 'zsh')}; _noforgetti_completion"
    )

    out = shell(filled, "zsh", "-f", "-c", asking)

    assert out.startswith(ENTRY)
    assert out.endswith(f":{PNPM}\n")
