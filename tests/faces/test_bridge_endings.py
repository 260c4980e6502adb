"""What a session leaves when it ends: stated preferences that wait, and evidence that is reviewed now or later."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from service.said import Session, learns, proposal
from store.builders import PACKAGE, clean_environ

from .bridge_host import Host, hosting, says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .bridge_host import Bridge, Document

SMALL = ("Rename the flag in the parser.", "Move the helper to its own module.", "Write the test for it.")
LEARNED = "Use pnpm instead of npm."
REVIEWED = says(proposal(learns(LEARNED)))


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host without a bridge yet."""
    with hosting(tmp_path) as made:
        yield made


def cli(host: Host, *words: str, status: int = 0) -> Document:
    """The document of one command in the host's project."""
    environ = clean_environ(NOFORGETTI_HOME=str(host.home), PYTHONPATH=str(PACKAGE))
    done = subprocess.run(
        [sys.executable, "-m", "noforgetti", "--json", *words],
        cwd=host.project,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, (words, done.stdout, done.stderr)
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def texts(host: Host) -> list[str]:
    """The entries of the branch."""
    return [one["text"] for one in cli(host, "show")["entries"]]


def until(happened: Any, limit: float = 30.0) -> None:
    """Wait for what another process brings about."""
    end = time.monotonic() + limit
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.1)


def waiting(host: Host) -> list[Document]:
    """What waits on the branch."""
    found: list[Document] = cli(host, "candidates")["candidates"]
    return found


def end(bridge: Bridge, reason: str = "quit", wait: float = 2.0) -> float:
    """The session ends as Pi ends it; seconds until the bridge is gone."""
    start = time.monotonic()
    bridge.call("session/end", reason=reason, wait=wait)
    bridge.close()
    assert bridge.gone(10)
    return time.monotonic() - start


def test_a_stated_preference_waits_with_its_session_and_nothing_is_stored(host: Host) -> None:
    bridge = host.start()
    asked = "Should I always use tabs here? You can push this branch now. For this task, use the old parser."

    host.settle(bridge, "I prefer small commits over large ones. Now fix the build.", asked)
    end(bridge)

    (one,) = waiting(host)
    assert (one["kind"], one["text"]) == ("preference", "I prefer small commits over large ones.")
    assert (one["session"], one["writer"], one["category"]) == ("s1", "user", "preference")
    assert texts(host) == []


def test_what_is_discarded_is_not_asked_again_within_the_hour_and_what_is_known_never(host: Host) -> None:
    bridge = host.start()
    host.tool(bridge, action="add", content="Always answer in English.")
    host.settle(bridge, "I prefer small commits over large ones.")
    until(lambda: waiting(host))
    cli(host, "candidates", "discard", waiting(host)[0]["id"])

    host.settle(bridge, "I prefer small commits over large ones. Always answer in English.")
    end(bridge)

    assert waiting(host) == []


def test_preferences_can_be_left_alone(host: Host) -> None:
    host.config("preferences = false\n")
    bridge = host.start()

    host.settle(bridge, "I prefer small commits over large ones.")
    end(bridge)

    assert waiting(host) == []


def test_a_session_of_three_messages_is_reviewed_when_it_ends(host: Host) -> None:
    bridge = host.start()
    bridge.asks = lambda asked: REVIEWED
    for prompt in SMALL:
        host.settle(bridge, prompt)
    assert bridge.asked == []

    end(bridge)

    assert texts(host) == [LEARNED]
    assert cli(host, "queue")["sessions"] == []


@pytest.mark.parametrize(("prompts", "reason"), [(SMALL[:2], "quit"), (SMALL, "reload")])
def test_a_short_session_and_a_reload_ask_no_model(host: Host, prompts: tuple[str, ...], reason: str) -> None:
    bridge = host.start()
    bridge.asks = lambda asked: REVIEWED
    for prompt in prompts:
        host.settle(bridge, prompt)

    end(bridge, reason)

    assert bridge.asked == []


