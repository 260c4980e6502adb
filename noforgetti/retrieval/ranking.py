"""How well a passage answers a query: every choice of search, in one place, with its measured effect.

A score is about 0 to 1. Keywords: the BM25 of a passage over the BM25 of a passage that held every word of the query,
so that a query of two words and one of twelve are comparable. Meaning: the cosine. Both are added, then passages of a
session share with their neighbours. What stays below the floor was not found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from noforgetti.retrieval.base import Floats

    Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Profile:
    """The numbers of one kind of passages."""

    k1: float = 0.9  # how soon repeats of a word stop to count
    b: float = 0.4  # how much long passages are held back, 0 to 1
    meaning: float = 0.5  # share of the cosine in a score, where vectors are at hand
    near: float = 0.3  # of the score of the passage before and the one after
    session: float = 0.1  # of the best score in the same session
    floor: float = 0.15  # least score of a hit with vectors
    floor_words: float = 0.15  # and by words alone


ENTRIES = Profile(near=0.0, session=0.0, meaning=0.6)
SESSIONS = Profile()


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


def scores(candidates: Candidates, weights: Floats, profile: Profile) -> Floats:
    """The score of each candidate, shape (n,); `weights` (q,) says how much each term of the query counts."""
    score = _words(candidates, weights, profile)
    if candidates.cosine is not None:
        near = np.nan_to_num(np.maximum(candidates.cosine, 0.0))
        score = np.float32(1 - profile.meaning) * score + np.float32(profile.meaning) * near
    shared = score + profile.near * _beside(score, candidates)
    if profile.session:
        shared += profile.session * _best_of_group(score, candidates.group)
    return shared.astype(np.float32)


def floor(candidates: Candidates, profile: Profile) -> float:
    """The least score of a hit."""
    return profile.floor_words if candidates.cosine is None else profile.floor


def groups(scored: Floats, group: Integers, profile: Profile) -> dict[int, float]:  # noqa: ARG001
    """The score of each session, by its number: that of its best passage."""
    found: dict[int, float] = {}
    for number, score in zip(group.tolist(), scored.tolist(), strict=True):
        if number >= 0:
            found[number] = max(score, found.get(number, score))
    return found


def _words(candidates: Candidates, weights: Floats, profile: Profile) -> Floats:
    rare = np.log1p((candidates.total - candidates.frequency + 0.5) / (candidates.frequency + 0.5)) * weights
    norm = profile.k1 * (1 - profile.b + profile.b * candidates.lengths / max(candidates.average, 1.0))
    strength = candidates.counts / (candidates.counts + norm[:, None])
    found: Floats = (strength @ rare * (1 + profile.k1) / max(float(rare.sum()), 1e-9)).astype(np.float32)
    return found


def _beside(score: Floats, candidates: Candidates) -> Floats:
    """The sum of the scores of the passage before and the one after, of the same session."""
    found = np.zeros_like(score)
    joined = (np.diff(candidates.group) == 0) & (candidates.group[1:] >= 0) & (np.diff(candidates.place) == 1)
    found[1:] += np.where(joined, score[:-1], 0)
    found[:-1] += np.where(joined, score[1:], 0)
    return found


def _best_of_group(score: Floats, group: Integers) -> Floats:
    best = np.full(int(group.max(initial=-1)) + 2, -np.inf, dtype=np.float32)
    np.maximum.at(best, group, score)
    return np.where(group >= 0, best[group], 0).astype(np.float32)
