"""From a provider's answer to rows that can be compared: counted, of one width, finite, of length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from noforgetti.retrieval.base import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from noforgetti.retrieval.base import Floats

_LEAST = 1e-12  # a vector shorter than this has no direction


def checked(raw: object, *, count: int, width: int, model: str) -> Floats:
    """The answer as float32 rows of length 1, shape (count, its width). `width` 0: any.

    Raises `EmbeddingError` with cause `bad-answer` or `wrong-width`; half an answer is none.
    """
    try:
        with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite, which is refused below
            rows: Floats = np.asarray(raw, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        raise _bad(model, "it is no list of vectors of one width") from None
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise _bad(model, "it is no list of vectors of one width")
    if len(rows) != count:
        raise _bad(model, f"it has {len(rows):,} vectors for {count:,} texts")
    if width and rows.shape[1] != width:
        raise EmbeddingError(
            "wrong-width",
            f"The model `{model}` answered with vectors of {rows.shape[1]:,} numbers instead of {width:,}.",
            "correct or remove `embedding.dimensions`; vectors of a new width are made again by themselves",
        )
    if not np.isfinite(rows).all():
        raise _bad(model, "some numbers in it are not finite")
    return normalised(rows)


class Provider(Protocol):
    """What is known of a provider's model: its width, 0 while nobody knows, and the width it was asked for, or 0."""

    model: str
    width: int
    dimensions: int


def taken(raw: object, *, count: int, by: Provider) -> Floats:
    """`checked`, and the provider's width kept. A changed one is refused once: unless it was asked for, the next answer
    says what the width is now. Raises `EmbeddingError`."""
    try:
        rows = checked(raw, count=count, width=by.width, model=by.model)
    except EmbeddingError as error:
        if error.cause == "wrong-width":
            by.width = by.dimensions
        raise
    by.width = rows.shape[1]
    return rows


def normalised(rows: Floats) -> Floats:
    """Rows of length 1; a row without direction becomes zeros."""
    rows = rows.astype(np.float32, copy=False)
    # Scaled first: squares of very large numbers would overflow.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > _LEAST)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    made: Floats = np.divide(scaled, length, out=np.zeros_like(rows), where=length > 0)
    return made


def of_content(texts: Sequence[str], width: int, embed: Callable[[list[str]], Floats]) -> Floats:
    """`embed` on the texts that have content, zeros for the others: several providers refuse an empty text."""
    texts = [readable(text) for text in texts]
    full = [number for number, text in enumerate(texts) if text.strip()]
    if not full:
        return np.zeros((len(texts), width), dtype=np.float32)
    made = embed([texts[number] for number in full])
    if len(full) == len(texts):
        return made
    rows = np.zeros((len(texts), made.shape[1]), dtype=np.float32)
    rows[full] = made
    return rows


def readable(text: str) -> str:
    """The text with lone surrogates replaced: no provider and no tokenizer takes them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _bad(model: str, why: str) -> EmbeddingError:
    return EmbeddingError(
        "bad-answer",
        f"The answer of the model `{model}` cannot be used: {why}.",
        "check that `embedding.type`, `url` and `model` belong together and name an embedding model",
    )
