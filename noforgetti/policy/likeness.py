"""Do two texts say the same, or may one be meant to take the other's place?

A repetition is dropped (its entry is strengthened), so this errs towards keeping: a text repeats another only where it
says nothing that the other does not. What is one word or value apart, or says more, is kept beside it, and somebody is
asked. No nearness in meaning outweighs another polarity, number, name, path or code: in one embedding space "always
push" and "never push" are neighbours.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from noforgetti.policy.clauses import READ, Word, sentences
from noforgetti.policy.lemmas import lemma
from noforgetti.policy.polarity import Clause, Polarity, clauses, denies, negations

if TYPE_CHECKING:
    from collections.abc import Iterable

WORDS = 0.7  # shared share of tokens from which two texts are nearly the same: the reference's, for lessons
MEANING = 0.90  # cosine of a repetition; measured on labelled pairs with MiniLM: half of the light paraphrases reach it
CERTAIN = 0.95  # cosine from which shared words need not agree as well; sentence patterns reach 0.93
AGREEING = 0.6  # shared share of content words asked for between the two
OPEN = 0.5  # shared share of content words from which a cosine is asked for: below it none of 101 pairs reached 0.90
_APART = 0.3  # share of words below which two texts are about different things
_SEQUENCED = 40  # words of a sequence whose order is compared: pairs of them grow with the square
_WORTH = 2  # shared words of texts that are compared at all, unless one of them has hardly more


class Likeness(StrEnum):
    """What a new text is to an old one: it repeats it, or may be meant to take its place. None of both is None."""

    REPEATS = "repeats"
    MAY_REPLACE = "may-replace"


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found of a pair: `by` what, how near (0 to 1), and whether a cosine could still make it a repetition.
    `share`: of the content words, how many both have."""

    likeness: Likeness | None = None
    by: Literal["exact", "words", "meaning"] = "words"
    near: float = 0.0
    open: bool = False
    share: float = 0.0

    def beside(self, cosine: float | None) -> Judged:
        """The same, with the cosine of the two texts, -1 to 1 (None: there is none)."""
        if cosine is None or not self.open or cosine < MEANING or (cosine < CERTAIN and self.share < AGREEING):
            return self
        return replace(self, likeness=Likeness.REPEATS, by="meaning", near=min(cosine, 1.0), open=False)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A text reduced to what is compared. `content` is by lemma, in the order of first use; `facts` are the values
    (numbers, paths, names) that must agree; `raw` all words as written, in lower case; `code` the spans of code."""

    normal: str
    content: tuple[str, ...]
    stems: frozenset[str]
    tokens: frozenset[str]
    facts: frozenset[str]
    raw: frozenset[str]
    code: frozenset[str]


_STOP = frozenset(
    """
    a an the this that these those our your my their his her its it me we you i they he she who which whose what
    there here is are was were be been being am do does did have has had will would shall should must may might can
    could ought always never not no nor neither cannot please just also really simply very any every each all both such
    of in on at to for from by with into onto inside via through per as and or but if when while where
    whenever than then so because since before after between during about
    using use used uses run runs running make makes making need needs needed needing require required requires keep
    keeps stay stays happen happens prefer prefers preferred want wants get gets got go goes not-needed instead-of
    so-that ensure directly straight actually
    user users it's let lets place exactly instead prior ahead avoid forbidden prohibited allowed permitted fine ok
    okay code project
    """.split()  # noqa: SIM905 - a list would fill two screens
)
# Small words without which a text says something else; those of one meaning are one.
_RELATIONS = {
    word: relation
    for relation, words in {
        "<": "under below beneath less fewer most latest within",
        ">": "over above beyond more exceeding exceed exceeds least",
        "~": "without", "until": "until till", "unless": "unless except",
    }.items()
    for word in words.split()
}  # fmt: skip
_STOPPED = _STOP | {lemma(word) for word in _STOP if word.isalpha()}
_UNSPACED = re.compile("[\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af]+")
_ROUGH = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NOT_WORDS = re.compile(r"[^\w@#/+.\-]+")
_EDGES = re.compile(r"(?<!\w)[.\-/]+(?=\s|$)|(?<=\w)[.\-/]+(?=\s|$)")
_CODE = re.compile(r"`([^`\n]{1,300})`")
_NUMBER = re.compile(r"\d")
_VALUE = re.compile(r"\d+(?:[.:]\d+)*")
_NAME = re.compile(r"(?<![.!?:;`\"“\n•*-] )(?<!^)(?<![\w`])[A-Z][\w'’-]{1,60}|\b[a-z]{1,40}[A-Z]\w{0,60}")
_PATH = re.compile(r"[/\\@~_]|\w\.\w|^--?\w|::")
_SEQUENCE = re.compile(r"\b(?:then|first|second|finally|afterwards?|last)\b")
_EARLIER = {"before": False, "to": False, "instead": False, "over": False, "until": False, "after": True, "from": True}
_TIMES = frozenset({"before", "after", "until"})  # verbs come before or after them, too


def compare(
    new: str, old: str, *, cosine: float | None = None, new_negative: bool = False, old_negative: bool = False
) -> Likeness | None:
    """What the new text is to the old one; contradictions are to be judged before. A text that is `negative` means
    "don't: TEXT"; `cosine` is the nearness of the two in meaning, where one is known. Deterministic; never raises."""
    return judge(new, old, new_negative=new_negative, old_negative=old_negative).beside(cosine).likeness


@lru_cache(maxsize=16_384)  # more than any memory holds; half a KiB each
def gist(text: str) -> frozenset[str]:
    """The words by which a text is found worth comparing, roughly. Quick, and kept: one text stands beside ten thousand
    others within milliseconds."""
    lowered = text[:READ].lower()
    rough = _ROUGH.findall(lowered)
    words = {lemma(word) for word in rough} - _STOPPED
    if not lowered.isascii():
        for run in _UNSPACED.findall(lowered):
            words.update(run[at : at + 2] for at in range(max(len(run) - 1, 1)))
    return frozenset(words or {" ".join(rough)})


def touches(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Are two texts worth comparing, by their gists: do they share two words, or half of what one of them has?"""
    if ours.isdisjoint(theirs):
        return False
    shared = len(ours & theirs)
    return shared >= _WORTH or 2 * shared >= min(len(ours), len(theirs))


