"""Recall in real Pi: what fits a prompt stands before it, what does not costs nothing, and nothing of it is kept."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from store.builders import made_project, opened

from noforgetti.service.embedding import Embedding

from .scripted_model import Reply, text_of
from .test_main_job import add, is_review, memory, proposal, system_of, until

if TYPE_CHECKING:
    from .lab import Lab
    from .pi_rpc import PiRpc

pytestmark = pytest.mark.pi

FACT = "Money is stored as integer cents."
OTHER_WORDS = "how should we save amounts of currency?"  # no word of the fact; cosine 0.62 with the shipped model
SAME_WORDS = "how is money stored here?"
UNRELATED = "draw a cat in ASCII"
TOOLS = {"memory_search", "session_search", "memory_lessons", "memory_stats", "memory_reinforce"}
HIT = f"""<contextual_memories>
Notes of this project's memory that fit the next message. Background, not a request; the user's words win.
- [lesson] {FACT}
</contextual_memories>"""


@pytest.fixture(scope="module", autouse=True)
def read_before(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The model's files and its library, a hundred MB, are in the system's cache: a disk that is busy installing
    programs is not what is tested here."""
    root = tmp_path_factory.mktemp("read-before")
    memory = opened(made_project(root / "project"), root / "home")
    assert Embedding(memory.settings.embedding, memory.places, {}).try_out() is not None
    memory.close()


def settings(lab: Lab, *lines: str) -> None:
    """The user's settings. A turn has all the time a user may give it: a busy machine is not what is tested here."""
    lab.noforgetti_home.mkdir(exist_ok=True)
    text = "\n".join(("recall_budget = 2000", *lines, ""))
    (lab.noforgetti_home / "config.toml").write_text(text, encoding="utf-8")


def said(body: dict[str, Any]) -> list[str]:
    """The texts of a request after its system prompt."""
    return [text_of(message) for message in body["messages"] if message["role"] != "system"]


def call(tool: str, **arguments: Any) -> Reply:
    """The agent calls a tool."""
    return Reply(tool=tool, arguments=arguments)


def answered(lab: Lab) -> str:
    """What the last tool call answered."""
    return text_of([m for body in lab.model.requests for m in body["messages"] if m["role"] == "tool"][-1])


def past(lab: Lab, *prompts: str) -> str:
    """A session of real Pi with these prompts that has ended; its id."""
    with lab.rpc() as pi:
        for prompt in prompts:
            pi.ask(prompt)
        return str(pi.call("get_state")["sessionId"])


def told_of_past(lab: Lab, pi: PiRpc, prompt: str) -> bool:
    """Whether this prompt is given past sessions."""
    pi.ask(prompt)
    return "<past_sessions>" in said(lab.model.requests[-1])[-2]


def compacted(lab: Lab, summary: str) -> None:
    """A session as Pi writes it when it was compacted."""
    day = "2026-02-03T10:00:0{}.000Z"
    folder = next(lab.agent.glob("sessions/*"))
    header = {"type": "session", "version": 3, "id": "old", "timestamp": day.format(0), "cwd": str(lab.project)}
    asked = {"role": "user", "content": "please carry on", "timestamp": 1}
    lines = [
        header,
        {"type": "message", "id": "a1", "parentId": None, "timestamp": day.format(1), "message": asked},
        {
            "type": "compaction",
            "id": "c1",
            "parentId": "a1",
            "timestamp": day.format(2),
            "summary": summary,
            "firstKeptEntryId": "a1",
            "tokensBefore": 9000,
        },
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "2026-02-03T10-00-00-000Z_old.jsonl").write_text(text, encoding="utf-8")


def test_a_fact_stored_in_other_words_stands_before_the_first_prompt_of_a_fresh_process(lab: Lab) -> None:
    settings(lab)
    lab.model.reply(add(FACT), Reply("noted"))
    lab.print("-p", "please note this")

    lab.print("-p", OTHER_WORDS)

    assert said(lab.model.asked(OTHER_WORDS)) == [HIT, OTHER_WORDS]


