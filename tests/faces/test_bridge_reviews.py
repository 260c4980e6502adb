"""Reviews beside the conversation, over the wire: with a host's model that answers, is late, fails or goes away."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from service.said import NOTHING, everything_in, fake_secret, learns, proposal
from store.builders import fsck, git
from transcripts.hosts import SESSION, laid_out

from .bridge_host import Host, hosting, says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .bridge_host import Bridge, Document

PROMPT = "Use pnpm instead of npm in this repository, from now on."
LEARNED = "Use pnpm instead of npm."


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host without a bridge yet."""
    with hosting(tmp_path) as made:
        yield made


def thinking(bridge: Bridge) -> None:
    """Wait until the review has asked the model."""
    bridge.until(lambda: [one for one in bridge.asked if one["method"] == "model/complete"])


def cards(bridge: Bridge) -> list[Document]:
    return [one["params"] for one in bridge.told if one["method"] == "card"]


def review_state(host: Host) -> dict[str, Any]:
    """What the command line says of reviews."""
    from noforgetti.service.memory import open_memory
    from noforgetti.service.views import status_view

    memory = open_memory(str(host.project), {"NOFORGETTI_HOME": str(host.home)})
    try:
        found: dict[str, Any] = status_view(memory, "main")
        return found
    finally:
        memory.close()


