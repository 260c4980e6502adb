"""Which session files of which host belong to a project.

Finding them opens none of them: folders are chosen by their names, and what tells a file that changed is its status.
A folder's name cannot be turned back into a path, so who the file belongs to is decided by the `cwd` that it says,
which `belongs` judges: the project that a session started there would have today. Codex keeps the sessions of all
projects in one tree, OpenCode in one database, which is asked for the sessions of the project's folders.
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.store.discovery import discover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from noforgetti.store.discovery import Project

_SMALL = 1024 * 1024  # a larger file of settings is none
_HEADER = 64 * 1024  # Pi's header is some 200 bytes; Codex's is longer, and says the folder near its beginning
_LATEST = 200  # files of each host that are opened to find the project's newest session
_DASHED = 180  # characters of a folder's name that are the path's for sure: Claude Code cuts at 200
_CURSOR = 80  # the same of Cursor's: it cuts at 84
_DEPTH = 3  # folders of a tree below its top: Codex's are year, month and day


_CWD = re.compile(rb'"cwd": ?"(?:[^"\\]|\\.){1,4096}"')


class NoSession(NoForgettiError):
    """No session of this project was found."""

    kind = Kind.USER
    reason = "no-session"


class SessionFile(NamedTuple):
    """A session file as its folder lists it; a plain tuple, since there may be tens of thousands. A session in a
    database is `<file>#<session>`, and the size in its stamp is its time in ms.

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
        found |= {one.path: one for one in _of_host(name, folder, project)}
    for folder in folders:
        for one in _listed(_expanded(folder, environ.get("HOME", "")), "", (".jsonl", ".json")):
            found.setdefault(one.path, one)
    return sorted(found.values(), key=lambda one: (one.stamp[3], one.path), reverse=True)


def named(session: str, project: Project, environ: Mapping[str, str], *, worktrees: str = "separate") -> str:
    """The file of a session by its name (`<session>.jsonl`, or with a time before it), or empty. Looks at names only.

    Gemini's names hold the first eight characters of the session.
    """
    for host, folder in _folders(project, environ, worktrees):
        short = session[:8] if host == "gemini" else session
        ends = (f"_{short}.jsonl", f"-{short}.jsonl", f"#{short}")
        for one in _of_host(host, folder, project):
            name = os.path.basename(one.path)
            if short and (name in (f"{short}.jsonl", f"{short}.messages.json") or name.endswith(ends)):
                return one.path
    return ""


def _of_host(name: str, folder: str, project: Project) -> Iterator[SessionFile]:
    if name == "opencode":
        yield from _in_database(folder, project)
    elif name == "codex":
        for one in _tree(folder, _DEPTH):
            yield from _listed(one, name, (".jsonl",))
    elif name == "cline":
        for session in _names(folder):
            yield from _listed(os.path.join(folder, session), name, (f"{session}.messages.json",))
    else:
        yield from _listed(folder, name, (".jsonl",))


def _tree(folder: str, depth: int) -> Iterator[str]:
    yield folder
    if depth:
        for name in reversed(_names(folder)):
            if name.isdigit():
                yield from _tree(os.path.join(folder, name), depth - 1)


def _in_database(place: str, project: Project) -> Iterator[SessionFile]:
    if not os.path.isfile(place):
        return
    from noforgetti.transcripts.opencode import stamped

    inside = tuple(dict.fromkeys((project.checkout, project.root, *worktrees_of(project.root))))
    yield from (SessionFile(path, "opencode", stamp) for path, stamp in stamped(Path(place), inside))


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
    """The project's newest session, of whichever host. Raises `NoSession`.

    Of each host at most the 200 files that changed last are opened.
    """
    belongs = belonging(project)
    looked: dict[str, int] = {}
    for one in _newest_first(project, environ):
        looked[one.format] = looked.get(one.format, 0) + 1
        if looked[one.format] > _LATEST:
            continue
        cwd = cwd_of(one.path, one.format)
        if belongs(cwd) if cwd else os.path.basename(os.path.dirname(one.path)) == _folder(project.checkout):
            return Path(one.path)
    raise NoSession(
        f"No host has a session of {f'`{project.checkout}`' if project.root else 'no project'}. Nothing was reviewed.",
        hint="name a session file with --transcript",
    )


def _newest_first(project: Project, environ: Mapping[str, str]) -> list[SessionFile]:
    """By the time in its name, as far as a host writes one: copying a file changes its own time."""
    files = session_files(project, environ)
    pi = sorted((one for one in files if one.format == "pi"), key=lambda one: os.path.basename(one.path), reverse=True)
    others = [one for one in files if one.format != "pi"]
    if not pi or not others:
        return [*pi, *others]
    return sorted(files, key=lambda one: one.stamp[3], reverse=True)


