"""A server that answers forever, a byte at a time."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders.http import HttpEmbedder
from noforgetti.retrieval.embedders.providers import Api

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"


@contextmanager
def dripping(said: bytes, drop: bytes) -> Iterator[str]:
    """The address of a server that says `said`, then `drop` again and again, without an end."""
    stop = threading.Event()

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(said)
            try:
                while not stop.wait(0.05):
                    connection.sendall(drop)
            except OSError:
                pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        stop.set()
        thread.join()


@pytest.mark.parametrize(
    ("said", "drop"), [(HEAD, b" "), (HEAD[:17], b"X: y\r\n"), (HEAD[:17] + b"X-Long: ", b"y"), (b"", b"H")]
)
def test_an_answer_that_drips_is_given_up_when_its_time_is_over(said: bytes, drop: bytes) -> None:
    with dripping(said, drop) as url:
        model = HttpEmbedder(Api.COMPATIBLE, "small", url, timeout=0.4)

        with pytest.raises(EmbeddingError) as caught:
            model.embed(["text"])

    assert caught.value.cause == "timeout"
