"""What a session is remembered by, and that a file is followed instead of read again."""

from __future__ import annotations

import io
import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.evidence import Role
from noforgetti.transcripts import harvest
from noforgetti.transcripts.harvest import Kept, Piece, Reading, passages, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STARTED = "2026-12-01T10:00:00.000Z"
AT = "2026-12-01T10:01:00.000Z"
HEADER: dict[str, Any] = {"type": "session", "version": 3, "id": "s1", "timestamp": STARTED, "cwd": "/p"}


def user(text: Any, own: str = "u1", at: str = AT) -> dict[str, Any]:
    return _message(own, at, {"role": "user", "content": text})


def assistant(text: str = "done", own: str = "a1", stop: str = "stop", error: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": stop}
    return _message(own, AT, message | ({"errorMessage": error} if error else {}))


def result(text: str, own: str = "t1") -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return _message(own, AT, {"role": "toolResult", "toolName": "bash", "content": content})


def _message(own: str, at: str, message: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "id": own, "parentId": None, "timestamp": at, "message": message}


def compaction(summary: str, own: str = "c1", at: str = AT) -> dict[str, Any]:
    return {"type": "compaction", "id": own, "timestamp": at, "summary": summary, "tokensBefore": 9}


def left(summary: str, own: str = "b1") -> dict[str, Any]:
    return {"type": "branch_summary", "id": own, "timestamp": AT, "summary": summary, "fromId": "x"}


def edit(target: str, replacement: str | None = None) -> dict[str, Any]:
    return {"type": "context_edit", "id": "e1", "timestamp": AT, "targetId": target, "replacement": replacement}


def lines(*entries: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in entries)


@pytest.fixture
def session(tmp_path: Path) -> Callable[..., Path]:
    def made(*entries: dict[str, Any] | bytes, name: str = "2026-12-01_s1.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(b"".join(one if isinstance(one, bytes) else lines(one) for one in entries))
        return path

    return made


def texts(reading: Reading) -> list[str]:
    return [piece.text for piece in reading.pieces]


# ---- what is taken


def test_a_session_without_a_summary_is_what_its_user_said(session: Callable[..., Path]) -> None:
    path = session(HEADER, user("run the tests"), assistant(), user([{"type": "text", "text": "and lint"}], "u2"))

    reading = read(str(path), kind="pi")

    assert reading.pieces == (Piece("u1", Role.USER, "run the tests", AT), Piece("u2", Role.USER, "and lint", AT))
    assert (reading.kept.seen.session, reading.kept.seen.cwd, reading.kept.seen.started) == ("s1", "/p", STARTED)
    assert not reading.kept.seen.summarised


def test_summaries_of_compactions_and_of_paths_that_were_left_are_taken(session: Callable[..., Path]) -> None:
    path = session(HEADER, user("hello there"), left("Tried Redis."), assistant(), compaction("Moved to Postgres."))

    reading = read(str(path), kind="pi")

    assert [one for one in reading.pieces if one.role is Role.SUMMARY] == [
        Piece("b1", Role.SUMMARY, "Tried Redis.", AT),
        Piece("c1", Role.SUMMARY, "Moved to Postgres.", AT),
    ]
    assert reading.kept.seen.summarised


FULL = "400: This endpoint's maximum context length is 64000 tokens. However, you requested about 70000 tokens"


@pytest.mark.parametrize(
    ("before", "taken"),
    [
        ([assistant(stop="error", error=FULL), edit("a1")], False),  # as Pi 1.6 writes it, seen
        ([assistant(stop="length"), edit("a1")], False),
        ([assistant(stop="length"), result("cut"), edit("a1"), edit("t1")], False),
        ([assistant(stop="error", error=FULL)], False),  # before Pi had context_edit
        ([assistant(stop="error", error="503 unavailable")], True),
        ([assistant(stop="length")], True),
        ([assistant(stop="error", error="503 unavailable"), edit("a1"), assistant(own="a2")], True),
        ([assistant(stop="error", error=FULL), edit("a1"), user("go on", "u2")], True),
        ([assistant()], True),
    ],
)
def test_a_compaction_whose_turn_is_retried_is_left_out(
    session: Callable[..., Path], before: list[dict[str, Any]], taken: bool
) -> None:
    path = session(HEADER, user("a long question"), *before, compaction("What was done."), assistant("again", "a9"))

    reading = read(str(path), kind="pi")

    assert ("What was done." in texts(reading), reading.kept.seen.summarised) == (taken, taken)


def test_a_retried_compaction_is_known_when_it_is_read_later_than_the_answer_that_failed(
    session: Callable[..., Path],
) -> None:
    path = session(HEADER, user("a long question"), assistant(stop="error", error=FULL), edit("a1"))
    first = read(str(path), kind="pi")
    with path.open("ab") as file:
        file.write(lines(compaction("What was done.")))

    assert read(str(path), first.kept, kind="pi").pieces == ()


def test_nothing_that_was_put_into_a_session_is_taken(session: Callable[..., Path]) -> None:
    own = {"type": "custom_message", "customType": "noforgetti-memory", "content": "use tabs", "id": "m1"}
    path = session(
        HEADER,
        _message("p1", AT, {"role": "system", "content": "", "sections": {"project_memory": "use tabs"}}),
        own,
        _message("m2", AT, {"role": "custom", "customType": "noforgetti-memory", "content": "use tabs"}),
        result("use tabs"),
        {"type": "custom", "customType": "noforgetti", "data": {"role": "user", "text": "use tabs"}, "id": "k1"},
        user("<project_memory>\nuse tabs\n</project_memory>\n<past_sessions>use tabs</past_sessions>why is CI red?"),
        user('<skill name="x" location="/x">\nuse tabs\n</skill>\n\nfor the parser', "u2"),
        assistant("use tabs"),
    )

    assert [text.strip() for text in texts(read(str(path), kind="pi"))] == ["why is CI red?", "for the parser"]


@pytest.mark.parametrize("text", ["ok", "👍", "??", "/mode", "/review all of it", "   ", ""])
def test_a_message_that_says_nothing_is_left_out(session: Callable[..., Path], text: str) -> None:
    assert read(str(session(HEADER, user(text))), kind="pi").pieces == ()


def test_what_is_trivial_is_the_callers_to_say(session: Callable[..., Path]) -> None:
    path = session(HEADER, user("thanks"), user("see /usr/lib", "u2"), compaction("thanks"))

    reading = read(str(path), kind="pi", trivial=lambda text: text == "thanks")

    assert texts(reading) == ["see /usr/lib", "thanks"]  # a summary is never trivial


def test_images_stay_out_and_lone_surrogates_become_replacement_characters(session: Callable[..., Path]) -> None:
    content = [{"type": "image", "data": "AAAA"}, {"type": "text", "text": "what is \ud83d this"}]

    assert texts(read(str(session(HEADER, user(content))), kind="pi")) == ["what is \ufffd this"]


def test_a_message_taken_out_of_the_context_is_taken_back(session: Callable[..., Path]) -> None:
    path = session(HEADER, user("the password of staging"), assistant())
    first = read(str(path), kind="pi")
    with path.open("ab") as file:
        file.write(lines(edit("u1", "gone")))

    assert read(str(path), first.kept, kind="pi").pieces == (Piece("u1", Role.USER, ""),)


def test_a_pasted_log_counts_by_its_beginning(session: Callable[..., Path]) -> None:
    (piece,) = read(str(session(HEADER, user("word " * 10_000))), kind="pi").pieces

    assert piece.text == ("word " * 1_600).rstrip()


def test_the_last_name_of_a_session_counts(session: Callable[..., Path]) -> None:
    named = [{"type": "session_info", "id": name, "name": name} for name in ("first", "auth refactor")]

    assert read(str(session(HEADER, *named)), kind="pi").kept.seen.name == "auth refactor"


# ---- forks


FORK = HEADER | {"id": "s2", "timestamp": "2026-12-01T11:00:00.000Z", "parentSession": "/sessions/s1.jsonl"}
LATER = "2026-12-01T11:05:00.000Z"


def test_a_fork_adds_only_what_was_said_in_it(session: Callable[..., Path]) -> None:
    path = session(FORK, user("said before"), compaction("Done before."), user("said in the fork", "u2", LATER))

    reading = read(str(path), kind="pi", known=lambda parent: parent == "/sessions/s1.jsonl")

    assert reading.pieces == (Piece("u2", Role.USER, "said in the fork", LATER),)
    assert (reading.kept.seen.parent, reading.kept.seen.summarised) == ("/sessions/s1.jsonl", False)


def test_a_fork_whose_parent_is_gone_stands_for_both(session: Callable[..., Path]) -> None:
    path = session(FORK, user("said before"), user("said in the fork", "u2", LATER))

    assert texts(read(str(path), kind="pi")) == ["said before", "said in the fork"]


# ---- files as they are


def test_the_oldest_format_has_no_ids_and_is_named_by_line(session: Callable[..., Path]) -> None:
    first, second = user("an old question"), user("another one")
    path = session(
        HEADER, {k: v for k, v in first.items() if k != "id"}, {k: v for k, v in second.items() if k != "id"}
    )

    assert [piece.id for piece in read(str(path), kind="pi").pieces] == ["#2", "#3"]


def test_broken_lines_are_counted_and_passed_over(session: Callable[..., Path]) -> None:
    path = session(
        b"\xef\xbb\xbf" + lines(HEADER).replace(b"\n", b"\r\n"),
        b'{"role": "user", oops\r\n',
        b'["user"]\n\n',
        lines(user("caf\u00e9 one")).replace(b"\\u00e9", b"\xff"),
        b"\0\0\0\0\n",
        user([{"type": "text"}, None, 3, {"type": "text", "text": 5}], "u2"),
        {"type": "message", "message": "user"},
        {"type": "compaction", "summary": None, "id": "c2"},
        user("still here", "u3"),
    )

    reading = read(str(path), kind="pi")

    assert texts(reading) == ["caf\ufffd one", "still here"]
    assert (reading.kept.seen.session, reading.kept.seen.broken, reading.kept.trouble) == ("s1", 2, "")


def test_a_last_line_that_is_being_written_waits(session: Callable[..., Path]) -> None:
    whole = lines(user("run the tests"))
    path = session(HEADER, whole[:60])
    first = read(str(path), kind="pi")
    path.write_bytes(lines(HEADER) + whole)

    second = read(str(path), first.kept, kind="pi")

    assert (texts(first), first.kept.offset, first.kept.seen.broken) == ([], len(lines(HEADER)), 0)
    assert (texts(second), second.anew) == (["run the tests"], False)


def test_a_last_line_without_its_end_counts_when_it_is_complete(session: Callable[..., Path]) -> None:
    path = session(HEADER, lines(user("run the tests")).rstrip())
    first = read(str(path), kind="pi")
    with path.open("ab") as file:
        file.write(b"\n" + lines(user("and lint", "u2")))

    assert (texts(first), texts(read(str(path), first.kept, kind="pi"))) == (["run the tests"], ["and lint"])


def test_a_line_without_end_is_passed_over(session: Callable[..., Path]) -> None:
    path = session(HEADER, user("x" * 33 * 1024 * 1024), user("short enough", "u2"))

    reading = read(str(path), kind="pi", most=1024**3)

    assert (texts(reading), reading.kept.seen.broken) == (["short enough"], 1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["user", "error", "u1", AT]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "role"]), inner),
    max_leaves=4,
)
KEYS = ["id", "type", "timestamp", "message", "summary", "targetId", "replacement", "name", "cwd", "parentSession"]
TYPES = ["session", "message", "compaction", "branch_summary", "context_edit", "session_info"]