def cwd_of(path: str, host: str = "pi") -> str:
    """The folder that a session was started in, by what its file says first; empty when it does not say."""
    if host == "opencode":
        from noforgetti.transcripts.opencode import directory

        return directory(Path(path))
    if host == "gemini":
        from noforgetti.transcripts.gemini import root_of

        return root_of(Path(path))
    if host == "cursor":
        from noforgetti.transcripts import cursor

        return cursor.cwd_of(Path(path))
    if host == "cline":
        from noforgetti.transcripts import cline

        return cline.cwd_of(Path(path))
    try:
        with open(path, "rb") as file:
            head = file.read(_HEADER)
    except (OSError, ValueError):
        return ""
    return _cwd_in(head)


def _cwd_in(head: bytes) -> str:
    """The first `cwd` of a header, of Codex's inside its `payload`, or of the lines after it."""
    for line in head.split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            found = _CWD.search(line) if line.startswith(b"{") else None  # a line longer than what was read
            value = json.loads(b"{%s}" % found[0]) if found else None
        inner = value.get("payload", value) if isinstance(value, dict) else None
        cwd = inner.get("cwd") if isinstance(inner, dict) else None
        if isinstance(cwd, str) and cwd:
            return cwd
    return ""


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


# Claude Code, Codex, Gemini CLI, Qwen Code, Cursor, Cline, OpenCode.


def _claude_code(checkouts: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """A folder for each folder that sessions were started in; its subfolders hold subagents."""
    home = environ.get("HOME", "")
    top = _expanded(environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude"), home)
    yield from _dashed(os.path.join(top, "projects"), checkouts)


def _qwen(checkouts: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    top = os.path.join(environ.get("HOME", ""), ".qwen", "projects")
    yield from (os.path.join(folder, "chats") for folder in _dashed(top, checkouts))


def _dashed(top: str, checkouts: Iterable[str]) -> Iterator[str]:
    """Folders named by a path whose characters other than letters and digits became dashes; also those of folders in
    it. A long path is cut and ends in a number of the host's own."""
    names = [re.sub(r"[^a-zA-Z0-9]", "-", one) for one in checkouts]
    prefixes = tuple(one[:_DASHED] for one in names if one)
    yield from (os.path.join(top, name) for name in _names(top) if prefixes and name.startswith(prefixes))


def _codex(checkouts: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """One tree by day for all projects."""
    del checkouts
    home = environ.get("HOME", "")
    yield os.path.join(_expanded(environ.get("CODEX_HOME") or os.path.join(home, ".codex"), home), "sessions")


def _gemini(checkouts: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """A folder for each folder that sessions were started in, with a name of the host's; a file in it says which."""
    home = environ.get("HOME", "")
    top = os.path.join(environ.get("GEMINI_CLI_HOME") or home, ".gemini", "tmp")
    inside = tuple(checkouts)
    for name in _names(top):
        root = _small(os.path.join(top, name, ".project_root")).strip()
        if any(root == one or root.startswith(one.rstrip("/") + "/") for one in inside):
            yield os.path.join(top, name, "chats")


def _cursor(checkouts: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """A folder for each folder that sessions were started in, with dashes for all but letters and digits; in it one for
    each session."""
    top = os.path.join(environ.get("HOME", ""), ".cursor", "projects")
    names = [re.sub(r"[^a-zA-Z0-9]+", "-", one).strip("-") for one in checkouts]
    prefixes = tuple(one[:_CURSOR] for one in names if one)
    for name in _names(top):
        if prefixes and name.startswith(prefixes):
            sessions = os.path.join(top, name, "agent-transcripts")
            yield sessions
            yield from (os.path.join(sessions, one) for one in _names(sessions))


def _cline(checkouts: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """One folder for all projects, with one for each session."""
    del checkouts
    from noforgetti.transcripts import cline_folder

    yield cline_folder.sessions(environ)


def _opencode(checkouts: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """The database of all projects."""
    del checkouts
    home = environ.get("HOME", "")
    data = os.path.join(environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), "opencode")
    yield os.path.join(data, environ.get("OPENCODE_DB") or "opencode.db")


# A host's format, and who names the folders (or the database) that may hold sessions which were started in any of the
# given ones.
HOSTS: tuple[tuple[str, Callable[[Iterable[str], Mapping[str, str]], Iterator[str]]], ...] = (
    ("pi", _pi),
    ("claude-code", _claude_code),
    ("codex", _codex),
    ("gemini", _gemini),
    ("qwen", _qwen),
    ("cursor", _cursor),
    ("cline", _cline),
    ("opencode", _opencode),
)
