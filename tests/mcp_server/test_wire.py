"""The server at the other end of two pipes: what it makes of bytes that are no message, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from store.builders import PACKAGE, fsck

from .client import LIMIT, Place

if TYPE_CHECKING:
    from .conftest import Start

HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
NOISE = """
import os, threading, time
def noise():
    while not os.path.exists({asked!r}):
        time.sleep(0.01)
    print("noise", flush=True)
    os.system("echo more noise")
    open({done!r}, "w").close()
threading.Thread(target=noise, daemon=True).start()
"""
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
BROKEN: list[tuple[bytes, dict[str, Any]]] = [
    (b'{"jsonrpc": "2.0", "id": 7, "method": ', {"id": None, "code": -32700, "message": "The message is no JSON."}),
    (b"hello", {"id": None, "code": -32700, "message": "The message is no JSON."}),
    (b"[" * 100_000, {"id": None, "code": -32700, "message": "The message is no JSON."}),
    (b"\xff\xfe{}", {"id": None, "code": -32700, "message": "The message is not UTF-8."}),
    (b"[1, 2]", {"id": None, "code": -32600, "message": "The message is no JSON-RPC message."}),
    (b'{"jsonrpc": "2.0", "id": 8}', {"id": 8, "code": -32600, "message": "The message is no JSON-RPC message."}),
    (
        b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
        {
            "id": None,
            "code": -32600,
            "message": "The message has an `id` that is neither text nor a whole number.",
        },
    ),
    (
        b'{"jsonrpc": "2.0", "id": 1.5, "method": "tools/call", "params": {"name": "memory_list"}}',
        {
            "id": None,
            "code": -32600,
            "message": "The message has an `id` that is neither text nor a whole number.",
        },
    ),
    (
        rb'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "x", "arguments": {"a": "\ud83d"}}}',
        {"id": 9, "code": -32600, "message": "The message holds half of a character (a lone surrogate)."},
    ),
]


@pytest.mark.parametrize(("line", "told"), BROKEN, ids=range(len(BROKEN)))
def test_a_line_that_is_no_message_is_answered_and_the_next_one_served(
    place: Place, start: Start, line: bytes, told: dict[str, Any]
) -> None:
    wire = start()
    wire.greet()

    wire.write(line)
    answer = wire.next()
    after = wire.call("memory_add", text="Use pnpm.")

    error = {"code": told["code"], "message": f"{told['message']} Nothing was done."}
    assert answer == {"jsonrpc": "2.0", "id": told["id"], "error": error}
    assert after["structuredContent"]["outcome"] == "added"
    assert wire.end() == (0, b"")


def test_a_line_without_end_is_not_kept(place: Place, start: Start) -> None:
    wire = start()
    wire.greet()

    wire.write(b'{"jsonrpc": "2.0", "id": 5, "method": "' + b"x" * (70 << 20) + b'"}')
    answer = wire.next()

    assert answer["error"]["message"] == "The message has over 33,554,432 bytes. Nothing was done."
    assert wire.ask("ping", {})["result"] == {}
    assert wire.end() == (0, b"")


def test_requests_in_one_piece_with_the_end_of_input_are_answered(place: Place) -> None:
    call = {"name": "memory_add", "arguments": {"text": "Use pnpm."}}
    asked = [HELLO, READY, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}]

    done = subprocess.run(
        place.command,
        cwd=place.project,
        env=place.settings,
        input="".join(json.dumps(one) + "\n" for one in asked),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["id"] for one in answers if "id" in one] == ["hello", 2]
    assert (done.returncode, done.stderr) == (0, "")
    assert [one["text"] for one in place.cli("show")["entries"]] == ["Use pnpm."]


def test_a_client_that_says_nothing_ends_it_with_0(place: Place, start: Start) -> None:
    assert start().end() == (0, b"")


def test_a_client_that_no_longer_reads_ends_it_quietly(place: Place) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    asked = json.dumps(HELLO) + "\n"

    try:
        done = subprocess.run(
            place.command,
            cwd=place.project,
            env=place.settings,
            input=asked.encode() * 3,
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=LIMIT,
            check=False,
        )
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_without_a_trace(place: Place, start: Start, number: signal.Signals, status: int) -> None:
    wire = start()
    wire.greet()
    wire.call("memory_add", text="Use pnpm.")

    wire.process.send_signal(number)

    assert wire.process.wait(LIMIT) == status
    assert wire.process.stderr
    assert wire.process.stderr.read() == b""


@pytest.mark.parametrize("guard", ["NOFORGETTI_REVIEWER", "PI_SUBAGENT_CHILD", "PI_SUBAGENT_RUN_ID"])
def test_a_reviewer_and_a_subagent_get_no_memory(place: Place, guard: str) -> None:
    done = subprocess.run(
        place.command,
        cwd=place.project,
        env={**place.settings, guard: "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"{guard} is set: a reviewer or subagent works without memory.\n"


def test_without_the_extra_it_says_what_to_install(place: Place, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "mcp_types.py").write_text("raise ModuleNotFoundError('no', name='mcp_types')\n", encoding="utf-8")
    (hidden / "mcp.py").write_text("raise ModuleNotFoundError('no', name='mcp')\n", encoding="utf-8")
    environ = {**place.settings, "PYTHONPATH": os.pathsep.join([str(hidden), str(PACKAGE)])}

    done = subprocess.run(place.command, cwd=place.project, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr == (
        "The MCP server needs the package `mcp` 2, which is not installed. Nothing was started.\n"
        "Hint: pip install 'noforgetti[mcp]'\n"
    )


def test_a_subfolder_belongs_to_its_project(place: Place, start: Start) -> None:
    below = place.project / "src" / "deep"
    below.mkdir(parents=True)
    wire = start(place=Place(below, place.home, place.environ))
    wire.greet()

    wire.call("memory_add", text="Use pnpm.")

    assert wire.end()[0] == 0
    assert [one["text"] for one in place.cli("show")["entries"]] == ["Use pnpm."]


def test_the_words_before_the_command_say_where_it_works(place: Place, start: Start) -> None:
    place.cli("fork", "mine")
    mine = start("--branch", "mine")
    mine.greet()
    wide = start("--user")
    wide.greet()

    mine.call("memory_add", text="Only here.")
    wide.call("memory_add", text="The user writes British English.")

    assert (mine.end()[0], wide.end()[0]) == (0, 0)
    assert place.cli("show")["entries"] == []
    assert [one["text"] for one in place.cli("--branch", "mine", "show")["entries"]] == ["Only here."]
    assert [one["text"] for one in place.cli("show")["user"]] == ["The user writes British English."]


def test_settings_that_cannot_be_read_are_said_in_every_answer_and_end_nothing(place: Place, start: Start) -> None:
    place.home.mkdir()
    (place.home / "config.toml").write_text("worktrees = [", encoding="utf-8")
    wire = start()
    wire.greet()

    result = wire.call("memory_list")
    (place.home / "config.toml").unlink()

    assert result["isError"]
    assert "config.toml" in result["structuredContent"]["reason"]
    assert "isError" not in wire.call("memory_list") or not wire.call("memory_list")["isError"]
    assert wire.end()[0] == 0


def test_what_prints_on_stdout_never_reaches_the_wire(place: Place, start: Start, tmp_path: Path) -> None:
    asked, done = tmp_path / "asked", tmp_path / "done"
    (tmp_path / "sitecustomize.py").write_text(NOISE.format(asked=str(asked), done=str(done)), encoding="utf-8")
    environ = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(PACKAGE)])}
    wire = start(place=Place(place.project, place.home, environ))
    wire.greet()

    asked.touch()
    while not done.exists():
        assert wire.process.poll() is None
        time.sleep(0.01)

    assert wire.call("memory_list")["structuredContent"]["branch"] == "main"
    assert wire.end() == (0, b"noise\nmore noise\n")


def test_starting_loads_no_model_and_no_index(place: Place) -> None:
    script = (
        "import sys; from noforgetti.faces.mcp import server\n"
        "print(sorted({'numpy', 'fastembed', 'tokenizers', 'tree_sitter', 'pygit2'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], env=place.settings, capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"


def test_twenty_servers_that_were_killed_leave_no_lock_and_no_process(place: Place, start: Start) -> None:
    place.cli("add", "Use pnpm.")
    wires = [start() for _ in range(20)]
    for number, wire in enumerate(wires):
        wire.write(HELLO)
        wire.write(READY)
        wire.send(
            "tools/call", {"name": "memory_add", "arguments": {"text": f"Service {number} listens on {4000 + number}."}}
        )
    [wire.next() for wire in wires[:10]]

    for wire in wires:
        wire.process.kill()
        wire.process.wait()

    done = place.cli("add", "Written afterwards.")
    repository = place.cli("status")["project"]["repository"]
    assert done["outcome"] == "added"
    assert fsck(repository) == ""
    assert _processes(str(place.home)) == []


def _processes(home: str) -> list[str]:
    """Commands of processes whose environment names this home."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            environ = Path(f"/proc/{name}/environ").read_bytes()
            command = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if re.search(rb"(?:^|\0)NOFORGETTI_HOME=" + re.escape(home.encode()) + rb"(?:\0|$)", environ):
            found.append(command.decode(errors="replace"))
    return found
