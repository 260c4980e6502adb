"""The offline reviewer: no model, no network, the same answer every time.

It finds explicit statements and corrections in what the *user* said ("remember that …", "from now on …",
"always …", "no, use X instead of Y") and nothing else: no conclusions, nothing from the assistant. It never
removes and never merges; it rewords an entry only where a correction names what that entry says. What it
does not find stays unknown, and it says so in its `note`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from noforgetti.model.entry import Category, Entry, Importance
from noforgetti.model.evidence import Role, Section, Window
from noforgetti.review import signals
from noforgetti.review.proposal import OPERATIONS, AddFact, Fact, Proposal, ReplaceFact
from noforgetti.review.reviewer import Proposed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noforgetti.model.change import State
    from noforgetti.policy.capacity import Limits

_SHORTEST = 8  # characters of a statement worth keeping: "Use tabs" has eight
_SHORTEST_CJK = 4
_LONGEST_NAME = 40  # characters of the X and Y in "use X instead of Y"; more is a clause, not a name
_REDACTED = re.compile(r"\[redacted\b", re.IGNORECASE)  # what `policy.secrecy` leaves in a secret's place
_GAP = re.compile(r"[\s,;–—-]+(?=[.!]+$)|\s+(?=[.,;:!])")  # what taking words out leaves before a mark: `npm, .`
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_SKIP = re.compile(
    r"^(?:(?:no|nope|wrong|actually|sorry|wait|hey|hi|well|ok(?:ay)?|please|also|and|but|so|correction|btw|yes"
    r"|right|thanks|instead)\b[\s,.:;!–—-]+)+",
    re.IGNORECASE,
)
_NAME = r"[`'\"]?(?P<{}>[\w@./+#-]+(?: [\w@./+#-]+){{0,3}}?)[`'\"]?"
_REST = r"(?=[.,;:!]|$|\s+(?:for|in|to|when|on|with|here|because|as|everywhere|please)\b)"
_SWAPS = (
    re.compile(
        rf"\buse {_NAME.format('new')},? (?:instead of|rather than|not|over) {_NAME.format('old')}{_REST}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:don['’]?t use|do not use|stop using) {_NAME.format('old')}[,;]? (?:but|use) "
        rf"{_NAME.format('new')}{_REST}",
        re.IGNORECASE,
    ),
)
_NEGATIVE = re.compile(r"\b(?:never|not|avoid|instead of|rather than|no longer|stop)\b|n['’]t\b", re.IGNORECASE)
_POLARITY = re.compile(r"^(?P<sign>always|never|do not|don['’]t)\s+(?P<rest>.+?)[.!]*$", re.IGNORECASE)
_DECIDES = re.compile(r"\b(?:decided|decision|agreed|we (?:will|are going to))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RulesReviewer:
    """Reads the window itself; see the module for what it can and cannot find."""

    name: str = "rules"
    note: str = "offline rules: only what the user said explicitly is found, nothing implied"

    def propose(self, window: Window, state: State, limits: Limits) -> Proposed:
        """At most four operations, oldest statement first; the window ends before the message that would
        need a fifth, so that it is the next one's."""
        facts: list[Fact] = []
        known = {_folded(entry.text) for entry in state.values()}
        room = max(0, limits.target - sum(len(entry.text) for entry in state.values() if not entry.archived))
        for index, section in enumerate(window.sections):
            found: list[Fact] = []
            for statement in _statements(section):
                if len(statement.text) > limits.entry or _folded(statement.text) in known:
                    continue
                fact = _fact(statement, section.label, state, [*facts, *found])
                growth = len(statement.text) if isinstance(fact, AddFact) else 0
                if growth > room:
                    continue  # the working target: what does not fit is not for automatic review to add
                room -= growth
                known.add(_folded(statement.text))
                found.append(fact)
            if len(facts) + len(found) <= OPERATIONS:
                facts += found
            elif facts:
                return _proposed(facts, through=window.sections[index - 1].label)
            else:
                return _proposed(_packed(found, limits.entry), through=section.label)
        return _proposed(facts)


def _proposed(facts: list[Fact], *, through: str = "") -> Proposed:
    return Proposed(Proposal(operations=tuple(facts)), through)


def _packed(facts: list[Fact], longest: int) -> list[Fact]:
    """One message with more than four statements: the last addition takes the rest, as far as an entry
    holds it."""
    rewordings = [fact for fact in facts if not isinstance(fact, AddFact)]
    additions = [fact for fact in facts if isinstance(fact, AddFact)]
    kept = [*rewordings, *additions][:OPERATIONS]
    last = kept[-1]
    if isinstance(last, AddFact):
        for surplus in additions[additions.index(last) + 1 :]:
            joined = f"{last.content} {surplus.content}"
            if len(joined) <= longest:
                last = last.model_copy(update={"content": joined})
        kept[-1] = last
    return kept


