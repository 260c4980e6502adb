"""Every tool by the SDK's own client, in each of the protocol's eras: what it says and the shape of it."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError
from service.said import Session

from .client import MODES, Place, said

if TYPE_CHECKING:
    from mcp import Client

NAMES = {
    "memory_list",
    "memory_add",
    "memory_replace",
    "memory_remove",
    "memory_search",
    "memory_sessions",
    "memory_undo",
    "memory_branches",
    "memory_fork",
    "memory_use",
    "memory_log",
    "memory_review",
    "memory_report",
}


class Checked:
    """Calls tools; every answer, also a refusal, has the shape that its tool promised."""

    def __init__(self, client: Client, schemas: dict[str, Any]) -> None:
        self.client, self.schemas, self.called = client, schemas, set[str]()

    @classmethod
    async def of(cls, client: Client) -> Checked:
        listed = await client.list_tools()
        return cls(client, {tool.name: tool.output_schema for tool in listed.tools})

    async def __call__(self, tool: str, *, error: bool = False, **arguments: Any) -> tuple[str, dict[str, Any]]:
        result = await self.client.call_tool(tool, arguments)
        assert bool(result.is_error) is error, said(result)
        Draft202012Validator(self.schemas[tool]).validate(result.structured_content)
        self.called.add(tool)
        doc: dict[str, Any] = result.structured_content
        return said(result), doc


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_does_its_work_in_every_era(place: Place, mode: str) -> None:
    session = Session(place.project.parent / "session.jsonl").say("Always run the linter before you commit.")

    async def work(client: Client) -> None:
        call = await Checked.of(client)
        text, empty = await call("memory_list")
        assert text == "Memory branch `main` holds no entries.\n\n(0 of 6,000 characters, branch `main`, head none)"
        assert "head" not in empty
        text, added = await call("memory_add", text="Use pnpm, never npm.", importance="high", category="preference")
        entry = added["entry"]
        assert text == f"Added `{entry['id']}` on branch `main`, commit {added['commit'][:12]}."
        assert (entry["text"], entry["importance"], entry["writer"]) == ("Use pnpm, never npm.", "high", "agent")
        assert (await call("memory_add", text="Use pnpm, never npm."))[1]["outcome"] == "duplicate"
        _, replaced = await call("memory_replace", old="pnpm", text="Use pnpm 9, never npm.", pinned=False)
        assert (replaced["outcome"], replaced["entry"]["id"]) == ("replaced", entry["id"])
        _, found = await call("memory_search", query="which pnpm version", limit=3)
        assert [hit["id"] for hit in found["hits"]] == [entry["id"]]
        _, past = await call("memory_sessions", query="linter")
        assert (past["hits"], past["branch"]) == ([], "main")
        _, forked = await call("memory_fork", name="experiment")
        assert (forked["from"], forked["head"]) == ("main", replaced["commit"])
        text, _ = await call("memory_use", name="experiment")
        assert text.startswith("This connection uses memory branch `experiment` now")
        _, removed = await call("memory_remove", old=entry["id"])
        assert (removed["outcome"], removed["branch"]) == ("removed", "experiment")
        _, listed = await call("memory_branches")
        assert [(one["name"], one.get("entries", 0), one.get("current", False)) for one in listed["branches"]] == [
            ("main", 1, False),
            ("experiment", 0, True),
        ]
        _, would = await call("memory_undo", revision="HEAD", dry_run=True)
        assert (would["outcome"], "commit" in would) == ("undone", False)
        text, undone = await call("memory_undo", revision=removed["commit"])
        assert text.startswith(f"Took back {removed['commit'][:12]} (remove: Use pnpm 9, never npm.), commit ")
        _, log = await call("memory_log", limit=2)
        assert [one["commit"] for one in log["commits"]] == [undone["commit"], removed["commit"]]
        text, reviewed = await call("memory_review", transcript=str(session.file), reviewer="rules")
        assert [one["text"] for one in reviewed["operations"]] == ["Always run the linter before you commit."]
        text, report = await call("memory_report", prompt="how do I commit?")
        assert report["report"] == text
        assert "Always run the linter before you commit." in text
        assert call.called == NAMES == set(call.schemas)

    place.talk(work, mode)


def test_a_tool_says_what_it_takes_and_answers_as_json_schema(place: Place) -> None:
    async def work(client: Client) -> list[Any]:
        return list((await client.list_tools()).tools)

    for tool in place.talk(work):
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
        assert {"branch", "expected_head"} <= set(tool.input_schema["properties"]), tool.name
        assert "anyOf" not in str(tool.input_schema) + str(tool.output_schema), tool.name
        assert tool.output_schema["required"] == ["branch"], tool.name


def test_a_tool_is_marked_by_what_it_can_do(place: Place) -> None:
    async def work(client: Client) -> dict[str, tuple[bool | None, ...]]:
        marks: dict[str, tuple[bool | None, ...]] = {}
        for tool in (await client.list_tools()).tools:
            one = tool.annotations
            assert one
            marks[tool.name] = (one.read_only_hint, one.destructive_hint, one.idempotent_hint, one.open_world_hint)
        return marks

    reads, adds, destroys = (True, False, True, False), (False, False, True, False), (False, True, True, False)
    assert place.talk(work) == {
        "memory_list": reads,
        "memory_add": adds,
        "memory_replace": destroys,
        "memory_remove": destroys,
        "memory_search": reads,
        "memory_sessions": reads,
        "memory_undo": (False, True, False, False),
        "memory_branches": reads,
        "memory_fork": adds,
        "memory_use": adds,
        "memory_log": reads,
        "memory_review": (False, True, True, True),
        "memory_report": reads,
    }


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "memory_add",
        {},
        "`text` is missing. Nothing was done.\nHint: give it: The fact, as one short statement.",
    ),
    ("memory_add", {"text": " "}, "`text` is empty."),
    ("memory_add", {"text": 7}, "`text` must be text."),
    ("memory_add", {"text": ["a"]}, "`text` must be text."),
    ("memory_add", {"text": "x" * 10_000_000}, "`text` has 10,000,000 characters; an argument may have 100,000."),
    ("memory_add", {"text": "x" * 801}, "The text has 801 characters, 1 over the limit of 800; nothing was written."),
    ("memory_add", {"text": "a\x00b"}, "The text holds the invisible character U+0000 at position 2;"),
    (
        "memory_add",
        {"text": "Fine.", "importance": "huge"},
        "`importance` is `huge`. Nothing was done.\nHint: one of: ",
    ),
    ("memory_add", {"text": "Fine.", "pinned": "perhaps"}, "`pinned` must be true or false."),
    (
        "memory_add",
        {"text": "Fine.", "colour": "red"},
        "There is no argument `colour`. Nothing was done.\nHint: one of",
    ),
    (
        "memory_add",
        {"text": "Fine.", "branch": "nope"},
        "There is no memory branch `nope`. Nothing was changed.\nHint: ",
    ),
    ("memory_add", {"text": "Fine.", "branch": "../../x"}, "There is no memory branch `../../x`."),
    ("memory_add", {"text": "Fine.", "expected_head": "now"}, "`expected_head` is no commit id."),
    (
        "memory_add",
        {"text": "Fine.", "expected_head": "0" * 40},
        "Branch `main` stands at no commit, not at 000000000000",
    ),
    ("memory_add", {"text": "Token sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"}, "The text "),
    (
        "memory_remove",
        {"old": "nothing like it"},
        "No entry matches `nothing like it`. Nothing was written.\nHint: list the entries with `memory_list`",
    ),
    ("memory_search", {"query": "x", "limit": 0}, "`limit` must be a whole number from 1 to 50."),
    ("memory_search", {"query": "x", "limit": "many"}, "`limit` must be a whole number from 1 to 50."),
    ("memory_search", {"query": "x", "limit": 1.5}, "`limit` must be a whole number from 1 to 50."),
    ("memory_fork", {"name": "a/b"}, ""),
    (
        "memory_use",
        {"name": "nope"},
        "There is no memory branch `nope`. Nothing was changed.\nHint: list them with `memory_",
    ),
    ("memory_undo", {"revision": "zzz"}, "Revision `zzz` names no commit of this memory."),
    ("memory_log", {"entry": "nope"}, "No commit of branch `main` touched an entry `nope`."),
    ("memory_review", {"transcript": "/nonexistent"}, "The session file `/nonexistent` cannot be read:"),
    ("memory_review", {"transcript": "."}, "`.` is no file."),
    (
        "memory_review",
        {"transcript": "a\x00b"},
        "The session file `a\ufffdb` cannot be read: no file has such a name. Nothing was reviewed.",
    ),
    ("memory_review", {"transcript": "x" * 99_999}, f"The session file `{'x' * 199}…` cannot be read:"),
    ("memory_review", {}, ""),
    ("memory_list", {"branch": "x" * 99_999}, f"There is no memory branch `{'x' * 79}…`. Nothing was changed."),
    ("memory_use", {"name": "main\n"}, "There is no memory branch `main\ufffd`. Nothing was changed."),
    ("memory_list", {"revision": "HEAD~3"}, "Revision `HEAD~3` names no commit of this memory."),
]


def test_what_cannot_be_done_is_one_sentence_and_changes_nothing(place: Place) -> None:
    async def work(client: Client) -> None:
        call = await Checked.of(client)
        for tool, arguments, sentence in REFUSED:
            text, doc = await call(tool, error=True, **arguments)
            assert text.startswith(sentence), (tool, text)
            assert doc["outcome"] in ("refused", "failed"), (tool, doc)
            assert text.startswith(doc["reason"]), (tool, doc)
            assert not any(word in text for word in ("Traceback", "pydantic", "sk-ant")), text
            assert len(text) < 500, text

    place.talk(work)

    assert place.cli("status")["head"] is None


SECRET = "gh" + "p_" + "a8Kq2LmZ" * 4 + "Zx91"


@pytest.mark.parametrize("tool", sorted(NAMES))
def test_a_secret_in_an_argument_is_neither_stored_nor_repeated_in_an_error(place: Place, tool: str) -> None:
    texts = {"text": "Use pnpm.", "old": "pnpm", "query": "pnpm", "name": "trial"}

    async def work(client: Client) -> None:
        await client.call_tool("memory_add", {"text": "Deploys need two approvals."})
        [declared] = [one for one in (await client.list_tools()).tools if one.name == tool]
        needed = {name: texts[name] for name in declared.input_schema.get("required", ())}
        for name in (*declared.input_schema["properties"], SECRET):
            result = await client.call_tool(tool, {**needed, name: SECRET})
            if result.is_error:
                assert SECRET not in result.model_dump_json(), name
        for told in (SECRET, f"memory://branch/{SECRET}", f"memory://entry/{SECRET}"):
            with pytest.raises(MCPError) as failed:
                await client.read_resource(told)
            assert SECRET not in str(failed.value)

    place.talk(work)

    stored = json.dumps([place.cli("show"), place.cli("branches"), place.cli("log")])
    assert SECRET.lower() not in stored.lower()


def test_a_tool_that_is_not_there_is_named(place: Place) -> None:
    async def work(client: Client) -> str:
        try:
            await client.call_tool("memory_dance", {})
        except Exception as error:  # noqa: BLE001 - its text is what is tested
            return str(error)
        return ""

    assert place.talk(work) == "There is no tool `memory_dance`."


def test_what_a_model_mistypes_harmlessly_is_understood(place: Place) -> None:
    async def work(client: Client) -> dict[str, Any]:
        call = await Checked.of(client)
        given: dict[str, Any] = {"text": '"Use pnpm."', "pinned": "true", "importance": None, "key": ""}
        _, doc = await call("memory_add", **given)
        _, found = await call("memory_search", query="'pnpm'", limit="3")
        assert len(found["hits"]) == 1
        entry: dict[str, Any] = doc["entry"]
        return entry

    entry = place.talk(work)

    assert (entry["text"], entry["pinned"]) == ("Use pnpm.", True)


def test_a_false_that_a_model_fills_in_takes_no_pin_away(place: Place) -> None:
    async def work(client: Client) -> None:
        call = await Checked.of(client)
        await call("memory_add", text="Use pnpm.", pinned=True)
        _, doc = await call("memory_replace", old="pnpm", text="Use pnpm 9.", pinned=False)
        assert doc["entry"]["pinned"] is True

    place.talk(work)


@pytest.mark.parametrize(
    "letter",
    ["a", "가", "👨‍👩‍👧‍👦", "e\u0301", "é", "𝒜"],
    ids=["ascii", "korean", "family", "two code points that are one", "one code point", "astral"],
)
def test_the_limit_of_an_entry_is_counted_as_everywhere(place: Place, letter: str) -> None:
    unit = len(unicodedata.normalize("NFC", letter))
    longest = letter * (800 // unit)
    room = 800 - len(unicodedata.normalize("NFC", longest))

    async def work(client: Client) -> list[str]:
        outcomes = []
        for text in (longest + "x" * room, longest + "x" * (room + 1)):
            done = (await client.call_tool("memory_add", {"text": text})).structured_content
            outcomes.append(done.get("rule") or done["outcome"])
        return outcomes

    assert place.talk(work) == ["added", "too-long"]
    assert place.cli("show")["characters"] == 800


def test_at_the_limit_the_entries_are_told(place: Place) -> None:
    async def work(client: Client) -> str:
        call = await Checked.of(client)
        for number in range(7):
            await call("memory_add", text=f"Fact {number}: " + chr(97 + number) * 780)
        text, doc = await call("memory_add", error=True, text="One fact more: " + "z" * 780)
        assert doc["rule"] == "capacity"
        return text

    assert "\nDo not try again in this turn. The entries are:\n1. [normal?] `fact-0" in place.talk(work)


def test_a_contradiction_is_refused_until_the_user_confirmed_it(place: Place) -> None:
    async def work(client: Client) -> None:
        call = await Checked.of(client)
        _, first = await call("memory_add", text="Always commit directly to main.")
        _, refused = await call("memory_add", error=True, text="Never commit directly to main.")
        assert (refused["rule"], [one["id"] for one in refused["conflicts"]]) == (
            "contradiction",
            [first["entry"]["id"]],
        )
        _, done = await call("memory_add", text="Never commit directly to main.", override=True)
        assert [one["id"] for one in done["superseded"]] == [first["entry"]["id"]]

    place.talk(work)


def test_what_holds_for_the_user_and_for_this_session_is_listed_beside_the_branch(place: Place) -> None:
    async def work(client: Client) -> None:
        call = await Checked.of(client)
        await call("memory_add", text="The user writes British English.", scope="user")
        await call("memory_add", text="Do not push until the release is out.", scope="session")
        text, doc = await call("memory_list")
        assert [one["text"] for one in doc["user"]] == ["The user writes British English."]
        assert [one["text"] for one in doc["scoped"]] == ["Do not push until the release is out."]
        assert "About the user, in every project" in text

    place.talk(work)
    other = place.talk(lambda client: client.call_tool("memory_list", {}))

    assert other.structured_content["scoped"] == []
    assert len(other.structured_content["user"]) == 1


def test_a_branch_that_is_gone_falls_back_to_main_with_a_notice(place: Place) -> None:
    async def work(client: Client) -> None:
        call = await Checked.of(client)
        await call("memory_add", text="Use pnpm.")
        await call("memory_fork", name="gone")
        await call("memory_use", name="gone")
        place.cli("branch", "delete", "gone")
        text, doc = await call("memory_list")
        told = "Memory branch `gone` is gone; this connection uses `main` now."
        assert (doc["branch"], doc["notices"], text.splitlines()[0]) == ("main", [told], told)
        assert "notices" not in (await call("memory_list"))[1]

    place.talk(work)


def test_using_a_branch_is_this_connections_affair(place: Place) -> None:
    async def work(client: Client) -> None:
        call = await Checked.of(client)
        await call("memory_fork", name="mine")
        await call("memory_use", name="mine")
        await call("memory_add", text="Only here.")

    place.talk(work)

    assert place.cli("show")["branch"] == "main"
    assert place.cli("show")["entries"] == []


def test_a_connection_begins_on_the_branch_that_the_command_line_selected(place: Place) -> None:
    place.cli("fork", "mine")
    place.cli("use", "mine")

    done = place.talk(lambda client: client.call_tool("memory_list", {}))

    assert done.structured_content["branch"] == "mine"


def test_what_another_process_writes_is_seen_at_once(place: Place) -> None:
    async def work(client: Client) -> None:
        call = await Checked.of(client)
        assert (await call("memory_list"))[1]["entries"] == []
        place.cli("add", "Use pnpm.")
        assert [one["text"] for one in (await call("memory_list"))[1]["entries"]] == ["Use pnpm."]

    place.talk(work)


def test_reading_makes_no_file(place: Place) -> None:
    async def work(client: Client) -> None:
        for tool in ("memory_list", "memory_branches", "memory_log"):
            await client.call_tool(tool, {})
        await client.list_resources()
        await client.read_resource("memory://branch")

    place.talk(work)

    assert not (place.home / "data").exists()
