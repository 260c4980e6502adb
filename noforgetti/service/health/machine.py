"""What is wrong around the memories: settings, programs, folders and their modes, comments on pull requests."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

from noforgetti import __version__
from noforgetti.service.health.finding import Finding
from noforgetti.service.pr_reviews import opened
from noforgetti.store.pr_reviews import ReviewsDamaged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from noforgetti.service.memory import Memory

_PATIENCE = 5.0  # seconds for another program to say its version
_ROOM = 16 * 1024 * 1024  # bytes free below which writes are about to fail: some commits and a database's journal


def examine(memory: Memory, environ: Mapping[str, str]) -> Iterator[Finding]:
    """The settings' unknown keys, the programs, the folders everything lies in, and what reviews of code left."""
    for one in memory.settings.unknown:
        hint = "correct its spelling (docs/configuration.md lists all), or remove it"
        yield Finding("warning", "unknown-setting", f"setting `{one}` is unknown", hint)
    yield from _programs(environ)
    yield from _folders(memory)
    trouble = opened(memory).trouble()
    if trouble is not None:
        mendable = isinstance(trouble, ReviewsDamaged)
        hint = f"`noforgetti doctor --fix`, or {trouble.hint}" if mendable else trouble.hint
        yield Finding("error", trouble.reason, trouble.message.removesuffix(". Nothing was changed."), hint, mendable)


def _programs(environ: Mapping[str, str]) -> Iterator[Finding]:
    path = environ.get("PATH", os.defpath)
    if shutil.which("git", path=path) is None:
        what = "the program `git` cannot be found: `fsck`, `gc` and `sync` need it, memory itself does not"
        yield Finding("warning", "git-missing", what, "install git")
    other = shutil.which("noforgetti", path=path)
    own = os.path.join(os.path.dirname(sys.executable), "noforgetti")
    if other is None or os.path.realpath(other) == os.path.realpath(own):
        return
    version = _version(other, environ)
    if version != __version__:
        what = (
            f"`{other}` on the PATH is another installation ({version or 'of no known version'}); this is {__version__}"
        )
        hint = "upgrade or remove one of them: two versions would write one memory"
        yield Finding("warning", "second-program", what, hint)


def _version(program: str, environ: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            [program, "--version"],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.split()[-1][:40] if done.returncode == 0 and done.stdout.split() else ""


def _folders(memory: Memory) -> Iterator[Finding]:
    for path in folders_of(memory):
        try:
            seen = os.stat(path)
        except OSError as error:
            yield Finding(
                "error", "unreachable", f"`{path}` cannot be looked at: {error.strerror}", "check its folders"
            )
            continue
        if seen.st_uid != os.getuid():
            what = f"`{path}` belongs to user {seen.st_uid}, and this is user {os.getuid()}"
            yield Finding("warning", "foreign-owner", what, f"`chown -R {os.getuid()} {path}`, as its owner or root")
        if stat.S_IMODE(seen.st_mode) & 0o077:
            mode = stat.S_IMODE(seen.st_mode)
            what = f"`{path}` can be read by others (mode {mode:o})"
            hint = f"`noforgetti doctor --fix`, or `chmod {0o700 if os.path.isdir(path) else 0o600:o} {path}`"
            yield Finding("warning", "open-to-others", what, hint, mendable=True)
        if not seen.st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
            hint = f"`chmod u+rwX {path}`, or mount it writable"
            yield Finding("error", "not-writable", f"`{path}` cannot be written, so nothing can be remembered", hint)
    room = shutil.disk_usage(_standing(memory.places.data)).free
    if room < _ROOM:
        what = f"the disk below `{memory.places.data}` has {room:,} bytes left"
        yield Finding("warning", "disk-full", what, "free space; until then writes are refused whole")


def folders_of(memory: Memory) -> list[str]:
    """The folders and files of ours that are there, outermost first."""
    where = memory.places
    wanted = (
        where.data,
        os.path.join(where.data, "projects"),
        where.state,
        where.cache,
        where.config,
        memory.path,
        where.repository("user"),
        opened(memory).path,
        where.state_of(memory.name),
    )
    return [path for path in dict.fromkeys(wanted) if os.path.lexists(path)]


def _standing(path: str) -> str:
    while not os.path.isdir(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path
