"""Stated preferences are queued once an hour at most, and never when the memory says it already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store.builders import STAMP, Clock, entry, published, written

from noforgetti.errors import NoForgettiError
from noforgetti.model.candidate import CandidateKind
from noforgetti.model.entry import MAIN, Category, Writer
from noforgetti.service import candidates, writes
from noforgetti.service.preferences import COOLDOWN, hear
from noforgetti.store.base import PutFile
from noforgetti.store.candidates import BOOK

from .said import everything_in, fake_secret

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory

SMALL = "I prefer small commits over large ones."


def waiting(memory: Memory) -> list[str]:
    """The texts that wait."""
    return [one.text for one in candidates.pending(memory, MAIN)]


def test_a_stated_preference_waits_with_everything_that_is_known_of_it(memory: Memory) -> None:
    (one,) = hear(memory, MAIN, [f"Fix the build. {SMALL}", SMALL], "s1")

    assert (one.kind, one.text, one.session, one.at) == (CandidateKind.PREFERENCE, SMALL, "s1", STAMP)
    assert (one.writer, one.category, one.reason) == (Writer.USER, Category.PREFERENCE, "stated in a prompt")
    assert candidates.pending(memory, MAIN) == (one,)
    assert memory.head(MAIN) is None


def test_nothing_stated_writes_nothing(memory: Memory) -> None:
    for prompt in ("", "Fix the build.", "/memory show I always use tabs.", "Should I always use tabs?"):
        assert hear(memory, MAIN, [prompt], "s1") == ()

    assert not memory.exists


def test_within_the_hour_a_sentence_is_not_asked_again_afterwards_it_is(memory: Memory, clock: Clock) -> None:
    (first,) = hear(memory, MAIN, [SMALL], "s1")
    candidates.take(memory, MAIN, [first.id], "discarded")

    clock.tick(COOLDOWN - 1)
    again = hear(memory, MAIN, [SMALL], "s2")
    clock.tick(1)
    later = hear(memory, MAIN, [SMALL], "s3")

    assert (again, [one.session for one in later]) == ((), ["s3"])


def test_what_an_entry_says_already_does_not_wait_in_the_project_or_for_the_user(memory: Memory) -> None:
    memory.prepare()
    published(memory.store, entry("I prefer small commits over large ones", "small"))
    writes.add(memory.wide, MAIN, "Always answer in English.")

    hear(memory, MAIN, [SMALL, "Always answer in English."], "s1")

    assert waiting(memory) == []


def test_a_secret_in_a_preference_is_not_kept(memory: Memory) -> None:
    memory.prepare()
    secret = fake_secret()

    hear(memory, MAIN, [f"I always log in with the token {secret} on this machine."], "s1")

    memory.state.close()
    memory.close()
    assert secret.encode() not in everything_in(memory.path)
    with open(f"{memory.places.state_of(memory.name)}/state.sqlite", "rb") as file:
        assert secret.encode() not in file.read()


def test_what_could_not_be_queued_is_heard_the_next_time(memory: Memory) -> None:
    memory.prepare()
    newer = written(memory.store, written(memory.store, None), PutFile("format", b"2\n"))
    memory.store.publish(MAIN, newer, None, space=BOOK.space)
    with pytest.raises(NoForgettiError):
        hear(memory, MAIN, [SMALL], "s1")
    memory.store.drop_book(MAIN, BOOK)

    hear(memory, MAIN, [SMALL], "s1")

    assert waiting(memory) == [SMALL]
