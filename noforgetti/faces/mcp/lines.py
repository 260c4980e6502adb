"""The client's end of the wire, line by line. The SDK drops a line that it cannot read, and its sender would wait for
ever; here it is answered with a JSON-RPC error that says what is wrong with it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from typing import BinaryIO

MOST = 32 * 1024 * 1024  # bytes of one line: room for the argument that somebody sends by mistake, not for a stream


class Lines:
    """The lines of a pipe that hold a message. `answer` is where the others are answered; `settled` is awaited at the
    end of the pipe, before the SDK calls off what is not answered yet."""

    def __init__(self, file: BinaryIO, settled: Callable[[], Awaitable[None]]) -> None:
        self._file, self._settled = file, settled
        self.answer: Callable[[SessionMessage], Awaitable[None]] | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            line, whole = await anyio.to_thread.run_sync(self._line, abandon_on_cancel=True)
            if not line:
                await self._settled()
                return
            if not line.strip():
                continue
            read, trouble = _read(line) if whole else ("", _error(None, PARSE_ERROR, f"has over {MOST:,} bytes"))
            if trouble is None:
                yield read
            elif self.answer is not None:
                await self.answer(SessionMessage(trouble))

    def _line(self) -> tuple[bytes, bool]:
        try:
            line = self._file.readline(MOST)
            rest = line
            while len(rest) == MOST and not rest.endswith(b"\n"):
                rest = self._file.readline(MOST)
        except OSError:  # the pipe is gone: as good as its end
            return b"", True
        return line, rest is line


def _read(line: bytes) -> tuple[str, JSONRPCError | None]:
    """The line, or what its sender is told."""
    try:
        text = line.decode()
        message = json.loads(text)
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        return "", _error(None, PARSE_ERROR, "is not UTF-8")
    except UnicodeEncodeError:
        return "", _error(_id(message), INVALID_REQUEST, "holds half of a character (a lone surrogate)")
    except (ValueError, RecursionError):
        return "", _error(None, PARSE_ERROR, "is no JSON")
    try:
        jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        return "", _error(_id(message), INVALID_REQUEST, "is no JSON-RPC message")
    if "method" in message and not _numbered(message):  # the SDK takes it for a notification, which nobody answers
        return "", _error(None, INVALID_REQUEST, "has an `id` that is neither text nor a whole number")
    return text, None


def _numbered(message: dict[str, Any]) -> bool:
    """Whether a message has an id that its answer can carry, or none at all."""
    number = message.get("id", "")
    return isinstance(number, str | int) and not isinstance(number, bool)


def _id(message: Any) -> str | int | None:
    number = message.get("id") if isinstance(message, dict) and _numbered(message) else None
    return number if str(number).isprintable() else None


def _error(number: str | int | None, code: int, why: str) -> JSONRPCError:
    error = ErrorData(code=code, message=f"The message {why}. Nothing was done.")
    return JSONRPCError(jsonrpc="2.0", id=number, error=error)


def own_stdin() -> BinaryIO:
    """Standard input for the wire alone: whatever else reads it from now on finds its end."""
    file = os.fdopen(os.dup(0), "rb")
    void = os.open(os.devnull, os.O_RDONLY)
    os.dup2(void, 0)
    os.close(void)
    return file