def test_without_a_model_a_fact_is_found_by_its_words_alone(lab: Lab) -> None:
    settings(lab, 'embedding = "off"')
    memory(lab, "add", FACT)

    with lab.rpc() as pi:
        pi.ask(OTHER_WORDS)
        pi.ask(SAME_WORDS)

    assert said(lab.model.asked(OTHER_WORDS)) == [OTHER_WORDS]
    assert said(lab.model.asked(SAME_WORDS)) == [OTHER_WORDS, "ok", HIT, SAME_WORDS]


@pytest.mark.parametrize("prompt", ["ok", "thanks", "👍", UNRELATED])
def test_a_message_that_asks_for_nothing_of_it_adds_nothing(lab: Lab, prompt: str) -> None:
    settings(lab)
    memory(lab, "add", FACT)
    memory(lab, "add", "Say thanks and ok with 👍 in pull requests.")

    lab.print("-p", prompt)

    assert said(lab.model.asked(prompt)) == [prompt]


def test_ten_turns_that_find_nothing_each_begin_with_the_whole_previous_request(lab: Lab) -> None:
    settings(lab, "review.enabled = false")
    memory(lab, "add", FACT)
    past(lab, "the colour of the login button is wrong")
    lab.model.requests.clear()
    with lab.rpc() as pi:
        for number in range(10):
            pi.ask(f"{UNRELATED}, number {number}")

    requests = lab.model.requests
    assert len({system_of(body) for body in requests}) == 1
    assert FACT in system_of(requests[0])
    for before, after in pairwise(requests):
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert after["tools"] == before["tools"]


def test_what_was_found_keeps_its_place_through_a_run_and_leaves_no_trace(lab: Lab) -> None:
    settings(lab)
    memory(lab, "add", FACT)
    lab.model.when(is_review, proposal())
    lab.model.reply(call("memory_stats"), call("project_memory", action="list"), Reply("done"))
    with lab.rpc() as pi:
        pi.ask(OTHER_WORDS)
        pi.ask(UNRELATED)
        pi.command("/memory review")
        review = lab.model.wait(is_review)

    first, second, third, next_turn = (body for body in lab.model.requests if body.get("tools"))
    assert said(first) == [HIT, OTHER_WORDS]
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert third["messages"][: len(second["messages"])] == second["messages"]
    assert HIT not in said(next_turn)
    assert "contextual_memories" not in lab.sessions()[0].read_text(encoding="utf-8")
    assert OTHER_WORDS in text_of(review["messages"][-1])
    assert "contextual_memories" not in json.dumps(review)


def test_an_earlier_session_that_fits_stands_before_the_prompt(lab: Lab) -> None:
    settings(lab, "review.enabled = false")
    past(lab, "the crash of the invoice importer came from a byte order mark in the CSV file")
    memory(lab, "sessions", "importer")  # has read the files when it answers

    prompt = "why did the invoice importer crash?"
    with lab.rpc() as pi:
        pi.ask(prompt)
        pi.ask("and why did the invoice importer crash, once more?")

    one, two = lab.model.requests[-2:]
    (block, _) = said(one)
    assert block.startswith("<past_sessions>\nFrom earlier sessions of this project that fit the next message.")
    assert block.endswith(
        ": the crash of the invoice importer came from a byte order mark in the CSV file\n</past_sessions>"
    )
    assert prompt not in said(two)[-2]  # what this session said itself is before the agent anyway


def test_a_compaction_summary_is_what_a_session_is_remembered_by(lab: Lab) -> None:
    settings(lab, "review.enabled = false")
    past(lab, "hello there")
    compacted(lab, "The websocket gateway dropped frames because nginx buffered them; buffering was switched off.")
    memory(lab, "sessions", "gateway")

    lab.print("-p", "the websocket gateway drops frames again")

    (block, _) = said(lab.model.asked("the websocket gateway drops frames again"))
    assert "- 2026-02-03: The websocket gateway dropped frames because nginx buffered them" in block


def test_the_current_session_is_never_found(lab: Lab) -> None:
    settings(lab, "review.enabled = false")
    with lab.rpc() as pi:
        pi.ask("the parser chokes on nested comments")
        memory(lab, "sessions", "parser")
        lab.model.reply(call("session_search", query="nested comments parser"), Reply("done"))
        pi.ask("the parser and nested comments, what did we say?")

    assert answered(lab) == "No past session of this project fits `nested comments parser`."
    assert "past_sessions" not in json.dumps(lab.model.requests)
    assert len(memory(lab, "sessions", "nested comments parser")["hits"]) == 1


