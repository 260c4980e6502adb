"""Which format a file has, and the plain one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from noforgetti.model.evidence import BEGIN, END, Role
from noforgetti.transcripts import base
from noforgetti.transcripts.base import TranscriptError

if TYPE_CHECKING:
    from pathlib import Path

TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "you are helpful"},
    {"role": "user", "content": "remember that tests need the database"},
    {"role": "assistant", "content": [{"type": "text", "text": "noted"}]},
    {"role": "tool", "name": "bash", "content": "raw output"},
]


def _file(folder: Path, data: bytes) -> Path:
    path = folder / "talk.jsonl"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        "\n".join(json.dumps(one) for one in TALK).encode() + b"\n",
        json.dumps(TALK).encode(),
        json.dumps(TALK, indent=1).encode(),
        json.dumps({"messages": TALK}).encode(),
        b"\xef\xbb\xbf" + "\n".join(json.dumps({"message": one}) for one in TALK).encode(),
    ],
    ids=["lines", "list", "indented list", "wrapped", "lines with a mark and a wrapper"],
)
def test_plain_messages_are_read_in_every_usual_wrapping(tmp_path: Path, data: bytes) -> None:
    found = base.read(_file(tmp_path, data))

    assert [(one.role, one.text) for one in found.items] == [
        (Role.USER, "remember that tests need the database"),
        (Role.ASSISTANT, "noted"),
        (Role.TOOL, "bash completed"),
    ]
    assert found.session == "talk"


def test_plain_items_are_named_by_number_unless_they_have_ids(tmp_path: Path) -> None:
    data = b'{"role": "user", "content": "a"}\n{"role": "user", "content": "b", "id": "x"}\n'

    assert [one.id for one in base.read(_file(tmp_path, data)).items] == ["#1", "x"]


def test_a_pi_file_is_recognised_by_its_header(tmp_path: Path) -> None:
    assert base.recognise(b'{"type": "session", "version": 3, "id": "s"}\n') == "pi"


@pytest.mark.parametrize("data", [b"", b"\x00\xff\x00", b"just words\n", b'{"a": 1}\n'])
def test_a_file_of_no_known_format_is_refused_with_the_known_ones(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(TranscriptError) as caught:
        base.read(_file(tmp_path, data))

    assert caught.value.hint == "known formats: pi, claude-code, codex, gemini, qwen, cursor, cline, opencode, plain"


def test_a_folder_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="is no file"):
        base.read(tmp_path)


def test_every_registered_format_loads_its_reader() -> None:
    for one in base.FORMATS:
        assert one.load()(b"").items == ()


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (f"{BEGIN}\nUse npm.\n{END}\nfix the build", "\nfix the build"),
        (f"fix the build\n{BEGIN}\nUse npm.\n{END}", "fix the build\n"),
        (f"{BEGIN}\na\n{END}\nfix\n{BEGIN}\nb\n{END}it", "\nfix\nit"),
        (f"fix the build\n{BEGIN}\nUse npm.", "fix the build\n"),
        (f"Use npm.\n{END}\nfix the build", "\nfix the build"),
        (f"{BEGIN}\n&lt;project_memory&gt;Use npm.&lt;/project_memory&gt;\n{END}\nfix", "\nfix"),
    ],
)
def test_what_a_hook_told_the_model_is_cut_out_of_what_was_said(text: str, own: str) -> None:
    assert base.own_words(text) == own
