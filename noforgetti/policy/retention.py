"""What a text must still say when it takes the place of others: the facts that a model loses when it shortens.

Judged by letters, not by meaning: numbers and versions, code spans, addresses, paths, options and other identifiers,
names, whether something is forbidden, and most of the plain words. A text that keeps all of these may still be badly
worded; one that does not has lost something, and nobody has to take a model's word for it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from noforgetti.policy.stemming import stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KEPT = 0.6  # of the plain words of each text; measured on the shipped fixture of 60 entries, see docs/dreaming.md
_NAMED = 8  # pieces that are named at once: more would be a listing
_TEXTS = 4_096  # texts whose pieces are kept

_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)([^`\n]+)\1(?!`)")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`]+", re.IGNORECASE)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_TRAIL = ".,;:!?)]}'\"”»…。！？；：，、）"
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
# A path, or a name that is dotted or joined: `src/app`, `v1.2`, `.env`, `foo_bar`.
_JOINED = re.compile(
    r"(?<![\w./~@-])[~@./]*\w+(?:[./@:#+]+\w+)+/?|(?<!\w)[.~]?/[\w./-]+|(?<![\w.])\.\w[\w.-]+|\b\w*[^\W_]_[^\W_]\w*"
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LETTER = f"(?!{_CJK.pattern})[^\\W\\d_]"
_WORD = re.compile(rf"(?:{_LETTER})+(?:['’](?:{_LETTER})+)*")
_SUBJECT = re.compile(
    rf"((?:{_LETTER})+)\s+(?:is|are|was|were|must|should|shall|can|may|will|do|have|need|(?:{_LETTER})+s)\b"
)
_I = frozenset({"I", "I'm", "I'd", "I've", "I'll", "I’m", "I’d", "I’ve", "I’ll"})
_SENTENCE = re.compile(r"(?:^|(?<=[.!?:;…])\s+|\n\s*(?:[-*+•]\s+|\d+[.)]\s+)?)(?=\S)")
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nor|neither|without|cannot|avoid\w*|forbid\w*|forbidden|prohibit\w*|don|stop|except|unless"
    r"|nie|niemals|nicht|kein\w*|ohne|jamais|pas|sans|aucun\w*|nunca|jamás|sin|никогда|не|нельзя|без)\b|n['’]t\b"
    r"|不|别|勿|禁止|没|無|ない|ません|않|말",
    re.IGNORECASE,
)
_SPELLED = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_PLAIN = frozenset(
    """
    a an the is are be been was were do does did to of in on at for with and or that this these those it its we our us
    you your i my they their them please always must should shall will would can could may need needs have has had by as
    so there here from into when then all any every each project repository repo code use used using run runs running
    make sure just also only via not never no without cannot avoid both too very before after user see
    """.split()  # noqa: SIM905 - a hundred words as a list would fill two screens
)

_IMPERATIVES = frozenset(
    """
    add apply ask avoid build cache call change check clean close commit compare copy create cut define delete deploy
    describe document edit enable export fetch fix follow format give handle import include install keep leave let limit
    list load lock log look mark measure merge mock move name open pass pin prefer prefix print push put read record
    release remember remove rename replace report reset restart return review rotate save send set show sign skip sort
    split squash start stop store sync tag tell test treat try turn update validate verify wait watch wrap write
    """.split()  # noqa: SIM905
)


def missing(sources: Iterable[str], text: str) -> tuple[str, ...]:
    """The pieces that some source says and `text` does not, at most eight; empty when nothing is lost.

    A source that loses too many of its plain words counts with those words. Total for any strings.
    """
    kept = _pieces(text)
    lost: dict[str, None] = {}
    for source in sources:
        said = _pieces(source)
        lost.update(dict.fromkeys(piece for piece in said.marked if not kept.holds(piece)))
        lost.update(dict.fromkeys(word for word in said.subjects if word not in kept.words))
        if said.negative and not kept.negative:
            lost["not"] = None
        words = [word for word in said.plain if word not in kept.words]
        if len(words) > max(1, (1 - KEPT) * len(said.plain)):
            lost.update(dict.fromkeys(words))
    return tuple(lost)[:_NAMED]


class _Pieces:
    """What one text says, in pieces. `marked` must be kept as they are written, `subjects` by their stems, `plain`
    for the most part."""

    __slots__ = ("_spelled", "folded", "marked", "negative", "plain", "subjects", "words")

    def __init__(self, text: str) -> None:
        text = unicodedata.normalize("NFC", text)
        self.folded = " ".join(text.casefold().split())
        self.marked = tuple(dict.fromkeys(_marked(text)))
        self._spelled = frozenset(piece.casefold() for piece in self.marked)
        bare = _CODE.sub(" ", text)
        self.negative = bool(_NEGATION.search(bare))
        self.subjects = tuple(dict.fromkeys(_root(word.casefold()) for word in _subjects(bare)))
        said = [_root(word) for word in _WORD.findall(text.casefold()) if word not in _PLAIN]
        said += [pair for run in re.findall(f"{_CJK.pattern}+", text) for pair in _pairs(run)]
        self.words = frozenset(said)
        marked = {_root(word) for piece in self.marked for word in _WORD.findall(piece.casefold())}
        self.plain = tuple(dict.fromkeys(w for w in said if w not in marked and (len(w) > 1 or _CJK.match(w))))

    def holds(self, piece: str) -> bool:
        """True when the piece stands in the text as a whole: `1.2` is not in `11.25`."""
        wanted = piece.casefold()
        if wanted in self._spelled or re.search(rf"(?<!\w){re.escape(wanted)}(?:['’]?s)?(?!\w|[./]\w)", self.folded):
            return True
        if not wanted[0].isdigit():
            return False
        digits = wanted.replace(",", "")  # `4,000` and `4000`, `40 seconds` and `40s`, `version 2` and `v2`
        number = rf"(?<![\d.,])(?<![^\W\dv]){re.escape(digits)}[^\W\d]{{0,3}}(?![\w]|[.]\d)"
        word = next((word for word, digit in _SPELLED.items() if digit == wanted), "")
        return bool(re.search(number, self.folded.replace(",", ""))) or bool(word and word in self.folded.split())


@lru_cache(maxsize=_TEXTS)
def _pieces(text: str) -> _Pieces:
    return _Pieces(text)


def _marked(text: str) -> Iterator[str]:
    """Pieces that are facts by their spelling, as they are written."""
    for found in _CODE.finditer(text):
        yield " ".join(found[2].split())
    text = _CODE.sub(" \0 ", text)
    for pattern in (_URL, _MAIL, _OPTION, _JOINED):
        for found in pattern.finditer(text):
            piece = found[0].rstrip(_TRAIL)
            if len(piece) > 1 and any(c.isalnum() for c in piece):
                yield piece
        text = pattern.sub(" ", text)
    yield from _NUMBER.findall(text)
    for sentence in _SENTENCE.split(text):
        yield from _names(sentence)


def _names(sentence: str) -> Iterator[str]:
    """Words that a capital marks as names: with one inside anywhere, else where no sentence begins."""
    for number, found in enumerate(_WORD.finditer(sentence)):
        word = found[0]
        if word.casefold() in _PLAIN or word in _I:
            continue
        if any(c.isupper() for c in word[1:]) or (word[0].isupper() and number > 0):
            yield re.sub(r"['’]s$|(?<=[A-Z])s$", "", word)


def _subjects(text: str) -> Iterator[str]:
    """The words that open a sentence and are what it speaks of: `Maria approves …`, `Tests must …`."""
    for sentence in _SENTENCE.split(text):
        found = _SUBJECT.match(sentence)
        if found and found[1].casefold() not in _PLAIN | _IMPERATIVES and found[1] not in _I:
            yield found[1]


def _root(word: str) -> str:
    return stem(re.sub(r"['’]s$", "", word))


def _pairs(run: str) -> Iterator[str]:
    yield from (run[at : at + 2] for at in range(max(len(run) - 1, 1)))
