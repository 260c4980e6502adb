"""Cursor's sessions, in lines as its users published them: the program itself was not run."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from store.builders import made_project

from noforgetti.model.sentinels import BEGIN, END
from noforgetti.service.sessions import newest, session_files
from noforgetti.store.discovery import discover
from noforgetti.transcripts import base, cursor
from transcripts.hosts import lines

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.model.evidence import Transcript

SESSION = "e13fc9ba-0fe8-455e-b069-a0eb0b374502"


def line(role: str, *texts: str, calls: tuple[str, ...] = ()) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": one} for one in texts]
    blocks += [{"type": "tool_use", "name": one, "input": {"command": "SECRET ARGUMENT"}} for one in calls]
    return {"role": role, "message": {"content": blocks}}


SAID = (
    line("user", "<timestamp>Thursday, Dec 3, 2026</timestamp>\n<user_query>\nAlways use pnpm here.\n</user_query>"),
    line("assistant", "Let me look.", calls=("Shell",)),
    line("assistant", "Done.\n\n[REDACTED]"),
    {"type": "turn_ended", "status": "success"},
)


def said(found: Transcript) -> list[tuple[str, str]]:
    return [(str(one.role), one.text) for one in found.items]


def laid_out(home: Path, folder: str, *, trusted: bool = True, session: str = SESSION) -> Path:
    """A session where Cursor keeps it."""
    top = home / ".cursor/projects" / re.sub(r"[^a-zA-Z0-9]+", "-", folder).strip("-")
    path = top / "agent-transcripts" / session / f"{session}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(lines(*SAID))
    if trusted:
        (top / ".workspace-trusted").write_text(json.dumps({"trustedAt": "2026-12-03", "workspacePath": folder}))
    return path


def test_a_session_is_what_was_typed_and_answered(tmp_path: Path) -> None:
    path = laid_out(tmp_path, "/home/me/shop")

    found = base.read(path)

    assert (base.format_of(path), found.session, found.cwd, found.broken) == ("cursor", SESSION, "/home/me/shop", 0)
    assert said(found) == [("user", "Always use pnpm here."), ("assistant", "Let me look."), ("assistant", "Done.")]
    assert len({one.id for one in found.items}) == 3


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("<user_query>one</user_query> between <user_query>two</user_query>", "one\ntwo"),
        (
            "<open_files>\nFILE\n</open_files>\n<user_query>\nfix it\n</user_query>\n<extra_rules>x</extra_rules>",
            "fix it",
        ),
        ("<user_query>never ended", "never ended"),
        ("plain words of its command line", "plain words of its command line"),
        ("<div> is in the wrong place", "<div> is in the wrong place"),
        ("<system_reminder>\nfrom the host\n</system_reminder>", ""),
        (f"<user_query>{BEGIN}\nMemory: uses pnpm.\n{END}\nfix it</user_query>", "fix it"),
        ("<user_query><project_memory>\nuses pnpm\n</project_memory></user_query>", ""),
        ("", ""),
    ],
)
def test_only_what_the_user_typed_counts_of_a_message(text: str, typed: str) -> None:
    assert cursor.typed(text) == typed


def test_words_that_wait_for_their_answer_and_torn_lines_cost_nothing_else(tmp_path: Path) -> None:
    whole = lines(*SAID)

    assert said(cursor.parse(whole + lines(line("user", "and now?")))) == said(cursor.parse(whole))
    assert said(cursor.parse(whole + b'{"role": "assist')) == said(cursor.parse(whole))
    torn = cursor.parse(b'{"role": \n' + whole + b"\x00\xff\n" + lines({"role": 7}, {"role": "user", "message": []}))
    assert (said(torn), torn.broken) == (said(cursor.parse(whole)), 2)


@pytest.mark.parametrize("note", [b"", b"[]", b"\xff\xfe{", b'{"workspacePath": 7}', b"[" * 100_000])
def test_a_folder_that_cannot_be_told_is_none(tmp_path: Path, note: bytes) -> None:
    path = laid_out(tmp_path, "/home/me/shop", trusted=False)
    (path.parent.parent.parent / ".workspace-trusted").write_bytes(note)

    assert (cursor.cwd_of(path), cursor.cwd_of(tmp_path / "elsewhere.jsonl"), cursor.cwd_of(None)) == ("", "", "")


def test_the_sessions_of_a_project_are_found_and_those_of_its_namesake_are_not(tmp_path: Path) -> None:
    root = made_project(tmp_path.resolve() / "my-shop")
    namesake = made_project(tmp_path.resolve() / "my" / "shop")  # one folder of Cursor's serves both
    environ = {"HOME": str(tmp_path)}
    path = laid_out(tmp_path, str(root))
    subagent = path.parent / "subagents" / "other.jsonl"
    subagent.parent.mkdir()
    subagent.write_bytes(lines(*SAID))

    assert [one.path for one in session_files(discover(str(root)), environ)] == [str(path)]
    assert newest(discover(str(root)), environ) == path
    with pytest.raises(Exception, match="No host has a session"):
        newest(discover(str(namesake)), environ)
