"""Which session files of a host belong to a project.

Finding them opens none of them: folders are chosen by their names, and what tells a file that changed is its status.
A folder's name cannot be turned back into a path, so who the file belongs to is decided by the `cwd` in its header,
which `belongs` judges: the project that a session started there would have today.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.store.discovery import discover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from noforgetti.store.discovery import Project

_SMALL = 1024 * 1024  # a larger file of settings is none
_HEADER = 64 * 1024  # a header is some 200 bytes


class NoSession(NoForgettiError):
    """No session of this project was found."""

    kind = Kind.USER
    reason = "no-session"


class SessionFile(NamedTuple):
    """A session file as its folder lists it; a plain tuple, since there may be tens of thousands.

    `format` is one of `transcripts.base.FORMATS`, or empty where the first lines decide. `stamp` is device, inode, size
    in bytes and mtime in ns.
    """

    path: str
    format: str
    stamp: tuple[int, int, int, int]


def session_files(
    project: Project, environ: Mapping[str, str], *, folders: Iterable[str] = (), worktrees: str = "separate"
) -> list[SessionFile]:
    """Every file that may hold a session of the project, of each host and of the given `folders`, newest first.

    With `worktrees="shared"` those of all worktrees of the main checkout. What cannot be listed is left out.
    """
    found: dict[str, SessionFile] = {}
    for name, folder in _folders(project, environ, worktrees):
        found |= {one.path: one for one in _listed(folder, name, (".jsonl",))}
    for folder in folders:
        for one in _listed(_expanded(folder, environ.get("HOME", "")), "", (".jsonl", ".json")):
            found.setdefault(one.path, one)
    return sorted(found.values(), key=lambda one: (one.stamp[3], one.path), reverse=True)


def named(session: str, project: Project, environ: Mapping[str, str], *, worktrees: str = "separate") -> str:
    """The file of a session by its name (`<time>_<session>.jsonl`), or empty. Looks at names only."""
    for _, folder in _folders(project, environ, worktrees):
        for name in _names(folder):
            if name.endswith(f"_{session}.jsonl"):
                return os.path.join(folder, name)
    return ""


def _folders(project: Project, environ: Mapping[str, str], worktrees: str) -> Iterator[tuple[str, str]]:
    checkouts = dict.fromkeys((project.checkout, project.root))
    if worktrees == "shared":
        checkouts |= dict.fromkeys(worktrees_of(project.root))
    for name, ask in HOSTS:
        yield from ((name, folder) for folder in ask(checkouts, environ))


def _listed(folder: str, name: str, endings: tuple[str, ...]) -> Iterator[SessionFile]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(endings) and (stamp := _stamp(entry)):
                    yield SessionFile(entry.path, name, stamp)
    except (OSError, ValueError):  # missing, or closed to us
        return


def _stamp(entry: os.DirEntry[str]) -> tuple[int, int, int, int] | None:
    try:
        seen = entry.stat()
    except OSError:  # gone while we looked, or a link that leads nowhere
        return None
    return (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns) if stat.S_ISREG(seen.st_mode) else None


def belonging(project: Project, *, worktrees: str = "separate", submodules: str = "separate") -> Callable[[str], bool]:
    """Whether a session that was started in a folder is one of the project's; each folder is looked at once.

    The folder may be gone: then the nearest one above it that is still there decides.
    """
    known: dict[str, bool] = {}

    def belongs(cwd: str) -> bool:
        if cwd not in known:
            known[cwd] = _belongs(cwd, project, worktrees, submodules)
        return known[cwd]

    return belongs


def _belongs(cwd: str, project: Project, worktrees: str, submodules: str) -> bool:
    if not project.root:
        return False  # the user-wide memory has no sessions of its own
    if cwd in (project.checkout, project.root):
        return True
    if project.kind != "git" or not os.path.isabs(cwd):
        return False
    while not os.path.isdir(cwd):
        cwd = os.path.dirname(cwd)
    try:
        return discover(cwd, worktrees=worktrees, submodules=submodules).root == project.root
    except NoForgettiError:  # closed to us
        return False


def worktrees_of(root: str) -> list[str]:
    """The linked worktrees of a main checkout (or bare repository), as git has noted them."""
    found = []
    for home in (os.path.join(root, ".git", "worktrees"), os.path.join(root, "worktrees")):
        try:
            names = os.listdir(home)
        except OSError:
            continue
        pointers = (_small(os.path.join(home, name, "gitdir")) for name in sorted(names))
        found += [os.path.dirname(one.strip()) for one in pointers if one.strip().endswith(os.sep + ".git")]
    return found


def newest(project: Project, environ: Mapping[str, str]) -> Path:
    """The project's newest Pi session file. Raises `NoSession`."""
    belongs = belonging(project)
    files = [one.path for one in session_files(project, environ) if one.format == "pi"]
    for path in sorted(files, key=os.path.basename, reverse=True):
        cwd = cwd_of(path)
        if belongs(cwd) if cwd else os.path.basename(os.path.dirname(path)) == _folder(project.checkout):
            return Path(path)
    raise NoSession(
        f"Pi has no session of {f'`{project.checkout}`' if project.root else 'no project'}. Nothing was reviewed.",
        hint="name a session file with --transcript",
    )


def cwd_of(path: str) -> str:
    """The folder that a Pi session was started in, by its header; empty when it does not say."""
    try:
        with open(path, "rb") as file:
            header = json.loads(file.readline(_HEADER))
    except (OSError, ValueError, RecursionError):
        return ""
    cwd = header.get("cwd") if isinstance(header, dict) else None
    return cwd if isinstance(cwd, str) else ""


# Pi.


def _pi(checkouts: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """Pi's own folder has one for each folder that sessions were started in; a folder that the user chose (by
    environment or settings) holds the files of all of them.

    A project's own `.pi/settings.json` is not asked: a foreign repository could name any folder with it.
    """
    home = environ.get("HOME", "")
    agent = environ.get("PI_CODING_AGENT_DIR") or os.path.join(home, ".pi", "agent")
    agent = _expanded(agent, home)
    chosen = (environ.get("PI_CODING_AGENT_SESSION_DIR"), _setting(os.path.join(agent, "settings.json"), "sessionDir"))
    homes = [_expanded(one, home) for one in chosen if one]
    prefixes = tuple(_folder(one)[:-1] for one in checkouts)  # of the folder itself, and of those in it
    yield from (one for one in homes if os.path.isabs(one))
    for place in dict.fromkeys([*homes, os.path.join(agent, "sessions")]):
        yield from (os.path.join(place, name) for name in _names(place) if name.startswith(prefixes))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []


def _folder(cwd: str) -> str:
    """Pi's name of a folder's sessions: separators and colons become dashes, between double dashes."""
    return "--" + cwd.lstrip("/").replace("/", "-").replace("\\", "-").replace(":", "-") + "--"


def _expanded(path: str, home: str) -> str:
    return home + path[1:] if path == "~" or path.startswith("~/") else path


def _setting(file: str, name: str) -> str:
    try:
        value = json.loads(_small(file) or "{}")
    except (ValueError, RecursionError):
        return ""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _small(path: str) -> str:
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            return file.read(_SMALL).decode(errors="surrogateescape")
    except (OSError, ValueError):
        return ""


# A host's format, and who names the folders that may hold sessions which were started in any of the given ones.
HOSTS: tuple[tuple[str, Callable[[Iterable[str], Mapping[str, str]], Iterator[str]]], ...] = (("pi", _pi),)
