"""How well a passage answers a query: every choice of search, in one place, each with its measured effect.

A score is about 0 to 1 and means the same in corpora of any size. *Words*: the BM25 of the passage over that of one
that holds every word of the query, so that a query of two words and one of twelve are comparable; a word that the
neighbours say counts too, because a turn rarely repeats what it answers. *Meaning*: the cosine, less that of unrelated
texts. What stays below the floor was not found.

The figures beside the numbers are points of recall@10 lost without the choice, on half of LoCoMo (997 questions
about 5 conversations, turn level) with the shipped model; docs/benchmarks.md has the whole story.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from noforgetti.retrieval.base import Floats

    Integers = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Profile:
    """The numbers of one kind of passages."""

    meaning: float  # share of the cosine in a score, where vectors are at hand
    floor: float  # the least score of the best hit, with vectors
    floor_words: float  # and by words alone
    tail: float = 0.3  # the least score of the other hits, as a share of the best; costs nothing
    k1: float = 0.9  # how soon repeats of a word stop to count; 0.6 to 1.2 are alike
    b: float = 0.6  # how much long passages are held back, 0 to 1; 0.4 to 0.75 are alike
    around: tuple[float, ...] = ()  # what a word counts that is said one, two, … passages away in the same session
    session: float = 0.0  # of the best score in the same session, added to each of its passages
    asks: float = 0.0  # the share of its score that a passage loses which asks
    answers: float = 0.0  # and that one gains which follows a question
    longer: float = 0.0  # and one that is e times as long as the mean; one as much shorter loses it


# Pieces of conversations, asked for in words they mostly share.
SESSIONS = Profile(
    meaning=0.3,  # 2.7; by meaning alone 30, and with MiniLM 3.3
    floor=0.22,  # 0.3: 0.7 % of the questions find nothing, and so do 3 of 13 that should (DevMemBench)
    floor_words=0.2,
    around=(0.85, 0.6),  # 9.7; the second place 2.0
    session=0.25,  # 0.8
    asks=0.15,  # 1.2
    answers=0.1,  # 1.6
    longer=0.1,  # 0.5, and 2 of the mean reciprocal rank
)

# Short texts that stand alone, asked for in other words. Measured on the memory in tools/bench/corpus: recall@5 is .65
# with 0.75, .44 without meaning and the same by meaning alone, which loses short Chinese words.
ENTRIES = Profile(meaning=0.75, floor=0.17, floor_words=0.04)

# The least score, with vectors, of an entry that stands in the report already: to repeat it costs its line and the
# prefix cache. On that memory half of the prompts that nothing fits stay without a message at this score, and 20 % of
# the others, which have the entry in the report; at the floor it is 15 % and 2 %.
REPEATED = 0.23

# The same where somebody asked for them and looks through a list: a word they wrote is reason enough, however many
# others of theirs are nowhere; what merely resembles must come nearer. Both floors are for each hit.
ASKED = replace(ENTRIES, floor=0.07, floor_words=0.02, tail=0.25)
ASKED_NEAR = 0.15

KIND = (
    0.15  # added to the score of which the kind of a passage takes its share, so that it counts for weak ones too; 0.7
)
PAIRS = 0.5  # the share of meaning is so much smaller for a query in a script without spaces: models know those less
_FEW = 3  # passages
_MOST = 0.9  # so that a corpus of equal texts divides by no zero


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is known of n passages for a query of q terms, in the order of the corpus: a session's passages follow each
    other."""

    counts: Floats  # (n, q) how often each holds each term
    lengths: Floats  # (n,) terms in each
    frequency: Floats  # (q,) passages of the whole corpus that hold each term
    total: int  # passages in the corpus
    average: float  # their mean length
    cosine: Floats | None  # (n,) nearness to the query; NaN where a passage has no vector; None by words alone
    group: Integers  # (n,) number of the session, -1 for none
    place: Integers  # (n,) place within it
    asks: Flags  # (n,) does it hold a question mark
    unrelated: float = 0.0  # the cosine that the model gives to texts which have nothing to do with each other
    pairs: float = 0.0  # share of the query that is in scripts without spaces


