"""Bullet lists of instruction files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from noforgetti.importers.base import SourceError
from noforgetti.importers.instructions import find, read

from .sources import items, left, put, said

if TYPE_CHECKING:
    from pathlib import Path

CLAUDE = """\
# Shop

The shop sells things.

## Commands
- Run `pnpm check` before `pnpm test`, as CI does it
- @docs/more.md
1. Never push to main without a review of somebody else

```sh
pnpm build
```
@~/.claude/my.md
"""


def test_bullets_are_memories_and_all_else_is_left_over(tmp_path: Path) -> None:
    source = read(put(tmp_path, "CLAUDE.md", CLAUDE))

    assert said(source) == [
        ("pattern", "Run `pnpm check` before `pnpm test`, as CI does it"),
        ("pattern", "Never push to main without a review of somebody else"),
    ]
    assert [(one.tags, one.notes) for one in items(source)] == [
        (("commands",), ("its host reads `CLAUDE.md` anyway",)),
        (("commands",), ("its host reads `CLAUDE.md` anyway",)),
    ]
    assert left(source) == [
        ("CLAUDE.md:3", "is prose, no list item"),
        ("CLAUDE.md:7", "imports another file"),
        ("CLAUDE.md:10", "is code, no list item"),
        ("CLAUDE.md:13", "imports another file"),
    ]


def test_a_folder_stands_for_its_instruction_files_each_once(tmp_path: Path) -> None:
    put(tmp_path, "AGENTS.md", "- Write tests for what you fix, and let them fail first\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    (tmp_path / "GEMINI.md").symlink_to("GEMINI.md")
    put(tmp_path, ".cursor/rules/style.mdc", "---\nglobs: '*'\n---\n- Name things by what they promise, not by how\n")
    put(tmp_path, "README.md", "- nothing of ours in here, whatever it says below\n")

    source = read(tmp_path)

    assert [one.name.partition("#")[0] for one in items(source)] == ["CLAUDE.md", ".cursor/rules/style.mdc"]
    assert find(str(tmp_path), {}) == tmp_path


def test_a_folder_without_any_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no instruction file"):
        read(tmp_path)
    assert find(str(tmp_path), {}) is None
