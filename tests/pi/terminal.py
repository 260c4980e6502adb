"""Pi's full-screen mode under tmux: keys in, screen text out, always polled, never slept for."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, Self

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

_numbers = itertools.count()


class Terminal:
    """One Pi in a terminal of its own; leaving the context ends the terminal."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        if shutil.which("tmux") is None:
            pytest.skip("tmux is needed for the full-screen mode")
        self._tmux = ["tmux", "-L", f"noforgetti-{os.getpid()}-{next(_numbers)}"]
        start = [*self._tmux, "-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "40", "-s", "pi"]
        subprocess.run([*start, "-c", str(cwd), *argv], env={**env, "TERM": "xterm-256color"}, check=True, timeout=20)

    def keys(self, *what: str) -> None:
        """Press keys by tmux name, or type text."""
        subprocess.run([*self._tmux, "send-keys", "-t", "pi", *what], check=True, timeout=20)

    def enter(self, text: str) -> None:
        """Type a line and submit it, as soon as it stands in the editor."""
        self.keys("-l", text)
        self.until(text)
        self.keys("Enter")

    def screen(self) -> str:
        """What is to be seen now."""
        shown = [*self._tmux, "capture-pane", "-p", "-t", "pi"]
        return subprocess.run(shown, capture_output=True, text=True, timeout=20).stdout

    def until(self, text: str, timeout: float = 20) -> str:
        """The screen, as soon as it holds the text."""
        end = time.monotonic() + timeout
        while text not in (shown := self.screen()):
            if time.monotonic() > end:
                msg = f"{text!r} is not on the screen:\n{shown}"
                raise TimeoutError(msg)
            time.sleep(0.05)
        return shown

    def quit(self, timeout: float = 15) -> float:
        """`/quit`; how many seconds until the terminal is gone."""
        self.keys("-l", "/quit")
        self.until("/quit")
        start = time.monotonic()
        self.keys("Enter")
        while self._runs():
            if time.monotonic() - start > timeout:
                msg = f"pi did not quit:\n{self.screen()}"
                raise TimeoutError(msg)
            time.sleep(0.02)
        return time.monotonic() - start

    def _runs(self) -> bool:
        return subprocess.run([*self._tmux, "has-session", "-t", "pi"], capture_output=True).returncode == 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, timeout=20)
