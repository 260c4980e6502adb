"""Drives `pi --mode rpc`: JSON lines both ways, one reader thread, a deadline on every wait."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any, Self, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

Record = dict[str, Any]


class PiRpc:
    """One Pi process. Leaving the context closes its stdin, an orderly quit, and waits for the end."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.records: list[Record] = []
        self.stderr: list[str] = []
        self._arrived: queue.Queue[Record | None] = queue.Queue()
        self._next = 0
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._read_stderr)]
        for thread in self._threads:
            thread.start()

    def send(self, record: Record) -> str:
        """Send a record with an id of its own; the id."""
        self._next += 1
        record = {"id": f"t{self._next}", **record}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(record).encode() + b"\n")
        self.process.stdin.flush()
        return str(record["id"])

    def wait(self, wanted: Callable[[Record], bool], timeout: float = 20) -> Record:
        """The next record that fits; everything on the way is kept in `records`."""
        until = time.monotonic() + timeout
        while True:
            try:
                record = self._arrived.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                msg = f"not seen; last records {self.records[-5:]}; stderr {self.stderr[-5:]}"
                raise TimeoutError(msg) from None
            if record is None:
                msg = f"pi ended ({self.process.wait(5)}): {''.join(self.stderr)}"
                raise EOFError(msg)
            self.records.append(record)
            if wanted(record):
                return record

    def call(self, kind: str, timeout: float = 20, **fields: Any) -> Record:
        """One RPC command and its response's data."""
        wanted = self.send({"type": kind, **fields})
        answer = self.wait(lambda r: r.get("type") == "response" and r.get("id") == wanted, timeout)
        assert answer["success"], answer
        return cast(Record, answer.get("data") or {})

    def ask(self, text: str, timeout: float = 20) -> None:
        """A prompt, up to the end of its run; or a slash command, up to its end."""
        mark = len(self.records)
        answer = self.call("prompt", timeout, message=text)
        settled = any(record.get("type") == "agent_settled" for record in self.records[mark:])
        if answer.get("disposition") == "started" and not settled:
            self.wait(lambda r: r.get("type") == "agent_settled", timeout)

    def command(self, line: str, timeout: float = 20) -> str:
        """A slash command; what the user is notified of."""
        mark = len(self.records)
        self.ask(line, timeout)
        return "\n".join(self.notices(mark))

    def notices(self, since: int = 0) -> list[str]:
        """Everything that the user was notified of so far."""
        return [str(r["message"]) for r in self.records[since:] if r.get("method") == "notify"]

    def notice(self, text: str, timeout: float = 20) -> str:
        """The first notice that holds the text, waiting for it when it has not come yet."""
        for message in self.notices():
            if text in message:
                return message
        return str(self.wait(lambda r: r.get("method") == "notify" and text in r["message"], timeout)["message"])

    def entries(self, custom_type: str) -> list[Record]:
        """The session's custom entries of one type, as data."""
        found = self.call("get_entries")["entries"]
        return [entry["data"] for entry in found if entry.get("customType") == custom_type]

    def close(self, timeout: float = 15) -> float:
        """End of stdin; how many seconds Pi took to end."""
        assert self.process.stdin is not None
        start = time.monotonic()
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait(timeout)
        return time.monotonic() - start

    def kill(self) -> None:
        """SIGKILL, as a crash of the machine's user would do it."""
        self.process.kill()
        self.process.wait(5)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        finally:
            if self.process.poll() is None:
                self.kill()
            for thread in self._threads:
                thread.join(5)
            for stream in (self.process.stdout, self.process.stderr):
                assert stream is not None
                stream.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:  # a binary pipe splits on LF only, as the protocol asks
            self._arrived.put(json.loads(line))
        self._arrived.put(None)

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr.append(line.decode("utf-8", "replace"))
