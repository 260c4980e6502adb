"""Readers are total: whatever lies at a path, they read what can be read, say what cannot, and change nothing."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noforgetti.importers.base import Source, SourceError

from .sources import put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Read = Callable[..., Source]

TEXTS = ("claude_code", "instructions", "basic_memory", "mcp_memory", "mem0", "own", "topics")
DATABASES = ("pi_memory", "memories_db")
READERS = (*TEXTS, *DATABASES, "no_forgetti")
FILES = {
    "claude_code": "MEMORY.md",
    "instructions": "AGENTS.md",
    "basic_memory": "note.md",
    "mcp_memory": "memory.jsonl",
    "mem0": "export.json",
    "own": "export.json",
    "topics": "lessons.md",
    "pi_memory": "memory.db",
    "memories_db": "memories.db",
    "no_forgetti": "main.json",
}
LINES = {
    "claude_code": "- Keep the tests of part {} quick and its fixtures small\n",
    "instructions": "- Keep the tests of part {} quick and its fixtures small\n",
    "basic_memory": "- [method] Keep the tests of part {} quick and its fixtures small #tests\n",
    "topics": "- [lesson] Keep the tests of part {} quick and its fixtures small\n",
    "mcp_memory": '{{"type":"entity","name":"Part {}","entityType":"part","observations":["It is quick"]}}\n',
    "mem0": '{{"id":"{}","memory":"Keep the tests quick"}}\n',
    "own": (
        '{{"format":"noforgetti/export","version":1,'
        '"entry":{{"id":"part-{}","text":"It is quick","category":"lesson","importance":"low"}}}}\n'
    ),
}


@pytest.fixture(params=READERS)
def name(request: pytest.FixtureRequest) -> str:
    """Each reader by its module."""
    return str(request.param)


@pytest.fixture(params=TEXTS)
def text_format(request: pytest.FixtureRequest) -> str:
    """Each reader of text that is read line by line."""
    return str(request.param)


def reader(name: str) -> Read:
    read: Read = import_module(f"noforgetti.importers.{name}").read
    return read


def attempt(read: Read, path: Path) -> Source:
    """What is at the path; nothing when it is refused, in words that end as they should."""
    try:
        return read(path)
    except SourceError as error:
        if not str(error).endswith("Nothing was imported."):
            raise
        return Source("none", ())


def count(read: Read, path: Path) -> int:
    return attempt(read, path).items


def test_a_path_that_is_not_there_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="Nothing was imported"):
        reader(name)(tmp_path / "nowhere")


def test_a_pipe_and_a_loop_of_links_are_refused_at_once(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path in ("pipe", "loop"):
        with pytest.raises(SourceError, match="Nothing was imported"):
            reader(name)(tmp_path / path)


def test_a_folder_where_a_file_belongs_is_no_accident(name: str, tmp_path: Path) -> None:
    (tmp_path / FILES[name]).mkdir()
    assert count(reader(name), tmp_path) == 0


def test_a_huge_file_is_refused_or_left_over_unread(name: str, tmp_path: Path) -> None:
    with (tmp_path / FILES[name]).open("wb") as file:
        file.truncate(1 << 30)  # sparse

    with pytest.raises(SourceError, match=r"1,073,741,824 bytes, more than 67,108,864|Nothing was imported"):
        reader(name)(tmp_path / FILES[name])


def test_an_empty_file_holds_nothing(name: str, tmp_path: Path) -> None:
    assert count(reader(name), put(tmp_path, FILES[name], "")) == 0


def test_twenty_thousand_lines_are_read(text_format: str, tmp_path: Path) -> None:
    path = put(tmp_path, FILES[text_format], "".join(LINES[text_format].format(number) for number in range(20_000)))

    source = reader(text_format)(path)

    assert (source.items, source.leftovers) == (20_000, ())


def test_a_torn_end_costs_the_last_line_at_most(text_format: str, tmp_path: Path) -> None:
    data = "".join(LINES[text_format].format(number) for number in range(10)).encode()
    path = put(tmp_path, FILES[text_format], data[:-20] + b"\0\xff\xfe" + b"\0" * 9)

    source = reader(text_format)(path)

    assert source.items == 9
    assert len(source.leftovers) == 1


@pytest.mark.parametrize("change", ["bom", "crlf", "utf-16"])
def test_marks_and_line_ends_of_other_systems_change_nothing(text_format: str, tmp_path: Path, change: str) -> None:
    text = "".join(LINES[text_format].format(number) for number in range(3))
    plain = reader(text_format)(put(tmp_path, FILES[text_format], text))
    data = {
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "crlf": text.replace("\n", "\r\n").encode(),
        "utf-16": text.encode("utf-16"),
    }
    os.utime(put(tmp_path, FILES[text_format], data[change]), (1_000_000_000, 1_000_000_000))
    os.utime(tmp_path / FILES[text_format], (1_000_000_000, 1_000_000_000))

    found = reader(text_format)(tmp_path / FILES[text_format])

    assert [(one.name, one.text) for one in found.branches[0].revisions[0].items] == [
        (one.name, one.text) for one in plain.branches[0].revisions[0].items
    ]


PIECES = st.sampled_from(
    [
        *(b"- ", b"\n", b"# ", b"```", b"---\n", b"type: user\n", b"<!--", b"-->", b"| a |", b"  ", b"[x](y.md)"),
        *(b'{"type":"entity","name":', b'"a"', b"}", b"[", b"]", b'{"results":', b'{"memory":', b"\xff", b"\0", b"\r"),
        *(b'{"format":"noforgetti/export","version":1', b',"branches":[', b',"entries":', b"1e999", b"\xe4\xb8\xad"),
        *(b"SQLite format 3\0", b"\\ud800", b'"', b",", b":", b"null", b"true", b"9" * 5_000, b"[" * 2_000),
    ]
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(pieces=st.lists(PIECES | st.binary(max_size=6), max_size=24))
def test_no_bytes_are_an_accident(name: str, tmp_path: Path, pieces: list[bytes]) -> None:
    path = put(tmp_path, FILES[name], b"".join(pieces))
    before = path.read_bytes()
    for branch in attempt(reader(name), path).branches:
        for state in branch.revisions:
            assert len({one.name for one in state.items}) == len(state.items)
            assert all(one.text.strip() for one in state.items)
            "".join(one.text + one.name for one in state.items).encode()  # no half characters
    assert path.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == [FILES[name]]


LONG = [
    *(
        "[" * 1_000_000,
        "# a" + " " * 1_000_000 + "b",
        "- none" + ")" * 1_000_000 + "x",
        "|a|\n" + "-" * 1_000_000 + "x",
    ),
    *("- x " + " " * 1_000_000 + "y", "- [a](b.md#" * 100_000, "- a [[b" + " " * 1_000_000, "- " + "> " * 500_000),
    *("- " * 500_000, "`" * 1_000_000, "# " + "[" * 1_000_000, "- *" + "*" * 1_000_000 + ":"),
    *("- #a " * 200_000, "x\n" * 300_000, "- x\n  - y\n" * 10_000, "- x\n" + "  - y\n" * 50_000),
]


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
@pytest.mark.parametrize("name", ["claude_code", "basic_memory"])
def test_no_text_takes_more_than_its_length_to_read(name: str, tmp_path: Path, text: str) -> None:
    source = attempt(reader(name), put(tmp_path, FILES[name], text))

    assert source.branches
