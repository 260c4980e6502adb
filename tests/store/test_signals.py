"""The file of signals: read without trust, rewritten without loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.commit import AUTHORS
from noforgetti.model.entry import CommitId, EntryId, Writer
from noforgetti.model.signal import Signal
from noforgetti.store.base import Conflict, PutFile
from noforgetti.store.signals import BOOK, FILE, SPACE, Signals, decode, encode

from .builders import NOW, STAMP, fsck, git, message, new_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from noforgetti.store.git import Store

A, B = EntryId("a"), EntryId("b")
LINE = b'{"id":"a","evidence":3,"reinforced":"2026-12-01T12:00:00Z"}\n'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A fresh repository without commits."""
    made = new_store(tmp_path)
    yield made
    made.close()


def told(store: Store, data: bytes, *, old: CommitId | None = None) -> CommitId:
    """Signals of `main` that hold these bytes."""
    edits = (PutFile(FILE, data),)
    new = store.write(old, edits, message(), author=AUTHORS[Writer.AGENT], seconds=NOW)
    store.publish("main", new, old, space=SPACE)
    return new


def test_lines_are_sorted_by_id_and_hold_what_differs() -> None:
    data = encode(b"", {B: Signal(1, STAMP, forgotten=True), A: Signal(3, STAMP)})

    assert data == LINE + b'{"id":"b","evidence":1,"reinforced":"2026-12-01T12:00:00Z","forgotten":true}\n'
    assert decode(data) == Signals({A: Signal(3, STAMP), B: Signal(1, STAMP, forgotten=True)})


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b'{"evidence":2}',
        b'{"id":7}',
        b'{"id":"b","evidence":0}',
        b'{"id":"b","evidence":-4}',
        b'{"id":"b","evidence":true}',
        b'{"id":"b","evidence":1.5}',
        b'{"id":"b","evidence":' + b"9" * 5_000 + b"}",
        b'{"id":"b","reinforced":12}',
        b'{"id":"b","forgotten":"yes"}',
        b"[" * 100_000,
    ],
    ids=lambda line: ascii(line[:30]),
)
def test_a_line_that_cannot_be_read_is_told_and_survives_a_rewrite(line: bytes) -> None:
    read = decode(LINE + line + b"\n")
    rewritten = encode(line + b"\n" + LINE, {A: Signal(4, STAMP)})

    assert read.by_id == {A: Signal(3, STAMP)}
    assert read.reason == "1 line of the memory's signals cannot be read; these entries count as never reinforced."
    assert rewritten == LINE.replace(b"3", b"4", 1) + line + b"\n"


def test_keys_of_a_later_version_survive_a_change() -> None:
    data = b'{"id": "a", "evidence": 2, "mood": {"x": [1]}, "forgotten": true}\n{"id":"b","later":1}\n'

    assert encode(data, {A: Signal(3, STAMP)}) == LINE.replace(b"}", b',"mood":{"x":[1]}}') + b'{"id":"b","later":1}\n'
    assert decode(data).by_id == {A: Signal(2, forgotten=True), B: Signal()}


def test_of_two_lines_for_one_entry_the_later_counts() -> None:
    data = LINE + LINE.replace(b"3", b"5", 1)

    assert decode(data).by_id == {A: Signal(5, STAMP)}
    assert encode(data, {}) == LINE.replace(b"3", b"5", 1)


ids = st.text(max_size=8).map(EntryId)
books = st.dictionaries(ids, st.builds(Signal, st.integers(1, 2**53 - 1), st.text(max_size=9), st.booleans()))


@given(books, books)
def test_what_was_written_is_read(before: dict[EntryId, Signal], changed: dict[EntryId, Signal]) -> None:
    assert decode(encode(encode(b"", before), changed)) == Signals(before | changed)


@given(st.binary())
def test_any_bytes_are_read_and_a_rewrite_reads_alike(data: bytes) -> None:
    assert decode(encode(data, {})).by_id == decode(data).by_id


def test_signals_lie_beside_the_branch_and_git_reads_them(store: Store) -> None:
    first = told(store, LINE)

    assert store.heads() == {}
    assert store.signals("main") == Signals({A: Signal(3, STAMP)}, first)
    assert git(store.path, "show", "refs/noforgetti/signals/main:signals.jsonl").encode() + b"\n" == LINE
    assert git(store.path, "ls-tree", "--name-only", "refs/noforgetti/signals/main").split() == ["format", FILE]
    assert fsck(store.path) == ""


def test_signals_are_published_by_comparison(store: Store) -> None:
    first = told(store, LINE)

    with pytest.raises(Conflict):
        told(store, b"")

    assert store.signals("main").commit == first


def test_no_signals_are_no_reason(store: Store) -> None:
    assert store.signals("main") == store.signals("\ud800") == Signals()


@pytest.mark.parametrize("data", [b"", b"garbage\n", bytes(41), b"f" * 40 + b"\n"], ids=ascii)
def test_a_torn_ref_means_no_signals_and_a_reason(store: Store, data: bytes) -> None:
    told(store, LINE)
    (ref,) = git(store.path, "rev-parse", "--git-path", "refs/noforgetti/signals/main").split()
    with open(f"{store.path}/{ref}", "wb") as file:
        file.write(data)

    read = store.signals("main")

    assert (dict(read.by_id), read.commit) == ({}, None)
    assert read.reason.endswith("Its entries count as never reinforced.")
    assert store.heads() == {}


def test_torn_signals_go_back_to_the_newest_readable_ones(store: Store) -> None:
    first = told(store, LINE)
    second = told(store, LINE + LINE.replace(b"a", b"b", 1), old=first)
    with open(f"{store.path}/refs/noforgetti/signals/main", "wb") as file:
        file.write(bytes(41))

    assert store.recover_book("main", BOOK) == second
    assert set(store.signals("main").by_id) == {A, B}
    assert store.traces == [f"the signals of `main` could not be read; they were taken back to {second[:12]}"]


def test_torn_signals_without_a_past_begin_anew(store: Store) -> None:
    told(store, LINE)
    for ref in ("refs", "logs/refs"):
        with open(f"{store.path}/{ref}/noforgetti/signals/main", "wb") as file:
            file.write(b"?")

    assert store.recover_book("main", BOOK) is None
    assert store.signals("main") == Signals()
    assert store.traces == ["the signals of `main` could not be read; they begin anew"]


@pytest.mark.parametrize("data", [None, b"torn"])
def test_signals_are_dropped_readable_or_not_and_again(store: Store, data: bytes | None) -> None:
    told(store, LINE)
    if data is not None:
        with open(f"{store.path}/refs/noforgetti/signals/main", "wb") as file:
            file.write(data)

    store.drop_book("main", BOOK)
    store.drop_book("main", BOOK)

    assert store.signals("main") == Signals()
    assert git(store.path, "for-each-ref") == ""
