"""The main job end to end: real Pi, extension, bridge and repositories; only the model is scripted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from .scripted_model import Reply, text_of

if TYPE_CHECKING:
    from .lab import Lab

pytestmark = pytest.mark.pi

FACT = "The release script requires a clean Git worktree."
PROMPT = "Use pnpm instead of npm in this repository, from now on."


def add(fact: str = FACT, **more: str) -> Reply:
    """The agent calls its tool."""
    return Reply(tool="project_memory", arguments={"action": "add", "content": fact, **more})


def is_review(body: dict[str, Any]) -> bool:
    """True for a reviewer's request: the one kind without tools."""
    return not body.get("tools")


def proposal(*operations: dict[str, object]) -> Reply:
    """What the reviewer's model answers."""
    return Reply(json.dumps({"operations": list(operations)}))


FOUND = "Use pnpm instead of npm in this repository."
LEARNED: dict[str, object] = {
    "action": "add",
    "content": FOUND,
    "category": "preference",
    "importance": "high",
    "evidence": ["e1"],
}


def memory(lab: Lab, *arguments: str) -> dict[str, Any]:
    """What the command line says of the same project."""
    done = subprocess.run(
        [sys.executable, "-m", "noforgetti", "--json", *arguments],
        cwd=lab.project,
        env=lab.env(),
        capture_output=True,
        text=True,
    )
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def texts(lab: Lab, branch: str = "main") -> list[str]:
    """The entries of a branch."""
    return [entry["text"] for entry in memory(lab, "--branch", branch, "show")["entries"]]


def until(true: Any, timeout: float = 20) -> None:
    """Wait for something that no event tells of."""
    end = time.monotonic() + timeout
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def system_of(body: dict[str, Any]) -> str:
    """All that the request's system messages say."""
    return "\n".join(text_of(message) for message in body["messages"] if message["role"] in ("system", "developer"))


