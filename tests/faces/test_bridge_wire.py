"""The bridge as a process: lines in, lines out, whatever stands in them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from store.builders import PACKAGE, clean_environ

from noforgetti import __version__

from .bridge_host import Host, hosting

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host without a bridge yet."""
    with hosting(tmp_path) as made:
        yield made


def plain(text: str, host: Host) -> str:
    """A transcript without what differs from run to run."""
    for known, name in (
        (str(host.home), "<home>"),
        (str(host.project), "<project>"),
        (str(host.session.file), "<session>"),
        (__version__, "<version>"),
    ):
        text = text.replace(known, name)
    text = re.sub(r"\b[0-9a-f]{40}\b", "<commit>", text)
    text = re.sub(r"(?<=commit )[0-9a-f]{12}\b", "<short>", text)
    text = re.sub(r"\b[0-9a-f]{12}(?=[ ):])", "<short>", text)
    text = re.sub(r"\b[0-9a-f]{16}\b", "<key>", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>", text)
    return re.sub(r"(use-tabs|run-the-tests)-[a-z2-7]{4}", r"\1-<id>", text)


def test_a_conversation_reads_as_the_golden_one(host: Host) -> None:
    bridge = host.start(hello=False)
    lines: list[str] = []

    def say(method: str, **params: Any) -> None:
        answer = bridge.answer(bridge.send(method, params))
        lines.append("> " + json.dumps({"method": method, "params": params}))
        lines.append("< " + json.dumps(answer, indent=2))

    who = host.who
    say("hello", protocol=1, host="test", host_version="0", cwd=str(host.project))
    say("session/start", session=who, branch=None, reason="startup")
    say("turn/start", session=who, branch=None, prompt="Hello.")
    say("tool", name="project_memory", arguments={"action": "add", "content": "Use tabs."}, session=who, branch=None)
    say("turn/start", session=who, branch="main", prompt="Hello.")
    say("turn/settled", session=who, branch="main", outcome="completed", prompts=["Hello."])
    say("command", session=who, branch="main", line="fork trial", interactive=True)
    say("turn/start", session=who, branch="trial", prompt="Hello.")
    say("command", session=who, branch="trial", line="use nowhere", interactive=True)
    say("complete", prefix="us", branch="trial")
    say("complete", prefix="use m", branch="trial")
    say("turn/start", session=who, branch="gone", prompt="Hello.")
    say("session/end", reason="quit", wait=1)
    told = plain("\n".join(lines), host) + "\n"

    assert told == (GOLDEN / "bridge.txt").read_text(encoding="utf-8")


NONSENSE: list[tuple[bytes, int]] = [
    (b"nonsense", -32700),
    (b"{", -32700),
    (b"7", -32700),
    (b"[]", -32700),
    (b'"text"', -32700),
    (b"\xff\xfe\x00", -32700),
    (b"\x00", -32700),
    (b'{"id": 1, "method": "hello"', -32700),
    (b"[" * 100_000, -32700),
    (b"9" * 10_000, -32700),
]


@pytest.mark.parametrize("group", [NONSENSE[:5], NONSENSE[5:]], ids=["words", "bytes"])
def test_a_line_that_is_no_message_is_answered_and_the_next_one_works(
    host: Host, group: list[tuple[bytes, int]]
) -> None:
    bridge = host.start()
    for line, code in group:
        bridge.write(line + b"\n")
        assert bridge.answer(None)["error"]["code"] == code

    assert host.turn(bridge)["branch"] == "main"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("hello", {}),
        ("hello", {"cwd": 7}),
        ("hello", []),
        ("hello", "text"),
        ("turn/start", {}),
        ("turn/start", {"session": "s1"}),
        ("turn/start", {"session": {"id": 7}}),
        ("turn/start", {"session": {"id": "s1", "file": 7}}),
        ("turn/start", {"session": {"id": "s1"}, "branch": 7}),
        ("turn/settled", {"session": {"id": "s1"}, "outcome": "perhaps"}),
        ("turn/settled", {"session": {"id": "s1"}, "prompts": "text"}),
        ("turn/settled", {"session": {"id": "s1"}, "prompts": [7]}),
        ("command", {"session": {"id": "s1"}}),
        ("command", {"session": {"id": "s1"}, "line": ["show"]}),
        ("complete", {"prefix": None}),
        ("tool", {"session": {"id": "s1"}, "name": "project_memory", "arguments": "text"}),
        ("session/end", {"wait": "long"}),
    ],
)
def test_parameters_of_the_wrong_shape_are_refused_by_name(shared: Host, method: str, params: Any) -> None:
    error = shared.bridges[0].refused(method, params)

    assert (error["code"], error["message"].partition(":")[0], error["data"]["reason"]) == (
        -32602,
        f"`{method}`",
        "usage",
    )


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """One bridge for tests that leave nothing behind."""
    with hosting(tmp_path_factory.mktemp("shared")) as made:
        made.start()
        yield made


