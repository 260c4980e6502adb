"""Embeddings over HTTP, against a real server on loopback that speaks ollama's and OpenAI's formats."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders.http import HttpEmbedder
from noforgetti.retrieval.embedders.providers import Api

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "made-up-key-1234"


@dataclass
class Server:
    """An endpoint, what it was asked, and how it answers."""

    url: str = ""
    width: int = 8
    got: list[dict[str, Any]] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    change: Callable[[Any], Any] = lambda answer: answer
    raw: bytes | None = None  # instead of an answer
    more: int = 0  # bytes that the header promises and that never come

    def answer(self, path: str, body: Any) -> Any:
        """What a provider of that path says: a vector that tells the text's length."""
        width = body.get("dimensions") or body.get("output_dimension") or self.width
        rows = [[float(len(text)), *[1.0] * (width - 1)] for text in body["input"]]
        if path.endswith("/api/embed"):
            return {"model": body["model"], "embeddings": rows}
        data = [{"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)]
        return {"object": "list", "data": data, "model": body["model"], "usage": {"prompt_tokens": 1}}


@pytest.fixture
def server() -> Iterator[Server]:
    """A running endpoint."""
    with running(Server()) as it:
        yield it


@contextmanager
def running(it: Server) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {key.lower(): value for key, value in self.headers.items()}
            it.got.append({"path": self.path, "headers": headers, "body": body})
            said = it.raw if it.raw is not None else json.dumps(it.change(it.answer(self.path, body))).encode()
            self.send_response(it.status)
            for key, value in it.headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(said) + it.more))
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST  # noqa: N815 - the library's own names

        def log_message(self, *arguments: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        it.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield it
        http.shutdown()
        thread.join()


def compatible(server: Server, **given: Any) -> HttpEmbedder:
    options: dict[str, Any] = {"key": KEY, "timeout": 5.0} | given
    return HttpEmbedder(Api.COMPATIBLE, "small", f"{server.url}/v1", **options)


def failure(embedder: HttpEmbedder) -> EmbeddingError:
    """How it fails; the sentence is one line, and neither it nor the hint quotes the key or the text."""
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed(["a private text"])
    said = f"{caught.value.message} {caught.value.hint} {caught.value!r}"
    assert "\n" not in said
    assert KEY not in said
    assert "a private text" not in said
    assert caught.value.hint
    return caught.value


def test_ollama_gets_its_own_format_and_the_prefixes_of_its_model(server: Server) -> None:
    model = HttpEmbedder(Api.OLLAMA, "nomic-embed-text", server.url)

    rows = model.embed(["use pnpm", "deploy on Fridays"])
    model.embed_query("package manager")

    assert [(one["path"], one["body"]) for one in server.got] == [
        (
            "/api/embed",
            {
                "model": "nomic-embed-text",
                "input": ["search_document: use pnpm", "search_document: deploy on Fridays"],
            },
        ),
        ("/api/embed", {"model": "nomic-embed-text", "input": ["search_query: package manager"]}),
    ]
    assert (rows.shape, str(rows.dtype), model.width, model.name) == ((2, 8), "float32", 8, "ollama/nomic-embed-text")
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert "authorization" not in server.got[0]["headers"]


@pytest.mark.parametrize(
    ("api", "field_name", "name"),
    [
        (Api.OPENAI, "dimensions", "openai/small@4"),
        (Api.MISTRAL, "output_dimension", "mistral/small@4"),
    ],
)
def test_openais_format_with_key_and_width(server: Server, api: Api, field_name: str, name: str) -> None:
    model = HttpEmbedder(api, "small", f"{server.url}/v1/", key=KEY, dimensions=4)

    row = model.embed_query("token refresh")

    assert [(one["path"], one["body"]) for one in server.got] == [
        ("/v1/embeddings", {"model": "small", "input": ["token refresh"], field_name: 4})
    ]
    assert server.got[0]["headers"]["authorization"] == f"Bearer {KEY}"
    assert (row.shape, model.width, model.name) == ((4,), 4, name)


def test_a_compatible_endpoints_vectors_are_kept_by_its_host(server: Server) -> None:
    model = compatible(server, key="")

    assert model.name == f"openai-compatible/{server.url.removeprefix('http://')}/small"
    assert (model.width, model.embed(["a"]).shape, model.width) == (0, (1, 8), 8)
    assert "authorization" not in server.got[0]["headers"]


def test_many_texts_go_in_bounded_requests_and_come_back_in_order(server: Server) -> None:
    texts = ["x" * (number + 1) for number in range(150)]

    rows = compatible(server).embed(texts)

    assert [len(one["body"]["input"]) for one in server.got] == [64, 64, 22]
    assert np.allclose(rows[:, 0] / rows[:, 1], np.arange(1, 151), rtol=1e-4)


def test_rows_that_come_out_of_order_are_put_in_order(server: Server) -> None:
    server.change = lambda answer: answer | {"data": answer["data"][::-1]}

    rows = compatible(server).embed(["x", "xx", "xxx"])

    assert np.allclose(rows[:, 0] / rows[:, 1], [1, 2, 3])


def test_a_text_without_content_is_not_sent(server: Server) -> None:
    model = compatible(server)

    rows = model.embed(["", "x", " \n"])
    empty = model.embed([" "])

    assert [one["body"]["input"] for one in server.got] == [["x"]]
    assert (np.linalg.norm(rows, axis=1).round(5).tolist(), empty.shape, model.embed([]).shape) == (
        [0, 1, 0],
        (1, 8),
        (0, 8),
    )


def test_half_a_surrogate_pair_and_other_scripts_arrive_as_text(server: Server) -> None:
    compatible(server).embed(["broken \ud83d, 日本語, \x00"])

    assert server.got[0]["body"]["input"] == ["broken ?, 日本語, \x00"]


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (401, "denied"),
        (403, "denied"),
        (404, "no-model"),
        (400, "refused"),
        (422, "refused"),
        (413, "refused"),
        (429, "rate-limit"),
        (500, "failing"),
        (503, "failing"),
    ],
)
def test_a_status_becomes_a_cause_with_a_fix(server: Server, status: int, cause: str) -> None:
    server.status, server.raw = status, f'{{"error": "you sent {KEY}: a private text"}}'.encode()

    found = failure(compatible(server))

    assert (found.cause, f"status {status}" in found.message) == (cause, True)