@given(
    st.lists(
        st.dictionaries(st.sampled_from(KEYS), VALUES)
        | st.builds(
            lambda kind, role, rest: {**rest, "type": kind, "message": {"role": role, **rest}},
            st.sampled_from(TYPES),
            st.sampled_from(["user", "assistant", "toolResult"]),
            st.dictionaries(st.sampled_from([*KEYS[:1], "content", "stopReason", "errorMessage"]), VALUES),
        ),
        max_size=8,
    ),
    st.binary(max_size=20),
)
def test_nothing_in_a_file_raises(tmp_path_factory: pytest.TempPathFactory, entries: list[Any], noise: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "s.jsonl"
    path.write_bytes(lines(*entries) + noise)

    reading = read(str(path), kind="pi")

    assert reading.kept.trouble == ""
    assert Kept.from_json(json.loads(json.dumps(reading.kept.to_json()))) == reading.kept
    assert all(passages(piece.text) or not piece.text.strip() for piece in reading.pieces)


def test_an_empty_file_has_nothing_to_say(session: Callable[..., Path]) -> None:
    path = session()

    assert read(str(path), kind="pi") == Reading(
        Kept("pi", harvest.stamp_of(path.stat()), tail=harvest._digest(b""), seen=harvest.Seen(session="s1"))
    )
    assert read(str(path)).kept.trouble == ""


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "notes.jsonl").write_text("just words\n")

    def trouble(name: str) -> str:
        return read(str(tmp_path / name)).kept.trouble.replace(str(tmp_path), "…")

    assert [trouble(name) for name in ("folder.jsonl", "pipe.jsonl", "notes.jsonl", "gone.jsonl", "a\0b")] == [
        "`…/folder.jsonl` cannot be read: it is no file",
        "`…/pipe.jsonl` cannot be read: it is no file",
        "`…/notes.jsonl` is of no known format",
        "`…/gone.jsonl` cannot be read: No such file or directory",
        "`…/a\0b` cannot be read: embedded null byte",
    ]


