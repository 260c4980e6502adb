"""Rules at work on the tool calls of real Pi; only the model is scripted."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from .scripted_model import Reply, text_of
from .test_main_job import memory

if TYPE_CHECKING:
    from .fake_bridge import FakeBridge
    from .lab import Lab

pytestmark = pytest.mark.pi

VERIFIER = "tool_called project_memory before git push"


def bash(command: str) -> Reply:
    return Reply(tool="bash", arguments={"command": command})


def ruled(lab: Lab, text: str, *words: str) -> str:
    """An entry with a rule that the user set."""
    own: str = memory(lab, "add", text)["entry"]["id"]
    assert memory(lab, "rules", "set", own, *words)["outcome"] == "bound"
    return own


def results(lab: Lab) -> list[str]:
    """What the tools answered, as the model read it."""
    return [text_of(one) for one in lab.model.requests[-1]["messages"] if one["role"] == "tool"]


def said(lab: Lab) -> str:
    return "\n".join(text_of(one) for one in lab.model.requests[-1]["messages"] if one["role"] == "user")


def run(lab: Lab, *replies: Reply, prompt: str = "Do it.") -> None:
    lab.model.reply(*replies, Reply("done"))
    with lab.rpc() as pi:
        pi.ask(prompt)


def test_a_blocked_command_does_not_run_and_the_agent_sees_why(lab: Lab) -> None:
    own = ruled(lab, "Never make marks.", "--trigger", "bash_contains touch mark", "--action", "block")

    run(lab, bash("cd . && touch 'mark'"), bash("touch other"))

    first, second = results(lab)
    assert f"Blocked by memory `{own}` (bash_contains touch mark): Never make marks." in first
    assert "Blocked" not in second
    assert not (lab.project / "mark").exists()
    assert (lab.project / "other").exists()


def test_a_command_that_is_run_after_runs_once(lab: Lab) -> None:
    own = ruled(
        lab, "Count each change of SQL.", "--trigger", "file_modified *.sql", "--action", "run_after",
        "--command", "echo counted; echo one >> counted.txt",
    )  # fmt: skip

    run(lab, Reply(tool="write", arguments={"path": "a.sql", "content": "select 1;\n"}), bash("true"))

    written, other = results(lab)
    assert f"Memory `{own}` ran `echo counted; echo one >> counted.txt`:\ncounted" in written
    assert "ran" not in other
    assert (lab.project / "counted.txt").read_text() == "one\n"


def test_of_a_command_that_fails_and_says_much_the_model_reads_the_beginning(lab: Lab) -> None:
    own = ruled(
        lab, "Check each change of SQL.", "--trigger", "file_modified *.sql", "--action", "run_after",
        "--command", "printf '%05000d' 0; exit 3",
    )  # fmt: skip

    run(lab, Reply(tool="write", arguments={"path": "a.sql", "content": "select 1;\n"}))

    (written,) = results(lab)
    assert written.endswith(f"Memory `{own}` ran `printf '%05000d' 0; exit 3` (exit status 3):\n{'0' * 4000}\u2026")


def test_a_command_that_nobody_approved_here_does_not_run(lab: Lab) -> None:
    own = ruled(
        lab, "Count each change of SQL.", "--trigger", "file_modified *.sql", "--action", "run_after",
        "--command", "touch ran",
    )  # fmt: skip
    shutil.rmtree(lab.noforgetti_home / "state")  # as on a machine to which the memory was synced

    run(lab, Reply(tool="write", arguments={"path": "a.sql", "content": "select 1;\n"}))

    (answer,) = results(lab)
    assert f"noforgetti rules approve {own}" in answer
    assert not (lab.project / "ran").exists()


def test_a_warning_is_added_to_the_result(lab: Lab) -> None:
    own = ruled(lab, "Generated files are not edited.", "--trigger", "bash_contains ls", "--action", "warn")

    run(lab, bash("ls; echo seen"))

    (answer,) = results(lab)
    assert "seen" in answer
    assert answer.endswith(f"Memory `{own}`: Generated files are not edited.")


def test_a_verifier_asks_for_one_retry_and_no_more(lab: Lab) -> None:
    own = ruled(lab, "Note a push before it happens.", "--verifier", VERIFIER)

    run(lab, bash("git push nowhere || true"), Reply("I am done."), Reply("Nothing to add."))

    asked = f"Memory `{own}` was not followed ({VERIFIER}): Note a push before it happens."
    assert said(lab).count(asked) == 1
    requests = [body for body in lab.model.requests if body.get("tools")]
    assert 2 <= len(requests) <= 3


def test_a_reminder_appears_after_a_matching_file_was_edited(lab: Lab) -> None:
    (lab.project / "billing.py").write_text("x = 1\n")
    memory(lab, "add", "Format billing code with black at 79 columns.")
    memory(lab, "add", "The nightly job purges deleted tenants.")

    (lab.noforgetti_home / "config.toml").write_text("recall_budget = 2000\n")  # a busy machine changes no answer
    edits = [{"oldText": "x = 1", "newText": "x = 2"}]

    lab.model.reply(Reply(tool="edit", arguments={"path": "billing.py", "edits": edits}), Reply("done"))
    with lab.rpc() as pi:
        pi.ask("Write it.")
        pi.ask("And now?")

    assert (lab.project / "billing.py").read_text() == "x = 2\n"
    reminder = said(lab)
    assert "Memories that fit the files you changed (billing.py):" in reminder
    assert "Format billing code with black at 79 columns." in reminder.partition("Memories that fit the files")[2]


def test_a_bridge_that_never_answers_blocks_nothing(lab: Lab) -> None:
    ruled(lab, "Never make marks.", "--trigger", "bash_contains touch mark", "--action", "block")
    lab.install(["/bin/false"])

    run(lab, bash("touch mark"))

    assert (lab.project / "mark").exists()


RULES = ["tool/call", "tool/result", "turn/end"]
SICK: dict[str, dict[str, Any]] = {
    "dies": {"dies": RULES},
    "never answers": {"silent": RULES},
    "refuses": {"errors": {one: {"code": -32603, "message": "A fault."} for one in RULES}},
    "prints garbage": {"raw": dict.fromkeys(RULES, "Traceback (most recent call last):")},
    "sends the wrong types": {"results": {"tool/call": {"block": 7}, "tool/result": {"run": [3], "append": {}}}},
}


@pytest.mark.parametrize("how", SICK)
def test_a_bridge_that_fails_at_a_tool_call_blocks_nothing_and_is_told_once(
    fake_lab: Lab, bridge: FakeBridge, how: str
) -> None:
    fake_lab.limits(rule=300, turn=2000)
    bridge.plan(**SICK[how])

    fake_lab.model.reply(bash("touch mark"), bash("touch other"), Reply("done"))
    with fake_lab.rpc() as pi:
        pi.ask("Do it.")
        notices = pi.notices()

    assert bridge.asked("tool/call")[0]["input"] == {"command": "touch mark"}
    assert results(fake_lab) == ["(no output)", "(no output)"]
    assert (fake_lab.project / "mark").exists()
    assert (fake_lab.project / "other").exists()
    assert len(notices) == (0 if how == "sends the wrong types" else 1)


def test_the_memorys_own_tools_are_not_asked_about_and_long_texts_are_cut(fake_lab: Lab, bridge: FakeBridge) -> None:
    own = Reply(tool="memory_search", arguments={"query": "cents"})
    long = Reply(tool="write", arguments={"path": "a.txt", "content": "x" * 300_000})

    run(fake_lab, own, long)

    assert [(one["tool"], len(one["input"].get("content", ""))) for one in bridge.asked("tool/call")] == [
        ("write", 100_000)
    ]
    assert [one["tool"] for one in bridge.asked("tool/result")] == ["write"]
    assert len((fake_lab.project / "a.txt").read_text()) == 300_000