def test_the_fixes_name_what_the_user_can_do(server: Server) -> None:
    server.status, server.raw = 404, b"{}"
    ollama = failure(HttpEmbedder(Api.OLLAMA, "nomic-embed-text", server.url))
    server.status = 401
    openai = failure(HttpEmbedder(Api.OPENAI, "small", server.url, key=KEY))

    assert ollama.hint == "run `ollama pull nomic-embed-text`"
    assert openai.hint == "check the key in `OPENAI_API_KEY`"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_takes_a_text_or_a_key_elsewhere(server: Server, status: int) -> None:
    with running(Server()) as other:
        server.status, server.headers = status, {"Location": f"{other.url}/v1/embeddings"}

        found = failure(compatible(server))

    assert (found.cause, other.got) == ("bad-answer", [])
    assert "another address" in found.message


def rows(*values: Any) -> Callable[[Any], Any]:
    return lambda answer: {"data": [{"index": number, "embedding": value} for number, value in enumerate(values)]}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda answer: {}, "no list of vectors"),
        (lambda answer: [], "no list of vectors"),
        (lambda answer: None, "no list of vectors"),
        (lambda answer: "vectors", "no list of vectors"),
        (lambda answer: {"data": None}, "no list of vectors"),
        (lambda answer: {"data": [7]}, "no list of vectors"),
        (lambda answer: {"data": []}, "no list of vectors"),
        (lambda answer: {"data": [{"index": 0}]}, "no list of vectors"),
        (rows([]), "no list of vectors"),
        (rows("AAAA"), "no list of vectors"),
        (rows([[1.0], [2.0]]), "no list of vectors"),
        (rows(["a", "b"]), "no list of vectors"),
        (rows([1.0, None]), "not finite"),
        (rows([1.0, float("nan")]), "not finite"),
        (rows([1.0, float("inf")]), "not finite"),
        (rows([1.0, 1e300]), "not finite"),
        (rows([1.0, 2.0], [1.0, 2.0]), "2 vectors for 1 texts"),
        (rows([1.0, 2.0], [1.0]), "no list of vectors"),
    ],
)
def test_an_answer_that_is_no_vectors_is_refused_whole(server: Server, change: Callable[[Any], Any], why: str) -> None:
    server.change = change

    found = failure(compatible(server))

    assert (found.cause, why in found.message) == ("bad-answer", True)


@pytest.mark.parametrize("raw", [b"", b"<html>", b"\xff\xfe", b"[" * 100_000, b'{"data": ['])
def test_an_answer_that_is_no_json_is_refused(server: Server, raw: bytes) -> None:
    server.raw = raw

    assert failure(compatible(server)).cause == "bad-answer"


def test_a_width_that_was_not_asked_for_is_refused(server: Server) -> None:
    server.change = rows([1.0, 2.0, 3.0])

    found = failure(compatible(server, dimensions=4))

    assert (found.cause, found.message) == (
        "wrong-width",
        "The model `small` answered with vectors of 3 numbers instead of 4.",
    )


def test_a_width_that_changes_is_refused_once_and_then_taken(server: Server) -> None:
    model = compatible(server)
    model.embed(["a"])
    server.width = 9

    assert failure(model).cause == "wrong-width"
    assert (model.embed(["a"]).shape, model.width) == ((1, 9), 9)


def test_an_answer_cut_off_in_the_middle_is_no_answer(server: Server) -> None:
    server.more = 10

    assert failure(compatible(server)).cause == "unreachable"


def test_a_server_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"

        found = failure(HttpEmbedder(Api.OLLAMA, "nomic-embed-text", url, timeout=0.2))

    assert (found.cause, "within 0.2 seconds" in found.message) == ("timeout", True)


def test_a_server_that_is_not_there_is_named_with_the_fix() -> None:
    found = failure(HttpEmbedder(Api.OLLAMA, "nomic-embed-text", "http://127.0.0.1:9"))

    assert found.cause == "unreachable"
    assert found.message == (
        "The embedding provider `ollama` at `http://127.0.0.1:9` cannot be reached: Connection refused."
    )
    assert "`ollama serve`" in found.hint


def test_a_host_without_an_address_is_unreachable() -> None:
    assert failure(HttpEmbedder(Api.COMPATIBLE, "small", "http://no.such.host.invalid/v1")).cause == "unreachable"


def test_a_proxy_carries_the_request(server: Server) -> None:
    model = HttpEmbedder(Api.COMPATIBLE, "small", "http://models.example/v1", proxies={"http": server.url})

    assert model.embed(["x"]).shape == (1, 8)
    assert server.got[0]["path"] == "http://models.example/v1/embeddings"


def test_the_key_never_shows_in_a_representation() -> None:
    assert KEY not in repr(HttpEmbedder(Api.OPENAI, "small", "https://api.openai.com/v1", key=KEY))
