"""The `http` reviewer against a real server on loopback."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from noforgetti.errors import Kind
from noforgetti.review.reviewer import ReviewerError, Usage
from noforgetti.review.reviewers.http import Api, HttpReviewer

if TYPE_CHECKING:
    from collections.abc import Iterator

with_extra = pytest.mark.skipif(find_spec("pydantic_ai") is None, reason="the extra `llm` is not installed")
ANSWER = '{"operations": []}'


@contextmanager
def endpoint(body: dict[str, Any], status: int = 200) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that gives one answer to everything, and the requests it got."""
    got: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        answer: ClassVar[bytes] = json.dumps(body).encode()

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            headers = {key.lower(): value for key, value in self.headers.items()}
            got.append({"path": self.path, "headers": headers, "body": json.loads(self.rfile.read(length))})
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(self.answer)))
            self.end_headers()
            self.wfile.write(self.answer)

        def log_message(self, *arguments: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()
        thread.join()


def chat(text: str, finish: str = "stop") -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "small-1",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


@with_extra
def test_an_openai_compatible_endpoint_gets_both_texts_and_answers() -> None:
    with endpoint(chat(ANSWER)) as (url, got):
        reviewer = HttpReviewer(Api.OPENAI, "small", url=f"{url}/v1", key="made-up")

        answer = reviewer.complete("be careful", "look at this", 64)

    assert (answer.text, answer.usage, answer.truncated) == (ANSWER, Usage(11, 7), False)
    assert got[0]["path"] == "/v1/chat/completions"
    assert [(one["role"], one["content"]) for one in got[0]["body"]["messages"]] == [
        ("system", "be careful"),
        ("user", "look at this"),
    ]
    assert got[0]["headers"]["authorization"] == "Bearer made-up"


@with_extra
def test_an_anthropic_endpoint_gets_both_texts_and_answers() -> None:
    body = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "small-1",
        "content": [{"type": "text", "text": ANSWER}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }
    with endpoint(body) as (url, got):
        answer = HttpReviewer(Api.ANTHROPIC, "small", url=url, key="made-up").complete("careful", "look", 64)

    assert (answer.text, answer.usage) == (ANSWER, Usage(11, 7))
    assert "careful" in json.dumps(got[0]["body"]["system"])
    assert got[0]["body"]["max_tokens"] == 64


@with_extra
def test_an_answer_cut_off_by_the_token_limit_says_so() -> None:
    with endpoint(chat('{"operati', finish="length")) as (url, _):
        assert HttpReviewer(Api.OPENAI, "small", url=url).complete("s", "p", 2).truncated


@with_extra
def test_it_answers_in_a_thread_of_its_own_as_reviews_run() -> None:
    found: list[str] = []
    with endpoint(chat(ANSWER)) as (url, _):
        reviewer = HttpReviewer(Api.OPENAI, "small", url=f"{url}/v1")
        thread = threading.Thread(target=lambda: found.append(reviewer.complete("s", "p", 64).text))
        thread.start()
        thread.join(30)

    assert found == [ANSWER]


@with_extra
def test_an_answer_that_is_no_completion_is_expected_trouble() -> None:
    with endpoint({"hello": "world"}) as (url, _), pytest.raises(ReviewerError, match="could not answer"):
        HttpReviewer(Api.OPENAI, "small", url=url).complete("s", "p", 64)


@with_extra
def test_a_refusing_endpoint_is_named_by_its_status_and_quotes_nothing() -> None:
    refusal = {"error": {"message": "you sent: look at this"}}
    with endpoint(refusal, status=401) as (url, _), pytest.raises(ReviewerError) as caught:
        HttpReviewer(Api.OPENAI, "small", url=url, key="made-up").complete("s", "look at this", 64)

    assert "status 401" in str(caught.value)
    assert "look at this" not in str(caught.value)
    assert caught.value.kind is Kind.UNAVAILABLE


@with_extra
def test_an_endpoint_that_is_not_there_is_expected_trouble() -> None:
    with endpoint(chat("")) as (url, _):
        pass  # closed again: nobody listens on that port now

    with pytest.raises(ReviewerError, match="could not answer"):
        HttpReviewer(Api.OPENAI, "small", url=url, timeout=5).complete("s", "p", 64)


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pydantic_ai", None)

    with pytest.raises(ReviewerError) as caught:
        HttpReviewer(Api.OPENAI, "small").complete("s", "p", 64)

    assert "optional extra `llm`" in str(caught.value)
    assert "noforgetti[llm]" in caught.value.hint


def test_the_key_never_shows_in_a_representation() -> None:
    assert "made-up" not in repr(HttpReviewer(Api.OPENAI, "small", key="made-up"))