def test_a_model_that_takes_too_long_leaves_the_session_due_and_the_next_session_reviews_it(host: Host) -> None:
    bridge = host.start()
    for prompt in SMALL:
        host.settle(bridge, prompt)
    end(bridge, wait=0.3)
    (due,) = cli(host, "queue")["sessions"]
    assert (due["branch"], due["session"], due["file"], due["prompts"], due["messages"]) == (
        "main",
        "s1",
        str(host.session.file),
        3,
        3,
    )

    host.session = Session(host.project.parent / "s2.jsonl", "s2")
    host.who = {"id": "s2", "file": str(host.session.file)}
    later = host.start()
    later.asks = lambda asked: REVIEWED
    host.settle(later, "Fix the build.")
    later.until(lambda: [one for one in later.told if one["method"] == "card"])

    assert texts(host) == [LEARNED]
    assert cli(host, "queue")["sessions"] == []


def test_a_session_whose_bridge_was_killed_is_due_and_a_worker_reviews_it(host: Host) -> None:
    bridge = host.start()
    for prompt in (SMALL[0], SMALL[1], "From now on, use pnpm instead of npm in this repository."):
        host.settle(bridge, prompt)
    assert cli(host, "queue")["sessions"] == [], "it is still going on"
    bridge.process.kill()
    bridge.process.wait()

    done = cli(host, "worker", "--once", "--reviewer", "rules")

    assert next((one["what"], one["session"], one["outcome"]) for one in done["work"]) == ("review", "s1", "applied")
    assert len(texts(host)) == 1
    assert cli(host, "worker", "--once", "--reviewer", "rules")["outcome"] == "nothing"


def test_a_reviewer_that_needs_no_host_is_left_to_a_worker_that_ends_by_itself(host: Host, tmp_path: Path) -> None:
    program = tmp_path / "reviewer.py"
    program.write_text(f"import sys, time\nsys.stdin.read()\ntime.sleep(1)\nprint({proposal(learns(LEARNED))!r})\n")
    host.config(f'[review]\nreviewer = "command"\ncommand = ["{sys.executable}", "{program}"]\n')
    bridge = host.start()
    for prompt in SMALL:
        host.settle(bridge, prompt)

    took = end(bridge)

    until(lambda: texts(host) == [LEARNED])
    until(lambda: str(host.project) not in running())
    assert took < 3.0
    assert cli(host, "queue")["sessions"] == []


def running() -> str:
    """The command lines of all processes."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found.append(file.read().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(one for one in found if "noforgetti" in one)


def test_a_session_without_a_file_leaves_nothing(host: Host) -> None:
    bridge = host.start()
    host.who = {"id": "s1", "file": None}
    for prompt in (*SMALL, "I prefer small commits over large ones."):
        host.settle(bridge, prompt)

    end(bridge)

    assert (waiting(host), cli(host, "queue")["sessions"], bridge.asked) == ([], [], [])


def test_candidates_are_listed_accepted_and_dropped_in_a_session(host: Host) -> None:
    bridge = host.start()
    host.settle(bridge, "I prefer small commits over large ones. I always use tabs.")
    until(lambda: len(waiting(host)) == 2)
    first, second = waiting(host)

    listed = host.command(bridge, "candidates")
    accepted = host.command(bridge, f"candidates accept {first['id']}")
    dropped = host.command(bridge, f"candidates discard {second['id']}")
    unknown = host.command(bridge, f"candidates discard {second['id']}")

    assert listed["text"].splitlines()[0] == f"{first['id']}  preference: I prefer small commits over large ones."
    assert (accepted["level"], texts(host)) == ("info", ["I prefer small commits over large ones."])
    assert dropped["text"] == f"Dropped `{second['id']}`."
    assert unknown["level"] == "warning"
    assert waiting(host) == []
