"""How far entries reach: the user-wide memory in every project, a session's entries in that session alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store.builders import Clock, git, opened

from noforgetti.model.entry import MAIN, Scope
from noforgetti.service import scoped, writes
from noforgetti.service.recalling import Question, Recalled
from noforgetti.service.turns import Turns
from noforgetti.service.views import shown_view
from noforgetti.service.writes import Traits

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.service.memory import Memory


def nothing(_: Question) -> Recalled:
    return Recalled()


def told(memory: Memory, session: str = "s1") -> str:
    return Turns(memory, nothing).start(MAIN, "What do you know?", session).inject.get("section", "")


def other_project(project: Path, home: Path, clock: Clock) -> Memory:
    """Another project whose folder has the same name."""
    folder = project.parent / "elsewhere" / project.name
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    return opened(folder, home, clock)


def test_who_the_user_is_is_told_in_every_project_and_a_projects_facts_in_none_other(
    project: Path, home: Path, memory: Memory, clock: Clock
) -> None:
    writes.add(memory, MAIN, "US/Pacific", Traits(key="user.timezone"))
    writes.add(memory, MAIN, "The API package owns request validation.")
    other = other_project(project, home, clock)

    assert "## About the user, in every project\n- [preference] timezone: US/Pacific" in told(memory)
    assert "## About the user, in every project\n- [preference] timezone: US/Pacific" in told(other)
    assert "request validation" in told(memory)
    assert "request validation" not in told(other)


def test_the_section_keeps_its_bytes_until_one_of_the_memories_changes(memory: Memory) -> None:
    writes.add(memory, MAIN, "The API package owns request validation.")
    turns = Turns(memory, nothing)
    first = turns.start(MAIN, "a question", "s1").inject["section"]

    assert turns.start(MAIN, "another question", "s1").inject["section"] == first
    writes.add(memory, MAIN, "US/Pacific", Traits(key="user.timezone"))
    assert turns.start(MAIN, "a third question", "s1").inject["section"] != first


def test_a_sessions_entry_is_told_in_that_session_until_its_time_is_up(memory: Memory, clock: Clock) -> None:
    done = writes.add(memory, MAIN, "For this report, use landscape pages.", Traits(scope=Scope.SESSION), session="s1")

    assert done.outcome == "added", done
    assert "## For this session or task\n- [lesson] For this report, use landscape pages." in told(memory, "s1")
    assert "landscape" not in told(memory, "s2")
    assert memory.head(MAIN) is None
    clock.tick(24 * 3_600 + 1)
    assert "landscape" not in told(memory, "s1")
    assert scoped.prune(memory, MAIN) == 1


@pytest.mark.parametrize("text", ["You can merge this PR.", "When done, I want an html report."])
def test_what_is_meant_for_once_may_be_kept_for_the_session(memory: Memory, text: str) -> None:
    assert writes.add(memory, MAIN, text, session="s1").outcome == "refused"
    assert writes.add(memory, MAIN, text, Traits(scope=Scope.SESSION), session="s1").outcome == "added"


def test_a_tasks_entry_is_told_in_every_session_and_shown(memory: Memory) -> None:
    writes.add(memory, MAIN, "Keep the old endpoint working.", Traits(scope=Scope.TASK, task="port-api"))

    assert "Keep the old endpoint working." in told(memory, "s2")
    shown = shown_view(memory, MAIN, memory.snapshot(MAIN))
    assert [(one["text"], one["task"]) for one in shown["scoped"]] == [("Keep the old endpoint working.", "port-api")]
    assert writes.remove(memory, MAIN, "old endpoint").outcome == "removed"
    assert told(memory, "s2") == ""


def test_the_users_section_keeps_within_its_room(memory: Memory) -> None:
    for number in range(40):
        writes.add(memory, MAIN, f"value number {number} " + "x" * 40, Traits(key=f"user.fact{number}"))

    section = told(memory)

    assert section.startswith("Memory of this project")
    assert 0 < section.count("- [preference] fact") < 20
