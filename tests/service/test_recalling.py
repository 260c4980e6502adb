"""Recall beside the turns: a turn takes what is there in time. Nothing here waits for a clock: what is slow waits for
the test, and what must have happened is waited for."""

from __future__ import annotations

import shutil
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from store.builders import entry, review

from noforgetti.model.entry import MAIN
from noforgetti.retrieval.base import EmbeddingError
from noforgetti.service.embedding import Embedding
from noforgetti.service.recall import Recall
from noforgetti.service.recalling import Question, Recalled, Recalling, at_once
from noforgetti.service.settings import EmbeddingSettings

from .test_recall import HELD, OTHER_WORDS, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from noforgetti.retrieval.base import Floats
    from noforgetti.service.memory import Memory

PLENTY = 60.0  # seconds of patience where the answer is expected; nothing waits them out
LITTLE = 0.2  # where it is not: the rest of the test does not depend on how long this is


class Model:
    """A slow model: vectors of one direction, when `may` says so."""

    name, width = "slow", 4

    def __init__(self, *, fails: bool = False, quick: bool = False) -> None:
        self.fails, self.quick, self.may = fails, quick, threading.Event()

    def embed(self, texts: Sequence[str]) -> Floats:
        """The same for each."""
        return np.tile(self.embed_query(""), (len(texts), 1))

    def embed_query(self, text: str) -> Floats:
        """After a while."""
        self.may.wait(PLENTY)
        if self.fails:
            raise EmbeddingError("unreachable", f"The model did not answer to {len(text)} characters.", "start it")
        return np.array([1, 0, 0, 0], dtype=np.float32)


class With(Embedding):
    """The embedding of a model that a test hands in."""

    model: Model

    def _made(self) -> Model:
        return self.model


@pytest.fixture
def made(memory: Memory, tmp_path: Path) -> Iterator[Callable[..., tuple[Recalling, Embedding]]]:
    """Makes recallings with a model, or with the one that the settings name."""
    all_of_them: list[Recalling] = []
    models: list[Model] = []

    def make(model: Model | None = None, kind: str = "static") -> tuple[Recalling, Embedding]:
        environ = {"HOME": str(tmp_path.resolve() / "user")}
        embedding: Embedding
        if model is None:
            embedding = Embedding(EmbeddingSettings(type=kind), memory.places, environ)  # type: ignore[arg-type]
        else:
            embedding = With(EmbeddingSettings(), memory.places, environ)
            embedding.model = model
            models.append(model)
        all_of_them.append(Recalling(memory, embedding))
        return all_of_them[-1], embedding

    yield make
    for model in models:
        model.may.set()
    for one in all_of_them:
        one.close()


def ids(answer: Recalled) -> list[str]:
    return [str(one.entry.id) for one in answer.entries]


def kept_up(recalling: Recalling, happened: Callable[[], Any]) -> None:
    """Wake it until something has happened."""
    for _ in range(600):
        recalling.wake(MAIN)
        if happened():
            return
        threading.Event().wait(0.05)
    raise AssertionError("nothing happened")


def test_a_question_is_answered_in_meaning_too(
    memory: Memory, made: Callable[..., tuple[Recalling, Embedding]]
) -> None:
    review(memory, add=HELD)
    recalling, _ = made()

    answer = recalling.ask(Question(MAIN, OTHER_WORDS, 5), PLENTY)

    assert (ids(answer)[:1], answer.sessions, answer.left_out) == (["money"], (), ())


def test_past_sessions_are_found_once_they_were_read(
    memory: Memory, made: Callable[..., tuple[Recalling, Embedding]], tmp_path: Path
) -> None:
    told(memory, tmp_path.resolve() / "user", "s1", "We chose Kafka for the order queue.")
    recalling, _ = made()

    def found(session: str = "") -> list[str]:
        answer = recalling.ask(Question(MAIN, "Kafka order queue", 5, 3, session), PLENTY)
        assert answer.left_out == ()
        return [one.session for one in answer.sessions]

    kept_up(recalling, found)

    assert (found(), found("s1")) == (["s1"], [])


