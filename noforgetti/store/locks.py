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
from noforgetti.store.folders import private

if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT = 5.0  # seconds; the reference system's lock wait
_PAUSE = 0.001  # seconds between looks of a waiter; a publish under the lock takes about 1 ms
_TURN = 0.003  # seconds for which a writer lets others go first: three looks of a waiter


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
        _give_way(path)


@contextmanager
def alone(folder: str) -> Iterator[None]:
    """One process at a time makes or mends what lies in `folder`; the others wait as long as that takes. Raises
    `OSError`."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def holder(path: str) -> str:
    """Who signed the lock last, in words; empty when nobody did."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            pid, command, since = [*file.readline(4096).rstrip().split("\t"), "", ""][:3]
    except OSError:
        return ""
    return f"process {pid} (`{command}`, since {since})" if pid else ""


def held(path: str) -> str:
    """Who holds the lock right now, in words; empty when nobody does, or there is no lock yet. Takes nothing away: a
    writer that comes in the instant of looking waits as for any other."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return holder(path) or "another process"
    finally:
        os.close(handle)
    return ""


def _acquire(handle: int, path: str, wait: float) -> None:
    if _taken(handle, path):
        return
    start = time.monotonic()
    with open(path + ".waiting", "wb", opener=private) as waiting:
        fcntl.flock(waiting, fcntl.LOCK_SH)  # tells who holds the lock that somebody waits; freed with the file
        while not _taken(handle, path):
            waited = time.monotonic() - start
            if waited > wait:
                raise Busy("the write lock", holder(path), waited)
            time.sleep(_PAUSE)


def _taken(handle: int, path: str) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
            return False
        raise Unwritable(path, error.strerror or str(error)) from error
    return True


def _give_way(path: str) -> None:
    """Pause while others wait. A writer that writes on and on would take the lock again before anybody has woken up;
    eight of them on two busy cores kept one waiting for more than `WAIT`."""
    try:
        with open(path + ".waiting", "r+b") as waiting:
            fcntl.flock(waiting, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(_TURN)
    except OSError:
        return  # nobody ever waited, or the folder is gone


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
