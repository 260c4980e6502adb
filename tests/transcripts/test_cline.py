"""Cline's sessions: one as its command line 3.0.65 wrote it, and what may be in the way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from store.builders import made_project

from noforgetti.model.sentinels import BEGIN, END
from noforgetti.service.sessions import NoSession, named, newest, session_files
from noforgetti.store.discovery import discover
from noforgetti.transcripts import base, cline, cline_folder
from transcripts.hosts import GOLDEN, SHOP

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.model.evidence import Transcript

SESSION = "1796358412229_bfoua"
WHOLE = (GOLDEN / "cline.messages.json").read_bytes()


def laid_out(home: Path, folder: str = SHOP) -> Path:
    """The session where Cline keeps it below `home`, as if it had been held in `folder`."""
    path = home / ".cline/data/sessions" / SESSION / f"{SESSION}.messages.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(WHOLE)
    note = (GOLDEN / "cline.json").read_text(encoding="utf-8").replace(SHOP, folder)
    path.with_name(f"{SESSION}.json").write_text(note, encoding="utf-8")
    return path


def said(found: Transcript) -> list[tuple[str, str]]:
    return [(str(one.role), one.text) for one in found.items]


def changed(**values: Any) -> bytes:
    return json.dumps({**json.loads(WHOLE), **values}).encode()


def test_a_session_of_the_real_program_is_read_as_what_was_said(tmp_path: Path) -> None:
    path = laid_out(tmp_path)

    found = base.read(path)

    assert (base.format_of(path), found.session, found.cwd, found.broken) == ("cline", SESSION, SHOP, 0)
    assert said(found) == [
        ("user", "look at it please <tag> & x"),
        ("assistant", ""),
        ("tool", "run_commands completed"),
        ("assistant", "Understood."),
    ]
    assert len({one.id for one in found.items}) == 4
    assert {one.at[:17] for one in found.items} == {"2026-12-04T04:26:"}


@pytest.mark.parametrize(
    "data",
    [
        WHOLE[:-200],
        b"",
        b"\x00\xff",
        b"[" * 100_000,
        changed(version=2),
        changed(messages="none"),
        json.dumps([json.loads(WHOLE)]).encode(),
    ],
    ids=["torn", "empty", "noise", "deep", "newer", "no messages", "a list"],
)
def test_what_is_torn_or_of_another_version_has_nothing_yet(data: bytes) -> None:
    found = cline.parse(data)

    assert (found.items, found.session, found.broken) == ((), "", 1)


def test_words_of_subagents_are_no_evidence() -> None:
    assert cline.parse(changed(agent="subagent")).items == cline.parse(changed(agent="teammate")).items == ()


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ('<user_input mode="act">one</user_input> between <user_input mode="plan">two</user_input>', "one\ntwo"),
        ('<environment_details>\nFILES\n</environment_details>\n<user_input mode="act">fix it</user_input>', "fix it"),
        ('<user_input mode="act">never ended', "never ended"),
        ("plain words", "plain words"),
        ("<environment_details>\nFILES\n</environment_details>", ""),
        (f'<user_input mode="act">{BEGIN}\nMemory: uses pnpm.\n{END}\nfix it</user_input>', "fix it"),
    ],
)
def test_only_what_the_user_typed_counts_of_a_message(text: str, typed: str) -> None:
    assert cline.typed(text) == typed


@pytest.mark.parametrize("odd", [None, 7, "x", [], [7], [{"type": "text", "text": 7}], {"role": "user"}])
def test_nothing_makes_the_reader_fail(odd: Any) -> None:
    messages = [odd, {"role": "user", "content": odd, "id": odd, "ts": 10**30}, {"role": odd, "content": "x"}]
    messages += [{"role": "assistant", "content": [{"type": "tool_use", "id": odd, "name": odd}]}]

    assert [one.text for one in cline.parse(changed(messages=messages)).items if one.role == "assistant"] == [""]


def test_what_our_own_tools_answered_and_thinking_are_no_evidence() -> None:
    call = {"type": "tool_use", "id": "1", "name": "noforgetti__memory_add", "input": {"text": "x"}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "INJECTED"}
    thinking = {"type": "thinking", "thinking": "SECRET"}
    messages = [
        {"role": "assistant", "content": [thinking, call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "Done."},
    ]

    assert said(cline.parse(changed(messages=messages))) == [("assistant", ""), ("assistant", "Done.")]


def test_the_sessions_of_a_project_are_found(tmp_path: Path) -> None:
    root = made_project(tmp_path.resolve() / "shop")
    other = made_project(tmp_path.resolve() / "other")
    environ = {"HOME": str(tmp_path)}
    path = laid_out(tmp_path, str(root))
    (path.parent / "subagent.messages.json").write_bytes(changed(agent="subagent"))
    project = discover(str(root))

    assert [one.path for one in session_files(project, environ)] == [str(path)]
    assert (newest(project, environ), named(SESSION, project, environ)) == (path, str(path))
    with pytest.raises(NoSession):
        newest(discover(str(other)), environ)


def test_the_file_of_a_session_is_where_the_environment_says(tmp_path: Path) -> None:
    path = laid_out(tmp_path)
    top, data = tmp_path / ".cline", tmp_path / ".cline/data"
    ways = ({"HOME": str(tmp_path)}, {"CLINE_DIR": str(top)}, {"CLINE_DATA_DIR": str(data)})

    assert {cline_folder.file_of(SESSION, one) for one in ways} == {str(path)}
    assert {cline_folder.file_of(one, ways[0]) for one in ("", "..", "gone", f"../sessions/{SESSION}")} == {""}
