"""What each clause of a text asks for: an action with its objects and conditions, and whether it is wanted or not.

A marker (`never`, `must`, `may`, `avoid`, `no …`, `is forbidden`) governs its own clause only; a condition (`while …`,
`without …`, `because …`) has none of its own, and what is quoted is an object, never a marker. English; words of other
languages make clauses too, but only `negations` knows that they deny something.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from noforgetti.policy.clauses import READ, Piece, Word, sentences
from noforgetti.policy.lemmas import lemma, lemmas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Chunk = tuple[str, ...]  # words of one noun, as compared; the last is its head
Group = tuple[Chunk, ...]  # nouns joined by `and`, `or` or commas


class Polarity(StrEnum):
    """What a clause does. `FORBIDS` also denies (`the API does not return XML`); `EXCUSES` says that something is not
    needed: the opposite of requiring it, not of permitting it."""

    REQUIRES = "requires"
    PERMITS = "permits"
    STATES = "states"
    FORBIDS = "forbids"
    EXCUSES = "excuses"

    @property
    def negative(self) -> bool:
        """True for what is forbidden, denied or not needed."""
        return self in (Polarity.FORBIDS, Polarity.EXCUSES)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause. `acts`: its verbs, without those that say nothing (`use`, `have`); `core`: its objects (a passive's
    subject is one); `agents`: who acts; `beside`: where, when, with what, each with its role; `manner`: adverbs.
    `elided`: the verb is that of the clause before (`tabs, not spaces`). `sure`: the polarity is meant for it, not
    guessed from the clause before. `explicit`: a word says that it is required."""

    text: str
    polarity: Polarity
    acts: frozenset[str]
    core: tuple[Group, ...]
    agents: tuple[Group, ...] = ()
    beside: tuple[tuple[str, Group], ...] = ()
    manner: frozenset[str] = frozenset()
    elided: bool = False
    sure: bool = True
    explicit: bool = False
    passive: bool = False
    words: frozenset[str] = field(default=frozenset(), compare=False)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_DROPPED = _set(
    "a an the this these those our your my their his her its it me we you i they he she them us please just also really"
    " simply any every each both there here such very ever actually anymore s agent agents everyone anyone one"
    " somebody anybody assistant be exact"
)
_ARTICLES = _DROPPED - _set("please just also really simply very actually")
_NOT = _set("not never no neither nor none nobody")
_MUST = _set("must should shall always")
_MAY = _set("may can could might")
_WILL = _set("will would")
_FORGET = _set("forget fail")
_BE = _set("is are was were been being am be get gets got becomes become")
_GOOD = _set("allowed permitted fine ok okay acceptable welcome encouraged safe")
_BAD = _set("forbidden prohibited disallowed banned discouraged unacceptable verboten taboo")
_NEEDED = _set("required mandatory compulsory obligatory necessary essential")
_SPARED = _set("optional unnecessary unneeded superfluous not-needed")
_AVOID = {
    lemma(word) for word in ("avoid", "skip", "omit", "refrain", "forbid", "prohibit", "ban", "disallow", "cease")
}
_INFINITIVE = _GOOD | _BAD | _NEEDED | _SPARED | _FORGET  # `to` behind one of them belongs to a verb
_LIGHT = lemmas(
    "use have carry contain include do make happen perform employ go utilize prefer need apply allow permit ensure keep"
    " want let favor favour require occur be run execute"
)
_ANTONYMS = {lemma(no): lemma(yes) for no, yes in (
    ("disable", "enable"), ("exclude", "include"), ("deactivate", "activate"), ("disallow", "allow"), ("hide", "show"),
    ("deny", "allow"),
)}  # fmt: skip
_ALIKE = {lemma(one): lemma(other) for one, other in (
    ("execute", "run"), ("create", "add"), ("straight", "directly"), ("erase", "delete"), ("remove", "delete"),
)}  # fmt: skip
_ROLES = {
    word: role
    for role, words in {
        "of": "of",
        "place": "in on at inside within for across per during as among about near beside at",
        "with": "with by via through using",
        "to": "to into onto toward towards",
        "from": "from",
        "before": "before",
        "after": "after following",
        "until": "until till",
        "without": "without",
        "instead": "instead-of than",
        "over": "over above beyond exceeding more-than",
        "under": "under below beneath most latest",
        "least": "least",
        "outside": "outside",
        "between": "between",
        "against": "against",
        "when": "when whenever if while where once",
        "unless": "unless except",
        "that": "that which who whose",
        "why": "because since so-that so",
    }.items()
    for word in words.split()
}
_WHOLE = _set("why unless")  # such a segment reaches to the end of its clause
_REASONS = _set("because since so-that unless except")
_JOINING = _set("and or nor then plus")
_BOUND = _set("when that why unless until")  # begins a clause of its own kind, with verbs of its own
_MANNER = _set("first again straight twice together freely always manually last then afterwards finally instead only")
_NO_MANNER = _set("only early daily nightly hourly weekly monthly yearly friendly assembly reply apply family supply"
                  " multiply comply rely read-only assembly fly july")  # fmt: skip
