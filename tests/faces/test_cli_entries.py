"""Direct writes and what shows them, from outside."""

from __future__ import annotations

import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from faces.conftest import CommandLine

FACT = "Run pnpm check before pnpm test."


def test_an_added_entry_is_shown_and_is_one_commit(nf: CommandLine) -> None:
    written = nf.json("add", FACT, "--importance", "high")

    shown = nf.json("show")
    assert written["outcome"] == "added"
    assert [(one["text"], one["importance"], one["id"]) for one in shown["entries"]] == [
        (FACT, "high", written["entry"]["id"])
    ]
    assert nf.git("rev-list", "main").split() == [written["commit"]] == [shown["head"]]


def test_the_same_words_again_change_nothing(nf: CommandLine) -> None:
    first = nf.json("add", FACT)

    again = nf.json("add", f"  {FACT}\r\n")

    assert (again["outcome"], again["commit"], again["entry"]["id"]) == ("duplicate", None, first["entry"]["id"])
    assert nf.json("status")["head"] == first["commit"]


def test_a_replaced_entry_keeps_its_id(nf: CommandLine) -> None:
    first = nf.json("add", FACT)

    replaced = nf.json("replace", "pnpm check", "Run pnpm check, then pnpm test.")

    assert (replaced["outcome"], replaced["entry"]["id"]) == ("replaced", first["entry"]["id"])
    assert [one["text"] for one in nf.json("show")["entries"]] == ["Run pnpm check, then pnpm test."]


def test_a_removed_entry_stays_in_history(nf: CommandLine) -> None:
    nf("add", FACT)

    removed = nf.json("remove", "pnpm check")

    assert removed["outcome"] == "removed"
    assert nf.json("show")["entries"] == []
    assert [one["text"] for one in nf.json("show", "--at", "HEAD~1")["entries"]] == [FACT]


@pytest.mark.parametrize(
    ("old", "rule"),
    [("zebra", "unknown-entry"), ("pnpm", "ambiguous"), ("", "empty"), ("  \n", "empty")],
)
def test_words_that_mean_no_entry_or_several_are_refused_with_what_they_could_mean(
    nf: CommandLine, old: str, rule: str
) -> None:
    nf("add", FACT)
    nf("add", "Install with pnpm install --frozen-lockfile.")
    head = nf.json("status")["head"]

    refused = nf("--json", "remove", old)

    assert (refused.status, refused.doc["outcome"], refused.doc["rule"]) == (1, "refused", rule)
    assert refused.doc["hint"]
    assert nf.json("status")["head"] == head


def test_text_that_begins_with_a_dash_is_written_behind_two_dashes(nf: CommandLine) -> None:
    assert nf("add", "-rf is never passed to rm here.").status == 2
    assert nf("add", "--", "-rf is never passed to rm here.").status == 0
    assert [one["text"] for one in nf.json("list")["entries"]] == ["-rf is never passed to rm here."]


def test_a_dash_reads_the_text_from_standard_input(nf: CommandLine) -> None:
    assert nf.process("add", "-", stdin="Gr\u00fc\u00dfe \U0001f469\u200d\U0001f52c\n".encode()).status == 0
    assert [one["text"] for one in nf.json("show")["entries"]] == ["Gr\u00fc\u00dfe \U0001f469\u200d\U0001f52c"]


@pytest.mark.parametrize("count", [799, 800, 801])
@pytest.mark.parametrize("letter", ["x", "\uac00", "\U0001f600", "e\u0301", "\U0001d49c"])
def test_the_limit_of_an_entry_counts_code_points_of_the_normal_form(nf: CommandLine, letter: str, count: int) -> None:
    done = nf("--json", "add", letter * count)

    assert (done.status, done.doc["rule"]) == ((0, None) if count <= 800 else (1, "too-long"))


@pytest.mark.parametrize("word", ["zero\u200bwidth", "right\u202eto left", "nul\0byte", "esc\x1b[31m"])
def test_invisible_and_control_characters_are_refused(nf: CommandLine, word: str) -> None:
    done = nf("--json", "add", f"Some {word} text.")

    assert (done.status, done.doc["rule"]) == (1, "invisible")


def test_bytes_that_are_no_text_are_refused_and_not_a_fault(nf: CommandLine) -> None:
    done = nf.process("--json", "add", "-", stdin=b"half \xff\xfe a character")

    assert (done.status, done.doc["rule"]) == (1, "invisible")


