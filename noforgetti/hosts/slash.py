"""Slash commands that a host's configuration can carry: a name, and the words of our command line that it runs."""

from __future__ import annotations

from dataclasses import dataclass

DESCRIPTION = "The project's memory: told at the start of a session, learned at its end, kept as a git repository."


@dataclass(frozen=True, slots=True)
class Slash:
    """`/noforgetti:NAME`. `hint` says what the user may type behind it; empty: nothing."""

    name: str
    description: str
    words: tuple[str, ...]
    hint: str = ""


COMMANDS = (
    Slash("status", "What the memory holds, and whether all is well", ("status",)),
    Slash("show", "The entries of the memory branch", ("show",)),
    Slash("search", "Search the memory", ("search",), "QUERY"),
    Slash("add", "Add an entry to the memory", ("add",), '"TEXT"'),
    Slash("branches", "The memory branches", ("branches",)),
    Slash("fork", "Fork the memory branch and select the fork", ("fork",), "NAME"),
    Slash("use", "Select a memory branch", ("use",), "NAME"),
    Slash("undo", "Take back the newest automatic review, or one commit", ("undo",), "[REVISION]"),
    Slash("log", "The history of the memory branch", ("log",)),
    Slash("review", "Review the newest session of this project now", ("review",)),
)
