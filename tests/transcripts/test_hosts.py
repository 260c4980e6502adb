"""Sessions of the other hosts: what the real programs wrote, what never gets in, and what disks leave of it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from noforgetti.model.evidence import BEGIN, END, Item, Role
from noforgetti.transcripts import base, claude_code, codex, gemini, opencode, qwen
from noforgetti.transcripts.base import TranscriptError
from transcripts.hosts import GOLDEN, HOSTS, SESSION, SHOP, database, laid_out, lines

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.model.evidence import Transcript

AT = "2026-12-01T10:00:00.000Z"
TOLD = f"{BEGIN}\nMemory: uses pnpm.\n{END}"
WISH = "From now on always use pnpm, never npm."
NOTED = "Noted: pnpm it is."


def said(found: Transcript) -> list[tuple[str, str]]:
    return [(str(one.role), one.text) for one in found.items]


# ---- as the programs write

EXPECTED = {
    "claude-code": [
        ("user", WISH),
        ("assistant", NOTED),
        ("user", "Please look at it now"),
        ("assistant", NOTED),
        ("summary", NOTED),
        ("user", "After the compaction: always sort imports"),
        ("assistant", NOTED),
    ],
    "codex": [
        ("user", WISH),
        ("assistant", NOTED),
        ("user", "look at it please"),
        ("tool", "shell completed"),
        ("assistant", NOTED),
    ],
    "gemini": [
        ("user", WISH),
        ("assistant", NOTED),
        ("user", "look at it please <tag> & x"),
        ("assistant", "Let me look."),
        ("tool", "run_shell_command completed"),
        ("assistant", NOTED),
    ],
    "qwen": [
        ("user", WISH),
        ("assistant", NOTED),
        ("user", "look at it please <tag> & x"),
        ("assistant", "Let me look."),
        ("tool", "run_shell_command completed"),
        ("assistant", NOTED),
    ],
    "opencode": [
        ("user", WISH),
        ("assistant", NOTED),
        ("user", "look at it please <tag> & x"),
        ("assistant", "Let me look."),
        ("tool", "bash completed"),
        ("assistant", NOTED),
    ],
}
IDS = {
    "claude-code": "43097fb0-f61a-4dc7-a739-e310c54e9c5d",
    "codex": "01a23c48-2805-71a0-80b9-84c2d1d9e7cd",
    "gemini": "50c1758e-e267-4f39-a459-43f1a144b795",
    "qwen": "4fad8247-094d-44dd-8fb0-58d88738cd34",
    "opencode": SESSION,
}


@pytest.mark.parametrize("host", HOSTS)
def test_a_session_of_the_real_program_is_read_as_what_was_said(tmp_path: Path, host: str) -> None:
    path = laid_out(host, tmp_path)

    found = base.read(path)

    assert (base.format_of(path), found.session, found.lineage) == (host, IDS[host], (IDS[host],))
    assert (said(found), found.cwd, found.broken) == (EXPECTED[host], SHOP, 0)
    assert len({one.id for one in found.items}) == len(found.items)
    assert all(base.when({"timestamp": one.at}) == one.at != "" for one in found.items)


@pytest.mark.parametrize("host", HOSTS)
def test_nothing_a_hook_told_or_a_tool_printed_is_evidence(tmp_path: Path, host: str) -> None:
    found = base.read(laid_out(host, tmp_path))

    everything = "\n".join(one.text for one in found.items)
    assert not any(word in everything for word in ("INJECTED", "TOOL OUTPUT", "memory begin", "hook_context"))


def test_what_a_fork_of_claude_code_copied_counts_in_the_session_it_was_said_in() -> None:
    found = claude_code.parse((GOLDEN / "claude-code-fork.jsonl").read_bytes())

    assert said(found) == [("user", "Second question, forked"), ("assistant", NOTED)]


def test_what_a_fork_of_opencode_copied_counts_in_the_session_it_was_said_in(tmp_path: Path) -> None:
    newest = base.read(base.database_of(laid_out("opencode", tmp_path)))

    assert said(newest) == [("user", "forked here"), ("assistant", NOTED)]


@pytest.mark.parametrize("host", [one for one in HOSTS if one != "opencode"])
def test_a_torn_last_line_waits_and_a_torn_line_before_costs_only_itself(tmp_path: Path, host: str) -> None:
    path = laid_out(host, tmp_path)
    whole = path.read_bytes()
    before = base.read(path)

    path.write_bytes(whole + whole.splitlines()[-1][:40])
    assert base.read(path) == before
    path.write_bytes(whole + b'{"torn": \n\x00\xff\n')
    assert (base.read(path).items, base.read(path).broken) == (before.items, 2)


@pytest.mark.parametrize("host", [one for one in HOSTS if one != "opencode"])
def test_a_byte_order_mark_line_ends_of_windows_and_unknown_lines_change_nothing(tmp_path: Path, host: str) -> None:
    path = laid_out(host, tmp_path)
    before = base.read(path)
    newer = lines({"type": "hologram", "sessionId": before.session, "payload": {"type": "x"}, "timestamp": 7})

    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + newer)

    assert base.read(path) == before


@pytest.mark.parametrize("reader", [claude_code.parse, codex.parse, gemini.parse, qwen.parse, opencode.parse])
def test_nothing_makes_a_reader_fail(reader: base.Reader) -> None:
    odd: list[Any] = [None, 7, "x", [], {}, [7], {"text": 7}, [{"type": "text", "text": "\ud800"}], {"parts": 7}]
    kinds = ("user", "assistant", "event_msg", "system", "tool_result", "gemini", "session_meta", "compacted")
    keys = ("message", "payload", "content", "$set", "attachment", "systemPayload", "toolCalls", "item", "uuid", "id")
    entries = [{"type": kind, "sessionId": "s", key: value} for kind in kinds for key in keys for value in odd]

    assert [one.text for one in reader(lines(*entries)).items if one.role is not Role.TOOL] == []
    assert reader(b"").items == ()
    assert reader(b"\x00\xff" * 100).items == ()


# ---- Claude Code


def claude(kind: str, content: Any, own: str, parent: str | None, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    base_ = {"type": kind, "message": message, "uuid": own, "parentUuid": parent, "sessionId": "s", "timestamp": AT}
    return {**base_, **more}


def answered(*before: dict[str, Any]) -> list[tuple[str, str]]:
    """What is read of lines before an answer."""
    last = str(before[-1]["uuid"])
    done = claude("assistant", [{"type": "text", "text": "done"}], "end", last)
    found = said(claude_code.parse(lines(*before, done)))
    assert found.pop() == ("assistant", "done")
    return found


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/compact</command-name>\n<command-args>all</command-args>",
        "<command-message>x</command-message>",
        "<local-command-stdout>printed</local-command-stdout>",
        "<local-command-caveat>Caveat</local-command-caveat>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>secret</bash-stdout><bash-stderr></bash-stderr>",
        "<user-memory-input>x</user-memory-input>",
        "<task-notification>x</task-notification>",
        "[Request interrupted by user for tool use]",
        "<system-reminder>never shown</system-reminder>",
        "<ide_opened_file>never shown",
        TOLD,
    ],
)
def test_markup_of_claude_code_is_not_the_user_s(text: str) -> None:
    assert answered(claude("user", text, "u", None)) == []


def test_what_claude_code_puts_beside_the_user_s_words_is_cut_out() -> None:
    text = f"<system-reminder>no\n</system-reminder>fix it<ide_selection>no</ide_selection>\n{TOLD}"

    assert answered(claude("user", [{"type": "text", "text": text}], "u", None)) == [("user", "fix it")]


@pytest.mark.parametrize(
    "mark", [{"isMeta": True}, {"isSidechain": True}, {"agentId": "a1"}, {"isVisibleInTranscriptOnly": True}]
)
def test_what_the_host_or_a_subagent_says_is_not_the_user_s(mark: dict[str, Any]) -> None:
    assert answered(claude("user", "go", "u", None), claude("user", "not mine", "x", "u", **mark)) == [("user", "go")]


def test_a_message_typed_while_the_agent_works_is_the_user_s() -> None:
    typed = {"type": "queued_command", "prompt": "also run the tests", "commandMode": "prompt"}
    note = {"type": "queued_command", "prompt": "a task ended", "commandMode": "task-notification"}
    entries = [
        {"type": "attachment", "attachment": one, "uuid": own, "parentUuid": None, "sessionId": "s", "timestamp": AT}
        for one, own in ((note, "n"), (typed, "t"))
    ]
    entries[1]["parentUuid"] = "n"

    assert answered(*entries) == [("user", "also run the tests")]


def test_tools_of_claude_code_are_names_and_ours_are_not_told() -> None:
    calls = [
        {"type": "thinking", "thinking": "never shown"},
        {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "never shown"}},
        {"type": "tool_use", "id": "2", "name": "mcp__noforgetti__memory_list", "input": {}},
    ]
    results = [
        {"type": "tool_result", "tool_use_id": "1", "content": "never shown", "is_error": True},
        {"type": "tool_result", "tool_use_id": "2", "content": "never shown"},
    ]

    found = answered(claude("assistant", calls, "a", None), claude("user", results, "r", "a"))

    assert found == [("assistant", ""), ("tool", "Bash failed")]


def test_an_answer_that_failed_or_was_made_up_is_none_and_the_words_before_it_wait() -> None:
    failed = claude("assistant", [{"type": "text", "text": "API Error"}], "a", "u", isApiErrorMessage=True)
    made_up = claude("assistant", [{"type": "text", "text": "No response requested."}], "b", "a")
    made_up["message"]["model"] = "<synthetic>"

    assert said(claude_code.parse(lines(claude("user", "go", "u", None), failed, made_up))) == []


def test_a_path_of_claude_code_that_was_left_does_not_count_and_a_fork_knows_its_origin() -> None:
    left = claude("user", "left", "x", None)
    copied = claude("user", "kept", "u", None, forkedFrom={"sessionId": "origin", "messageUuid": "u"})
    done = claude("assistant", [{"type": "text", "text": "done"}], "a", "u")

    found = claude_code.parse(lines(left, copied, done))

    assert (said(found), found.lineage) == ([("user", "kept"), ("assistant", "done")], ("s", "origin"))


# ---- Codex


def event(**payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": "event_msg", "payload": payload}


def meta(**payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": "session_meta", "payload": {"id": "s", "cwd": SHOP, **payload}}


def test_an_older_release_s_events_are_read_and_not_told_twice() -> None:
    typed = event(
        type="item_completed", item={"type": "UserMessage", "id": "i", "content": [{"type": "text", "text": "go"}]}
    )
    found = codex.parse(
        lines(
            meta(),
            event(type="user_message", kind="environment_context", message="<environment_context>x"),
            event(type="user_message", kind="plain", message="first"),
            event(type="agent_message", message="one"),
            event(type="user_message", message="go"),
            typed,
            event(type="agent_message", message="only told by the older kind"),
            event(type="item_completed", item={"type": "AgentMessage", "content": [{"type": "Text", "text": "two"}]}),
        )
    )

    assert said(found) == [("user", "first"), ("assistant", "one"), ("user", "go"), ("assistant", "two")]


def test_what_an_editor_told_codex_and_what_was_rolled_back_are_out() -> None:
    context = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix it\n"
    found = codex.parse(
        lines(
            meta(forked_from_id="origin"),
            event(type="user_message", message=context),
            event(type="agent_message", message="fixed"),
            event(type="user_message", message="taken back"),
            event(type="agent_message", message="never mind"),
            event(type="thread_rolled_back", num_turns=1),
            {"timestamp": AT, "type": "compacted", "payload": {"message": "what was done"}},
        )
    )

    assert said(found) == [("user", "fix it"), ("assistant", "fixed"), ("summary", "what was done")]
    assert found.lineage == ("s", "origin")


@pytest.mark.parametrize("source", [{"source": {"subagent": "review"}}, {"thread_source": "subagent"}])
def test_a_subagent_of_codex_says_nothing(source: dict[str, Any]) -> None:
    talk = [event(type="user_message", message="go"), event(type="agent_message", message="gone")]

    assert codex.parse(lines(meta(**source), *talk)).items == ()


@pytest.mark.parametrize(
    "item",
    [
        {"type": "Reasoning", "content": [{"type": "text", "text": "never shown"}]},
        {"type": "CommandExecution", "source": "user_shell", "status": "completed"},
        {"type": "McpToolCall", "server": "noforgetti", "tool": "list", "status": "completed"},
        {"type": "McpToolCall", "server": "x", "tool": "memory_add", "status": "completed"},
    ],
)
def test_thoughts_the_user_s_shell_and_our_tools_are_out_in_codex(item: dict[str, Any]) -> None:
    talk = [event(type="user_message", message="go"), event(type="agent_message", message="gone")]

    assert said(codex.parse(lines(meta(), *talk, event(type="item_completed", item=item)))) == [
        ("user", "go"),
        ("assistant", "gone"),
    ]


# ---- Gemini CLI and Qwen Code


def test_a_rewind_of_gemini_takes_its_messages_back_and_a_compression_does_not() -> None:
    header = {"sessionId": "s", "projectHash": "h", "kind": "main"}
    talk = [
        {"id": str(number), "timestamp": AT, "type": kind, "content": text}
        for number, (kind, text) in enumerate(
            [("user", "one"), ("gemini", "1"), ("user", "two"), ("gemini", "2"), ("info", "never shown")]
        )
    ]
    snapshot = {
        "id": "n",
        "timestamp": AT,
        "type": "user",
        "content": [{"text": "<state_snapshot>so far</state_snapshot>"}],
    }
    again = {
        "id": "m",
        "timestamp": AT,
        "type": "gemini",
        "content": [{"text": "thought", "thought": True}, {"text": "3"}],
    }

    compressed = gemini.parse(
        lines(header, *talk, {"$set": {"messages": [snapshot, {**talk[2], "id": "other"}]}}, again)
    )
    rewound = gemini.parse(lines(header, *talk, {"$rewindTo": "2"}))

    assert said(compressed)[2:] == [("user", "two"), ("assistant", "2"), ("summary", "so far"), ("assistant", "3")]
    assert said(rewound) == [("user", "one"), ("assistant", "1")]
    assert gemini.parse(lines({**header, "kind": "subagent"}, *talk)).items == ()


def test_a_hook_s_text_without_our_lines_is_not_the_user_s_either() -> None:
    told = "<hook_context>&lt;project_memory&gt;Use npm&lt;/project_memory&gt;</hook_context>"
    message = {"id": "1", "timestamp": AT, "type": "user", "content": [{"text": "fix it"}, {"text": told}]}
    answer = {"id": "2", "timestamp": AT, "type": "gemini", "content": "done"}
    parts = [{"text": "fix it"}, {"text": "&lt;project_memory&gt;Use npm&lt;/project_memory&gt;"}]
    of_qwen: list[dict[str, Any]] = [
        {"uuid": "1", "parentUuid": None, "sessionId": "s", "type": "user", "message": {"parts": parts}},
        {
            "uuid": "2",
            "parentUuid": "1",
            "sessionId": "s",
            "type": "assistant",
            "message": {"parts": [{"text": "done"}]},
        },
    ]

    assert said(gemini.parse(lines(message, answer))) == [("user", "fix it"), ("assistant", "done")]
    assert said(qwen.parse(lines(*of_qwen))) == [("user", "fix it"), ("assistant", "done")]


def test_a_compression_of_qwen_is_a_summary() -> None:
    history: list[Any] = [{"role": "user", "parts": [{"text": "<state_snapshot>so far</state_snapshot>"}]}]
    entries: list[dict[str, Any]] = [
        {"uuid": "1", "parentUuid": None, "sessionId": "s", "type": "assistant", "message": {"parts": [{"text": "a"}]}},
        {"uuid": "2", "parentUuid": "1", "sessionId": "s", "type": "system", "subtype": "chat_compression"},
    ]

    entries[1]["systemPayload"] = {"compressedHistory": history}

    assert said(qwen.parse(lines(*entries))) == [("assistant", "a"), ("summary", "so far")]


# ---- OpenCode


def test_the_database_is_left_as_it_was_with_and_without_a_log(tmp_path: Path) -> None:
    path = laid_out("opencode", tmp_path)
    place = base.database_of(path)

    def seen() -> dict[str, bytes]:
        return {one.name: one.read_bytes() for one in place.parent.iterdir() if not one.name.endswith("-shm")}

    closed = seen()
    base.read(path)
    assert (seen(), list(closed)) == (closed, ["opencode.db"])
    with closing(sqlite3.connect(place)) as host:  # OpenCode at work: what it said last is in the log only
        host.execute("UPDATE part SET data = replace(data, 'pnpm', 'yarn')")
        host.commit()
        running = seen()
        assert said(base.read(path))[1] == ("assistant", "Noted: yarn it is.")
        assert seen() == running


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ("UPDATE part SET data = json_set(data, '$.synthetic', json('true')) WHERE data LIKE '%tag%'", "look at it"),
        ("UPDATE session SET parent_id = 'x'", WISH),
        ("UPDATE session SET revert = json_object('messageID', (SELECT min(id) FROM message))", WISH),
        ("UPDATE message SET data = json_set(data, '$.role', 'system')", WISH),
        ("UPDATE message SET data = 'torn {'", WISH),
    ],
)
def test_what_is_synthetic_taken_back_or_a_subagent_s_is_out(tmp_path: Path, change: str, left: str) -> None:
    path = database(tmp_path / "opencode.db", (GOLDEN / "opencode.sql").read_text() + change + ";")

    assert not any(left in text for role, text in said(base.read(path)) if role == "user")


@pytest.mark.parametrize("data", [b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_torn_database_and_a_session_that_is_gone_get_a_sentence(tmp_path: Path, data: bytes) -> None:
    torn = tmp_path / "torn.db"
    torn.write_bytes(data)
    whole = laid_out("opencode", tmp_path)

    with pytest.raises(TranscriptError, match="cannot be read"):
        base.read(torn)
    with pytest.raises(TranscriptError, match="has no session `ses_gone`"):
        base.read(whole.with_name("opencode.db#ses_gone"))
    with pytest.raises(TranscriptError, match="cannot be read"):
        base.read(tmp_path / "nowhere.db#ses_gone")


def test_a_database_of_a_newer_release_without_the_tables_gets_a_sentence(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "new.db")) as made:
        made.execute("CREATE TABLE talk (id)")

    with pytest.raises(TranscriptError, match="no such table"):
        base.read(tmp_path / "new.db")


def test_a_file_with_a_number_sign_in_its_name_is_that_file(tmp_path: Path) -> None:
    path = tmp_path / "a#b.jsonl"
    path.write_bytes(lines({"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}))

    assert said(base.read(path)) == [("user", "hi"), ("assistant", "ho")]
    assert base.format_of(path) == "plain"
    assert (base.format_of(tmp_path), base.format_of(tmp_path / "gone")) == ("", "")


def test_a_huge_sparse_file_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    path.touch()
    os.truncate(path, base.FILE_BYTES + 1)

    with pytest.raises(TranscriptError, match="has more than"):
        base.read(path)


def test_words_wait_for_their_answer_whatever_the_host() -> None:
    items = [
        Item(str(n), role, "x") for n, role in enumerate((Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER, Role.TOOL))
    ]

    assert [one.id for one in base.completed(items)] == ["0", "1", "2"]
