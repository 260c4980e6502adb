"""The file of review guidelines: total reading, small edits, and a merge that has no conflicts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.store.guidelines import HEADER, decode, encode, merge

LINES = st.sampled_from(["a", "b", "c", "d e", "ü"])
ANY = st.lists(
    st.one_of(LINES.map(lambda one: f"- {one}\n"), st.sampled_from(["# Head\n", "\n", "words\n", "* x\r\n"]))
)


def file_of(*texts: str) -> bytes:
    return encode(b"", add=texts)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", ()),
        (b"- one\n* two\n+ three\n", ("one", "two", "three")),
        (b"\xef\xbb\xbf- one\r\n- two\r\n- two", ("one", "two")),
        (b"# Head\n\nwords - no\n  - within another\n-none\n- \n-   one  \n", ("one",)),
        (b"- torn \xff\n", ("torn \ufffd",)),
    ],
)
def test_a_bullet_at_the_margin_is_a_guideline(data: bytes, found: tuple[str, ...]) -> None:
    assert decode(data) == found


def test_a_new_file_says_what_it_is_for() -> None:
    assert file_of("Say why.").decode() == HEADER + "- Say why.\n"


def test_lines_of_others_stay_byte_for_byte() -> None:
    data = b"# Mine\r\n* one\r\nwords \xff\n- two"

    assert encode(data, add=["three", "two"], drop=["one"]) == b"# Mine\r\nwords \xff\n- two\n- three\n"


def test_what_two_branches_learned_stands_in_both() -> None:
    base, ours, theirs = file_of("a", "b"), file_of("a", "b", "ours"), file_of("b", "theirs")

    assert merge(base, ours, theirs) == (file_of("b", "ours", "theirs"), ())


def test_taking_back_leaves_what_was_learned_since() -> None:
    before, after, now = file_of("a"), file_of("a", "b"), file_of("a", "b", "c")

    assert merge(after, now, before) == (file_of("a", "c"), ())


@given(ANY, st.lists(LINES), st.lists(LINES))
def test_added_and_taken_out_again_is_where_it_was(lines: list[str], add: list[str], drop: list[str]) -> None:
    data = "".join(lines).encode()
    new = [one for one in add if one not in decode(data)]

    assert set(decode(encode(data, add=add, drop=drop))) == set(decode(data)) - set(drop) | set(add)
    if data:
        assert encode(encode(data, add=new), drop=new) == data


@given(st.binary(), st.binary(), st.binary())
def test_any_bytes_can_be_merged(base: bytes, ours: bytes, theirs: bytes) -> None:
    merged, conflicts = merge(base, ours, theirs)

    assert conflicts == ()
    assert base != ours or merged == theirs