@pytest.mark.parametrize("layout", ["lines", "list", "document"])
def test_the_plain_format_is_read_as_a_whole(session: Callable[..., Path], layout: str) -> None:
    said = [{"role": "user", "content": "run the tests"}, {"role": "assistant", "content": "done"}]
    laid = {
        "lines": lines(*said),
        "list": json.dumps(said, indent=1).encode(),
        "document": json.dumps({"messages": said, "padding": "x" * 100_000}).encode(),
    }
    path = session(laid[layout], name="talk.jsonl")
    first = read(str(path))
    path.write_bytes(lines(*said, {"role": "user", "content": "and lint"}))

    second = read(str(path), first.kept)

    assert (texts(first), first.kept.format, first.kept.seen.session) == (["run the tests"], "plain", "talk")
    assert (texts(second), second.anew) == (["run the tests", "and lint"], True)


# ---- following a file


class Counting(io.FileIO):
    """A file that counts the bytes that are read of it."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        return self._counted(super().read(-1 if size is None else size))

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._counted(self._line(-1 if size is None else size))

    def _line(self, size: int) -> bytes:
        at = self.tell()
        data = super().read()
        end = data.find(b"\n") + 1 or len(data)
        end = min(end, size) if size >= 0 else end
        self.seek(at + end)
        return data[:end]

    def _counted(self, data: bytes | None) -> bytes:
        Counting.count += len(data or b"")
        return data or b""


def counted(path: Path, kept: Kept | None, **options: Any) -> tuple[Reading, int]:
    Counting.count = 0
    reading = read(str(path), kept, kind="pi", opened=lambda name: cast("BinaryIO", Counting(name)), **options)
    return reading, Counting.count


def test_a_file_that_grew_is_read_from_where_it_ended(session: Callable[..., Path]) -> None:
    path = session(HEADER, *(user(f"question {n} " + "x" * 2_000, f"u{n}") for n in range(50)))
    first, whole = counted(path, None)
    added = lines(assistant(), user("one more", "v1"))
    with path.open("ab") as file:
        file.write(added)

    second, again = counted(path, first.kept)

    assert whole > 100_000
    assert again <= len(added) + 2 * 256  # what stands before the offset, and before the next
    assert (second.pieces, second.anew, second.bytes_read) == (
        (Piece("v1", Role.USER, "one more", AT),),
        False,
        len(added),
    )


def test_a_large_file_is_read_in_slices(session: Callable[..., Path]) -> None:
    path = session(HEADER, *(user(f"question number {n}", f"u{n}") for n in range(100)), compaction("All done."))
    found: list[Piece] = []
    reading = read(str(path), kind="pi", most=1_000)
    sizes = [reading.bytes_read]
    found += reading.pieces
    while not reading.kept.complete:
        reading = read(str(path), reading.kept, kind="pi", most=1_000)
        sizes.append(reading.bytes_read)
        found += reading.pieces

    assert tuple(found) == read(str(path), kind="pi").pieces
    assert reading.kept == read(str(path), kind="pi").kept
    assert max(sizes) < 1_300


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path, data: path.write_bytes(data[: len(data) // 2]), id="shrunk"),
        pytest.param(lambda path, data: path.write_bytes(data.replace(b"first", b"f1rst")), id="same size"),
        pytest.param(lambda path, data: path.write_bytes(data.replace(b"first", b"very first")), id="longer before"),
        pytest.param(
            lambda path, data: ((path.parent / "new").write_bytes(data + data), (path.parent / "new").rename(path)),
            id="replaced",
        ),
    ],
)
def test_a_file_that_did_more_than_grow_is_read_anew(
    session: Callable[..., Path], change: Callable[[Path, bytes], Any]
) -> None:
    path = session(HEADER, user("the first question"), user("the second question " * 30, "u2"))
    first = read(str(path), kind="pi")
    change(path, path.read_bytes())
    os.utime(path, ns=(1, first.kept.stamp[3] + 1_000_000))

    second = read(str(path), first.kept, kind="pi")

    assert second == replace(read(str(path), kind="pi"), anew=True)


def test_what_is_kept_survives_being_written_as_json(session: Callable[..., Path]) -> None:
    kept = read(str(session(HEADER, user("hello there"), assistant(stop="length"))), kind="pi").kept

    assert Kept.from_json(json.loads(json.dumps(kept.to_json()))) == kept
    assert [Kept.from_json(one) for one in ({}, {"stamp": "x"}, kept.to_json() | {"seen": {"no": 1}})] == [None] * 3


# ---- passages

SUMMARY = """## Goal
Move the billing service from Redis to Postgres without losing the queue.

