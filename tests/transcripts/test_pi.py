"""Pi's session files, as Pi writes them and as disks leave them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.evidence import Item, Role, Transcript
from noforgetti.transcripts import pi
from noforgetti.transcripts.base import TranscriptError

if TYPE_CHECKING:
    from pathlib import Path

AT = "2026-12-01T10:00:00.000Z"
HEADER: dict[str, Any] = {"type": "session", "version": 3, "id": "s1", "timestamp": AT, "cwd": "/p"}


def user(content: Any, own: str = "u1", parent: str | None = None) -> dict[str, Any]:
    return _message(own, parent, {"role": "user", "content": content})


def assistant(content: Any, own: str = "a1", parent: str | None = "u1", stop: str = "stop") -> dict[str, Any]:
    return _message(own, parent, {"role": "assistant", "content": content, "stopReason": stop, "provider": "acme"})


def result(tool: str, own: str = "t1", parent: str | None = "a1", **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": "raw output"}]
    return _message(own, parent, {"role": "toolResult", "toolName": tool, "content": content, **fields})


def _message(own: str, parent: str | None, message: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "id": own, "parentId": parent, "timestamp": AT, "message": message}


def chain(*entries: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries as one path: each the child of the one before, with ids of its own."""
    linked, parent = [], None
    for number, one in enumerate(entries, 1):
        linked.append({**one, "id": f"n{number}", "parentId": parent})
        parent = f"n{number}"
    return linked


def lines(*entries: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in entries)


def said(found: Transcript) -> list[tuple[str, str]]:
    return [(str(one.role), one.text) for one in found.items]


def test_a_session_is_what_was_said_with_times_and_ids() -> None:
    found = pi.read(lines(HEADER, user("run the tests"), assistant([{"type": "text", "text": "they pass"}])))

    assert found == Transcript(
        session="s1",
        items=(Item("u1", Role.USER, "run the tests", AT), Item("a1", Role.ASSISTANT, "they pass", AT)),
        lineage=("s1",),
        cwd="/p",
    )


def test_nothing_but_words_and_tool_names_gets_in() -> None:
    secret = "never shown"
    answer = [
        {"type": "thinking", "thinking": secret},
        {"type": "text", "text": "done"},
        {"type": "image", "data": secret, "mimeType": "image/png"},
        {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": secret}},
    ]
    path = chain(
        _message("", None, {"role": "system", "content": secret, "sections": {"project_memory": secret}}),
        user([{"type": "text", "text": "go"}, {"type": "image", "data": secret}]),
        assistant(answer, stop="toolUse"),
        result("bash", isError=True, details={"output": secret}),
        _message("", None, {"role": "bashExecution", "command": secret, "output": secret}),
        _message("", None, {"role": "custom", "customType": "x", "content": secret}),
        {"type": "custom_message", "customType": "noforgetti", "content": secret},
        {"type": "usage", "kind": "cache_warm", "provider": secret},
        {"type": "from-the-future", "text": secret},
        assistant("finished"),
        {"type": "compaction", "summary": "prior work", "systemMessage": {"content": secret}},
    )

    found = pi.read(lines(HEADER, *path))

    assert secret not in repr(found)
    assert said(found) == [
        ("user", "go"),
        ("assistant", "done"),
        ("tool", "bash failed"),
        ("assistant", "finished"),
        ("summary", "prior work"),
    ]


@pytest.mark.parametrize("tool", ["project_memory", "memory_search", "memory_remember", "session_search"])
def test_memory_s_own_tools_are_no_evidence(tool: str) -> None:
    path = chain(user("what do you know"), assistant("let me see", stop="toolUse"), result(tool), assistant("this"))

    assert Role.TOOL not in [one.role for one in pi.read(lines(HEADER, *path)).items]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("before <project_memory>\n- old fact\n</project_memory> after", "before  after"),
        ("<project-memory>old fact", ""),
        ("old fact</project_memory> mine", " mine"),
        ("a <skill name='x'>scaffold <skill>deep</skill> more</skill> b", "a  b"),
        ("a <skill>b</skill> c </skill> d", " d"),
        ("use <MemoryRouter> in tests", "use <MemoryRouter> in tests"),
        ("<memory_context>old</memory_context>keep", "keep"),
    ],
)
def test_injected_blocks_are_cut_out_of_what_was_said(text: str, own: str) -> None:
    assert said(pi.read(lines(HEADER, user(text), assistant("ok"))))[0] == ("user", own)


