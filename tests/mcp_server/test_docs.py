"""The page about the server says what the server says."""

from __future__ import annotations

import re
from pathlib import Path

from noforgetti.faces.mcp.prompts import COMMANDS
from noforgetti.faces.mcp.tools import EVERYWHERE, TOOLS, Tool

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")


def test_the_table_of_tools_is_the_list_of_tools() -> None:
    rows = re.findall(r"^\| `(memory_\w+)` \|([^|]*)\|[^|]+\|([^|]+)\|$", PAGE, re.MULTILINE)

    assert {name: (re.findall(r"`(\w+)`", own), kind.strip()) for name, own, kind in rows} == {
        name: ([one.name for one in tool.own], _kind(tool)) for name, tool in TOOLS.items()
    }


def _kind(tool: Tool) -> str:
    if tool.outside:
        return "replaces, may ask a model"
    return "reads" if tool.reads else "replaces" if tool.destroys else "adds"


def test_every_argument_and_prompt_is_explained() -> None:
    assert all(f"`{one.name}`" in PAGE for one in EVERYWHERE)
    named = set(re.findall(r"`(memory-\w+)[^`]*`", PAGE))
    assert named == set(COMMANDS)
