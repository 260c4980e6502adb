"""`--help` for somebody who never saw the tool: commands by topic, examples where words alone do not tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Examples = tuple[tuple[str, str], ...]  # commands, and what each is for

USAGE = "[-C DIR] [--branch B] [--user] [--json] COMMAND …"
BEGIN: Examples = (
    ("noforgetti install", "connect an agent"),
    ('noforgetti add "Run check before test."', "remember one fact of this project"),
    ("noforgetti show", "what is remembered here"),
)
# Every command stands under one topic; a test sees to it. One that does not is shown under the last.
TOPICS = (
    ("Memory", "show list add replace remove edit search sessions report status"),
    ("Branches and history", "branches fork use branch merge log diff blame undo redo"),
    ("Learning from sessions", "review worker queue candidates dream"),
    ("What memories become", "reinforce archive unarchive promotions skills rules"),
    ("Reviews of code", "guidelines pr-reviews"),
    ("Agents", "install uninstall mcp serve hook"),
    ("In and out", "import export"),
    ("Health", "doctor relink fsck gc model"),
    ("Help", "help completion man"),
)
OTHERS = "More"
_END = re.compile(r"[.;:] ")  # of a clause
_WIDTH = 80  # columns of a help text, as Click fills them
EXAMPLES: dict[str, Examples] = {
    "add": (
        ('noforgetti add "Use pnpm, never npm."', "a fact of this project"),
        ('noforgetti add "Answer in German." --scope user', "holds in every project"),
        ('noforgetti add "Releases: tag v1.2.3." --category decision --pin', "no automatic review touches it"),
        ("git log -1 --format=%s | noforgetti add -", "from standard input"),
    ),
    "replace": (
        ('noforgetti replace "never npm" "Use pnpm; npm only for publishing."', "a unique piece names the entry"),
    ),
    "remove": (("noforgetti remove use-pnpm-never-npm-7k3f", "by id; a unique piece of its text will do"),),
    "show": (
        ("noforgetti show --at 2026-11-30", "as it was then; a commit or HEAD~2 will do"),
        ("noforgetti show use-pnpm", "one entry with everything known of it"),
    ),
    "search": (("noforgetti search how do we release", "no quotes needed; by words and by meaning"),),
    "sessions": (("noforgetti sessions flaky login test", "where that was worked on before"),),
    "report": (
        ("noforgetti report", "what the agent is told of this project"),
        ('noforgetti report --prompt "fix the login" --why', "why each entry is in or out"),
    ),
    "fork": (("noforgetti fork experiment && noforgetti use experiment", "try something; main stays as it is"),),
    "merge": (("noforgetti merge experiment --dry-run", "what it would bring"),),
    "log": (
        ("noforgetti log -n 5", "the newest changes"),
        ("noforgetti log use-pnpm-check-7k3f", "those of one entry"),
    ),
    "diff": (("noforgetti diff HEAD~3", "what changed in the last three commits"),),
    "undo": (
        ("noforgetti undo --dry-run", "what taking back the newest automatic review would do"),
        ("noforgetti undo 3f2c9ab", "take back one commit, whatever came later"),
    ),
    "review": (
        ("noforgetti review", "learn from the newest session of this project"),
        ("noforgetti review --transcript session.jsonl --reviewer rules", "from a file, offline"),
    ),
    "worker": (("noforgetti worker --once", "what is due now; for cron"),),
    "dream": (("noforgetti dream --dry-run", "what it would merge and set aside"),),
    "candidates": (
        ("noforgetti candidates", "what waits for you"),
        ("noforgetti candidates accept ID", "remember it"),
    ),
    "promotions": (("noforgetti promotions accept ID", "make a memory the rule or skill that it could be"),),
    "import": (
        ("noforgetti import", "what can be imported, and what lies here"),
        ("noforgetti import claude-code --dry-run", "what would come of Claude Code's memory, and what would not"),
        ("noforgetti import mem0 export.json", "one commit; `noforgetti undo COMMIT` takes it back"),
    ),
    "export": (
        ("noforgetti export markdown", "one document for reading, on standard output"),
        ("noforgetti export json memory.json", "everything; `noforgetti import noforgetti memory.json` brings it back"),
        ("noforgetti export bundle memory.bundle", "every branch with its history, as git bundles it"),
    ),
    "rules": (
        ('noforgetti rules set use-pnpm --trigger "bash_contains npm install" --action block', ""),
        ('noforgetti rules test "npm install left-pad"', "which rules would fire"),
    ),
    "doctor": (("noforgetti doctor --fix", "mend what can be mended without a choice of yours"),),
    "completion": (
        ('eval "$(noforgetti completion bash)"', "in ~/.bashrc; zsh alike in ~/.zshrc"),
        ("noforgetti completion fish > ~/.config/fish/completions/noforgetti.fish", ""),
    ),
    "man": (
        ("noforgetti man | man -l -", "read it now"),
        ("noforgetti man > ~/.local/share/man/man1/noforgetti.1", "for `man noforgetti`"),
    ),
}


def topics(commands: Mapping[str, click.Command]) -> Iterator[tuple[str, list[tuple[str, click.Command]]]]:
    """The commands that are there and not hidden, by topic, in the order in which they are told."""
    left = {name: one for name, one in commands.items() if not one.hidden}
    for topic, names in TOPICS:
        found = [(name, left.pop(name)) for name in names.split() if name in left]
        if found:
            yield topic, found
    if left:
        yield OTHERS, sorted(left.items())


def gist(command: click.Command) -> str:
    """What a command does, in one clause without its end."""
    text = command.short_help or " ".join((command.help or "").partition("\n\n")[0].split())
    return _END.split(text, maxsplit=1)[0].removesuffix(".")


class Listed(click.Group):
    """A group below; its commands are told in whole clauses."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, each with what it does."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, gist(one)) for name, one in self.commands.items() if not one.hidden])


class Topics(click.Group):
    """The command line as a whole."""

    group_class = Listed

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command; one that has examples here tells them in its help."""
        examples = EXAMPLES.get(name or cmd.name or "")
        if examples and not cmd.epilog:
            cmd.epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in _aligned(examples))
        super().add_command(cmd, name)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What it is stands first; then how it is called."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What it is, how it is called, and how to begin."""
        formatter.write_text(" ".join((self.help or "").split()))
        formatter.write_paragraph()
        formatter.write_usage(ctx.command_path, USAGE)
        with formatter.section("Begin with"):
            for line in _aligned(BEGIN):
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by topic, the options behind them."""
        for topic, commands in topics(self.commands):
            with formatter.section(topic):
                formatter.write_dl([(name, gist(one)) for name, one in commands], col_max=12)
        click.Command.format_options(self, ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text("`noforgetti help COMMAND` tells more of a command, with examples.")


def _aligned(examples: Examples) -> list[str]:
    """Each command and what it is for: beside it where all fit, else in a line above."""
    width = max(len(words) for words, _ in examples)
    if width + max(len(what) for _, what in examples) + 8 <= _WIDTH:
        return [f"{words:{width}}  # {what}" if what else words for words, what in examples]
    return [line for words, what in examples for line in ((f"# {what}", words) if what else (words,))]
