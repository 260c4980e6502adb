"""The selected branch is state of Pi's session: written when it changes, read from its current path."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from .scripted_model import text_of

if TYPE_CHECKING:
    from .fake_bridge import FakeBridge
    from .lab import Lab

pytestmark = pytest.mark.pi

SEAM = """\
export default function (pi) {
    pi.registerCommand("seam-tree", { handler: async (args, ctx) => ctx.navigateTree(args.trim(), {}) });
    pi.registerCommand("seam-reload", { handler: async (_args, ctx) => ctx.reload() });
}
"""


def branches(bridge: FakeBridge) -> dict[str, str | None]:
    """Which branch each prompt was asked with, by prompt."""
    return {turn["prompt"]: turn["branch"] for turn in bridge.asked("turn/start")}


def seam(lab: Lab) -> str:
    """An extension that offers what RPC has no command for."""
    file = lab.home / "seam.ts"
    file.write_text(SEAM, encoding="utf-8")
    return str(file)


def test_opening_a_session_writes_no_selection(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc() as pi:
        pi.ask("hello")
        assert pi.entries("noforgetti") == []


def test_a_selection_is_written_once_and_used_from_then_on(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc() as pi:
        assert pi.command("/memory use spike") == "use: branch spike"
        pi.command("/memory use spike")
        pi.ask("hello")
        assert pi.entries("noforgetti") == [{"branch": "spike"}]

    assert branches(bridge) == {"hello": "spike"}


def test_resume_brings_the_selection_back(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc() as pi:
        pi.command("/memory use spike")
        pi.ask("before")
    with fake_lab.rpc("-c") as pi:
        pi.ask("after")

    assert [start["branch"] for start in bridge.asked("session/start")] == [None, "spike"]
    assert branches(bridge) == {"before": "spike", "after": "spike"}


def test_a_fork_takes_the_selection_of_its_point_and_a_clone_the_latest(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc() as pi:
        pi.ask("one")
        pi.command("/memory use spike")
        pi.ask("two")
        pi.command("/memory use late")
        pi.ask("three")
        points = {m["text"]: m["entryId"] for m in pi.call("get_fork_messages")["messages"]}
        pi.call("clone")
        pi.ask("in the clone")
        pi.call("fork", entryId=points["two"])
        pi.ask("in the fork")

    asked = branches(bridge)
    assert (asked["in the clone"], asked["in the fork"]) == ("late", "spike")
    assert [start["reason"] for start in bridge.asked("session/start")] == ["startup", "fork", "fork"]


def test_a_new_session_starts_with_nothing_selected(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc() as pi:
        pi.command("/memory use spike")
        pi.ask("old")
        pi.call("new_session")
        pi.ask("new")

    assert bridge.asked("session/start")[-1]["branch"] is None
    assert branches(bridge)["new"] in {None, "main"}


def test_the_tree_goes_back_to_the_selection_of_that_place(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc("-e", seam(fake_lab)) as pi:
        pi.command("/memory use spike")
        pi.ask("one")
        here = pi.call("get_entries")["entries"][-1]["id"]
        pi.command("/memory use late")
        pi.ask("two")
        pi.command(f"/seam-tree {here}")
        pi.ask("three")

    assert branches(bridge) == {"one": "spike", "two": "late", "three": "spike"}


@pytest.mark.parametrize("persisted", [True, False])
def test_reload_keeps_the_selection(fake_lab: Lab, bridge: FakeBridge, persisted: bool) -> None:
    with fake_lab.rpc("-e", seam(fake_lab), *([] if persisted else ["--no-session"])) as pi:
        pi.command("/memory use spike")
        pi.command("/seam-reload")
        pi.ask("hello")

    assert branches(bridge) == {"hello": "spike"}
    assert (bridge.asked("turn/start")[0]["session"]["file"] is not None) is persisted


def test_a_branch_that_is_gone_falls_back_and_the_session_remembers_it(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc() as pi:
        pi.command("/memory use spike")
        pi.ask("one")
        gone = {"level": "warning", "text": "Branch `spike` is gone; this session uses `main`."}
        bridge.plan(results={"turn/start": {"branch": "main", "notices": [gone]}})
        pi.ask("two")
        bridge.plan()
        pi.ask("three")
        assert pi.entries("noforgetti") == [{"branch": "spike"}, {"branch": "main"}]
        assert gone["text"] in pi.notices()

    assert branches(bridge) == {"one": "spike", "two": "spike", "three": "main"}


def test_two_sessions_of_one_project_select_for_themselves(fake_lab: Lab, bridge: FakeBridge) -> None:
    with fake_lab.rpc() as first, fake_lab.rpc() as second:
        first.command("/memory use spike")
        second.command("/memory status")
        first.ask("in the first")
        second.ask("in the second")

    assert branches(bridge) == {"in the first": "spike", "in the second": "main"}


def test_forty_turns_add_no_entry_of_ours(fake_lab: Lab, bridge: FakeBridge) -> None:
    bridge.plan(results={"turn/start": {"inject": {"section": "- fact", "ephemeral": "RELEVANT"}}})
    with fake_lab.rpc() as pi:
        pi.command("/memory use spike")
        for turn in range(40):
            pi.ask(f"turn {turn}")

    lines = [json.loads(line) for line in fake_lab.sessions()[0].read_text(encoding="utf-8").splitlines()]
    assert [line["data"] for line in lines if line["type"] == "custom"] == [{"branch": "spike"}]
    assert len(fake_lab.model.requests) == 40
    assert "RELEVANT" in text_of(fake_lab.model.requests[-1]["messages"][-2])
