"""A host as data: what it is called, what we may write for it, and what was found there.

Nothing here reads the environment or knows a memory; folders and the environment are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping  # noqa: TC003 - dataclasses read the annotations
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from noforgetti.hosts.parts import Part

# `keep`: a piece that is not as we wrote it stays; `fail`: the file cannot be used.
Deed = Literal["create", "change", "none", "delete", "keep", "fail"]


@dataclass(frozen=True, slots=True)
class Launch:
    """How a host starts us: `program` is the words of the command before its arguments, the first an absolute path;
    `version` is ours, for hosts that show one."""

    program: tuple[str, ...]
    version: str

    def line(self, *arguments: str) -> str:
        """A command for a POSIX shell."""
        from shlex import join

        return join([*self.program, *arguments])

    def words(self, *arguments: str) -> tuple[str, list[str]]:
        """A command without a shell: the program, and its arguments."""
        return self.program[0], [*self.program[1:], *arguments]


@dataclass(frozen=True, slots=True)
class Host:
    """A program that we can be installed for. `home` says where it keeps the user's configuration in an environment,
    `parts` what we write there, `present` whether the host has been used here. `programs` are its names on the PATH.
    `then` is what the user has to do after installing; `cannot` what the host's public interface does not allow."""

    name: str
    title: str
    programs: tuple[str, ...]
    home: Callable[[Mapping[str, str]], Path]
    parts: Callable[[Path, Launch], tuple[Part, ...]]
    present: Callable[[Path], bool] = Path.is_dir
    then: tuple[str, ...] = ()
    cannot: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One file that installing or uninstalling a host touches. `shown` is the change as a unified diff with secrets
    masked; `why` says what was left as it is, and is empty otherwise."""

    path: Path
    deed: Deed
    shown: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Wiring:
    """What a host's configuration says of us now. `command` is the program it would start; `troubles` say what is
    wrong: stale, duplicated, foreign."""

    host: str
    installed: bool
    paths: tuple[Path, ...] = ()
    command: tuple[str, ...] = ()
    troubles: tuple[Trouble, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something wrong with a host's wiring. `code` is a stable word: `stale-command`, `second-install`,
    `foreign-entry`, `changed-block`, `missing-file`, `unreadable-file`, `old-version`."""

    code: str
    what: str
    hint: str


def user_home(environ: Mapping[str, str]) -> Path:
    """The user's home folder in an environment."""
    return Path(environ.get("HOME") or Path.home())


def named_or(environ: Mapping[str, str], variable: str, *below: str) -> Path:
    """The folder that a variable names (`~` is the home), else the one below the home."""
    home = user_home(environ)
    named = environ.get(variable, "")
    if named == "~" or named.startswith("~/"):
        return home / named[2:]
    return Path(named).absolute() if named else home.joinpath(*below)
