"""Hooks of hosts as whole processes: what they print, what they note, and that nothing ever breaks the host."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from noforgetti.faces.hook import contracts
from noforgetti.model.sentinels import BEGIN, END
from noforgetti.service import hooked
from noforgetti.service.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import CommandLine, Done

NF = Path(sys.executable).parent / "noforgetti"
FACT = "Run pnpm check before pnpm test."
TELLING = [
    ("claude-code", "SessionStart"),
    ("codex", "SessionStart"),
    ("gemini", "BeforeAgent"),
    ("qwen", "UserPromptSubmit"),
    ("cursor", "sessionStart"),
    ("cline", "TaskStart"),
]


@pytest.fixture
def nf(nf: CommandLine) -> CommandLine:
    """The command line; a busy machine is not what these tests are about."""
    nf.home.mkdir()
    settings(nf)
    return nf


def settings(nf: CommandLine, more: str = "") -> None:
    """Write the settings file."""
    (nf.home / "config.toml").write_text(f"hook_budget = 60000\n{more}", encoding="utf-8")


def call(nf: CommandLine, host: str, event: str, said: object | bytes = b"", **environ: str) -> Done:
    """One hook, as a host runs it."""
    data = said if isinstance(said, bytes) else json.dumps(said).encode()
    done = nf.process("hook", host, event, environ=environ, stdin=data)
    assert (done.status, done.err) == (0, "")
    return done


def said(nf: CommandLine, session: str = "s1", **more: Any) -> dict[str, Any]:
    return {"session_id": session, "cwd": str(nf.project), **more}


def context(done: Done) -> str:
    """What the model is told."""
    if not done.out:
        return ""
    doc = json.loads(done.out)
    for inner in (doc, doc.get("hookSpecificOutput", {})):
        for key in ("additionalContext", "additional_context", "contextModification"):
            if key in inner:
                return str(inner[key])
    raise AssertionError(doc)


def talk(nf: CommandLine, *prompts: str, session: str = "s1") -> Path:
    """A session file in the plain format, named like the session."""
    path = nf.home.parent / f"{session}.jsonl"
    lines = [{"role": role, "content": text} for one in prompts for role, text in (("user", one), ("assistant", "Ok."))]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(("host", "event"), TELLING)
def test_the_beginning_of_a_session_tells_the_report_between_two_lines(nf: CommandLine, host: str, event: str) -> None:
    nf("add", FACT)
    words = (
        said(nf, prompt="fix the build")
        if host != "cursor"
        else {"conversation_id": "s1", "workspace_roots": [str(nf.project)]}
    )
    if host == "cline":
        words = {"taskId": "s1", "workspaceRoots": [str(nf.project)], "taskStart": {"task": "fix the build"}}

    told = context(call(nf, host, event, words))

    assert told.startswith(f"{BEGIN}\nProject memory, kept by noforgetti.")
    assert told.endswith(f"\n{END}")
    assert f"- [lesson] {FACT}\n" in told
    assert len(told) < 8_000


def test_the_answers_have_the_shape_that_each_host_wants(nf: CommandLine) -> None:
    assert contracts.answer("claude-code", "SessionStart", "text") == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "text"}
    }
    assert contracts.answer("codex", "UserPromptSubmit", "") is None
    assert contracts.answer("cursor", "sessionStart", "text") == {"additional_context": "text"}
    assert contracts.answer("cline", "TaskStart", "") == {
        "cancel": False,
        "contextModification": "",
        "errorMessage": "",
    }


def test_every_event_of_every_host_answers_as_the_golden_file_says(nf: CommandLine) -> None:
    nf("add", FACT, "--key", "test_order")
    lines = []
    for host, events in contracts.HOSTS.items():
        for event in events:
            inner = {event[:1].lower() + event[1:]: {"prompt": "fix the tests", "task": "fix the tests"}}
            words = {"prompt": "fix the tests"} if host != "cline" else {"taskId": host, "clineVersion": "3", **inner}
            out = call(nf, host, event, said(nf, host, **words)).out
            lines.append(f"{host} {event}\n{out}")
    assert "\n".join(lines) == (Path(__file__).parent / "golden" / "hooks.txt").read_text(encoding="utf-8")


def test_an_empty_memory_tells_nothing_and_makes_nothing(nf: CommandLine) -> None:
    assert call(nf, "claude-code", "SessionStart", said(nf)).out == ""
    assert call(nf, "claude-code", "UserPromptSubmit", said(nf, prompt="fix it")).out == ""
    assert [path.name for path in nf.home.rglob("*")] == ["config.toml"]


def test_a_prompt_is_told_of_a_memory_that_changed_and_of_nothing_else(nf: CommandLine) -> None:
    nf("add", FACT)
    call(nf, "claude-code", "SessionStart", said(nf))
    assert call(nf, "claude-code", "UserPromptSubmit", said(nf, prompt="fix the tests")).out == ""

    nf("add", "The handbook lives in the folder docs.")
    told = context(call(nf, "claude-code", "UserPromptSubmit", said(nf, prompt="go on")))

    assert told.startswith(f"{BEGIN}\nThe project's memory has changed. This replaces what was told of it before.")
    assert "The handbook lives in the folder docs." in told
    assert call(nf, "claude-code", "UserPromptSubmit", said(nf, prompt="and now")).out == ""


def test_a_memory_that_was_emptied_is_told_too(nf: CommandLine) -> None:
    nf("add", FACT)
    call(nf, "codex", "SessionStart", said(nf))
    nf("remove", "pnpm")
    assert FACT not in context(call(nf, "codex", "UserPromptSubmit", said(nf, prompt="go on")))


def test_a_host_without_a_beginning_is_told_at_its_first_prompt_once(nf: CommandLine) -> None:
    nf("add", FACT)
    assert FACT in context(call(nf, "gemini", "BeforeAgent", said(nf, prompt="fix the tests")))
    assert call(nf, "gemini", "BeforeAgent", said(nf, prompt="and the docs")).out == ""


def test_a_resumed_session_is_told_again_only_when_the_memory_changed(nf: CommandLine) -> None:
    nf("add", FACT)
    call(nf, "codex", "SessionStart", said(nf, source="startup"))
    assert call(nf, "codex", "SessionStart", said(nf, source="resume")).out == ""
    assert FACT in context(call(nf, "codex", "SessionStart", said(nf, source="compact")))
    nf("add", "The handbook lives in the folder docs.")
    assert "handbook" in context(call(nf, "codex", "SessionStart", said(nf, source="resume")))


def test_after_a_compaction_the_next_prompt_is_told_anew(nf: CommandLine) -> None:
    nf("add", FACT)
    call(nf, "codex", "SessionStart", said(nf))
    assert call(nf, "codex", "PreCompact", said(nf, trigger="auto")).out == ""
    told = context(call(nf, "codex", "UserPromptSubmit", said(nf, prompt="go on")))
    assert told.startswith(f"{BEGIN}\nProject memory, kept by noforgetti.")
    assert FACT in told


def test_two_layers_of_configuration_tell_once(nf: CommandLine) -> None:
    nf("add", FACT)
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: call(nf, "claude-code", "SessionStart", said(nf)), range(2)))
    assert sorted(bool(one.out) for one in done) == [False, True]


def test_what_has_no_room_in_the_report_is_told_where_a_prompt_asks_for_it(nf: CommandLine) -> None:
    settings(nf, "[limits]\nhard = 30000\n")
    nf("add", "The staging database is reset every night by the job nightly-reset.")
    memory = open_memory(str(nf.project), os.environ)
    from noforgetti.model.entry import Category, Writer
    from noforgetti.service import writes

    for number in range(90):
        text = (
            f"Module {number} keeps its own fixtures under folder tests slash module{number} and nowhere else at all."
        )
        writes.add(memory, "main", text, writes.Traits(Category.PATTERN, pinned=True), writer=Writer.USER, force=True)
    memory.close()
    start = context(call(nf, "claude-code", "SessionStart", said(nf)))
    assert "nightly-reset" not in start

    told = context(call(nf, "claude-code", "UserPromptSubmit", said(nf, prompt="when is the staging database reset?")))

    assert "nightly-reset" in told
    assert call(nf, "claude-code", "UserPromptSubmit", said(nf, prompt="thanks")).out == ""


@pytest.mark.parametrize("words", [b"", b"{", b"[]", b"\0\xff", b'{"session_id": "' + b"x" * 100, b'"text"', b"{}" * 9])
def test_input_that_is_no_object_prints_nothing_and_leaves_one_trace(nf: CommandLine, words: bytes) -> None:
    nf("add", FACT)
    for _ in range(3):
        assert call(nf, "claude-code", "SessionStart", words).out == ""
        _until(lambda: _traces(nf) != [])
    assert _traces(nf) == ["a hook of claude-code (SessionStart) could not answer: its input is no JSON object"]


def _traces(nf: CommandLine) -> list[str]:
    return [one["text"] for one in nf.json("status")["traces"] if "hook" in one["text"]]


def test_odd_folders_sessions_and_unknown_events_never_break_the_host(nf: CommandLine) -> None:
    nf("add", FACT)
    for cwd in ("/gone/folder", "relative", "nul\0", 7, None):
        assert FACT in context(call(nf, "claude-code", "SessionStart", {"session_id": str(cwd), "cwd": cwd}))
    for session in ("../../etc/passwd", "a" * 5_000, "\ud800", "文", 7, None):
        call(nf, "claude-code", "SessionStart", said(nf, session))  # type: ignore[arg-type]
    assert call(nf, "claude-code", "PreToolUse", said(nf)).out == ""
    assert call(nf, "vim", "SessionStart", said(nf)).out == ""
    assert not (nf.home.parent / "etc").exists()
    assert sorted(path.name for path in nf.project.iterdir()) == [".git"]


def test_closed_pipes_are_no_trouble(nf: CommandLine) -> None:
    nf("add", FACT)
    for script in (f"exec {NF} hook codex SessionStart <&-", f"exec {NF} hook codex SessionStart >&-"):
        done = subprocess.run(["sh", "-c", script], cwd=nf.project, input=b"{}", capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", ["NOFORGETTI_REVIEWER", "PI_SUBAGENT_CHILD_AGENT", "PI_SUBAGENT_RUN_ID"])
def test_a_reviewer_and_a_subagent_are_left_alone(nf: CommandLine, name: str) -> None:
    nf("add", FACT)
    file = talk(nf, "From now on, always use tabs.")
    assert call(nf, "codex", "SessionStart", said(nf), **{name: "1"}).out == ""
    call(nf, "codex", "Stop", said(nf, transcript_path=str(file)), **{name: "1"})
    assert list(nf.home.rglob("spool*")) == []


def test_a_subagent_of_the_host_is_told_nothing(nf: CommandLine) -> None:
    nf("add", FACT)
    assert call(nf, "claude-code", "UserPromptSubmit", said(nf, prompt="dig", agent_id="a1")).out == ""


def test_a_session_start_opens_and_lists_no_transcripts(nf: CommandLine) -> None:
    nf("add", FACT)
    folder = nf.home.parent / ".claude" / "projects" / "x"
    folder.mkdir(parents=True)
    for number in range(300):
        (folder / f"{number}.jsonl").touch()
    watcher = nf.home.parent / "watching"
    watcher.mkdir()
    (watcher / "sitecustomize.py").write_text(
        "import sys\n"
        "def seen(event, arguments):\n"
        "    if event in ('open', 'os.listdir', 'os.scandir') and '.claude' in str(arguments[0]):\n"
        "        import os; os.write(2, b'touched')\n"
        "sys.addaudithook(seen)\n",
        encoding="utf-8",
    )
    for session in ("s1", "s2"):
        done = call(
            nf,
            "claude-code",
            "SessionStart",
            said(nf, session, transcript_path=str(folder / "1.jsonl")),
            PYTHONPATH=str(watcher),
        )
        assert FACT in context(done)


def test_a_home_that_cannot_be_written_is_told_all_the_same(nf: CommandLine) -> None:
    nf("add", FACT)
    call(nf, "claude-code", "SessionStart", said(nf, "s0"))
    sealed = [path for path in (nf.home, *nf.home.rglob("*")) if path.is_dir()]
    if os.getuid() == 0:
        pytest.skip("root writes everywhere")
    for path in sealed:
        path.chmod(0o500)
    try:
        assert FACT in context(call(nf, "claude-code", "SessionStart", said(nf)))
        assert call(nf, "claude-code", "UserPromptSubmit", said(nf, prompt="fix it")).out == ""
    finally:
        for path in sealed:
            path.chmod(0o700)


def test_without_a_place_for_notes_a_session_is_told_at_its_beginning(nf: CommandLine) -> None:
    """As with a home that cannot be written, for root too."""
    nf("add", FACT)
    for name in ("state", "cache"):
        shutil.rmtree(nf.home / name, ignore_errors=True)
        (nf.home / name).touch()
    file = talk(nf, "one")
    assert FACT in context(call(nf, "claude-code", "SessionStart", said(nf)))
    assert call(nf, "claude-code", "UserPromptSubmit", said(nf, prompt="fix it")).out == ""
    assert call(nf, "claude-code", "Stop", said(nf, transcript_path=str(file))).out == ""


def test_eight_at_once_are_all_told(nf: CommandLine) -> None:
    nf("add", FACT)
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda n: call(nf, "claude-code", "SessionStart", said(nf, f"s{n}")), range(8)))
    assert all(FACT in context(one) for one in done)


def test_a_branch_that_was_selected_is_the_sessions_until_it_is_gone(nf: CommandLine) -> None:
    nf("add", FACT)
    nf("fork", "spike")
    nf("use", "spike")
    nf("add", "The spike uses deno.")
    assert "deno" in context(call(nf, "codex", "SessionStart", said(nf)))
    nf("use", "main")
    nf("--branch", "spike", "add", "The spike has no tests.")
    assert "no tests" in context(call(nf, "codex", "UserPromptSubmit", said(nf, prompt="go on")))
    nf("branch", "delete", "spike")
    told = context(call(nf, "codex", "UserPromptSubmit", said(nf, prompt="and on")))
    assert FACT in told
    assert "deno" not in told


# ---- what turns leave behind


def _drained(nf: CommandLine) -> tuple[hooked.Said, ...]:
    memory = open_memory(str(nf.project), os.environ)
    try:
        return hooked.drain(memory)
    finally:
        memory.close()


def _spooled(nf: CommandLine, *lines: dict[str, Any]) -> None:
    """What hooks would have noted, without the worker that they start."""
    name = nf.json("status")["project"]["repository"].rpartition("/")[2].removesuffix(".git")
    folder = nf.home / "state" / "projects" / name / "hooks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "spool.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({"branch": "main", "end": False, **line}) + "\n" for line in lines)


def _unread(nf: CommandLine) -> list[tuple[int, int, str]]:
    memory = open_memory(str(nf.project), os.environ)
    try:
        return [(row[3], row[4], row[5]) for row in memory.state.unread()]
    finally:
        memory.close()


def test_turns_are_counted_once_however_often_they_are_noted(nf: CommandLine) -> None:
    file = talk(nf, "one", "two")
    _spooled(nf, {"file": str(file)}, {"file": str(file)})
    assert [one.due for one in _drained(nf)] == [False]
    assert _unread(nf) == [(2, 2, "hook")]

    talk(nf, "one", "two", "three")
    _spooled(nf, {"file": str(file)})
    _drained(nf)
    _spooled(nf, {"file": str(file), "end": True})
    _drained(nf)

    assert _unread(nf) == [(3, 3, "")]
    assert nf.json("status")["review"]["turns"] == 3


def test_a_stated_preference_waits_as_a_candidate(nf: CommandLine) -> None:
    _spooled(nf, {"file": str(talk(nf, "I prefer small commits with the tests in them."))})
    _drained(nf)
    assert [one["text"] for one in nf.json("candidates")["candidates"]] == [
        "I prefer small commits with the tests in them."
    ]


def test_what_a_killed_worker_had_taken_is_worked_off_by_the_next(nf: CommandLine) -> None:
    _spooled(nf, {"file": str(talk(nf, "one"))})
    spool = next(nf.home.rglob("spool.jsonl"))
    spool.rename(spool.with_name("spool.jsonl.4711"))
    _drained(nf)
    assert _unread(nf) == [(1, 1, "hook")]
    assert list(nf.home.rglob("spool*")) == []


def test_lines_and_sessions_that_cannot_be_read_cost_nothing_else(nf: CommandLine) -> None:
    _spooled(nf, {"file": "/gone/session.jsonl"}, {"file": str(talk(nf, "one"))})
    spool = next(nf.home.rglob("spool.jsonl"))
    spool.write_bytes(b'{"file": 7}\n\0\n[]\n' + spool.read_bytes() + b'{"file": "/torn')
    _drained(nf)
    assert _unread(nf) == [(1, 1, "hook")]


def test_notes_of_sessions_that_are_long_over_are_swept(nf: CommandLine) -> None:
    nf("add", FACT)
    call(nf, "codex", "SessionStart", said(nf, "young"))
    call(nf, "codex", "SessionStart", said(nf, "old"))
    for path in nf.home.rglob("hooks/codex-*"):
        age = 7_200 if "young" in path.name else 40 * 86_400
        os.utime(path, (time.time() - age, time.time() - age))
    _drained(nf)
    assert [path.name.split("-")[1] + path.suffix for path in nf.home.rglob("hooks/*")] == ["young"]


@pytest.mark.parametrize(
    ("host", "stop", "end"),
    [("codex", "Stop", "SessionEnd"), ("cursor", "stop", "sessionEnd"), ("cline", "TaskComplete", "PreCompact")],
)
def test_a_turn_starts_a_worker_that_reviews_and_ends(nf: CommandLine, host: str, stop: str, end: str) -> None:
    settings(nf, '[review]\nreviewer = "rules"\n')
    file = talk(
        nf, "From now on, always run pnpm check before pnpm test.", "Remember: we decided to use tabs.", "And docs."
    )
    words = said(nf, transcript_path=str(file))
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    blocks = [(one["role"], [{"type": "text", "text": one["content"]}]) for one in lines]
    if host == "cursor":
        as_cursor = [{"role": role, "message": {"content": content}} for role, content in blocks]
        file.write_text("".join(json.dumps(one) + "\n" for one in as_cursor), encoding="utf-8")
        words |= {"conversation_id": "s1", "workspace_roots": [str(nf.project)], "cwd": str(nf.home.parent)}
    if host == "cline":
        own = nf.home.parent / ".cline/data/sessions/s1/s1.messages.json"
        own.parent.mkdir(parents=True)
        messages = [{"role": role, "content": content} for role, content in blocks]
        own.write_text(json.dumps({"version": 1, "agent": "lead", "sessionId": "s1", "messages": messages}))
        words = {"taskId": "conv_1", "sessionContext": {"rootSessionId": "s1"}, "agent_id": "agent_1"}
        words |= {"parent_agent_id": None, "workspaceRoots": [str(nf.project)]}

    call(nf, host, stop, words)
    call(nf, host, end, words)

    until = time.monotonic() + 60
    while not (found := nf.json("show")["entries"]) and time.monotonic() < until:
        time.sleep(0.2)
    assert any("pnpm check" in one["text"] for one in found)
    while _workers(nf) and time.monotonic() < until:
        time.sleep(0.2)
    assert _workers(nf) == []


def _workers(nf: CommandLine) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if "worker" in words and str(nf.project) in words:
            found.append(words)
    return found


def test_a_reviewer_that_is_a_host_itself_fires_no_hook(nf: CommandLine) -> None:
    """The reviewer is a program that calls our hook, as an agent would."""
    file = talk(nf, "From now on, always use tabs.", "And small commits.", "And docs.")
    script = nf.home.parent / "reviewer.sh"
    words = json.dumps(said(nf, "inner", transcript_path=str(file)))
    script.write_text(f"#!/bin/sh\necho '{words}' | {NF} hook codex Stop\necho '{{}}'\n", encoding="utf-8")
    script.chmod(0o755)
    settings(nf, f'[review]\nreviewer = "command"\ncommand = ["{script}"]\n')

    nf("review", "--transcript", str(file))

    assert list(nf.home.rglob("spool*")) == []


SLOW = """
import sys, time
while not __import__("os").path.exists({gate!r}):
    time.sleep(0.05)