def scores(candidates: Candidates, weights: Floats, profile: Profile) -> Floats:
    """The score of each candidate, shape (n,); `weights` (q,) says how much each term of the query counts."""
    score = _words(candidates, weights, profile)
    if candidates.cosine is not None:
        meaning = np.float32(profile.meaning * (1 - PAIRS * candidates.pairs))
        near = (candidates.cosine - candidates.unrelated) / (1 - candidates.unrelated)
        score = (1 - meaning) * score + meaning * np.nan_to_num(near).astype(np.float32)
    shaped = score + (np.maximum(score, 0) + KIND) * _kind(candidates, profile)
    if profile.session:
        shaped = (shaped + profile.session * _best_of_group(score, candidates.group)) / (1 + profile.session)
    return shaped.astype(np.float32)


def floor(candidates: Candidates, scored: Floats, profile: Profile) -> float:
    """The least score of a hit; infinite when nothing was found. The best score says whether there is anything at all;
    then what comes near the best is a hit too."""
    least = profile.floor_words if candidates.cosine is None else profile.floor
    best = float(scored.max(initial=0.0))
    return profile.tail * best if best >= least else np.inf


def unrelated(cosine: Floats) -> float:
    """The cosine that a model gives to this query and a text which has nothing to do with it: the mean over a corpus
    (n,), where nearly everything is such a text. Models differ: 0.1 for MiniLM, 0.5 for bge. A few passages may all be
    to the point, so the mean begins at 0 with the weight of three."""
    there = cosine[~np.isnan(cosine)]
    return float(np.clip(there.sum() / (len(there) + _FEW), 0.0, _MOST))


def groups(scored: Floats, group: Integers) -> dict[int, float]:
    """The score of each session, by its number: that of its best passage."""
    grouped = group >= 0
    best = _best_of_group(scored, group)
    return dict(zip(group[grouped].tolist(), best[grouped].tolist(), strict=True))


def _words(candidates: Candidates, weights: Floats, profile: Profile) -> Floats:
    rare = np.log1p((candidates.total - candidates.frequency + 0.5) / (candidates.frequency + 0.5)) * weights
    norm = profile.k1 * (1 - profile.b + profile.b * candidates.lengths / max(candidates.average, 1.0))
    said: Floats = (candidates.counts * (1 + profile.k1) / (candidates.counts + norm[:, None])).astype(np.float32)
    reached = said.copy()
    for distance, share in enumerate(profile.around, 1):
        near = np.float32(share) * _joined(candidates, distance)[:, None]
        np.maximum(reached[distance:], near * said[:-distance], out=reached[distance:])
        np.maximum(reached[:-distance], near * said[distance:], out=reached[:-distance])
    found: Floats = (reached @ rare / max(float(rare.sum()), 1e-9)).astype(np.float32)
    return found


def _kind(candidates: Candidates, profile: Profile) -> Floats:
    """What the kind of a passage speaks for or against it, as a share of its score: one that asks seldom answers, the
    next one often does."""
    asks: Floats = candidates.asks.astype(np.float32)
    answers = np.zeros_like(asks)
    answers[1:] = _joined(candidates, 1) * asks[:-1] * (1 - asks[1:])
    longer = np.log((candidates.lengths + 1) / (candidates.average + 1)).clip(-1, 1)
    found: Floats = profile.answers * answers - profile.asks * asks + profile.longer * longer
    return found


def _joined(candidates: Candidates, distance: int) -> Floats:
    """1 where a passage and the one so many further stand that near in one session, else 0; shape (n - distance,)."""
    group, place = candidates.group, candidates.place
    same = (group[distance:] == group[:-distance]) & (group[distance:] >= 0)
    found: Floats = (same & (place[distance:] - place[:-distance] <= distance)).astype(np.float32)
    return found


def _best_of_group(score: Floats, group: Integers) -> Floats:
    """The best score in each passage's session; its own where it has none."""
    best = np.full(int(group.max(initial=-1)) + 2, -np.inf, dtype=np.float32)
    np.maximum.at(best, group, score)
    return np.where(group >= 0, best[group], score).astype(np.float32)
