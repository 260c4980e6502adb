"""A host in a few lines: starts the bridge as a process, speaks to it over pipes, waits for nothing without a limit."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from service.said import Session
from store.builders import PACKAGE, clean_environ, made_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Document = dict[str, Any]
LIMIT = 30.0  # seconds for one answer on a busy machine; what must be quick is measured by its test


class Bridge:
    """One bridge process. Messages that are no answers are kept in `told`; `asks` answers its requests."""

    def __init__(self, project: Path, home: Path, environ: dict[str, str], *, library: str = "") -> None:
        more = {"PYTHONPATH": os.pathsep.join([str(PACKAGE), *([library] if library else [])]), **environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "noforgetti", "serve", "--stdio"],
            cwd=project,
            env={**clean_environ(NOFORGETTI_HOME=str(home)), **more},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.told: list[Document] = []
        self.asked: list[Document] = []
        self.asks: Callable[[Document], Document | None] = lambda _: None
        self.raw: list[bytes] = []
        self.errors = b""
        self._number = 0
        self._answers: queue.Queue[Document] = queue.Queue()
        self._news = threading.Condition()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._listen, self._drain)]
        for thread in self._threads:
            thread.start()

    # ---- the host's end

    def write(self, data: bytes) -> None:
        """Bytes on the bridge's stdin."""
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, method: str, params: Any) -> int:
        """One request, not waited for; its number."""
        self._number += 1
        self.write(
            json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}).encode() + b"\n"
        )
        return self._number

    def answer(self, number: int | str | None, limit: float = LIMIT) -> Document:
        """The answer to a request."""
        end = time.monotonic() + limit
        passed: list[Document] = []
        try:
            while True:
                found = self._answers.get(timeout=max(0.0, end - time.monotonic()))
                if found.get("id") == number:
                    return found
                passed.append(found)
        except queue.Empty:
            raise AssertionError(f"no answer to {number} in {limit} s; stderr: {self.errors!r}") from None
        finally:
            for one in passed:
                self._answers.put(one)

    def call(self, method: str, limit: float = LIMIT, **params: Any) -> Document:
        """The result of a request that is expected to work."""
        found = self.answer(self.send(method, params), limit)
        assert "error" not in found, found
        result: Document = found["result"]
        return result

    def refused(self, method: str, params: Any) -> Document:
        """The error of a request that is expected to fail."""
        found = self.answer(self.send(method, params))
        assert "result" not in found, found
        error: Document = found["error"]
        return error

    def until(self, happened: Callable[[], Any], limit: float = LIMIT) -> None:
        """Wait for something that a message brings about."""
        with self._news:
            assert self._news.wait_for(happened, limit), (self.told, self.asked, self.errors)

    def notices(self) -> list[str]:
        """The texts of all notices so far."""
        return [one["params"]["text"] for one in self.told if one["method"] == "notice"]

    def close(self) -> None:
        """Hang up."""
        assert self.process.stdin
        if not self.process.stdin.closed:
            self.process.stdin.close()

    def gone(self, limit: float) -> bool:
        """Whether the process ends within `limit` seconds."""
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            return False
        for thread in self._threads:
            thread.join(5)
        return True

    def end(self) -> None:
        """Let nothing of it live on."""
        self.close()
        if not self.gone(5):
            self.process.kill()
            self.gone(5)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()

    # ---- its voice

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.raw.append(line)
            message = json.loads(line)
            with self._news:
                if "method" not in message:
                    self._answers.put(message)
                elif "id" in message:
                    self.asked.append(message)
                    self._reply(message)
                else:
                    self.told.append(message)
                self._news.notify_all()

    def _reply(self, message: Document) -> None:
        reply = self.asks(message)
        if reply is not None:
            self.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}).encode() + b"\n")

    def _drain(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.errors += line


class Host:
    """A project with its home, bridges on it, and a session."""

    def __init__(self, folder: Path) -> None:
        self.project = made_project(folder.resolve() / "webshop")
        self.home = folder.resolve() / "home"
        self.session = Session(folder / "s1.jsonl")
        self.who: Document = {"id": "s1", "file": str(self.session.file)}
        self.environ: dict[str, str] = {"HOME": str(folder)}
        self.bridges: list[Bridge] = []

    def start(self, *, hello: bool = True, library: str = "") -> Bridge:
        """One more bridge, introduced unless told otherwise."""
        bridge = Bridge(self.project, self.home, self.environ, library=library)
        self.bridges.append(bridge)
        if hello:
            bridge.call("hello", protocol=1, host="test", host_version="0", cwd=str(self.project))
        return bridge

    def config(self, text: str) -> None:
        """Write the settings."""
        self.home.mkdir(exist_ok=True)
        (self.home / "config.toml").write_text(text, encoding="utf-8")

    def tool(self, bridge: Bridge, branch: str | None = None, **arguments: Any) -> Document:
        """One call of the agent's tool."""
        return bridge.call("tool", name="project_memory", arguments=arguments, session=self.who, branch=branch)

    def turn(self, bridge: Bridge, branch: str | None = None) -> Document:
        """The start of a turn."""
        return bridge.call("turn/start", session=self.who, branch=branch, prompt="Hello.")

    def settle(self, bridge: Bridge, *prompts: str, outcome: str = "completed", branch: str | None = None) -> None:
        """A run ended; the session holds its prompts."""
        self.session.say(*prompts)
        bridge.call("turn/settled", session=self.who, branch=branch, outcome=outcome, prompts=list(prompts))

    def command(self, bridge: Bridge, line: str, branch: str | None = None) -> Document:
        """What the user typed after `/memory`."""
        return bridge.call("command", session=self.who, branch=branch, line=line, interactive=True)

    def texts(self, bridge: Bridge, branch: str | None = None) -> list[str]:
        """The entries of a branch."""
        return [one["text"] for one in self.tool(bridge, branch, action="list")["details"]["entries"]]

    @property
    def repository(self) -> Path:
        """The memory's repository."""
        (found,) = (self.home / "data" / "projects").glob("*.git")
        return found


def says(text: str, **more: Any) -> Document:
    """The answer of the host's model."""
    return {
        "result": {
            "text": text,
            "stop_reason": "stop",
            "model": "acme/small",
            "usage": {"input": 9, "output": 3},
            **more,
        }
    }


@contextmanager
def hosting(folder: Path) -> Iterator[Host]:
    """A host; its bridges end with it."""
    made = Host(folder)
    try:
        yield made
    finally:
        for bridge in made.bridges:
            bridge.end()
