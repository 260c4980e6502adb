"""Recall beside the turns of a resident process: a turn asks, waits a bounded time, and takes what is there by then.

Two threads. One answers questions. The other keeps what is derived up to date: past sessions, vectors, the model
itself. Neither writes memory, and whatever they meet only makes a turn's recall poorer.
"""

from __future__ import annotations

import queue
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from noforgetti.errors import NoForgettiError
from noforgetti.retrieval.base import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.retrieval.base import FoundEntry, FoundSession
    from noforgetti.retrieval.corpus import Corpus
    from noforgetti.service.embedding import Embedding
    from noforgetti.service.memory import Memory
    from noforgetti.service.recall import Recall

_ARENA_MAX = -8  # glibc's name for it in malloc.h; unknown elsewhere, and then ignored
FIRST = 1.5  # seconds that the first question of a process may take: Python's numpy and the model are being loaded
_SLICE = 0.5  # seconds of reading session files at a time
_BREATH = 0.01  # seconds between two steps of work in the background: a turn comes first


@dataclass(frozen=True, slots=True)
class Question:
    """What a turn wants to know. `sessions` 0: no past ones; `session`, the current one, is left out."""

    branch: str
    prompt: str
    entries: int
    sessions: int = 0
    session: str = ""


@dataclass(slots=True)
class Recalled:
    """What was found in time. `left_out` names the parts that were not ready."""

    entries: tuple[FoundEntry, ...] = ()
    sessions: tuple[FoundSession, ...] = ()
    left_out: tuple[str, ...] = ()
    milliseconds: float = 0.0


@dataclass(slots=True)
class _Asked:
    question: Question
    end: float
    answer: Recalled = field(default_factory=Recalled)
    ready: set[str] = field(default_factory=set)
    done: threading.Event = field(default_factory=threading.Event)


def at_once(recall: Recall) -> Callable[[Question], Recalled]:
    """Answers questions in this thread, with all the time there is: for commands."""

    def ask(question: Question) -> Recalled:
        entries = recall.entries(question.branch, question.prompt, limit=question.entries, asked=False)
        sessions = recall.sessions(question.prompt, limit=question.sessions) if question.sessions else ()
        return Recalled(entries, sessions)

    return ask


class Recalling:
    """The recall of one resident process."""

    def __init__(self, memory: Memory, embedding: Embedding) -> None:
        self._memory, self._embedding = memory, embedding
        self._asked: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._work: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()
        self._asked_before = False

    def ask(self, question: Question, patience: float) -> Recalled:
        """The answer to a question, or as much of it as is there after `patience` seconds."""
        start = time.monotonic()
        if patience <= 0:
            return Recalled(left_out=("memories", "past sessions"))
        asked = _Asked(question, start + (patience if self._asked_before else max(patience, FIRST)))
        self._asked_before = True  # whatever becomes of it: only one turn waits that long
        self._start()
        self._asked.put(asked)
        asked.done.wait(max(0.0, asked.end - time.monotonic()))
        wanted = ["memories"] + (["past sessions"] if question.sessions else [])
        answer = asked.answer
        return Recalled(
            answer.entries if "memories" in asked.ready else (),
            answer.sessions if "past sessions" in asked.ready else (),
            tuple(part for part in wanted if part not in asked.ready),
            (time.monotonic() - start) * 1000,
        )

    def wake(self, branch: str) -> None:
        """Bring what is derived up to date, beside the turns."""
        self._start()
        self._work.put(branch)

    def close(self) -> None:
        """Stop both threads; they let go by themselves."""
        self._stop.set()
        self._asked.put(None)
        self._work.put(None)

    def _start(self) -> None:
        if not self._threads and not self._stop.is_set():
            _share_memory()
            for act in (self._answer, self._keep_up):
                thread = threading.Thread(target=act, name=f"noforgetti-{act.__name__.strip('_')}", daemon=True)
                self._threads.append(thread)
                thread.start()

    # ---- the answering thread

    def _answer(self) -> None:
        recall: Recall | None = None
        while (asked := self._asked.get()) is not None:
            if time.monotonic() < asked.end:
                try:
                    recall = recall or self._recall()
                    self._find(recall, asked)
                except Exception as error:  # noqa: BLE001 - derived data: the turn goes on without it, `status` says so
                    self._embedding.note(f"recall failed: {type(error).__name__}: {error}")
            asked.done.set()
        _close(recall)

    def _find(self, recall: Recall, asked: _Asked) -> None:
        question = asked.question
        self._prepare_query(recall, asked)
        asked.answer.entries = recall.entries(question.branch, question.prompt, limit=question.entries, asked=False)
        asked.ready.add("memories")
        if question.sessions and time.monotonic() < asked.end:
            asked.answer.sessions = recall.sessions(question.prompt, limit=question.sessions, current=question.session)
            asked.ready.add("past sessions")

    def _prepare_query(self, recall: Recall, asked: _Asked) -> None:
        """Embed the prompt where that may be slow (a model behind a network): by words alone when it is not there in
        half of the time. The vector that comes late serves the next question."""
        vectors = recall.vectors
        if vectors is None or vectors.embedder.quick or vectors.knows(asked.question.prompt):
            recall.by_words = False
            return
        done = threading.Event()

        def embed() -> None:
            try:
                vectors.query(asked.question.prompt)
            except EmbeddingError as error:
                self._embedding.failed(error)
            finally:
                done.set()

        threading.Thread(target=embed, name="noforgetti-embed", daemon=True).start()
        done.wait((asked.end - time.monotonic()) / 2)
        recall.by_words = not vectors.knows(asked.question.prompt)

    # ---- the other thread

    def _keep_up(self) -> None:
        recall: Recall | None = None
        while (branch := self._work.get()) is not None:
            try:
                recall = recall or self._recall()
                self._refresh(recall, branch)
            except NoForgettiError as error:
                self._embedding.note(f"the index cannot be kept up: {error}")
            except Exception as error:  # noqa: BLE001 - derived data: tried again at the next turn, `status` says so
                self._embedding.note(f"the index cannot be kept up: {type(error).__name__}: {error}")
        _close(recall)

    def _refresh(self, recall: Recall, branch: str) -> None:
        if len(corpus := recall.corpus(branch)):
            self._embed(recall, corpus)  # loads the model, which the next prompt will ask
        if not self._memory.settings.past_sessions:
            return
        while recall.refresh_past(_SLICE) and not self._stop.is_set():
            self._stop.wait(_BREATH)
        if recall.past_corpus.trouble:
            self._embedding.note(f"past sessions: {recall.past_corpus.trouble}")
        if len(recall.past_corpus):
            self._embed(recall, recall.past_corpus)

    def _embed(self, recall: Recall, corpus: Corpus) -> None:
        while recall.embed_some(corpus) and not self._stop.is_set():
            self._stop.wait(_BREATH)

    def _recall(self) -> Recall:
        from noforgetti.service.recall import Recall

        return Recall(self._memory.twin(), self._embedding)


def _share_memory() -> None:
    """Let threads take memory from one place. One for each, as glibc has it, is given back after every large array: a
    quarter of the time of a search of 100,000 passages went into page faults."""
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def _close(recall: Recall | None) -> None:
    if recall is not None:
        recall.close()
        recall.memory.close()
