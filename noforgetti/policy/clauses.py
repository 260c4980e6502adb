"""A text cut into clauses: at sentence ends, commas, dashes, brackets, `but`, and at `and` where a new clause begins.

What is quoted (`…`, "…", '…', “…”) stays together and is marked, so that nobody reads orders in it. A list (`secrets,
tokens or keys`) is no new clause, nor is a condition that stands before or behind its clause (`when CI is red, …`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from noforgetti.policy.lemmas import lemma

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

READ = 4_000  # code points of a text that are read: five times the longest entry
_QUOTE = (
    r"`[^`\n]{1,300}`|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»|‘[^’\n]{1,300}’"
    r"|「[^」\n]{1,300}」|(?<![\w'])'(?=\S)[^'\n]{1,300}'(?!\w)"
)
_TOKEN = re.compile(
    rf"(?P<quote>{_QUOTE})|(?P<word>[.@~/-]{{0,2}}\w(?:[\w'’./@:+#\\-]{{0,80}}[\w+#])?)"
    r"|(?P<end>[.!?;…]+(?=\s|$)|[。！？；]|\n)|(?P<pause>[,:()\[\]—–、，：]|(?<=\s)-{1,3}(?=\s))"
)
_INNER = re.compile(r"[^\s,;()\[\]{}=]{1,200}")
_SHORTENED = frozenset({"e.g", "i.e", "etc", "vs", "approx", "incl", "resp", "cf"})
_ENDINGS = ("'s", "'re", "'ll", "'d", "'m", "'ve", "'")
_NEGATED = {"can't": "can", "won't": "will", "shan't": "shall", "ain't": "is", "cannot": "can", "dont": "do",
            "doesnt": "does", "mustnt": "must", "shouldnt": "should", "cant": "can", "wont": "will", "isnt": "is",
            "arent": "are"}  # fmt: skip

# Several words that are one: what they are read as.
_PHRASES = {
    tuple(words.split()): read
    for read, phrases in {
        "before": ("prior to", "ahead of", "in advance of"),
        "instead-of": ("instead of", "rather than", "in place of", "in lieu of"),
        "so-that": ("so that", "in order to", "so as to", "such that"),
        "because": ("because of", "due to", "owing to", "on account of", "as a result of", "thanks to"),
        "when": ("as long as", "in case of", "in case", "even if", "only if", "only when", "every time", "each time"),
        "after": ("as soon as",),
        "except": ("except for", "other than", "apart from", "aside from", "unless and until"),
        "from": ("out of",),
        "onto": ("on to", "on top of"),
        "without": ("free of", "free from"),
        "must": ("have to", "has to", "had to", "needs to", "need to", "ought to", "be sure to", "make sure to",
                 "remember to", "supposed to", "is to", "are to", "want you to", "wants you to"),
        "not-needed": ("need not", "no need to", "no need for", "not need to", "not have to", "not required",
                       "not necessary", "not mandatory", "not needed", "not compulsory", "not always",
                       "not necessarily", "not every", "not all", "not obligatory", "not bother to"),
        "not": ("no longer", "not any longer", "under no circumstances", "by no means", "not ever"),
        "only": ("not only", "not just", "not merely", "nothing but"),
        "most": ("no more than", "no greater than", "not more than"),
        "least": ("no less than", "no fewer than", "not less than", "no earlier than", "no sooner than"),
        "latest": ("no later than", "not later than"),
        "enable": ("turn on", "switch on", "turned on", "switched on", "turning on", "switching on"),
        "disable": ("turn off", "switch off", "turned off", "switched off", "turning off", "switching off",
                    "opt out of"),
        "please": ("try to",),
        "forbidden": ("off limits",),
        "ensure": ("make sure that", "make sure", "ensure that", "see to it that", "be sure that"),
        "pull-request": ("pull request", "merge request"),
        "pull-requests": ("pull requests", "merge requests"),
    }.items()
    for words in phrases
}  # fmt: skip
_LONGEST = max(map(len, _PHRASES))
_FIRST = frozenset(words[0] for words in _PHRASES)
_BUT = frozenset({"but", "yet", "whereas", "however", "although", "though"})
_AND = frozenset({"and", "or", "nor", "then", "plus"})


class Word(NamedTuple):
    """A word: lower-cased, as it is compared, whether it is quoted, and where it stands (-1: nowhere)."""

    text: str
    lemma: str
    quoted: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of one sentence between two marks, and what stood before them: a comma, `but`, `and`, or nothing."""

    words: tuple[Word, ...]
    after: str