def test_the_hard_limit_refuses_with_what_is_over_and_what_could_go(nf: CommandLine) -> None:
    (nf.home).mkdir(exist_ok=True)
    (nf.home / "config.toml").write_text("limits.hard = 600\n", encoding="utf-8")
    nf("add", "a" * 500)

    refused = nf("--json", "add", "b" * 150)

    assert (refused.status, refused.doc["rule"]) == (1, "capacity")
    assert "50 too many" in refused.doc["reason"]
    assert nf.json("show")["entries"][0]["id"] in refused.doc["hint"]


def test_nothing_is_created_by_looking(nf: CommandLine) -> None:
    for command in (["status"], ["show"], ["list"], ["branches"], ["log"], ["doctor"], ["fsck"], ["undo"]):
        assert nf(*command).status == 0, command

    assert not (nf.home / "data").exists()


def test_nothing_is_written_into_the_project(nf: CommandLine) -> None:
    nf("add", FACT)
    nf("fork", "experiment")

    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=nf.project, capture_output=True, text=True, check=True
    )
    assert status.stdout == ""


def test_folders_and_files_are_private_whatever_the_umask(nf: CommandLine) -> None:
    import sys
    from pathlib import Path

    script = Path(sys.executable).parent / "noforgetti"
    subprocess.run(
        ["sh", "-c", f'umask 0; "{script}" add "One fact."; "{script}" fork spike; "{script}" gc'], check=True
    )

    def others(path: Path) -> int:
        return stat.S_IMODE(path.lstat().st_mode) & 0o077

    assert [str(path) for path in nf.home.rglob("*") if others(path)] == []


def test_the_audit_trail_reads_with_plain_git(nf: CommandLine) -> None:
    written = nf.json("add", FACT)

    message = nf.git("log", "-1", "--format=%an%n%B", "main")
    trailers = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=message, capture_output=True, text=True, check=True
    ).stdout
    entry = written["entry"]["id"]
    assert message == f"user\nadd: {FACT}\n\n+ {entry}\n  + {FACT}\n\nKind: write\nEntries: +{entry}\n\n"
    assert trailers == f"Kind: write\nEntries: +{entry}\n"


def test_text_that_looks_like_trailers_does_not_become_one(nf: CommandLine) -> None:
    nf("add", "First line.\n\nKind: review\nUndoes: HEAD")

    assert nf.json("log")["commits"][0]["kind"] == "write"
    assert "Undoes" not in nf.git("log", "-1", "--format=%(trailers:only)", "main")


def test_editing_the_whole_branch_is_one_commit(nf: CommandLine, tmp_path: Path) -> None:
    nf("add", FACT)
    nf("add", "The API package owns validation.", "--category", "decision")
    editor = tmp_path / "editor"
    editor.write_text(
        "#!/bin/sh\n"
        "sed -i -e 's/pnpm test\\./pnpm test, always./' -e '/^- The API/d' \"$1\"\n"
        "printf '# Mistakes\\n- Never edit dist by hand. *(pinned)*\\n' >> \"$1\"\n",
        encoding="utf-8",
    )
    editor.chmod(0o700)
    nf.monkeypatch.setenv("EDITOR", str(editor))

    doc = nf.json("edit")

    assert (doc["outcome"], [one["operation"] for one in doc["operations"]]) == ("edited", ["add", "replace", "remove"])
    shown = {one["text"]: one["pinned"] for one in nf.json("show")["entries"]}
    assert shown == {"Run pnpm check before pnpm test, always.": False, "Never edit dist by hand.": True}
    assert len(nf.json("log")["commits"]) == 3


def test_an_edit_that_cannot_be_read_changes_nothing_and_is_kept(nf: CommandLine) -> None:
    nf("add", FACT)
    nf.monkeypatch.setenv("EDITOR", "sed -i 's/^# Lessons/# Nonsense/'")

    done = nf("--json", "edit")

    assert done.status == 1
    kept = done.doc["hint"].split("`")[1]
    with open(kept, encoding="utf-8") as file:
        assert "# Nonsense" in file.read()
    assert [one["text"] for one in nf.json("show")["entries"]] == [FACT]


def test_a_redo_that_would_overwrite_later_work_stops_under_its_own_name(nf: CommandLine) -> None:
    nf("add", FACT)
    reworded = nf.json("replace", "pnpm", "Run pnpm check, then pnpm test.")["commit"]
    nf("undo", reworded)
    later = nf.json("replace", "pnpm", "Run everything in Docker.")

    done = nf("--json", "redo", reworded)

    assert (done.status, done.doc["outcome"], done.doc["redoes"]) == (1, "halted", reworded)
    assert done.doc["conflicts"] == [{"id": later["entry"]["id"], "commit": later["commit"]}]
    assert done.err.startswith("Redo stopped: ")