@dataclass(frozen=True, slots=True)
class _Statement:
    text: str
    correction: bool = False
    standing: bool = False


def _statements(section: Section) -> Iterator[_Statement]:
    if section.role is not Role.USER:
        return
    listing = False
    for sentence in signals.sentences(signals.outside_code(section.text)):
        item = _BULLET.match(sentence)
        if listing and item:
            yield from _said(_Statement(sentence[item.end() :]))
            continue
        listing = False
        bare = sentence[item.end() :] if item else sentence
        own = signals.unquoted(bare)
        if not own or signals.is_transient(own):
            continue
        correction = bool(signals.CORRECTION.search(own)) and _swap(bare) is not None
        if not (signals.is_explicit(own) or correction) or (correction and bare.endswith("?")):
            continue
        text = _stripped(bare)
        if text.endswith(":") or (not text and bare.endswith(":")):
            listing = True
        else:
            standing = bool(signals.FROM_NOW_ON.search(own) or signals.STANDING.search(own))
            yield from _said(_Statement(text, correction, standing))


def _stripped(sentence: str) -> str:
    """The sentence without what only asks to keep it."""
    text = signals.REMEMBER.sub("", sentence, count=1)
    if text == sentence:
        text = signals.FOREIGN.sub("", sentence, count=1)
    text = signals.FROM_NOW_ON.sub(" ", text, count=1)
    if text != sentence:
        text = _GAP.sub("", " ".join(text.split()))
    return _SKIP.sub("", text).strip(" ,;–—-")


def _said(raw: _Statement) -> Iterator[_Statement]:
    """The statement as one clean sentence, if anything is left of it."""
    text = " ".join(raw.text.split()).strip(" ,;")
    shortest = _SHORTEST_CJK if signals.CJK.search(text) else _SHORTEST
    if len(text) < shortest or text.endswith("?") or _REDACTED.search(text):
        return
    text = text[0].upper() + text[1:] if text[0].isalpha() and not _is_name(text) else text
    if text[-1] not in '.!?…。！？)`"”':
        text += "。" if signals.CJK.search(text[-1]) else "."
    yield replace(raw, text=text)


def _is_name(text: str) -> bool:
    """True when the first word is spelled as a command, path or identifier, so that a capital would change
    it."""
    first = text.split(maxsplit=1)[0]
    return any(mark in first for mark in "._/-@") or any(letter.isupper() for letter in first[1:])


def _fact(statement: _Statement, label: str, state: State, facts: list[Fact]) -> Fact:
    taken = {fact.entry_id for fact in facts if isinstance(fact, ReplaceFact)}
    free = [one for one in state.values() if not (one.pinned or one.enforced or one.archived or one.id in taken)]
    found = _contradicted(statement.text, free)
    if found is not None:
        entry, text = found
        return ReplaceFact(
            action="replace", entry_id=entry.id, content=text, importance=Importance.HIGH, evidence=(label,)
        )
    return AddFact(
        action="add",
        content=statement.text,
        importance=Importance.HIGH if statement.correction else Importance.NORMAL,
        category=_category(statement),
        evidence=(label,),
    )


def _category(statement: _Statement) -> Category:
    if _DECIDES.search(statement.text):
        return Category.DECISION
    if statement.standing and not statement.correction:
        return Category.PREFERENCE
    return Category.LESSON


def _contradicted(text: str, entries: list[Entry]) -> tuple[Entry, str] | None:
    """The one entry that obviously says the opposite, and its new text. Several candidates: nothing is
    obvious."""
    if (swap := _swap(text)) is not None:
        old, new = swap
        word = re.compile(rf"(?<![\w@/.-]){re.escape(old)}(?![\w@/-]|\.\w)", re.IGNORECASE)
        affirmed = [one for one in entries if len(word.findall(one.text)) == 1 and not _NEGATIVE.search(one.text)]
        if len(affirmed) == 1:
            return affirmed[0], word.sub(lambda _: new, affirmed[0].text)
    if (mine := _polarity(text)) is not None:
        opposite = [one for one in entries if _polarity(one.text) == (not mine[0], mine[1])]
        if len(opposite) == 1:
            return opposite[0], text
    return None


def _swap(text: str) -> tuple[str, str] | None:
    for pattern in _SWAPS:
        found = pattern.search(text)
        if found and max(len(found["old"]), len(found["new"])) <= _LONGEST_NAME:
            old, new = found["old"].rstrip("."), found["new"].rstrip(".")
            return (old, new) if old.casefold() != new.casefold() else None
    return None


def _polarity(text: str) -> tuple[bool, str] | None:
    found = _POLARITY.match(text)
    return (found["sign"].casefold() == "always", _folded(found["rest"])) if found else None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!。")
