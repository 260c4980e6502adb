"""Nearness in meaning of a text and entries, for the guard against duplicates: asked rarely, and never waited for.

Only a model in this process is asked. A provider behind a network would make every direct write wait for it; there,
words alone decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.retrieval.base import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from noforgetti.model.entry import Entry, EntryId
    from noforgetti.policy.beside import Meaning
    from noforgetti.service.embedding import Embedding

_HERE = ("auto", "static", "local")  # settings whose model runs in this process


def meaning(embedding: Embedding, *, load: bool) -> Meaning:
    """Cosines of a text and each entry, by id; none when no model can be asked now. `load` says that one that is not
    loaded yet is loaded (a command line), not left out (a bridge, whose other threads load it soon)."""

    def cosines(text: str, entries: Sequence[Entry]) -> Mapping[EntryId, float]:
        if not entries or embedding.settings.type not in _HERE or not (load or embedding.available_now):
            return {}
        embedder = embedding.embedder()
        if embedder is None:
            return {}
        try:
            rows = embedder.embed([text, *(entry.text for entry in entries)])
        except EmbeddingError as error:
            embedding.failed(error)
            return {}
        near = rows[1:] @ rows[0]
        return {entry.id: float(one) for entry, one in zip(entries, near, strict=True)}

    return cosines
