"""What runs beside the user's work: settled runs, the model lent to a review, and how everything ends."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from .scripted_model import Reply, text_of

if TYPE_CHECKING:
    from .fake_bridge import FakeBridge
    from .lab import Lab

pytestmark = pytest.mark.pi

REVIEW = {"system": "You are a curator.", "prompt": "REVIEW: ünï", "max_tokens": 300}


def ask(method: str, **params: Any) -> dict[str, Any]:
    """A question of the bridge's, with the id `q1`."""
    return {"id": "q1", "method": method, "params": params}


def is_review(body: dict[str, Any]) -> bool:
    """True for the request that a review makes."""
    return text_of(body["messages"][-1]).startswith("REVIEW")


def test_a_settled_run_is_told_with_what_the_user_said(fake_lab: Lab, bridge: FakeBridge) -> None:
    gate = fake_lab.model.hold("first")
    with fake_lab.rpc() as pi:
        pi.call("prompt", message="first")
        fake_lab.model.wait(lambda body: text_of(body["messages"][-1]) == "first")
        pi.call("prompt", message="also this", streamingBehavior="steer")
        gate.set()
        pi.wait(lambda record: record.get("type") == "agent_settled")
        settled = bridge.wait_asked("turn/settled")
        pi.ask("second")
        again = bridge.wait_asked("turn/settled", 2)

    assert (settled["outcome"], settled["prompts"]) == ("completed", ["first", "also this"])
    assert (again["outcome"], again["prompts"]) == ("completed", ["second"])


def test_a_prompt_template_is_told_as_it_was_typed(fake_lab: Lab, bridge: FakeBridge) -> None:
    templates = fake_lab.agent / "prompts"
    templates.mkdir()
    (templates / "note.md").write_text("Words of the template.", encoding="utf-8")
    gate = fake_lab.model.hold("first")
    with fake_lab.rpc() as pi:
        pi.call("prompt", message="first")
        fake_lab.model.wait(lambda body: text_of(body["messages"][-1]) == "first")
        pi.call("prompt", message="/note", streamingBehavior="followUp")
        gate.set()
        fake_lab.model.wait(lambda body: text_of(body["messages"][-1]) == "Words of the template.")
        settled = bridge.wait_asked("turn/settled")

    assert settled["prompts"] == ["first", "/note"]


def test_an_aborted_run_is_told_as_aborted(fake_lab: Lab, bridge: FakeBridge) -> None:
    fake_lab.model.hold("first")
    with fake_lab.rpc() as pi:
        pi.call("prompt", message="first")
        fake_lab.model.wait(lambda body: text_of(body["messages"][-1]) == "first")
        pi.call("abort")
        settled = bridge.wait_asked("turn/settled")
        pi.ask("second")
        again = bridge.wait_asked("turn/settled", 2)

    assert (settled["outcome"], settled["prompts"]) == ("aborted", [])
    assert again["prompts"] == ["second"]


