"""A model hub on loopback: as much of the protocol as a download of one repository needs."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """What the server offers, and how it misbehaves."""

    folder: Path
    url: str = ""
    status: int = 200  # of every answer
    lie: str = ""  # this file arrives with other bytes than its header promises
    stuck: int | None = None  # bytes of a large file after which nothing more comes
    asked: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def about(self, name: str) -> tuple[bytes, str]:
        """A file's bytes and its tag: the SHA-256 of a large file, as the hub's is."""
        body = (self.folder / name).read_bytes()
        large = len(body) > 1_000_000
        return body, hashlib.sha256(body).hexdigest() if large else hashlib.sha1(body).hexdigest()


@contextmanager
def hub(folder: Path) -> Iterator[Hub]:
    """A running hub whose only repository holds the files of `folder`."""
    it = Hub(folder)

    class Handler(_Handler):
        hub = it

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        it.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield it
        it.stop.set()
        server.shutdown()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._file(head=True)

    def do_GET(self) -> None:
        if "/resolve/" in self.path:
            self._file(head=False)
            return
        self.hub.asked.append(f"GET {self.path}")
        names = sorted(path.name for path in self.hub.folder.iterdir())
        if "/tree/" in self.path:
            body: Any = [self._entry(name) for name in names]
        else:
            body = {"id": "repo", "sha": _COMMIT, "siblings": [{"rfilename": name} for name in names]}
        data = json.dumps(body).encode()
        self.send_response(self.hub.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _entry(self, name: str) -> dict[str, Any]:
        body, tag = self.hub.about(name)
        entry: dict[str, Any] = {"type": "file", "path": name, "size": len(body), "oid": tag[:40]}
        return entry | ({"lfs": {"oid": tag, "size": len(body), "pointerSize": 134}} if len(tag) == 64 else {})

    def _file(self, *, head: bool) -> None:
        name = self.path.partition("?")[0].rpartition("/")[2]
        self.hub.asked.append(f"{self.command} {name}")
        if not (self.hub.folder / name).is_file() or self.hub.status != 200:
            self.send_response(404 if self.hub.status == 200 else self.hub.status)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body, tag = self.hub.about(name)
        if name == self.hub.lie:
            body = body[:-4] + b"oops"
        start = 0
        if "Range" in self.headers and not head:
            start = int(self.headers["Range"].removeprefix("bytes=").partition("-")[0])
        self.send_response(206 if start else 200)
        self.send_header("ETag", f'"{tag}"')
        self.send_header("X-Repo-Commit", _COMMIT)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(body) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        if not head:
            self._body(body[start:])

    def _body(self, body: bytes) -> None:
        if self.hub.stuck is None or len(body) <= 1_000_000:
            self.wfile.write(body)
        else:
            self.wfile.write(body[: self.hub.stuck])
            self.hub.stop.wait(60)
            self.close_connection = True

    def log_message(self, *arguments: object) -> None: ...
