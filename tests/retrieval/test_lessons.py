"""Which lessons a prompt brings in, and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import Entry, EntryId
from noforgetti.retrieval.lessons import KEYWORDS, inferred, selective


def lesson(own: str, *tags: str, text: str = "") -> Entry:
    return Entry(EntryId(own), text or f"Text of {own}.", tags=tags)


def chosen(lessons: list[Entry], prompt: str = "", hits: tuple[str, ...] = (), project: str = "") -> list[str]:
    return [str(one.entry.id) for one in selective(lessons, prompt, hits=map(EntryId, hits), project=project)]


def test_order_is_prompt_then_project_then_category_then_general_each_lesson_once() -> None:
    lessons = [
        lesson("general"),
        lesson("tagged", "Security"),
        lesson("of-project", "other", text="In rosie the API is versioned."),
        lesson("found", "other"),
        lesson("unrelated", "other"),
    ]

    found = selective(lessons, "pentest the login", hits=[EntryId("found")], project="rosie")

    assert [(one.entry.id, one.why) for one in found] == [
        ("found", "found by the prompt"),
        ("of-project", "names the project `rosie`"),
        ("tagged", "the prompt says `pentest`, its tag is `Security`"),
        ("general", "general"),
    ]
    assert chosen(lessons, "pentest", ("tagged", "general", "tagged"), "rosie") == ["tagged", "general", "of-project"]


def test_at_most_fifteen_are_chosen_and_hits_come_in_their_order() -> None:
    lessons = [lesson(f"l{n:02}") for n in range(30)]
    hits = tuple(f"l{n:02}" for n in range(29, -1, -1))

    assert chosen(lessons, hits=hits) == list(hits[:15])
    assert chosen(lessons, hits=("l29", "gone", "l03")) == ["l29", "l03", *(f"l{n:02}" for n in range(10) if n != 3)]


def test_five_of_the_project_and_ten_general_ones() -> None:
    named = [lesson(f"p{n}", "rosie") for n in range(8)]
    general = [lesson(f"g{n:02}", *(("general",) if n % 2 else ())) for n in range(14)]

    assert chosen([*general, *named], project="rosie") == [
        *(f"p{n}" for n in range(5)),
        *(f"g{n:02}" for n in range(10)),
    ]


@pytest.mark.parametrize(
    ("project", "text", "named"),
    [
        ("rosie", "Rosie uses Dagger.", True),
        ("rosie", "In ROSIE-api all is versioned.", True),
        ("rosie", "Prosie is another project.", False),
        ("my-app", "my_app starts slowly.", True),
        ("my-app", "My app starts slowly.", True),
        ("my-app", "myapp starts slowly.", False),
        ("a.b*", "the a.b* project", True),
        ("a.b*", "the axbb project", False),
        ("库存", "这个库存服务很慢", True),
        ("a", "a lesson", False),
        ("", "Anything.", False),
        (" - ", "Anything - else.", False),
    ],
)
def test_a_lesson_names_the_project_as_a_word(project: str, text: str, named: bool) -> None:
    assert bool(chosen([lesson("one", "other", text=text)], project=project)) is named


@pytest.mark.parametrize(
    ("prompt", "tags"),
    [
        ("Run a pentest", {"bug-bounty", "security"}),
        ("is it vulnerable to CVE-2024-1?", {"bug-bounty", "security"}),
        ("Write a blog  post", {"writing"}),
        ("deployments are slow", {"deploy", "release"}),
        ("the flaky tests", {"testing"}),
        ("update the README", {"docs", "wiki-edit"}),
        ("append to the daily note", {"vault"}),
        ("写一个test吧", {"testing"}),
        ("a css component", {"frontend"}),
        ("write a SQL migration", {"database"}),
        ("the Docker image", {"containers"}),
        ("rebase this branch", {"git"}),
        ("the latest contest", set()),
        ("", set()),
    ],
)
def test_tags_inferred_from_words_of_the_prompt(prompt: str, tags: set[str]) -> None:
    assert set(inferred(prompt, ())) == tags


def test_a_tag_that_is_a_word_of_the_prompt_is_meant() -> None:
    lessons = [lesson("one", "bug-bounty"), lesson("two", "Payments"), lesson("three", "pay"), lesson("four", "支付")]

    assert chosen(lessons, "the bug bounty for payments") == ["one", "two"]
    assert chosen(lessons, "修复支付页面") == ["four"]


def test_a_user_s_words_bring_in_their_tags() -> None:
    lessons = [lesson("one", "Legal"), lesson("two", "testing")]
    words = {**KEYWORDS, "gdpr": ("legal",), "  ": ("testing",), "(": ("testing",)}

    found = selective(lessons, "Is this GDPR-safe?", keywords=words)

    assert [(one.entry.id, one.why) for one in found] == [("one", "the prompt says `gdpr`, its tag is `Legal`")]


@given(
    st.lists(st.builds(Entry, st.text(max_size=3).map(EntryId), st.text(), tags=st.tuples(st.text(max_size=4)))),
    st.text(),
    st.text(max_size=5),
    st.lists(st.text(max_size=3).map(EntryId)),
)
def test_any_text_chooses_at_most_fifteen_each_once(
    lessons: list[Entry], prompt: str, project: str, hits: list[EntryId]
) -> None:
    found = [one.entry.id for one in selective(lessons, prompt, hits=hits, project=project)]

    assert len(found) == len(set(found)) <= 15
    assert set(found) <= {one.id for one in lessons}
