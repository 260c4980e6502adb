"""The file of candidates: read without trust, rewritten without loss."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.candidate import Candidate, CandidateKind
from noforgetti.model.entry import Category, EntryId, Writer
from noforgetti.store.candidates import Queue, decode, encode

LINE = b'{"id":"c-1","kind":"preference","text":"Use tabs.","session":"s1","at":"2026-12-01T12:00:00Z"}\n'
TABS = Candidate("c-1", CandidateKind.PREFERENCE, "Use tabs.", session="s1", at="2026-12-01T12:00:00Z")
SORT = Candidate(
    "c-2",
    CandidateKind.REPLACEMENT,
    "Sort imports.",
    "one word apart from `sort`",
    EntryId("sort"),
    "s2",
    "and sort the imports",
    "2026-12-01T12:00:00Z",
    Writer.REVIEW,
    Category.LESSON,
    '{"operations":[]}',
)


def test_a_line_is_a_candidate() -> None:
    assert decode(LINE) == Queue((TABS,))


def test_every_field_that_is_written_is_read() -> None:
    assert decode(encode(LINE, added=[SORT])) == Queue((TABS, SORT))


def test_what_is_gone_is_gone_and_the_rest_stays_as_it_was() -> None:
    kept = b'{"future": 1, "id": "c-3", "kind": "flag",  "text": "Look."}\n'

    after = encode(LINE + kept + b"torn {\n", added=[SORT], gone={"c-1"})

    assert after.startswith(kept + b"torn {\n")
    assert [one.id for one in decode(after).candidates] == ["c-3", "c-2"]


@pytest.mark.parametrize(
    "line",
    [
        b"torn {",
        b"[]",
        b"{}",
        b'{"id":"","kind":"flag","text":"x"}',
        b'{"id":"c","kind":"flag"}',
        b'{"id":"c","kind":"wish","text":"x"}',
        b'{"id":"c","kind":7,"text":"x"}',
        b'{"id":"c","kind":"flag","text":"x","writer":"nobody"}',
        b'{"id":"c","kind":"flag","text":"x","category":"hobby"}',
        b'{"id":"c","kind":"flag","text":"x","category":[]}',
        b'{"id":"c","kind":"flag","text":"x","session":1}',
        b'{"id":"c","kind":"flag","text":"x","operations":{}}',
        b"\xff\xfe",
        b"[" * 5_000,
    ],
    ids=lambda line: ascii(line[:40]),
)
def test_a_line_that_cannot_be_read_is_told_and_kept(line: bytes) -> None:
    queue = decode(LINE + line)

    assert queue == Queue((TABS,), None, "1 line of the memory's candidates cannot be read; they are kept as they are.")
    assert encode(LINE + line, gone={"c-1"}) == line + b"\n"


def test_of_two_lines_with_one_id_the_later_counts() -> None:
    assert decode(LINE + LINE.replace(b"tabs", b"spaces")) == Queue((replace(TABS, text="Use spaces."),))


texts = st.text(max_size=9)
candidates = st.builds(
    Candidate,
    st.text(min_size=1, max_size=6),
    st.sampled_from(CandidateKind),
    texts.filter(bool),
    texts,
    texts.map(EntryId),
    texts,
    texts,
    texts,
    st.sampled_from(Writer),
    st.sampled_from([None, *Category]),
    texts,
)


@given(st.lists(candidates, unique_by=lambda one: one.id, max_size=5))
def test_what_was_written_is_read(several: list[Candidate]) -> None:
    assert decode(encode(b"", added=several)) == Queue(tuple(several))


@given(st.binary())
def test_any_bytes_are_read_and_a_rewrite_reads_alike(data: bytes) -> None:
    assert decode(encode(data)) == decode(data)