def judge(new: str, old: str, *, new_negative: bool = False, old_negative: bool = False) -> Judged:
    """What the words of two texts say of the pair, before any cosine."""
    ours, theirs = _read(new), _read(old)
    if ours.normal == theirs.normal and ours.code == theirs.code:
        return Judged(Likeness.REPEATS, "exact", 1.0, share=1.0) if new_negative == old_negative else Judged()
    said, known = _spelled(ours, theirs), _spelled(theirs, ours)
    fresh, gone, both = said - known, known - said, said & known
    share = len(both) / max(len(said | known), 1)
    near = max(share, _jaccard(ours.tokens, theirs.tokens))
    if not both or (near < _APART and fresh and gone):
        return Judged(share=share)
    if (new_negative or old_negative or denies(new) or denies(old)) and _opposed(
        (new, new_negative), (old, old_negative)
    ):
        # Not the same, and not clearly the opposite: somebody looks at it.
        return Judged(Likeness.MAY_REPLACE if near >= WORDS else None, near=near, share=share)
    backed = ours.facts <= theirs.raw and _same_code(ours, theirs)
    agreeing = backed and theirs.facts <= ours.raw
    if not fresh and backed and _meant_alike(new, new_negative, old, old_negative):
        within = _clauses_of(new, new_negative) <= _clauses_of(old, old_negative)
        if within or (agreeing and not gone):
            return Judged(Likeness.REPEATS, "words", near, share=share)
    if not fresh and not gone:
        return Judged(Likeness.MAY_REPLACE, near=near, share=share)  # the same words in another order or mood
    if not gone or not fresh:  # one says more; of a single word, only what begins with it
        more = len(both) > 1 or ours.content[0] == theirs.content[0]
        return Judged(Likeness.MAY_REPLACE if more else None, near=near, share=share)
    if len(fresh) == 1 and len(gone) == 1:
        same = _same_subject(new, old)
        return Judged(Likeness.MAY_REPLACE if same else None, near=near, share=share)
    if near >= WORDS:
        return Judged(Likeness.MAY_REPLACE, near=near, share=share, open=agreeing)
    return Judged(near=near, share=share, open=agreeing and share >= OPEN)


