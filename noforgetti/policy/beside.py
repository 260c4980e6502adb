"""What a text means beside the entries that are there: which it contradicts, which it repeats, which it may replace.

Polarity is judged first, for every entry: what is contradicted is never a duplicate, whatever else the two share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from noforgetti.policy import contradiction, likeness
from noforgetti.policy.likeness import Likeness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from noforgetti.model.entry import Entry, EntryId

    Meaning = Callable[[str, Sequence[Entry]], Mapping[EntryId, float]]  # cosines of a text and entries, by id
    from noforgetti.policy.contradiction import Clash

NEAREST = 3  # possible replacements that are told: more would be a list of the topic, not a question to answer


@dataclass(frozen=True, slots=True)
class Contradicted:
    """An entry that says the opposite, and the two clauses that clash."""

    entry: Entry
    clash: Clash


@dataclass(frozen=True, slots=True)
class Repeats:
    """An entry that says the same: letter for letter (but for case and punctuation), in other words, or by its meaning.
    `likeness` is 1 for the first, else a share of words or a cosine, 0 to 1."""

    entry: Entry
    how: Literal["exact", "words", "meaning"]
    likeness: float


@dataclass(frozen=True, slots=True)
class Beside:
    """What was found: all contradictions in the order of the entries, the nearest repetition, at most three entries
    that the text may be meant to replace, nearest first. Where something is contradicted, nothing is repeated."""

    contradicted: tuple[Contradicted, ...] = ()
    repeats: Repeats | None = None
    may_replace: tuple[Entry, ...] = ()


def nearness(text: str, meaning: Meaning | None) -> Callable[[Sequence[Entry]], Mapping[EntryId, float]] | None:
    """What `beside` asks of a model, for one text; None without one."""
    return None if meaning is None else lambda entries: meaning(text, entries)


def beside(
    text: str,
    entries: Iterable[Entry],
    *,
    negative: bool = False,
    cosines: Callable[[Sequence[Entry]], Mapping[EntryId, float]] | None = None,
) -> Beside:
    """Compare a text with entries; `negative` says that it is meant as "don't: TEXT".

    `cosines` gives the nearness in meaning of the text and each of the entries it is asked about, -1 to 1; it is asked
    at most once, and only about entries whose words leave the question open. Deterministic; never raises.
    """
    ours = likeness.gist(text)
    near = [one for one in entries if likeness.touches(ours, likeness.gist(one.text))]
    contradicted = []
    for one in near:
        clash = contradiction.contradicts(text, one.text, new_negative=negative, old_negative=one.negative)
        if clash is not None:
            contradicted.append(Contradicted(one, clash))
    if contradicted:
        return Beside(tuple(contradicted))
    found = [(one, likeness.judge(text, one.text, new_negative=negative, old_negative=one.negative)) for one in near]
    open_ = [one for one, judged in found if judged.open]
    if cosines is not None and open_ and not any(judged.likeness is Likeness.REPEATS for _, judged in found):
        nearness = cosines(open_)
        found = [(one, judged.beside(nearness.get(one.id))) for one, judged in found]
    repeats = [(one, judged) for one, judged in found if judged.likeness is Likeness.REPEATS]
    if repeats:
        entry, judged = max(repeats, key=lambda pair: (pair[1].by == "exact", pair[1].near))
        return Beside((), Repeats(entry, judged.by, judged.near))
    replaced = [(one, judged) for one, judged in found if judged.likeness is Likeness.MAY_REPLACE]
    replaced.sort(key=lambda pair: -pair[1].near)
    return Beside((), None, tuple(one for one, _ in replaced[:NEAREST]))