@pytest.mark.parametrize("way", ["clone", "fork"])
def test_a_fork_does_not_find_the_session_it_came_from(lab: Lab, way: str) -> None:
    settings(lab, "review.enabled = false")
    with lab.rpc() as pi:
        pi.ask("hello there")
        pi.ask("the parser chokes on nested comments")
        points = [one["entryId"] for one in pi.call("get_fork_messages")["messages"]]
        memory(lab, "sessions", "parser")
        pi.call(way, **({"entryId": points[1]} if way == "fork" else {}))
        pi.ask("the parser and nested comments")
        memory(lab, "sessions", "parser")
        pi.ask("the parser and nested comments, again")

    assert "past_sessions" not in json.dumps(lab.model.requests)
    assert len(lab.sessions()) == 2


@pytest.mark.parametrize("mark", ["PI_SUBAGENT_CHILD", "PI_SUBAGENT_RUN_ID", "PI_SUBAGENT_CHILD_AGENT"])
def test_a_sub_agent_is_given_nothing_and_has_none_of_the_tools(lab: Lab, mark: str) -> None:
    settings(lab)
    memory(lab, "add", FACT)
    lab.print("-p", SAME_WORDS)
    own = lab.model.asked(SAME_WORDS)
    lab.model.requests.clear()

    lab.print("-p", SAME_WORDS, env={mark: "1"})

    child = lab.model.asked(SAME_WORDS)
    assert {tool["function"]["name"] for tool in own["tools"]} >= TOOLS | {"project_memory"}
    assert not {tool["function"]["name"] for tool in child["tools"]} & (TOOLS | {"project_memory"})
    assert said(child) == [SAME_WORDS]
    assert FACT not in system_of(child)


def test_the_agents_tools_find_and_tell(lab: Lab) -> None:
    settings(lab, "review.enabled = false")
    id_ = memory(lab, "add", FACT)["entry"]["id"]
    past(lab, "the crash of the invoice importer came from a byte order mark")
    memory(lab, "sessions", "importer")
    calls = (
        call("memory_search", query=OTHER_WORDS),
        call("session_search", query="invoice importer"),
        call("memory_lessons"),
        call("memory_reinforce", id=id_),
        call("memory_stats"),
    )
    answers = []
    with lab.rpc() as pi:
        for one in calls:
            lab.model.reply(one, Reply("done"))
            pi.ask(UNRELATED)
            answers.append(answered(lab))

    search, sessions, lessons, reinforced, stats = answers
    assert search.startswith(f"- [lesson] {FACT} ({id_}; meaning: 0.")
    assert "the crash of the invoice importer came from a byte order mark" in sessions
    assert lessons == f"+ {FACT} ({id_})"
    assert reinforced == f"Reinforced `{id_}`: evidence 2."
    assert "search       hybrid (words and meaning, static-" in stats
    assert [one["kind"] for one in memory(lab, "log")["commits"]] == ["write"]


def test_a_tool_that_is_misused_says_what_is_missing(lab: Lab) -> None:
    settings(lab)
    lab.model.reply(call("memory_reinforce", id="nothing-of-that-name"), Reply("done"))

    lab.print("-p", "reinforce it")

    assert "nothing-of-that-name" in answered(lab)
    assert "Traceback" not in answered(lab)


def test_the_user_searches_by_a_command(lab: Lab) -> None:
    settings(lab)
    memory(lab, "add", FACT)
    with lab.rpc() as pi:
        found = pi.command(f"/memory search {OTHER_WORDS}")
        nothing = pi.command(f"/memory search {UNRELATED}")
        wrong = pi.command("/memory search")

    assert found.startswith(f"- [lesson] {FACT} (")
    assert nothing == f"Nothing on branch `main` fits `{UNRELATED}`."
    assert "`/memory search QUERY`" in wrong
    assert lab.model.requests == []


def test_search_is_among_the_completions(lab: Lab) -> None:
    memory(lab, "add", FACT)
    with lab.tui() as terminal:
        terminal.until("memory main: 1 entry")
        terminal.keys("-l", "/memory sea")
        terminal.until("find entries by words and by meaning")
        terminal.keys("Tab")
        terminal.until("/memory search")
        terminal.keys("-l", " cents")
        terminal.keys("Enter")
        terminal.until(FACT)


