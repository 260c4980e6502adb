"""The official inspector's command line lists everything and calls every tool."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest
from npm_packages import ToolsMissingError, required
from service.said import Session

from .client import LIMIT, Place
from .test_tools import NAMES
from .toolbox import inspector

pytestmark = pytest.mark.agents


@dataclass(frozen=True)
class Inspector:
    """Runs the inspector once for each question, each time with a server of its own."""

    command: list[str]
    place: Place

    def __call__(self, method: str, *words: str) -> dict[str, Any]:
        """What one method answers."""
        done = subprocess.run(
            [*self.command, *self.place.command, "--method", method, *words],
            cwd=self.place.project,
            env=self.place.settings,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert done.returncode == 0, (method, words, done.stdout, done.stderr)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def call(self, tool: str, **arguments: str) -> dict[str, Any]:
        """The answer of one tool."""
        words = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
        result = self("tools/call", "--tool-name", tool, *words)
        assert not result.get("isError"), result
        found: dict[str, Any] = result["structuredContent"]
        return found


@pytest.fixture
def ask(place: Place) -> Inspector:
    """The inspector, installed on first use; skips where it cannot be had, unless `CI` is set."""
    try:
        return Inspector(inspector(), place)
    except ToolsMissingError as missing:
        if required():
            raise
        pytest.skip(str(missing))


def test_the_inspector_lists_and_calls_every_tool(ask: Inspector) -> None:
    session = Session(ask.place.project.parent / "session.jsonl").say("Always run the linter before you commit.")

    tools = {one["name"] for one in ask("tools/list")["tools"]}
    added = ask.call("memory_add", text="Use pnpm, never npm.", importance="high")
    calls = {
        "memory_list": ask.call("memory_list")["head"],
        "memory_add": added["commit"],
        "memory_replace": ask.call("memory_replace", old="pnpm", text="Use pnpm 9.")["outcome"],
        "memory_search": [one["text"] for one in ask.call("memory_search", query="pnpm", limit="3")["hits"]],
        "memory_sessions": ask.call("memory_sessions", query="linter")["hits"],
        "memory_branches": [one["name"] for one in ask.call("memory_branches")["branches"]],
        "memory_fork": ask.call("memory_fork", name="trial")["from"],
        "memory_use": ask.call("memory_use", name="trial")["branch"],
        "memory_remove": ask.call("memory_remove", old="pnpm", branch="trial")["outcome"],
        "memory_undo": ask.call("memory_undo", revision="HEAD", branch="trial", dry_run="true")["outcome"],
        "memory_log": len(ask.call("memory_log", branch="trial")["commits"]),
        "memory_review": ask.call("memory_review", transcript=str(session.file), reviewer="rules")["windows"],
        "memory_report": "run the linter" in ask.call("memory_report", prompt="commit")["report"],
    }

    assert calls == {
        "memory_list": added["commit"],
        "memory_add": added["commit"],
        "memory_replace": "replaced",
        "memory_search": ["Use pnpm 9."],
        "memory_sessions": [],
        "memory_branches": ["main"],
        "memory_fork": "main",
        "memory_use": "trial",
        "memory_remove": "removed",
        "memory_undo": "undone",
        "memory_log": 3,
        "memory_review": 1,
        "memory_report": True,
    }
    assert set(calls) == tools == NAMES


def test_the_inspector_reads_resources_and_gets_prompts(ask: Inspector) -> None:
    entry = ask.place.cli("add", "Use pnpm.")["entry"]["id"]

    resources = [one["uri"] for one in ask("resources/list")["resources"]]
    templates = [one["uriTemplate"] for one in ask("resources/templates/list")["resourceTemplates"]]
    report = ask("resources/read", "--uri", "memory://report")["contents"][0]["text"]
    one = ask("resources/read", "--uri", f"memory://entry/{entry}")["contents"][0]["text"]
    prompts = {one["name"] for one in ask("prompts/list")["prompts"]}
    forked = ask("prompts/get", "--prompt-name", "memory-fork", "--prompt-args", "name=trial")["messages"]

    assert resources == ["memory://branch", "memory://report", f"memory://entry/{entry}"]
    assert templates == ["memory://entry/{id}", "memory://branch/{name}", "memory://report/{name}"]
    assert "Use pnpm." in report
    assert json.loads(one)["id"] == entry
    assert {"memory-status", "memory-fork", "memory-undo", "memory-review"} <= prompts
    assert "Forked `trial` from `main`" in forked[0]["content"]["text"]
    assert [one["name"] for one in ask.place.cli("branches")["branches"]] == ["main", "trial"]
