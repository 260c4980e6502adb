"""Rules at work on the tool calls of real Pi; only the model is scripted."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from .scripted_model import Reply, text_of
from .test_main_job import memory

if TYPE_CHECKING:
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
    memory(lab, "add", "Format billing code with black at 79 columns.")
    memory(lab, "add", "The nightly job purges deleted tenants.")

    lab.model.reply(Reply(tool="write", arguments={"path": "billing.py", "content": "x = 1\n"}), Reply("done"))
    with lab.rpc() as pi:
        pi.ask("Write it.")
        pi.ask("And now?")

    reminder = said(lab)
    assert "Memories that fit the files you changed (billing.py):" in reminder
    assert "Format billing code with black at 79 columns." in reminder.partition("Memories that fit the files")[2]


def test_a_bridge_that_never_answers_blocks_nothing(lab: Lab) -> None:
    ruled(lab, "Never make marks.", "--trigger", "bash_contains touch mark", "--action", "block")
    lab.install(["/bin/false"])

    run(lab, bash("touch mark"))

    assert (lab.project / "mark").exists()
