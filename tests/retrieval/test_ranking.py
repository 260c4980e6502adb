"""What a score is made of: words that are rare, words beside, meaning, and what kind of passage it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from noforgetti.retrieval.base import Passage
from noforgetti.retrieval.corpus import Corpus
from noforgetti.retrieval.ranking import ENTRIES, PAIRS, SESSIONS, Candidates, Profile, floor, groups, scores, unrelated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noforgetti.retrieval.base import Floats

PLAIN = Profile(meaning=0.5, floor=0.3, floor_words=0.2, tail=0.5)


def candidates(
    counts: Sequence[Sequence[float]],
    *,
    cosine: Sequence[float] | None = None,
    group: Sequence[int] | None = None,
    place: Sequence[int] | None = None,
    asks: Sequence[bool] | None = None,
    lengths: Sequence[float] | None = None,
    frequency: Sequence[float] | None = None,
    **more: float,
) -> Candidates:
    held = np.array(counts, dtype=np.float32)
    count = len(held)
    return Candidates(
        counts=held,
        lengths=np.array(lengths or [10] * count, dtype=np.float32),
        frequency=np.array(frequency or (held > 0).sum(axis=0), dtype=np.float32),
        total=100,
        average=10.0,
        cosine=None if cosine is None else np.array(cosine, dtype=np.float32),
        group=np.array(group or [0] * count),
        place=np.array(place or range(count)),
        asks=np.array(asks or [False] * count),
        **more,
    )


def score(of: Candidates, profile: Profile = PLAIN, weights: Floats | None = None) -> list[float]:
    made = scores(of, np.ones(of.counts.shape[1], dtype=np.float32) if weights is None else weights, profile)
    assert made.dtype == np.float32
    return [round(float(one), 3) for one in made]


def test_a_passage_of_mean_length_with_every_word_once_scores_one() -> None:
    assert score(candidates([[1, 1], [0, 0]])) == [1.0, 0.0]


def test_a_rare_word_says_more_than_a_common_one() -> None:
    rare, common = score(candidates([[1, 0], [0, 1]], frequency=[1, 50]))

    assert (rare, common) == (0.859, 0.141)  # ln(101/1.5) against ln(101/50.5)


def test_a_word_that_nobody_says_counts_against_all() -> None:
    assert score(candidates([[1, 0]], frequency=[1, 0])) == [0.442]


def test_the_weight_of_a_word_is_its_share() -> None:
    assert score(candidates([[1, 0], [0, 1]]), weights=np.array([3, 1], dtype=np.float32)) == [0.75, 0.25]


def test_repeats_count_less_and_less() -> None:
    once, twice, often = score(candidates([[1], [2], [50]]))

    assert once < twice < often
    assert often - twice < twice - once + 0.3
    assert often < 1 + PLAIN.k1


def test_the_words_of_neighbours_count_by_their_distance() -> None:
    profile = replace(PLAIN, around=(0.8, 0.5))

    assert score(candidates([[0], [0], [1], [0], [0], [0]]), profile) == [0.5, 0.8, 1.0, 0.8, 0.5, 0.0]


def test_a_neighbour_adds_the_words_that_are_missing_and_no_others() -> None:
    profile = replace(PLAIN, around=(0.8,))

    assert score(candidates([[1, 0], [0, 1]]), profile) == [0.9, 0.9]
    assert score(candidates([[1], [1]]), profile) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("group", "place"),
    [([0, 1], [0, 0]), ([-1, -1], [0, 1]), ([0, 0], [0, 7])],
    ids=["another session", "no session", "far apart"],
)
def test_what_does_not_stand_beside_shares_nothing(group: list[int], place: list[int]) -> None:
    assert score(candidates([[1], [0]], group=group, place=place), replace(PLAIN, around=(0.8,))) == [1.0, 0.0]


def test_words_and_meaning_share_the_score() -> None:
    assert score(candidates([[1], [0]], cosine=[0.0, 0.8])) == [0.5, 0.4]


def test_a_passage_without_a_vector_is_judged_by_its_words() -> None:
    assert score(candidates([[1], [0]], cosine=[np.nan, 0.5])) == [0.5, 0.25]


def test_what_unrelated_texts_have_in_common_is_no_meaning() -> None:
    assert score(candidates([[0], [0]], cosine=[0.5, 0.75], frequency=[1], unrelated=0.5)) == [0.0, 0.25]


def test_meaning_counts_less_for_a_script_without_spaces() -> None:
    assert score(candidates([[0]], cosine=[0.8], frequency=[1], pairs=1.0)) == [round(0.5 * (1 - PAIRS) * 0.8, 3)]


def test_a_question_loses_and_what_follows_it_gains() -> None:
    profile = replace(PLAIN, asks=0.2, answers=0.1)
    plain, question, answer = score(candidates([[1], [1], [1]], asks=[False, True, False]), profile)

    assert question < plain < answer


def test_a_long_passage_gains() -> None:
    short, long = score(candidates([[1], [1]], lengths=[5, 20]), replace(PLAIN, b=0.0, longer=0.1))

    assert short < 1 < long


def test_a_session_shares_its_best_score() -> None:
    assert score(candidates([[1], [0], [0]], group=[0, 0, 1]), replace(PLAIN, session=0.25)) == [1.0, 0.2, 0.0]


def test_the_best_score_decides_whether_anything_was_found() -> None:
    of = candidates([[1], [0]])

    assert floor(of, np.array([0.19, 0.1], dtype=np.float32), PLAIN) == np.inf
    assert floor(of, np.array([0.6, 0.1], dtype=np.float32), PLAIN) == pytest.approx(0.3)


def test_with_vectors_another_floor_holds() -> None:
    best = np.array([0.25], dtype=np.float32)

    assert floor(candidates([[1]]), best, PLAIN) < np.inf
    assert floor(candidates([[1]], cosine=[0.1]), best, PLAIN) == np.inf


def test_a_session_scores_as_its_best_passage() -> None:
    scored = np.array([0.1, 0.7, 0.4, 0.9], dtype=np.float32)

    assert groups(scored, np.array([3, 3, 5, -1])) == {3: pytest.approx(0.7), 5: pytest.approx(0.4)}


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [([], 0.0), ([0.8], 0.2), ([0.5] * 97, 0.485), ([np.nan, 0.4], 0.1), ([-0.5] * 10, 0.0), ([1.0] * 500, 0.9)],
)
def test_the_nearness_of_unrelated_texts_is_the_mean_of_many(cosine: list[float], expected: float) -> None:
    assert unrelated(np.array(cosine, dtype=np.float32)) == pytest.approx(expected)


@pytest.mark.parametrize("profile", [ENTRIES, SESSIONS])
def test_scores_are_numbers_for_any_candidates(profile: Profile) -> None:
    empty = candidates([[0, 0]], frequency=[0, 0], lengths=[0], cosine=[np.nan])

    assert np.isfinite(score(empty, profile)).all()
    assert floor(empty, np.array([0.0], dtype=np.float32), profile) == np.inf


def searched(texts: Sequence[str], query: str, *, group: str = "s", at: str = "") -> list[str]:
    corpus = Corpus(None, SESSIONS)
    corpus.put(Passage(text, text, text, group, place, at) for place, text in enumerate(texts))
    found = [hit.passage.key for hit in corpus.search(query).hits]
    corpus.close()
    return found


def test_what_was_said_on_a_day_is_found_by_it() -> None:
    day = "2026-01-25T10:00:00Z"

    assert searched(["We chose pnpm."], "what happened on 25 January 2026", at=day) == ["We chose pnpm."]
    assert searched(["We chose pnpm."], "what happened on 25 January 2026", at=day, group="") == []


def test_an_answer_comes_before_its_question_though_it_repeats_no_word_of_it() -> None:
    talk = ["Which port does the server use?", "It is 5173.", "Fine."]

    assert searched(talk, "which port does the server use")[:2] == [talk[1], talk[0]]
