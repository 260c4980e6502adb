"""Models that were trained with words before a text: others before a query than before what is searched."""

from __future__ import annotations

_RETRIEVE = "Represent this sentence for searching relevant passages: "
_PREFIXES = (
    # part of the model's name: before a query, before a text. From the models' own cards.
    ("bge-small-en", _RETRIEVE, ""),
    ("bge-base-en", _RETRIEVE, ""),
    ("bge-large-en", _RETRIEVE, ""),
    ("mxbai-embed-large", _RETRIEVE, ""),
    ("snowflake-arctic-embed", _RETRIEVE, ""),
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("multilingual-e5", "query: ", "passage: "),
)


def prefixes(model: str) -> tuple[str, str]:
    """What `model` wants before a query and before a text; both are empty for most."""
    name = model.lower()
    for part, query, text in _PREFIXES:
        if part in name and not (part.startswith("snowflake") and "embed2" in name):
            return query, text
    return "", ""