def test_a_session_that_is_told_once_is_not_told_again_when_it_is_resumed(lab: Lab) -> None:
    settings(lab, 'injection = "session-start"', "review.enabled = false")
    memory(lab, "add", FACT)
    with lab.rpc() as pi:
        pi.ask("first")
        pi.ask(SAME_WORDS)
    with lab.rpc("-c") as pi:
        pi.ask("third")

    told = [len([text for text in said(body) if FACT in text]) for body in lab.model.requests]
    assert told == [1, 1, 1]
    assert FACT not in system_of(lab.model.requests[-1])
    assert "contextual_memories" not in json.dumps(lab.model.requests)


def test_what_a_session_was_told_is_no_past_session(lab: Lab) -> None:
    settings(lab, 'injection = "session-start"', "review.enabled = false")
    memory(lab, "add", FACT)
    past(lab, "hello there, the button is green")

    assert memory(lab, "sessions", FACT)["hits"] == []
    assert len(memory(lab, "sessions", "green button")["hits"]) == 1


def test_the_context_way_puts_memory_and_what_fits_into_one_unstored_message(lab: Lab) -> None:
    settings(lab, 'injection = "context"')
    memory(lab, "add", FACT)
    with lab.rpc() as pi:
        pi.ask(OTHER_WORDS)
        pi.ask(UNRELATED)

    one, two = lab.model.requests[:2]
    report, prompt = said(one)
    assert (report.startswith("<project_memory>\n"), prompt) == (True, OTHER_WORDS)
    assert report.endswith(f"</project_memory>\n{HIT}")
    assert [text.endswith("</project_memory>") for text in said(two)] == [False, False, True, False]
    assert "project_memory>" not in system_of(one) + lab.sessions()[0].read_text(encoding="utf-8")


def test_the_system_prompt_way_appends_memory_and_what_fits(lab: Lab) -> None:
    settings(lab, 'injection = "system-prompt"')
    memory(lab, "add", FACT)
    with lab.rpc() as pi:
        pi.ask(OTHER_WORDS)
        pi.ask(UNRELATED)

    one, two = lab.model.requests[:2]
    assert said(one) == [OTHER_WORDS]
    assert system_of(one).endswith(f"</project_memory>\n{HIT}")
    assert system_of(two).endswith("</project_memory>")


def test_what_fits_can_be_turned_off(lab: Lab) -> None:
    settings(lab, "ephemeral = false")
    memory(lab, "add", FACT)

    lab.print("-p", SAME_WORDS)

    assert said(lab.model.asked(SAME_WORDS)) == [SAME_WORDS]
    assert FACT in system_of(lab.model.requests[0])


def test_deleting_the_cache_in_the_middle_of_a_session_costs_nothing_but_time(lab: Lab) -> None:
    settings(lab, "review.enabled = false")
    memory(lab, "add", FACT)
    past(lab, "the crash of the invoice importer came from a byte order mark")
    memory(lab, "sessions", "importer")
    asked = "why did the invoice importer crash?"
    with lab.rpc() as pi:
        pi.ask(f"{asked} first")
        shutil.rmtree(lab.noforgetti_home / "cache")
        pi.ask(OTHER_WORDS)
        until(lambda: told_of_past(lab, pi, asked))
        lab.model.reply(call("session_search", query="invoice importer"), Reply("done"))
        pi.ask(UNRELATED)
        notices = pi.notices()

    first, second = lab.model.requests[1:3]
    assert "past_sessions" in said(first)[0]
    assert said(second)[-2:] == [HIT, OTHER_WORDS]
    assert "byte order mark" in answered(lab)
    assert len({system_of(body) for body in lab.model.requests[1:]}) == 1
    assert notices == []
    assert memory(lab, "fsck")["outcome"] == "clean"


def test_a_long_system_prompt_leaves_less_room_for_the_report(lab: Lab) -> None:
    settings(lab)
    memory(lab, "add", FACT)
    (lab.project / "AGENTS.md").write_text("Mind the gap. " * 3000, encoding="utf-8")

    lab.print("-p", "hello")

    assert " of 500 tokens told" in system_of(lab.model.asked("hello"))
