"""What an attack from outside has broken once: closed streams, odd words, damaged repositories, huge sessions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from noforgetti.model.evidence import Item, Role, Transcript
from noforgetti.review import window as windows

if TYPE_CHECKING:
    from faces.conftest import CommandLine

SCRIPT = Path(sys.executable).parent / "noforgetti"


def shell(nf: CommandLine, line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line, "bash", str(SCRIPT)],
        cwd=nf.project,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ('"$1" status >&-', 0),
        ('"$1" show >&-', 0),
        ('"$1" add "One fact." >&- 2>&-', 0),
        ('"$1" add - <&-', 1),
        ('"$1" remove nothing 2>&-', 1),
        ('"$1" remove nothing 2>/dev/full', 1),
        ('"$1" list >/dev/full', 1),
        ('"$1" --json show >/dev/full', 1),
        ('"$1" --help >/dev/full', 1),
        ('"$1" log | true; exit ${PIPESTATUS[0]}', 1),
    ],
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_closed_and_full_streams_are_no_fault_of_ours(nf: CommandLine, line: str, status: int) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    done = shell(nf, line)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_more_commits_than_a_machine_counts_are_all_of_them(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    assert nf("log", "-n", "9" * 30).status == 0


@pytest.mark.parametrize("day", ["2026-99-99", "0000-00-00", "2026-02-30", "2026-11-30T25:00"])
def test_a_day_that_does_not_exist_names_no_commit(nf: CommandLine, day: str) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    done = nf("show", "--at", day)
    assert done.status == 1
    assert day in done.err


def test_a_branch_name_that_is_no_text_is_an_unknown_branch(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    done = nf("--branch", "\udcff", "show")
    assert done.status == 1
    assert "no memory branch" in done.err


def test_an_edit_that_changes_nothing_changes_no_entry_whatever_its_text_looks_like(nf: CommandLine) -> None:
    texts = [
        "Write comments as <!-- note --> in templates.",
        "Begin a comment with <!-- in mdx",
        "It ends with --> there.",
        "Mark it with *(high)*",
        "*(pinned)*",
        "See the list in [docs]",
        "Hard breaks   \nneed blanks   \n\n# and no heading [x-1]",
    ]
    for text in texts:
        assert nf("add", "--", text).status == 0
    editor = nf.home / "editor"
    editor.write_text('#!/bin/sh\nsleep 1.1\ntouch "$1"\n')
    editor.chmod(0o700)
    before = nf.json("show")
    done = nf.process("--json", "edit", environ={"EDITOR": str(editor)})
    assert json.loads(done.out)["outcome"] == "nothing", done.err
    assert nf.json("show") == before


def test_a_memory_whose_head_file_is_gone_is_broken_not_new(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    head = nf.repository / "HEAD"
    head.unlink()
    for command in (["show"], ["status"], ["log"], ["add", "Another fact."]):
        assert nf(*command).status == 1, command
    assert nf("doctor").status == 1
    assert nf("doctor", "--fix").status == 0
    assert [one["text"] for one in nf.json("show")["entries"]] == ["Run pnpm check before pnpm test."]


def test_a_damaged_head_file_is_named_mended_and_kept_aside(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    repository = nf.repository
    (repository / "HEAD").write_bytes(b"\0garbage")
    done = nf("doctor")
    assert done.status == 1
    assert "HEAD" in done.out
    assert nf("doctor", "--fix").status == 0
    assert nf("fsck").status == 0
    assert [one.read_bytes() for one in nf.home.rglob("damaged/HEAD")] == [b"\0garbage"]


def test_doctor_mends_beside_branches_with_slashes_and_symbolic_ones(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    nf.git("branch", "feature/x", "main")
    nf.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    assert nf("doctor", "--fix").status == 0


def test_a_lock_that_is_a_folder_refuses_the_write_in_words(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    lock = nf.repository / "refs" / "heads" / "main.lock"
    lock.mkdir()
    os.utime(lock, (1, 1))
    done = nf("add", "Another fact.")
    assert done.status == 1
    assert "cannot be written" in done.err


def test_packing_removes_the_lock_of_a_killed_packer(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    lock = nf.repository / "packed-refs.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    assert nf("gc").status == 0
    assert not lock.exists()


def test_a_text_of_many_windows_is_cleaned_once() -> None:
    calls: list[int] = []

    def redact(text: str) -> tuple[str, int]:
        calls.append(len(text))
        return text, 0

    said = Transcript("s", (Item("a", Role.USER, f"{time.time()} " + "word " * 40_000),))
    position, seen = None, 0
    while (window := windows.build(said, position, said.items[0].branch, redact=redact)) is not None:
        position, seen = window.last, seen + 1
    assert seen > 5
    assert len(calls) == 1


def test_a_window_reads_no_further_than_it_can_hold() -> None:
    read: list[str] = []

    def redact(text: str) -> tuple[str, int]:
        read.append(text)
        return text, 0

    items = (Item("u", Role.USER, "go"), *(Item(f"a{n}", Role.ASSISTANT, "x" * 1_000) for n in range(1_000)))
    assert windows.build(Transcript("s", items), None, items[0].branch, redact=redact) is not None
    assert len(read) < 40


def test_lines_that_share_an_id_are_all_reviewed(nf: CommandLine) -> None:
    session = nf.home.parent / "session.jsonl"
    says = ["From now on, use pnpm instead of npm.", *["Fine."] * 40, "From now on, always run ruff before committing."]
    session.write_text("".join(json.dumps({"id": "chat-1", "role": "user", "content": one}) + "\n" for one in says))
    assert nf("review", "--transcript", str(session), "--reviewer", "rules").status == 0
    assert len(nf.json("show")["entries"]) == 2


def test_a_session_file_without_an_end_is_refused(nf: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noforgetti.transcripts.base.FILE_BYTES", 1_000)
    done = nf("review", "--transcript", "/dev/zero", "--reviewer", "rules")
    assert done.status == 1
    assert "more than 1,000 bytes" in done.err
