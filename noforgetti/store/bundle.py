"""Git bundles: a whole repository in one file, made and read by git itself.

The store's own code never calls the program; a bundle is git's format, and `git bundle verify` is its test. The
program sees neither the user's configuration nor the variables of a hook that we may run in.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.entry import BranchName, CommitId
from noforgetti.store.base import Unreadable, Unwritable
from noforgetti.store.create import create as create_repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HEADS = "refs/heads/"
BESIDE = "refs/noforgetti/"  # books; what a machine derived from them is made again
INCOMING = "refs/noforgetti-incoming/"  # holds what was fetched until branches name it
_SIGNATURE = re.compile(rb"# v[23] git bundle\n")
_PATIENCE = 600  # seconds for one run of git: a repository of 100,000 commits is packed in some twenty
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc")
_KEPT = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH")


class NoGit(NoForgettiError):
    """The program git is not there, or does not work."""

    kind = Kind.UNAVAILABLE
    reason = "no-git"

    def __init__(self, why: str) -> None:
        super().__init__(f"git cannot be run: {why}. Nothing was written.", hint="install git, or export as json")


class BadBundle(NoForgettiError):
    """A file that git does not take as a bundle."""

    kind = Kind.USER
    reason = "unreadable-source"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"`{path}` is no whole git bundle: {why}. Nothing was imported.",
            hint="make it again with `noforgetti export bundle`",
        )


def is_bundle(path: str) -> bool:
    """Whether a file begins as a bundle does."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            return bool(_SIGNATURE.match(file.read(24)))
    except OSError:
        return False


def create(repository: str, target: str) -> None:
    """Write all branches and books of the repository to `target`, and have git verify it. Raises `NoGit`, and
    `Unreadable` when git cannot read the repository."""
    refs = _git(repository, "for-each-ref", "--format=%(refname)", HEADS, BESIDE)
    done = _run(repository, "bundle", "create", "--quiet", target, "--stdin", given=refs)
    done = done if done.returncode else _run(repository, "bundle", "verify", "--quiet", target)
    if done.returncode:
        raise Unreadable(
            f"git cannot bundle the memory: {_said(done)}. Nothing was exported.",
            hint="free space, or run `noforgetti doctor`",
        )


def listed(bundle: str) -> dict[str, CommitId]:
    """The refs that a bundle says it holds, a branch at least. Raises `NoGit` and `BadBundle`."""
    done = _run("", "bundle", "list-heads", bundle)
    if done.returncode:
        raise BadBundle(bundle, _said(done))
    lines = (line.split(" ", 1) for line in done.stdout.splitlines())
    found = {name: CommitId(commit) for commit, name in lines}
    if not branches(found):
        raise BadBundle(bundle, "it holds no branch")  # git takes a head that was torn for an empty one
    return found


def fetch(repository: str, bundle: str) -> dict[str, CommitId]:
    """Bring a bundle's objects into the repository; answers its refs. They are held by refs below `INCOMING` until
    `release`; what another run left there is none of them. Raises `NoGit`, `BadBundle`, and `Unwritable` when the
    bundle is whole."""
    found = listed(bundle)
    done = _run(repository, "bundle", "verify", "--quiet", bundle)
    if done.returncode:
        raise BadBundle(bundle, _said(done))
    wanted = f"+refs/*:{INCOMING}{os.getpid()}/*"
    done = _run(repository, *_FETCH, bundle, wanted)
    if done.returncode:
        release(repository)
        with aside("") as elsewhere:
            if _run(elsewhere, *_FETCH, bundle, wanted).returncode == 0:
                raise Unwritable(repository, _said(done))
        raise BadBundle(bundle, _said(done))
    return found


@contextmanager
def aside(repository: str) -> Iterator[str]:
    """A repository that is gone afterwards, with the branches of another one, or of none when that is empty. Raises
    `NoGit` and `Unreadable`."""
    with tempfile.TemporaryDirectory(prefix="noforgetti-") as folder:
        path = os.path.join(folder, "memory.git")
        create_repository(path, "")
        if repository:
            _git(path, *_FETCH, repository, f"+{HEADS}*:{HEADS}*")
        yield path


def release(repository: str) -> None:
    """Let go of what `fetch` holds."""
    names = _git(repository, "for-each-ref", "--format=delete %(refname)", INCOMING)
    if names:
        _run(repository, "update-ref", "--stdin", given=names)


def branches(refs: Mapping[str, CommitId]) -> dict[BranchName, CommitId]:
    """The branches among a bundle's refs."""
    return {BranchName(name.removeprefix(HEADS)): at for name, at in refs.items() if name.startswith(HEADS)}


def _git(repository: str, *words: str) -> str:
    done = _run(repository, *words)
    if done.returncode:
        raise Unreadable(f"git cannot read the memory: {_said(done)}.", hint="run `noforgetti doctor`")
    return done.stdout


def _run(repository: str, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    environ = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    command = [
        "git",
        *([f"--git-dir={repository}"] if repository else []),
        *("-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "transfer.fsckObjects=true"),
        *("-c", "core.fsync=all", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
        *words,
    ]
    try:
        return subprocess.run(
            command,
            input=given,
            capture_output=True,
            text=True,
            errors="replace",
            env=environ,
            umask=0o077,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoGit(str(error)) from error


def _said(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in done.stderr.splitlines() if line.strip() and not line.endswith(" died")]
    return (lines[-1].removeprefix("fatal: ").removeprefix("error: ") if lines else f"status {done.returncode}")[:200]