def bridges(lab: Lab) -> list[str]:
    """Processes of ours that serve this lab."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environ = file.read()
            with open(f"/proc/{name}/cmdline", "rb") as file:
                command = file.read()
        except OSError:
            continue
        if str(lab.noforgetti_home).encode() in environ and b"serve" in command:
            found.append(command.replace(b"\0", b" ").decode())
    return found


def test_what_the_tool_writes_in_one_session_is_in_the_next_sessions_request(lab: Lab) -> None:
    lab.model.reply(add(importance="high"), Reply("noted"))
    first = lab.print("-p", "please note how releases work")
    assert first.returncode == 0, first.stderr

    with lab.rpc() as pi:
        pi.ask("how do releases work?")

    request = lab.model.asked("how do releases work?")
    assert f"## Active Lessons\n- [lesson] {FACT}\n</project_memory>" in system_of(request)
    assert texts(lab) == [FACT]
    written = memory(lab, "log")["commits"][0]
    assert (written["kind"], written["author"]) == ("write", "agent")


def test_ten_turns_without_a_change_send_ten_identical_system_prompts(lab: Lab) -> None:
    memory(lab, "add", FACT)
    with lab.rpc() as pi:
        for number in range(10):
            pi.ask(f"turn {number}")

    prompts = {system_of(lab.model.asked(f"turn {number}")) for number in range(10)}
    assert len(prompts) == 1
    assert FACT in prompts.pop()


def test_a_write_of_another_process_is_seen_at_the_next_turn(lab: Lab) -> None:
    with lab.rpc() as pi:
        pi.ask("before")
        memory(lab, "add", FACT)
        pi.ask("after")

    assert FACT not in system_of(lab.model.asked("before"))
    assert FACT in str(lab.model.asked("after")["messages"])


def test_a_review_after_settling_is_one_commit_with_its_trailers(lab: Lab) -> None:
    lab.model.when(is_review, proposal(LEARNED))
    with lab.rpc() as pi:
        pi.ask(PROMPT)
        session = pi.call("get_state")["sessionId"]
        until(lambda: texts(lab) == [FOUND])
        pi.ask("what do you use here?")
        heads = [one["name"] for one in memory(lab, "branches")["branches"]]

    commit = memory(lab, "log")["commits"][0]
    assert (commit["kind"], commit["author"], commit["trailers"]["Session"]) == ("review", "reviewer (host)", session)
    assert commit["trailers"]["Reviewer"] == "host (fake/scripted)"
    assert commit["trailers"]["Base"] == "none"
    assert ".." in commit["trailers"]["Window"]
    assert heads == ["main"]
    assert FOUND in str(lab.model.asked("what do you use here?")["messages"])
    assert len(memory(lab, "log")["commits"]) == 1


def test_a_secret_that_the_user_typed_never_reaches_the_reviewer(lab: Lab) -> None:
    secret = "ghp_" + "q7Rt2LmZ9xWv4Bn8Kc3Df6Hj5Ps1Ty0Aou2E"
    lab.model.when(is_review, proposal())
    with lab.rpc() as pi:
        pi.ask(f"Remember that the token for the mirror is {secret} and lasts a year.")
        request = lab.model.wait(is_review)
        until(lambda: memory(lab, "status")["review"].get("last"))

    assert secret not in json.dumps(request)
    assert "the token for the mirror" in json.dumps(request)
    assert texts(lab) == []


def test_memorys_own_block_is_never_evidence(lab: Lab) -> None:
    memory(lab, "add", FACT)
    lab.model.when(is_review, proposal())
    with lab.rpc() as pi:
        pi.ask(PROMPT)
        request = lab.model.wait(is_review)

    evidence = text_of(request["messages"][-1])
    assert PROMPT in evidence
    assert "These are notes about the project" not in evidence


def test_a_review_that_fails_keeps_its_evidence_and_says_so(lab: Lab) -> None:
    lab.model.when(is_review, Reply("this is no proposal at all"))
    with lab.rpc() as pi:
        pi.ask(PROMPT)
        until(lambda: memory(lab, "status")["review"].get("last"))

    status = memory(lab, "status")
    assert (status["review"]["last"]["outcome"], status["review"]["last"]["attempts"]) == ("invalid", 3)
    assert (status["review"]["state"], status["review"]["failures"]) == ("backing-off", 1)

    lab.model.rules.clear()
    lab.model.when(is_review, proposal(LEARNED))
    with lab.rpc("-c") as pi:
        pi.command("/memory review")
        until(lambda: texts(lab) == [FOUND])


def test_the_slash_commands_answer(lab: Lab) -> None:
    memory(lab, "add", FACT)
    with lab.rpc() as pi:
        status = pi.command("/memory status")
        assert str(lab.project) in status
        assert "branch       main at" in status
        assert FACT in pi.command("/memory show")
        assert "* main" in pi.command("/memory branches")
        assert "Forked `spike`" in pi.command("/memory fork spike")
        assert "* spike" in pi.command("/memory branches")
        assert "uses memory branch `main`" in pi.command("/memory use main")
        assert "no automatic review" in pi.command("/memory undo")
        assert "There is no memory branch `nowhere`" in pi.command("/memory use nowhere")


def test_undo_in_pi_takes_back_what_the_review_got_wrong(lab: Lab) -> None:
    memory(lab, "add", FACT)
    lab.model.when(is_review, proposal(LEARNED))
    with lab.rpc() as pi:
        pi.ask(PROMPT)
        until(lambda: len(texts(lab)) == 2)
        assert "Took back" in pi.command("/memory undo")
        pi.ask("and now?")

    assert texts(lab) == [FACT]
    assert [one["kind"] for one in memory(lab, "log")["commits"]] == ["undo", "review", "write"]


def test_a_forked_branch_is_used_by_one_session_only(lab: Lab) -> None:
    memory(lab, "add", FACT)
    with lab.rpc() as one, lab.rpc() as other:
        one.command("/memory fork spike")
        lab.model.reply(add("Only on the spike: try the new bundler."), Reply("noted"))
        one.ask("note the bundler")
        memory(lab, "add", "Only on main: the API package owns validation.")
        one.ask("what does the spike know?")
        other.ask("what does main know?")

    spike = str(lab.model.asked("what does the spike know?")["messages"])
    main = str(lab.model.asked("what does main know?")["messages"])
    assert "Only on the spike" in spike
    assert "Only on main" not in spike
    assert "Only on main" in main
    assert "Only on the spike" not in main


def test_the_branch_of_a_session_comes_back_with_it(lab: Lab) -> None:
    memory(lab, "add", FACT)
    with lab.rpc() as pi:
        pi.ask("hello")
        pi.command("/memory fork spike")
        pi.ask("a turn on the spike")
    with lab.rpc("-c") as pi:
        assert "* spike" in pi.command("/memory branches")
    with lab.rpc() as pi:
        assert "* main" in pi.command("/memory branches")
    memory(lab, "branch", "delete", "spike")
    with lab.rpc("-c") as pi:
        pi.ask("the spike is gone")
        pi.notice("Memory branch `spike` is gone")
        assert "* main" in pi.command("/memory branches")


def test_evidence_belongs_to_the_branch_that_was_selected(lab: Lab) -> None:
    memory(lab, "add", FACT)
    lab.model.when(is_review, proposal())
    with lab.rpc() as pi:
        pi.ask("a plain question on main")
        pi.command("/memory fork spike")
        pi.ask("a plain question on the spike")
        pi.command("/memory use main")
        pi.ask("From now on, commit messages are written in English.")
        request = lab.model.wait(is_review)

    evidence = text_of(request["messages"][-1])
    assert "a plain question on main" in evidence
    assert "commit messages are written in English" in evidence
    assert "on the spike" not in evidence


def test_a_session_that_is_not_persisted_is_reviewed_only_when_asked(lab: Lab) -> None:
    lab.model.when(is_review, proposal(LEARNED))
    with lab.rpc("--no-session") as pi:
        pi.ask(PROMPT)
        pi.command("/memory fork spike")
        pi.ask("still here?")
        assert "* spike" in pi.command("/memory branches")
        pi.command("/memory use main")
        assert memory(lab, "log")["commits"] == [
            one for one in memory(lab, "log")["commits"] if one["kind"] != "review"
        ]
        pi.command("/memory review")
        until(lambda: FOUND in texts(lab))


def test_a_child_agent_neither_loads_nor_writes(lab: Lab) -> None:
    memory(lab, "add", FACT)
    with lab.rpc(PI_SUBAGENT_RUN_ID="r1") as pi:
        pi.ask("child turn")
    with lab.rpc(PI_SUBAGENT_RUN_ID="  ") as pi:
        pi.ask("own turn")

    child = lab.model.asked("child turn")
    assert FACT not in str(child)
    assert "project_memory" not in str(child)
    assert FACT in system_of(lab.model.asked("own turn"))


def test_quitting_during_a_review_takes_two_seconds_at_most_and_the_review_stays_due(lab: Lab) -> None:
    gate = threading.Event()
    lab.model.when(is_review, Reply(proposal(LEARNED).text, gate=gate))
    pi = lab.rpc()
    with pi:
        pi.ask(PROMPT)
        lab.model.wait(is_review)
        took = pi.close()
    gate.set()

    assert took < 2.5
    assert texts(lab) == []
    assert bridges(lab) == []
    lab.model.rules.clear()
    lab.model.when(is_review, proposal(LEARNED))
    with lab.rpc("-c") as again:
        again.ask("go on")
        until(lambda: texts(lab) == [FOUND])
    assert [one["kind"] for one in memory(lab, "log")["commits"]] == ["review"]


def test_killing_pi_in_the_middle_of_a_review_leaves_no_process_and_no_lock(lab: Lab) -> None:
    memory(lab, "add", FACT)
    gate = threading.Event()
    lab.model.when(is_review, Reply(proposal(LEARNED).text, gate=gate))
    with lab.rpc() as pi:
        pi.ask(PROMPT)
        lab.model.wait(is_review)
        pi.kill()
    until(lambda: bridges(lab) == [], 10)
    gate.set()

    start = time.monotonic()
    assert memory(lab, "add", "Written after the kill.")["outcome"] == "added"
    assert time.monotonic() - start < 5
    assert memory(lab, "fsck")["outcome"] == "clean"
    assert memory(lab, "status")["review"]["state"] == "due"


def test_a_full_memory_tells_the_agent_what_to_drop(lab: Lab) -> None:
    lab.noforgetti_home.mkdir(exist_ok=True)
    (lab.noforgetti_home / "config.toml").write_text("limits.hard = 600\n", encoding="utf-8")
    memory(lab, "add", "a" * 580)
    lab.model.reply(add("One fact too many for this memory."), Reply("ok"))
    with lab.rpc() as pi:
        pi.ask("note this")

    result = next(
        text_of(message) for body in lab.model.requests for message in body["messages"] if message["role"] == "tool"
    )
    assert "14 too many" in result
    assert "Do not try again in this turn" in result
    assert memory(lab, "show")["entries"][0]["id"] in result


def test_print_mode_answers_slash_commands_on_stdout(lab: Lab) -> None:
    memory(lab, "add", FACT)
    done = lab.print("-p", "/memory show")

    assert done.returncode == 0
    assert FACT in done.stdout
    assert lab.model.requests == []


def test_the_full_screen_mode_shows_memory_and_reviews(lab: Lab) -> None:
    memory(lab, "add", FACT)
    lab.model.when(is_review, proposal(LEARNED))
    with lab.tui() as terminal:
        terminal.until("memory main: 1 entry")
        terminal.enter("/memory show")
        terminal.until(FACT)
        terminal.enter(PROMPT)
        terminal.until("learned")
        terminal.until("memory main: 2 entries")
        terminal.enter("/memory undo")
        terminal.until("Took back")
        assert terminal.quit() < 5

    assert texts(lab) == [FACT]


@pytest.mark.parametrize("way", ["system-prompt", "context", "session-start"])
def test_each_way_in_brings_memory_to_the_model(lab: Lab, way: str) -> None:
    lab.noforgetti_home.mkdir(exist_ok=True)
    (lab.noforgetti_home / "config.toml").write_text(f'injection = "{way}"\n', encoding="utf-8")
    memory(lab, "add", FACT)
    with lab.rpc() as pi:
        pi.ask("first")
        pi.ask("second")

    first, second = (lab.model.asked(prompt) if way != "session-start" else None for prompt in ("first", "second"))
    everything = [json.dumps(body["messages"]) for body in lab.model.requests]
    assert all(one.count(FACT) == 1 for one in everything)
    if first is not None and second is not None:
        assert (FACT in system_of(first)) == (way == "system-prompt")


def test_settings_that_cannot_be_used_are_one_notice_and_a_working_turn(lab: Lab) -> None:
    lab.noforgetti_home.mkdir(exist_ok=True)
    (lab.noforgetti_home / "config.toml").write_text("worktrees = 3\n", encoding="utf-8")
    with lab.rpc() as pi:
        pi.ask("hello")
        pi.notice("config.toml")
        pi.ask("hello again")

    assert len(lab.model.requests) == 2


def test_two_thousand_turns_of_cursors_would_stay_small(lab: Lab) -> None:
    lab.model.when(is_review, proposal())
    with lab.rpc() as pi:
        for number in range(12):
            pi.ask(f"turn {number}")
        until(lambda: memory(lab, "status")["review"].get("last"))

    ours = [line for line in lab.sessions()[0].read_text(encoding="utf-8").splitlines() if '"noforgetti' in line]
    assert sum(map(len, ours)) * 2000 / 12 < 200_000
