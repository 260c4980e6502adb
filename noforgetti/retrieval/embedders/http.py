"""Embeddings behind an endpoint: ollama, OpenAI, Mistral, and whatever speaks OpenAI's format.

Over the standard library: two small requests need no client, and the ones that other packages bring come and go. Texts
go to the configured address and nowhere else: no redirect is followed, so neither a text nor a key reaches another
host. The key is handed in, sent in one header, and never part of an error; of an endpoint's answer only the status is.
"""

from __future__ import annotations

import http.client
import io
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders.prefixes import prefixes
from noforgetti.retrieval.embedders.providers import KEY, Api
from noforgetti.retrieval.embedders.rows import of_content, taken

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence

    from noforgetti.retrieval.base import Floats

CONNECT = 2.0  # seconds to reach a server: one that needs longer is of no use to a turn
_BATCH = 64  # texts of one request: below the least limit of the providers, and a second's work for a local model
_LONGEST = 64 * 1024 * 1024  # bytes of an answer that are read: 64 vectors of 8,192 numbers are a fifth of it
_PIECE = 64 * 1024


@dataclass(slots=True)
class HttpEmbedder:
    """`model` behind `url`. `dimensions` 0: the model's own width. `proxies` maps a scheme to the proxy's address.

    `timeout` is seconds for a whole answer. `name` holds the host where only the host says what a model is.
    """

    api: Api
    model: str
    url: str
    key: str = field(default="", repr=False)
    dimensions: int = 0
    timeout: float = 10.0
    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)
    quick: bool = False
    width: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.url = self.url.rstrip("/")
        self.width = self.dimensions

    @property
    def name(self) -> str:
        """Such as `openai/text-embedding-3-small@512`."""
        where = f"{self.api}/{urlsplit(self.url).netloc}" if self.api is Api.COMPATIBLE else str(self.api)
        return f"{where}/{self.model}" + (f"@{self.dimensions}" if self.dimensions else "")

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row a text, in requests of at most 64. Raises `EmbeddingError`."""
        prefix = prefixes(self.model)[1]
        return of_content(texts, self.width, lambda full: self._all([prefix + text for text in full]))

    def embed_query(self, text: str) -> Floats:
        """The vector of a query. Raises `EmbeddingError`."""
        prefix = prefixes(self.model)[0]
        row: Floats = of_content([text], self.width, lambda full: self._all([prefix + one for one in full]))[0]
        return row

    def _all(self, texts: list[str]) -> Floats:
        import numpy as np

        return np.concatenate([self._some(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)])

    def _some(self, texts: list[str]) -> Floats:
        body: dict[str, Any] = {"model": self.model, "input": texts}
        if self.dimensions:
            body["output_dimension" if self.api is Api.MISTRAL else "dimensions"] = self.dimensions
        path = "/api/embed" if self.api is Api.OLLAMA else "/embeddings"
        answer = self._answer(self._send(path, json.dumps(body).encode()))
        return taken(answer, count=len(texts), by=self)

    def _answer(self, body: bytes) -> object:
        """The vectors in an answer, in the order of the texts; anything else becomes what `checked` refuses."""
        try:
            answer = json.loads(body)
            if self.api is Api.OLLAMA:
                return answer["embeddings"]
            rows = answer["data"]
            if all(isinstance(row.get("index"), int) for row in rows):
                rows = sorted(rows, key=lambda row: int(row["index"]))
            return [row["embedding"] for row in rows]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def _send(self, path: str, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "noforgetti"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url + path, body, headers, method="POST")  # noqa: S310 - settings check it
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler(dict(self.proxies)), _Plain(), _Encrypted(), _NoRedirect()
        )
        try:
            with opener.open(request, timeout=self.timeout) as response:
                return _read(response)
        except urllib.error.HTTPError as error:
            error.close()
            raise self._refused(error.code) from None
        except TimeoutError:
            raise self._slow() from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._unreachable("it does not answer") from None
            raise self._unreachable(_reason(error.reason)) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._unreachable(_reason(error)) from None

    def _refused(self, status: int) -> EmbeddingError:
        """What an HTTP status means, and what to do about it."""
        said = f"answered with status {status}"
        check = "check `embedding.url` and `embedding.model`"
        cause, hint = "refused", "check `embedding.model` and `embedding.dimensions`"
        if status in (401, 403, 407):
            where = KEY.get(self.api, "")
            cause, hint = (
                "denied",
                f"check the key in `{where}`" if where else "check the key that `embedding.key_env` names",
            )
        elif status == 404:
            cause = "no-model"
            hint = f"run `ollama pull {self.model}`" if self.api is Api.OLLAMA else check
        elif 300 <= status < 400:
            said += ", which sends to another address; that is not followed"
            cause, hint = "bad-answer", "set `embedding.url` to the address itself"
        elif status == 429:
            cause, hint = "rate-limit", "wait, or check the plan and the limits of the account"
        elif status >= 500:
            cause, hint = "failing", f"try again later; {check}"
        return EmbeddingError(cause, f"The embedding provider {self._where} {said}.", hint)

    def _slow(self) -> EmbeddingError:
        return EmbeddingError(
            "timeout",
            f"The embedding provider {self._where} gave no whole answer within {self.timeout:g} seconds.",
            "raise `embedding.timeout`, or use a smaller model",
        )

    def _unreachable(self, why: str) -> EmbeddingError:
        hint = "check `embedding.url` and the network"
        if self.api is Api.OLLAMA:
            hint = f"start it with `ollama serve`, then `ollama pull {self.model}`; check `embedding.url`"
        return EmbeddingError("unreachable", f"The embedding provider {self._where} cannot be reached: {why}.", hint)

    @property
    def _where(self) -> str:
        return f"`{self.api}` at `{self.url}`"


def _read(response: Any) -> bytes:
    """The body, unless it is too long."""
    pieces: list[bytes] = []
    size = 0
    while piece := response.read1(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > _LONGEST:
            raise ValueError("its answer is too long")
    if response.length:
        raise ValueError("its answer ends too early")
    return b"".join(pieces)


def _reason(error: object) -> str:
    """What went wrong, in words that never quote what was sent."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if type(error) is ValueError:
        return str(error)
    return type(error).__name__


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow nothing: the status becomes an error."""


class _Timed(io.RawIOBase):
    """What a server sends, head and body, as long as its time is not over: a socket's own timeout begins anew with
    every byte, so a server that sends one a second would never be given up."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._end = sock, time.monotonic() + (sock.gettimeout() or 0.0)

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Some bytes. Raises `TimeoutError`."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._sock.recv_into(buffer)


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **more: Any) -> None:
        super().__init__(sock, *args, **more)
        self._plain = self.fp  # closed with the answer, and the socket with it
        self.fp = io.BufferedReader(_Timed(sock))

    def _close_conn(self) -> None:
        super()._close_conn()  # type: ignore[misc]
        self._plain.close()


class _Connection(http.client.HTTPConnection):
    response_class = _Response

    def connect(self) -> None:
        """Reach the server within two seconds, then give it the whole time."""
        whole, self.timeout = self.timeout, CONNECT
        super().connect()
        self.sock.settimeout(whole)


class _EncryptedConnection(http.client.HTTPSConnection):
    response_class = _Response

    def connect(self) -> None:
        """As above, with the handshake."""
        whole, self.timeout = self.timeout, CONNECT
        super().connect()
        self.sock.settimeout(whole)


class _Plain(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        """Open through our connection."""
        return self.do_open(_Connection, request)


class _Encrypted(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        """Open through our connection."""
        return self.do_open(_EncryptedConnection, request)
