"""No Forgetti's JSON store: branches, and the states that records of reviews lead back to."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from noforgetti.importers.base import Source, SourceError
from noforgetti.importers.no_forgetti import read

from .sources import items, left, put

if TYPE_CHECKING:
    from pathlib import Path


def at(day: int) -> str:
    """A day of July 2026, as the product writes times."""
    return f"2026-07-{day:02}T10:00:00.000Z"


def entry(own: str, text: str, day: int, **more: Any) -> dict[str, Any]:
    return {"id": own, "text": text, "createdAt": at(day), "updatedAt": at(day), "importance": "normal", **more}


def branch(folder: Path, *entries: dict[str, Any], name: str = "main", **more: Any) -> Path:
    doc = {"version": 1, "name": name, "createdAt": at(1), "updatedAt": at(20), "entries": list(entries), **more}
    return put(folder, f"branches/{name}.json", json.dumps(doc, indent=2))


def review(folder: Path, number: int, day: int, *changes: dict[str, Any], name: str = "main", **more: Any) -> None:
    record = {"id": f"r{number}", "kind": "review", "createdAt": at(day), "changes": list(changes), **more}
    put(folder, f"revisions/{name}/{number:012}-r{number}.json", json.dumps(record))


def states(source: Source, number: int = 0) -> list[tuple[str, list[str]]]:
    """Time and texts of every state of a branch."""
    return [(one.time[:10], [item.text for item in one.items]) for one in source.branches[number].revisions]


A, B, C = entry("a", "First.", 1), entry("b", "Second.", 3), entry("c", "Third.", 8)


def test_an_entry_keeps_all_that_is_said_of_it(tmp_path: Path) -> None:
    told = entry(
        "a",
        "Run check.",
        1,
        updatedAt=at(4),
        importance="high",
        importanceAssessedAt=at(5),
        sourceSessionId="s1",
        createdBy="background_review",
    )
    odd = {"id": "b", "text": "Odd.", "importance": "urgent", "createdAt": "1970-01-01T00:00:00.000Z"}
    branch(tmp_path, told, odd, {"id": "c", "text": " "}, 7)  # type: ignore[arg-type]

    source = read(tmp_path)

    one, two = items(source)
    assert (one.name, one.importance, one.assessed, one.session, one.cue, one.created, one.reinforced) == (
        "a",
        "high",
        "2026-07-05T10:00:00Z",
        "s1",
        "behavioral",
        "2026-07-01T10:00:00Z",
        "2026-07-04T10:00:00Z",
    )
    assert (two.importance, two.created, two.notes) == ("normal", "", ("importance: urgent",))
    assert left(source) == [
        ("branches/main.json: entry 3", "is no entry: it has no text"),
        ("branches/main.json: entry 4", "is no entry: it has no text"),
    ]


def test_reviews_lead_back_to_the_states_before_them(tmp_path: Path) -> None:
    old = entry("b", "Second, as it was.", 3)
    gone = entry("x", "Removed.", 2)
    branch(tmp_path, A, {**B, "updatedAt": at(10)}, C)
    review(tmp_path, 1, 3, {"type": "add", "id": "b", "after": "digest"})
    review(
        tmp_path,
        2,
        10,
        {"type": "update", "id": "b", "before": old, "after": "digest"},
        {"type": "remove", "id": "x", "before": gone, "index": 0},
    )

    assert states(read(tmp_path)) == [
        ("2026-07-02", ["Removed.", "First."]),
        ("2026-07-03", ["Removed.", "First.", "Second, as it was."]),
        ("2026-07-10", ["First.", "Second.", "Third."]),
    ]


def test_a_review_that_was_undone_is_no_revision(tmp_path: Path) -> None:
    branch(tmp_path, A)
    review(tmp_path, 1, 5, {"type": "add", "id": "z"})
    review(tmp_path, 2, 6, kind="undo", target="r1")

    assert states(read(tmp_path)) == [("2026-07-01", ["First."])]


def test_a_direct_write_counts_from_its_own_date_on(tmp_path: Path) -> None:
    branch(tmp_path, A, B, C)
    review(tmp_path, 1, 3, {"type": "add", "id": "b"})

    assert states(read(tmp_path)) == [
        ("2026-07-01", ["First."]),
        ("2026-07-03", ["First.", "Second."]),
        ("2026-07-20", ["First.", "Second.", "Third."]),
    ]


def test_parents_come_before_their_forks_and_a_ring_is_cut(tmp_path: Path) -> None:
    branch(tmp_path, A, name="a-fork", parent="spike")
    branch(tmp_path, A, name="spike", parent="main")
    branch(tmp_path, A)
    branch(tmp_path, A, name="lost", parent="nowhere")
    branch(tmp_path, A, name="ring-1", parent="ring-2")
    branch(tmp_path, A, name="ring-2", parent="ring-1")
    branch(tmp_path, A, name="feature/x", parent="main")

    found = [(one.name, one.parent) for one in read(tmp_path).branches]

    assert found == [
        ("main", ""),
        ("feature/x", "main"),
        ("lost", ""),
        ("spike", "main"),
        ("a-fork", "spike"),
        ("ring-1", ""),
        ("ring-2", "ring-1"),
    ]


def test_a_branch_that_calls_itself_as_another_does_goes_by_its_file(tmp_path: Path) -> None:
    branch(tmp_path, A)
    doc = (tmp_path / "branches" / "main.json").read_text()
    put(tmp_path, "branches/copy.json", doc.replace("First.", "Copied."))

    source = read(tmp_path)

    assert {one.name: [item.text for item in one.revisions[-1].items] for one in source.branches} == {
        "main": ["First."],
        "copy": ["Copied."],
    }
    assert left(source) == [("branches/copy.json", "calls itself `main`, as another file does; it is `copy`")]


def test_the_project_is_found_in_a_store(tmp_path: Path) -> None:
    key = hashlib.sha256(b"/home/ada/shop").hexdigest()[:24]
    branch(tmp_path / "projects" / key, A)
    put(tmp_path / "projects" / key, "project.json", json.dumps({"version": 1, "projectRoot": "/home/ada/shop"}))
    assert read(tmp_path).project == "/home/ada/shop"
    branch(tmp_path / "projects" / "other", B)

    assert states(read(tmp_path, project="/home/ada/shop"))[-1][1] == ["First."]
    with pytest.raises(SourceError, match="holds 2 projects, and none is this one"):
        read(tmp_path, project="/elsewhere")
    with pytest.raises(SourceError, match="holds no project of No Forgetti"):
        read(tmp_path / "projects" / key / "branches")


def test_one_branch_and_skills_are_read(tmp_path: Path) -> None:
    path = branch(tmp_path, A, B)
    put(tmp_path, "skills/deploy/SKILL.md", "steps")

    assert states(read(path)) == [("2026-07-03", ["First.", "Second."])]
    assert read(tmp_path).files == {"skills/deploy/SKILL.md": b"steps"}


def test_a_torn_branch_gives_its_whole_entries(tmp_path: Path) -> None:
    path = branch(tmp_path, A, B, C)
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"Third")])
    branch(tmp_path, A, name="whole")
    put(tmp_path, "branches/empty.json", "")
    put(tmp_path, "branches/other.json", "{}")
    put(tmp_path, "revisions/main/000000000001-x.json", "{")

    source = read(tmp_path)

    assert [(one.name, len(one.revisions[-1].items)) for one in source.branches] == [("main", 2), ("whole", 1)]
    assert left(source) == [
        ("revisions/main/000000000001-x.json", "is no whole record of a review"),
        ("branches/empty.json", f"`{tmp_path}/branches/empty.json` is no whole JSON document"),
        ("branches/main.json", "is torn; its first 2 entries were read"),
        ("branches/other.json", "is no branch"),
    ]


@pytest.mark.parametrize("version", [2, "1", None, True])
def test_a_newer_version_is_refused(tmp_path: Path, version: object) -> None:
    branch(tmp_path, A, version=version)

    with pytest.raises(SourceError, match="newer than the 1 that this version reads"):
        read(tmp_path)


ODD: list[Any] = [
    7,
    None,
    {"changes": 7},
    {"changes": [7, {"type": [1]}, {"type": "remove", "before": {}, "index": "x"}]},
]


@pytest.mark.parametrize("more", ODD)
def test_odd_records_change_nothing(tmp_path: Path, more: Any) -> None:
    branch(tmp_path, A)
    record = {"id": "r1", "kind": "review", "createdAt": 7, **(more if isinstance(more, dict) else {"changes": more})}
    put(tmp_path, "revisions/main/000000000001-r1.json", json.dumps(record))

    assert states(read(tmp_path)) == [("2026-07-20", ["First."])]
