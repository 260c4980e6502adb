"""What `status` and `doctor` say of the derived index, looked at from outside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from noforgetti.model.entry import MAIN
from noforgetti.retrieval.base import Passage
from noforgetti.retrieval.corpus import Corpus
from noforgetti.retrieval.ranking import SESSIONS
from noforgetti.service import writes
from noforgetti.service.health.examining import examine
from noforgetti.service.index_state import SESSIONS as FILE
from noforgetti.service.index_state import VECTORS, file_of, index_state, vectors_kept
from noforgetti.service.views import status_view

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory


@pytest.fixture
def indexed(memory: Memory) -> Memory:
    """A memory with one entry, whose index holds two passages of one session."""
    writes.add(memory, MAIN, "Use tabs.")
    corpus = Corpus(file_of(memory, FILE), SESSIONS)
    corpus.put(Passage(f"a#{n}", f"about {n}", f"d{n}", "a", n) for n in range(2))
    corpus.close()
    return memory


def damage(memory: Memory) -> None:
    path = file_of(memory, FILE)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"not a database " * 400)


def test_an_index_that_was_never_made_is_absent(memory: Memory) -> None:
    assert index_state(memory) == {"state": "absent", "sessions": 0, "passages": 0, "bytes": 0}
    assert vectors_kept(memory) == 0


def test_an_index_is_counted_without_being_loaded(indexed: Memory) -> None:
    found = index_state(indexed)

    assert found.pop("bytes") > 0
    assert found == {"state": "ready", "sessions": 1, "passages": 2}


def test_a_damaged_index_is_told_and_nothing_fails(memory: Memory) -> None:
    writes.add(memory, MAIN, "Use tabs.")
    damage(memory)

    assert index_state(memory)["state"] == "damaged"
    assert (
        "the index of past sessions cannot be read; the next search begins it anew"
        in (status_view(memory, MAIN)["degraded"])
    )
    assert "index-damaged" in [one.code for one in examine(memory)]


def test_a_damaged_store_of_vectors_counts_as_empty(memory: Memory) -> None:
    path = file_of(memory, VECTORS)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"not a database " * 400)

    assert vectors_kept(memory) == 0


def test_status_tells_of_index_and_model(indexed: Memory) -> None:
    doc = status_view(indexed, MAIN)

    assert (doc["index"]["sessions"], doc["index"]["passages"]) == (1, 2)
    assert (doc["embedding"]["state"], doc["embedding"]["model"]) == ("ready", "static-256")
    assert doc["degraded"] == []
