"""Facts that a checked-in document states already: an agent reads AGENTS.md anyway, so memory need not repeat it.

Two sentences count as the same when every content word of the fact stands in one sentence of the document, with the
same polarity, the same contrast (`pnpm, not npm`) and, where order carries meaning (`before`, `from`), in that order.
One new content word (another tool, another number) makes it another fact: a repeated fact costs less than a lost one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from noforgetti.policy.verdict import Refusal, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

Document = tuple[str, str]  # name, text

# Words that carry no fact of their own in an instruction; modal verbs are among them, negations are not.
_STOP = frozenset(
    """
    a an the is are be been was were do does did to of in on at for with and or that this these those it its
    we our us you your i my they their please always must should shall will would can could may need needs
    have has had by as so there here from into when then all any every each project repository repo code use
    used using run runs running make sure just also only via
    """.split()  # noqa: SIM905 - forty words as a list would fill a screen
)
_NEGATION = frozenset(
    {"not", "never", "no", "without", "cannot", "avoid", "nor", "neither", "none", "forbidden", "stop"}
)
_ORDER = frozenset({"before", "after", "then", "from", "to", "over", "under", "into", "above", "below", "than", "by"})
_CONTRAST = re.compile(r"\b(?:instead\s+of|rather\s+than|in\s+place\s+of|and\s+not|but\s+not)\b|,\s*(?:not|never)\b")
_FENCE_LINE = re.compile(r"^\s*(?:```|~~~)")
_BLOCK_START = re.compile(r"^\s*(?:[-*+]|\d+[.)]|#{1,6}|>|\|)\s*(?:\[[ xX]\]\s*)?")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n")
_MARKUP = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,500}\)|<[^>\n]{1,200}>|[*`~]|(?<!\w)_|_(?!\w)|\|")
_WORD = re.compile(r"[^\W_](?:[\w./@+:-]*[\w+])?|[^\W_]")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence reduced to what it says: content words in order, what they are set against, polarity."""

    words: tuple[str, ...]
    against: frozenset[str]
    negative: bool
    ordered: bool


def sentences(document: str) -> frozenset[Sentence]:
    """What a Markdown document says, sentence by sentence; headings, list items and table rows count as sentences."""
    return _sentences(document)


def documented(text: str, documents: Iterable[Document]) -> Refusal | None:
    """A refusal that names the document in which every sentence of `text` is stated already, or None."""
    documents = tuple(documents)
    if not documents:
        return None
    facts = [fact for fact in map(_parsed, _pieces(text)) if fact.words]
    if not facts:
        return None
    for name, content in documents:
        stated = sentences(content)
        if all(any(_says(sentence, fact) for sentence in stated) for fact in facts):
            return Refusal(
                Rule.DOCUMENTED,
                f"The fact is stated in `{name}` already; nothing was written.",
                f"Change `{name}` if it is out of date.",
                name,
            )
    return None


@lru_cache(maxsize=16)  # documents of one project; a review asks for each of its operations
def _sentences(document: str) -> frozenset[Sentence]:
    parsed = (_parsed(piece) for piece in _pieces(document))
    return frozenset(sentence for sentence in parsed if sentence.words)


def _pieces(document: str) -> Iterable[str]:
    for block in _blocks(document):
        yield from _SENTENCE_END.split(_MARKUP.sub(lambda match: match[1] or "", block))


def _blocks(document: str) -> Iterable[str]:
    """Paragraphs, list items, headings and lines of code, with wrapped lines joined."""
    block: list[str] = []
    code = False
    for line in document.replace("\r\n", "\n").split("\n"):
        fence = bool(_FENCE_LINE.match(line))
        if fence or code or not line.strip() or _BLOCK_START.match(line):
            yield " ".join(block)
            block = []
        code ^= fence
        if not fence:
            block.append(_BLOCK_START.sub("", line).strip())
    yield " ".join(block)


def _parsed(sentence: str) -> Sentence:
    lowered = sentence.lower().replace("’", "'").replace("n't", " not")
    positive, *negated = _CONTRAST.split(lowered, maxsplit=1)
    raw = _WORD.findall(positive)
    words = tuple(_stem(word) for word in raw if word not in _STOP and word not in _NEGATION)
    against = frozenset(_stem(word) for part in negated for word in _WORD.findall(part) if word not in _STOP)
    negative = sum(word in _NEGATION for word in raw) % 2 == 1
    return Sentence(words, against, negative, any(word in _ORDER for word in raw))


def _says(sentence: Sentence, fact: Sentence) -> bool:
    if sentence.negative != fact.negative or not fact.against <= sentence.against | frozenset(sentence.words):
        return False
    if len(fact.words) < 2 and not (sentence.words == fact.words or _CJK.search(fact.words[0])):
        return False
    if len(fact.words) * 2 < len(sentence.words) and len(fact.words) < 4:
        return False  # two words of a long sentence are a mention, not the fact
    if sentence.ordered or fact.ordered:
        rest = iter(sentence.words)
        return all(word in rest for word in fact.words)
    return set(fact.words) <= set(sentence.words)


def _stem(word: str) -> str:
    """The word without the endings that rewording changes; names with digits, dots or slashes stay as they are."""
    if not word.isalpha() or not word.isascii():
        return word
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
