"""Entry files: total on every sequence of bytes, and round-tripping to the byte."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import (
    BlobId,
    Category,
    Cue,
    Damaged,
    Entry,
    EntryId,
    Importance,
    Scope,
    Writer,
)
from noforgetti.policy.text import normalise
from noforgetti.store.codec import FILE_LIMIT, decode, encode, entry_path, path_of

from .builders import entry

GOLDEN = Path(__file__).parent / "golden"
BLOB = BlobId("0" * 40)
EVERYTHING = Entry(
    id=EntryId("pnpm-check-k3xq"),
    text="Run `pnpm check` before `pnpm test`.\n\nThe second line stays: 中文, café, 👩‍👩‍👧.",
    category=Category.DECISION,
    importance=Importance.HIGH,
    assessed="2026-11-30T08:15:00Z",
    pinned=True,
    key="build order",
    cue=Cue.RECURRENCE,
    negative=True,
    archived=True,
    tags=("build", 'with "quotes"', "中文"),
    confidence=0.25,
    rule='{"command": "pnpm test", "action": "warn"}',
    created="2026-11-29T23:59:59Z",
    writer=Writer.REVIEW,
    session="0192f1c2-aaaa",
    supersedes=(EntryId("older-aaaa"), EntryId("older-bbbb")),
    derived=(EntryId("source-cccc"),),
    informs=("release checklist",),
    origin="claude-code:memory/build.md#order@0a1b2c3d",
    scope=Scope.TASK,
    task="release-2",
    expires="2026-12-31T00:00:00Z",
    extra=("scope: team", "# a remark", "weight : 3 "),
)

_characters = st.characters(codec="utf-8")  # half a character is no text: see EXTRA
_stored = st.characters(codec="utf-8", exclude_characters="\0")
one_line = st.text(_characters, min_size=1, max_size=40)
stored_texts = st.text(_stored).map(normalise).filter(bool)
ids = st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True)
entries = st.builds(
    Entry,
    id=ids.map(EntryId),
    text=stored_texts,
    category=st.sampled_from(Category),
    importance=st.sampled_from(Importance),
    assessed=st.just("") | one_line,
    pinned=st.booleans(),
    key=st.just("") | one_line,
    cue=st.sampled_from(Cue),
    negative=st.booleans(),
    archived=st.booleans(),
    tags=st.lists(st.text(_characters), max_size=3).map(tuple),
    confidence=st.none() | st.floats(0, 1),
    rule=st.just("") | st.dictionaries(one_line, st.integers(), max_size=2).map(json.dumps),
    created=st.just("") | one_line,
    writer=st.sampled_from(Writer),
    session=st.just("") | one_line,
    supersedes=st.lists(ids.map(EntryId), max_size=3).map(tuple),
    derived=st.lists(ids.map(EntryId), max_size=3).map(tuple),
    scope=st.sampled_from(Scope),
)


def read(data: bytes, path: str = "lessons/a.md") -> Entry | Damaged:
    return decode(path, data, BLOB)


@given(entries)
def test_an_entry_reads_back_as_it_was_written(one: Entry) -> None:
    assert decode(path_of(one), encode(one), BLOB) == one


@given(entries)
def test_equal_entries_are_equal_bytes(one: Entry) -> None:
    assert encode(replace(one)) == encode(one)
    again = decode(path_of(one), encode(one), BLOB)
    assert isinstance(again, Entry)
    assert encode(again) == encode(one)


@given(st.binary() | st.binary().map(lambda data: b"---\n" + data + b"\n---\n\ntext"))
def test_every_sequence_of_bytes_is_an_entry_or_damage(data: bytes) -> None:
    found = read(data)

    if isinstance(found, Entry):
        assert found.text == unicodedata.normalize("NFC", found.text).strip() != ""
        assert read(encode(found)) == found
    else:
        assert found.reason


@given(st.text(max_size=30), st.binary(max_size=10))
def test_every_path_is_answered(path: str, data: bytes) -> None:
    assert isinstance(decode(path, data, BLOB), Entry | Damaged)


def test_an_entry_with_everything_has_the_golden_bytes() -> None:
    assert encode(EVERYTHING) == (GOLDEN / "everything-1.md").read_bytes()
    assert decode("decisions/pnpm-check-k3xq.md", (GOLDEN / "everything-1.md").read_bytes(), BLOB) == EVERYTHING


def test_an_entry_without_anything_has_the_golden_bytes() -> None:
    assert encode(entry("Use tabs.")) == (GOLDEN / "plain-1.md").read_bytes()


def test_the_golden_entry_leaves_no_field_at_its_default() -> None:
    plain = entry("Use tabs.")
    assert [one.name for one in fields(Entry) if getattr(plain, one.name) == getattr(EVERYTHING, one.name)] == []


EXTRA = [
    r'key: "\ud800"',  # half a character could never be printed or written again
    r'tags: ["ok", "\udfff"]',
    "weight: 3",
    "importance: colossal",
    "pinned: maybe",
    "confidence: 1.5",
    "confidence: nan",
    "tags: not a list",
    "tags: [1, 2]",
    "rule: [1]",
    "writer: robot",
    "cue:explicitly",
    "no colon at all",
    "  indented: yes",
    "key: ",
    "trailing blanks:   ",
]


@pytest.mark.parametrize("line", EXTRA)
def test_a_line_that_this_version_does_not_understand_is_kept_to_the_byte(line: str) -> None:
    data = f"---\npinned: yes\n{line}\n---\n\nUse tabs.\n".encode()

    found = read(data)

    assert found == entry("Use tabs.", "a", pinned=True, extra=(line,))
    assert isinstance(found, Entry)
    assert encode(found) == data


def test_a_key_that_comes_twice_counts_once_and_is_kept() -> None:
    found = read(b"---\nimportance: high\nimportance: low\n---\n\nUse tabs.\n")

    assert found == entry("Use tabs.", "a", importance=Importance.HIGH, extra=("importance: low",))


DAMAGE = [
    (b"\xff\xfe no", "is not UTF-8 at byte 0"),
    (b"Use t\xe4bs.", "is not UTF-8 at byte 5"),
    (b"Use\0tabs.", "holds a NUL character"),
    (b"\0" * 512, "holds a NUL character"),
    (b"", "has no text"),
    (b" \n\t\n", "has no text"),
    (b"---\npinned: yes\n---\n\n \n", "has no text"),
    (b"---\npinned: yes\nUse tabs.\n", "has front matter without an end"),
    (b"---\n", "has front matter without an end"),
    (b"a" * (300 * 1024), "is 307,200 bytes long, more than 262,144"),
]


@pytest.mark.parametrize(("data", "reason"), DAMAGE)
def test_damaged_bytes_are_named(data: bytes, reason: str) -> None:
    assert read(data) == Damaged("lessons/a.md", BLOB, reason)


READABLE = [
    (b"Use tabs.", entry("Use tabs.", "a")),
    (b"\xef\xbb\xbfUse tabs.\n", entry("Use tabs.", "a")),
    (b"\xef\xbb\xbf---\npinned: yes\n---\n\nUse tabs.\n", entry("Use tabs.", "a", pinned=True)),
    (b"---\r\npinned: yes\r\n---\r\n\r\nUse tabs.\r\nAlways.\r\n", entry("Use tabs.\nAlways.", "a", pinned=True)),
    (b"---\n---\n\nUse tabs.\n", entry("Use tabs.", "a")),
    (b"---\n---\nUse\n---\ntabs.\n", entry("Use\n---\ntabs.", "a")),
    ("Cafe\N{COMBINING ACUTE ACCENT}".encode(), entry("Café", "a")),
    (b"a" * FILE_LIMIT, entry("a" * FILE_LIMIT, "a")),
]


@pytest.mark.parametrize(("data", "wanted"), READABLE)
def test_what_an_editor_may_leave_behind_is_read(data: bytes, wanted: Entry) -> None:
    assert read(data) == wanted


PLACES = [
    ("lessons/a.md", (Category.LESSON, "a")),
    ("completions/a.md", (Category.DONE, "a")),
    ("lessons/a.txt", None),
    ("lessons/deep/a.md", None),
    ("a.md", None),
    ("skills/a.md", None),
    ("lessons/", None),
    ("../lessons/a.md", None),
]


@pytest.mark.parametrize(("path", "place"), PLACES)
def test_only_markdown_right_below_a_folder_of_entries_is_an_entry(
    path: str, place: tuple[Category, str] | None
) -> None:
    assert entry_path(path) == place


@pytest.mark.parametrize("name", ["..", "a b", "é", "a" * 129, ""])
def test_a_file_name_that_is_no_entry_id_is_damage(name: str) -> None:
    path = f"lessons/{name}.md"
    assert decode(path, b"Use tabs.", BLOB) == Damaged(path, BLOB, "has a name that is no entry id")
