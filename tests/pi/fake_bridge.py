"""The test's end of `fakes/bridge.py`: the plan it answers by, and everything it heard, awaited as events."""

from __future__ import annotations

import json
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

SCRIPT = Path(__file__).resolve().parent / "fakes" / "bridge.py"
Message = dict[str, Any]


class FakeBridge:
    """Give `command` to a Lab; then read what the extension sent."""

    def __init__(self, folder: Path) -> None:
        self._plan = folder / "plan.json"
        self.heard: list[Message] = []
        self.starts: list[Message] = []
        self.ends = 0
        self._changed = threading.Condition()
        self._server = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()
        self.plan()

    @property
    def command(self) -> list[str]:
        """How the extension starts it; `-S -E` because it needs nothing but the standard library."""
        port = self._server.getsockname()[1]
        return [sys.executable, "-S", "-E", str(SCRIPT), str(self._plan), str(port)]

    def plan(self, **plan: Any) -> None:
        """Answer by this plan from now on; see the script."""
        fresh = self._plan.with_suffix(".new")
        fresh.write_text(json.dumps(plan), encoding="utf-8")
        fresh.replace(self._plan)

    def asked(self, method: str) -> list[Message]:
        """The parameters of every request of that method so far."""
        return [message["params"] for message in list(self.heard) if message.get("method") == method]

    def wait_asked(self, method: str, times: int = 1, timeout: float = 20) -> Message:
        """The parameters of the n-th request of that method, as soon as it came."""
        self._wait(lambda: len(self.asked(method)) >= times, f"{method} x {times}", timeout)
        return self.asked(method)[times - 1]

    def wait_answer(self, ask: object, timeout: float = 20) -> Message:
        """What Pi answered to the bridge's own request of that id."""

        def answers() -> list[Message]:
            return [m for m in list(self.heard) if "method" not in m and m.get("id") == ask]

        self._wait(lambda: bool(answers()), f"an answer to {ask}", timeout)
        return answers()[0]

    def wait_gone(self, timeout: float = 10) -> None:
        """Returns when every process that was started has ended: its socket closes with it."""
        self._wait(lambda: bool(self.starts) and self.ends == len(self.starts), "the end of the bridge", timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for connection in self._connections:
            connection.close()
        for thread in self._threads:
            thread.join(5)

    def _wait(self, done: Callable[[], bool], what: str, timeout: float) -> None:
        with self._changed:
            if not self._changed.wait_for(done, timeout):
                methods = [message.get("method", "answer") for message in self.heard]
                msg = f"not seen: {what}; heard {methods}, {len(self.starts)} starts, {self.ends} ends"
                raise TimeoutError(msg)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self._connections.append(connection)
            thread = threading.Thread(target=self._listen, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _listen(self, connection: socket.socket) -> None:
        try:
            with connection.makefile("rb") as lines:
                for line in lines:
                    self._note(json.loads(line))
        except OSError:
            pass  # a killed process resets its connection
        with self._changed:
            self.ends += 1
            self._changed.notify_all()

    def _note(self, report: Message) -> None:
        with self._changed:
            if "started" in report:
                self.starts.append(report)
            else:
                self.heard.append(report["heard"])
            self._changed.notify_all()
