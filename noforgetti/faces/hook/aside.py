"""Work that may take longer than a host waits: done in a process beside this one, which gets it done all the same."""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False  # a hook has no time to load `typing`
if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST = 60  # seconds that the process beside us lives, whatever it meets
_MOST = 1_000_000  # bytes of an answer; a report is 7,500 characters, the words of what it leaves out 60,000
_DONE = b"+"  # before an answer: an empty one is one too


def done(work: Callable[[], str], failed: Callable[[Exception], None], until: float) -> str | None:
    """What `work` answers; None when it fails, or is not done at `until` (of the monotonic clock). Work that is late
    goes on by itself, so that what it keeps is there for the next call."""
    ours, theirs = os.pipe()
    if os.fork() == 0:
        os.close(ours)
        _alone(work, failed, theirs)
    os.close(theirs)
    try:
        said = read(ours, max(0.0, until - time.monotonic()), _MOST)
    finally:
        os.close(ours)
    return said[1:].decode() if said and said.startswith(_DONE) else None


def read(handle: int, seconds: float, most: int) -> bytes | None:
    """What comes until the end, or until the time is over; None when it is more than `most` bytes."""
    parts: list[bytes] = []
    size, until = 0, time.monotonic() + seconds
    while size <= most:
        left = until - time.monotonic()
        part = os.read(handle, 1 << 20) if left > 0 and select.select([handle], [], [], left)[0] else b""
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    return None


def _alone(work: Callable[[], str], failed: Callable[[Exception], None], handle: int) -> None:
    """The process beside: in a session of its own and without the host's pipes. Never returns."""
    import signal

    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_LONGEST)
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        said = _DONE + work().encode("utf-8", "replace")
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # nobody waits any more
        while said:
            said = said[os.write(handle, said) :]
    except Exception as error:  # noqa: BLE001 - the host must not notice; `status` tells the user
        failed(error)
    finally:
        os._exit(0)
