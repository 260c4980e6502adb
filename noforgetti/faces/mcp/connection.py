"""What one client works on: the project's memory, and the branch it uses.

A memory belongs to one thread. So the event loop, which speaks to the client, has one thread for the calls of this
connection, in their order; a review has one of its own. Nothing is opened before it is needed.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from noforgetti.faces.mcp.parameters import BadArgument
from noforgetti.model.entry import MAIN, BranchName, CommitId
from noforgetti.service.memory import Memory, Unexpected, open_memory, open_wide
from noforgetti.store.base import UnknownBranch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from noforgetti.service.embedding import Embedding
    from noforgetti.service.recall import Recall

NONE = "none"  # how a caller says that nothing was written yet
_HEAD = re.compile(r"[0-9a-f]{7,40}")  # git's shortest unambiguous length is 4; below 7 it would be a guess
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Work:
    """One call at work on the memory, and on which branch."""

    connection: Connection
    memory: Memory
    branch: BranchName

    @property
    def session(self) -> str:
        """The session that entries of scope `session` hold for: this connection."""
        return self.connection.session

    @property
    def recall(self) -> Recall:
        """What searches."""
        return self.connection.recall

    @property
    def embedding(self) -> Embedding:
        """The model of this process; loaded by whoever asks it something."""
        return self.connection.embedding


class Connection:
    """One client on this process's pipes. `run` is for the event loop; everything else happens in the thread."""

    def __init__(self, environ: Mapping[str, str], folder: str, *, branch: str = "", user: bool = False) -> None:
        self.session = f"mcp-{secrets.token_hex(6)}"
        self.chosen = BranchName(branch) if branch else None  # what `memory_use` or `--branch` said
        self.environ, self._folder, self._user = environ, folder, user
        self._memory: Memory | None = None
        self._embedding: Embedding | None = None
        self._recall: Recall | None = None
        self._told: tuple[str, CommitId | None] | None = None  # the branch and head that the client's list is of
        self._notices: list[str] = []
        self._reviews: dict[threading.Thread, threading.Event] = {}  # at work, with what calls them off
        self._pool = ThreadPoolExecutor(1, "noforgetti-mcp")

    async def run(self, work: Callable[[], _T]) -> _T:
        """Do it in this connection's thread. What is called off before its turn is not done."""
        return await asyncio.wrap_future(self._pool.submit(work))

    @contextmanager
    def reviewing(self, cancelled: threading.Event) -> Iterator[None]:
        """For the thread of a review: while the block runs, the end of the connection calls it off."""
        self._reviews[threading.current_thread()] = cancelled
        try:
            yield
        finally:
            self._reviews.pop(threading.current_thread(), None)

    def end(self, wait: float) -> None:
        """The client is gone: call off reviews, and give what is at work `wait` seconds in all to let go."""
        until = time.monotonic() + wait
        reviews = dict(self._reviews)
        for cancelled in reviews.values():
            cancelled.set()
        last = self._pool.submit(self._let_go)
        self._pool.shutdown(wait=False)
        with suppress(TimeoutError):
            last.result(wait)
        for thread in reviews:
            thread.join(max(0.0, until - time.monotonic()))

    def _let_go(self) -> None:
        if self._recall is not None:
            self._recall.close()
        if self._memory is not None:
            self._memory.close()

    # ---- in the thread

    @property
    def memory(self) -> Memory:
        """The memory, opened at the first need. Raises what opening raises."""
        if self._memory is None:
            from noforgetti.service.embedding import Embedding
            from noforgetti.service.meaning import meaning

            made = open_wide(self.environ) if self._user else open_memory(self._folder, self.environ)
            self._embedding = Embedding(made.settings.embedding, made.places, self.environ)
            made.meaning = meaning(self._embedding, load=True)
            self._memory = made
        return self._memory

    @property
    def embedding(self) -> Embedding:
        """The model."""
        assert self.memory
        assert self._embedding is not None
        return self._embedding

    @property
    def recall(self) -> Recall:
        """The search, opened at the first need."""
        if self._recall is None:
            from noforgetti.service.recall import Recall

            self._recall = Recall(self.memory, self.embedding)
        return self._recall

    def at(self, wanted: str = "") -> Work:
        """A call's place: the branch it names, else this connection's. Raises `UnknownBranch` for a named one."""
        memory = self.memory
        if wanted:
            memory.head(wanted)
            return Work(self, memory, BranchName(wanted))
        if self.chosen is None:
            self.chosen = MAIN if memory.is_wide else memory.current()
        gone = self.chosen
        try:
            memory.head(gone)
        except UnknownBranch:
            self.chosen = MAIN
            self._notices.append(f"Memory branch `{gone}` is gone; this connection uses `main` now.")
        return Work(self, memory, self.chosen)

    def take_notices(self) -> list[str]:
        """What the client should be told besides, with whatever it is answered next."""
        taken, self._notices = self._notices, []
        return taken

    def moved(self) -> bool:
        """Whether this connection's branch, or its head, is another than when this was asked last."""
        work = self.at()
        now = (str(work.branch), work.memory.head(work.branch))
        before, self._told = self._told, now
        return before is not None and before != now


def expecting(memory: Memory, branch: str, expected: str) -> AbstractContextManager[None]:
    """While the block runs the branch is changed only from the head that a caller named: a commit id, or its start of
    at least 7 digits, or `none`. Empty binds nothing. Raises `Unexpected` and `BadArgument`."""
    if not expected:
        return nullcontext()
    wanted = expected.strip().lower()
    if wanted == NONE:
        return memory.expecting(branch, None)
    if not _HEAD.fullmatch(wanted):
        raise BadArgument(
            "`expected_head` is no commit id. Nothing was done.",
            hint=f"give the `head` of an earlier answer, at least 7 digits of it, or `{NONE}` before the first write",
        )
    head = memory.head(branch)
    if head is None or not head.startswith(wanted):
        raise Unexpected(branch, CommitId(wanted), head)
    return memory.expecting(branch, head)
