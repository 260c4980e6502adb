"""The extension against Pi's own types: Pi loads TypeScript without checking it, so it is checked here."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from noforgetti.faces.pi.install import SOURCE

if TYPE_CHECKING:
    from .toolbox import Tools

pytestmark = pytest.mark.pi

CONFIGURATION = Path(__file__).with_name("tsconfig.json")
CANARY = """\
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
export const listen = (pi: ExtensionAPI) => pi.on("agent_finished", () => {});
"""


def test_the_type_check_complains_of_the_canary_and_of_nothing_of_ours(pi_tools: Tools, tmp_path: Path) -> None:
    folder = tmp_path / "extension"
    shutil.copytree(SOURCE, folder)
    shutil.copy(CONFIGURATION, folder)
    (folder / "canary.ts").write_text(CANARY, encoding="utf-8")
    (folder / "node_modules").symlink_to(pi_tools.modules)  # Pi supplies these packages itself

    ran = subprocess.run(
        [*pi_tools.tsc, "--project", str(folder)], cwd=folder, capture_output=True, text=True, timeout=110
    )

    complaints = {line.split("(")[0] for line in ran.stdout.splitlines() if "error TS" in line}
    assert complaints == {"canary.ts"}, ran.stdout


def test_the_shipped_tools_are_complete() -> None:
    tools = json.loads((SOURCE / "tools.json").read_text(encoding="utf-8"))

    assert [tool["name"] for tool in tools] == [
        "project_memory",
        "memory_remember",
        "memory_forget",
        "memory_edit",
        "memory_search",
        "session_search",
        "memory_lessons",
        "memory_stats",
        "memory_reinforce",
    ]
    properties = list(tools[0]["parameters"]["properties"])
    assert properties[:4] == ["action", "content", "oldText", "importance"]
    assert properties[4:] == ["category", "scope", "overrideConflicts", "force"]
    assert all({"name", "label", "description", "parameters"} <= set(tool) for tool in tools)
