"""Vectors are kept by model and text, and made again when anything about them is off."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import numpy as np
import pytest

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.vectors import Vectors
from retrieval.embedders_for_tests import Letters

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_made_is_known_to_the_next_process(tmp_path: Path) -> None:
    path = str(tmp_path / "vectors.sqlite")
    Vectors(path, Letters()).make({"d1": "cab"})

    known = Vectors(path, Letters()).known(["d1", "d2"])

    assert list(known) == ["d1"]
    np.testing.assert_allclose(known["d1"], Letters().embed(["cab"])[0], atol=1e-3)


def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    path = str(tmp_path / "vectors.sqlite")
    Vectors(path, Letters()).make({"d1": "cab"})

    assert Vectors(path, Letters(name="other")).known(["d1"]) == {}


def test_a_vector_of_another_width_counts_as_missing(tmp_path: Path) -> None:
    path = str(tmp_path / "vectors.sqlite")
    Vectors(path, Letters(width=8)).make({"d1": "cab"})

    assert Vectors(path, Letters(width=26)).known(["d1"]) == {}


@pytest.mark.parametrize("value", [b"", b"\x00", b"\xff" * 52, "text", None])
def test_a_torn_vector_counts_as_missing(tmp_path: Path, value: object) -> None:
    path = str(tmp_path / "vectors.sqlite")
    vectors = Vectors(path, Letters())
    db = sqlite3.connect(path)
    db.execute("insert into vector values ('letters', 'd1', ?)", (value if value is not None else 3,))
    db.commit()

    assert vectors.known(["d1"]) == {}


def test_a_query_is_embedded_once() -> None:
    letters = Letters()
    vectors = Vectors(None, letters)

    first, second = vectors.query("abc"), vectors.query("abc")

    assert letters.asked == ["abc"]
    assert first is second


def test_only_the_newest_queries_are_kept() -> None:
    letters = Letters()
    vectors = Vectors(None, letters)
    for number in range(101):
        vectors.query(f"query {number}")

    vectors.query("query 100")
    vectors.query("query 0")

    assert letters.asked[-2:] == ["query 100", "query 0"]


def test_a_failure_keeps_nothing(tmp_path: Path) -> None:
    vectors = Vectors(str(tmp_path / "vectors.sqlite"), Letters(fails=True))

    with pytest.raises(EmbeddingError):
        vectors.make({"d1": "cab"})

    assert vectors.count() == 0


def test_vectors_of_texts_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    vectors = Vectors(str(tmp_path / "vectors.sqlite"), Letters())
    vectors.make({"d1": "cab", "d2": "dad"})

    assert vectors.forget(["d2"]) == 1
    assert list(vectors.known(["d1", "d2"])) == ["d2"]