@lru_cache(maxsize=1024)  # both who compares words and who reads clauses ask for the same text, one after the other
def sentences(text: str) -> tuple[tuple[Piece, ...], ...]:
    """The pieces of each sentence of a text's first 4,000 code points. Never raises; linear."""
    return tuple(map(tuple, _sentences(text)))


def _sentences(text: str) -> Iterator[list[Piece]]:
    words: list[Word] = []
    pieces: list[Piece] = []
    after = ""
    for token in _TOKEN.finditer(text[:READ]):
        kind = token.lastgroup
        if kind == "quote":
            words += _quoted(token)
        elif kind == "word":
            words += _words(token)
        elif kind == "pause" or (words and words[-1].text in _SHORTENED):
            if words:
                pieces += _cut(words, after)
            words, after = [], token[0] if kind == "pause" else ","
        else:
            pieces += _cut(words, after)
            if pieces:
                yield pieces
            words, pieces, after = [], [], ""
    pieces += _cut(words, after)
    if pieces:
        yield pieces


def _quoted(token: re.Match[str]) -> Iterator[Word]:
    """The words of a quotation, as they stand: a name in code has no endings. In prose quotes it is prose."""
    code = token[0][0] == "`"
    for inner in _INNER.finditer(token[0][1:-1]):
        plain = inner[0].lower() if code else inner[0].lower().strip(".!?:")
        if plain:
            at = token.start() + 1 + inner.start()
            yield Word(plain, plain if code else lemma(plain), True, at, at + len(inner[0]))


def _words(token: re.Match[str]) -> Iterator[Word]:
    plain = token[0].lower().replace("’", "'")
    negated = _NEGATED.get(plain, plain[:-3] if plain.endswith("n't") else "")
    if negated:
        yield _word(negated, token)
        yield _word("not", token)
        return
    for ending in _ENDINGS:
        if plain.endswith(ending) and len(plain) > len(ending):
            plain = plain.removesuffix(ending)
            break
    yield _word(plain, token)


def _word(plain: str, token: re.Match[str]) -> Word:
    return Word(plain, lemma(plain), False, token.start(), token.end())


def _cut(words: list[Word], after: str) -> Iterator[Piece]:
    """Cut at `but` and its like; `and` stays for whoever knows which words begin a clause."""
    words = _joined(words)
    start = 0
    for at, word in enumerate(words):
        if word.text in _BUT and not word.quoted:
            if at > start:
                yield Piece(tuple(words[start:at]), after)
            start, after = at + 1, "but"
    if start < len(words):
        yield Piece(tuple(words[start:]), after)


def _joined(words: list[Word]) -> list[Word]:
    """With phrases read as the one word they stand for."""
    if not any(word.text in _FIRST for word in words):
        return words
    joined, at = [], 0
    while at < len(words):
        length = next((n for n in range(_LONGEST, 1, -1) if _phrase(words[at : at + n], n)), 1)
        if length == 1:
            joined.append(words[at])
        else:
            read = _PHRASES[tuple(word.text for word in words[at : at + length])]
            joined.append(Word(read, lemma(read), False, words[at].start, words[at + length - 1].end))
        at += length
    return joined


def _phrase(words: Sequence[Word], length: int) -> bool:
    return (
        len(words) == length
        and not any(word.quoted for word in words)
        and tuple(word.text for word in words) in _PHRASES
    )
