"""What the model is sent: memory as a prompt section, what fits the prompt as an unstored message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .scripted_model import Reply, text_of

if TYPE_CHECKING:
    from .fake_bridge import FakeBridge
    from .lab import Lab

pytestmark = pytest.mark.pi

MEMORY = "- Run pnpm check.\n- 日本語 and 👩‍👩‍👧 stay as they are."


def inject(**what: str) -> dict[str, Any]:
    """The part of a plan that injects something at every turn."""
    return {"turn/start": {"inject": what}}


def roles(body: dict[str, Any]) -> list[str]:
    """Who speaks in a request, in order."""
    return [message["role"] for message in body["messages"]]


def test_memory_is_a_section_of_the_system_prompt(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(results=inject(section=MEMORY))

    fake_lab.print("-p", "hello")

    system = text_of(fake_lab.model.asked("hello")["messages"][0])
    assert system.endswith(f"<project_memory>\n{MEMORY}\n</project_memory>")


def test_ten_turns_without_a_change_send_the_same_system_prompt(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(results=inject(section=MEMORY))

    with fake_lab.rpc() as pi:
        for turn in range(10):
            pi.ask(f"turn {turn}")

    prompts = {text_of(body["messages"][0]) for body in fake_lab.model.requests}
    assert len(prompts) == 1
    assert roles(fake_lab.model.requests[-1]).count("system") == 1


@pytest.mark.parametrize("midway", [True, False])
def test_a_change_of_memory_reaches_the_next_turn(fake_lab: Lab, bridge: FakeBridge, midway: bool) -> None:
    fake_lab.configure(midway=midway)
    bridge.plan(results=inject(section="- old fact"))
    with fake_lab.rpc() as pi:
        pi.ask("first")
        bridge.plan(results=inject(section="- new fact"))
        pi.ask("second")

    systems = [text_of(m) for m in fake_lab.model.asked("second")["messages"] if m["role"] == "system"]
    assert "- new fact" in systems[-1]
    assert ("- old fact" in systems[0]) is midway


def test_an_empty_section_means_no_section(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(results=inject(section=""))

    fake_lab.print("-p", "hello")

    assert "<project_memory>" not in text_of(fake_lab.model.asked("hello")["messages"][0])


def test_the_unstored_message_stands_before_the_prompt_in_every_call_of_the_run(
    fake_lab: Lab, bridge: FakeBridge
) -> None:
    bridge.plan(results=inject(ephemeral="RELEVANT: ünï"))
    tool = Reply(tool="project_memory", arguments={"action": "list"})
    fake_lab.model.reply(tool, Reply("done"))

    with fake_lab.rpc() as pi:
        pi.ask("use the tool")
        bridge.plan()
        pi.ask("next")

    first, second, third = fake_lab.model.requests
    assert [text_of(m) for m in first["messages"][1:]] == ["RELEVANT: ünï", "use the tool"]
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert "RELEVANT" not in str(third["messages"])
    assert "RELEVANT" not in fake_lab.sessions()[0].read_text(encoding="utf-8")


def test_a_steering_message_does_not_move_the_unstored_one(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(results=inject(ephemeral="RELEVANT"))
    gate = fake_lab.model.hold("first")

    with fake_lab.rpc() as pi:
        pi.call("prompt", message="first")
        fake_lab.model.wait(lambda body: text_of(body["messages"][-1]) == "first")
        pi.call("prompt", message="steer", streamingBehavior="steer")
        gate.set()
        pi.wait(lambda record: record.get("type") == "agent_settled")

    texts = [text_of(m) for m in fake_lab.model.asked("steer")["messages"][1:]]
    assert texts == ["RELEVANT", "first", "ok", "steer"]


def test_the_system_prompt_route_appends_the_text(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(results=inject(system_prompt=MEMORY))

    fake_lab.print("-p", "hello")

    assert text_of(fake_lab.model.asked("hello")["messages"][0]).endswith(f"\n\n{MEMORY}")


def test_the_message_route_stores_a_hidden_message(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(results=inject(message=MEMORY))

    fake_lab.print("-p", "hello")

    (body,) = fake_lab.model.requests
    assert [text_of(m) for m in body["messages"][1:]] == ["hello", MEMORY]


def test_the_bridge_is_told_who_asks_and_what(fake_lab: Lab, bridge: FakeBridge) -> None:
    fake_lab.print("-p", "日本語 “quoted”")

    hello, start, turn = (bridge.asked(method)[0] for method in ("hello", "session/start", "turn/start"))
    assert hello == {"protocol": 1, "host": "pi", "host_version": "1.6.0", "cwd": str(fake_lab.project)}
    assert (start["branch"], start["reason"]) == (None, "startup")
    assert turn["prompt"] == "日本語 “quoted”"
    assert turn["session"] == start["session"]
    assert turn["session"]["file"] == str(fake_lab.sessions()[0])
    assert all(message["ascii"] for message in bridge.heard)
