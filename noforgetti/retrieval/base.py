"""What can be found, and what a search answers: values shared by indexing, ranking, embedding and reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from noforgetti.errors import Kind, NoForgettiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from noforgetti.model.entry import Entry

    Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of text that can be found: an entry, or a piece of a past session.

    `key` names it within its corpus. `digest` changes exactly when the text does (an entry's blob id): analyses and
    vectors are kept by it. Passages of one `group` (a session) are neighbours in the order of `place`; an entry has no
    group. `at` is the RFC 3339 UTC time of what it says, or empty.
    """

    key: str
    text: str
    digest: str
    group: str = ""
    place: int = 0
    at: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found. `score` grows with relevance; what `ranking` calls the floor is the least score of a
    hit. `why` names, for people, what it was found by: the words it shares with the query, its nearness in meaning.
    `says` is True when it holds a word of the query."""

    passage: Passage
    score: float
    why: str
    says: bool
    similarity: float | None = None  # cosine of query and passage, -1 to 1; None where no vector was there


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry that was found: how well (see `Hit`) and by what."""

    entry: Entry
    score: float
    why: str
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A past session that was found: the pieces of it that fit best, their RFC 3339 time, its file and its name."""

    session: str
    score: float
    why: str
    pieces: tuple[str, ...]
    at: str = ""
    file: str = ""
    name: str = ""


class EmbeddingError(NoForgettiError):
    """A provider of embeddings did not do its work. Search goes on by keywords alone.

    `cause` is a short name of the kind of failure (`not-installed`, `no-model`, `no-key`, `unreachable`, `denied`,
    `bad-answer`, …): the first of each kind is told once in a session; `hint` is the fix.
    """

    kind = Kind.UNAVAILABLE
    reason = "embedding"

    def __init__(self, cause: str, message: str, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.cause = cause


class Embedder(Protocol):
    """Turns texts into vectors. Loaded on first use, never required."""

    @property
    def name(self) -> str:
        """The model's identity, such as `static-256` or `openai/text-embedding-3-small@512`: vectors are kept by it."""

    @property
    def width(self) -> int:
        """Numbers in one vector; 0 while nobody knows yet."""

    @property
    def quick(self) -> bool:
        """True when a text takes microseconds: then missing vectors are made in the middle of a search."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row a text, float32, each of length 1 (or 0 for a text without content). Raises `EmbeddingError`."""

    def embed_query(self, text: str) -> Floats:
        """The vector of a query, shape (width,). Some models want another prefix here. Raises `EmbeddingError`."""
