"""The reviewer that is any program: the prompt on its stdin, one JSON object on its stdout.

Guaranteed: the program runs without a shell, in a process group of its own, for a bounded time and with
bounded output; the whole group is gone when `complete` returns, when `stop` is called, and when this
process dies, however it dies (a small watchdog holds the other end of a pipe). Its environment says that it
reviews for us, so that an agent started this way does not load, write or review memory itself."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from noforgetti.review.reviewer import Completion, ReviewAbortedError, ReviewerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TIMEOUT = 300.0  # seconds for one answer (upstream's model time limit)
OUTPUT = 262_144  # bytes of stdout; a proposal needs under 16,000, the rest is room for chatter
_ERRORS = 4_096  # bytes of stderr kept, to quote its last line
_QUOTED = 200  # characters of that line in a message
_STEP = 0.01  # seconds between looks at the program
MARKERS = {"PI_SUBAGENT_CHILD": "1", "NOFORGETTI_REVIEWER": "1"}

# Ends the group when our end of its stdin closes without a byte: the one sign of our death that no signal
# can suppress.
_WATCH = """
import os, signal, sys
if not os.read(0, 1):
    try: os.killpg(int(sys.argv[1]), signal.SIGKILL)
    except OSError: pass
"""


@dataclass(slots=True)
class CommandReviewer:
    """Runs `argv` once for each answer. `env` is the whole environment it gets, markers added; `cwd` where
    it runs."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str | None = None
    timeout: float = TIMEOUT
    output: int = OUTPUT
    name: str = "command"
    _running: subprocess.Popen[bytes] | None = field(default=None, init=False, repr=False)
    _stopped: bool = field(default=False, init=False)

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        """What the program printed. Raises `ReviewerError` when it cannot start, fails, is too slow or says
        too much, and `ReviewAbortedError` after `stop`."""
        del max_tokens  # a program has no such limit; its output is bounded instead
        if self._stopped:
            raise _aborted()
        try:
            process = subprocess.Popen(
                list(self.argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**self.env, **MARKERS},
                cwd=self.cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as trouble:
            raise _failed(f"`{_shown(self.argv)}` cannot be started: {trouble}") from trouble
        self._running = process
        try:
            with process:
                try:
                    with _watched(process.pid, self.env):
                        return self._talk(process, f"{system}\n\n{prompt}\n".encode())
                finally:
                    _end(process)
        finally:
            self._running = None

    def stop(self) -> None:
        """Call the review off from another thread: the program's group ends at once. For good; safe to call
        twice."""
        self._stopped = True
        process = self._running
        if process is not None:
            _end(process)

    def _talk(self, process: subprocess.Popen[bytes], text: bytes) -> Completion:
        deadline = time.monotonic() + self.timeout
        out = _Reading(_pipe(process.stdout), self.output)
        errors = _Reading(_pipe(process.stderr), _ERRORS, tail=True)
        threads = [threading.Thread(target=work, daemon=True) for work in (out.run, errors.run)]
        threads.append(threading.Thread(target=_write, args=(_pipe(process.stdin), text), daemon=True))
        for thread in threads:
            thread.start()
        finished = _exits(process, deadline, out)
        _end(process)  # also what the program left behind in its group: the pipes end with it
        for thread in threads:
            thread.join(1.0)
        if self._stopped:
            raise _aborted()
        if out.over:
            raise _failed(f"`{_shown(self.argv)}` printed more than {self.output:,} bytes")
        if not finished:
            raise _failed(f"`{_shown(self.argv)}` did not answer within {self.timeout:g} seconds")
        if process.wait() != 0:
            raise _failed(f"`{_shown(self.argv)}` ended with status {process.returncode}{_last_line(errors.data)}")
        return Completion(out.data.decode("utf-8", errors="replace"))


@dataclass(slots=True)
class _Reading:
    """Reads a pipe to its end or to the limit; with `tail`, to its end, keeping the last bytes."""

    pipe: IO[bytes]
    limit: int
    tail: bool = False
    data: bytes = b""
    over: bool = False

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the pipe was closed under us: the program was ended
            while chunk := os.read(self.pipe.fileno(), 65_536):
                self.data += chunk
                if self.tail:
                    self.data = self.data[-self.limit :]
                elif len(self.data) > self.limit:
                    self.over = True
                    return


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:  # cannot be: every call asks for it
        raise _failed("has no pipe")
    return pipe


def _write(pipe: IO[bytes], text: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):  # a program need not read its prompt; its answer decides
        pipe.write(text)
    with contextlib.suppress(OSError, ValueError):
        pipe.close()


def _exits(process: subprocess.Popen[bytes], deadline: float, out: _Reading) -> bool:
    """Wait for the end without reaping, so that the group's number stays ours until the group is ended. False
    when the time is over or too much was said."""
    while time.monotonic() < deadline and not out.over:
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return True
        time.sleep(_STEP)
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole group. The leader is not reaped before, so the number cannot mean anybody else."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says EPERM for a group of zombies
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def _watched(group: int, env: Mapping[str, str]) -> Iterator[None]:
    try:
        watchdog = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _WATCH, str(group)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=env,
            start_new_session=True,
        )
    except OSError as trouble:
        raise _failed(f"cannot be watched: {trouble}") from trouble
    with watchdog:
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                _pipe(watchdog.stdin).write(b".")
                _pipe(watchdog.stdin).flush()


def _shown(argv: Sequence[str]) -> str:
    return os.path.basename(argv[0]) if argv else ""


def _last_line(errors: bytes) -> str:
    lines = errors.decode("utf-8", errors="replace").strip().splitlines()
    said = "".join(one if one.isprintable() else " " for one in lines[-1])[:_QUOTED] if lines else ""
    return f", saying: {said}" if said else ""


def _failed(why: str) -> ReviewerError:
    return ReviewerError(
        f"The reviewer {why}. Nothing was reviewed.", hint="run the command by hand, or set another reviewer"
    )


def _aborted() -> ReviewAbortedError:
    return ReviewAbortedError("The review was called off. Nothing was reviewed.")
