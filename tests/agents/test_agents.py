"""Real agent programs from npm against a scripted model: what one session leaves, the next one is told."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from npm_packages import ToolsMissingError, required

from noforgetti.model.sentinels import BEGIN

from .lab import Lab
from .scripted import Call, Scripted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]

FACT = "Use pnpm, never npm."
CODEX, OPENCODE = (pytest.param(name, marks=pytest.mark.slow) for name in ("codex", "opencode"))  # 750 MB to install
BY_TOOL = ("gemini", OPENCODE)  # codex and Claude Code hide tools until their model looks for them
BY_ITSELF = ("claude-code", CODEX)  # programs that review a session of their own
BY_HOOKS = ("claude-code", "gemini", CODEX)  # a run of OpenCode ends before its plugin's review does


@pytest.fixture
def model() -> Iterator[Scripted]:
    with Scripted() as model:
        yield model


@pytest.fixture
def make_lab(tmp_path: Path, model: Scripted) -> Iterator[Callable[[str], Lab]]:
    """A lab of a program, by its name; skips where it cannot be had, unless `CI` is set."""
    made = []

    def make(agent: str) -> Lab:
        try:
            made.append(Lab(tmp_path, agent, model))
        except ToolsMissingError as missing:
            if required():
                raise
            pytest.skip(str(missing))
        return made[-1]

    yield make
    for lab in made:
        lab.end()


def _texts(lab: Lab) -> list[str]:
    return [one["text"] for one in lab.cli("show")["entries"]]


def _learned(lab: Lab, *, but: int = 0) -> list[str]:
    """What is remembered once the worker that the session's end started is done: more than so many entries."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        review = lab.cli("status")["review"]
        if len(_texts(lab)) > but and review.get("turns") == 0 and review["last"]:
            break
        time.sleep(0.3)
    return _texts(lab)


def _files(lab: Lab) -> dict[str, bytes]:
    """The program's own settings, as the user wrote them."""
    return {name: (lab.home / name).read_bytes() for name in lab.written}


@pytest.mark.parametrize("agent", BY_HOOKS)
def test_what_a_session_learns_is_in_the_next_sessions_request(
    agent: str, make_lab: Callable[[str], Lab], model: Scripted
) -> None:
    lab = make_lab(agent)
    before = _files(lab)
    lab.install()

    lab.run("Remember that we always use pnpm here, never npm.")
    learned = _learned(lab)
    first = len(model.requests)
    lab.run("How do I install things?")

    assert learned
    assert any(learned[0] in request.text for request in model.requests[first:])
    assert all(BEGIN not in text for text in _texts(lab))
    lab.uninstall()
    assert _files(lab) == before


@pytest.mark.parametrize("agent", BY_TOOL)
def test_what_the_model_stores_by_a_tool_is_in_the_next_sessions_request(
    agent: str, make_lab: Callable[[str], Lab], model: Scripted
) -> None:
    model.when("Remember that", Call("memory_add", {"text": FACT, "importance": "high"}))
    lab = make_lab(agent)
    lab.install()

    lab.run("Remember that.")
    stored = {one["text"]: one for one in lab.cli("show")["entries"]}
    first = len(model.requests)
    lab.run("How do I install things?")

    assert (stored[FACT]["writer"], stored[FACT]["importance"]) == ("agent", "high")
    assert any(FACT in request.text for request in model.requests[first:])


@pytest.mark.slow
def test_clines_command_line_is_reviewed_and_has_the_tools(make_lab: Callable[[str], Lab], model: Scripted) -> None:
    lab = make_lab("cline")
    lab.install()

    lab.run("Remember that we always use pnpm here, never npm.")
    learned = _learned(lab)
    model.when("Store it", Call("memory_add", {"text": "Deploys are on Mondays.", "importance": "high"}))
    lab.run("Store it.")

    assert any("pnpm" in text for text in learned)
    assert {one["text"]: one["writer"] for one in lab.cli("show")["entries"]}["Deploys are on Mondays."] == "agent"
    lab.uninstall()
    left = [path for path in (lab.home / ".cline").rglob("*") if path.parent.name in ("hooks", "settings")]
    assert [path.name for path in left] == ["providers.json"]


@pytest.mark.parametrize("agent", BY_ITSELF)
def test_a_program_that_reviews_its_own_session_is_told_no_memory_and_is_not_reviewed(
    agent: str, make_lab: Callable[[str], Lab], model: Scripted
) -> None:
    lab = make_lab(agent)
    lab.install()
    lab.offer()
    lab.cli("add", "Deploys are on Mondays.")
    proposed = {"action": "add", "content": FACT, "importance": "high", "category": "preference", "evidence": ["e1"]}
    model.when('"operations"', json.dumps({"operations": [proposed]}))

    lab.run("Remember that we always use pnpm here, never npm.")
    learned = _learned(lab, but=1)
    asked = [request for request in model.requests if '"operations"' in request.last]
    others = [request for request in model.requests if '"operations"' not in request.last]
    review = lab.cli("status")["review"]

    assert sorted(learned) == ["Deploys are on Mondays.", FACT]
    assert (review["last"]["reviewer"], review["last"]["outcome"], review["turns"]) == (agent, "applied", 0)
    assert any(BEGIN in request.text for request in others)
    assert [BEGIN in request.text for request in asked] == [False]
