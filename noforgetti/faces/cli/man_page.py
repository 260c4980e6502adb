"""The manual page, made of the same commands and words as `--help`. See groff_man(7) for the requests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from noforgetti import __version__
from noforgetti.faces.cli.helping import BEGIN, EXAMPLES, USAGE, topics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noforgetti.faces.cli.helping import Examples

_EXITS = (
    ("0", "Done, or nothing needed doing."),
    ("1", "Refused or impossible: one sentence and a hint on standard error."),
    ("2", "The words of the command are off."),
    ("3", "A fault of noforgetti's, with a report ready to paste."),
    ("130", "Interrupted."),
)
_ENVIRONMENT = (
    ("NOFORGETTI_HOME", "One folder for data, state, cache and config.toml; the user's own folders without it."),
    ("EDITOR, VISUAL", "The program that edit and skills edit open."),
    ("NO_COLOR", "Any value: no colour on a terminal."),
    ("NOFORGETTI_DEBUG", "Any value: reports of faults hold the whole traceback."),
)
_FILES = (
    (
        "~/.local/share/noforgetti/projects/",
        "The memory of each project, a bare git repository; on macOS in ~/Library.",
    ),
    ("~/.local/share/noforgetti/user.git", "What holds for the user in every project."),
    ("~/.config/noforgetti/config.toml", "The settings."),
)


def page(root: click.Group) -> str:
    """The page as troff source for the macros of man(7); ASCII, but for letters in the texts themselves."""
    context = click.Context(root, info_name="noforgetti", **root.context_settings)  # Click keeps the help options
    lines = [
        f'.TH NOFORGETTI 1 "" "noforgetti {__version__}" "User Commands"',
        *(".SH NAME", "noforgetti \\- a memory for coding agents, kept as a git repository"),
        *(".SH SYNOPSIS", ".B noforgetti", _text(USAGE)),
        *(".SH DESCRIPTION", *_prose(root.help or "")),
        *(".SH OPTIONS", *_options(root, context)),
        *(".SH COMMANDS", "Each command tells more with \\fB\\-\\-help\\fR."),
    ]
    for topic, commands in topics(root.commands):
        lines.append(f".SS {_text(topic)}")
        for name, command in commands:
            lines += _command(name, command, context)
    lines += [".SH EXAMPLES", *tuple(_examples(BEGIN))[1:]]  # a section begins a paragraph by itself
    for title, rows in (("EXIT STATUS", _EXITS), ("ENVIRONMENT", _ENVIRONMENT), ("FILES", _FILES)):
        lines.append(f".SH {title}")
        for word, what in rows:
            lines += [".TP", f".B {_text(word)}", _text(what)]
    lines += [".SH SEE ALSO", ".BR git (1)"]
    return "\n".join(lines)


def _command(name: str, command: click.Command, above: click.Context) -> Iterator[str]:
    context = click.Context(command, parent=above, info_name=name)
    pieces = " ".join(piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]")
    yield from (".TP", f"\\fB{_text(context.command_path.partition(' ')[2])}\\fR \\fI{_text(pieces)}\\fR".rstrip())
    yield from _prose(command.help or "")
    if options := list(_options(command, context)):
        yield from (".RS", *options, ".RE")
    if name in EXAMPLES and above.parent is None:
        yield from (".RS", *_examples(EXAMPLES[name]), ".RE")
    if isinstance(command, click.Group):
        for below, one in command.commands.items():
            if not one.hidden:
                yield from _command(below, one, context)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for option in command.get_params(context):
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if record is not None and (context.parent is None or "--help" not in option.opts):
            yield from (".TP", f".B {_text(record[0])}", _text(record[1]) or "\\&")


def _prose(text: str) -> Iterator[str]:
    """Paragraphs filled, but for those that are marked as they stand."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ".sp"
        if paragraph.lstrip().startswith("\b"):
            yield from (".nf", *map(_text, paragraph.replace("\b", "").strip("\n").split("\n")), ".fi")
        else:
            yield _text(" ".join(paragraph.split()))


def _examples(examples: Examples) -> Iterator[str]:
    for words, what in examples:
        yield from (".PP", *([_text(what) + ":"] if what else []), ".nf", f".B {_text(words, argument=True)}", ".fi")


def _text(text: str, *, argument: bool = False) -> str:
    """Text as troff reads it: backslashes and hyphens as themselves, no line that it takes for a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti").replace("…", "...").replace("·", "\\(bu")
    if argument:
        text = text.replace('"', "\\(dq")
    return f"\\&{text}" if text.startswith((".", "\\(aq")) else text