MAKE = lemmas("add write put insert introduce create")  # what is made is there afterwards: `have`
_VERBS = lemmas(
    """
    accept add allow amend answer append apply approve archive ask assert assign attach avoid batch begin block
    build bump bundle bypass cache call cap catch change check choose clean clear clone close collapse collect
    commit compare compile compress configure confirm convert copy cover create debug declare define delete
    depend deploy deprecate describe disable display document download draft drop edit email embed enable encode
    encrypt end enforce ensure escape execute expire explain export expose extend fail fetch fill fix flag
    follow force force-push forward freeze generate get go group handle happen hard-code hardcode hash have hide
    ignore import include increase indent inherit inject inline insert install introduce invoke isolate keep
    leave limit link lint list live load lock log lower maintain make manage mark mention merge migrate minify
    mirror mock modify monitor mount move mutate name need nest notify offer omit open optimize order override
    overwrite own pack parse pass paste pick pin place prefer prefix preserve print profile promote protect
    provide publish pull purge push put query queue quote raise read rebase rebuild receive record refactor
    refer refresh refuse register reject release reload rely remain remember remove rename render repeat replace
    reply report require reset resolve respond restart restore restrict retain retry return reuse revert review
    rewrite roll rotate round run sanitize save scan schedule scope seed send separate serve set share ship show
    sign skip sort speak specify split squash stage start state stay stick stop store stub submit suppress
    swallow switch sync tag take target tell throw touch track translate treat trigger trim trust try tune turn
    uninstall update upgrade upload use validate vendor verify wait want warn wrap write
    """
)
_THING = re.compile(r"(?:ed|en|ung|own)$")
_MADE_VERB = re.compile(r"[a-z]{2}(?:at|i[sz]|ify?)(?:e|ing)?$")  # abbreviate, normalize, notifying
_IRREGULAR_PAST = _set("built run read put set cut kept sent made done left held found told shut sold lost taken")


@lru_cache(maxsize=16_384)  # more than any memory holds; a clause list takes about 2 KiB
def clauses(text: str, negative: bool = False) -> tuple[Clause, ...]:
    """The clauses of a text in their order. With `negative` the text is a "don't": what it asks for without a marker
    of its own is forbidden. Pure; never raises."""
    found = tuple(clause for one in sentences(text) for clause in _sentence(text, one))
    if not negative or any(clause.polarity.negative for clause in found):
        return found
    return tuple(replace(clause, polarity=Polarity.FORBIDS, explicit=True) for clause in found)


@lru_cache(maxsize=16_384)
def denies(text: str) -> bool:
    """Could a clause of the text deny something? Quick, and True for some texts that deny nothing; False is certain."""
    return bool(_DENIAL.search(text[:READ])) or negations(text) > 0


