"""Which commands a shell line would run, however it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.shell import LONGEST, commands

ADD = ("git", "add", ".")

RUNS = [
    "git add .",
    "git   add \t .",
    "cd x && git add .",
    "true || git add .",
    "true; git add .",
    "true\ngit add .",
    "git add . &",
    "git add . > /dev/null 2>&1",
    "ls | xargs git add .",
    "(git add .)",
    "{ git add .; }",
    "echo $(git add .)",
    'echo "$(git add .)"',
    "echo `git add .`",
    "cat <(git add .)",
    "! git add .",
    "A=1 B=2 git add .",
    "'git' \"add\" .",
    "g'i't a\\dd .",
    "\\git add .",
    "$'git' add .",
    "git \\\n  add .",
    "git${IFS}add .",
    "/usr/bin/git add .",
    "git -C dir add .",
    "git -c user.name=x --no-pager add .",
    "bash -c 'git add .'",
    "bash -lc 'cd x; git add .'",
    "sh -c \"bash -c 'git add .'\"",
    "eval 'git add .'",
    "eval git add .",
    "bash <<< 'git add .'",
    "bash <<EOF\ngit add .\nEOF",
    "echo 'git add .' | sh",
    "sudo -u bob git add .",
    "sudo env A=1 nice -n 5 git add .",
    "time git add .",
    "timeout -k 1 5 git add .",
    "nohup git add . &",
    "command git add .",
    "exec git add .",
    "xargs -I {} git add .",
    "find . -name x -exec git add . \\;",
    "alias ga='git add .'; ga",
    "alias g=git\ng add .",
    "x='git add .'; $x",
    "x=add; git $x .",
    "f() { git add .; }; f",
    "function f { git add .; }",
    "if true; then git add .; fi",
    "for i in 1 2; do git add .; done",
    "while git add .; do :; done",
    "case x in x) git add .;; esac",
    "[[ -f x ]] && git add .",
]

DOES_NOT = [
    "echo 'git add .'",
    'echo "git add ."',
    "git add ./src",
    "git add .gitignore",
    "git commit -m 'never git add .'",
    "# git add .",
    "cat <<EOF\ngit add .\nEOF",
    "cat <<'EOF' > notes.md\nrun git add . here\nEOF",
    "grep 'git add .' README.md",
    "git status",
    "x='git add .'",
    "",
]


@pytest.mark.parametrize("line", RUNS)
def test_a_command_is_found_however_it_is_written(line: str) -> None:
    assert ADD in commands(line)


@pytest.mark.parametrize("line", DOES_NOT)
def test_a_command_that_is_only_mentioned_is_not_found(line: str) -> None:
    assert ADD not in commands(line)


def test_the_commands_stand_in_the_order_of_the_line() -> None:
    assert commands("cd a && make test; echo 'a b'") == (("cd", "a"), ("make", "test"), ("echo", "a b"))


def test_a_line_that_is_no_shell_is_cut_at_blanks() -> None:
    assert ADD in commands("git add . && (")


HUGE = ["git add . && " * 20_000, "(" * 50_000, "$(" * 30_000, "'" * 50_001, "<<E " * 20_000, "`" * 50_001]


@pytest.mark.parametrize("line", [*HUGE, "x=a;" + "x=$x$x;" * 200 + "$x"], ids=lambda line: line[:8])
def test_a_huge_line_is_answered(line: str) -> None:
    assert sum(len(word) for words in commands(line) for word in words) <= 4 * LONGEST


def test_a_brace_before_any_character_is_answered() -> None:
    """The grammar's scanner looks up what follows a brace in a table of 256, and ended the process for others."""
    for code in range(0x80, 0x110000, 0x3FF):
        assert commands(f"echo {{{chr(code)} && git add .") if not 0xD800 <= code < 0xE000 else True


def test_words_keep_what_is_beyond_ascii() -> None:
    assert commands("echo 'zwölf 中文' \"né\" 👍") == (("echo", "zwölf 中文", "né", "👍"),)


@given(st.text(max_size=200) | st.text(alphabet="git ad.;|&$(){}'\"`\\\n<>=#!E", max_size=80))
def test_every_line_is_answered(line: str) -> None:
    for words in commands(line):
        assert words
