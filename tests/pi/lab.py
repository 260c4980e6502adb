"""A laboratory for one test: Pi with the extension, a scripted model and a project, all in one folder.

def test_it(make_lab: MakeLab) -> None:
    lab = make_lab()                          # the real bridge; or bridge=[program, argument, …]
    lab.model.say("hello")
    with lab.rpc() as pi:
        pi.ask("a prompt")
        assert "main" in pi.command("/memory status")
    assert "hello" in lab.print("-p", "another prompt").stdout
    with lab.tui() as terminal:
        terminal.until("memory main")
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noforgetti.faces.pi.install import Result, install

from .pi_rpc import PiRpc
from .terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .scripted_model import ScriptedModel
    from .toolbox import Tools

REPOSITORY = Path(__file__).resolve().parent.parent.parent
BRIDGE = (sys.executable, "-m", "noforgetti", "serve", "--stdio")
KEPT = ("PATH", "LANG", "TMPDIR")  # provider keys in the environment would change which model Pi selects


class Lab:
    """Folders, environment and processes of one test."""

    def __init__(self, root: Path, tools: Tools, model: ScriptedModel, bridge: Sequence[str] = BRIDGE) -> None:
        self.tools, self.model = tools, model
        self.home, self.project = root / "home", root / "project"
        self.agent, self.noforgetti_home = self.home / ".pi" / "agent", root / "noforgetti"
        self.agent.mkdir(parents=True)
        (self.project / ".git").mkdir(parents=True)
        self.patience = {"turn": 20_000, "rule": 20_000}  # a busy machine is not what most tests are about
        self.configure()
        self.installed = self.install(bridge)

    def configure(self, *, midway: bool = True, **settings: Any) -> None:
        """Write Pi's settings; `midway`: the model takes system messages in the middle of a conversation."""
        scripted = {"id": "scripted", "name": "scripted", "contextWindow": 64000, "maxTokens": 2000}
        models = [{**scripted, "compat": {"supportsMidConvoSystemMessages": midway}}]
        provider = {
            "baseUrl": self.model.url,
            "apiKey": "none",
            "api": "openai-completions",
            "models": models,
        }
        chosen = {"defaultProvider": "fake", "defaultModel": "scripted"}
        retry = {"retry": {"baseDelayMs": 20, "maxRetries": 1}}
        (self.agent / "models.json").write_text(json.dumps({"providers": {"fake": provider}}), encoding="utf-8")
        (self.agent / "settings.json").write_text(json.dumps({**chosen, **retry, **settings}), encoding="utf-8")

    def install(self, bridge: Sequence[str] = BRIDGE) -> Result:
        """Install the extension with this command as its bridge."""
        return install(self.agent, command=list(bridge), limits=self.patience)

    def limits(self, **milliseconds: int) -> None:
        """Other time limits for the extension: `turn`, `complete`, `command`, `tool`, `start`, `rule`, `quit`."""
        launch = json.loads((self.extension / "launch.json").read_bytes())
        self.patience.update(milliseconds)
        self.install(launch["command"])

    @property
    def extension(self) -> Path:
        """The folder Pi loads the extension from."""
        return self.agent / "extensions" / "noforgetti"

    def env(self, **more: str) -> dict[str, str]:
        """The whole environment of Pi and of everything it starts."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return {
            **kept,
            "HOME": str(self.home),
            "PI_CODING_AGENT_DIR": str(self.agent),
            "PI_OFFLINE": "1",
            "NOFORGETTI_HOME": str(self.noforgetti_home),
            "PYTHONPATH": str(REPOSITORY),
            **more,
        }

    def print(
        self, *arguments: str, env: Mapping[str, str] | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run `pi` with these arguments to its end, for example `lab.print("-p", "a prompt")`."""
        return subprocess.run(
            [*self.tools.pi, *arguments],
            cwd=self.project,
            env=self.env(**(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def rpc(self, *arguments: str, **env: str) -> PiRpc:
        """Pi in RPC mode, as a context manager."""
        return PiRpc([*self.tools.pi, "--mode", "rpc", *arguments], cwd=self.project, env=self.env(**env))

    def tui(self, *arguments: str, **env: str) -> Terminal:
        """Pi in its full-screen mode, as a context manager."""
        return Terminal([*self.tools.pi, *arguments], cwd=self.project, env=self.env(**env))

    def sessions(self) -> list[Path]:
        """The session files on disk, oldest first."""
        return sorted(self.agent.glob("sessions/*/*.jsonl"))


def cli(lab: Lab, *words: str) -> dict[str, Any]:
    """The document of one command in the lab's project."""
    done = subprocess.run(
        [sys.executable, "-m", "noforgetti", "--json", *words],
        cwd=lab.project,
        env=lab.env(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    read: dict[str, Any] = json.loads(done.stdout)
    return read
