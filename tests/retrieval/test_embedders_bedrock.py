"""Amazon Bedrock: the real SDK against a server on loopback, with made-up credentials."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pytest

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders.bedrock import BedrockEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "made-up-secret-1234"


@dataclass
class Endpoint:
    """What was asked, and the error to answer with."""

    url: str = ""
    got: list[tuple[str, Any]] = field(default_factory=list)
    error: tuple[int, str] | None = None
    said: Any = None


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A running stand-in for Bedrock's runtime."""
    it = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            it.got.append((unquote(self.path), body))
            self.send_response(it.error[0] if it.error else 200)
            if it.error:
                self.send_header("x-amzn-ErrorType", it.error[1])
            said = json.dumps(it.said if it.said is not None else self.answer(body)).encode()
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def answer(self, body: Any) -> Any:
            if it.error:
                return {"message": f"you sent {SECRET}"}
            if "texts" in body:
                return {"embeddings": [[float(len(text)), 1.0] for text in body["texts"]]}
            return {"embedding": [float(len(body["inputText"])), *[1.0] * (body.get("dimensions", 8) - 1)]}

        def log_message(self, *arguments: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        it.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield it
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up credentials, and none of the machine's own."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def bedrock(endpoint: Endpoint, model: str = "", **given: Any) -> BedrockEmbedder:
    options: dict[str, Any] = {"region": "eu-central-1", "timeout": 5.0} | given
    return BedrockEmbedder(model, url=endpoint.url, **options)


def test_titan_gets_one_text_a_request_with_the_width(endpoint: Endpoint) -> None:
    model = bedrock(endpoint)

    rows = model.embed(["ab", "", "abc"])

    path = "/model/amazon.titan-embed-text-v2:0/invoke"
    assert endpoint.got == [
        (path, {"inputText": "ab", "dimensions": 512, "normalize": True}),
        (path, {"inputText": "abc", "dimensions": 512, "normalize": True}),
    ]
    assert (rows.shape, model.width, model.name) == ((3, 512), 512, "bedrock/amazon.titan-embed-text-v2:0@512")
    assert np.linalg.norm(rows, axis=1).round(5).tolist() == [1, 0, 1]


def test_the_first_titan_is_not_told_a_width(endpoint: Endpoint) -> None:
    model = bedrock(endpoint, "amazon.titan-embed-text-v1", dimensions=256)

    model.embed_query("ab")

    assert [body for _, body in endpoint.got] == [{"inputText": "ab"}]
    assert (model.width, model.name) == (8, "bedrock/amazon.titan-embed-text-v1")


def test_a_cohere_model_gets_many_texts_and_the_purpose(endpoint: Endpoint) -> None:
    model = bedrock(endpoint, "cohere.embed-multilingual-v3")

    rows = model.embed(["x"] * 70)
    model.embed_query("q")

    assert [(len(body["texts"]), body["input_type"]) for _, body in endpoint.got] == [
        (64, "search_document"),
        (6, "search_document"),
        (1, "search_query"),
    ]
    assert rows.shape == (70, 2)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ((403, "AccessDeniedException"), "denied"),
        ((403, "ExpiredTokenException"), "denied"),
        ((403, "UnrecognizedClientException"), "denied"),
        ((404, "ResourceNotFoundException"), "no-model"),
        ((400, "ValidationException"), "no-model"),
        ((429, "ThrottlingException"), "rate-limit"),
        ((500, "InternalServerException"), "failing"),
    ],
)
def test_a_refusal_becomes_a_cause_with_a_fix(endpoint: Endpoint, error: tuple[int, str], cause: str) -> None:
    endpoint.error = error

    with pytest.raises(EmbeddingError) as caught:
        bedrock(endpoint).embed(["a private text"])

    found = caught.value
    assert (found.cause, error[1] in found.message, len(endpoint.got)) == (cause, True, 1)
    assert SECRET not in f"{found.message} {found.hint}"


@pytest.mark.parametrize("said", [{}, [], {"embedding": "none"}, {"embedding": []}, {"embedding": ["a"]}])
def test_an_answer_that_is_no_vector_is_refused(endpoint: Endpoint, said: Any) -> None:
    endpoint.said = said

    with pytest.raises(EmbeddingError) as caught:
        bedrock(endpoint).embed(["x"])

    assert caught.value.cause == "bad-answer"


def test_another_width_than_asked_for_is_refused(endpoint: Endpoint) -> None:
    endpoint.said = {"embedding": [1.0, 2.0]}

    with pytest.raises(EmbeddingError) as caught:
        bedrock(endpoint, dimensions=256).embed(["x"])

    assert caught.value.cause == "wrong-width"


def test_without_credentials_the_fix_names_the_login(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(EmbeddingError) as caught:
        bedrock(endpoint).embed(["x"])

    assert (caught.value.cause, endpoint.got) == ("denied", [])
    assert "`aws sso login`" in caught.value.hint


def test_an_unknown_profile_is_named_in_the_fix(endpoint: Endpoint) -> None:
    with pytest.raises(EmbeddingError) as caught:
        bedrock(endpoint, profile="work")

    assert caught.value.cause == "denied"
    assert "`aws sso login --profile work`" in caught.value.hint


def test_without_a_region_the_fix_is_to_set_one() -> None:
    with pytest.raises(EmbeddingError) as caught:
        BedrockEmbedder()

    assert (caught.value.cause, caught.value.hint) == ("no-region", "set `embedding.region`")


def test_an_endpoint_that_is_not_there_is_unreachable(endpoint: Endpoint) -> None:
    endpoint.url = "http://127.0.0.1:9"

    with pytest.raises(EmbeddingError) as caught:
        bedrock(endpoint).embed(["x"])

    assert caught.value.cause == "unreachable"


def test_without_the_sdk_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)

    with pytest.raises(EmbeddingError) as caught:
        BedrockEmbedder(region="eu-central-1")

    assert (caught.value.cause, "noforgetti[bedrock]" in caught.value.hint) == ("not-installed", True)