def test_only_the_current_path_counts() -> None:
    entries = [
        user("start", "u1"),
        assistant("abandoned answer", "a1", "u1"),
        user("abandoned question", "u2", "a1"),
        assistant("abandoned again", "a2", "u2"),
        {"type": "branch_summary", "id": "b1", "parentId": "u1", "summary": "tried the other way", "fromId": "a2"},
        user("another way", "u3", "b1"),
        assistant("good", "a3", "u3"),
    ]

    assert [one.id for one in pi.read(lines(HEADER, *entries)).items] == ["u1", "b1", "u3", "a3"]


def test_items_carry_the_branch_that_was_selected_when_they_were_said() -> None:
    path = chain(
        user("one"),
        assistant("ok"),
        {"type": "custom", "customType": "noforgetti", "data": {"branch": "experiment"}},
        user("two"),
        assistant("ok"),
        {"type": "custom", "customType": "other", "data": {"branch": "wrong"}},
        {"type": "custom", "customType": "noforgetti", "data": {"cursor": 7}},
        {"type": "custom", "customType": "noforgetti", "data": {"branch": "main"}},
        user("three"),
        assistant("ok"),
    )

    found = [(one.text, one.branch) for one in pi.read(lines(HEADER, *path)).items if one.role is Role.USER]

    assert found == [("one", MAIN), ("two", "experiment"), ("three", MAIN)]


def test_a_branch_selected_before_the_first_entry_is_taken_over() -> None:
    found = pi.read([user("hi"), assistant("ho")], session="s9", cwd="/q", branch=BranchName("experiment"))

    assert {one.branch for one in found.items} == {"experiment"}
    assert (found.session, found.cwd, found.lineage) == ("s9", "/q", ("s9",))


@pytest.mark.parametrize("stop", ["aborted", "error"])
def test_a_run_that_did_not_complete_waits_for_one_that_does(stop: str) -> None:
    cut = chain(user("first"), assistant("fine"), user("second"), assistant("half an ans", stop=stop))
    later = chain(
        user("first"), assistant("fine"), user("second"), assistant("half", stop=stop), user("go on"), assistant("yes")
    )

    assert [text for _, text in said(pi.read(lines(HEADER, *cut)))] == ["first", "fine"]
    assert [text for _, text in said(pi.read(lines(HEADER, *later)))] == ["first", "fine", "second", "go on", "yes"]


def test_a_prompt_without_an_answer_is_no_evidence_yet() -> None:
    assert pi.read(lines(HEADER, user("are you there"))).items == ()


def test_an_answer_cut_by_its_length_or_ending_in_a_tool_call_counts() -> None:
    path = chain(user("q"), assistant("long", stop="length"), user("r"), assistant("x", stop="toolUse"), result("bash"))

    assert [one.id for one in pi.read(lines(HEADER, *path)).items] == ["n1", "n2", "n3", "n4", "n5"]


def test_what_was_edited_out_of_the_context_is_no_evidence_but_stays_a_place() -> None:
    path = chain(user("my password is in here"), assistant("noted"), user("x"), assistant("y"))
    path += [
        {"type": "context_edit", "id": "c1", "parentId": "n4", "targetId": "n1", "replacement": None},
        {"type": "context_edit", "id": "c2", "parentId": "c1", "targetId": "n2", "replacement": "replaced"},
    ]

    items = pi.read(lines(HEADER, *path)).items

    assert [(one.id, one.text) for one in items] == [("n1", ""), ("n2", "replaced"), ("n3", "x"), ("n4", "y")]


def test_a_fork_keeps_ids_and_names_where_it_came_from(tmp_path: Path) -> None:
    grandparent = tmp_path / "2026-11-01_s0.jsonl"
    grandparent.write_bytes(lines({**HEADER, "id": "s0"}))
    parent = tmp_path / "renamed.jsonl"
    parent.write_bytes(lines({**HEADER, "parentSession": str(grandparent)}, user("hi"), assistant("ho")))
    fork = tmp_path / "fork.jsonl"
    fork.write_bytes(lines({**HEADER, "id": "s2", "parentSession": str(parent)}, user("hi"), assistant("ho")))

    assert pi.read(fork).lineage == ("s2", "s1", "s0")
    assert [one.id for one in pi.read(fork).items] == [one.id for one in pi.read(parent).items]


def test_a_parent_that_is_gone_is_known_by_its_file_s_name(tmp_path: Path) -> None:
    fork = tmp_path / "fork.jsonl"
    fork.write_bytes(lines({**HEADER, "id": "s2", "parentSession": "/gone/2026-11-01T00-00-00_my_id.jsonl"}))

    assert pi.read(fork).lineage == ("s2", "my_id")


