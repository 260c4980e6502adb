"""A chat-completions server on loopback with answers from a script. It keeps every request body.

with ScriptedModel() as model:
    model.when("use the tool", Reply(tool="project_memory", arguments={"action": "list"}))
    model.say("first answer", "second answer")      # in order, each once; afterwards `ok`
    gate = model.hold("REVIEW")                      # an answer that waits until `gate.set()`
    model.requests                                   # bodies, in order of arrival
"""

from __future__ import annotations

import json
import select
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted answer: text, or a tool call, or a failure."""

    text: str = "ok"
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    prompt_tokens: int = 10
    gate: threading.Event | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """An answer for requests whose last message holds a text, or that a function picks."""

    fits: Callable[[Body], bool]
    reply: Reply


def text_of(message: Body) -> str:
    """The text of a message, whichever of the two content forms it uses."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return content if isinstance(content, str) else ""


class ScriptedModel:
    """The server; use it as a context manager."""

    def __init__(self) -> None:
        self.requests: list[Body] = []
        self.arrived = threading.Condition()
        self.abandoned = threading.Event()  # the host hung up on an answer that was held back
        self.rules: list[Rule] = []
        self._queue: list[Reply] = []
        self._gates: list[threading.Event] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The base address for `models.json`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def say(self, *texts: str) -> None:
        """Answer the next requests that no rule fits with these texts."""
        self.reply(*(Reply(text=text) for text in texts))

    def reply(self, *replies: Reply) -> None:
        """Answer the next requests that no rule fits with these replies."""
        self._queue.extend(replies)

    def when(self, fits: str | Callable[[Body], bool], reply: Reply) -> None:
        """Answer every request whose last message holds the text, or that the function accepts."""
        self.rules.insert(0, Rule(_holds(fits) if isinstance(fits, str) else fits, reply))

    def hold(self, fits: str, text: str = "ok") -> threading.Event:
        """Like `when`, but the answer waits for the event that is returned."""
        gate = threading.Event()
        self._gates.append(gate)
        self.when(fits, Reply(text=text, gate=gate))
        return gate

    def wait(self, fits: Callable[[Body], bool], timeout: float = 20) -> Body:
        """The first request that fits, as soon as it is there."""
        with self.arrived:
            found = self.arrived.wait_for(lambda: any(map(fits, self.requests)), timeout)
            if not found:
                msg = f"no such request among {len(self.requests)}"
                raise TimeoutError(msg)
            return next(filter(fits, self.requests))

    def asked(self, prompt: str) -> Body:
        """The first request of the agent (one with tools) whose last user message is the prompt."""
        return self.wait(lambda body: bool(body.get("tools")) and text_of(body["messages"][-1]) == prompt)

    def choose(self, body: Body) -> Reply:
        """The answer to a request that just arrived."""
        with self.arrived:
            self.requests.append(body)
            self.arrived.notify_all()
            for rule in self.rules:
                if rule.fits(body):
                    return rule.reply
            return self._queue.pop(0) if self._queue else Reply()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for gate in self._gates:
            gate.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def _holds(text: str) -> Callable[[Body], bool]:
    return lambda body: text in text_of(body["messages"][-1])


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            return

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            reply = model.choose(body)
            if reply.gate is not None and not self._opened(reply.gate):
                return
            try:
                self._answer(reply, str(body.get("model", "")))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the host gave up on this answer

        def _opened(self, gate: threading.Event) -> bool:
            """Wait for the gate; False when the host hung up before."""
            while not gate.wait(0.02):
                if select.select([self.connection], [], [], 0)[0]:
                    model.abandoned.set()
                    self.close_connection = True
                    return False
            return True

        def _answer(self, reply: Reply, name: str) -> None:
            self.send_response(reply.status)
            if reply.status != 200:
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps({"error": {"message": "scripted failure"}}).encode())
                return
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for delta, finish in _deltas(reply):
                self.wfile.write(b"data: " + json.dumps(_chunk(delta, finish, name, reply)).encode() + b"\n\n")
            self.wfile.write(b"data: [DONE]\n\n")

    return Handler


def _deltas(reply: Reply) -> list[tuple[Body, str | None]]:
    start: Body = {"role": "assistant", "content": "" if reply.tool else reply.text}
    if not reply.tool:
        return [(start, None), ({}, "stop")]
    function = {"name": reply.tool, "arguments": json.dumps(reply.arguments)}
    call = {"index": 0, "id": f"call_{time.monotonic_ns()}", "type": "function", "function": function}
    return [(start, None), ({"tool_calls": [call]}, None), ({}, "tool_calls")]


def _chunk(delta: Body, finish: str | None, name: str, reply: Reply) -> Body:
    chunk: Body = {
        "id": "scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": name,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    if finish is not None:
        total = reply.prompt_tokens + 5
        chunk["usage"] = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": 5, "total_tokens": total}
    return chunk
