"""pi-memory's database. The golden file was written by the product's own code (1.5.0, Node 22)."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from noforgetti.importers.base import SourceError
from noforgetti.importers.pi_memory import find, read, slug
from noforgetti.model.entry import Category, Cue, Scope

from .sources import items, left, put

GOLDEN = Path(__file__).resolve().parent / "golden" / "pi-memory-1.5.0.db"
LESSONS = ("54c01276-6b73-4d5e-a7d0-226e7373bfba", "4114f4d9-a926-4dda-a70e-765e2a7e18d3")


def test_what_the_real_product_wrote_is_read_for_one_project() -> None:
    source = read(GOLDEN, project="/home/ada/shop")

    assert [(one.name, one.text, one.category, one.scope, one.cue, one.confidence) for one in items(source)] == [
        (
            "fact/pref.commit_style",
            "conventional commits, short subjects",
            Category.PREFERENCE,
            Scope.USER,
            Cue.EXPLICIT,
            None,
        ),
        (
            "fact/project.shop.stack",
            "Next.js, Postgres and Redis",
            Category.PATTERN,
            Scope.PROJECT,
            Cue.BEHAVIORAL,
            0.9,
        ),
        ("fact/tool.sed", "use -i '' on macOS", Category.PREFERENCE, Scope.PROJECT, Cue.EXPLICIT, 0.8),
        ("fact/user.name", "Ada", Category.PREFERENCE, Scope.USER, Cue.EXPLICIT, None),
        ("fact/family", "two cats 😀", Category.LESSON, Scope.PROJECT, Cue.EXPLICIT, None),
        (f"lesson/{LESSONS[0]}", "Run pnpm check before pnpm test", Category.LESSON, Scope.USER, Cue.EXPLICIT, None),
        (
            f"lesson/{LESSONS[1]}",
            "Do not push to main without a review",
            Category.LESSON,
            Scope.PROJECT,
            Cue.BEHAVIORAL,
            None,
        ),
    ]
    found = {one.name: one for one in items(source)}
    assert found["fact/pref.commit_style"].key == "pref.commit_style"
    assert found["fact/project.shop.stack"].notes == ("changed once there",)
    assert found["fact/tool.sed"].tags == ("tool",)
    assert found[f"lesson/{LESSONS[0]}"].tags == ("testing",)
    assert (found[f"lesson/{LESSONS[1]}"].negative, found[f"lesson/{LESSONS[1]}"].session) == (True, "abc123")
    assert {one.created for one in items(source)} == {"2026-12-03T14:54:14Z"}
    assert left(source) == [
        (f"{GOLDEN.name}: semantic", "is not carried: `last_accessed`, `embedding`"),
        (f"{GOLDEN.name}: semantic: project.other.stack", "is of project `other`; import it there"),
        (
            f"{GOLDEN.name}: lessons: 45362396-dba0-440d-abc2-f37dae8df420",
            "is of project `other`; import it there",
        ),
        (f"{GOLDEN.name}: lessons: b6321d78-1bcf-4203-991a-311ea6fd9b12", "was deleted there"),
        (f"{GOLDEN.name}: semantic: pref.gone", "was deleted there at 2026-12-03T14:54:14Z"),
    ]


def test_without_a_project_everything_is_read() -> None:
    assert len(items(read(GOLDEN))) == 9


def table(path: Path, *, wal: bool = False) -> sqlite3.Connection:
    """A database of the product's first form, without the columns that came later."""
    path.parent.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(path)
    if wal:
        base.execute("PRAGMA journal_mode=WAL")
    base.execute("CREATE TABLE semantic (key TEXT PRIMARY KEY, value TEXT, confidence REAL, source TEXT)")
    base.execute("CREATE TABLE lessons (id TEXT PRIMARY KEY, rule TEXT, category TEXT)")
    base.execute("INSERT INTO semantic VALUES ('pref.style', 'short', 0.9, 'user'), ('pref.empty', ' ', 1, 'user')")
    base.execute("INSERT INTO lessons VALUES ('l1', 'Use tabs', 'general'), ('l2', x'ff', 'x')")
    base.commit()
    return base


@pytest.mark.parametrize("wal", [False, True])
def test_an_older_form_is_read_and_the_log_counts_and_nothing_is_written_beside(tmp_path: Path, wal: bool) -> None:
    base = table(tmp_path / "memory.db", wal=wal)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    source = read(tmp_path)

    assert [one.text for one in items(source)] == ["short", "Use tabs"]
    assert left(source) == [
        ("memory.db: semantic: pref.empty", "has no value"),
        ("memory.db: lessons: l2", "has no text"),
    ]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    base.close()


def test_a_damaged_database_is_read_as_far_as_it_goes_or_refused(tmp_path: Path) -> None:
    data = GOLDEN.read_bytes()
    refused = 0
    for size in range(0, len(data), 4_096):
        try:
            source = read(put(tmp_path, "torn.db", data[:size]))
        except SourceError as error:
            refused += 1
            assert str(error).endswith("Nothing was imported."), error  # noqa: PT017 - either is right
        else:
            assert source.leftovers
    assert refused


OTHERS = ["CREATE TABLE x (y)", "CREATE TABLE semantic (name, text); CREATE TABLE lessons (id, rule)"]


@pytest.mark.parametrize("script", OTHERS)
def test_a_database_of_something_else_or_a_newer_form_is_refused(tmp_path: Path, script: str) -> None:
    sqlite3.connect(tmp_path / "memory.db").executescript(script).connection.close()

    with pytest.raises(SourceError, match="no memory of pi-memory that this version knows"):
        read(tmp_path)


@pytest.mark.parametrize("path", ["memory.db", "nowhere.db"])
def test_what_is_no_database_is_refused(tmp_path: Path, path: str) -> None:
    put(tmp_path, "memory.db", "text")

    with pytest.raises(SourceError, match="Nothing was imported"):
        read(tmp_path / path)


PLACES = [
    ({"pi-memory": {"localPath": "notes"}}, "notes/memory.db"),
    ({"pi-total-recall": {"localPath": "recall"}}, "recall/memory/memory.db"),
    ({"pi-memory": {"localPath": 7}}, ""),
    ([], ""),
]


@pytest.mark.parametrize(("settings", "place"), PLACES)
def test_the_database_is_found_in_each_of_its_places(tmp_path: Path, settings: object, place: str) -> None:
    project, home = tmp_path / "shop", tmp_path / "home"
    put(project, ".pi/settings.json", json.dumps(settings))
    environ = {"HOME": str(home)}
    assert find(str(project), environ) is None

    (home / ".pi/memory").mkdir(parents=True)
    shutil.copy(GOLDEN, home / ".pi/memory/memory.db")
    if place:
        (project / place).parent.mkdir(parents=True)
        shutil.copy(GOLDEN, project / place)

    assert find(str(project), environ) == (project / place if place else home / ".pi/memory/memory.db")


@pytest.mark.parametrize(("path", "name"), [("/home/ada/Shop", "shop"), ("/home/src/shop/src", "shop"), ("/", "")])
def test_a_project_is_called_as_the_product_calls_it(path: str, name: str) -> None:
    assert slug(path) == name