@lru_cache(maxsize=16_384)  # more than any memory holds; 1 KiB each
def _read(text: str) -> _Reading:
    text = unicodedata.normalize("NFKC", text)[:READ]
    lowered = text.casefold()
    normal = " ".join(_EDGES.sub(" ", _NOT_WORDS.sub(" ", lowered)).split())
    content: dict[str, None] = {}
    tokens: set[str] = set()
    facts: set[str] = set()
    raw: set[str] = set()
    for word in _all_words(text):
        raw.update((word.text, word.lemma, *word.text.split("-")))
        for run in _UNSPACED.findall(word.text):
            pairs = [run[at : at + 2] for at in range(max(len(run) - 1, 1))]
            content.update(dict.fromkeys(pairs))
            tokens.update(pairs)
        if _UNSPACED.search(word.text):
            continue
        tokens.add(word.lemma)
        if word.text in _RELATIONS and not word.quoted:
            content[_RELATIONS[word.text]] = None
            continue
        if _PATH.search(word.text) or _NUMBER.search(word.lemma):
            facts.add(word.lemma)
            content[word.lemma] = None
        elif word.quoted or not (word.text in _STOPPED or word.lemma in _STOPPED):
            for part in word.text.split("-") if not word.quoted else [word.text]:
                if part and (word.quoted or part not in _STOPPED):
                    content[lemma(part) if not word.quoted else part] = None
    facts.update(name.casefold() for name in _NAME.findall(text))
    stems = frozenset(content)
    return _Reading(
        normal,
        tuple(content),
        stems,
        frozenset(tokens),
        frozenset(facts),
        frozenset(raw),
        frozenset(_CODE.findall(text)),
    )


def _all_words(text: str) -> Iterable[Word]:
    return (word for sentence in sentences(text) for piece in sentence for word in piece.words)


def _jaccard(ours: frozenset[str], theirs: frozenset[str]) -> float:
    return len(ours & theirs) / max(len(ours | theirs), 1)


def _spelled(ours: _Reading, theirs: _Reading) -> frozenset[str]:
    """Our words, with two that the other text writes as one (`lock file`, `lockfile`) as that one."""
    if ours.stems <= theirs.stems:
        return ours.stems
    words = set(ours.stems)
    for one, other in pairwise(ours.content):
        joined = next((word for word in _as_one(one, other) if word in theirs.stems), "")
        if joined:
            words -= {one, other}
            words.add(joined)
    return frozenset(words)


def _as_one(one: str, other: str) -> tuple[str, ...]:
    return one + other, lemma(one + other), f"{one}e{other}"


def _opposed(new: tuple[str, bool], old: tuple[str, bool]) -> bool:
    """Do the two deny differently, or is a word denied in one and affirmed in the other?"""
    return _denials(new[0], negative=new[1]) != _denials(old[0], negative=old[1]) or _swapped(
        clauses(*new), clauses(*old)
    )


def _denials(text: str, *, negative: bool) -> tuple[int, int]:
    """How many clauses deny, and how many foreign words do."""
    return sum(clause.polarity.negative for clause in clauses(text, negative)), negations(text)


def _meant_alike(new: str, new_negative: bool, old: str, old_negative: bool) -> bool:
    """Are the same words in an order and mood that mean the same?"""
    values, known = _VALUE.findall(new), _VALUE.findall(old)
    if values != known and sorted(values) == sorted(known):
        return False  # `port 1 of host 2` is not `port 2 of host 1`
    return _granted(new, new_negative) == _granted(old, old_negative) and _ordered_alike(new, old)


def _granted(text: str, negative: bool) -> bool:
    """Does a text permit something? `may` is not `must`."""
    return any(clause.polarity is Polarity.PERMITS for clause in clauses(text, negative))


def _swapped(ours: Iterable[Clause], theirs: Iterable[Clause]) -> bool:
    """Is a word denied in one text and affirmed in the other?"""
    sides = [(_words_of(one, denied=True), _words_of(one, denied=False)) for one in (tuple(ours), tuple(theirs))]
    (denied, affirmed), (also_denied, also_affirmed) = sides
    return bool(
        (denied - affirmed) & (also_affirmed - also_denied) or (also_denied - also_affirmed) & (affirmed - denied)
    )


