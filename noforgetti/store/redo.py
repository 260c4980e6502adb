"""The object log: a second copy of recently written objects, so that they need not be synced one by one.

A memory commit is four objects. Made durable the usual way that is eight syncs, and the syncs are what a write costs.
Instead the objects are written as git's loose files without a sync, and appended once more, together, to this log,
which is synced once. After a power cut the loose files may be missing, empty or torn; the log then brings them back.
It is a copy and never the truth: deleting it loses nothing but that insurance.

* A record is appended whole, under a shared lock, before the ref that needs it moves.
* Past `CHECKPOINT` bytes the loose files themselves are synced and the log begins anew, under the exclusive lock, so
  that no record is dropped whose objects that sync did not see.
* The first line names the boot it was written in. Under another boot every object in it is checked and, where it does
  not read, written again, before anything else is done.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from typing import TYPE_CHECKING

from noforgetti.store.base import Unwritable
from noforgetti.store.disk import sync, sync_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

CHECKPOINT = 1_048_576  # bytes; some 600 commits. Larger saves little, smaller stalls more writes
_HEADER = b"noforgetti objects 1 "
_RECORD = re.compile(rb"object (?P<kind>blob|tree|commit) (?P<oid>[0-9a-f]{40}) (?P<size>\d{1,9})\n")

Record = tuple[str, str, bytes]  # kind, id, content


class ObjectLog:
    """The log of one repository. Belongs to one thread."""

    def __init__(self, repository: str) -> None:
        self._path = os.path.join(repository, "objects.log")
        self._boot = _boot_id()

    @property
    def foreign(self) -> bool:
        """True when the log was written before the machine last started, so its objects may have been lost."""
        try:
            with open(self._path, "rb") as file:
                head = file.readline(200)
        except OSError:
            return False
        return head != self._header()

    def append(self, records: Iterable[Record]) -> None:
        """Make the records durable. Raises `Unwritable`, and then the objects count as not written."""
        data = b"".join(
            b"object %s %s %d\n%s\n" % (kind.encode(), oid.encode(), len(content), content)
            for kind, oid, content in records
        )
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Unwritable(self._path, error.strerror or str(error)) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            if os.fstat(handle).st_size == 0:
                data = self._header() + data
            _write(handle, data)
            sync_data(handle)
        except OSError as error:
            raise Unwritable(self._path, error.strerror or str(error)) from error
        finally:
            os.close(handle)

    def due(self) -> bool:
        """True when the log is long enough to begin anew."""
        try:
            return os.stat(self._path).st_size > CHECKPOINT
        except OSError:
            return False

    def checkpoint(self, save: Callable[[Iterable[Record]], None]) -> None:
        """Let `save` make the log's objects durable in their own files, then begin anew. Skipped while one appends."""
        with contextlib.suppress(OSError), open(self._path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            save(_records(file.read()))
            file.seek(0)
            file.truncate()
            file.write(self._header())
            file.flush()
            sync(file.fileno())

    def records(self) -> Iterator[Record]:
        """What the log holds, oldest first, without torn records. The reader checks that content fits its id."""
        try:
            with open(self._path, "rb") as file:
                data = file.read()
        except OSError:
            return iter(())
        return _records(data)

    def _header(self) -> bytes:
        return _HEADER + self._boot + b"\n"


def _records(data: bytes) -> Iterator[Record]:
    start = 0
    while found := _RECORD.search(data, start):
        size = int(found["size"])
        content = data[found.end() : found.end() + size]
        yield found["kind"].decode(), found["oid"].decode(), content
        # A torn record may be followed by a whole one: only a whole one may be skipped in one step.
        whole = data[found.end() + size : found.end() + size + 1] == b"\n"
        start = found.end() + size + 1 if whole else found.end()


def _write(handle: int, data: bytes) -> None:
    # One call, so that appends of two processes do not interleave; a short write means a full disk.
    if os.write(handle, data) != len(data):
        raise OSError(28, "No space left on device")


def _boot_id() -> bytes:
    """What tells this start of the machine from the last: the kernel's own id, or the time it started."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            return file.read(64).strip()
    except OSError:
        import subprocess

        with contextlib.suppress(OSError):
            done = subprocess.run(["sysctl", "-n", "kern.boottime"], capture_output=True, check=False)
            return b"".join(done.stdout.split()[:4])[:100]
    return b"unknown"
