"""The agent's tools for facts and lessons, over the wire."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from .bridge_host import Host, hosting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host with one bridge."""
    with hosting(tmp_path) as made:
        made.start()
        yield made


def call(host: Host, tool: str, **arguments: Any) -> tuple[str, bool, dict[str, Any]]:
    answer = host.bridges[0].call("tool", name=tool, arguments=arguments, session=host.who, branch=None)
    plain = re.sub(r"commit [0-9a-f]{12}", "commit <short>", re.sub(r"-[a-z2-7]{4}`", "-<id>`", answer["text"]))
    return plain, answer["error"], answer["details"]


def remember(host: Host, **arguments: Any) -> dict[str, Any]:
    text, failed, details = call(host, "memory_remember", **arguments)
    assert not failed, text
    return details


def entries(host: Host) -> list[tuple[str, str, str]]:
    _, _, details = call(host, "project_memory", action="list")
    return [(one["category"], one["key"], one["text"]) for one in details["entries"]]


def test_a_fact_is_remembered_under_its_key_and_replaced_by_it(host: Host) -> None:
    first = remember(host, type="fact", key="pref.commit_style", value="conventional commits")
    again = remember(host, type="fact", key="pref.commit_style", value="gitmoji")

    assert (first["outcome"], again["outcome"], again["entry"]["id"]) == ("added", "replaced", first["entry"]["id"])
    assert entries(host) == [("preference", "pref.commit_style", "gitmoji")]


def test_a_lesson_has_its_tag_and_its_sign(host: Host) -> None:
    done = remember(host, type="lesson", rule="use echo >> for vault notes", category="Vault", negative=True)

    entry = done["entry"]
    assert (entry["category"], entry["tags"], entry["negative"]) == ("lesson", ["vault"], True)


def test_a_value_wrapped_in_quotes_is_unwrapped(host: Host) -> None:
    assert remember(host, type="fact", key='"tool.sed"', value='"daily notes"')["entry"]["text"] == "daily notes"


def test_who_the_user_is_goes_to_the_user_wide_memory(host: Host) -> None:
    done = remember(host, type="fact", key="user.timezone", value="US/Pacific")

    assert (done["scope"], entries(host)) == ("user", [])


def test_what_is_forgotten_is_named_by_its_key_or_id(host: Host) -> None:
    remember(host, type="fact", key="tool.sed", value="for daily notes")
    lesson = remember(host, type="lesson", rule="Quote paths with blanks.")["entry"]["id"]

    assert call(host, "memory_forget", type="fact", key="tool.sed")[2]["outcome"] == "removed"
    assert call(host, "memory_forget", type="lesson", id=lesson[:-1])[2]["outcome"] == "removed"
    assert entries(host) == []


def test_a_contradiction_is_refused_until_the_user_confirmed(host: Host) -> None:
    old = remember(host, type="lesson", rule="Always publish to npm.")["entry"]["id"]

    text, failed, details = call(host, "memory_remember", type="lesson", rule="Never publish to npm.")
    assert failed
    assert "ask the user" in text
    assert (details["rule"], [one["id"] for one in details["conflicts"]]) == ("contradiction", [old])
    done = remember(host, type="lesson", rule="Never publish to npm.", overrideConflicts=True)
    assert [one["id"] for one in done["superseded"]] == [old]


def test_an_edit_says_where_an_entry_comes_from(host: Host) -> None:
    one = remember(host, type="lesson", rule="Routes live in api/.")["entry"]["id"]
    other = remember(host, type="lesson", rule="The gateway speaks gRPC.")["entry"]["id"]

    text, failed, details = call(
        host, "memory_edit", id=one, derivedFrom=[other], informs=["release checklist"], sourceSession="0192"
    )

    assert not failed, text
    entry = details["entry"]
    assert (entry["derived"], entry["informs"], entry["session"]) == ([other], ["release checklist"], "0192")


def test_an_entry_is_invalidated_by_the_one_that_took_its_place(host: Host) -> None:
    one = remember(host, type="lesson", rule="The API is REST.")["entry"]["id"]
    other = remember(host, type="lesson", rule="The gateway speaks gRPC.")["entry"]["id"]

    assert call(host, "memory_edit", op="invalidate", id=one, supersededBy=other)[2]["outcome"] == "removed"
    _, _, listed = call(host, "project_memory", action="list")
    assert [(entry["id"], entry["supersedes"]) for entry in listed["entries"]] == [(other, [one])]


MISUSED = [
    ("memory_remember", {"type": "fact", "value": "x"}, "A fact needs `key`"),
    ("memory_remember", {"type": "fact", "key": "pref.x"}, "A fact needs `key`"),
    ("memory_remember", {"type": "lesson"}, "A lesson needs `rule`"),
    ("memory_remember", {"type": "song", "rule": "x"}, "`type` is 'song'; it must be fact or lesson."),
    ("memory_remember", {"type": "fact", "key": "pref x", "value": "long enough"}, "`pref x` is no key"),
    ("memory_remember", {"type": "lesson", "rule": "Quote paths.", "scope": "galaxy"}, "`scope` is 'galaxy'"),
    ("memory_remember", {"type": "lesson", "rule": "Quote paths.", "scope": "task"}, "needs the name of the task"),
    ("memory_forget", {"type": "fact"}, "Say what to forget"),
    ("memory_forget", {"key": "pref.none"}, "No entry matches `pref.none`."),
    ("memory_edit", {"op": "update"}, "`id` is missing"),
    ("memory_edit", {"op": "burn", "id": "x"}, "`op` is 'burn'; it must be update or invalidate."),
    ("memory_edit", {"id": "none-at-all", "newText": "Quote paths."}, "No entry matches `none-at-all`."),
]


@pytest.mark.parametrize(("tool", "arguments", "said"), MISUSED)
def test_a_call_that_cannot_be_meant_says_what_to_do(
    host: Host, tool: str, arguments: dict[str, Any], said: str
) -> None:
    text, failed, _ = call(host, tool, **arguments)

    assert failed
    assert said in text
    assert entries(host) == []
