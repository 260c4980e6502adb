"""The command line: words in, use cases called, documents out. Decides nothing."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

import click

from noforgetti import __version__
from noforgetti.errors import NoForgettiError
from noforgetti.faces.cli import completing
from noforgetti.faces.cli.helping import Topics
from noforgetti.faces.cli.output import DONE, INTERRUPTED, REFUSED, Output, complain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from noforgetti.faces import text
    from noforgetti.model.entry import Entry, EntryId
    from noforgetti.service.health.finding import Finding
    from noforgetti.service.memory import Memory

_CATEGORIES = ["preference", "lesson", "pattern", "decision", "done", "mistake"]


class Session:
    """One run of the command line: the options before the command, and the memory once it is needed."""

    def __init__(self, folder: str, branch: str | None, output: Output, *, user: bool = False) -> None:
        self.folder, self.output, self.user = folder, output, user
        self.named = branch  # by `--branch`
        self._memory: Memory | None = None
        self.exit = DONE

    @property
    def memory(self) -> Memory:
        """The project's memory, or with `--user` the user-wide one; opened once."""
        if self._memory is None:
            from noforgetti.service.memory import open_memory, open_wide

            self._memory = open_wide(os.environ) if self.user else open_memory(self.folder, os.environ)
            self._memory.meaning = self._meaning
        return self._memory

    def examined(self) -> tuple[Memory, list[Finding]]:
        """The memory for `doctor`, opened although the settings cannot be used; that is a finding then."""
        from noforgetti.service.health.examining import opened

        self._memory, found = opened(self.folder, os.environ, wide=self.user)
        return self._memory, found

    def _meaning(self, text: str, entries: Sequence[Entry]) -> Mapping[EntryId, float]:
        """How near texts are, by a model that is loaded when somebody asks."""
        from noforgetti.service.embedding import Embedding
        from noforgetti.service.meaning import meaning

        memory = self.memory
        return meaning(Embedding(memory.settings.embedding, memory.places, os.environ), load=True)(text, entries)

    @property
    def branch(self) -> str:
        """The branch named by `--branch`, else the selected one."""
        return self.named if self.named is not None else self.memory.current()

    def print(self, doc: dict[str, Any], shown: Callable[..., str], **options: Any) -> None:
        """Print a document."""
        self.output.document(doc, "" if self.output.as_json else shown(doc, self.output.style, **options))

    def refuse(self, doc: dict[str, Any]) -> None:
        """Print a refusal and end with status 1."""
        self.exit = self.output.refused(doc, doc.get("reason") or "", doc.get("hint") or "")

    def close(self) -> None:
        """Let go of the memory."""
        if self._memory is not None:
            self._memory.close()


pass_session = click.make_pass_decorator(Session)


@click.group(cls=Topics, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-C",
    "folder",
    metavar="DIR",
    default=".",
    help="Work on the project around DIR.",
    shell_complete=completing.folders,
)
@click.option(
    "--branch",
    metavar="B",
    help="Work on memory branch B instead of the selected one.",
    shell_complete=completing.branches,
)
@click.option("--user", is_flag=True, help="Work on the user-wide memory instead of a project's.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.version_option(__version__, prog_name="noforgetti")
@click.pass_context
def cli(context: click.Context, folder: str, branch: str | None, user: bool, as_json: bool) -> None:
    """noforgetti is a memory for coding agents: facts of a project and preferences of its user, kept outside the
    project as commits of a git repository. Your agent reads and writes it in every session; you can read it, correct
    it, branch it and undo what was learned."""
    session = Session(folder, branch, Output(as_json=as_json), user=user)
    context.obj = session
    context.call_on_close(session.close)


def run(arguments: list[str]) -> int:
    """Run one command; answers the exit status, also when nobody can be told anything."""
    try:
        status = _guarded(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        return _unheard(error)
    return status


def _unheard(error: OSError) -> int:
    """The reader of our output went away (`| head`), or the disk below it is full. Python would complain at exit."""
    _discard(sys.stdout)
    try:
        if not isinstance(error, BrokenPipeError):
            complain(f"The answer cannot be written: {error.strerror}.", "what was done stands; see `noforgetti log`")
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)
    return REFUSED


def _discard(stream: TextIO) -> None:
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _guarded(arguments: list[str]) -> int:
    """The one guard that turns errors into text."""
    from noforgetti.faces.cli import (  # noqa: F401 - they register the commands
        commands,
        dream,
        exporting,
        finding,
        guidelines,
        health,
        hook,
        hosts,
        importing,
        manual,
        mcp,
        model,
        pr_reviews,
        promotions,
        queue,
        rules,
        skills,
        wiring,
    )

    if completing.VARIABLE in os.environ:
        return completing.answer(cli)
    output = Output(as_json="--json" in _before_dashes(arguments))
    context: click.Context | None = None
    try:
        context = cli.make_context("noforgetti", _hoisted(arguments))
        with context:
            cli.invoke(context)
            session = context.obj
            return session.exit if isinstance(session, Session) else DONE
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        return output.unasked(error.format_message(), _usage(error))
    except click.ClickException as error:
        return output.misused(_sentence(error.format_message()), _usage(error))
    except NoForgettiError as error:
        return output.failed(error)
    except (KeyboardInterrupt, click.Abort):
        print("Interrupted. Nothing that was not published has changed.", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if error.filename is None:
            raise  # of a stream of ours
        return output.refused(*_denied(error))
    except Exception as error:  # noqa: BLE001 - the outer guard: a surprise becomes a report
        return output.fault(error)


def _denied(error: OSError) -> tuple[dict[str, Any], str, str]:
    """What the system refused, where nobody below had a better word for it."""
    reason = f"`{error.filename}`: {error.strerror}. What was not published has not changed."
    hint = "free space or check the permissions"
    return (
        {"outcome": "failed", "reason": reason, "hint": hint, "code": "system", "kind": "unavailable"},
        reason,
        hint,
    )


def _before_dashes(arguments: list[str]) -> list[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _hoisted(arguments: list[str]) -> list[str]:
    """`--json` is understood after the command too."""
    head = _before_dashes(arguments)
    if "--json" not in head:
        return arguments
    return ["--json", *(word for word in head if word != "--json"), *arguments[len(head) :]]


def _sentence(message: str) -> str:
    return message if message.endswith((".", "?", "!")) else message + "."


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if isinstance(context, click.Context) else "noforgetti"
    return f"see `{path} --help`; put `--` before words that begin with `-`"


def plain(shown: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any], text.Style], str]:
    """A renderer without colour where one with a style is expected."""
    return lambda doc, _style: shown(doc)
