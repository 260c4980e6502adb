"""A model on loopback that speaks what each program wants, with answers from a script. It keeps every request.

with Scripted() as model:
    model.when("Remember it", Call("memory_add", text="Use pnpm."))   # the tool whose name ends so
    model.requests                                                    # in order of arrival
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

Body = dict[str, Any]
OK = "Understood."


@dataclass(frozen=True)
class Call:
    """One tool call, by the end of the tool's name: each host has its own prefix."""

    tool: str
    arguments: Body = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """What a program asked."""

    path: str
    body: Body

    @property
    def text(self) -> str:
        """All of it, as one text to search in; what JSON escapes is plain here."""
        return "\n".join(_texts(self.body))

    @property
    def last(self) -> str:
        """The last message, whoever it is from."""
        messages = self.body.get("messages") or self.body.get("input") or self.body.get("contents") or [{}]
        return "\n".join(_texts(messages[-1]))

    @property
    def tools(self) -> list[tuple[str, str]]:
        """The tools on offer, each with the group it stands in, if any."""
        found: list[tuple[str, str]] = []
        for one in self.body.get("tools") or []:
            inner = one.get("functionDeclarations") or one.get("function_declarations") or one.get("tools") or [one]
            for each in inner:
                tool = each.get("function", each)
                found.append((one.get("name", "") if "tools" in one else "", str(tool.get("name", ""))))
        return found


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else []


class Scripted:
    """The server; use it as a context manager."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.rules: list[tuple[str, Call | str]] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def when(self, said: str, reply: Call | str) -> None:
        """Answer a request whose last message holds the text; later rules come first."""
        self.rules.insert(0, (said, reply))

    def choose(self, request: Request) -> Call | str:
        """The answer to a request that just arrived: a call only where its tool is on offer."""
        with self._lock:
            self.requests.append(request)
            for said, reply in self.rules:
                if said in request.last:
                    named = _named(request, reply) if isinstance(reply, Call) else reply
                    if named is not None:
                        return named
        return OK

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def _named(request: Request, call: Call) -> Call | None:
    for group, name in request.tools:
        if name.endswith(call.tool):
            return Call(json.dumps([group, name]), call.arguments)
    return None


def _handler(model: Scripted) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - four protocols on one port
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            return

        def do_GET(self) -> None:
            self._json({"data": [], "models": []})

        def do_HEAD(self) -> None:
            self._json({})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            try:
                body = json.loads(raw)
            except ValueError:
                body = {}
            request = Request(self.path.partition("?")[0], body if isinstance(body, dict) else {})
            try:
                self._answer(request)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the program gave up on this answer

        def _answer(self, request: Request) -> None:
            path = request.path
            if path.endswith(("count_tokens", "countTokens")):
                self._json({"input_tokens": 10, "totalTokens": 10})
            elif path.endswith("/messages"):
                self._events(anthropic(model.choose(request), request.body), named=True)
            elif path.endswith("/responses"):
                self._events(responses(model.choose(request)), named=True)
            elif path.endswith("/chat/completions"):
                self._events([*chat(model.choose(request), request.body), "[DONE]"])
            elif "enerateContent" in path:
                answer = gemini(model.choose(request))
                if "stream" in path:
                    self._events([answer])
                else:
                    self._json(answer)
            else:
                self._json({})

        def _json(self, body: Body) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _events(self, events: list[Any], *, named: bool = False) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for one in events:
                name = f"event: {one['type']}\n" if named else ""
                data = one if isinstance(one, str) else json.dumps(one)
                self.wfile.write(f"{name}data: {data}\n\n".encode())

    return Handler


def _own() -> str:
    return f"x{time.monotonic_ns()}"


def _tool(call: Call) -> tuple[str, str]:
    group, name = json.loads(call.tool)
    return group, name


def responses(reply: Call | str) -> list[Body]:
    """OpenAI's responses, streamed."""
    item: Body
    if isinstance(reply, Call):
        group, name = _tool(reply)
        item = {"type": "function_call", "id": _own(), "call_id": _own(), "name": name}
        item |= {"arguments": json.dumps(reply.arguments), **({"namespace": group} if group else {})}
    else:
        content = [{"type": "output_text", "text": reply, "annotations": []}]
        item = {"type": "message", "id": _own(), "role": "assistant", "status": "completed", "content": content}
    response: Body = {"id": _own(), "object": "response", "status": "in_progress", "output": []}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    done = {**response, "status": "completed", "output": [item], "usage": usage}
    return [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]


def chat(reply: Call | str, body: Body) -> list[Body]:
    """OpenAI's chat completions, streamed."""

    def chunk(delta: Body, finish: str | None = None) -> Body:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        made = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": body.get("model", "")}
        return {**made, "choices": [choice]}

    if isinstance(reply, Call):
        function = {"name": _tool(reply)[1], "arguments": json.dumps(reply.arguments)}
        call = {"index": 0, "id": _own(), "type": "function", "function": function}
        chunks = [chunk({"role": "assistant", "content": ""}), chunk({"tool_calls": [call]}), chunk({}, "tool_calls")]
    else:
        chunks = [chunk({"role": "assistant", "content": reply}), chunk({}, "stop")]
    chunks[-1]["usage"] = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return chunks


def anthropic(reply: Call | str, body: Body) -> list[Body]:
    """Anthropic's messages, streamed."""
    about = {"id": _own(), "type": "message", "role": "assistant", "model": body.get("model", ""), "content": []}
    about |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1}}
    if isinstance(reply, Call):
        block = {"type": "tool_use", "id": f"toolu_{_own()}", "name": _tool(reply)[1], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": reply}
    stop = "tool_use" if isinstance(reply, Call) else "end_turn"
    return [
        {"type": "message_start", "message": about},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    ]


def gemini(reply: Call | str) -> Body:
    """Google's generateContent; one chunk when it is streamed."""
    part: Body = {"text": reply}
    if isinstance(reply, Call):
        part = {"functionCall": {"name": _tool(reply)[1], "args": reply.arguments}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
