"""A stated preference as one clean sentence, without a model: `I prefer small pull requests, ok?` becomes `The user
prefers small pull requests.`

English first-person statements and plain standing orders only. What does not fit one of them is left for a model or the
user: a sentence that was put wrongly would be told in every later session.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from noforgetti.model.candidate import CandidateKind
from noforgetti.model.entry import Category, Importance
from noforgetti.review import signals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.model.candidate import Candidate
    from noforgetti.review.dream.answer import Consolidation

_LEAD = re.compile(
    r"^(?:(?:please|pls|hey|hi|ok(?:ay)?|well|so|also|and|but|btw|by the way|note(?: that)?|fyi|just so you know"
    r"|for the record|for future reference|in general|generally(?: speaking)?|as a (?:general )?rule(?: of thumb)?"
    r"|to be clear|remember(?: that)?|actually|honestly|personally|thanks|yes|no)\b[\s,.:;!–—-]*)+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[\s,;–—-]*\b(?:please|thanks|thank you|ok(?:ay)?|alright|got it|from now on)[\s.!?]*$", re.IGNORECASE
)
_ADVERB = r"(?:(?:always|never|usually|generally|really|strongly|mostly|typically|often|normally|also|still|only) )*"
_VERBS = (
    "prefer|like|love|hate|dislike|want|need|use|expect|avoid|favou?r|write|work|run|keep|read|speak|call|name|review"
    "|insist|care|value|rely|commit|deploy|push|merge|squash|rebase|test|indent|format|put|leave|live|sign|open|close"
    "|start|stop|enjoy|appreciate|trust|skip|build|think|go|do|have"
)
_SELF = re.compile(
    rf"^i(?P<short>['’](?:d|ll|m|ve))? (?P<adverb>{_ADVERB})"
    rf"(?:(?P<not>do not|don['’]?t|cannot|can['’]?t) (?P<bare>\w+)"
    rf"|(?P<modal>would|will|can|could|should|must|am|have)\b"
    rf"|(?P<verb>{_VERBS})\b|(?P<rest>\w+))",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^(?:always|never|do not|don['’]t|avoid|prefer|use|keep|write|stick to|make sure|ensure|stop \w+ing|no \w+)\b",
    re.IGNORECASE,
)
_OURS = re.compile(r"^(?:we|our|the (?:team|project|repo(?:sitory)?|codebase))\b", re.IGNORECASE)
_THIRD = (  # further words of the first person, after the subject was named
    (re.compile(r"\b(?:i['’]m|i am)\b", re.IGNORECASE), "they are"),
    (re.compile(r"\bi['’]ve\b", re.IGNORECASE), "they have"),
    (re.compile(r"\bi['’]d\b", re.IGNORECASE), "they would"),
    (re.compile(r"\bi['’]ll\b", re.IGNORECASE), "they will"),
    (re.compile(r"\bI\b"), "they"),
    (re.compile(r"\bmyself\b", re.IGNORECASE), "themselves"),
    (re.compile(r"\bmine\b", re.IGNORECASE), "theirs"),
    (re.compile(r"\bmy\b", re.IGNORECASE), "their"),
    (re.compile(r"\bme\b", re.IGNORECASE), "them"),
)
_SHORT = {"d": "would", "ll": "will", "m": "is", "ve": "has"}
_MODAL = {"am": "is", "have": "has"}
_CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")
_SHORTEST = 8  # characters worth keeping, as for the offline reviewer


def distilled(candidates: Iterable[Candidate]) -> Consolidation:
    """A decision for each stated preference that can be put in a sentence by rule; nothing for the others."""
    from noforgetti.review.dream.answer import Consolidation, Distil

    made = []
    for one in candidates:
        text = sentence(one.text) if one.kind is CandidateKind.PREFERENCE else None
        if text is not None:
            category = one.category or Category.PREFERENCE
            made.append(
                Distil(action="distil", candidate=one.id, content=text, importance=Importance.NORMAL, category=category)
            )
    return Consolidation(candidates=tuple(made[:64]))


def sentence(said: str) -> str | None:
    """The preference as one sentence in the third person, or None where no rule applies. Never raises."""
    text = " ".join(said.split())
    if text.endswith("?") and not _TAIL.search(text):
        return None
    text = signals.FROM_NOW_ON.sub(" ", text, count=1)
    text = _TAIL.sub("", _LEAD.sub("", " ".join(text.split()).lstrip(" ,;"))).rstrip(" .!,;")
    if len(text) < _SHORTEST:
        return None
    if found := _SELF.match(text):
        text = _about_the_user(text, found) or ""
    elif not (_ORDER.match(text) or _OURS.match(text)):
        return None
    if not text:
        return None
    first = text.split(maxsplit=1)[0]
    if not any(mark in first for mark in "`._/-@") and first.islower():
        text = text[0].upper() + text[1:]
    return text + "."


def _about_the_user(text: str, found: re.Match[str]) -> str | None:
    adverb, rest = found["adverb"], text[found.end() :]
    if found["short"]:
        verb = _SHORT[found["short"][1:].lower()] + text[found.end("short") : found.end()]
        return _third(f"The user {verb}", rest)
    if found["not"]:
        negated = "cannot" if found["not"].lower().startswith("can") else "does not"
        return _third(f"The user {adverb}{negated} {found['bare']}", rest)
    if found["modal"]:
        modal = found["modal"].lower()
        return _third(f"The user {adverb}{_MODAL.get(modal, modal)}", rest)
    if found["verb"]:
        return _third(f"The user {adverb}{_conjugated(found['verb'].lower())}", rest)
    return None


def _third(head: str, rest: str) -> str:
    """The rest of the sentence without the first person; what is quoted stays as it is."""
    pieces, at = [], 0
    for quoted in _CODE.finditer(rest):
        pieces += [_spoken_of(rest[at : quoted.start()]), quoted[0]]
        at = quoted.end()
    return head + "".join([*pieces, _spoken_of(rest[at:])])


def _spoken_of(text: str) -> str:
    for pattern, word in _THIRD:
        text = pattern.sub(word, text)
    return text


def _conjugated(verb: str) -> str:
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith(("s", "sh", "ch", "x", "z")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"