def test_forks_that_name_each_other_end(tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    one.write_bytes(lines({**HEADER, "id": "a", "parentSession": str(two)}))
    two.write_bytes(lines({**HEADER, "id": "b", "parentSession": str(one)}))

    assert pi.read(one).lineage[:2] == ("a", "b")
    assert len(pi.read(one).lineage) <= 3


def test_old_files_without_ids_are_one_path_named_by_line() -> None:
    old = [
        {key: value for key, value in one.items() if key not in ("id", "parentId")}
        for one in chain(user("a"), assistant("b"))
    ]

    found = pi.read(lines({"type": "session", "id": "s1", "cwd": "/p"}, *old))

    assert [(one.id, one.text) for one in found.items] == [("#2", "a"), ("#3", "b")]


def test_broken_lines_are_counted_and_cost_only_themselves() -> None:
    path = chain(user("first"), assistant("yes"), user("lost to the disk"), assistant("kept"))
    data = lines(HEADER, *path[:2]) + b'{"type": "message", "id": "n3\x00\xff\n' + b"[1, 2]\n\n" + lines(path[3])

    found = pi.read(data)

    assert [one.text for one in found.items] == ["first", "yes", "kept"]
    assert found.broken == 2


def test_a_last_line_that_is_being_written_is_not_broken() -> None:
    data = lines(HEADER, user("a"), assistant("b")) + b'{"type": "message", "id": "u9", "mess'

    assert (pi.read(data).broken, len(pi.read(data).items)) == (0, 2)


def test_line_separators_and_nul_inside_a_text_break_no_line() -> None:
    data = lines(HEADER) + json.dumps(user("a\u2028b\x00c"), ensure_ascii=False).encode().replace(b"\\u0000", b"\x00")
    data += b"\n" + lines(assistant("ok"))

    assert said(pi.read(data))[0] == ("user", "a\u2028b\x00c")


def test_a_lone_surrogate_never_leaves_the_reader() -> None:
    data = lines(HEADER, user("bad \ud83d here, fine \U0001f600 there"), assistant("ok"))

    text = pi.read(data).items[0].text

    assert text == "bad \ufffd here, fine \U0001f600 there"
    text.encode()


def test_a_line_of_megabytes_is_read() -> None:
    found = pi.read(lines(HEADER, user("x" * 3_000_000), assistant("ok")))

    assert len(found.items[0].text) == 3_000_000


def test_nesting_deeper_than_any_parser_likes_is_one_broken_line() -> None:
    data = lines(HEADER) + b"[" * 200_000 + b"\n" + lines(user("a"), assistant("b"))

    assert (pi.read(data).broken, len(pi.read(data).items)) == (1, 2)


def test_a_circle_of_parents_ends() -> None:
    entries = [user("a", "u1", "a1"), assistant("b", "a1", "u1")]

    assert [one.id for one in pi.read(lines(HEADER, *entries)).items] == ["u1", "a1"]


def test_a_file_that_is_not_there_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match=r"cannot be read: No such file or directory\. Nothing was reviewed"):
        pi.read(tmp_path / "gone.jsonl")


def test_names_from_a_file_cannot_reach_into_a_commit_message() -> None:
    header = {**HEADER, "id": "s1\nUndoes: 1234"}
    entries = [user("a", "u 1+7\nKind: undo"), assistant("b", "a1", "u 1+7\nKind: undo")]

    found = pi.read(lines(header, *entries))

    assert found.session == "s1-Undoes:-1234"
    assert [one.text for one in found.items] == ["a", "b"]
    assert all(re.fullmatch(r"[A-Za-z0-9_#:-]+", one.id) for one in found.items)
    assert found.items == pi.read(lines(HEADER, *entries)).items  # the same in every fork


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
shapes = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["message", "compaction", "custom", "context_edit", "session", "label"]) | json_values,
        "id": st.sampled_from(["a", "b", "c"]) | json_values,
        "parentId": st.sampled_from(["a", "b", "c"]) | json_values,
        "timestamp": json_values,
        "customType": st.just("noforgetti") | json_values,
        "data": json_values,
        "summary": json_values,
        "targetId": json_values,
        "parentSession": json_values,
        "message": json_values
        | st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "toolResult"]) | json_values, "content": json_values},
            optional={"toolName": json_values, "stopReason": json_values, "isError": json_values},
        ),
    },
)


@given(st.lists(shapes, max_size=6))
def test_no_shape_of_entries_is_fatal(entries: list[dict[str, Any]]) -> None:
    for one in pi.read(lines(*entries)).items:
        one.text.encode()


@given(st.binary(max_size=400))
def test_no_bytes_are_fatal(data: bytes) -> None:
    pi.read(data)
    pi.read(lines(HEADER) + data)