sys.path.remove({folder!r})
del sys.modules["pygit2"]
import pygit2
"""


def test_a_worker_that_is_killed_in_a_review_leaves_it_due_and_it_is_done_once(nf: CommandLine) -> None:
    gate, asked = nf.home.parent / "gate", nf.home.parent / "asked"
    script = nf.home.parent / "reviewer.sh"
    wait = f"cat >/dev/null\necho x >>{asked}\nwhile [ ! -e {gate} ]; do sleep 0.1; done"
    script.write_text(f"#!/bin/sh\n{wait}\necho '{{\"operations\": []}}'\n", encoding="utf-8")
    script.chmod(0o755)
    settings(nf, f'[review]\nreviewer = "command"\ncommand = ["{script}"]\n')
    file = talk(nf, "From now on, always use tabs in Makefiles.", "And small commits.", "And docs.")
    _spooled(nf, {"file": str(file)}, {"file": str(file), "end": True})
    with subprocess.Popen([NF, "worker", "--once"], cwd=nf.project, stdout=subprocess.DEVNULL) as worker:
        _until(asked.exists)
        worker.kill()
    gate.touch()
    waiting = nf.json("queue")["sessions"]

    nf("worker", "--once")
    done = nf.json("worker", "--once")

    assert [one["session"] for one in waiting] == ["s1"]
    assert asked.read_text(encoding="utf-8") == "x\nx\n"
    assert done["outcome"] == "nothing"
    assert nf.json("queue")["sessions"] == []


def test_at_its_deadline_a_hook_tells_the_last_report_and_the_work_is_done_for_the_next(nf: CommandLine) -> None:
    nf("add", FACT)
    call(nf, "codex", "SessionStart", said(nf))
    nf("add", "The handbook lives in the folder docs.")
    slow, gate = nf.home.parent / "slow", nf.home.parent / "gate"
    slow.mkdir()
    (slow / "pygit2.py").write_text(SLOW.format(gate=str(gate), folder=str(slow)), encoding="utf-8")
    (nf.home / "config.toml").write_text("hook_budget = 50\n", encoding="utf-8")

    told = context(call(nf, "codex", "SessionStart", said(nf, "s2"), PYTHONPATH=str(slow)))
    again = call(nf, "codex", "UserPromptSubmit", said(nf, "s2", prompt="go on"), PYTHONPATH=str(slow))
    elsewhere = call(nf, "codex", "SessionStart", said(nf, "s3", cwd=str(nf.home)), PYTHONPATH=str(slow))
    gate.touch()
    _until(lambda: "handbook" in next(nf.home.rglob("told-main.txt")).read_text(encoding="utf-8"))
    later = context(call(nf, "codex", "UserPromptSubmit", said(nf, "s2", prompt="go on then"), PYTHONPATH=str(slow)))

    assert FACT in told
    assert "handbook" not in told
    assert (again.out, elsewhere.out) == ("", "")
    assert later.startswith(f"{BEGIN}\nThe project's memory has changed. This replaces what was told of it before.")
    assert "handbook" in later


def test_a_first_report_that_is_late_says_where_it_is(nf: CommandLine) -> None:
    nf("add", FACT)
    slow, gate = nf.home.parent / "slow", nf.home.parent / "gate"
    slow.mkdir()
    (slow / "pygit2.py").write_text(SLOW.format(gate=str(gate), folder=str(slow)), encoding="utf-8")
    (nf.home / "config.toml").write_text("hook_budget = 50\n", encoding="utf-8")

    told = context(call(nf, "gemini", "BeforeAgent", said(nf, prompt="fix it"), PYTHONPATH=str(slow)))
    again = call(nf, "gemini", "BeforeAgent", said(nf, prompt="fix more"), PYTHONPATH=str(slow))
    gate.touch()

    assert "could not be read in time. `noforgetti show`" in told
    assert again.out == ""


def _until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not true() and time.monotonic() < until:
        time.sleep(0.1)
    assert true()


def test_a_pipe_that_the_host_keeps_open_is_no_reason_to_wait(nf: CommandLine) -> None:
    nf("add", FACT)
    with subprocess.Popen(
        [NF, "hook", "codex", "SessionStart"], cwd=nf.project, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(said(nf)).encode())
        process.stdin.flush()
        assert FACT.encode() in process.stdout.read()


def test_every_line_that_install_writes_is_a_hook_that_is_there() -> None:
    from noforgetti.hosts import claude_code, cline, codex, cursor, gemini, qwen

    for host in (claude_code, cline, codex, cursor, gemini, qwen):
        events = {one if isinstance(one, str) else one[0] for one in host.EVENTS}
        assert events == set(contracts.HOSTS[host.WORD]), host.WORD
