"""English words without their endings: Porter's algorithm (M. F. Porter, "An algorithm for suffix stripping", 1980)."""

from __future__ import annotations

import re
from functools import lru_cache

_V = "(?:[aeiou]|(?<=[^aeiou])y)"  # a vowel; y is one after a consonant
_MEASURE = re.compile(rf"{_V}+(?!{_V})[a-z]")  # a vowel-consonant change; their number is Porter's m
_VOWEL = re.compile(_V)
_DOUBLE = re.compile(r"([^aeioulsz])\1$")
_SHORT = re.compile(r"(?:^|[a-z])[^aeiou][aeiouy][^aeiouwxy]$")  # consonant, vowel, consonant: hop, fil

_SECOND = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_THIRD = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_FOURTH = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "sion",
    "tion", "al", "er", "ic", "ou",
)  # fmt: skip


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of a lower-case word. What is no English word (digits, other letters, two letters) stays as it is."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    word = _plural_and_past(word)
    if word.endswith("y") and _VOWEL.search(word, 0, len(word) - 1):
        word = word[:-1] + "i"
    for endings in (_SECOND, _THIRD):
        word = _replaced(word, endings)
    word = _bare(word)
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _SHORT.search(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _measure(word: str) -> int:
    return len(_MEASURE.findall(word))


def _plural_and_past(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and _VOWEL.search(rest):
            if rest.endswith(("at", "bl", "iz")) or (_measure(rest) == 1 and _SHORT.search(rest)):
                return rest + "e"
            return rest[:-1] if _DOUBLE.search(rest) else rest
    return word


def _replaced(word: str, endings: dict[str, str]) -> str:
    for length in range(min(len(word), 7), 1, -1):
        replacement = endings.get(word[-length:])
        if replacement is not None:
            rest = word[:-length]
            return rest + replacement if _measure(rest) else word
    return word


def _bare(word: str) -> str:
    for ending in _FOURTH:
        if word.endswith(ending):
            rest = word[: -len(ending)] + ("" if ending not in ("sion", "tion") else ending[0])
            return rest if _measure(rest) > 1 else word
    return word
