"""`memory_review`: its progress, and a review that is called off."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from service.said import Session

from .client import LIMIT, MODES, Place, said

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import Client

    from .conftest import Start

SLOW = """
import os, sys, time
sys.stdin.read()
open(sys.argv[1], 'w').write(str(os.getpid()))
time.sleep(600)
"""


def _slow_reviewer(place: Place) -> Path:
    """Settings whose reviewer never answers; the file that it writes its process id to."""
    started = place.home.parent / "started"
    command = json.dumps([sys.executable, "-c", SLOW, str(started)])
    place.home.mkdir(exist_ok=True)
    (place.home / "config.toml").write_text(f"[review]\nreviewer = 'command'\ncommand = {command}\n", encoding="utf-8")
    return started


def _session(place: Place, turns: int = 1) -> Session:
    session = Session(place.home.parent / "session.jsonl")
    for number in range(turns):
        session.say(f"Always run linter number {number} before you commit.")
    return session


async def _until(happened: Any) -> None:
    with anyio.fail_after(LIMIT):
        while not happened():
            await anyio.sleep(0.02)


@pytest.mark.parametrize("mode", MODES)
def test_a_review_tells_how_far_it_is(place: Place, mode: str) -> None:
    session = _session(place, turns=30)
    told: list[tuple[float, str | None]] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async def work(client: Client) -> Any:
        arguments = {"transcript": str(session.file), "reviewer": "rules"}
        return await client.call_tool("memory_review", arguments, progress_callback=progress)

    done = place.talk(work, mode)

    windows = done.structured_content["windows"]
    assert windows > 1
    assert told == [(0.0, "reading session.jsonl"), *((float(number), "reading on") for number in range(1, windows))]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_review_that_is_called_off_leaves_its_evidence_due(place: Place, mode: str) -> None:
    started, session = _slow_reviewer(place), _session(place)

    async def work(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "memory_review", {"transcript": str(session.file)})
            await _until(started.exists)
            listed = await client.call_tool("memory_list", {})  # a review stands in nobody's way
            assert not listed.is_error
            tasks.cancel_scope.cancel()
        await _until(lambda: not _alive(started))
        again = await client.call_tool("memory_review", {"transcript": str(session.file), "reviewer": "rules"})
        assert [one["text"] for one in again.structured_content["operations"]] == [
            "Always run linter number 0 before you commit."
        ], said(again)

    place.talk(work, mode)

    assert [one["kind"] for one in place.cli("log")["commits"]] == ["review"]


def test_the_end_of_the_client_calls_its_review_off(place: Place, start: Start) -> None:
    started, session = _slow_reviewer(place), _session(place)
    wire = start()
    wire.greet()
    wire.send("tools/call", {"name": "memory_review", "arguments": {"transcript": str(session.file)}})
    asyncio.run(_until(started.exists))

    status, errors = wire.end()

    assert (status, errors) == (0, b"")
    asyncio.run(_until(lambda: not _alive(started)))
    done = place.cli("review", "--transcript", str(session.file), "--reviewer", "rules")
    assert done["outcome"] == "applied"


def test_a_server_killed_in_the_middle_of_a_review_leaves_it_due(place: Place, start: Start) -> None:
    started, session = _slow_reviewer(place), _session(place)
    wire = start()
    wire.greet()
    wire.send("tools/call", {"name": "memory_review", "arguments": {"transcript": str(session.file)}})
    asyncio.run(_until(started.exists))

    wire.process.kill()
    wire.process.wait()

    asyncio.run(_until(lambda: not _alive(started)))
    done = place.cli("review", "--transcript", str(session.file), "--reviewer", "rules")
    assert done["outcome"] == "applied"


def test_a_review_of_a_branch_that_moved_on_is_refused_by_its_expected_head(place: Place) -> None:
    session = _session(place)
    first = place.cli("add", "Use pnpm.")["commit"]
    place.cli("add", "Ports are in ports.toml.")

    async def work(client: Client) -> Any:
        arguments = {"transcript": str(session.file), "reviewer": "rules", "expected_head": first}
        return await client.call_tool("memory_review", arguments)

    assert place.talk(work).structured_content["code"] == "moved-head"


def _alive(started: Path) -> bool:
    """Whether the reviewer's program is still there."""
    time.sleep(0.02)
    try:
        with open(f"/proc/{started.read_text()}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (OSError, ValueError):
        return False
