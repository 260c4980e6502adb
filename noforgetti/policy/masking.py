"""Quoted and coded pieces of a text, set aside, so that words around them can be read without being fooled by them."""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"```.{1,800}?```|`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]"
    r"|(?<![\w'])'[^'\n]{1,400}'(?![\w'])|‘[^’\n]{1,400}’(?!\w)",
    re.DOTALL,
)
_BLANKS = re.compile(r"[^\S\n]{2,}")
MARK = re.compile("\x00(\\d+)\x00")  # what stands in place of a piece; no text that may be stored holds a NUL


def mask(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with every quoted or coded piece replaced by its number between two NULs, and the pieces. Blanks
    outside of them stand alone, so that no pattern has to try every way to cut a long run of them."""
    held: list[str] = []

    def put(match: re.Match[str]) -> str:
        held.append(match[0])
        return f"\x00{len(held) - 1}\x00"

    masked = _PIECE.sub(put, text.replace("\x00", ""))
    return _BLANKS.sub(" ", masked), tuple(held)


def unmask(text: str, held: tuple[str, ...]) -> str:
    """The text with its pieces back in their places."""
    return MARK.sub(lambda match: held[int(match[1])], text)


def content(piece: str) -> str:
    """What a piece says, without its quotes."""
    return piece.strip("`\"'“”«»„‘’").strip()
