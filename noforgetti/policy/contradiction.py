"""Two texts of which one forbids what the other asks for or permits.

A prohibition covers everything it describes. So two clauses clash when all that the forbidding one names (action,
objects, conditions) is named by the other too, in the same role: `never push while the build is red` forbids less than
`push tags` asks for, and both can be stored; `never rebase feature branches` covers `rebase feature branches before
merging`. What is unclear is no contradiction: a wrong refusal costs more than two entries that a user compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from noforgetti.policy.lemmas import lemmas
from noforgetti.policy.polarity import MAKE, Chunk, Clause, Polarity, clauses, denies

if TYPE_CHECKING:
    from collections.abc import Iterable

_FREE = frozenset({"why"})  # a reason restricts nothing
_WHERE = ("place", "of", "to")
_NEGATIONS = frozenset({"not", "no", "never"})
_PEOPLE = lemmas(
    "maintainer contributor admin administrator owner reviewer manager lead developer engineer human person operator"
    " customer client team author member approver lawyer designer colleague bot"
)
_FEW = 2  # words that a prohibition with a verb must name: `never push` may have lost its object


@dataclass(frozen=True, slots=True)
class Clash:
    """The clause of the new text and the clause of the old one that cannot both hold, as they were written."""

    new: str
    old: str


def contradicts(new: str, old: str, *, new_negative: bool = False, old_negative: bool = False) -> Clash | None:
    """The first pair of clauses that clash, or None. A text that is `negative` means "don't: TEXT". Symmetric: the
    same two texts clash in either order. Deterministic; never raises."""
    if not (new_negative or old_negative or denies(new) or denies(old)):
        return None
    ours, theirs = clauses(new, new_negative), clauses(old, old_negative)
    for one in ours:
        for other in theirs:
            if one.polarity.negative != other.polarity.negative and (
                covers(one, other) if one.polarity.negative else covers(other, one)
            ):
                return Clash(one.text, other.text)
    return None


def covers(forbidding: Clause, wanting: Clause) -> bool:
    """Does the one forbid (or excuse from) all that the other wants?"""
    if not (forbidding.sure and wanting.sure) or not _opposed(forbidding, wanting):
        return False
    if not forbidding.words or not _says_enough(forbidding, wanting):
        return False
    known = _named(forbidding)
    offered = _Offer(wanting, known)
    if not (_same_action(forbidding, wanting, offered) and offered.holds(forbidding)):
        return False
    whole = forbidding.elided or any(role == "unless" for role, _ in forbidding.beside)
    return not whole or _Offer(forbidding, _named(wanting)).holds(wanting)


def _opposed(forbidding: Clause, wanting: Clause) -> bool:
    if forbidding.polarity is Polarity.EXCUSES:
        return wanting.polarity is Polarity.REQUIRES and wanting.explicit
    return True


def _says_enough(forbidding: Clause, wanting: Clause) -> bool:
    named = _named(forbidding)
    if not (forbidding.acts or forbidding.core or (forbidding.agents and len(named) >= _FEW)):
        return False
    if "only" in wanting.words and (named != _named(wanting) - {"only"}):
        return False  # only some may, or only there: that forbids the rest as well
    if not forbidding.agents and not forbidding.passive and _people(wanting):
        return False  # what the reader must not do, others may
    return len(named) >= _FEW or not forbidding.acts or named == _named(wanting)


def _people(clause: Clause) -> bool:
    return any(chunk[-1] in _PEOPLE for group in clause.agents for chunk in group)


def _named(clause: Clause) -> frozenset[str]:
    """All that the clause names, reasons left out."""
    found = set(clause.acts) | clause.manner
    for group in (*clause.core, *clause.agents, *(group for role, group in clause.beside if role not in _FREE)):
        found.update(word for chunk in group for word in chunk)
    return frozenset(found)


def _same_action(forbidding: Clause, wanting: Clause, offered: _Offer) -> bool:
    """One verb, or a noun of it (`no deploys`), or none on either side that says anything."""
    known = _named(forbidding)
    if not wanting.acts <= known and (forbidding.acts or not wanting.acts <= MAKE):
        return offered.presupposes(forbidding)
    return all(act in wanting.acts or offered.core((act,)) for act in forbidding.acts) or (
        len(forbidding.acts) > 1 and bool(forbidding.acts & wanting.acts)
    )


def _negated(chunk: Chunk) -> bool:
    """Does a condition deny something (`when CI is not red`)?"""
    return not _NEGATIONS.isdisjoint(chunk)


class _Offer:
    """What a clause names, asked for nouns: a noun is there where its words are and its head is a head, or is followed
    by a word that is asked for too (`response headers` are no `responses`)."""

    def __init__(self, clause: Clause, known: frozenset[str]) -> None:
        self._known = known
        self._clause = clause
        self._core = [chunk for group in clause.core for chunk in group] + [(act,) for act in clause.acts]
        self._agents = [chunk for group in clause.agents for chunk in group]

    def holds(self, asked: Clause) -> bool:
        """Are all objects, agents, conditions and adverbs of the other clause here?"""
        return (
            all(any(self.core(chunk) or self._agent(chunk) for chunk in group) for group in asked.core)
            and all(any(self._anywhere(chunk) for chunk in group) for group in asked.agents)
            and all(self._beside(role, group) for role, group in asked.beside)
            and asked.manner <= self._clause.manner
        )

    def presupposes(self, asked: Clause) -> bool:
        """`comments should explain functions` wants comments, whatever they do: what is asked for only has to be."""
        acting = self._clause.explicit and self._clause.polarity is Polarity.REQUIRES and not self._clause.passive
        return acting and not asked.acts and all(any(map(self._acting, group)) for group in asked.core)

    def core(self, chunk: Chunk) -> bool:
        """Is it an object or a verb here?"""
        return self._in(chunk, self._core)

    def _agent(self, chunk: Chunk) -> bool:
        return (not self._clause.acts or self._clause.explicit) and self._acting(chunk)

    def _acting(self, chunk: Chunk) -> bool:
        return self._in(chunk, self._agents)

    def _anywhere(self, chunk: Chunk) -> bool:
        doing = () if self._agents and self._clause.acts & self._known else self._core
        return self._in(chunk, [*doing, *self._agents, *(one for role in _WHERE for one in self._of(role))])

    def _beside(self, role: str, group: Iterable[Chunk]) -> bool:
        if role in _FREE or role == "unless":
            return True
        places = self._of(role)
        if role in ("place", "of"):
            places = [*self._of("place"), *self._of("of"), *self._agents, *(self._core if role == "of" else ())]
        return any(self._in(chunk, places) for chunk in group)

    def _of(self, role: str) -> list[Chunk]:
        return [chunk for one, group in self._clause.beside for chunk in group if one == role]

    def _in(self, chunk: Chunk, offered: Iterable[Chunk]) -> bool:
        return any(self._is(chunk, one) for one in offered)

    def _is(self, chunk: Chunk, offered: Chunk) -> bool:
        if not set(chunk) <= set(offered) or _negated(chunk) != _negated(offered):
            return False
        at = len(offered) - 1 - offered[::-1].index(chunk[-1])
        return at == len(offered) - 1 or offered[at + 1] in self._known
