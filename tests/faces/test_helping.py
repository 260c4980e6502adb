"""`--help`, `help` and the manual page: what somebody reads who never saw the tool."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import click
import pytest

from noforgetti.faces.cli.helping import EXAMPLES, OTHERS, TOPICS, Listed, Topics, gist, topics
from noforgetti.faces.cli.main import cli, run
from noforgetti.faces.cli.man_page import page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conftest import CommandLine


@pytest.fixture(autouse=True)
def registered(capsys: pytest.CaptureFixture[str]) -> None:
    """The commands register when the command line runs."""
    run(["--version"])
    capsys.readouterr()


def all_commands(group: click.Group = cli, path: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, one in group.commands.items():
        yield f"{path}{name}", one
        if isinstance(one, click.Group):
            yield from all_commands(one, f"{path}{name} ")


def test_every_command_stands_under_a_topic() -> None:
    assert OTHERS not in dict(topics(cli.commands))


def test_a_command_without_a_topic_is_told_all_the_same() -> None:
    new = click.Command("new", help="Something new.")

    assert dict(topics({"new": new, "add": cli.commands["add"]})) == {
        "Memory": [("add", cli.commands["add"])],
        "More": [("new", new)],
    }


def test_no_name_stands_twice() -> None:
    names = " ".join(names for _, names in TOPICS).split()

    assert len(names) == len(set(names))


def test_every_command_and_option_says_what_it_is() -> None:
    silent = [path for path, one in all_commands() if not one.help]
    silent += [
        f"{path} {option.opts[0]}"
        for path, one in all_commands()
        for option in one.params
        if isinstance(option, click.Option) and not option.help and not option.hidden
    ]

    assert silent == []


def test_the_help_says_what_it_is_how_to_begin_and_what_there_is(nf: CommandLine) -> None:
    done = nf("--help")

    first, _, rest = done.out.partition("\n\n")
    assert first.startswith("noforgetti is a memory for coding agents: ")
    assert re.findall(r"^(\w[^\n]*):$", rest, re.MULTILINE)[:2] == ["Begin with", "Memory"]
    assert max(map(len, done.out.splitlines())) <= 80
    assert {name for name, one in cli.commands.items() if not one.hidden} <= set(
        re.findall(r"^  ([a-z-]+)", done.out, re.MULTILINE)
    )


def test_help_by_name_is_the_help_of_the_command(nf: CommandLine) -> None:
    assert nf("help").out == nf("--help").out
    assert nf("help", "undo").out == nf("undo", "--help").out
    assert nf("help", "promotions", "accept").out == nf("promotions", "accept", "-h").out
    assert nf.json("help", "undo")["command"] == "noforgetti undo"


def test_the_manual_page_leaves_every_command_its_short_help_option(nf: CommandLine) -> None:
    page(cli)

    assert {one.get_help_option(click.Context(one)).opts[0] for _, one in all_commands()} == {"-h"}  # type: ignore[union-attr]


def test_help_of_what_is_not_there_names_what_is_near(nf: CommandLine) -> None:
    near, below = nf("help", "shwo"), nf("help", "add", "more")

    assert (near.status, near.err.splitlines()[0]) == (2, "No such command 'shwo'. Did you mean 'show'?")
    assert (below.status, below.err.splitlines()[0]) == (2, "`noforgetti add` has no commands of its own.")


def test_no_command_at_all_shows_the_help_and_is_status_2(nf: CommandLine) -> None:
    done = nf()

    assert (done.status, done.out, done.err) == (2, "", nf("--help").out)
    assert nf("--json", "branch").doc["reason"] == "No command is named."


def test_examples_are_of_commands_that_are_there() -> None:
    words = [line for examples in EXAMPLES.values() for line, _ in examples]
    known = {path for path, _ in all_commands()}
    named = [name for line in words for name in re.findall(r"noforgetti ([a-z-]+(?: (?:accept|set|test)\b)?)", line)]

    assert set(EXAMPLES) <= set(known)
    assert set(named) <= known


def test_options_in_examples_are_of_their_command() -> None:
    for line, _ in (one for examples in EXAMPLES.values() for one in examples):
        for words in re.findall(r"noforgetti ([^|&>$]*)", line):
            first, *rest = words.split()
            command: click.Command = cli.commands[first]
            if isinstance(command, click.Group) and rest and rest[0] in command.commands:
                command = command.commands[rest[0]]
            there = {name for option in command.params for name in option.opts}
            assert {one for one in rest if re.fullmatch("--[a-z-]+", one)} <= there, line


def test_a_clause_is_told_of_a_command_and_its_help_has_examples() -> None:
    group = Topics("top")
    group.add_command(click.Command("add", help="Add one fact; more of it. And more."))

    assert gist(group.commands["add"]) == "Add one fact"
    assert '\n  noforgetti add "Use pnpm, never npm."\n' in (group.commands["add"].epilog or "")
    assert Topics.group_class is Listed


def test_the_manual_page_has_every_command_and_option() -> None:
    text = page(cli).replace("\\-", "-")

    assert text.startswith(".TH NOFORGETTI 1 ")
    assert re.findall(r"^\.SH (.*)$", text, re.MULTILINE) == [
        *("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES"),
        "SEE ALSO",
    ]
    for path, one in all_commands():
        if not one.hidden:
            assert f"\n\\fB{path}\\fR" in text, path
        for option in one.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[-1] in text


def test_no_line_of_a_text_is_taken_for_a_request() -> None:
    known = r"\.(TH|SH|SS|TP|B|BR|I|RS|RE|PP|sp|nf|fi|br)( |$)"

    assert [line for line in page(cli).split("\n") if line.startswith((".", "'")) and not re.match(known, line)] == []


@pytest.mark.parametrize(
    "program", [["groff", "-Tutf8", "-man", "-ww", "-z"], ["mandoc", "-T", "lint", "-W", "warning"]]
)
def test_the_manual_page_renders_without_a_warning(program: list[str]) -> None:
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]} is not installed")
    done = subprocess.run(program, input=page(cli), capture_output=True, text=True, timeout=60)

    said = [line for line in (done.stdout + done.stderr).splitlines() if "date" not in line and "adjust" not in line]
    assert said == []