def test_a_model_that_is_slow_leaves_words_and_serves_the_next_question(
    memory: Memory, made: Callable[..., tuple[Recalling, Embedding]]
) -> None:
    review(memory, add=HELD)
    model = Model()
    recalling, embedding = made(model)
    recalling.ask(Question(MAIN, "database port", 5), LITTLE)  # the first question of a process has more time

    answer = recalling.ask(Question(MAIN, "database port", 5), 2.0)

    assert (ids(answer)[:1], answer.left_out) == (["port"], ())
    assert answer.entries[0].similarity is None
    assert embedding.view()["state"] == "ready"


def test_what_is_not_ready_in_time_is_named_and_costs_only_that_turn(
    memory: Memory, made: Callable[..., tuple[Recalling, Embedding]]
) -> None:
    review(memory, add=HELD)
    model = Model(quick=True)  # said to be quick, so nothing else waits for it
    recalling, _ = made(model)
    model.may.set()
    assert recalling.ask(Question(MAIN, "database port", 5, 3), PLENTY).left_out == ()
    model.may.clear()

    late = recalling.ask(Question(MAIN, "push check", 5, 3), LITTLE)
    model.may.set()

    assert (late.entries, late.sessions, late.left_out) == ((), (), ("memories", "past sessions"))
    again = recalling.ask(Question(MAIN, "push check", 5, 3), PLENTY)
    assert ("check" in ids(again), again.left_out) == (True, ())


def test_a_model_that_fails_is_told_once_and_words_are_left(
    memory: Memory, made: Callable[..., tuple[Recalling, Embedding]]
) -> None:
    review(memory, add=HELD)
    model = Model(fails=True)
    model.may.set()
    recalling, embedding = made(model)

    answers = [recalling.ask(Question(MAIN, "database port", 5), PLENTY) for _ in range(3)]

    assert [ids(one)[:1] for one in answers] == [["port"]] * 3
    assert [one.left_out for one in answers] == [()] * 3
    assert embedding.take_notice().startswith("Search goes by words alone: The model did not answer")
    assert embedding.take_notice() == ""


def test_a_fault_of_ours_costs_only_that_turn_and_is_kept(
    memory: Memory, made: Callable[..., tuple[Recalling, Embedding]]
) -> None:
    review(memory, add=HELD)
    recalling, embedding = made(kind="off")

    answer = recalling.ask(Question("no such branch", "database port", 5), PLENTY)

    assert (answer.entries, answer.left_out) == ((), ("memories",))
    assert embedding.take_notice().startswith("recall failed: ")
    assert ids(recalling.ask(Question(MAIN, "database port", 5), PLENTY))[:1] == ["port"]


def test_the_cache_may_vanish_between_two_questions(
    memory: Memory, made: Callable[..., tuple[Recalling, Embedding]], tmp_path: Path
) -> None:
    review(memory, add=HELD)
    told(memory, tmp_path.resolve() / "user", "s1", "We chose Kafka for the order queue.")
    recalling, _ = made()

    def sessions() -> list[str]:
        answer = recalling.ask(Question(MAIN, "Kafka order queue", 5, 3), PLENTY)
        return [one.session for one in answer.sessions]

    kept_up(recalling, sessions)
    shutil.rmtree(memory.places.cache)

    assert ids(recalling.ask(Question(MAIN, OTHER_WORDS, 5, 3), PLENTY))[:1] == ["money"]
    kept_up(recalling, sessions)
    assert sessions() == ["s1"]


def test_a_recalling_that_was_closed_answers_nothing(
    memory: Memory, made: Callable[..., tuple[Recalling, Embedding]]
) -> None:
    review(memory, add=[entry()])
    recalling, _ = made()
    recalling.close()

    assert recalling.ask(Question(MAIN, "tabs", 5, 3), 0.0).left_out == ("memories", "past sessions")


def test_a_command_has_all_the_time_there_is(memory: Memory, tmp_path: Path) -> None:
    review(memory, add=HELD)
    recall = Recall(memory, Embedding(EmbeddingSettings(), memory.places, {"HOME": str(tmp_path)}))

    answer = at_once(recall)(Question(MAIN, OTHER_WORDS, 1, 3))

    assert (ids(answer), answer.sessions, answer.left_out) == (["money"], (), ())