def last_review(host: Host) -> dict[str, Any]:
    """The account of the newest review, once there is one."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        found: dict[str, Any] | None = review_state(host)["review"].get("last")
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("no review ended")


def asked_for(host: Host, bridge: Bridge, line: str) -> None:
    """Ask for a review, again while the one before is just ending."""
    while "running already" in host.command(bridge, line)["text"]:
        time.sleep(0.1)


def settled_after_review(host: Host, bridge: Bridge) -> None:
    """Turns go on until one of them finds the review before ended and starts the next."""
    count = len(bridge.asked)
    for _ in range(20):
        host.settle(bridge, "Go on.")
        with contextlib.suppress(AssertionError):
            return bridge.until(lambda: len(bridge.asked) > count, 1)
    raise AssertionError("no review was started")


def test_a_signal_starts_a_review_that_ends_in_a_card_and_a_commit(host: Host) -> None:
    bridge = host.start()
    bridge.asks = lambda asked: says(proposal(learns()))

    host.settle(bridge, PROMPT)
    bridge.until(lambda: cards(bridge) and bridge.told[-1]["method"] == "status")

    commit = git(host.repository, "rev-parse", "main")
    assert bridge.told == [
        {
            "jsonrpc": "2.0",
            "method": "card",
            "params": {
                "title": f"Memory `main` learned ({commit[:12]})",
                "lines": [f"+ {LEARNED}", "take it back with /memory undo"],
            },
        },
        {"jsonrpc": "2.0", "method": "status", "params": {"line": "memory main: 1 entry, 0 %"}},
    ]
    (asked,) = bridge.asked
    assert sorted(asked["params"]) == ["max_tokens", "prompt", "system"]
    assert f"| {PROMPT}" in asked["params"]["prompt"]
    trailers = git(host.repository, "log", "-1", "--format=%(trailers:only)", "main").splitlines()
    assert "Reviewer: host (acme/small)" in trailers
    assert f"- [lesson] {LEARNED}" in host.turn(bridge)["inject"]["section"]


@pytest.mark.parametrize(
    ("outcome", "prompts"), [("aborted", [PROMPT]), ("error", [PROMPT]), ("completed", []), ("completed", ["Hello."])]
)
def test_a_run_that_teaches_nothing_or_did_not_complete_starts_no_review(
    host: Host, outcome: str, prompts: list[str]
) -> None:
    bridge = host.start()

    host.settle(bridge, *prompts, outcome=outcome)
    host.turn(bridge)
    time.sleep(0.5)

    assert (bridge.asked, bridge.told) == ([], [])


def test_automatic_reviews_can_be_switched_off_and_asked_for_all_the_same(host: Host) -> None:
    host.config("review.enabled = false")
    bridge = host.start()
    bridge.asks = lambda asked: says(proposal(learns()))
    host.settle(bridge, PROMPT)
    time.sleep(0.5)
    assert bridge.asked == []

    assert host.command(bridge, "review")["text"] == "A review of branch `main` was started."

    bridge.until(lambda: cards(bridge))
    assert host.texts(bridge) == [LEARNED]


def test_everything_is_answered_at_once_while_a_review_thinks(host: Host) -> None:
    bridge = host.start()
    host.settle(bridge, PROMPT)
    thinking(bridge)

    times = []
    for act in (
        lambda: host.turn(bridge),
        lambda: host.tool(bridge, action="list"),
        lambda: host.command(bridge, "status"),
        lambda: host.command(bridge, "fork trial"),
        lambda: host.tool(bridge, "trial", action="add", content="Trial fact."),
        lambda: bridge.call("complete", prefix="us", branch=None),
        lambda: host.settle(bridge, "And more."),
    ):
        begun = time.monotonic()
        act()
        times.append(time.monotonic() - begun)

    assert max(times) < 1, times
    assert host.command(bridge, "review")["text"] == "A review is running already."


def test_a_write_during_a_review_makes_it_stale_and_the_next_one_learns(host: Host) -> None:
    bridge = host.start()
    host.settle(bridge, PROMPT)
    thinking(bridge)
    host.tool(bridge, action="add", content="Use tabs.")

    answer = {"jsonrpc": "2.0", "id": bridge.asked[0]["id"], **says(proposal(learns()))}
    bridge.write(json.dumps(answer).encode() + b"\n")
    assert (last_review(host)["outcome"], host.texts(bridge)) == ("stale", ["Use tabs."])
    bridge.asks = lambda asked: says(proposal(learns()))
    settled_after_review(host, bridge)
    bridge.until(lambda: cards(bridge))
    assert sorted(host.texts(bridge)) == [LEARNED, "Use tabs."]


def test_a_model_that_is_late_costs_a_failure_and_no_evidence(host: Host) -> None:
    host.config("review.timeout = 1")
    bridge = host.start()
    host.settle(bridge, PROMPT)

    assert last_review(host)["reason"] == "The host did not answer `model/complete` within 1 s."
    late = {"jsonrpc": "2.0", "id": bridge.asked[0]["id"], **says(proposal(learns()))}
    bridge.write(json.dumps(late).encode() + b"\n")

    assert host.texts(bridge) == []
    assert review_state(host)["review"]["state"] == "backing-off"
    bridge.asks = lambda asked: says(proposal(learns()))
    asked_for(host, bridge, "review retry")
    bridge.until(lambda: cards(bridge))
    assert host.texts(bridge) == [LEARNED]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"error": {"code": -32001, "message": "No model is selected."}}, "The host refused: No model is selected."),
        ({"error": {}}, "The host refused: no reason given"),
        ({"error": "text"}, "The host refused: no reason given"),
        ({"result": 7}, "The host's answer to `model/complete` is no object."),
        ({"result": None}, "The host's answer to `model/complete` is no object."),
        ({"result": {}}, "its answer has no text"),
        ({"result": {"text": 7}}, "its answer has no text"),
        (says("", stop_reason="error"), "its model answered with an error"),
        (says("I will not."), "The reviewer's answer was not used"),
        (says("{", stop_reason="length"), "cut off by the token limit"),
    ],
)
def test_a_model_that_cannot_answer_is_told_to_a_user_who_asked(host: Host, reply: Document, said: str) -> None:
    bridge = host.start()
    bridge.asks = lambda asked: reply
    host.session.say(PROMPT)

    host.command(bridge, "review")
    bridge.until(bridge.notices)

    assert bridge.told[0]["params"]["level"] == "warning"
    assert said in bridge.notices()[0]
    assert host.texts(bridge) == []
    assert review_state(host)["review"]["failures"] == 1


def test_a_review_that_finds_nothing_says_so_to_a_user_who_asked(host: Host) -> None:
    bridge = host.start()
    bridge.asks = lambda asked: says(NOTHING)
    host.session.say("What does the build do?")

    host.command(bridge, "review")
    bridge.until(bridge.notices)
    asked_for(host, bridge, "review")
    bridge.until(lambda: len(bridge.notices()) == 2)

    assert (bridge.notices(), len(bridge.asked)) == (["Nothing new to remember."] * 2, 1)


def test_a_review_that_would_remove_most_is_held_and_told(host: Host) -> None:
    bridge = host.start()
    ids = [
        host.tool(bridge, action="add", content=f"Rule {number} stands here.")["details"]["entry"]["id"]
        for number in range(4)
    ]
    bridge.asks = lambda asked: says(proposal(*({"action": "remove", "entryId": one} for one in ids[:3])))

    host.settle(bridge, PROMPT)
    bridge.until(bridge.notices)

    assert bridge.notices()[0].startswith("A review was held: The review would remove 3 of 4 entries")
    assert len(host.texts(bridge)) == 4


def test_a_session_without_a_file_is_reviewed_only_when_asked_and_by_its_entries(host: Host) -> None:
    bridge = host.start()
    host.session.say(PROMPT)
    entries = [json.loads(line) for line in host.session.file.read_text().splitlines()][1:]
    host.who = {"id": "s1", "file": None}

    def reply(asked: Document) -> Document:
        if asked["method"] == "session/entries":
            return {"result": {"entries": entries, "id": "s1", "cwd": "/p"}}
        return says(proposal(learns()))

    bridge.asks = reply
    bridge.call("turn/settled", session=host.who, branch=None, outcome="completed", prompts=[PROMPT])
    time.sleep(0.5)
    assert bridge.asked == []

    host.command(bridge, "review")

    bridge.until(lambda: cards(bridge))
    assert [one["method"] for one in bridge.asked] == ["session/entries", "model/complete"]
    assert bridge.asked[0]["params"] == {"after": None}


@pytest.mark.parametrize("entries", [None, "text", [7, None, {}, {"type": "message"}]])
def test_entries_that_cannot_be_read_are_no_end_of_the_bridge(host: Host, entries: Any) -> None:
    bridge = host.start()
    host.who = {"id": "s1", "file": None}
    bridge.asks = lambda asked: {"result": {"entries": entries}}

    host.command(bridge, "review")
    bridge.until(bridge.notices)

    assert host.turn(bridge)["branch"] == "main"


def test_a_session_file_that_is_gone_is_told_to_a_user_who_asked(host: Host) -> None:
    bridge = host.start()
    host.session.file.unlink()

    host.command(bridge, "review")
    bridge.until(bridge.notices)

    assert bridge.notices()[0].startswith("The review could not run: The session file")


def test_what_was_left_unreviewed_is_reviewed_when_the_session_is_opened_again(host: Host) -> None:
    host.session.say("The deploy needs the blue key card.", "What does the build do?")
    bridge = host.start()
    bridge.asks = lambda asked: says(proposal(learns()))
    bridge.call("session/start", session=host.who, branch=None, reason="resume")

    host.settle(bridge, "Hello again.")

    bridge.until(lambda: cards(bridge))
    assert "| The deploy needs the blue key card." in bridge.asked[0]["params"]["prompt"]


def test_a_secret_in_a_turn_reaches_neither_the_model_nor_the_disk(host: Host) -> None:
    secret = fake_secret()
    bridge = host.start()
    bridge.asks = lambda asked: says(proposal(learns(f"The token is {secret}."), learns()))

    host.settle(bridge, f"From now on, remember that the deploy token is {secret}.")
    bridge.until(lambda: cards(bridge))

    assert secret not in json.dumps(bridge.asked)
    assert secret.encode() not in everything_in(str(host.repository))
    files = [file for file in host.home.rglob("*") if file.is_file()]
    assert not [file for file in files if secret.encode() in file.read_bytes()]


def test_ending_the_session_waits_for_a_review_that_is_nearly_done(host: Host) -> None:
    bridge = host.start()
    host.settle(bridge, PROMPT)
    thinking(bridge)
    number = bridge.send("session/end", {"reason": "quit", "wait": 2})
    answer = {"jsonrpc": "2.0", "id": bridge.asked[0]["id"], **says(proposal(learns()))}
    bridge.write(json.dumps(answer).encode() + b"\n")

    assert bridge.answer(number)["result"] == {}
    assert git(host.repository, "log", "--format=%s", "main") == f"review: add 1: {LEARNED}"


def test_ending_the_session_calls_a_review_off_after_its_time(host: Host) -> None:
    bridge = host.start()
    host.settle(bridge, PROMPT)
    thinking(bridge)
    begun = time.monotonic()

    bridge.call("session/end", reason="quit", wait=60)

    assert time.monotonic() - begun < 3
    bridge.close()
    assert bridge.gone(3)
    after_interruption(host)


def after_interruption(host: Host) -> None:
    """Nothing is half-written; the review is due and runs once."""
    if (host.home / "data").exists():
        assert not fsck(host.repository)
    assert review_state(host)["review"]["state"] == "due"
    assert review_state(host)["entries"] == 0
    bridge = host.start()
    bridge.asks = lambda asked: says(proposal(learns()))
    host.settle(bridge, "Go on.")
    bridge.until(lambda: cards(bridge) and bridge.told[-1]["method"] == "status")
    host.settle(bridge, "And on.")
    assert git(host.repository, "log", "--format=%s", "main") == f"review: add 1: {LEARNED}"
    assert len(bridge.asked) == 1


def test_a_host_that_hangs_up_in_the_middle_of_a_review_is_rid_of_the_process_in_two_seconds(host: Host) -> None:
    bridge = host.start()
    host.settle(bridge, PROMPT)
    thinking(bridge)

    bridge.close()

    assert bridge.gone(2)
    after_interruption(host)


def test_a_bridge_killed_in_the_middle_of_a_review_leaves_it_due(host: Host) -> None:
    bridge = host.start()
    host.settle(bridge, PROMPT)
    thinking(bridge)

    bridge.process.send_signal(signal.SIGKILL)

    assert bridge.gone(5)
    after_interruption(host)


def program(host: Host, tmp_path: Path) -> tuple[Bridge, int]:
    """A bridge whose review is done by a program that thinks for ever; its process."""
    marker = tmp_path / "program"
    script = f"import os, time; open({str(marker)!r}, 'w').write(str(os.getpid())); time.sleep(100)"
    host.config(f"review.reviewer = 'command'\nreview.command = {json.dumps([sys.executable, '-c', script])}\n")
    bridge = host.start()
    host.settle(bridge, PROMPT)
    for _ in range(200):
        if marker.exists() and marker.read_text():
            break
        time.sleep(0.1)
    return bridge, int(marker.read_text())


def test_a_program_that_reviews_ends_with_its_bridge(host: Host, tmp_path: Path) -> None:
    bridge, pid = program(host, tmp_path)

    bridge.close()

    assert bridge.gone(2)
    assert not lives(pid, 2)


def test_a_program_that_reviews_ends_with_its_session(host: Host, tmp_path: Path) -> None:
    bridge, pid = program(host, tmp_path)

    bridge.call("session/end", reason="quit", wait=0)

    assert not lives(pid, 2)
    assert bridge.process.poll() is None


@pytest.mark.skipif(find_spec("pydantic_ai") is None, reason="the extra `llm` is not installed")
def test_an_endpoint_that_never_answers_does_not_keep_the_process(host: Host) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        host.config(
            f"[review]\nreviewer = 'http'\n[review.http]\nmodel = 'small'\nurl = 'http://127.0.0.1:{port}/v1'\n"
        )
        bridge = host.start()
        host.settle(bridge, PROMPT)
        server.settimeout(30)
        connection, _ = server.accept()
        with connection:
            bridge.close()

            assert bridge.gone(2.5)  # a second and a half for the review to let go, the rest for a busy machine
    assert review_state(host)["review"]["state"] == "due"


def lives(pid: int, seconds: float) -> bool:
    """Whether the process is still there after a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return False
        except OSError:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_forty_hosts_that_die_or_hang_up_leave_nothing_behind(host: Host) -> None:
    pids = []
    for round_ in range(10):
        bridges = [host.start(hello=False) for _ in range(4)]
        host.session.say(PROMPT)
        for bridge in bridges:
            bridge.send("turn/settled", {"session": host.who, "outcome": "completed", "prompts": [PROMPT]})
        deadline = time.monotonic() + 30
        while not any(bridge.asked for bridge in bridges) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert any(bridge.asked for bridge in bridges), round_
        for number, bridge in enumerate(bridges):
            pids.append(bridge.process.pid)
            if number % 2:
                bridge.process.send_signal(signal.SIGKILL)
            else:
                bridge.close()
        # Hosts that hung up have let go before the next ones come, so that one of those is free to review.
        assert all(bridge.gone(10) for bridge in bridges)

    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
    bridge = host.start()
    begun = time.monotonic()
    host.tool(bridge, action="add", content="Use tabs.")
    assert time.monotonic() - begun < 10
    bridge.asks = lambda asked: says(proposal(learns()))
    host.settle(bridge, "Go on.")
    bridge.until(lambda: cards(bridge) and bridge.told[-1]["method"] == "status")
    host.settle(bridge, "And on.")
    subjects = git(host.repository, "log", "--format=%s", "main").splitlines()
    assert subjects == [f"review: add 1: {LEARNED}", "add: Use tabs."]
    assert not fsck(host.repository)


def test_a_session_of_opencode_is_read_from_its_database_and_its_model_is_not_asked_for(
    host: Host, tmp_path: Path
) -> None:
    host.config('[review]\nreviewer = "rules"\n')  # `auto` would run the program, where there is one
    bridge = host.start(hello=False)
    bridge.call("hello", protocol=1, host="opencode", host_version="", cwd=str(host.project))
    path = laid_out("opencode", tmp_path / "elsewhere", str(host.project))
    host.who = {"id": SESSION, "file": str(path)}

    host.command(bridge, "review")

    assert last_review(host)["outcome"] == "applied"
    assert bridge.asked == []
