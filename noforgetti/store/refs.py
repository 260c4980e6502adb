"""Moving one ref by git's own protocol: lock file, comparison under the lock, sync, rename, sync of the folder.

This is what git and libgit2 do, with two differences that a memory needs. The comparison reads the ref again while the
lock is held, so two writers never both win; libgit2's transaction leaves that to its caller. And only the ref is
synced, not the two reflogs beside it: libgit2 syncs all three with their folders, six waits where two decide
(docs/benchmarks.md). A reflog line that a power cut loses is a line of comfort; the ref itself is never torn, because
it is synced before it gets its name.
"""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

from noforgetti.store import failpoints, folders
from noforgetti.store.base import Busy, Conflict, Unwritable
from noforgetti.store.disk import sync, sync_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.model.entry import CommitId

STALE = 5.0  # seconds after which a lock file, met under the write lock, is a dead writer's
_PAUSE = 0.010  # seconds between looks at a fresh lock file of a git program, which holds one for milliseconds
_ZERO = "0" * 40


class Refs:
    """The ref files of one repository. `trace` is told what was cleared away."""

    def __init__(self, repository: str, trace: Callable[[str], None]) -> None:
        self._repository, self._trace = repository, trace

    def swap(
        self,
        ref: str,
        new: CommitId,
        old: CommitId | None,
        read: Callable[[], CommitId | None],
        *,
        reason: str,
        seconds: int,
    ) -> None:
        """Move `ref` from `old` to `new`; `old` None creates it. `read` looks the ref up, and is asked under the lock.

        The caller holds the write lock. Raises `Conflict`, `Busy` or `Unwritable`; then nothing has changed.
        """
        path = os.path.join(self._repository, ref)
        handle = self._lock(ref)
        try:
            failpoints.reach("publish:ref-locked")
            _compare(ref, old, read())
            failpoints.reach("publish:compared")
            os.write(handle, f"{new}\n".encode("ascii"))
            sync(handle)
            self._log(ref, new, old, reason, seconds)
            failpoints.reach("publish:ref-set")
            os.rename(path + ".lock", path)
        except OSError as error:
            self._release(path)
            raise Unwritable(path, error.strerror or str(error)) from error
        except BaseException:
            self._release(path)
            raise
        finally:
            os.close(handle)
        sync_path(os.path.dirname(path))

    def clear_stale(self, ref: str) -> None:
        """Remove the lock file that a dead writer left. Under the write lock it is no living writer of ours."""
        path = os.path.join(self._repository, ref + ".lock")
        try:
            age = abs(time.time() - os.stat(path).st_mtime)  # a clock that was set back dates it into the future
        except OSError:
            return
        if age > STALE:
            try:
                os.unlink(path)
            except FileNotFoundError:
                return
            except OSError as error:
                raise Unwritable(path, error.strerror or str(error)) from error
            self._trace(f"a lock file that a killed process left on `{ref}` {age:.0f} s ago was removed")

    def remove_torn(self, ref: str) -> None:
        """Remove the file of a ref that cannot be read, which libgit2 does not delete. The write lock is held."""
        try:
            os.unlink(os.path.join(self._repository, ref))
        except FileNotFoundError:
            return
        except OSError as error:
            raise Unwritable(ref, error.strerror or str(error)) from error

    def _lock(self, ref: str) -> int:
        path = os.path.join(self._repository, ref) + ".lock"
        end = time.monotonic() + STALE + 1
        while True:
            self.clear_stale(ref)
            try:
                folders.make(os.path.dirname(path))
                return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except OSError as error:
                if error.errno != errno.EEXIST:
                    raise Unwritable(path, error.strerror or str(error)) from error
            if time.monotonic() > end:
                raise Busy(f"`{ref}`", "another git program", STALE)
            time.sleep(_PAUSE)

    def _log(self, ref: str, new: CommitId, old: CommitId | None, reason: str, seconds: int) -> None:
        """One line in git's own format; the way back when a head cannot be read."""
        path = os.path.join(self._repository, "logs", ref)
        words = " ".join(reason.split())[:200]
        line = f"{old or _ZERO} {new} noforgetti <noforgetti@localhost> {seconds} +0000\t{words}\n"
        folders.make(os.path.dirname(path))
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, line.encode("utf-8", "replace"))
        finally:
            os.close(handle)

    def _release(self, path: str) -> None:
        try:
            os.unlink(path + ".lock")
        except OSError:
            return


def _compare(ref: str, old: CommitId | None, actual: CommitId | None) -> None:
    if actual != old:
        raise Conflict(ref.rpartition("/")[2], old, actual)
