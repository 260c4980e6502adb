"""Whatever happens to the bridge, the turn goes on: memory is missing, one notice says why."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from .scripted_model import Reply, text_of

if TYPE_CHECKING:
    from .conftest import MakeLab
    from .fake_bridge import FakeBridge
    from .lab import Lab

pytestmark = pytest.mark.pi

SICK: dict[str, dict[str, Any]] = {
    "dies at once": {"dies": ["hello"]},
    "dies at the turn": {"dies": ["turn/start"]},
    "never answers": {"silent": ["hello", "session/start", "turn/start", "turn/settled", "session/end"]},
    "prints garbage": {"raw": {"turn/start": "Traceback (most recent call last):"}},
    "prints a list": {"raw": {"turn/start": "[]"}},
    "answers somebody else": {"raw": {"turn/start": '{"jsonrpc": "2.0", "id": 9999, "result": {}}'}},
    "answers without a result": {"raw": {"turn/start": '{"jsonrpc": "2.0", "id": 3}'}},
    "prints a huge line": {"raw": {"turn/start": "x" * (17 * 1024 * 1024)}},
    "sends the wrong types": {"results": {"turn/start": {"branch": 7, "inject": [], "notices": "no", "status": 1}}},
}


@pytest.mark.parametrize("how", SICK)
def test_a_sick_bridge_costs_memory_but_no_turn(fake_lab: Lab, bridge: FakeBridge, how: str) -> None:
    fake_lab.limits(turn=600, start=20_000)
    bridge.plan(**SICK[how])

    with fake_lab.rpc() as pi:
        for turn in range(3):
            pi.ask(f"turn {turn}")
        notices = pi.notices()
        assert pi.close() < 2.5

    assert len(notices) == len(set(notices)) <= 2
    assert (how == "sends the wrong types") is (notices == [])
    assert len(fake_lab.model.requests) == 3
    bridge.wait_gone()


def test_a_missing_program_is_told_once_and_commands_say_so(make_lab: MakeLab) -> None:
    lab = make_lab(bridge=["/nonexistent/python", "-m", "noforgetti"])

    with lab.rpc() as pi:
        pi.ask("one")
        pi.ask("two")
        told = pi.notices()
        answer = pi.command("/memory status")

    assert len(told) == 1
    assert "`/nonexistent/python` could not be run" in told[0]
    assert answer.startswith(told[0].removesuffix(" Work goes on without memory."))
    assert len(lab.model.requests) == 2


def test_print_mode_says_on_stderr_that_memory_is_missing(make_lab: MakeLab) -> None:
    lab = make_lab(bridge=["/nonexistent/python"])

    ran = lab.print("-p", "hello")

    assert (ran.returncode, ran.stdout) == (0, "ok\n")
    assert ran.stderr.count("noforgetti:") == 1


def test_an_extension_whose_launch_file_is_broken_does_not_stop_pi(fake_lab: Lab) -> None:
    for name in ("launch.json", "tools.json"):
        (fake_lab.extension / name).write_text("{broken", encoding="utf-8")

    ran = fake_lab.print("-p", "hello")

    assert (ran.returncode, ran.stdout) == (0, "ok\n")


def test_the_last_known_memory_stays_when_the_bridge_is_late(fake_lab: Lab, bridge: FakeBridge) -> None:
    fake_lab.limits(turn=600)
    bridge.plan(results={"turn/start": {"inject": {"section": "- fact", "ephemeral": "RELEVANT"}}})
    with fake_lab.rpc() as pi:
        pi.ask("one")
        bridge.plan(silent=["turn/start"])
        pi.ask("two")

    messages = fake_lab.model.asked("two")["messages"]
    assert "- fact" in text_of(messages[0])
    assert [m["role"] for m in messages].count("system") == 1
    assert "RELEVANT" not in str(messages)


def test_a_bridge_that_was_killed_is_started_again_and_knows_the_branch(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc() as pi:
        pi.command("/memory use spike")
        bridge.plan(dies=["turn/start"])
        pi.ask("one")
        bridge.plan()
        pi.ask("two")

    restart = bridge.asked("session/start")[-1]
    assert (restart["branch"], restart["reason"]) == ("spike", "restart")
    assert len(bridge.starts) == 2


def test_a_bridge_that_always_dies_is_left_alone_after_a_few_starts(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(dies=["turn/start"])

    with fake_lab.rpc() as pi:
        for turn in range(6):
            pi.ask(f"turn {turn}")
        assert "left alone" in pi.command("/memory status")

    assert len(bridge.starts) == 3


def test_a_turn_waits_its_limit_once_and_then_hardly_at_all(fake_lab: Lab, bridge: FakeBridge) -> None:
    fake_lab.limits(turn=2000, start=60_000)
    bridge.plan(silent=["turn/start", "turn/settled", "session/end"])

    with fake_lab.rpc() as pi:
        pi.ask("one")
        start = time.monotonic()
        for turn in range(3):
            pi.ask(f"turn {turn}")
        assert time.monotonic() - start < 4


def test_a_model_that_calls_the_tool_of_a_dead_bridge_reads_why(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(dies=["tool"])
    fake_lab.model.reply(Reply(tool="project_memory", arguments={"action": "list"}))

    fake_lab.print("-p", "hello")

    assert "ended unexpectedly" in text_of(fake_lab.model.requests[1]["messages"][-1])


def test_a_refused_turn_goes_on_and_shows_the_reason(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(errors={"turn/start": {"code": -32000, "message": "The repository cannot be read."}})

    with fake_lab.rpc() as pi:
        pi.ask("one")
        pi.ask("two")
        assert pi.notices() == ["The repository cannot be read."]


@pytest.mark.parametrize("marker", ["PI_SUBAGENT_CHILD_AGENT", "PI_SUBAGENT_RUN_ID", "PI_SUBAGENT_CHILD"])
def test_a_child_agent_has_no_memory_at_all(fake_lab: Lab, bridge: FakeBridge, marker: str) -> None:
    bridge.plan(results={"turn/start": {"inject": {"section": "- fact"}}})

    fake_lab.print("-p", "hello", env={marker: "1"})

    (body,) = fake_lab.model.requests
    assert "- fact" not in str(body["messages"])
    assert "project_memory" not in json.dumps(body["tools"])
    assert bridge.starts == []


def test_a_blank_marker_is_no_marker(fake_lab: Lab, bridge: FakeBridge) -> None:
    fake_lab.print("-p", "hello", env={"PI_SUBAGENT_RUN_ID": "  "})

    assert len(bridge.starts) == 1


def test_a_second_copy_registers_nothing(fake_lab: Lab, bridge: FakeBridge) -> None:
    copy = fake_lab.project / ".pi" / "extensions" / "noforgetti"
    copy.parent.mkdir(parents=True)
    copy.symlink_to(fake_lab.extension)
    other = fake_lab.home / "copy"
    other.mkdir()
    for file in fake_lab.extension.iterdir():
        (other / file.name).write_bytes(file.read_bytes())

    ran = fake_lab.print("--approve", "-e", str(other), "-p", "hello")

    assert (ran.returncode, ran.stdout) == (0, "ok\n")
    assert len(bridge.starts) == 1
    assert len(bridge.asked("turn/start")) == 1