def test_an_unknown_method_is_refused_and_an_unknown_field_ignored(shared: Host) -> None:
    bridge = shared.bridges[0]

    assert bridge.refused("turn/finish", {})["code"] == -32601
    assert bridge.refused("", {})["code"] == -32601
    bridge.write(b'{"id": "seven", "method": 7}\n')
    assert bridge.answer("seven")["error"]["code"] == -32601
    assert bridge.call("complete", prefix="sta", branch=None, colour="red")["items"][0]["value"] == "status"


def test_a_message_without_a_number_is_not_answered(shared: Host) -> None:
    bridge = shared.bridges[0]
    count = len(bridge.raw)
    bridge.write(b'{"method": "complete", "params": {"prefix": ""}}\n{"method": "unheard/of"}\n')

    bridge.call("complete", prefix="x", branch=None)

    assert len(bridge.raw) == count + 1


def test_answers_to_questions_that_nobody_asked_are_ignored(shared: Host) -> None:
    bridge = shared.bridges[0]
    for number in (b"1", b"99", b"true", b"null", b'"x"', b"1.5", b"[]"):
        bridge.write(b'{"id": ' + number + b', "result": {}}\n{"id": ' + number + b', "error": "x"}\n')

    assert bridge.call("complete", prefix="x", branch=None) == {"items": []}


def test_two_requests_in_one_chunk_and_one_in_two_are_three_requests(shared: Host) -> None:
    bridge = shared.bridges[0]
    line = '{"id": "%s", "method": "complete", "params": {"prefix": "x"}}\n'
    third = (line % "c").encode()

    bridge.write((line % "a" + line % "b").encode() + third[:20])
    assert [bridge.answer(name)["result"] for name in ("a", "b")] == [{"items": []}] * 2
    bridge.write(third[20:])

    assert bridge.answer("c")["result"] == {"items": []}


def test_a_line_of_megabytes_is_a_line(shared: Host) -> None:
    bridge = shared.bridges[0]

    answer = bridge.call("turn/start", session=shared.who, branch=None, prompt="x" * 5_000_000)

    assert answer["branch"] == "main"


def test_carriage_returns_and_empty_lines_do_no_harm(shared: Host) -> None:
    bridge = shared.bridges[0]

    bridge.write(b'\r\n\n  \n{"id": "r", "method": "complete", "params": {"prefix": "x"}}\r\n')

    assert bridge.answer("r")["result"] == {"items": []}


@pytest.mark.parametrize(
    "text", ["\ud800", "a\udfffb", "\x00", "\u2028", "\u202e", "\x1b[31m", "\U0001f468\u200d\U0001f469"]
)
def test_odd_characters_are_answered_wherever_they_stand(shared: Host, text: str) -> None:
    bridge, who = shared.bridges[0], {"id": text, "file": None}

    for method, params in (
        ("turn/start", {"session": who, "branch": text, "prompt": text}),
        ("command", {"session": who, "line": f"show {text}"}),
        ("command", {"session": who, "line": text}),
        ("command", {"session": who, "line": f"fork {text}"}),
        ("command", {"session": who, "line": f"use {text}"}),
        ("command", {"session": who, "line": f"log {text}"}),
        ("command", {"session": who, "line": f"undo {text}"}),
        ("command", {"session": who, "line": f"diff {text}"}),
        ("command", {"session": who, "line": f"merge {text}"}),
        ("complete", {"prefix": f"use {text}"}),
        ("tool", {"session": who, "name": text, "arguments": {}}),
        ("tool", {"session": who, "name": "project_memory", "arguments": {"action": text}}),
        ("tool", {"session": who, "name": "project_memory", "arguments": {"action": "remove", "oldText": text}}),
    ):
        answer = bridge.answer(bridge.send(method, params))
        assert answer.get("error", {}).get("code") != -32603, (method, params, answer, bridge.errors)
    assert all(line.isascii() and line.count(b"\n") == 1 for line in bridge.raw)


def test_a_fact_with_a_lone_surrogate_is_refused_or_cleaned_and_never_kept(host: Host) -> None:
    bridge = host.start()

    answer = host.tool(bridge, action="add", content="Use tabs \ud800 here.")

    kept = host.texts(bridge)
    assert (answer["error"], kept) in ((True, []), (False, ["Use tabs \N{REPLACEMENT CHARACTER} here."]))


