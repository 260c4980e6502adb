"""What the real memory server writes is what its reader reads."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from npm_packages import ToolsMissingError, installed, required

from noforgetti.importers.mcp_memory import read

from .sources import items, said

pytestmark = pytest.mark.agents
HERE = Path(__file__).resolve().parent
CALLS: list[tuple[str, dict[str, Any]]] = [
    (
        "create_entities",
        {
            "entities": [
                {"name": "Shop", "entityType": "service", "observations": ["Runs on port 8443", 'a "quoted"\nline']},
                {"name": "Ada", "entityType": "person", "observations": []},
            ]
        },
    ),
    ("create_relations", {"relations": [{"from": "Ada", "to": "Shop", "relationType": "maintains"}]}),
    ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["Prefers short commits 😀"]}]}),
]


@pytest.fixture(scope="module")
def script() -> Path:
    """The server's program."""
    try:
        return installed(HERE, "memory-server") / "@modelcontextprotocol/server-memory/dist/index.js"
    except ToolsMissingError as error:
        if required():
            raise
        pytest.skip(str(error))


def call(script: Path, file: Path, *calls: tuple[str, dict[str, Any]]) -> None:
    """Run the server, call its tools one after the other, and let it end."""
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages: list[dict[str, Any]] = [{"id": 0, "method": "initialize", "params": start}]
    messages += [{"method": "notifications/initialized"}]
    messages += [
        {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    server = subprocess.Popen(
        ["node", str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "MEMORY_FILE_PATH": str(file)},
        text=True,
    )
    with server:
        assert server.stdin
        assert server.stdout
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
            if "id" in message:
                answer = json.loads(server.stdout.readline())
                assert not answer.get("error"), answer
                assert not answer["result"].get("isError"), answer
        server.kill()


def test_a_graph_of_the_real_server_is_imported(script: Path, tmp_path: Path) -> None:
    call(script, tmp_path / "memory.jsonl", *CALLS)

    source = read(tmp_path / "memory.jsonl")

    assert said(source) == [
        ("lesson", "Shop (service): Runs on port 8443"),
        ("lesson", 'Shop (service): a "quoted"\nline'),
        ("lesson", "Ada (person): Prefers short commits 😀"),
        ("lesson", "Ada maintains Shop."),
    ]
    assert source.leftovers == ()
    call(script, tmp_path / "memory.jsonl", ("delete_entities", {"entityNames": ["Ada"]}))
    assert [one.name for one in items(read(tmp_path))] == [one.name for one in items(source)[:2]]
