"""A client of the server as hosts are: the SDK's own over pipes, and one that writes bytes."""

from __future__ import annotations

import asyncio
import json
import queue
import subprocess
import sys
import threading
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from store.builders import PACKAGE, clean_environ

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from mcp_types import CallToolResult

LIMIT = 60.0  # seconds for one answer on a busy machine
MODES = ("legacy", "auto", "2026-07-28")
Document = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Where a server runs: a project, a home, and what else its environment holds."""

    project: Path
    home: Path
    environ: dict[str, str]

    @property
    def command(self) -> list[str]:
        """What a host starts."""
        return [sys.executable, "-m", "noforgetti", "mcp"]

    @property
    def settings(self) -> dict[str, str]:
        """The server's whole environment."""
        kept = {name: value for name, value in clean_environ().items() if not name.startswith(("PI_", "XDG_"))}
        return {
            **kept,
            "PYTHONPATH": str(PACKAGE),
            "NOFORGETTI_HOME": str(self.home),
            "HOME": str(self.home.parent),
            **self.environ,
        }

    def cli(self, *words: str) -> Document:
        """One command of the command line in the same project; its document."""
        done = subprocess.run(
            [sys.executable, "-m", "noforgetti", "--json", *words],
            cwd=self.project,
            env=self.settings,
            capture_output=True,
            text=True,
            check=False,
        )
        found: Document = json.loads(done.stdout)
        return found

    @asynccontextmanager
    async def client(self, mode: str = "legacy", **options: Any) -> AsyncIterator[Client]:
        """The SDK's client, connected to a server of its own."""
        program, *arguments = self.command
        server = StdioServerParameters(command=program, args=arguments, cwd=self.project, env=self.settings)
        async with Client(server, mode=mode, read_timeout_seconds=LIMIT, **options) as connected:
            yield connected

    def talk(self, work: Callable[[Client], Awaitable[Any]], mode: str = "legacy", **options: Any) -> Any:
        """What `work` answers, with a client of its own."""

        async def run() -> Any:
            async with self.client(mode, **options) as client:
                try:
                    return await work(client), None
                except Exception as error:  # noqa: BLE001 - raised below: inside, the client would wrap it
                    return None, error

        found, failed = asyncio.run(run())
        if failed is not None:
            raise failed
        return found


def said(result: CallToolResult) -> str:
    """What a person or model reads."""
    [part] = result.content
    assert part.type == "text"
    return part.text


class Wire:
    """A server whose pipes a test holds: bytes in, messages out."""

    def __init__(self, place: Place, *words: str) -> None:
        self.process = subprocess.Popen(
            [*place.command[:-1], *words, "mcp"],
            cwd=place.project,
            env=place.settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._number = 0
        self._messages: queue.SimpleQueue[Document | None] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def greet(self) -> Document:
        """The handshake of the hosts that there are."""
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        greeted = self.ask("initialize", about)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return greeted

    def write(self, message: Document | bytes) -> None:
        """One line."""
        assert self.process.stdin
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: Document) -> int:
        """One request, not waited for; its number."""
        self._number += 1
        self.write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def ask(self, method: str, params: Document) -> Document:
        """One request and its answer; notifications on the way are passed over."""
        number = self.send(method, params)
        while (message := self.next()).get("id") != number:
            pass
        return message

    def call(self, tool: str, **arguments: Any) -> Document:
        """The result of one tool call."""
        result: Document = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def next(self) -> Document:
        """The next message, whatever it is."""
        found = self._messages.get(timeout=LIMIT)
        assert found is not None, "the server's output ended"
        return found

    def end(self) -> tuple[int, bytes]:
        """Close our end; the exit status and what was printed on stderr."""
        assert self.process.stdin
        assert self.process.stderr
        self.process.stdin.close()
        errors = self.process.stderr.read()
        return self.process.wait(LIMIT), errors

    def close(self) -> None:
        """Whatever became of the process: gone, and its pipes with it."""
        self.process.kill()
        self.process.wait()
        self._listener.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            with suppress(OSError):
                pipe.close()

    def _listen(self) -> None:
        assert self.process.stdout
        with suppress(ValueError):  # a test closed our end
            for line in self.process.stdout:
                self._messages.put(json.loads(line))
        self._messages.put(None)
