"""Topic files and their index. The hashes are what the architecture's program computes (Node 22)."""

from __future__ import annotations

import pytest
from store.builders import entry

from noforgetti.model.entry import Category
from noforgetti.policy import topics

HASHES = [("- [lesson] Never git add .", "04fe8168"), ("- [lesson] 回复 😀", "5e4b3b08"), ("", "811c9dc5")]


@pytest.mark.parametrize(("line", "key"), HASHES)
def test_the_hash_of_a_line_is_the_architectures(line: str, key: str) -> None:
    assert topics.digest(line) == key


LINES = [
    (entry("Use tabs."), "- [lesson] Use tabs."),
    (entry("Two\n  lines\there.", pinned=True, category=Category.DONE), "- [done] Two lines here. *(pinned)*"),
    (entry("Both.", pinned=True, rule='{"verifier": "x"}'), "- [lesson] Both. *(pinned)* *(enforced)*"),
]


@pytest.mark.parametrize(("one", "line"), LINES, ids=[line for _, line in LINES])
def test_an_entry_is_one_line_with_its_marks_in_order(one: object, line: str) -> None:
    assert topics.line(one) == line  # type: ignore[arg-type]


def test_two_entries_with_one_line_both_have_a_record() -> None:
    found = topics.scores([entry("a b", "one-aaaa"), entry("a\nb", "two-bbbb")], {}, 0.0)

    assert '"one-aaaa"' in topics.index(found, {}, "")
    assert '"two-bbbb"' in topics.index(found, {}, "")
    assert [key for key, _ in found] == [topics.digest("- [lesson] a b")] * 2


def test_every_file_has_a_name_that_is_known_again_and_no_other_name_is() -> None:
    made = topics.files(
        entry("x" * 9_000, f"{one}-{n}", category=one, archived=n > 2) for one in Category for n in range(4)
    )

    assert len(made) == 4 * len(Category)
    assert all(topics.is_name(one) for one in made)
    others = ("topics/README.md", "topics/lessons", "topics/lessons-0.md", "lessons.md", "topics/archive/../lessons.md")
    assert not any(topics.is_name(one) for one in others)
