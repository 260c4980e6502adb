"""Exit statuses, JSON, the fast path, hostile words: the command line as scripts meet it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from faces.conftest import CommandLine


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["status"], 0),
        (["undo"], 0),
        (["remove", "nothing"], 1),
        (["use", "nowhere"], 1),
        (["show", "--at", "HEAD"], 0),
        (["diff", "zzzz"], 1),
        (["frobnicate"], 2),
        (["add"], 2),
        (["add", "x", "--importance", "huge"], 2),
        (["--branch", "../../etc", "add", "x"], 1),
        (["-C", "/nonexistent/place", "status"], 1),
    ],
)
def test_each_kind_of_end_has_its_exit_status_and_says_one_sentence(
    nf: CommandLine, words: list[str], status: int
) -> None:
    done = nf(*words)

    assert done.status == status, done
    if status:
        assert done.out == ""
        sentence, hint, *rest = done.err.splitlines()
        assert sentence.endswith((".", "?"))
        assert hint.startswith("Hint: ")
        assert rest == []


@pytest.mark.parametrize("words", [["remove", "x"], ["frobnicate"], ["use", "no"], ["undo"], ["status"]])
def test_with_json_stdout_holds_one_document_and_nothing_else(nf: CommandLine, words: list[str]) -> None:
    done = nf("--json", *words)

    assert isinstance(json.loads(done.out), dict)
    if done.status:
        assert {"reason", "hint"} <= set(done.doc)


@pytest.mark.parametrize(
    "name",
    [
        "-rf",
        "a/b",
        "HEAD",
        "Main",
        "MAIN",
        "con",
        "NUL",
        "lpt1",
        "é",
        "a b",
        "",
        "a.lock",
        "..",
        "@{1}",
        "x" * 64,
        "a\nb",
        "a\0b",
        "\udcff",
    ],
)
def test_names_that_no_branch_may_have_are_refused(nf: CommandLine, name: str) -> None:
    nf("add", "One fact.")

    assert nf("fork", "--", name).status in (1, 2)
    assert [one["name"] for one in nf.json("branches")["branches"]] == ["main"]


def test_a_refused_branch_name_comes_with_a_valid_one(nf: CommandLine) -> None:
    assert "Hint: try `feature-login`" in nf("fork", "feature/login").err


@pytest.mark.parametrize(
    "setting", ["limits.hard = 'many'", "worktrees = 'maybe'", "limits = 3", "not toml at all", "limits.hard = 5"]
)
def test_settings_that_cannot_be_used_stop_everything_by_name(nf: CommandLine, setting: str) -> None:
    nf.home.mkdir()
    (nf.home / "config.toml").write_text(setting, encoding="utf-8")

    done = nf("add", "One fact.")

    assert done.status == 1
    assert "config.toml" in done.err
    assert not (nf.home / "data").exists()


def test_an_unknown_setting_is_reported_and_ignored(nf: CommandLine) -> None:
    nf.home.mkdir()
    (nf.home / "config.toml").write_text("review.sparkle = true\n", encoding="utf-8")

    assert nf("add", "One fact.").status == 0
    assert nf.json("status")["degraded"] == ["unknown setting `review.sparkle`"]


def test_show_answers_the_same_with_and_without_opening_the_repository(nf: CommandLine) -> None:
    nf("add", "One fact.", "--pin")
    slow, slow_json = nf.process("show"), nf.process("show", "--json")

    from noforgetti.faces.cli.fast import show

    nf.capture.readouterr()
    assert show(["show"], os.environ)
    assert nf.capture.readouterr().out == slow.out == nf.process("show").out
    assert nf.process("--json", "show").out == slow_json.out


def test_the_fast_answer_never_outlives_a_change(nf: CommandLine) -> None:
    nf("add", "One fact.")
    nf.process("show")
    nf("add", "Another fact.")
    assert "Another fact." in nf.process("show").out

    nf.git("pack-refs", "--all")
    assert "Another fact." in nf.process("show").out
    nf("remove", "Another")
    assert "Another fact." not in nf.process("show").out


def test_the_fast_answer_follows_the_selected_branch(nf: CommandLine) -> None:
    nf("add", "One fact.")
    nf("fork", "spike")
    nf("use", "spike")
    nf("add", "Only on the spike.")

    assert "Only on the spike." in nf.process("show").out
    assert "Only on the spike." in nf.process("show").out
    assert "Only on the spike." not in nf.process("--branch", "main", "show").out


def test_a_selected_branch_that_is_gone_counts_as_main(nf: CommandLine) -> None:
    nf("add", "One fact.")
    nf("fork", "spike")
    nf("use", "spike")
    nf("branch", "delete", "spike")

    assert nf.json("status")["branch"] == "main"


def test_a_terminal_that_knows_no_unicode_gets_escapes_and_not_a_fault(nf: CommandLine) -> None:
    nf("add", "Gr\u00fc\u00dfe.")

    done = nf.process("show", environ={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert done.status == 0
    assert "Gr\\xfc\\xdfe." in done.out
    assert (
        json.loads(nf.process("--json", "show", environ={"PYTHONIOENCODING": "ascii"}).out)["entries"][0]["text"]
        == "Gr\u00fc\u00dfe."
    )


def test_a_reader_that_goes_away_is_no_fault(nf: CommandLine) -> None:
    import subprocess
    import sys
    from pathlib import Path

    for number in range(20):
        nf("add", f"Fact number {number}. " + "x" * 200)
    script = Path(sys.executable).parent / "noforgetti"
    done = subprocess.run(f'"{script}" log | head -1', shell=True, capture_output=True, text=True, check=False)
    assert "fault" not in done.stderr
    assert "Traceback" not in done.stderr


def test_output_is_for_the_terminal_it_goes_to(nf: CommandLine) -> None:
    nf("add", "One fact.")

    assert "\x1b" not in nf.process("show", environ={"NO_COLOR": ""}).out


def test_control_characters_of_a_hand_made_entry_do_not_reach_the_terminal(nf: CommandLine) -> None:
    nf("add", "One fact.")
    _push_entry(nf, "lessons/evil.md", b"---\n---\n\nevil \x1b]0;owned\x07 text\n")

    assert "\x1b" not in nf("show").out
    assert "\x1b" not in nf("status").out


def test_completion_scripts_are_printed_for_each_shell(nf: CommandLine) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_NOFORGETTI_COMPLETE" in nf("completion", shell).out


def test_the_shell_completes_commands_and_branches(nf: CommandLine) -> None:
    nf("add", "One fact.")
    nf("fork", "spike")

    def completed(*words: str) -> list[str]:
        environ = {
            "_NOFORGETTI_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1),
        }
        return [line.partition(",")[2] for line in nf.process(environ=environ).out.splitlines()]

    assert completed("noforgetti", "bran") == ["branch", "branches"]
    assert completed("noforgetti", "use", "sp") == ["spike"]
    assert completed("noforgetti", "merge", "") == ["main", "spike"]


def _push_entry(nf: CommandLine, path: str, data: bytes) -> None:
    """Somebody edits the memory in a clone and pushes."""
    import subprocess

    clone = nf.home.parent / "clone"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "clone", "--quiet", str(nf.repository), str(clone)], check=True)
    (clone / path).parent.mkdir(exist_ok=True)
    (clone / path).write_bytes(data)
    subprocess.run([*git, "add", "."], cwd=clone, check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "by hand"], cwd=clone, check=True)
    subprocess.run([*git, "push", "--quiet"], cwd=clone, check=True, capture_output=True)
