"""A real bridge process, spoken to as a host does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


class Bridge:
    """A real bridge process, spoken to as a host does."""

    def __init__(self, environ: dict[str, str], cwd: Path) -> None:
        script = Path(sys.executable).parent / "noforgetti"
        self.process = subprocess.Popen(
            [str(script), "serve", "--stdio"], cwd=cwd, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.number = 0

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One request and its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    def memory(self) -> float:
        """Resident memory of the process in MiB."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return float("nan")

    def close(self) -> None:
        """End it as a host does."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)
