"""What a text is found by: its terms.

A term holds only characters that SQLite's `unicode61` tokenizer keeps together, so that FTS5 sees exactly the terms
made here: whatever else is in a term is written out (`C++` is `cplusplus`). English words lose their endings, stop
words are left out. Scripts without spaces become pairs of characters, also where they are glued to Latin ones
(`查询nginx`). An identifier is one term without its separators (`--dry-run`, `dryRun` and `dry_run` are all `dryrun`)
and, beside it, each of its parts. Text and query pass through the same steps, so they meet.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from noforgetti.policy.stemming import stem

if TYPE_CHECKING:
    from collections.abc import Iterator

_READ = 4_000  # code points of a query that are read: a pasted log says what it is about in its first page
_TERMS = 64  # distinct terms of a query: more would cost a look into the index each, and say no more
_WHOLE = 64  # code points of an identifier's term: longer ones are encoded data or addresses

_STOP_WORDS = """
    a about above after again against all am an and any are aren as at be because been before being below between
    both but by can cannot could couldn d did didn do does doesn doing don down during each few for from further had
    hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just
    ll m me more most mustn my myself no nor not now o of off on once only or other our ours ourselves out over own re s
    same shan she should shouldn so some such t than that the their theirs them themselves then there these they this
    those through to too under until up us ve very was wasn we were weren what when where which while who whom why will
    with won would wouldn you your yours yourself yourselves
    aber auch auf aus bei bis das dass dem den der des durch ein eine einem einen einer es für ich im ist mit nach nicht
    oder sich sie sind um und uns vom von wenn wie wir wird zu zum zur über
    au aux avec ce cette dans des du elle est et il je la le les leur mais ne nous ou où pas que qui sont sur une
    como del el en es esta este las los más no para pero por que se sobre su un una y
"""
# Of German, French and Spanish only words that mean nothing in English.
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Scripts written without spaces: Thai, Lao, Burmese, Khmer, kana, Han (with its extensions), Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003347f"
)
# What a word is made of. Marks (the vowels of Indic scripts, points of Hebrew and Arabic) are no `\w` to Python.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0dff\u0f00-\u0fff"
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[{_MARKS}])"
_PIECE = re.compile(
    rf"[{_UNSPACED}]+"
    rf"|(?:(?<![\w.])\.(?=[a-zA-Z]))?{_LETTER}+(?:\+\+|\#(?!\w)|(?:['’]|[_\-./\\@]{{1,3}}|::){_LETTER}+)*"
)
_SEPARATORS = re.compile(r"[_\-./\\:@'’]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_POSSESSIVE = re.compile(r"['’](?:s|d|m|t|ll|re|ve)\b|n['’]t\b", re.IGNORECASE)
_NUMBER_POINT = re.compile(r"(?<=\d)[.:](?=\d)")
_VERSION = re.compile(r"^v(?=\d)", re.IGNORECASE)
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_UNSPACED_ONE = re.compile(f"[{_UNSPACED}]")


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One term that a query looks for. `shown` is the word as it was written. `weight`: a word counts 1; of an
    identifier the whole counts a half, and its parts share the other half. `pair` says that it is a piece of a script
    without spaces."""

    term: str
    shown: str
    weight: float = 1.0
    pair: bool = False


def terms(text: str) -> list[str]:
    """The terms of a text in their order, with repeats; stop words are left out."""
    return [one.term for one, empty in _terms(text) if not empty]


def query(text: str) -> list[QueryTerm]:
    """The distinct terms a query looks for, at most 64, from its first 4,000 code points. Stop words count only where
    there is nothing else. Never raises; a text without letters and digits has no terms."""
    found = list(_terms(text[:_READ]))
    kept = [one for one, empty in found if not empty] or [one for one, _ in found]
    distinct: dict[str, QueryTerm] = {}
    for one in kept:
        known = distinct.get(one.term)
        if known is None or known.weight < one.weight:
            distinct[one.term] = one
    if len(distinct) <= _TERMS:
        return list(distinct.values())
    longest = set(sorted(distinct, key=len, reverse=True)[:_TERMS])  # long words say more than short ones
    return [one for one in distinct.values() if one.term in longest]


def dated(at: str) -> list[str]:
    """The terms of a day, year, month and day of the month, as people write them: of an RFC 3339 time, else none."""
    day = _DAY.match(at)
    if day is None or not 1 <= int(day[2]) <= len(_MONTHS):
        return []
    return terms(f"{int(day[3])} {_MONTHS[int(day[2]) - 1]} {day[1]}")


def asks(text: str) -> bool:
    """Does a text hold a question?"""
    return "?" in text or "？" in text


def _terms(text: str) -> Iterator[tuple[QueryTerm, bool]]:
    """Each term, and whether it is a stop word."""
    for piece in _PIECE.finditer(unicodedata.normalize("NFKC", text)):
        shown = piece.group()
        if _UNSPACED_ONE.match(shown):
            yield from ((QueryTerm(_safe(pair), pair, pair=True), False) for pair in _pairs(shown))
        else:
            yield from _word(shown)


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


@lru_cache(maxsize=20_000)
def _word(shown: str) -> tuple[tuple[QueryTerm, bool], ...]:
    """The terms of one word or identifier, the whole before its parts, each with whether it is a stop word."""
    plain = _POSSESSIVE.sub("", shown)
    plain = _NUMBER_POINT.sub("p", _VERSION.sub("", plain, count=1))
    dotted = "dot" if plain.startswith(".") else ""
    parts = [part for one in _SEPARATORS.split(plain) for part in _CAMEL.split(one) if part]
    whole = dotted + "".join(parts)
    several = [part for part in parts if len(part) > 1] if dotted or len(parts) > 1 else []
    found = [(whole, 0.5 if several else 1.0)] if 0 < len(whole) <= _WHOLE else []
    found += [(part, 0.5 / len(several)) for part in several]
    made = ((QueryTerm(_term(one), shown, weight), one.casefold() in STOP_WORDS) for one, weight in found)
    return tuple(one for one in made if one[0].term)  # accents alone are none


def _term(word: str) -> str:
    word = word.replace("+", "plus").replace("#", "sharp").casefold()
    return stem(word) if word.isascii() else stem(_safe(_unaccented(word)))


def _unaccented(word: str) -> str:
    """Without the accents of Latin, Greek and Cyrillic letters; the marks of other scripts are letters there."""
    split = unicodedata.normalize("NFKD", word)
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", split))


def _safe(term: str) -> str:
    """With every character spelled out that SQLite (Unicode 6.1) may not know as a letter or digit: what was one in
    Unicode 3.2 is one there."""
    known = unicodedata.ucd_3_2_0.category
    return "".join(one if known(one)[0] in "LN" else f"u{ord(one):x}" for one in term)
