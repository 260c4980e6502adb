"""An embedder whose vectors can be worked out by hand: how often each letter occurs, scaled to length 1."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from noforgetti.retrieval.base import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noforgetti.retrieval.base import Floats


@dataclass
class Letters:
    """Counts the letters a to z, or the first `width` of them. Remembers what it was asked."""

    name: str = "letters"
    width: int = 26
    quick: bool = True
    fails: bool = False
    asked: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row a text."""
        if self.fails:
            raise EmbeddingError("unreachable", "The model cannot be reached.", "start it")
        self.asked += texts
        rows = np.zeros((len(texts), self.width), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text.lower():
                if 0 <= (at := ord(letter) - ord("a")) < self.width:
                    row[at] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        found: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
        return found

    def embed_query(self, text: str) -> Floats:
        """The row of one text."""
        row: Floats = self.embed([text])[0]
        return row
