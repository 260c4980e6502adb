"""The write lock of a repository: one kernel lock (`flock`), freed by the kernel whatever happens to its holder.

The lock file says who took it last (process, command, since when), which is only shown while somebody holds it. It is
never deleted, and a lock is never broken because of its age: a living holder keeps it for as long as it likes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from noforgetti.store.base import Busy, Unwritable

if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT = 5.0  # seconds; the reference system's lock wait
_FIRST_PAUSE = 0.0005  # seconds; a publish under the lock takes about 1 ms
_LONGEST_PAUSE = 0.010
# A holder that writes on and on frees the lock for about 1 ms between two writes and takes it again itself while others
# sleep. Eight of them on two busy cores kept one waiting past 5 s; who looks more often than that gets in.
_STARVING = 0.5  # seconds
_STARVING_PAUSE = 0.0002


@contextmanager
def write_lock(path: str, *, wait: float = WAIT) -> Iterator[None]:
    """Hold the kernel lock on `path` exclusively. Raises `Busy` with the holder's name after `wait` seconds."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unwritable(path, error.strerror or str(error)) from error
    try:
        _acquire(handle, path, wait)
        _sign(handle)
        yield
    finally:
        os.close(handle)  # frees the lock


def holder(path: str) -> str:
    """Who signed the lock last, in words; empty when nobody did."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            pid, command, since = [*file.readline(4096).rstrip().split("\t"), "", ""][:3]
    except OSError:
        return ""
    return f"process {pid} (`{command}`, since {since})" if pid else ""


def _acquire(handle: int, path: str, wait: float) -> None:
    start, pause = time.monotonic(), _FIRST_PAUSE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
                raise Unwritable(path, error.strerror or str(error)) from error
        else:
            return
        waited = time.monotonic() - start
        if waited > wait:
            raise Busy("the write lock", holder(path), waited)
        time.sleep(min(pause, wait))
        pause = _STARVING_PAUSE if waited > _STARVING else min(pause * 1.5, _LONGEST_PAUSE)


def _sign(handle: int) -> None:
    command = " ".join(os.path.basename(word) if index == 0 else word for index, word in enumerate(sys.argv[:2]))
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = f"{os.getpid()}\t{command[:120].replace(chr(9), ' ').replace(chr(10), ' ')}\t{since}\n".encode(
        "utf-8", "replace"
    )
    try:
        os.pwrite(handle, line.ljust(200, b" ")[:199] + b"\n" if len(line) < 200 else line, 0)
    except OSError:
        return  # a full disk must not stop a reader of the lock; the line is only for people
