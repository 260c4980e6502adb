"""Making a memory repository: prepared beside its place and renamed into it, so that it is whole or not there."""

from __future__ import annotations

import os
import shutil
import tempfile

import pygit2

from noforgetti.store import failpoints, folders
from noforgetti.store.base import FORMAT, Unwritable
from noforgetti.store.disk import sync_path

_CONFIG = {
    # Nobody may throw objects away beside our writers, nor run a program of theirs on our events.
    "gc.auto": "0",
    "receive.autogc": "false",
    "maintenance.auto": "false",
    "core.hooksPath": "/dev/null",
    # The reflog of a bare repository is off by default; it is the way back after power loss.
    "core.logAllRefUpdates": "always",
    "core.fsync": "loose-object,reference",
    "core.sharedRepository": "0600",
    "receive.denyNonFastForwards": "true",
    "receive.fsckObjects": "true",
    "user.name": "noforgetti",
    "user.email": "noforgetti@localhost",
    "noforgetti.format": FORMAT,
}

_PROJECT, _USER = "the memory of a project", "the memory of this user for all projects"
_README = """\
This folder is {whose}, kept by noforgetti for coding agents.

It is an ordinary bare git repository. Each branch is one memory, each file of a branch is one remembered fact, and
each commit is one change. Look at it with plain git:

    git log main                 every change, newest first
    git show main                the newest change
    git ls-tree -r main          the facts
    git diff main..experiment    how two memories differ

Changes come from `noforgetti add`, from the agent, or from automatic reviews; `noforgetti undo` takes a review back.
Nothing in here is part of the project itself. Deleting this folder forgets everything; `git clone` is a backup.
"""


def read_root(path: str) -> str | None:
    """The project root that the repository at `path` was made for; None when it does not say."""
    try:
        config = pygit2.Config(os.path.join(path, "config"))
        return config["noforgetti.root"]
    except (KeyError, pygit2.GitError, OSError, ValueError):
        return None


def write_root(path: str, root: str) -> None:
    """Record which root the repository belongs to; the user-wide one (`root` empty) belongs to none."""
    if root:
        config = pygit2.Config(os.path.join(path, "config"))
        config["noforgetti.root"] = described(root)
    _write(os.path.join(path, "description"), describe(root))


def describe(root: str) -> str:
    """The repository's one-line description."""
    if not root:
        return "noforgetti memory of this user, for all projects\n"
    return f"noforgetti memory of {described(root)}\n"


def described(root: str) -> str:
    """The root as the repository's configuration can hold it: bytes that are no text become U+FFFD."""
    return root.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def create(path: str, root: str) -> None:
    """Create the repository of the project at `root` (of the user, when that is empty) unless it is there.

    Safe beside other processes that create the same one: one of them wins, whole. Raises `Unwritable`.
    """
    parent = os.path.dirname(path)
    try:
        folders.make(parent)
        workplace = tempfile.mkdtemp(prefix=".new-", dir=parent)
    except OSError as error:
        raise Unwritable(parent, error.strerror or str(error)) from error
    try:
        _fill(workplace, root)
        failpoints.reach("create:before-rename")
        try:
            os.rename(workplace, path)
        except OSError:
            if not os.path.isfile(os.path.join(path, "HEAD")):
                raise
        failpoints.reach("create:renamed")
        sync_path(parent)
    except (OSError, pygit2.GitError) as error:
        raise Unwritable(path, getattr(error, "strerror", "") or str(error)) from error
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def config_reads(path: str) -> bool:
    """True when the repository's configuration can be read and says what it is."""
    try:
        return "core.bare" in pygit2.Config(os.path.join(path, "config"))
    except (pygit2.GitError, OSError, ValueError):
        return False


def rewrite_config(path: str, root: str) -> None:
    """Write the configuration of the repository at `path` anew. Raises `OSError`."""
    _write(os.path.join(path, "config"), "[core]\n\tbare = true\n\trepositoryformatversion = 0\n\tfilemode = true\n")
    _configure(path)
    write_root(path, root)


def rewrite_head(path: str) -> None:
    """Write the `HEAD` of the repository at `path` anew. Raises `OSError`."""
    head = os.path.join(path, "HEAD")
    with open(head, "w", encoding="ascii", opener=folders.private) as file:
        file.write("ref: refs/heads/main\n")
    sync_path(head)


def _configure(folder: str) -> None:
    settings = pygit2.Config(os.path.join(folder, "config"))
    for key, value in _CONFIG.items():
        settings[key] = value


def _fill(folder: str, root: str) -> None:
    from noforgetti.store.git import isolate

    isolate()  # the first write of a process comes here before any store is opened
    repository = pygit2.init_repository(folder, bare=True, initial_head="main")
    repository.free()
    _configure(folder)
    write_root(folder, root)
    shutil.rmtree(os.path.join(folder, "hooks"), ignore_errors=True)
    _write(os.path.join(folder, "README"), _README.format(whose=_PROJECT if root else _USER))
    _write(os.path.join(folder, "write.flock"), "")
    failpoints.reach("create:files")
    for place, inside, files in os.walk(folder):
        os.chmod(place, 0o700)
        for name in files:
            os.chmod(os.path.join(place, name), 0o600)
            sync_path(os.path.join(place, name))
        for name in inside:
            sync_path(os.path.join(place, name))
    sync_path(folder)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
