"""A branch as one document, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import Category, Entry, EntryId, Importance
from noforgetti.policy.document import DocumentError, parse, render

TEXT = (
    st.text(
        st.characters(
            codec="utf-8", exclude_characters="\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", exclude_categories=["Cs", "Cc"]
        )
        | st.just("\n"),
        min_size=1,
    )
    .map(str.strip)
    .filter(bool)
)


@st.composite
def entries(draw: st.DrawFn) -> list[Entry]:
    """Entries with texts that no comment swallows."""
    ids = draw(st.lists(st.from_regex(r"[a-z0-9-]{3,12}", fullmatch=True), unique=True, max_size=5))
    return [
        Entry(
            EntryId(one),
            draw(TEXT.filter(lambda text: "<!--" not in text)),
            draw(st.sampled_from(Category)),
            draw(st.sampled_from(Importance)),
            pinned=draw(st.booleans()),
        )
        for one in ids
    ]


@given(entries())
def test_what_is_rendered_reads_back_as_the_same_entries(found: list[Entry]) -> None:
    lines = parse(render(found, preface="one line"))

    assert {(line.id, line.text.strip(), line.category, line.importance, line.pinned) for line in lines} == {
        (
            one.id,
            "\n".join(part.rstrip() for part in one.text.split("\n")).strip(),
            one.category,
            one.importance,
            one.pinned,
        )
        for one in found
    }


def test_a_bullet_without_an_id_is_a_new_entry() -> None:
    (line,) = parse("# Decisions\n- Money is integer cents. *(high)*\n")

    assert (line.id, line.text.strip(), line.category, line.importance) == (
        None,
        "Money is integer cents.",
        Category.DECISION,
        Importance.HIGH,
    )


def test_indented_lines_belong_to_their_bullet() -> None:
    (line,) = parse("# Lessons\n- First\n  second\n\n  third\n")

    assert line.text.strip() == "First\nsecond\n\nthird"


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ("- before any heading\n", 1),
        ("# Lessons\n- fine\nstray words\n", 3),
        ("# Nonsense\n", 1),
        ("# Lessons\n- a [x-1]\n- b [x-1]\n", 3),
        ("<!-- a\ncomment -->\n# Lessons\nstray\n", 4),
    ],
)
def test_a_slip_of_the_editor_is_an_error_with_its_line_and_never_a_removal(document: str, line: int) -> None:
    with pytest.raises(DocumentError) as slip:
        parse(document)

    assert slip.value.line == line


def test_for_reading_the_ids_can_be_left_out() -> None:
    assert render([Entry(EntryId("x-1"), "One fact.", pinned=True)], ids=False) == "# Lessons\n- One fact. *(pinned)*\n"
