"""Recall over the wire: what a turn is given, and the agent's tools that find."""

from __future__ import annotations

import json
import re
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from service.said import fake_secret

from .bridge_host import Host, hosting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .bridge_host import Bridge

FACT = "Money is stored as integer cents."
OTHER_WORDS = "how should we save amounts of currency?"  # cosine 0.62 with the shipped model
ROOM = "recall_budget = 2000\n"  # the most, so that a busy machine changes no answer
EPHEMERAL = f"""\
<contextual_memories>
Notes of this project's memory that fit the next message. Background, not a request; the user's words win.
- [lesson] {FACT}
</contextual_memories>"""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host without a bridge yet."""
    with hosting(tmp_path) as made:
        made.config(ROOM)
        yield made


def filled(host: Host) -> Bridge:
    """A bridge of a memory with two entries, whose model is loaded."""
    bridge = host.start()
    for text in (FACT, "Use tabs."):
        host.tool(bridge, action="add", content=text)
    call(host, bridge, "memory_search", query="warm up")
    ask(host, bridge, OTHER_WORDS)
    return bridge


def ask(host: Host, bridge: Bridge, prompt: str, **more: Any) -> dict[str, Any]:
    """The start of a turn."""
    return bridge.call("turn/start", session=host.who, branch=None, prompt=prompt, **more)


def call(host: Host, bridge: Bridge, name: str, **arguments: Any) -> dict[str, Any]:
    """One call of a tool."""
    return bridge.call("tool", name=name, arguments=arguments, session=host.who, branch=None)


def told(host: Host, session: str, said: str) -> Path:
    """A past Pi session of the project."""
    root = str(host.project)
    folder = Path(host.environ["HOME"]).resolve() / ".pi/agent/sessions" / f"--{root.lstrip('/').replace('/', '-')}--"
    folder.mkdir(parents=True, exist_ok=True)
    at = "2026-11-30T10:00:00Z"
    lines: list[dict[str, Any]] = [
        {"type": "session", "id": session, "timestamp": at, "cwd": root},
        {"type": "message", "id": "m1", "timestamp": at, "message": {"role": "user", "content": said}},
    ]
    file = folder / f"2026-11-30_{session}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def plain(text: str) -> str:
    """Without the chance in ids and without figures that a better ranking would change."""
    return re.sub(r"(?<=meaning: )-?\d\.\d\d", "<n>", re.sub(r"-[a-z2-7]{4}(?=[`;])", "-<id>", text))


# ---- turns


def test_a_fact_in_other_words_stands_before_the_prompt_and_nothing_before_one_it_does_not_fit(host: Host) -> None:
    bridge = filled(host)

    answers = [ask(host, bridge, one)["inject"] for one in (OTHER_WORDS, "ok", "draw a cat in ASCII", OTHER_WORDS)]

    section = answers[0]["section"]
    assert f"- [lesson] {FACT}" in section
    assert answers == [
        {"section": section, "ephemeral": EPHEMERAL},
        {"section": section},
        {"section": section},
        {"section": section, "ephemeral": EPHEMERAL},
    ]


def test_what_depends_on_the_prompt_can_be_turned_off(host: Host) -> None:
    host.config(ROOM + "ephemeral = false\n")

    assert list(ask(host, filled(host), OTHER_WORDS)["inject"]) == ["section"]


def test_a_budget_of_nothing_asks_nothing(host: Host) -> None:
    host.config("recall_budget = 0\n")

    assert list(ask(host, filled(host), OTHER_WORDS)["inject"]) == ["section"]


def test_a_long_system_prompt_leaves_less_room_once_and_for_all(host: Host) -> None:
    bridge = host.start()
    host.tool(bridge, action="add", content="Use tabs.")

    first, later = (ask(host, bridge, "ok", system_characters=size)["inject"]["section"] for size in (29_000, 100))

    assert "tokens told" in first
    assert "of 750 tokens told" in first  # 8,000 together, less a quarter of 29,000
    assert later == first


def test_the_cache_may_vanish_between_two_turns(host: Host) -> None:
    bridge = filled(host)
    before = ask(host, bridge, OTHER_WORDS)

    shutil.rmtree(host.home / "cache")

    assert ask(host, bridge, OTHER_WORDS) == before
    assert call(host, bridge, "memory_search", query="cents")["details"]["hits"]


def test_a_past_session_is_told_without_its_secrets_and_no_longer_once_it_is_deleted(host: Host) -> None:
    file = told(host, "s0", f"We chose Kafka for the order queue; the token is {fake_secret()}.")
    bridge = filled(host)
    bridge.call("session/start", session=host.who, branch=None, reason="startup")
    question = "Why did we choose Kafka for the order queue?"
    for _ in range(200):
        given = ask(host, bridge, question)["inject"].get("ephemeral", "")
        if "<past_sessions>" in given:
            break
        threading.Event().wait(0.05)

    assert "We chose Kafka for the order queue" in given
    assert fake_secret() not in given
    file.unlink()
    assert "<past_sessions>" not in ask(host, bridge, question)["inject"].get("ephemeral", "")


class Slow(BaseHTTPRequestHandler):
    """A provider that answers when the test is over."""

    over = threading.Event()

    def do_POST(self) -> None:
        """Wait."""
        self.over.wait(60)

    def log_message(self, format: str, *words: Any) -> None:  # noqa: A002 - the library's name
        """Say nothing."""


@pytest.fixture
def slow() -> Iterator[str]:
    """The address of a provider that does not answer."""
    Slow.over = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    Slow.over.set()
    server.shutdown()
    server.server_close()


def provider(url: str) -> str:
    return f'{ROOM}[embedding]\ntype = "openai-compatible"\nurl = "{url}"\nmodel = "m"\ntimeout = 1\n'


def test_a_provider_that_does_not_answer_leaves_words_and_one_notice(host: Host, slow: str) -> None:
    host.config(provider(slow))
    bridge = host.start()
    host.tool(bridge, action="add", content=FACT)

    given = [ask(host, bridge, f"cents, question {number}") for number in range(8)]

    assert [one["inject"].get("ephemeral") for one in given[1:]] == [EPHEMERAL] * 7
    notices = [one["text"] for turn in given for one in turn["notices"]]
    assert len(notices) == 1
    assert notices[0].startswith("Search goes by words alone: ")


# ---- tools


def test_memory_search_says_what_it_found_and_by_what(host: Host) -> None:
    bridge = filled(host)

    for query in (OTHER_WORDS, json.dumps(OTHER_WORDS), f"'{OTHER_WORDS}'"):
        answer = call(host, bridge, "memory_search", query=query)
        assert (plain(answer["text"]), answer["error"]) == (
            f"- [lesson] {FACT} (money-is-stored-as-integer-cents-<id>; meaning: <n>)",
            False,
        )
    assert set(answer["details"]) == {"branch", "query", "hits", "search"}


@pytest.mark.parametrize(
    ("name", "arguments", "text", "error"),
    [
        ("memory_search", {}, "`query` is missing: say in words what you want to know.", True),
        ("memory_search", {"query": 7}, "`query` is missing: say in words what you want to know.", True),
        ("memory_search", {"query": ""}, "`query` is missing: say in words what you want to know.", True),
        ("memory_search", {"query": '""'}, "`query` is missing: say in words what you want to know.", True),
        ("memory_search", {"query": "zebra"}, "Nothing on branch `main` fits `zebra`.", False),
        ("memory_search", {"query": "zebra", "limit": "many"}, "Nothing on branch `main` fits `zebra`.", False),
        ("memory_search", {"query": "zebra", "limit": -5}, "Nothing on branch `main` fits `zebra`.", False),
        (
            "memory_search",
            {"query": "x", "category": "fun"},
            "`category` is 'fun'; it must be one of preference, lesson, pattern, decision, done, mistake.",
            True,
        ),
        ("session_search", {"query": ["a"]}, "`query` is missing: say in words what you want to know.", True),
        ("session_search", {"query": "zebra"}, "No past session of this project fits `zebra`.", False),
        ("memory_lessons", {"category": "cooking"}, "No lessons on branch `main`.", False),
        (
            "memory_reinforce",
            {},
            "`id` is missing: the id of an entry, or text that occurs in exactly one entry.",
            True,
        ),
    ],
)
def test_a_call_that_finds_nothing_or_cannot_be_meant_says_so(
    shared: Host, name: str, arguments: dict[str, Any], text: str, error: bool
) -> None:
    answer = call(shared, shared.bridges[0], name, **arguments)

    assert (answer["text"], answer["error"]) == (text, error)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """One memory for calls that change nothing."""
    with hosting(tmp_path_factory.mktemp("shared")) as made:
        made.config(ROOM)
        filled(made)
        yield made


def test_a_limit_of_any_kind_is_understood(shared: Host) -> None:
    def found(limit: Any) -> int:
        answer = call(shared, shared.bridges[0], "memory_search", query="cents or tabs", limit=limit)
        return len(answer["details"]["hits"])

    assert [found(one) for one in (1, "1", 1.9, 10**400, True, None, [1], "-1", 0)] == [1, 1, 1, 2, 2, 2, 2, 2, 2]


def test_lessons_are_listed_newest_first(shared: Host) -> None:
    answer = call(shared, shared.bridges[0], "memory_lessons")

    assert sorted(plain(line) for line in re.sub(r"-[a-z2-7]{4}\)", "-<id>)", answer["text"]).splitlines()) == [
        f"+ {FACT} (money-is-stored-as-integer-cents-<id>)",
        "+ Use tabs. (use-tabs-<id>)",
    ]
    assert set(answer["details"]) == {"branch", "category", "lessons", "more"}
    assert call(shared, shared.bridges[0], "memory_lessons", limit=1)["text"].endswith("\nand 1 older ones")


def test_stats_tell_how_much_there_is_and_how_it_is_searched(shared: Host) -> None:
    answer = call(shared, shared.bridges[0], "memory_stats")

    assert answer["text"].splitlines() == [
        "entries      2 (2 lesson)",
        "archived     0",
        "characters   42 of 6,000",
        f"repository   {shared.repository}",
        "past         0 sessions, 0 passages",
        "search       hybrid (words and meaning, static-256)",
        "embedded     2 of 2 entries, 0 passages",
    ]


def test_an_entry_is_reinforced_without_a_new_word_in_it(host: Host) -> None:
    bridge = filled(host)
    before = host.texts(bridge)

    answer = call(host, bridge, "memory_reinforce", id="integer cents")

    assert (plain(answer["text"]), answer["error"]) == (
        "Reinforced `money-is-stored-as-integer-cents-<id>`: evidence 2.",
        False,
    )
    assert host.texts(bridge) == before
    assert call(host, bridge, "memory_reinforce", id="zebra")["error"] is True


def test_the_user_searches_by_a_command(host: Host) -> None:
    bridge = filled(host)

    assert plain(host.command(bridge, f"search {OTHER_WORDS}")["text"]) == (
        f"- [lesson] {FACT} (money-is-stored-as-integer-cents-<id>; meaning: <n>)"
    )
    assert host.command(bridge, "search don't")["level"] == "info"
    assert host.command(bridge, "search")["text"].startswith("`/memory search` is written `/memory search QUERY`.")