_DENIAL = re.compile(
    r"(?i)n['’]t\b|\b(?:not?|never|none|nobody|neither|nor|cannot|stop|forget|fail|avoid|skip|omit|refrain|forbid|forb[ao]d"
    r"|prohibit|ban|disallow|cease?|ceasing|optional|un(?:necessary|needed|acceptable)|superfluous|discouraged|verboten"
    r"|taboo|off\s+limits|disabl|(?:turn|switch|opt)\w*\s+(?:off|out)|exclud|deactivat|hid|den[iy]|(?:do|ca|wo|is|are|must|does|should)nt\b)"
)


def _sentence(text: str, pieces: Sequence[Piece]) -> Iterator[Clause]:
    """The clauses of one sentence: conditions go to the clause they belong to, lists to the clause they continue."""
    fronted: list[Word] = []
    made: list[Clause] = []
    for piece in _split(pieces):
        words = list(piece.words)
        if made and not _begins(words) and piece.after != "but":
            made[-1] = _more(text, made[-1], words, piece.after)
            continue
        if not made and _leads(words):
            fronted += words
            continue
        joined = piece.after
        if made and words[0].text in _JOINING and len(words) > 1 and not words[0].quoted:
            joined, words = words[0].text, words[1:]
        elided = bool(made) and _verbless(words)
        clause = _clause(text, words, fronted)
        fronted = []
        if elided and made:
            clause = replace(clause, acts=made[-1].acts, core=clause.core or made[-1].core, elided=True)
        elif made and joined in _JOINING and made[-1].polarity.negative:
            clause = _governed(clause, made[-1], joined)
        if made and not (made[-1].core or made[-1].beside or made[-1].elided) and joined in ("and", "or", "nor"):
            # `format and lint the code`; what `don't amend and push` forbids, each or both, nobody can tell
            clear = made[-1].sure and (joined != "and" or not made[-1].polarity.negative)
            made[-1] = replace(made[-1], core=clause.core, beside=clause.beside, sure=clear)
        made.append(clause)
    if fronted and not made:
        made.append(_clause(text, fronted, []))
    yield from made


