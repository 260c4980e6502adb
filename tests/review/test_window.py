"""The window: oldest first, bounded, redacted, nothing skipped, nothing twice."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import BranchName
from noforgetti.model.evidence import Item, Position, Role, Transcript, Window
from noforgetti.review import window as windows

from .builders import item, keep, transcript

MAIN = BranchName("main")
EXPERIMENT = BranchName("experiment")


def build(
    said: Transcript, position: Position | None = None, branch: BranchName = MAIN, **options: int
) -> Window | None:
    return windows.build(said, position, branch, redact=keep, **options)


def every_window(said: Transcript, branch: BranchName = MAIN, **options: int) -> list[Window]:
    """All windows of a session, each from where the last one ended."""
    found: list[Window] = []
    position: Position | None = None
    while (one := build(said, position, branch, **options)) is not None:
        found.append(one)
        position = one.last
        assert len(found) < 2_000
    return found


def texts(found: Window | None) -> list[str]:
    return [section.text for section in found.sections] if found else []


def answer(text: str) -> Item:
    return item(text, Role.ASSISTANT)


def test_a_window_begins_with_the_oldest_evidence_and_labels_it_in_order() -> None:
    found = build(transcript("one", answer("fine"), "two"))

    assert found is not None
    assert [(one.label, one.role, one.text, one.item) for one in found.sections] == [
        ("e1", Role.USER, "one", "i1"),
        ("e2", Role.ASSISTANT, "fine", "i2"),
        ("e3", Role.USER, "two", "i3"),
    ]
    assert (found.first, found.last, found.turns, found.characters) == (Position("i1"), Position("i3"), 2, 10)


def test_twelve_user_turns_are_a_window_and_the_thirteenth_is_the_next() -> None:
    said = transcript(*(f"turn {number}" for number in range(13)))

    first, second = every_window(said)

    assert (first.turns, first.last) == (12, Position("i12"))
    assert texts(second) == ["turn 12"]


def test_a_turn_that_does_not_fit_waits_whole_for_the_next_window() -> None:
    said = transcript("a" * 20_000, "b" * 6_000, answer("c" * 7_000))

    assert [texts(one) for one in every_window(said)] == [["a" * 20_000], ["b" * 6_000, "c" * 7_000]]


@pytest.mark.parametrize(("size", "windows_needed"), [(12_000, 1), (12_001, 2)])
def test_a_window_is_filled_to_its_last_character_and_not_further(size: int, windows_needed: int) -> None:
    found = every_window(transcript("a" * 20_000, "b" * size))

    assert len(found) == windows_needed
    assert texts(found[-1])[-1] == "b" * size


def test_the_last_8000_of_40000_characters_are_reviewed_too() -> None:
    said = transcript("x" * 40_000, "next")

    first, second = every_window(said)

    assert (first.characters, first.last) == (32_000, Position("i1", 32_000))
    assert texts(second) == ["x" * 8_000, "next"]
    assert (second.first, second.last) == (Position("i1", 32_000), Position("i2"))


def test_a_split_ends_at_a_line_where_there_is_one_near() -> None:
    first, _ = every_window(transcript("y" * 90 + "\n" + "z" * 40), characters=100)

    assert texts(first) == ["y" * 90 + "\n"]


def test_a_turn_of_a_megabyte_is_read_in_pieces_without_a_gap() -> None:
    text = "".join(f"line {number} of a very long paste\n" for number in range(35_000))

    found = every_window(transcript(text, answer("ok")))

    assert "".join("".join(texts(one)) for one in found) == text + "ok"
    assert max(one.characters for one in found) <= 32_000


def test_only_what_was_said_on_the_branch_is_its_evidence() -> None:
    said = transcript("main 1", item("experiment 1", branch=EXPERIMENT), answer("main 2"))

    assert [texts(one) for one in every_window(said)] == [["main 1", "main 2"]]
    assert [texts(one) for one in every_window(said, EXPERIMENT)] == [["experiment 1"]]


def test_going_to_another_branch_and_back_skips_nothing() -> None:
    unread = [f"main {number}" for number in range(5)]
    said = transcript(*unread, item("there", branch=EXPERIMENT), answer("back"))

    on_experiment = build(said, None, EXPERIMENT)
    assert on_experiment is not None

    # Reviewing the experiment moved only its own position; main still has none.
    assert texts(build(said, None, MAIN)) == [*unread, "back"]


def test_a_position_on_an_item_of_another_branch_still_counts() -> None:
    said = transcript("one", item("there", branch=EXPERIMENT), "two")

    assert texts(build(said, Position("i2"))) == ["two"]


def test_a_position_that_is_not_on_the_path_starts_at_the_last_twelve_turns() -> None:
    said = transcript(*(f"turn {number}" for number in range(20)))

    found = build(said, Position("edited-away"))

    assert texts(found) == [f"turn {number}" for number in range(8, 20)]


def test_nothing_is_left_after_the_last_window() -> None:
    assert build(transcript("one"), Position("i1")) is None
    assert build(transcript()) is None
    assert build(transcript(" \n ", "\u200b")) is None


def test_an_offset_past_the_end_goes_on_with_the_next_item() -> None:
    assert texts(build(transcript("short", "next"), Position("i1", 5_000))) == ["next"]


def test_a_secret_is_redacted_as_a_whole_before_the_text_is_cut() -> None:
    token = "tok" + "en-" + "k" * 40
    said = transcript("a" * 80 + " " + token + " b")

    def redact(text: str) -> tuple[str, int]:
        return re.subn(r"token-k+", "[gone]", text)

    first = windows.build(said, None, MAIN, redact=redact, characters=100)

    assert first is not None
    assert texts(first) == ["a" * 80 + " [gone] b"]
    assert first.redactions == 1


def test_redactions_of_a_split_text_are_counted_once() -> None:
    said = transcript("secret " * 60)

    def redact(text: str) -> tuple[str, int]:
        return re.subn("secret", "[gone]", text)

    found: list[int] = []
    position: Position | None = None
    while one := windows.build(said, position, MAIN, redact=redact, characters=100):
        found.append(one.redactions)
        position = one.last

    assert found[0] == 60
    assert set(found[1:]) == {0}


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("nul\x00 esc\x1b[31m", "nul\ufffd esc\ufffd[31m"),
        ("lone \ud83d end", "lone \ufffd end"),
        ("zero\u200bwidth \u202eover\u2066ride\ufeff", "zerowidth override"),
        ("cafe\u0301", "café"),
        ("family 👨‍👩‍👧 stays", "family 👨‍👩‍👧 stays"),
        ("نمی‌خواهم", "نمی‌خواهم"),
        ("plain\u200djoin \u200c", "plainjoin "),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("next\u2028line", "next\nline"),
    ],
)
def test_sanitising_takes_what_nobody_sees_and_keeps_what_is_spelled(raw: str, clean: str) -> None:
    assert windows.sanitise(raw) == clean


@given(st.text())
def test_sanitising_is_idempotent_and_always_encodable(raw: str) -> None:
    once = windows.sanitise(raw)

    assert windows.sanitise(once) == once
    assert unicodedata.is_normalized("NFC", once)
    once.encode()


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧‍👦", "e\u0323\u0302", "🇩🇪", "👍🏽", "❤️"])
def test_a_cut_never_splits_what_is_shown_as_one_character(cluster: str) -> None:
    for lead in range(6):
        text = "x" * lead + cluster * 20
        for room in range(12, 40):
            at = windows.cut(text, room)
            assert 0 < at <= room
            assert (at - lead) % len(cluster) == 0 or at <= lead


def test_a_character_longer_than_the_room_is_cut_rather_than_stuck() -> None:
    assert windows.cut("e" + "\u0301" * 500, 10) == 10


words = st.text(alphabet="ab \n\u0301👨‍👩🇩", max_size=60)
items = st.builds(
    item,
    words,
    role=st.sampled_from([Role.USER, Role.USER, Role.ASSISTANT, Role.TOOL, Role.SUMMARY]),
    branch=st.sampled_from([MAIN, EXPERIMENT]),
)


@given(st.lists(items, max_size=14), st.integers(1, 4), st.integers(1, 70))
def test_windows_cover_everything_exactly_once_and_end(said: list[Item], turns: int, characters: int) -> None:
    session = transcript(*said)

    for branch in (MAIN, EXPERIMENT):
        found = every_window(session, branch, turns=turns, characters=characters)

        seen: dict[str, str] = {}
        for section in (section for one in found for section in one.sections):
            seen[section.item] = seen.get(section.item, "") + section.text
        mine = [one for one in session.items if one.branch == branch]
        wanted = {one.id: windows.sanitise(one.text) for one in mine}
        assert {key: text.rstrip() for key, text in seen.items()} == {
            key: text.rstrip() for key, text in wanted.items() if text.strip()
        }
        assert list(seen) == [one.id for one in mine if one.id in seen]
        for one in found:
            assert one.characters <= characters
            assert one.turns <= turns


@given(st.lists(items, max_size=10), st.integers(1, 70))
def test_a_position_moves_only_through_what_was_in_the_window(said: list[Item], characters: int) -> None:
    session = transcript(*said)
    order = [one.id for one in session.items]

    for one in every_window(session, characters=characters):
        assert one.last.item == one.sections[-1].item
        assert order.index(one.first.item) <= order.index(one.last.item)
        assert one.sections[0].item == one.first.item


def test_a_reviewer_that_stopped_early_leaves_the_rest_for_the_next_window() -> None:
    said = transcript("one", answer("fine"), "two", "three")
    whole = build(said)
    assert whole is not None

    part = windows.until(whole, "e2")

    assert texts(part) == ["one", "fine"]
    assert (part.last, part.turns, part.characters) == (Position("i2"), 1, 7)
    assert texts(build(said, part.last)) == ["two", "three"]
    assert windows.until(whole, "e4") == whole


def test_stopping_at_the_split_end_of_a_window_keeps_its_offset() -> None:
    whole = build(transcript("x" * 50), characters=20)
    assert whole is not None

    assert windows.until(whole, "e1").last == Position("i1", 20)


def test_a_label_that_is_not_in_the_window_is_no_place_to_stop() -> None:
    whole = build(transcript("one"))
    assert whole is not None

    with pytest.raises(KeyError):
        windows.until(replace(whole), "e9")
