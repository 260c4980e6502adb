"""`pr-reviews`, as reviewing agents and people use it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import CommandLine

REVIEW = {
    "metadata": {"owner": "octo", "repo": "shop", "pr_number": 12, "head_sha": "abc"},
    "comments": [
        {"path": "a.py", "line": 4, "body": "The lock is never released.", "severity": "high"},
        {
            "path": "a.py",
            "line": 9,
            "body": "No docstring.",
            "status": "skipped",
            "skip_reason": "Tests have none.",
            "guideline": "Do not ask for docstrings in tests.",
        },
    ],
}


@pytest.fixture
def file(nf: CommandLine) -> str:
    path = nf.project / "review.json"
    path.write_text(json.dumps(REVIEW))
    return str(path)


def plain(text: str) -> str:
    """Without the chance in commits and days."""
    return re.sub(r"\b[0-9a-f]{12}\b", "<short>", re.sub(r"\d{4}-\d\d-\d\d", "<day>", text))


def test_the_life_of_a_review(nf: CommandLine, file: str) -> None:
    assert plain(nf("pr-reviews", "add", file).out) == (
        "Kept 2 comments on octo/shop#12.\nLearned commit <short>\n  + Do not ask for docstrings in tests.\n"
    )
    assert nf("pr-reviews", "add", file).out == (
        "Kept 0 comments on octo/shop#12, 2 were there already.\nKnown already: Do not ask for docstrings in tests.\n"
    )
    assert plain(nf("pr-reviews", "match", file).out) == (
        "settled a.py:9: No docstring.\n"
        "  skipped in octo/shop#12, <day>: Tests have none.\n"
        "posted a.py:4: The lock is never released.\n"
        "  on <day>; open\n"
        "2 comments: 1 settled before, 1 posted already, 0 new.\n"
    )
    update = ("pr-reviews", "update-resolution", "octo/shop#12", "a.py", "resolved_fixed", "--response", "In 1f2e.")
    assert plain(nf(*update).out) == (
        "Updated:\n<day> posted high a.py:4\n  The lock is never released.\n  resolved fixed\n  author: In 1f2e.\n"
    )
    assert plain(nf("pr-reviews", "history", "octo/shop#12").out) == (
        "<day> posted high a.py:4\n  The lock is never released.\n  resolved fixed\n  author: In 1f2e.\n"
        "<day> skipped a.py:9\n  No docstring.\n  skipped: Tests have none.\n"
    )
    assert nf("guidelines").out == "- Do not ask for docstrings in tests.\n"


def test_documents(nf: CommandLine, file: str) -> None:
    added = nf.json("pr-reviews", "add", file)
    matched = nf.json("pr-reviews", "match", file)
    history = nf.json("pr-reviews", "history", "octo/shop#12")

    assert (added["outcome"], added["kept"], added["known"], added["guidelines"]["outcome"]) == ("added", 2, 0, "added")
    assert [one["index"] for one in matched["dismissed"]] == [1]
    assert matched["dismissed"][0]["by"] == history["comments"][1]
    assert list(history["comments"][0]) == [
        *("pull", "head", "time", "path", "line", "body", "severity", "status", "skip_reason"),
        *("resolution_status", "author_response", "thread_id", "comment_id", "posted_at"),
    ]


def test_a_review_may_come_from_a_pipe(nf: CommandLine) -> None:
    done = nf.process("pr-reviews", "add", stdin=json.dumps(REVIEW).encode())

    assert done.out.startswith("Kept 2 comments on octo/shop#12.\n")


def test_no_match_is_status_1(nf: CommandLine, file: str) -> None:
    nf("pr-reviews", "add", file)

    done = nf("--json", "pr-reviews", "update-resolution", "octo/shop#12", "b.py", "resolved_fixed", "--line", "3")

    assert (done.status, done.doc["matched"], done.doc["outcome"]) == (1, False, "nothing")
    assert done.err == (
        "No comment was posted on line 3 of `b.py` in octo/shop#12. Nothing was written.\n"
        "Hint: list what was said with `noforgetti pr-reviews history octo/shop#12`\n"
    )


def test_nothing_is_kept_of_what_nobody_reviewed(nf: CommandLine) -> None:
    done = nf("pr-reviews", "history", "octo/shop#1")

    assert (done.status, done.out) == (0, "Nothing is kept of octo/shop#1.\n")


@pytest.mark.parametrize("what", ["missing", "folder", "pipe"])
def test_what_is_no_file_is_told_and_never_waited_for(nf: CommandLine, what: str) -> None:
    path = nf.project / what
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)

    for command in ("add", "match", "import"):
        done = nf("pr-reviews", command, str(path))
        assert (done.status, done.err.splitlines()[0]) == (1, f"`{path}` is no file. Nothing was written.")


def test_a_damaged_store_is_told_and_recovered(nf: CommandLine, file: str) -> None:
    nf("pr-reviews", "add", file)
    path = Path(nf.home) / "data" / "pr-reviews.sqlite"
    path.write_bytes(b"")

    done = nf("pr-reviews", "history", "octo/shop#12")

    assert done.status == 1
    assert done.err == (
        f"The comments on pull requests in `{path}` cannot be read: the file is empty. Nothing was changed.\n"
        "Hint: `noforgetti pr-reviews recover` sets the file aside and keeps every comment that can be read\n"
    )
    assert nf("pr-reviews", "recover").out.startswith("Saved 0 comments; the damaged file is kept as ")
    assert nf("pr-reviews", "recover").out == "The comments on pull requests can be read; nothing was changed.\n"
    assert nf("pr-reviews", "add", file).status == 0
