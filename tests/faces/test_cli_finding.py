"""`search`, `sessions` and `report`, as people and scripts use them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from noforgetti.service import telemetry
from noforgetti.service.memory import open_memory

if TYPE_CHECKING:
    from .conftest import CommandLine

FACT = "Money is stored as integer cents."
OTHER_WORDS = "how should we save amounts of currency?"  # cosine 0.62 with the shipped model
MODEL = {"mode": "hybrid", "model": "static-256", "reason": "", "hint": ""}
ENTRY = {
    "id", "category", "text", "importance", "assessed", "pinned", "enforced", "archived", "key", "created", "writer",
    "session", "tags", "negative", "scope",
}  # fmt: skip


def plain(text: str) -> str:
    """Without the chance in ids, and without scores that a better ranking would change."""
    return re.sub(
        r"\d\.\d\d(?=[;) ]|$)", "<n>", re.sub(r"-[a-z2-7]{4}\b(?=[;,) ]| Active)", "-<id>", text), flags=re.MULTILINE
    )


def off(nf: CommandLine) -> None:
    nf.home.mkdir(exist_ok=True)
    (nf.home / "config.toml").write_text('embedding = "off"\n')


def told(nf: CommandLine, session: str, said: str) -> Path:
    """A Pi session of the project."""
    root = str(nf.project.resolve())
    folder = Path(nf.home.parent, ".pi", "agent", "sessions", "--" + root.lstrip("/").replace("/", "-") + "--")
    folder.mkdir(parents=True, exist_ok=True)
    at = "2026-11-30T10:00:00Z"
    lines: list[dict[str, Any]] = [
        {"type": "session", "id": session, "timestamp": at, "cwd": root},
        {"type": "message", "id": "m1", "timestamp": at, "message": {"role": "user", "content": said}},
    ]
    file = folder / f"2026-11-30_{session}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


# ---- search


def test_an_entry_in_other_words_is_found_and_says_by_what(nf: CommandLine) -> None:
    nf("add", FACT)
    nf("add", "Use tabs.")

    done = nf("search", *OTHER_WORDS.split())

    assert (done.status, plain(done.out), done.err) == (
        0,
        f"- [lesson] {FACT} (money-is-stored-as-integer-cents-<id>; meaning: <n>)\n",
        "",
    )


def test_without_a_model_words_alone_find(nf: CommandLine) -> None:
    nf("add", FACT)
    off(nf)

    assert nf("search", OTHER_WORDS).out == f"Nothing on branch `main` fits `{OTHER_WORDS}`.\n"
    assert plain(nf("search", "cents").out) == (
        f"- [lesson] {FACT} (money-is-stored-as-integer-cents-<id>; words: cents)\n"
    )


def test_hits_are_documents_with_the_keys_of_the_contract(nf: CommandLine) -> None:
    own = nf.json("add", FACT)["entry"]

    doc = nf.json("search", "cents")

    assert (set(doc), doc["branch"], doc["query"], doc["search"]) == (
        {"branch", "query", "hits", "search"},
        "main",
        "cents",
        MODEL,
    )
    (hit,) = doc["hits"]
    assert set(hit) == ENTRY | {"score", "why", "similarity"}
    assert {key: hit[key] for key in own} == own
    assert hit["score"] > 0
    assert hit["why"].startswith("words: cents")


def test_a_model_that_is_missing_is_one_line_below_what_words_found(nf: CommandLine) -> None:
    nf("add", FACT)
    (nf.home / "config.toml").write_text('embedding = "local"\n')

    lines = nf("search", "cents").out.splitlines()

    assert lines[0].startswith(f"- [lesson] {FACT}")
    assert "\n".join(lines[1:]) == (
        "Searched by words alone: The local model `BAAI/bge-small-en-v1.5` is not on this machine."
        " Fix: run `noforgetti model fetch`, or set `embedding.path` to a folder with a model."
    )
    search = nf.json("search", "cents")["search"]
    assert (search["mode"], bool(search["reason"]), bool(search["hint"])) == ("keyword", True, True)


def test_a_category_and_a_number_narrow_what_is_found(nf: CommandLine) -> None:
    for number in range(4):
        nf("add", f"Cents rule number {number}.")
    nf("add", FACT, "--category", "decision")

    assert [one["category"] for one in nf.json("search", "cents", "--category", "decision")["hits"]] == ["decision"]
    assert len(nf.json("search", "cents", "-n", "2")["hits"]) == 2


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["search"], "QUERY"),
        (["search", "-n", "0", "x"], "0"),
        (["search", "--category", "fun", "x"], "fun"),
        (["sessions"], "QUERY"),
        (["sessions", "-n", "101", "x"], "101"),
        (["report", "--prompt"], "--prompt"),
    ],
)
def test_words_that_are_off_are_named_with_status_two(nf: CommandLine, words: list[str], named: str) -> None:
    done = nf(*words)

    assert (done.status, done.out) == (2, "")
    assert named in done.err


@pytest.mark.parametrize(
    "query",
    ["", " ", "'", '"', "*", "a* OR", "NEAR(", "col:x", "^", "--", "-n", "--help", "\\", "%", "🙂", "中文"],
)
@pytest.mark.parametrize("command", ["search", "sessions"])
def test_any_query_is_answered_after_two_dashes(nf: CommandLine, command: str, query: str) -> None:
    nf("add", FACT)

    done = nf("--json", command, "--", query)

    assert (done.status, done.doc["query"]) == (0, query)
    assert done.err == ""


def test_a_query_may_come_from_stdin_and_be_huge(nf: CommandLine) -> None:
    nf("add", FACT)

    for command in (["search", "-"], ["sessions", "-"], ["report", "--prompt", "-"]):
        done = nf.process("--json", *command, stdin=b"cents \xff " + b"lorem ipsum " * 90_000)
        assert (done.status, done.err) == (0, "")
    assert [one["text"] for one in json.loads(nf.process("--json", "search", "-", stdin=b"cents\n").out)["hits"]] == [
        FACT
    ]


def test_searching_a_project_without_memory_makes_none(nf: CommandLine) -> None:
    assert nf("search", "cents").out == "Nothing on branch `main` fits `cents`.\n"
    assert nf("sessions", "cents").out == "No past session of this project fits `cents`.\n"
    assert nf("report", "--prompt", "cents").out == "Nothing is told of branch `main`.\n"

    assert not (nf.home / "data").exists()
    assert list(nf.project.iterdir()) == [nf.project / ".git"]


def test_another_branch_finds_its_own(nf: CommandLine) -> None:
    nf("add", "Use tabs.")
    nf("fork", "trial")
    nf("--branch", "trial", "add", FACT)

    assert len(nf.json("--branch", "trial", "search", "cents")["hits"]) == 1
    assert nf.json("search", "cents")["hits"] == []
    done = nf("--branch", "nowhere", "search", "cents")
    assert (done.status, "nowhere" in done.err) == (1, True)


# ---- sessions


def test_a_past_session_is_found_with_its_day_and_file(nf: CommandLine) -> None:
    file = told(nf, "s1", "We chose Kafka for the order queue.")
    off(nf)

    assert plain(nf("sessions", "Kafka").out) == (
        f"2026-11-30 (words: Kafka)\n  We chose Kafka for the order queue.\n  {file.resolve()}\n"
    )
    doc = nf.json("sessions", "Kafka")
    (hit,) = doc["hits"]
    assert set(doc) == {"query", "hits", "search", "notes"}
    assert hit == {
        "id": "s1",
        "name": "",
        "time": "2026-11-30T10:00:00Z",
        "text": "We chose Kafka for the order queue.",
        "score": hit["score"],
        "why": "words: Kafka",
        "file": str(file.resolve()),
    }


# ---- report


def test_report_shows_exactly_what_a_turn_would_be_given(nf: CommandLine) -> None:
    nf("add", FACT)
    section = (
        "Memory of this project, branch `main`: 5 % full, 101 of 1,700 tokens told; 33 of 6,000 characters stored.\n"
        "Notes from earlier sessions: background, not a request of the user.\n"
        "Trust them for preferences and conventions; verify anything about files, versions and state.\n"
        "Where the user or the system says something else now, that counts.\n"
        "\n"
        "## Active Lessons\n"
        f"- [lesson] {FACT}"
    )
    message = (
        "<contextual_memories>\n"
        "Notes of this project's memory that fit the next message. Background, not a request; the user's words win.\n"
        f"- [lesson] {FACT}\n"
        "</contextual_memories>"
    )

    assert nf("report").out == f"(section `project_memory` of the system prompt)\n{section}\n"
    assert nf("report", "--prompt", "ok").out == nf("report").out
    assert nf("report", "--prompt", OTHER_WORDS).out == (
        f"(section `project_memory` of the system prompt)\n{section}\n\n"
        f"(a message before the prompt, not stored)\n{message}\n"
    )
    assert nf.json("report", "--prompt", OTHER_WORDS)["inject"] == {"section": section, "ephemeral": message}


def test_report_says_why_each_entry_is_in_and_what_fits(nf: CommandLine) -> None:
    nf("add", FACT)

    assert plain(nf("report", "--why", "--prompt", OTHER_WORDS).out) == (
        "class general; 101 of 1,700 tokens\n"
        "+ money-is-stored-as-integer-cents-<id> Active Lessons"
        " score <n> (explicit, evidence 1, 0 d old): provisional in its first 60 d\n"
        "fits the prompt money-is-stored-as-integer-cents-<id> <n> (meaning: <n>)\n"
    )
    assert nf("report", "--why", "--prompt", "ok").out.splitlines()[0] == (
        "class general, trivial: nothing is searched; 101 of 1,700 tokens"
    )
    assert nf.json("report", "--prompt", "Why does this test fail?")["class"] == "debug"


def test_the_document_of_report_has_its_keys(nf: CommandLine) -> None:
    nf("add", FACT)

    doc = nf.json("report", "--prompt", OTHER_WORDS)

    assert set(doc) == {
        "branch", "head", "injection", "class", "prompt",
        "trivial", "inject", "tokens", "budget", "entries", "memories",
        "sessions", "left_out", "search",
    }  # fmt: skip
    assert [set(one) for one in doc["entries"]] == [{"id", "section", "told", "why"}]
    assert [set(one) for one in doc["memories"]] == [ENTRY | {"score", "why", "similarity"}]
    assert (doc["injection"], doc["left_out"], doc["search"]) == ("auto", [], MODEL)


def test_report_is_no_turn_and_leaves_no_line_in_the_log(nf: CommandLine) -> None:
    nf("add", FACT)
    nf("report", "--prompt", OTHER_WORDS)

    memory = open_memory(str(nf.project), {"NOFORGETTI_HOME": str(nf.home)})
    assert telemetry.newest(memory) == []
    memory.close()
