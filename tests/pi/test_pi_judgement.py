"""What may become a memory, through the agent's tools in real Pi; only the model is scripted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sentences import CASES, Case

from .scripted_model import Reply, text_of
from .test_main_job import memory, texts

if TYPE_CHECKING:
    from .lab import Lab

pytestmark = pytest.mark.pi


def add(text: str, **more: Any) -> Reply:
    return Reply(tool="project_memory", arguments={"action": "add", "content": text, **more})


def forget(text: str) -> Reply:
    return Reply(tool="memory_forget", arguments={"id": text})


def calls(case: Case) -> list[Reply]:
    """One case as the agent's calls: what is there, the sentence, and everything taken out again."""
    before = [text.lstrip("!") for text in case.before]
    pins = [text.startswith("!") for text in case.before]
    held = [*before, case.text] if case.outcome == "added" else before
    return [*(add(text, **({"pinned": True} if pin else {})) for text, pin in zip(before, pins, strict=True)),
            add(case.text), *map(forget, held)]  # fmt: skip


SAYS = {"added": "Added `", "duplicate": "says exactly that already", "reinforced": "says that already"}


def test_every_sentence_becomes_what_it_should_through_the_agents_tool(lab: Lab) -> None:
    lab.model.reply(*(reply for case in CASES for reply in calls(case)), Reply("all said"))
    with lab.rpc() as pi:
        pi.ask("Say them all.", timeout=90)

    answers = [text_of(one) for one in lab.model.requests[-1]["messages"] if one["role"] == "tool"]
    assert len(answers) == sum(len(calls(case)) for case in CASES)
    wrong = []
    for case in CASES:
        steps = len(calls(case))
        answer, answers = answers[len(case.before)], answers[steps:]
        said = SAYS.get(case.outcome, "Nothing was written." if case.before else "nothing was written")
        if said not in answer:
            wrong.append((case.text, case.outcome, answer))
    assert wrong == []
    assert texts(lab) == []


def test_a_confirmed_override_supersedes_and_the_commit_says_what_replaced_what(lab: Lab) -> None:
    lab.model.reply(
        add("Always publish to npm."),
        add("Never publish to npm."),
        Reply(
            tool="memory_remember",
            arguments={"type": "lesson", "rule": "Never publish to npm.", "overrideConflicts": True},
        ),
        Reply("done"),
    )
    with lab.rpc() as pi:
        pi.ask("Publishing changed.")

    refused = [text_of(one) for one in lab.model.requests[-1]["messages"] if one["role"] == "tool"][1]
    assert "Always publish to npm." in refused
    assert "ask the user" in refused
    assert texts(lab) == ["Never publish to npm."]
    commit = memory(lab, "log")["commits"][0]
    (entry,) = memory(lab, "show")["entries"]
    assert commit["trailers"]["Supersedes"] == f"{entry['id']} {entry['supersedes'][0]}"
    assert (commit["author"], commit["trailers"]["Session"] != "") == ("agent", True)


def test_a_fact_is_remembered_again_under_its_key_and_forgotten_by_it(lab: Lab) -> None:
    def fact(value: str) -> Reply:
        return Reply(tool="memory_remember", arguments={"type": "fact", "key": "pref.commit_style", "value": value})

    lab.model.reply(fact("gitmoji"), fact("conventional commits"), Reply("done"))
    with lab.rpc() as pi:
        pi.ask("About commits.")
        shown = texts(lab)
        lab.model.reply(Reply(tool="memory_forget", arguments={"type": "fact", "key": "pref.commit_style"}))
        pi.ask("Forget that.")

    assert shown == ["conventional commits"]
    assert texts(lab) == []
    assert [one["kind"] for one in memory(lab, "log")["commits"]] == ["write"] * 3
