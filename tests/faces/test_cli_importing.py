"""`import`, as people and scripts use it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from .conftest import CommandLine


def export(nf: CommandLine, name: str, doc: object) -> str:
    """A file beside the project."""
    (nf.project.parent / name).write_text(json.dumps(doc))
    return f"../{name}"


def masked(said: str) -> str:
    return re.sub(r"[0-9a-f]{12}", "*", said)


def test_what_can_be_imported_is_listed_though_a_place_is_closed(
    nf: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nf.project / "AGENTS.md").write_text("- Use tabs in Makefiles.\n")
    monkeypatch.setenv("HOME", f"/{'x' * 300}")  # the system refuses to look there, as in a folder without permission

    done = nf("import")

    assert (done.status, done.err) == (0, "")
    assert f"(found: {nf.project})" in done.out
    assert "pi-memory" in done.out


def test_the_report_says_how_to_take_an_import_back_where_it_went(nf: CommandLine) -> None:
    memories = export(nf, "mem0.json", [{"id": "1", "memory": "Use tabs in Makefiles."}])
    assert masked(nf("import", "mem0", memories).out) == (
        "Imported from mem0 (`../mem0.json`): commit *.\n       1  added\n\nTake it back with `noforgetti undo *`.\n"
    )

    states = [{"id": "a", "text": "Use deno.", "createdAt": f"2026-01-0{day}T00:00:00Z"} for day in (1, 2)]
    states[1] |= {"id": "b", "text": "Run deno fmt."}
    branch = export(nf, "spike.json", {"version": 1, "name": "spike", "entries": states})
    done = nf("import", "no-forgetti", branch)
    (said,) = re.findall(r"Take it back with `noforgetti (.*)`\.", done.out)
    assert nf(*said.split()).status == 0
    assert nf.json("--branch", "spike", "show")["entries"] == []

    wide = nf("--user", "import", "mem0", memories).out
    assert masked(wide.splitlines()[-1]) == "Take it back with `noforgetti undo *`."


def test_of_several_branches_each_is_told_how_to_be_taken_back(nf: CommandLine) -> None:
    parts = [
        {"name": name, "entries": [{"id": f"{name}-aaaa", "text": f"In {name}.", "category": "lesson"}]}
        for name in ("main", "spike")
    ]
    doc = export(nf, "x.json", {"format": "noforgetti/export", "version": 1, "branches": parts})

    assert masked(nf("import", "noforgetti", doc).out).endswith(
        "Take it back with\n  `noforgetti undo *`\n  `noforgetti --branch spike undo *`\n"
    )