def test_half_a_line_at_the_end_is_no_request(host: Host) -> None:
    bridge = host.start()
    bridge.write(b'{"id": 1, "method": "tool", "params": {"name": "project_memory"')

    bridge.close()

    assert bridge.gone(5)
    assert bridge.process.returncode == 0


def test_the_process_ends_when_its_host_hangs_up_and_says_nothing(host: Host) -> None:
    bridge = host.start()
    host.tool(bridge, action="add", content="Use tabs.")

    bridge.close()

    assert bridge.gone(2)
    assert (bridge.process.returncode, bridge.errors) == (0, b"")


def test_a_host_that_reads_nothing_and_hangs_up_leaves_no_process(host: Host) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "noforgetti", "serve", "--stdio"],
        cwd=host.project,
        env={**clean_environ(NOFORGETTI_HOME=str(host.home)), **host.environ, "PYTHONPATH": str(PACKAGE)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(b'{"id": 1, "method": "complete", "params": {"prefix": ""}}\n' * 2_000)
    process.stdin.close()
    try:
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.stdout.close()


def test_what_a_library_prints_never_gets_between_the_lines(host: Host, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys, threading, time\n"
        "def chatter():\n"
        "    while not os.path.sameopenfile(1, 2):\n"
        "        time.sleep(0.01)\n"
        "    for _ in range(20):\n"
        "        print('library chatter', flush=True)\n"
        "        os.write(1, b'raw chatter\\n')\n"
        "        time.sleep(0.02)\n"
        "if 'serve' in sys.argv or 'serve' in sys.orig_argv:\n"
        "    threading.Thread(target=chatter, daemon=True).start()\n"
    )
    bridge = host.start(library=str(tmp_path))

    for _ in range(30):
        host.turn(bridge)
        time.sleep(0.05)
        if bridge.errors.count(b"raw chatter") == 20:
            break

    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in bridge.raw)
    assert b"library chatter" in bridge.errors
    assert b"raw chatter" in bridge.errors


def test_settings_that_cannot_be_used_are_told_with_each_answer_until_they_are_mended(host: Host) -> None:
    host.config("limits.hard = 5")
    bridge = host.start(hello=False)
    params = {"session": host.who, "branch": None, "prompt": "Hello."}

    refused = [bridge.refused("hello", {"cwd": str(host.project)}), bridge.refused("turn/start", params)]

    assert [(one["code"], one["data"]["reason"]) for one in refused] == [(-32000, "bad-settings")] * 2
    assert "`limits.hard` is `5`" in refused[1]["message"]
    host.config("limits.hard = 7000")
    assert host.turn(bridge)["status"] == "memory main: 0 entries, 0 %"


def test_a_broken_repository_is_an_answer_and_the_process_lives(host: Host) -> None:
    bridge = host.start()
    host.tool(bridge, action="add", content="Use tabs.")
    repository, away = host.repository, host.home / "away.git"
    bridge.end()
    repository.rename(away)
    repository.mkdir()
    (repository / "HEAD").write_text("nonsense")
    bridge = host.start()

    for _ in range(2):
        error = bridge.refused("turn/start", {"session": host.who, "branch": None, "prompt": "Hello."})
        assert (error["code"], error["data"]["kind"]) == (-32000, "corrupt")
        assert "is not a readable git repository" in error["message"]
    (repository / "HEAD").unlink()
    repository.rmdir()
    away.rename(repository)
    assert host.texts(bridge) == ["Use tabs."]


def test_a_repository_that_vanished_under_a_running_bridge_is_no_end_of_it(host: Host) -> None:
    bridge = host.start()
    host.tool(bridge, action="add", content="Use tabs.")
    shutil.rmtree(host.repository)

    answer = bridge.answer(bridge.send("turn/start", {"session": host.who, "branch": None, "prompt": "Hello."}))

    assert answer.get("error", {}).get("code") != -32603, answer
    again = bridge.answer(
        bridge.send(
            "tool",
            {
                "session": host.who,
                "name": "project_memory",
                "arguments": {"action": "add", "content": "Run the tests."},
            },
        )
    )
    assert again.get("error", {}).get("code") != -32603, (again, bridge.errors)


def test_a_data_folder_that_cannot_be_made_refuses_the_write_and_nothing_else(host: Host) -> None:
    host.home.mkdir()
    (host.home / "data").write_text("no folder")
    bridge = host.start()

    assert host.turn(bridge)["inject"] == {"section": ""}
    answer = bridge.answer(
        bridge.send(
            "tool",
            {
                "session": host.who,
                "name": "project_memory",
                "arguments": {"action": "add", "content": "Run the tests."},
            },
        )
    )

    assert answer.get("error", {}).get("code") != -32603, (answer, bridge.errors)
    assert answer["result"]["error"] is True
    assert host.turn(bridge)["branch"] == "main"
