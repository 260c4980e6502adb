"""Vectors of texts, by the model that made them and the digest of the text. A cache: what is missing is made again.

Rows are stored as float16: against float32 that changes a cosine by less than 0.001, and halves the file.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

from noforgetti.retrieval.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from noforgetti.retrieval.base import Embedder, Floats

_SCHEMA = """
create table vector(model text, digest text, value blob not null, primary key (model, digest)) without rowid
"""
_VERSION = 1
_QUERIES = 100  # vectors of queries kept in the process (the reference systems' figure)
_BATCH = 500  # digests asked for in one statement; SQLite allows at least 999 parameters
_TEXT = 2_000  # code points of a text that are embedded: models read 256 to 512 tokens, some 1,500 characters


class Vectors:
    """The vectors of one model. `path` None keeps them in the process alone. Belongs to one thread."""

    def __init__(self, path: str | None, embedder: Embedder) -> None:
        self.embedder = embedder
        self._database = Database(path, _SCHEMA, _VERSION)
        self._queries: OrderedDict[str, Floats] = OrderedDict()

    @property
    def trouble(self) -> str:
        """What happened to the stored vectors, as a sentence; empty while they are well."""
        return self._database.trouble

    def query(self, text: str) -> Floats:
        """The vector of a query. Raises `EmbeddingError`."""
        text = text[:_TEXT]
        known = self._queries.get(text)
        if known is None:
            known = self.embedder.embed_query(text)
            if len(self._queries) >= _QUERIES:
                self._queries.popitem(last=False)
            self._queries[text] = known
        else:
            self._queries.move_to_end(text)
        return known

    def knows(self, query: str) -> bool:
        """True when `query` answers without asking the model."""
        return query[:_TEXT] in self._queries

    def known(self, digests: Iterable[str]) -> dict[str, Floats]:
        """The stored vectors among those asked for. One of another width is as good as missing."""
        wanted = list(dict.fromkeys(digests))
        found: dict[str, Floats] = {}
        self._database.renewed()
        try:
            for start in range(0, len(wanted), _BATCH):
                batch = wanted[start : start + _BATCH]
                marks = ",".join("?" * len(batch))
                rows = self._database.db.execute(
                    f"select digest, value from vector where model = ? and digest in ({marks})",  # noqa: S608
                    (self.embedder.name, *batch),
                )
                for digest, value in rows:
                    row = _row(value, self.embedder.width)
                    if row is not None:
                        found[digest] = row
        except sqlite3.OperationalError:
            pass  # somebody is at work on it; what is missing now is found the next time
        except sqlite3.DatabaseError as error:
            self._database.begin_anew(error)
        return found

    def stored(self, digests: Sequence[str]) -> set[str]:
        """Which of these texts have a stored vector of the model's width."""
        width = self.embedder.width
        self._database.renewed()
        try:
            rows = self._database.db.execute(
                "select digest from vector where model = ? and (? = 0 or length(value) = ?)",
                (self.embedder.name, width, 2 * width),
            )
            return {digest for (digest,) in rows} & set(digests)
        except sqlite3.OperationalError:
            return set(digests)  # somebody is at work on it: nothing is known to be missing
        except sqlite3.DatabaseError as error:
            self._database.begin_anew(error)
            return set()

    def make(self, texts: Mapping[str, str]) -> dict[str, Floats]:
        """Embed texts, by digest, and keep their vectors. Raises `EmbeddingError`; then nothing was kept."""
        if not texts:
            return {}
        rows = self.embedder.embed([text[:_TEXT] for text in texts.values()])
        made = dict(zip(texts, rows, strict=True))
        self._keep(made)
        return made

    def forget(self, keep: Sequence[str]) -> int:
        """Drop every vector, of any model, whose text is not among `keep`. Answers how many went."""
        wanted = set(keep)
        try:
            with self._database.transaction() as db:
                gone = {digest for (digest,) in db.execute("select distinct digest from vector")} - wanted
                db.executemany("delete from vector where digest = ?", [(one,) for one in gone])
        except sqlite3.Error:
            return 0
        return len(gone)

    def count(self) -> int:
        """How many vectors of this model are stored."""
        try:
            found = self._database.db.execute(
                "select count(*) from vector where model = ?", (self.embedder.name,)
            ).fetchone()
        except sqlite3.Error:
            return 0
        return int(found[0])

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _keep(self, made: Mapping[str, Floats]) -> None:
        self._database.renewed()
        values = [(self.embedder.name, digest, row.astype(np.float16).tobytes()) for digest, row in made.items()]
        try:
            with self._database.transaction() as db:
                db.executemany("insert or replace into vector values (?, ?, ?)", values)
        except sqlite3.OperationalError:
            pass  # busy or full: the vectors serve this process and are made again by the next
        except sqlite3.DatabaseError as error:
            self._database.begin_anew(error)


def _row(value: object, width: int) -> Floats | None:
    if not isinstance(value, bytes) or len(value) % 2 or (width and len(value) != 2 * width):
        return None
    row = np.frombuffer(value, dtype=np.float16).astype(np.float32)
    return row if np.isfinite(row).all() else None
