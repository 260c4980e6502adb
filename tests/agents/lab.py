"""One agent program with a home of its own, a scripted model and a git project; noforgetti is installed as a user does.

lab = Lab(tmp_path, "codex", model)
lab.install()
lab.run("Remember it")            # one session, without a terminal
lab.cli("show")["entries"]
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.builders import PACKAGE, made_project

from .toolbox import program

if TYPE_CHECKING:
    from .scripted import Scripted

AGENTS = ("codex", "opencode", "claude-code", "gemini", "cline")
LIMIT = 100.0  # seconds for one session on a busy machine; the programs need one to four
KEPT = ("LANG", "TMPDIR")
BINARIES = {"codex": "codex", "opencode": "opencode", "claude-code": "claude", "gemini": "gemini"}
QUIET = {
    "DISABLE_TELEMETRY": "1",
    "CLINE_TELEMETRY_DISABLED": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "NO_COLOR": "1",
    "FAKE_KEY": "none",
    "ANTHROPIC_API_KEY": "none",
    "GEMINI_API_KEY": "none",
}


class Lab:
    """Folders, environment and processes of one test."""

    def __init__(self, root: Path, agent: str, model: Scripted) -> None:
        self.agent, self.model = agent, model
        self.program = program(agent)
        self.home = root / "home"
        self.project = made_project(root / "project")
        self.bin = root / "bin"
        self.home.mkdir()
        self.bin.mkdir()
        self.written = tuple(_settings(agent, model.url))
        for path, text in _settings(agent, model.url).items():
            (self.home / path).parent.mkdir(parents=True, exist_ok=True)
            (self.home / path).write_text(text, encoding="utf-8")

    @property
    def environ(self) -> dict[str, str]:
        """The whole environment of the program, and of everything that it starts."""
        return {
            **{name: os.environ[name] for name in KEPT if name in os.environ},
            **QUIET,
            "HOME": str(self.home),
            "PATH": f"{self.bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "ANTHROPIC_BASE_URL": self.model.url,
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
            "PYTHONPATH": str(PACKAGE),
        }

    def install(self) -> str:
        """`noforgetti install` as a user runs it; what it said."""
        return self._noforgetti("install", self.agent).stdout

    def uninstall(self) -> str:
        """And the other way round."""
        return self._noforgetti("uninstall", self.agent).stdout

    def offer(self) -> None:
        """Put the program on the PATH, by the name that its makers gave it."""
        words = " ".join(shlex.quote(word) for word in self.program)
        script = self.bin / BINARIES[self.agent]
        script.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        script.chmod(0o755)

    def run(self, prompt: str) -> subprocess.CompletedProcess[str]:
        """One session of the program in the project, to its end."""
        done = subprocess.run(
            [*self.program, *_words(self.agent, prompt)],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-4000:])
        return done

    def end(self) -> None:
        """End what the program left running: Cline keeps a hub."""
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if os.fsencode(self.project) in entry.read_bytes().split(b"\0"):
                    os.kill(int(entry.parent.name), signal.SIGKILL)

    def cli(self, *words: str) -> dict[str, Any]:
        """The document of one command in the project."""
        read: dict[str, Any] = json.loads(self._noforgetti("--json", *words).stdout)
        return read

    def _noforgetti(self, *words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "noforgetti", *words],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done


def _words(agent: str, prompt: str) -> list[str]:
    """How each program is told to run one prompt and end."""
    return {
        # A user approves hooks once in the terminal; without one, this flag says that they are.
        "codex": ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt],
        "opencode": ["run", prompt],
        "cline": [prompt],
        "claude-code": ["-p", prompt, "--allowedTools", "mcp__noforgetti,mcp__plugin_noforgetti_noforgetti"],
        "gemini": ["-m", "scripted", "--approval-mode", "yolo", "--skip-trust", "-p", prompt],
    }[agent]


def _settings(agent: str, url: str) -> dict[str, str]:
    """The program's own settings: the scripted model, and nothing that leaves the machine. By path in the home."""
    if agent == "codex":
        server = f'name = "loop"\nbase_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
        head = (
            "# a comment of the user's\n"
            'model = "scripted"\nmodel_provider = "loop"\ncheck_for_update_on_startup = false\n'
        )
        return {".codex/config.toml": f"{head}\n[model_providers.loop]\n{server}"}
    if agent == "opencode":
        model = {"npm": "@ai-sdk/openai-compatible", "name": "loop", "models": {"scripted": {"name": "scripted"}}}
        provider = {"loop": {**model, "options": {"baseURL": f"{url}/v1", "apiKey": "none"}}}
        own = {"model": "loop/scripted", "small_model": "loop/scripted", "autoupdate": False, "share": "disabled"}
        return {".config/opencode/opencode.json": json.dumps({**own, "provider": provider})}
    if agent == "gemini":
        quiet = {"general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False}}
        return {
            ".gemini/settings.json": json.dumps({**quiet, "security": {"auth": {"selectedType": "gemini-api-key"}}})
        }
    if agent == "cline":
        own = {"provider": "openai-compatible", "apiKey": "none", "model": "scripted", "baseUrl": f"{url}/v1"}
        known = {
            "openai-compatible": {"settings": own, "updatedAt": "2026-12-04T00:00:00.000Z", "tokenSource": "manual"}
        }
        about = {"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": known}
        return {".cline/data/settings/providers.json": json.dumps(about)}
    return {}
