"""One chain of guards: the same sentences, through the command line, the agent's tool and automatic review."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from review.builders import Scripted
from sentences import CASES, Case
from service.said import Session, learns, proposal
from store.builders import opened

from noforgetti.faces.bridge.tools import project_memory
from noforgetti.model.entry import MAIN, Writer
from noforgetti.policy.verdict import Rule
from noforgetti.service import signals, writes
from noforgetti.service.reviews import review
from noforgetti.service.writes import Traits

if TYPE_CHECKING:
    from pathlib import Path

    from faces.conftest import CommandLine
    from noforgetti.service.memory import Memory

NAMED = [pytest.param(case, id=f"{case.text} ({case.outcome})") for case in CASES]


def prepared(memory: Memory, case: Case) -> Memory:
    for text in case.before:
        done = writes.add(memory, MAIN, text.lstrip("!"), Traits(pinned=text.startswith("!") or None))
        assert done.outcome == "added", (text, done)
    return memory


def held(memory: Memory) -> list[str]:
    return sorted(entry.text for entry in memory.snapshot(MAIN))


def expected(case: Case) -> list[str]:
    kept = [text.lstrip("!") for text in case.before]
    return sorted([*kept, case.text] if case.outcome == "added" else kept)


@pytest.mark.parametrize("case", NAMED)
def test_through_the_command_line(nf: CommandLine, case: Case) -> None:
    memory = prepared(opened(nf.project, nf.home), case)

    done = nf.json("add", case.text)

    assert (done["outcome"], done["rule"] or "") == (case.outcome, case.rule)
    assert held(memory) == expected(case)


@pytest.mark.parametrize("case", NAMED)
def test_through_the_agents_tool(memory: Memory, case: Case) -> None:
    prepared(memory, case)

    done = project_memory(memory, MAIN, {"action": "add", "content": case.text}, "s1").details

    assert (done["outcome"], done["rule"] or "") == (case.outcome, case.rule)
    assert held(memory) == expected(case)


@pytest.mark.parametrize("case", NAMED)
def test_through_automatic_review(memory: Memory, tmp_path: Path, case: Case) -> None:
    prepared(memory, case)
    session = Session(tmp_path / "s1.jsonl").say("Please keep in mind what I tell you.")

    done = review(memory, MAIN, session.read(), Scripted([proposal(learns(case.text))]), forced=True)

    rule = {"duplicate": "duplicate", "reinforced": "duplicate"}.get(case.outcome, case.rule)
    assert done.result is not None
    assert [one.refusal.rule for one in done.result.refused] == ([Rule(rule)] if rule else [])
    assert held(memory) == expected(case)
    if case.outcome in ("duplicate", "reinforced"):
        (entry,) = memory.snapshot(MAIN)
        assert signals.read(memory, MAIN).by_id[entry.id].evidence == 2


@pytest.mark.parametrize("by", [Writer.USER, Writer.AGENT])
def test_every_refusal_names_its_rule_and_what_set_it_off(memory: Memory, by: Writer) -> None:
    for case in CASES:
        if case.outcome == "refused" and not case.before:
            done = writes.add(memory, MAIN, case.text, writer=by)
            assert done.refusal is not None
            assert done.refusal.quote.casefold() in case.text.casefold()
            assert f"`{done.refusal.quote}`" in done.refusal.message
            assert done.refusal.hint
