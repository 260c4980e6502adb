"""The git program on a memory's repository: a check, and packing. Nothing of ours needs it for reading or writing."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.store.refs import Refs

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory


class GitFailed(NoForgettiError):
    """The git program could not do what was asked of it."""

    kind = Kind.UNAVAILABLE
    reason = "git-failed"


def git(memory: Memory, *arguments: str, patience: float | None = None) -> tuple[int, str]:
    """Run git on the repository without the user's configuration, environment and hooks: status and output.

    Raises `GitFailed` when git cannot be started, or is not done after `patience` seconds.
    """
    environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environ.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull, LC_ALL="C", GIT_TERMINAL_PROMPT="0")
    command = [
        "git",
        "--git-dir",
        memory.path,
        "--no-pager",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        f"safe.directory={memory.path}",
    ]
    try:
        done = subprocess.run(
            [*command, *arguments],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=patience,
        )
    except subprocess.TimeoutExpired as error:
        raise GitFailed(f"`git {arguments[0]}` was not done after {patience:.0f} s.") from error
    except OSError as error:
        raise GitFailed(
            f"The program git cannot be started: {error.strerror}.", hint="install git; memory itself works without it"
        ) from error
    return done.returncode, (done.stdout + done.stderr).strip()


def fsck(memory: Memory) -> tuple[bool, str]:
    """`git fsck --strict` on the repository: clean or not, and what it says."""
    status, said = git(memory, "fsck", "--strict", "--no-dangling", "--no-progress")
    return status == 0, said


def connected(memory: Memory, patience: float) -> tuple[bool, str]:
    """Whether every object that the branches rest on is there, and what git says. Raises `GitFailed` when it is not
    done after `patience` seconds."""
    status, said = git(memory, "fsck", "--connectivity-only", "--no-dangling", "--no-progress", patience=patience)
    return status == 0, said


def pack(memory: Memory) -> str:
    """Pack loose objects and refs beside running writers, in the ways that are safe there. Nothing is pruned."""
    with memory.store.exclusive():
        Refs(memory.path, memory.store.traces.append).clear_stale("packed-refs")
        memory.keep_traces()
        for arguments in (("repack", "-d", "-l", "-q"), ("pack-refs", "--all"), ("prune-packed", "-q")):
            status, said = git(memory, *arguments)
            if status:
                raise GitFailed(
                    f"`git {arguments[0]}` failed: {said.splitlines()[-1] if said else status}. Nothing was lost."
                )
    return "packed"
