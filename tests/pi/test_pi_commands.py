"""`/memory`, its completion, the tools, cards and notices: what the user and the model see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from .scripted_model import Reply, text_of

if TYPE_CHECKING:
    from .fake_bridge import FakeBridge
    from .lab import Lab

pytestmark = pytest.mark.pi

CARD = {"method": "card", "params": {"title": "Memory learned 1 thing", "lines": ["+ Run pnpm check."]}}


def test_a_command_in_rpc_mode_is_answered_by_a_notice_and_sends_nothing_to_the_model(
    fake_lab: Lab, bridge: FakeBridge
) -> None:
    with fake_lab.rpc() as pi:
        assert pi.command("/memory status  now ") == "status: branch main"

    command = bridge.asked("command")[0]
    assert (command["line"], command["interactive"]) == ("status  now", True)
    assert fake_lab.model.requests == []


def test_a_command_in_print_mode_is_answered_on_stdout(fake_lab: Lab, bridge: FakeBridge) -> None:
    long = "\n".join(f"line {number} ünï" for number in range(20_000))
    bridge.plan(results={"command": {"text": long}})

    ran = fake_lab.print("-p", "/memory show")

    assert (ran.returncode, ran.stdout) == (0, long + "\n")
    assert bridge.asked("command")[0]["interactive"] is False


def test_a_command_in_json_mode_leaves_the_protocol_alone(fake_lab: Lab, bridge: FakeBridge) -> None:
    ran = fake_lab.print("--mode", "json", "/memory status")

    assert all(json.loads(line) for line in ran.stdout.splitlines())
    assert "status: branch main" in ran.stderr


def test_a_refusal_shows_its_sentence_and_its_hint(fake_lab: Lab, bridge: FakeBridge) -> None:
    data = {"kind": "user", "hint": "choose another name", "reason": "bad-name"}
    bridge.plan(errors={"command": {"code": -32000, "message": "No branch was made.", "data": data}})

    with fake_lab.rpc() as pi:
        assert pi.command("/memory fork ..") == "No branch was made.\nHint: choose another name"


def test_the_footer_shows_the_selected_branch(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc() as pi:
        pi.command("/memory use spike")
        shown = [r["statusText"] for r in pi.records if r.get("method") == "setStatus"]

    assert shown[-1] == "memory: spike"


def test_a_tool_call_goes_to_the_bridge_and_its_result_to_the_model(fake_lab: Lab, bridge: FakeBridge) -> None:
    arguments = {"action": "add", "content": "日本語", "importance": "high"}
    fake_lab.model.reply(Reply(tool="project_memory", arguments=arguments), Reply("noted"))

    assert fake_lab.print("-p", "remember it").stdout == "noted\n"

    asked = bridge.asked("tool")[0]
    assert (asked["name"], asked["arguments"], asked["branch"]) == ("project_memory", arguments, "main")
    answer = fake_lab.model.requests[1]["messages"][-1]
    assert (answer["role"], json.loads(text_of(answer))) == ("tool", arguments)


def test_the_model_reads_why_a_tool_call_was_refused(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(results={"tool": {"error": True, "text": "Refused: too long."}})
    fake_lab.model.reply(Reply(tool="project_memory", arguments={"action": "list"}))

    fake_lab.print("-p", "remember it")

    assert text_of(fake_lab.model.requests[1]["messages"][-1]) == "Refused: too long."


def test_every_tool_of_the_list_is_offered_to_the_model(fake_lab: Lab) -> None:
    file = fake_lab.extension / "tools.json"
    tools = json.loads(file.read_text(encoding="utf-8"))
    more = {"name": "memory_later", "label": "L", "description": "D", "parameters": {"type": "object"}}
    file.write_text(json.dumps([*tools, more]), encoding="utf-8")

    fake_lab.print("-p", "hello")

    offered = {tool["function"]["name"] for tool in fake_lab.model.requests[0]["tools"]}
    assert {"project_memory", "memory_later"} <= offered


def test_a_tool_that_another_extension_has_already_is_left_to_it(fake_lab: Lab, bridge: FakeBridge) -> None:
    other = fake_lab.home / "other.ts"
    other.write_text(
        "export default (pi) => pi.registerTool({ name: 'project_memory', label: 'o', description: 'o',"
        " parameters: { type: 'object' },"
        " execute: async () => ({ content: [{ type: 'text', text: 'theirs' }], details: {} }) });",
        encoding="utf-8",
    )

    fake_lab.model.reply(Reply(tool="project_memory", arguments={}), Reply("done"))

    ran = fake_lab.print("-e", str(other), "-p", "hello")

    assert (ran.returncode, ran.stdout) == (0, "done\n")
    assert text_of(fake_lab.model.requests[1]["messages"][-1]) == "theirs"


def test_a_user_who_limits_the_tools_does_not_get_ours(fake_lab: Lab) -> None:
    fake_lab.print("--tools", "read,bash", "-p", "hello")

    offered = {tool["function"]["name"] for tool in fake_lab.model.requests[0]["tools"]}
    assert offered == {"read", "bash"}


def test_a_card_is_kept_in_the_transcript_and_never_sent(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(then={"turn/settled": [CARD, {"method": "notice", "params": {"level": "info", "text": "seen"}}]})

    with fake_lab.rpc() as pi:
        pi.ask("one")
        pi.notice("seen")
        bridge.plan()
        pi.ask("two")
        assert pi.entries("noforgetti-card") == [CARD["params"]]

    assert "pnpm" not in str(fake_lab.model.asked("two")["messages"])


def test_full_screen_commands_completion_footer_and_card(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(then={"turn/settled": [CARD]})

    with fake_lab.tui() as terminal:
        terminal.until("memory: main")
        terminal.keys("-l", "/memory us")
        terminal.until("use spike")
        terminal.keys("Down", "Enter")  # takes the second choice of the list and does not submit
        terminal.until("/memory use spike")
        terminal.keys("Enter")
        terminal.until("memory: spike")
        terminal.enter("hello there")
        terminal.until("+ Run pnpm check.")
        assert terminal.quit() < 2.5

    assert bridge.asked("command")[0]["line"] == "use spike"
    bridge.wait_gone()


def test_a_long_answer_is_readable_on_the_full_screen(fake_lab: Lab, bridge: FakeBridge) -> None:
    entries = [f"{number}. fact {number} 日本語 {'x' * 150}" for number in range(1, 9)]
    bridge.plan(results={"command": {"text": "\n".join(entries)}})

    with fake_lab.tui() as terminal:
        terminal.until("memory: main")
        terminal.enter("/memory show it")
        terminal.until("8. fact 8 日本語")
        assert "1. fact 1 日本語" in terminal.screen()


def test_an_argument_that_is_complete_is_submitted_by_one_enter(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.tui() as terminal:
        terminal.until("memory: main")
        terminal.keys("-l", "/memory stat")
        terminal.until("a command")
        terminal.keys("-l", "us")
        bridge.wait_asked("complete", len(bridge.asked("complete")) or 1)
        terminal.until("/memory status")
        terminal.keys("Enter")
        terminal.until("status: branch main")
