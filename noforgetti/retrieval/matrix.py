"""The vectors of a corpus's passages as one matrix, row by row as the corpus counts its passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from noforgetti.retrieval.base import Floats
    from noforgetti.retrieval.vectors import Vectors

_SLACK = 1.25  # of the rows in use: a passage that comes must not copy all others, 100 MB for 100,000


class Matrix:
    """Rows of one model; `has` says of which passages there is one."""

    def __init__(self) -> None:
        self._rows: Floats = np.empty((0, 0), dtype=np.float32)
        self._found: Floats = np.empty(0, dtype=np.float32)
        self._model = ("", 0)
        self.has: npt.NDArray[np.bool_] = np.empty(0, dtype=bool)

    def follow(self, vectors: Vectors, digests: Sequence[str]) -> None:
        """Hold the stored vectors of these passages; those that were there already are not read again."""
        model = (vectors.embedder.name, vectors.embedder.width)
        if self._model != model:
            self._rows, self._model = np.empty((0, model[1]), dtype=np.float32), model
            self.has = np.empty(0, dtype=bool)
        start, end = len(self.has), len(digests)
        if start == end:
            return
        if end > len(self._rows):
            grown = np.zeros((int(end * _SLACK) if start else end, model[1]), dtype=np.float32)
            grown[:start] = self._rows[:start]
            self._rows = grown
        self.has = np.append(self.has, np.zeros(end - start, dtype=bool))
        self.take(vectors.known(digests[start:]), digests, np.arange(start, end))

    def take(self, known: Mapping[str, Floats], digests: Sequence[str], at: npt.NDArray[np.int64]) -> None:
        """Fill in the rows of passages whose vectors are `known`; one of another width is left out."""
        for number in at.tolist():
            row = known.get(digests[number])
            if row is not None and len(row) == self._rows.shape[1]:
                self._rows[number] = row
                self.has[number] = True

    def cosine(self, row: Floats) -> Floats | None:
        """The nearness of each passage to a vector, shape (n,); NaN where there is none, None for another width. The
        answer holds until the next question."""
        if self._rows.shape[1] != len(row):
            return None
        count = len(self.has)
        if len(self._found) != count:
            self._found = np.empty(count, dtype=np.float32)
        np.dot(self._rows[:count], row, out=self._found)
        self._found[~self.has] = np.nan
        return self._found