def _split(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Cut at `and` and `or` where what follows is a clause of its own."""
    for piece in pieces:
        start, after = 0, piece.after
        for at in range(1, len(piece.words) - 1):
            word = piece.words[at]
            if word.text in _JOINING and not word.quoted and at > start:
                rest = piece.words[at + 1 :]
                if _begins(rest, strict=True):
                    yield Piece(piece.words[start:at], after)
                    start, after = at + 1, word.text
        if start < len(piece.words):
            yield Piece(piece.words[start:], after)


def _begins(words: Sequence[Word], *, strict: bool = False) -> bool:
    """Do the words begin a clause of their own, not a list's next item or a condition?"""
    rest = [word for word in words[:8] if word.text not in ("then", "also", "please", "and", "or", "so", "instead")]
    if not rest:
        return False
    first = rest[0]
    if first.quoted or (first.text in _ROLES and not strict):
        return False
    if first.text in _NOT or first.text in _MUST or first.text in _MAY or first.text in ("do", "only"):
        return first.text != "only" or len(rest) > 1
    if first.lemma in _AVOID or (first.lemma in _VERBS and first.text == _base(first)):
        return len(rest) > 1 or not strict
    return any(
        not word.quoted
        and (word.text in _MUST or word.text in _MAY or word.text in _BE or word.text in ("not", "never"))
        for word in rest[1:6]
    ) and not any(word.text in _ROLES for word in rest[:2])


def _base(word: Word) -> str:
    """The word itself where it may be a verb's base form, else nothing: `runs` and `pushed` begin no order."""
    text = word.text
    return "" if (text.endswith("s") and not text.endswith("ss")) or text.endswith(("ed", "ing")) else text


def _leads(words: Sequence[Word]) -> bool:
    """Is it a condition before its clause (`when CI is red`, `in tests`), or a label?"""
    first = words[0]
    if first.quoted or first.text not in _ROLES:
        return False
    return not any(word.text in ("never", "always", "must", "avoid") for word in words)


def _verbless(words: Sequence[Word]) -> bool:
    """`not spaces`, `never npm`: a denial without a verb."""
    return (
        words[0].text in ("not", "never")
        and len(words) > 1
        and not any(word.lemma in _VERBS or word.text in _MUST or word.text in _BE for word in words[1:])
    )


def _governed(clause: Clause, before: Clause, conjunction: str) -> Clause:
    """`never amend or push`: the second verb is meant as well. After `and` it may be: nobody can tell."""
    if clause.explicit or clause.polarity.negative:
        return clause
    if conjunction in ("or", "nor"):
        return replace(clause, polarity=before.polarity, explicit=before.explicit)
    return replace(clause, sure=False)


def _more(text: str, clause: Clause, words: list[Word], after: str) -> Clause:
    """The clause with a list's next item, a condition or an aside."""
    grown = clause.text
    if words and words[0].start >= 0:
        grown = _between(text, clause.text, words[-1].end)
    if words[0].text in ("and", "or", "nor", "plus"):
        words = words[1:]
    if not words:
        return clause
    if after in ("(", "[") or (words[0].text in _ROLES and not words[0].quoted):
        parts = _segments([*_as_why(words, after), *words]) if after in ("(", "[") else _segments(words)
        beside = tuple((role, _chunks(one)) for role, one in parts if role)
        return replace(clause, text=grown, beside=(*clause.beside, *beside), words=clause.words | _lemmas(words))
    main, *segments = _segments(words)
    items = _chunks(main[1])
    core = (*clause.core[:-1], (*clause.core[-1], *items)) if clause.core else ((items,) if items else ())
    extra = tuple((role, _chunks(one)) for role, one in segments)
    return replace(clause, text=grown, core=core, beside=(*clause.beside, *extra), words=clause.words | _lemmas(words))


def _as_why(words: Sequence[Word], after: str) -> list[Word]:
    return [Word("because", "because", False, -1, -1)] if after in ("(", "[") and words[0].text not in _ROLES else []


def _between(text: str, begun: str, end: int) -> str:
    at = text.rfind(begun, 0, end)
    return text[at:end].strip() if at >= 0 else begun


def _segments(words: Sequence[Word]) -> list[tuple[str, list[Word]]]:
    """The words by role: first those before any role word (role ""), then each segment."""
    found: list[tuple[str, list[Word]]] = [("", [])]
    for at, word in enumerate(words):
        role = _role(words, at)
        if role and found[-1][0] not in _WHOLE:
            found.append((role, []))
        else:
            found[-1][1].append(word)
    return found


def _clause(text: str, words: list[Word], fronted: list[Word]) -> Clause:
    main, segments = _main(words)
    ahead = _segments(fronted)
    groups = [(role, _chunks(one)) for role, one in [*ahead, *segments] if role]
    places = [word for word in [*fronted, *words] if word.start >= 0]
    quote = text[places[0].start : places[-1].end] if places else ""
    clause = _read(main)
    beside = (*clause.beside, *((role, group) for role, group in groups if group or role == "unless"))
    adverbs = {
        _ALIKE.get(word.lemma, word.lemma) for role, one in segments if role != "why" for word in one if _adverb(word)
    }
    return replace(clause, text=quote, beside=beside, manner=clause.manner | adverbs, words=_lemmas([*fronted, *words]))


def _lemmas(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(word.lemma for word in words)


def _main(words: list[Word]) -> tuple[list[Word], list[tuple[str, list[Word]]]]:
    """The main part, and the segments. `to` behind a permission or a refusal belongs to the verb; so does everything
    before a late modal (`deploys to production must …`)."""
    found: list[tuple[str, list[Word]]] = [("", [])]
    main = found[0][1]
    verb = _predicate_at(words)
    for at, word in enumerate(words):
        role = _role(words, at)
        before = words[at - 1] if at else None
        if role == "to" and before is not None and before.text in _INFINITIVE:
            continue
        if role == "from" and before is not None and before.lemma in _AVOID and not before.quoted:
            continue  # `refrain from`
        if role in _WHOLE or (role and found[-1][0] not in _WHOLE):
            found.append((role, []))
        elif at == verb and verb and found[-1][0] not in ("", *_WHOLE):
            found.append(("", [word]))  # the subject's own segments end here
        else:
            found[-1][1].append(word)
    for role, one in found[1:]:
        if not role:
            main.extend(one)
    return main, [(role, one) for role, one in found if role]


def _role(words: Sequence[Word], at: int) -> str:
    """The role that a word opens, or nothing. `using` is a verb where nothing stands before it to explain."""
    word = words[at]
    if word.quoted or word.text not in _ROLES:
        return ""
    if word.text in ("using", "following", "outside") and (at == 0 or not _explained(words[at - 1])):
        return ""
    return _ROLES[word.text]


def _explained(word: Word) -> bool:
    return word.quoted or not (
        word.text in _ROLES
        or word.text in _NOT | _MUST | _MAY | _WILL | _BE | _BAD | _GOOD
        or word.text in ("and", "or", "then", "please", "by")
        or word.lemma in _AVOID
    )


def _predicate_at(words: Sequence[Word]) -> int:
    """Where the predicate of the main clause begins, though a condition came first; 0 where none does."""
    bound = False
    for at, word in enumerate(words):
        if word.quoted:
            continue
        if word.text in _REASONS:
            return 0
        following = words[at + 1].text if at + 1 < len(words) else ""
        if at and (word.text in ("never", "always", "must") or (not bound and _finite(word.text, following))):
            return at
        bound |= _ROLES.get(word.text) in _BOUND
    return 0


def _finite(text: str, following: str) -> bool:
    denied = text in ("do", "does") and following in ("not", "not-needed")
    return denied or text in _BE or text in _MUST or text in _MAY


def _adverb(word: Word) -> bool:
    straight = word.text.endswith("ly") and len(word.text) > 4 and word.text not in _NO_MANNER
    return not word.quoted and (straight or word.text == "straight")


class _Reader:
    """Reads the main part word by word: what stood before the predicate, what it holds, what marks it."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self.subject: list[Word] = []
        self.rest: list[Word] = []
        self.denied = 0
        self.must = self.may = self.excused = self.split = self.passive = False
        self.judged = self.nominal = self.gerund = False
        self.manner: set[str] = set()
        skip = False
        for at, word in enumerate(words):
            following = words[at + 1] if at + 1 < len(words) else None
            if skip:
                skip = False
            elif word.quoted:
                self.rest.append(word)
            else:
                skip = self._take(word, following)

    def _take(self, word: Word, following: Word | None) -> bool:
        """Take one word; True when the next one is taken with it."""
        text = word.text
        if text in _NOT:
            self.denied += 1
            if text == "no":
                self.nominal = not self.rest
            else:
                self._predicate()
        elif text in _MUST or text in _MAY or text in _WILL:
            self.must |= text in _MUST
            self.may |= text in _MAY
            self._predicate()
        elif text in _BE:
            self.passive = True
            self._predicate()
        elif text in ("do", "does", "did") and following is not None and following.text in ("not", "not-needed"):
            self._predicate()
        elif text == "not-needed" or (text in _SPARED and self.passive):
            self.excused = True
            self.judged |= not (following and following.lemma in _VERBS)
            self._predicate()
        elif (self.passive or self.denied) and not self.rest and text in _GOOD | _BAD | _NEEDED:
            self._judge(text)
        elif self._opens(word, following):
            self.denied += 1
            self.gerund = text not in ("stop", "forget")
        else:
            self._content(word, following)
        return False

    def _opens(self, word: Word, following: Word | None) -> bool:
        """`avoid`, `skip`, `stop pushing`, `forget to`: verbs that turn the meaning, where a verb may stand."""
        if self.rest or (self.subject and not self.split) or word.text.endswith("ing"):
            return False
        if word.text == "stop":
            return following is not None and following.text.endswith("ing")
        return word.lemma in _AVOID or (word.text in _FORGET and following is not None)

    def _judge(self, text: str) -> None:
        self.may |= text in _GOOD
        self.must |= text in _NEEDED
        self.denied += text in _BAD
        self.judged, self.passive = True, False

    def _content(self, word: Word, following: Word | None) -> None:
        if _adverb(word) or (word.text in _MANNER and (self.rest or following is not None)):
            self.manner.add(_ALIKE.get(word.lemma, word.lemma))
        else:
            self.rest.append(word)

    def _predicate(self) -> None:
        if self.rest and not self.split:
            self.subject, self.rest = self.rest, []
        self.split = True

    @property
    def polarity(self) -> Polarity:
        """What the markers make of the clause; without one it states."""
        if self.excused:
            return Polarity.EXCUSES
        if self.denied % 2:
            return Polarity.FORBIDS
        if self.must or (self.denied and not self.may):
            return Polarity.REQUIRES
        return Polarity.PERMITS if self.may else Polarity.STATES


def _read(words: Sequence[Word]) -> Clause:
    reader = _Reader(words)
    subject, rest = _plain(reader.subject), _plain(reader.rest)
    polarity = reader.polarity
    explicit = reader.must or reader.denied > 0
    agents: list[Word] = []
    acts: list[Word] = []
    if reader.judged and not rest:
        acts, core = ([], subject) if _starts_with_article(reader.subject) else _gerund(subject)
    elif subject and reader.passive and not reader.judged:
        acts = [rest[0]] if rest and _participle(rest[0]) else []
        core = [*subject, _AND_WORD, *rest[len(acts) :]] if rest[len(acts) :] else subject
    elif reader.split and subject:
        agents, (acts, core) = subject, _verb(rest)
    elif reader.nominal:
        core = rest
    elif reader.gerund:
        acts, core = _gerund(rest)
        if not acts and rest and rest[0].lemma in _VERBS and len(rest) > 1 and not _starts_with_article(reader.rest):
            core = rest
    else:
        agents, acts, core, ordered = _bare(reader.rest, rest)
        if ordered and polarity is Polarity.STATES:
            polarity = Polarity.REQUIRES
    second, core = _second(core) if acts else ([], core)
    found = [_ALIKE.get(word.lemma, word.lemma) for word in (*acts, *second)]
    if any(act in _ANTONYMS for act in found):
        found = [_ANTONYMS.get(act, act) for act in found]
        polarity = Polarity.FORBIDS if not polarity.negative else Polarity.REQUIRES
    return Clause(
        "",
        polarity,
        frozenset(act for act in found if act not in _LIGHT),
        _grouped(core),
        _grouped(agents),
        manner=frozenset(reader.manner),
        explicit=explicit,
        passive=reader.passive,
    )


_AND_WORD = Word("\0", "\0", False, -1, -1)  # between nouns that are not joined


def _plain(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.quoted or word.text not in _DROPPED]


def _starts_with_article(words: Sequence[Word]) -> bool:
    return bool(words) and words[0].text in _ARTICLES


def _participle(word: Word) -> bool:
    return bool(_THING.search(word.text)) or word.text in _IRREGULAR_PAST


def _gerund(words: list[Word]) -> tuple[list[Word], list[Word]]:
    """`pushing tags`, not `trailing commas`."""
    if words and words[0].text.endswith("ing") and not words[0].quoted and _verblike(words[0]):
        return words[:1], words[1:]
    return [], words


def _verblike(word: Word) -> bool:
    return word.lemma in _VERBS or lemma(word.text.rpartition("-")[2]) in _VERBS or bool(_MADE_VERB.search(word.text))


def _verb(words: list[Word]) -> tuple[list[Word], list[Word]]:
    return words[:1], words[1:]


def _second(core: list[Word]) -> tuple[list[Word], list[Word]]:
    """`format and lint …`: the verb behind the conjunction."""
    if len(core) > 1 and core[0].text in ("and", "or") and core[1].lemma in _VERBS:
        return [core[1]], core[2:]
    return [], core


def _bare(raw: Sequence[Word], words: list[Word]) -> tuple[list[Word], list[Word], list[Word], bool]:
    """Who, verbs, objects of a clause without any marker, and whether it is an order."""
    if not words:
        return [], [], [], False
    first = words[0]
    if not _starts_with_article(raw) and not first.quoted and _verblike(first) and first.text == _base(first):
        return [], words[:1], words[1:], True
    for at in range(1, len(words)):
        word = words[at]
        if word.lemma in _VERBS and not word.quoted and not word.text.endswith("ing") and _agrees(words[at - 1], word):
            return words[:at], [word], words[at + 1 :], False
    if _starts_with_article(raw) or first.quoted or not first.text.isalpha() or first.text != _base(first):
        return [], [], words, False
    return [], words[:1], words[1:], True


def _agrees(noun: Word, verb: Word) -> bool:
    """Is it `tests run` or `test runs`, not `test run`?"""
    plural = noun.text.endswith("s") and not noun.text.endswith("ss")
    return plural != (verb.text.endswith("s") and not verb.text.endswith("ss")) or verb.lemma in _LIGHT


def _grouped(words: Sequence[Word]) -> tuple[Group, ...]:
    parts: list[list[Word]] = [[]]
    for word in words:
        if word is _AND_WORD:
            parts.append([])
        else:
            parts[-1].append(word)
    return tuple(group for part in parts if (group := _chunks(part)))


def _chunks(words: Sequence[Word]) -> Group:
    """Nouns, cut at `and` and `or`; helping verbs inside conditions say nothing."""
    chunks: list[list[str]] = [[]]
    for word in words:
        if word.text in ("and", "or", "nor", "plus") and not word.quoted:
            chunks.append([])
        elif word.quoted or not (
            _adverb(word) or word.text in _DROPPED or word.text in _BE or word.text in _MAY | _WILL | _MUST
        ):
            chunks[-1].append(_ALIKE.get(word.lemma, word.lemma))
    return tuple(tuple(chunk) for chunk in chunks if chunk)


# Words that deny, forbid or except in languages whose clauses are not read here: a veto against merging, no more.
_FOREIGN = _set(
    "nie niemals nicht kein keine keinen keinem keiner keines ohne verboten untersagt vermeide vermeiden nirgends"
    " ne jamais pas sans aucun aucune interdit interdite éviter évite évitez"
    " nunca jamás sin ningún ninguna ninguno prohibido prohibida evitar evita tampoco não nem mai non senza vietato"
    " не нет никогда нельзя без запрещено запрещается избегай избегайте ні ніколи"
    " nooit niet geen aldrig inte ikke nigdy nie bez"
)
_UNSPACED = re.compile(
    "不要|不能|不可|不得|不应|不會|不会|不再|从不|從不|绝不|絕不|决不|勿|别|別|禁止|严禁|避免|没有|沒有|未|无|不"
    "|ない|ません|禁止|するな|ずに|않|못|없|금지|말 것|마세요"
)
_ELIDED = re.compile(r"(?i)\b[nN]['’](?=[aeiouyéèêàâîh])")


@lru_cache(maxsize=16_384)
def negations(text: str) -> int:
    """How often a text denies something in another language than English; 0 for English. Counted by words in European
    languages, by characters in Chinese, Japanese and Korean."""
    text = text[:READ]
    if text.isascii() and not _FOREIGN_ASCII.search(text):
        return 0
    words = re.findall(r"\w+", text.casefold())
    return sum(word in _FOREIGN for word in words) + len(_UNSPACED.findall(text)) + len(_ELIDED.findall(text))


_FOREIGN_ASCII = re.compile(rf"(?i)\b(?:{'|'.join(sorted(word for word in _FOREIGN if word.isascii()))}|n')\b")