def test_a_failed_run_is_told_as_failed_and_a_retried_one_once(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc() as pi:
        fake_lab.model.reply(Reply(status=400))
        pi.ask("bad request")
        fake_lab.model.reply(Reply(status=503))
        pi.ask("busy for a moment")
        bridge.wait_asked("turn/settled", 2)

    told = [(turn["outcome"], turn["prompts"]) for turn in bridge.asked("turn/settled")]
    assert told == [("error", []), ("completed", ["busy for a moment"])]


def test_what_another_extension_says_is_nobodys_words(fake_lab: Lab, bridge: FakeBridge) -> None:
    seam = fake_lab.home / "seam.ts"
    seam.write_text(
        'export default (pi) => pi.registerCommand("seam-say",'
        ' { handler: async () => { pi.sendUserMessage("machine words"); } });',
        encoding="utf-8",
    )
    with fake_lab.rpc("-e", str(seam)) as pi:
        pi.call("prompt", message="/seam-say")
        told = bridge.wait_asked("turn/settled")

    assert (told["outcome"], told["prompts"]) == ("completed", [])


def test_the_model_is_lent_without_tools_and_without_a_trace_in_the_session(fake_lab: Lab, bridge: FakeBridge) -> None:
    fake_lab.model.when("REVIEW", Reply("the verdict"))
    bridge.plan(then={"turn/settled": [ask("model/complete", **REVIEW)]})

    with fake_lab.rpc() as pi:
        pi.ask("hello")
        answer = bridge.wait_answer("q1")
        bridge.plan()
        pi.ask("next")

    usage = {"input": 10, "output": 5}
    assert answer["result"] == {"text": "the verdict", "stop_reason": "stop", "model": "fake/scripted", "usage": usage}
    request = fake_lab.model.wait(is_review)
    assert [text_of(m) for m in request["messages"]] == ["You are a curator.", "REVIEW: ünï"]
    assert "tools" not in request
    assert len(fake_lab.sessions()) == 1
    assert "REVIEW" not in fake_lab.sessions()[0].read_text(encoding="utf-8")
    assert "REVIEW" not in str(fake_lab.model.asked("next")["messages"])


def test_a_provider_that_fails_is_an_error_of_the_question(fake_lab: Lab, bridge: FakeBridge) -> None:
    fake_lab.model.when("REVIEW", Reply(status=400))
    bridge.plan(then={"turn/settled": [ask("model/complete", **REVIEW)]})

    with fake_lab.rpc() as pi:
        pi.ask("hello")
        answer = bridge.wait_answer("q1")

    assert answer["error"]["code"] == -32000


def test_a_session_without_a_model_answers_unavailable(fake_lab: Lab, bridge: FakeBridge) -> None:
    (fake_lab.agent / "models.json").unlink()
    bridge.plan(then={"command": [ask("model/complete", **REVIEW)]})

    with fake_lab.rpc() as pi:
        pi.command("/memory review")
        answer = bridge.wait_answer("q1")

    assert answer["error"]["code"] == -32001


def test_the_entries_of_the_current_path_are_handed_over(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(then={"turn/settled": [ask("session/entries", after=None)]})
    with fake_lab.rpc() as pi:
        pi.ask("hello")
        everything = bridge.wait_answer("q1")["result"]
        bridge.plan(then={"turn/settled": [{**ask("session/entries", after=everything["entries"][-1]["id"]), "id": 7}]})
        pi.ask("next")
        later = bridge.wait_answer(7)["result"]

    said = [text_of(entry["message"]) for entry in everything["entries"] if entry["type"] == "message"]
    assert said[-2:] == ["hello", "ok"]
    assert [text_of(entry["message"]) for entry in later["entries"]] == ["next", "ok"]
    assert (later["cwd"], later["id"]) == (str(fake_lab.project), bridge.asked("turn/start")[0]["session"]["id"])


def test_an_unknown_question_is_answered_as_unknown(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(then={"hello": [ask("host/dance")]})

    with fake_lab.rpc():
        assert bridge.wait_answer("q1")["error"]["code"] == -32601


def test_the_next_prompt_does_not_wait_for_a_review(fake_lab: Lab, bridge: FakeBridge) -> None:
    fake_lab.model.hold("REVIEW")
    bridge.plan(then={"turn/settled": [ask("model/complete", **REVIEW)]})

    with fake_lab.rpc() as pi:
        pi.ask("hello")
        fake_lab.model.wait(is_review)
        bridge.plan()
        pi.ask("next")  # the review still waits for its answer
        assert [m for m in bridge.heard if m.get("id") == "q1"] == []


def test_quitting_takes_no_longer_than_two_seconds_while_a_review_runs(fake_lab: Lab, bridge: FakeBridge) -> None:
    fake_lab.model.hold("REVIEW")
    bridge.plan(then={"turn/settled": [ask("model/complete", **REVIEW)]}, lingers=True)

    with fake_lab.rpc() as pi:
        pi.ask("hello")
        fake_lab.model.wait(is_review)
        assert pi.close() < 2.5  # two seconds for the review, the rest for Pi and a busy machine

    assert bridge.asked("session/end")[0]["wait"] <= 2
    bridge.wait_gone()


def test_a_session_that_is_left_hangs_up_on_its_review(fake_lab: Lab, bridge: FakeBridge) -> None:
    fake_lab.model.hold("REVIEW")
    bridge.plan(then={"turn/settled": [ask("model/complete", **REVIEW)]})

    with fake_lab.rpc() as pi:
        pi.ask("hello")
        fake_lab.model.wait(is_review)
        pi.call("new_session")
        assert fake_lab.model.abandoned.wait(10)


def test_a_review_that_is_nearly_done_is_waited_for_in_print_mode(fake_lab: Lab, bridge: FakeBridge) -> None:
    fake_lab.model.when("REVIEW", Reply("the verdict"))
    bridge.plan(then={"turn/settled": [ask("model/complete", **REVIEW)]}, lingers=True)

    assert fake_lab.print("-p", "hello").stdout == "ok\n"

    assert bridge.wait_answer("q1")["result"]["text"] == "the verdict"


@pytest.mark.parametrize(
    "state", [{}, {"deaf": True}, {"deaf": True, "stubborn": True}, {"deaf": True, "silent": ["session/end"]}]
)
def test_no_bridge_outlives_an_orderly_quit(fake_lab: Lab, bridge: FakeBridge, state: dict[str, Any]) -> None:
    bridge.plan(**state)

    with fake_lab.rpc() as pi:
        pi.ask("hello")
        assert pi.close() < 2.5

    bridge.wait_gone()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_no_bridge_outlives_a_pi_that_is_killed(fake_lab: Lab, bridge: FakeBridge, how: signal.Signals) -> None:
    with fake_lab.rpc() as pi:
        pi.ask("hello")
        os.kill(pi.process.pid, how)
        pi.process.wait(10)

    bridge.wait_gone()


def test_every_replaced_session_takes_its_bridge_with_it(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc() as pi:
        pi.ask("hello")
        pi.call("new_session")
        pi.ask("hello again")
        start = time.monotonic()
        pi.call("clone")
        assert time.monotonic() - start < 2.5
        bridge.wait_asked("session/start", 3)
        assert len(bridge.starts) - bridge.ends == 1

    bridge.wait_gone()
    assert [end["reason"] for end in bridge.asked("session/end")] == ["new", "fork", "quit"]
