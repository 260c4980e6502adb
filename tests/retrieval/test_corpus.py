"""A corpus finds by words and by meaning, follows what changes, and survives what happens to its file."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING

import pytest

from noforgetti.retrieval.base import EmbeddingError, Passage
from noforgetti.retrieval.corpus import Corpus
from noforgetti.retrieval.ranking import ENTRIES, SESSIONS
from noforgetti.retrieval.vectors import Vectors
from retrieval.embedders_for_tests import Letters

if TYPE_CHECKING:
    from pathlib import Path

FACTS = {
    "check": "Run pnpm check before pnpm test.",
    "port": "The dev server listens on port 5173.",
    "colour": "Buttons are teal, never blue.",
}


def passage(key: str, text: str, group: str = "", place: int = 0) -> Passage:
    return Passage(key, text, hashlib.sha256(text.encode()).hexdigest()[:16], group, place)


def corpus(path: Path | None = None, facts: dict[str, str] = FACTS) -> Corpus:
    made = Corpus(str(path) if path else None, ENTRIES)
    made.put(passage(key, text) for key, text in facts.items())
    return made


def found(of: Corpus, query: str, **options: object) -> list[str]:
    return [hit.passage.key for hit in of.search(query, **options).hits]  # type: ignore[arg-type]


def test_a_passage_is_found_by_its_words() -> None:
    assert found(corpus(), "which port does the server use") == ["port"]


def test_a_hit_says_which_words_it_was_found_by() -> None:
    (hit,) = corpus().search("what about teal Buttons").hits

    assert hit.why == "words: teal, Buttons"


def test_nothing_relevant_finds_nothing() -> None:
    assert found(corpus(), "quarterly revenue forecast") == []


@pytest.mark.parametrize(
    "query", ["", "   ", "?!", '"', "'", "*", "NEAR(", "a AND", "\x00", "-", "🙂", "((((", "\ud800"]
)
def test_any_punctuation_in_a_query_is_harmless(query: str) -> None:
    assert found(corpus(), query) == []


@pytest.mark.parametrize("query", ['port" OR', "port*", "terms:port", "port AND NOT", "^port", "port NEAR", "{port}"])
def test_the_words_beside_punctuation_are_found(query: str) -> None:
    assert found(corpus(), query) == ["port"]


def test_a_huge_query_is_answered() -> None:
    assert found(corpus(), "port " + "lorem ipsum dolor " * 60_000) in (["port"], [])


def test_a_replaced_passage_is_found_by_its_new_words_only() -> None:
    facts = corpus()
    facts.put([passage("port", "The dev server listens on socket tmp.")])

    assert (found(facts, "5173"), found(facts, "socket")) == ([], ["port"])


def test_a_dropped_passage_is_not_found() -> None:
    facts = corpus()

    assert facts.drop(["port", "unknown"]) == 1
    assert (found(facts, "port"), len(facts)) == ([], 2)


def test_syncing_costs_the_difference() -> None:
    facts = corpus()
    passages = {key: passage(key, text) for key, text in FACTS.items()}
    del passages["colour"]
    passages["new"] = passage("new", "Tabs, not spaces.")

    assert (facts.sync(passages), facts.sync(passages)) == (2, 0)
    assert set(facts.keys()) == {"check", "port", "new"}


def test_what_another_connection_added_is_found(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    one, other = corpus(path), Corpus(str(path), ENTRIES)
    assert found(other, "port") == ["port"]
    one.put([passage("cargo", "Use cargo nextest.")])
    one.drop(["port"])

    assert (found(other, "nextest"), found(other, "port")) == (["cargo"], [])


def test_a_corpus_whose_file_was_deleted_is_empty_and_can_be_filled_again(tmp_path: Path) -> None:
    facts = corpus(tmp_path / "index.sqlite")
    for one in tmp_path.iterdir():
        one.unlink()

    assert found(facts, "port") == []
    facts.put([passage("port", FACTS["port"])])
    assert found(facts, "port") == ["port"]


def test_a_corpus_whose_file_is_torn_finds_nothing_and_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    made = corpus(path, {str(n): f"passage number {n} about topic {n % 7}" for n in range(500)})
    made._database.db.execute("pragma wal_checkpoint(truncate)")
    made.close()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(bytes(data))

    torn = Corpus(str(path), ENTRIES)

    assert found(torn, "topic") == []
    torn.put([passage("port", FACTS["port"])])
    assert found(torn, "port") == ["port"]
    assert torn.trouble


def test_meaning_finds_what_shares_no_word() -> None:
    facts = corpus(facts={"near": "abcabc", "far": "xyzxyz"})

    assert found(facts, "cabbac", vectors=Vectors(None, Letters())) == ["near"]


def test_a_model_that_fails_is_reported_to_the_caller() -> None:
    with pytest.raises(EmbeddingError):
        found(corpus(), "port", vectors=Vectors(None, Letters(fails=True)))


def test_vectors_are_made_once_and_only_for_what_is_new(tmp_path: Path) -> None:
    letters = Letters()
    vectors = Vectors(str(tmp_path / "vectors.sqlite"), letters)
    facts = corpus()
    facts.search("port", vectors=vectors)
    first = list(letters.asked)
    facts.put([passage("new", "brand new words")])

    facts.search("port", vectors=vectors)

    assert first == ["port", *FACTS.values()]
    assert letters.asked[len(first) :] == ["brand new words"]


def test_a_slow_model_is_not_asked_in_the_middle_of_a_search() -> None:
    letters = Letters(quick=False)
    facts = corpus()
    facts.search("port", vectors=Vectors(None, letters))

    assert letters.asked == ["port"]


def test_missing_vectors_are_made_in_bounded_batches(tmp_path: Path) -> None:
    vectors = Vectors(str(tmp_path / "vectors.sqlite"), Letters(quick=False))
    facts = corpus()

    assert [facts.embed(vectors, 2), facts.embed(vectors, 2)] == [1, 0]
    assert facts.embedded(vectors) == (3, 3)


def test_another_model_of_another_width_makes_its_own_vectors(tmp_path: Path) -> None:
    path = str(tmp_path / "vectors.sqlite")
    facts = corpus()
    facts.embed(Vectors(path, Letters(width=8)), 10)
    wider = Vectors(path, Letters(name="letters", width=26))

    assert facts.embedded(wider) == (0, 3)
    assert facts.embed(wider, 10) == 0
    assert facts.embedded(wider) == (3, 3)


def test_vectors_made_elsewhere_are_used(tmp_path: Path) -> None:
    path = str(tmp_path / "vectors.sqlite")
    here, there = Letters(quick=False), Letters(quick=False)
    facts = corpus()
    facts.search("port", vectors=(vectors := Vectors(path, here)))
    corpus().embed(Vectors(path, there), 10)

    facts.search("port", vectors=vectors)

    assert here.asked == ["port"]
    assert facts.embedded(vectors) == (3, 3)


def test_passages_beside_a_hit_are_of_the_same_session_only() -> None:
    sessions = Corpus(None, SESSIONS)
    sessions.put(
        [
            passage("a0", "We looked at the garden.", "a", 0),
            passage("a1", "The zucchini needs water.", "a", 1),
            passage("b0", "Something else entirely.", "b", 0),
        ]
    )

    answer = sessions.search("zucchini")

    assert [name for name, _ in answer.groups] == ["a"]
    assert "b0" not in [hit.passage.key for hit in answer.hits]


def test_sessions_can_be_left_out() -> None:
    sessions = Corpus(None, SESSIONS)
    sessions.put([passage("a0", "zucchini in session a", "a"), passage("b0", "zucchini in session b", "b")])

    answer = sessions.search("zucchini", skip=("a",))

    assert [hit.passage.group for hit in answer.hits] == ["b"]


def test_whoever_follows_a_corpus_survives_that_drops_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noforgetti.retrieval.corpus._DROPPED", 3)
    path = tmp_path / "index.sqlite"
    one, other = corpus(path), Corpus(str(path), ENTRIES)
    assert found(other, "port") == ["port"]
    for number in range(10):
        one.put([passage("port", f"The dev server listens on port {number}.")])

    assert found(other, "port") == ["port"]
    assert (len(other), found(other, "9")) == (3, ["port"])


def test_dropping_a_group_drops_its_passages() -> None:
    sessions = Corpus(None, SESSIONS)
    sessions.put([passage("a0", "zucchini one", "a", 0), passage("a1", "zucchini two", "a", 1)])

    assert sessions.drop_group("a") == 2
    assert sessions.group_names() == set()


def test_kept_texts_are_listed_by_their_beginning() -> None:
    facts = corpus()
    facts.meta_put("file:b", "2")
    facts.meta_put("file:a", "1")
    facts.meta_put("other", "3")
    facts.meta_put("file:a", None)

    assert (facts.meta_keys("file:"), facts.meta_get("file:b"), facts.meta_get("file:a")) == (["file:b"], "2", None)


def test_the_file_does_not_grow_with_every_change(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    facts = corpus(path)
    for number in range(3_000):
        facts.put([passage("port", f"The dev server listens on port {number}.")])

    facts.close()
    assert path.stat().st_size < 400_000


def test_two_threads_with_a_corpus_each_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    corpus(path)
    trouble: list[str] = []

    def write() -> None:
        mine = Corpus(str(path), ENTRIES)
        for number in range(200):
            mine.put([passage(f"n{number}", f"fact number {number} about gardening")])
        trouble.append(mine.trouble)

    thread = threading.Thread(target=write)
    thread.start()
    reader = Corpus(str(path), ENTRIES)
    while thread.is_alive():
        assert found(reader, "port") == ["port"]
    thread.join()

    assert (trouble, len(reader)) == ([""], 203)
