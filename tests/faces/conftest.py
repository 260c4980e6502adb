"""The command line in this process, on a real project in a temporary folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from noforgetti.faces.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def doc(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        read: dict[str, Any] = json.loads(self.out)
        return read


@dataclass
class CommandLine:
    """Runs commands in a project of its own."""

    project: Path
    home: Path
    capture: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch
    environ: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str) -> Done:
        """One command in this process."""
        self.capture.readouterr()
        status = run(list(arguments))
        out, err = self.capture.readouterr()
        return Done(status, out, err)

    def json(self, *arguments: str) -> dict[str, Any]:
        """The document of one command."""
        return self("--json", *arguments).doc

    def process(self, *arguments: str, environ: Mapping[str, str] | None = None, stdin: bytes = b"") -> Done:
        """One command as a process of its own, as a shell starts it."""
        script = Path(sys.executable).parent / "noforgetti"
        done = subprocess.run(
            [str(script), *arguments],
            cwd=self.project,
            env={**os.environ, **(environ or {})},
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    @property
    def repository(self) -> Path:
        """The project's memory."""
        return Path(self.json("status")["project"]["repository"])

    def git(self, *arguments: str) -> str:
        """Plain git on the memory, as a curious user runs it."""
        done = subprocess.run(
            ["git", "--git-dir", str(self.repository), *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout


@pytest.fixture
def nf(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line in a fresh git project with a fresh home."""
    project, home = tmp_path / "webshop", tmp_path / "home"
    project.mkdir()
    subprocess.run(["git", "init", "--quiet", str(project)], check=True)
    for name in [name for name in os.environ if name.startswith(("GIT_", "PI_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NOFORGETTI_HOME", str(home))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(project)
    return CommandLine(project, home, capsys, monkeypatch)