def _words_of(found: tuple[Clause, ...], *, denied: bool) -> frozenset[str]:
    words = (word for clause in found if clause.polarity.negative == denied for word in clause.words)
    return frozenset(word for word in words if word not in _STOPPED)


def _same_code(ours: _Reading, theirs: _Reading) -> bool:
    """Code is compared letter for letter where both texts mark it."""
    return not (ours.code and theirs.code) or ours.code == theirs.code


def _clauses_of(text: str, negative: bool) -> frozenset[tuple[object, ...]]:
    return frozenset(
        (
            clause.polarity.negative,
            clause.acts,
            frozenset(clause.core),
            frozenset(clause.agents),
            frozenset(part for part in clause.beside if part[0] != "why"),
            clause.manner,
        )
        for clause in clauses(text, negative)
    )


def _ordered_alike(new: str, old: str) -> bool:
    """Does no word come before another in one text and behind it in the other, where that means something?"""
    ours, theirs = _order(new), _order(old)
    if any((later, earlier) in theirs for earlier, later in ours):
        return False
    pairs, others = _parts(new), _parts(old)
    return not (pairs and others) or pairs == others


@lru_cache(maxsize=1024)
def _parts(text: str) -> frozenset[frozenset[str]]:
    """Which words stand together (`review by Alice, approval by Bob`); empty where a text has one part, or lists single
    words."""
    parts: list[set[str]] = []
    known = _read(text).stems
    for sentence in sentences(text):
        for piece in sentence:
            parts.append(set())
            for word in piece.words:
                if word.text in ("and", "or") and not word.quoted:
                    parts.append(set())
                elif word.lemma in known:
                    parts[-1].add(word.lemma)
    found = frozenset(frozenset(part) for part in parts if part)
    return found if len(found) > 1 and all(len(part) > 1 for part in found) else frozenset()


@lru_cache(maxsize=1024)
def _order(text: str) -> frozenset[tuple[str, str]]:
    """Pairs of words whose order counts: `A before B`, `from A to B`, `A instead of B`, `A first, then B`, and who
    does something to what."""
    pairs: set[tuple[str, str]] = set()
    found = clauses(text)
    for clause in found:
        objects: set[str] = {word for group in clause.core for chunk in group for word in chunk}
        acting = {word for group in clause.agents for chunk in group for word in chunk}
        named = objects | acting
        timed = named | clause.acts
        pairs.update((one, other) for one in acting for other in objects)
        for role, group in clause.beside:
            words = {word for chunk in group for word in chunk}
            if role in _EARLIER:
                main = timed if role in _TIMES else named
                first, second = (words, main) if _EARLIER[role] else (main, words)
                pairs.update((one, other) for one in first for other in second)
            elif role == "place" and clause.acts:
                pairs.update((one, other) for one in acting for other in words)  # `depends on …`
            elif role == "with" and clause.passive:
                pairs.update((one, other) for one in words for other in objects)  # `called by …`
        for before, one in clause.beside:
            for after, other in clause.beside:
                if before == "from" and after == "to":
                    pairs.update((a, b) for chunk in one for a in chunk for part in other for b in part)
    if _SEQUENCE.search(text.casefold()):
        listed = [word for word in _read(text).content if not _SEQUENCE.fullmatch(word)]
        pairs.update(
            (one, other) for at, one in enumerate(listed[:_SEQUENCED]) for other in listed[at + 1 : _SEQUENCED]
        )
    return frozenset((one, other) for one, other in pairs if one != other)


def _same_subject(new: str, old: str) -> bool:
    """Do the two begin with the same content word, or are both orders (`use pnpm`, `use yarn`)? Then what differs is
    what is said, not what it is said of."""
    ours, theirs = _read(new).content, _read(old).content
    if ours[:1] == theirs[:1]:
        return True
    acts = _ordered(new)
    return acts is not None and acts == _ordered(old)


def _ordered(text: str) -> frozenset[str] | None:
    """The verbs that a text begins to order with, or None for a statement."""
    first = next(iter(clauses(text)), None)
    if first is None or first.agents or first.passive or first.polarity is Polarity.STATES:
        return None
    return first.acts