## Progress
### Done
- [x] Wrote the migration `0042_queue.sql`; it creates the table and two partial indexes.
- [x] Replaced the client in `billing/queue.py` and removed the Lua script that nobody understood.

### Blocked
- The staging database has no extension `pg_partman`; operations were asked on Tuesday.

## Decisions
- **Advisory locks**: one lock for each tenant, since row locks made the workers wait for each other under load.
- **No ORM** in the hot path.
"""


def test_a_short_text_is_one_passage() -> None:
    assert passages("  Use pnpm.\n") == ("Use pnpm.",)
    assert passages(" \n\n") == ()


def test_a_summary_is_cut_at_its_headings() -> None:
    assert [one.splitlines()[0] for one in passages(SUMMARY)] == ["## Goal", "### Blocked"]
    assert passages(SUMMARY)[1].startswith("### Blocked\n- The staging database")


def test_sentences_stay_whole() -> None:
    text = " ".join(f"Sentence number {n} says something about the build." for n in range(200))

    found = passages(text)

    assert " ".join(found) == text
    assert all(one.startswith("Sentence") and one.endswith("build.") for one in found)


@pytest.mark.parametrize("unit", ["e\u0301", "👩‍👩‍👧", "👍🏽"])
def test_no_character_is_split(unit: str) -> None:
    found = passages(unit * 2_000)

    assert "".join(found) == unit * 2_000
    assert all(one.startswith(unit) and one.endswith(unit) for one in found)


LINE = st.text(st.sampled_from("ab. #-*\t!你。\u0301"), max_size=1_500) | st.sampled_from(
    ["", "# Head", "- item", "\r"]
)


@given(st.lists(LINE, max_size=40))
def test_passages_are_of_bounded_size_and_lose_no_word(parts: list[str]) -> None:
    text = "\n".join(parts)

    found = passages(text)

    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(len(one) <= 1_200 for one in found)


@given(st.lists(st.integers(1, 1_400), min_size=1, max_size=30), st.sampled_from(["\n", "\n\n", "\n- ", "\n## ", " "]))
def test_no_passage_of_a_long_text_is_short(sizes: list[int], joint: str) -> None:
    text = joint.join("word " * (size // 5) + "end." for size in sizes)

    assert len(text) < 250 or all(190 <= len(one) <= 1_200 for one in passages(text))
