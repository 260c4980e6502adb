"""What `doctor --fix` mends, seen from outside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from faces.conftest import CommandLine


@pytest.mark.parametrize("bytes_", [b"[core\n\0", b"", b"\xff\xfe garbage", b"[core]\n\tbare = true\n[noforg"])
def test_a_damaged_repository_configuration_is_written_anew(nf: CommandLine, bytes_: bytes) -> None:
    nf("add", "One fact.")
    repository = nf.repository
    (repository / "config").write_bytes(bytes_)

    done = nf("--json", "doctor", "--fix")

    assert done.status == 0, done
    assert [one["text"] for one in nf.json("show")["entries"]] == ["One fact."]
    assert nf.git("config", "noforgetti.root").strip() == str(nf.project)
    assert nf.git("config", "gc.auto").strip() == "0"
    assert nf("add", "Another fact.").status == 0
    kept = list(nf.home.rglob("damaged/config"))
    assert [path.read_bytes() for path in kept] in ([bytes_], [])


def test_a_lock_file_from_the_future_is_stale_too(nf: CommandLine) -> None:
    nf("add", "One fact.")
    lock = nf.repository / "refs" / "heads" / "main.lock"
    lock.write_bytes(b"")
    os.utime(lock, (4_000_000_000, 4_000_000_000))

    assert nf("add", "Another fact.").status == 0


def test_a_home_that_is_a_file_is_refused_by_every_command(nf: CommandLine) -> None:
    nf.home.write_bytes(b"")

    for words in (["status"], ["doctor"], ["add", "One fact."]):
        done = nf(*words)
        assert done.status == 1, words
        assert "is no folder" in done.err


def test_a_branch_of_any_name_that_git_allows_can_be_selected_when_it_is_there(nf: CommandLine) -> None:
    nf("add", "One fact.")
    nf.git("branch", "\u00fcn\u00ef", "main")

    assert nf("use", "\u00fcn\u00ef").status == 0
    assert nf.json("status")["branch"] == "\u00fcn\u00ef"


def test_a_mend_is_told_once(nf: CommandLine) -> None:
    nf("add", "One fact.")
    (nf.repository / "refs" / "heads" / "main").write_bytes(b"")

    assert "taken back" in nf("doctor", "--fix").out
    assert nf("doctor", "--fix").out == nf("doctor").out


def test_the_log_of_an_entry_that_never_was_is_refused(nf: CommandLine) -> None:
    nf("add", "One fact.")

    done = nf("log", "nope")
    assert (done.status, done.out) == (1, "")


def test_an_emptied_document_calls_the_edit_off(nf: CommandLine) -> None:
    nf("add", "One fact.", "--pin")
    nf.monkeypatch.setenv("EDITOR", "truncate -s 0")

    assert nf.json("edit")["outcome"] == "nothing"
    assert len(nf.json("show")["entries"]) == 1
