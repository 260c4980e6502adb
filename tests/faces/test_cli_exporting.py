"""`export`, as people and scripts use it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import CommandLine


def test_without_a_path_the_export_itself_is_printed(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.", "--importance", "high")

    assert (
        json.loads(nf("export", "json").out)["branches"][0]["entries"][0]["text"] == "Run pnpm check before pnpm test."
    )
    assert json.loads(nf("export", "scores", "-").out)["entry"]["importance"] == "high"
    assert re.sub(r"[0-9a-f]{12}|\d{4}-\S+Z|-\w{4}\]", "*", nf("export", "markdown").out) == (
        "<!-- noforgetti/export 1: memory branch main at *, * -->\n\n"
        "# Lessons\n- Run pnpm check before pnpm test. *(high)* [run-pnpm-check-before-pnpm-test*\n"
    )
    assert nf("--json", "export", "json").doc["format"] == "noforgetti/export"


def test_an_export_to_a_path_is_told_in_one_line(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    nf("fork", "spike")

    assert nf("export", "json", "../x.json").out == "Exported 1 entry of `main` to ../x.json.\n"
    assert nf("export", "json", "../x.json", "--all").out == "Exported 2 entries of `main`, `spike` to ../x.json.\n"
    assert nf("--branch", "spike", "export", "topics", "../topics").out == "Exported 1 entry of `spike` to ../topics.\n"
    assert nf("export", "bundle", "../x.bundle").out == (
        "Exported 2 entries of `main`, `spike` to ../x.bundle.\n"
        "The bundle holds the whole history, removed entries too.\n"
    )


def test_the_document_of_an_export(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")

    assert nf.json("export", "topics", "../topics") == {
        "outcome": "exported",
        "format": "topics",
        "path": "../topics",
        "branches": ["main"],
        "entries": 1,
        "files": ["memory-scores.jsonl", "topics/lessons.md"],
        "hidden": [],
        "damaged": [],
        "notes": [],
    }


WORDS_OFF = [
    ("export", "yaml"),
    ("export",),
    ("export", "bundle"),
    ("export", "topics", "-"),
    ("export", "scores", "x", "--all"),
    ("--json", "export", "markdown"),
]


@pytest.mark.parametrize("words", WORDS_OFF, ids=" ".join)
def test_words_that_are_off_are_status_2(nf: CommandLine, words: tuple[str, ...]) -> None:
    done = nf(*words)

    assert (done.status, bool(done.err)) == (2, True)


def test_a_file_of_the_users_is_status_1_and_stays(nf: CommandLine) -> None:
    mine = nf.project / "mine.json"
    mine.write_text("mine")

    done = nf("export", "json", "mine.json")

    assert (done.status, done.out, mine.read_text()) == (1, "", "mine")
    assert done.err == (
        f"`{mine}` is there already, and no export of ours wrote it. Nothing was written.\n"
        "Hint: name another path, or replace it with --force\n"
    )
    assert nf("export", "json", "mine.json", "--force").status == 0


def test_a_memory_that_nothing_was_written_to_exports_as_empty_and_stays_unmade(nf: CommandLine) -> None:
    assert nf.json("export", "json")["branches"][0]["entries"] == []
    assert nf("export", "bundle", "../x.bundle").status == 1
    assert not nf.home.joinpath("data").exists()


def test_export_explains_itself(nf: CommandLine) -> None:
    said = nf("export", "--help").out

    assert all(
        word in said
        for word in ("json", "scores", "topics", "markdown", "bundle", "export json memory.json", "--force")
    )
