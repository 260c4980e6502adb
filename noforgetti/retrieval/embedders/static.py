"""The model that is shipped with the package: meaning without a download, in microseconds a text.

One row for each English word piece; a text is the normalised sum of its rows, so word order does not count. Measured
against what it was distilled from (all-MiniLM-L6-v2) on short memories: mean reciprocal rank .62 to its .65.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders.rows import normalised, readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokenizers import Encoding

    from noforgetti.retrieval.base import Floats

FOLDER = Path(__file__).parent.parent / "model"
_TOKENS = 512  # word pieces of one text that count, as many as the model it was distilled from reads
_AT_ONCE = 4_096  # word pieces summed at a time: 4 MiB of float32 rows
_TEXTS = 256  # texts tokenized at a time
_SURPLUS = 8_000  # code points beyond which no text has unread pieces worth their tokenizing


class StaticEmbedder:
    """The shipped model, loaded. Raises `EmbeddingError` (`no-model`) where its files are missing or torn."""

    name = "static-256"
    quick = True

    def __init__(self, folder: Path = FOLDER) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise EmbeddingError(
                "not-installed",
                f"The library that reads the shipped model cannot be loaded ({error}).",
                "install it with `pip install tokenizers`",
            ) from None
        try:
            with (folder / "int8.npz").open("rb") as file, np.load(file) as stored:
                self._rows = stored["rows"]
                self._scale = stored["scale"].astype(np.float32)
            # A copy of the text is read, not the file: the library's own message would name no cause.
            self._tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text("utf-8"))
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise _broken(folder, error) from error
        except Exception as error:  # the tokenizer library raises bare `Exception` for a file it cannot read
            if type(error) is not Exception:
                raise
            raise _broken(folder, error) from error
        pieces = self._tokenizer.get_vocab_size()
        if self._rows.ndim != 2 or self._scale.shape != (pieces, 1) or len(self._rows) != pieces:
            raise _broken(folder, ValueError("its parts do not fit together"))
        self.width: int = self._rows.shape[1]
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_TOKENS)

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row a text. Never raises."""
        made = np.zeros((len(texts), self.width), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS):
            batch = [readable(text[:_SURPLUS]) for text in texts[start : start + _TEXTS]]
            encoded = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            self._sum(encoded, made[start : start + _TEXTS])
        return normalised(made)

    def embed_query(self, text: str) -> Floats:
        """The vector of a query: the same as of a text. Never raises."""
        row: Floats = self.embed([text])[0]
        return row

    def word_vectors(self, words: Sequence[str]) -> Floats:
        """One row for each single word, for comparing words of a query with words of a text."""
        return self.embed(words)

    def _sum(self, encoded: Sequence[Encoding], into: Floats) -> None:
        """Add up the rows of each text's pieces, some texts at a time."""
        pieces = [one.ids for one in encoded]
        start = 0
        while start < len(pieces):
            end, count = start + 1, len(pieces[start])
            while end < len(pieces) and count + len(pieces[end]) <= _AT_ONCE:
                count += len(pieces[end])
                end += 1
            full = [number for number in range(start, end) if pieces[number]]
            if full:
                flat = np.concatenate([pieces[number] for number in full]).astype(np.intp, copy=False)
                bounds = np.cumsum([0, *(len(pieces[number]) for number in full[:-1])])
                rows = self._rows[flat] * self._scale[flat]
                into[full] = np.add.reduceat(rows, bounds, axis=0)
            start = end


def _broken(folder: Path, error: Exception) -> EmbeddingError:
    return EmbeddingError(
        "no-model",
        f"The model in `{folder}` cannot be loaded ({type(error).__name__}: {error}).",
        "install the package again",
    )
