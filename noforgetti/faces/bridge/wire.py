"""JSON-RPC 2.0, one document a line, requests both ways. See docs/bridge-protocol.md.

Lines are escaped to ASCII, because some readers split on U+2028 too. The standard library's JSON is used rather than
msgspec's: a host may send a lone surrogate as an escape, which must become a refusal and not a dead bridge. Shapes are
checked by msgspec where a method reads its parameters.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TYPE_CHECKING, Any

from noforgetti.errors import Kind, NoForgettiError

if TYPE_CHECKING:
    from collections.abc import Callable

UNKNOWN_METHOD, BAD_PARAMS, BAD_LINE, FAULT = -32601, -32602, -32700, -32603
EXPECTED, UNAVAILABLE = -32000, -32001
LONGEST = 64 * 1024 * 1024  # bytes of one line: a whole session of megabyte turns fits; more is not a request
_PIECE = 4_096  # bytes; a pipe that says it takes some takes as many without blocking (PIPE_BUF)
_DEAF = 0.5  # seconds that a host which hung up may leave an answer unread

Message = dict[str, Any]


class HostError(NoForgettiError):
    """The host answered a request of ours with an error, too late, or not at all."""

    kind = Kind.UNAVAILABLE
    reason = "host-unavailable"


class Peer:
    """Our end of the line. `send` may be called from any thread; `listen` runs in one of its own."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing
        self._sending = threading.Lock()
        self._deaf = False
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Any]] = {}
        self.closed = threading.Event()

    def send(self, message: Message) -> None:
        """Write one line. A host that is gone is noticed by `listen`; nothing is raised here."""
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=True).encode("ascii") + b"\n"
        with self._sending:
            try:
                view = memoryview(line)
                while view and self._readable_there():
                    view = view[os.write(self._writing, view[:_PIECE]) :]
            except OSError:
                self.closed.set()

    def _readable_there(self) -> bool:
        """Wait until the host takes more. One that hung up and does not read is not waited for: a write that blocks
        would keep the process for ever."""
        while not self._deaf:
            if select.select((), (self._writing,), (), _DEAF)[1]:
                return True
            self._deaf = self.closed.is_set()
        return False

    def answer(self, number: Any, result: Message) -> None:
        """Answer a request of the host."""
        self.send({"id": number, "result": result})

    def refuse(self, number: Any, code: int, message: str, **data: str) -> None:
        """Answer a request of the host with an error."""
        self.send({"id": number, "error": {"code": code, "message": message, "data": data}})

    def tell(self, method: str, params: Message) -> None:
        """Tell the host something; it does not answer."""
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Message, timeout: float) -> Message:
        """Ask the host and wait at most `timeout` seconds, not in the thread that listens. Raises `HostError`."""
        number = next(self._numbers)
        waiting: Future[Any] = Future()
        self._waiting[number] = waiting
        self.send({"id": number, "method": method, "params": params})
        try:
            result = waiting.result(timeout)
        except FutureTimeout as error:
            raise HostError(f"The host did not answer `{method}` within {timeout:.0f} s.") from error
        finally:
            self._waiting.pop(number, None)
        if not isinstance(result, dict):
            raise HostError(f"The host's answer to `{method}` is no object.")
        return result

    def listen(self, requested: Callable[[Message], None]) -> None:
        """Read lines until the host closes its end; hand over requests, settle our own. Then `closed` is set."""
        rest = bytearray()
        while not self.closed.is_set():
            try:
                chunk = os.read(self._reading, 1 << 16)
            except OSError:
                break
            if not chunk:
                break
            rest += chunk
            if b"\n" in chunk:
                *lines, left = rest.split(b"\n")
                rest = bytearray(left)
                for line in lines:
                    self._line(bytes(line), requested)
            if len(rest) > LONGEST:
                break
        self.closed.set()
        for waiting in list(self._waiting.values()):
            if not waiting.done():
                waiting.set_exception(HostError("The host is gone."))

    def _line(self, line: bytes, requested: Callable[[Message], None]) -> None:
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self.refuse(None, BAD_LINE, "The line is no JSON document.")
            return
        if not isinstance(message, dict):
            self.refuse(None, BAD_LINE, "The line is no JSON-RPC message.")
        elif "method" in message:
            requested(message)
        else:
            self._settle(message)

    def _settle(self, message: Message) -> None:
        number = message.get("id")
        waiting = self._waiting.get(number) if isinstance(number, int) else None
        if waiting is None or waiting.done():
            return
        error = message.get("error")
        if error is None:
            waiting.set_result(message.get("result"))
            return
        said = error.get("message") if isinstance(error, dict) else None
        waiting.set_exception(HostError(f"The host refused: {said or 'no reason given'}"))
