"""The file of promotions: read without trust, rewritten without loss, merged block by block."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import Category, EntryId
from noforgetti.model.promotion import Destination, Promotion, Status
from noforgetti.store.promotions import HEADER, Queue, blocks, decode, encode, merge

from .builders import STAMP

A = Promotion(
    "0123456789ab",
    Destination.ENFORCEMENT,
    EntryId("never-use-npm-aaaa"),
    Category.LESSON,
    "Never use `npm`.",
    "a command that must not run",
    STAMP,
    Status.APPLIED,
    3,
    "bash_contains npm",
    "block",
)
B = Promotion("ba9876543210", Destination.SKILL, EntryId("release"), Category.PATTERN, "Tag,\nthen push.")
WRITTEN = """\
### 0123456789ab
- destination: enforcement
- status: applied
- entry: never-use-npm-aaaa
- category: lesson
- text: Never use `npm`.
- reason: a command that must not run
- created: 2026-12-01T12:00:00Z
- evidence_count: 3
- trigger: bash_contains npm
- action: block
"""
OTHER = """\
### ba9876543210
- destination: skill
- status: proposed
- entry: release
- category: pattern
- text: "Tag,\\nthen push."
"""


def file_of(*promotions: Promotion, before: bytes = b"") -> bytes:
    return encode(before, {one.id: one for one in promotions})


def test_a_file_is_a_header_and_a_block_a_promotion() -> None:
    data = file_of(A, B)

    assert data.decode() == f"{HEADER}\n{WRITTEN}\n{OTHER}"
    assert decode(data) == Queue({A.id: A, B.id: B})


def test_a_block_that_cannot_be_read_is_told_and_stays_as_it_is() -> None:
    broken = b"### aaaaaaaaaaaa\r\n- destination: \xff\xfe\r\n- text: something\r\n\r\nA word of mine.\n\n"

    data = file_of(A, before=broken)

    assert data == broken + WRITTEN.encode()
    assert decode(data) == Queue({A.id: A}, ("aaaaaaaaaaaa",))


def test_lines_that_nobody_knows_survive_a_change_of_their_block() -> None:
    mine = WRITTEN.replace("- action: block\n", "- action: block\n- owner: Ann\nI doubt it.\n") + "\nMy words.\n"

    data = file_of(replace(A, status=Status.REJECTED, trigger="", action=""), before=mine.encode())

    assert data.decode() == (
        WRITTEN.replace("applied", "rejected").replace("- trigger: bash_contains npm\n- action: block\n", "")
        + "- owner: Ann\nI doubt it.\n\nMy words.\n"
    )


@pytest.mark.parametrize(
    "spoilt",
    [
        WRITTEN.replace("enforcement", "nowhere"),
        WRITTEN.replace("status: applied", "status: perhaps"),
        WRITTEN.replace("- text: Never use `npm`.\n", ""),
        WRITTEN.replace("never-use-npm-aaaa", "../evil"),
        WRITTEN.replace("- text: Never use `npm`.", '- text: "\\ud800"'),
        "### 0123456789ab\n",
    ],
)
def test_a_block_without_what_it_needs_counts_for_nothing(spoilt: str) -> None:
    assert decode(spoilt.encode()) == Queue({}, (A.id,))


def test_an_optional_line_that_makes_no_sense_is_left_out() -> None:
    spoilt = WRITTEN.replace("evidence_count: 3", "evidence_count: many")

    assert decode(spoilt.encode()) == Queue({A.id: replace(A, evidence=0)})


def test_of_two_blocks_with_one_id_the_first_counts_and_both_stay() -> None:
    twice = f"{WRITTEN}\n{WRITTEN.replace('applied', 'rejected')}".encode()

    assert decode(twice) == Queue({A.id: A})
    assert file_of(B, before=twice) == twice + b"\n" + OTHER.encode()


def test_a_promotion_is_taken_out_alone() -> None:
    assert encode(file_of(A, B), {A.id: None}).decode() == f"{HEADER}\n\n{OTHER}"


def test_taking_one_change_back_leaves_later_ones_of_other_blocks() -> None:
    before, after = file_of(A), file_of(A, B)
    now = file_of(replace(A, status=Status.REJECTED), before=after)

    found, conflicts = merge(after, now, before)

    assert (decode(found), conflicts) == (Queue({A.id: replace(A, status=Status.REJECTED)}), ())


def test_a_file_that_nobody_touched_since_goes_back_byte_for_byte() -> None:
    before = file_of(A) + b"Words.\n"

    assert merge(file_of(A, B), file_of(A, B), before) == (before, ())


def test_a_block_that_both_sides_changed_stays_ours_unless_theirs_is_preferred() -> None:
    base = file_of(A, B)
    ours, theirs = (file_of(replace(A, status=one), before=base) for one in (Status.REJECTED, Status.PROPOSED))

    assert merge(base, ours, theirs) == (ours, (A.id,))
    assert merge(base, ours, theirs, prefer="theirs") == (theirs, (A.id,))


text = st.text(st.characters(codec="utf-8"), max_size=40)
line = text.map(lambda one: " ".join(one.split()))
promotions = st.builds(
    Promotion,
    st.from_regex(re.compile(r"[0-9a-f]{12}", re.ASCII), fullmatch=True),
    st.sampled_from(Destination),
    st.from_regex(re.compile(r"[a-z0-9-]{1,20}", re.ASCII), fullmatch=True).map(EntryId),
    st.sampled_from(Category),
    text.filter(bool),
    text,
    line,
    st.sampled_from(Status),
    st.integers(0, 10**9),
    text,
    line,
    text,
    line,
    line,
)


@given(st.lists(promotions, unique_by=lambda one: one.id, max_size=4), st.binary(max_size=60))
def test_what_is_written_is_read_again(some: list[Promotion], before: bytes) -> None:
    assert decode(file_of(*some)).by_id == {one.id: one for one in some}
    decode(file_of(*some, before=before))


@given(st.binary(max_size=200), promotions)
def test_nothing_that_stood_in_a_file_is_lost(mine: bytes, one: Promotion) -> None:
    data = file_of(one, before=mine)

    assert all(data.count(raw.encode("utf-8", "surrogateescape")) for own, raw in blocks(mine).items() if own != one.id)
    assert decode(data).by_id[one.id] == one
    assert data.startswith(mine) or one.id in blocks(mine)
