"""`expected_head`: of two clients that decided on the same memory, one writes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .client import Place, said

if TYPE_CHECKING:
    from mcp import Client

    from .conftest import Start


def test_of_two_clients_with_one_expected_head_exactly_one_wins(place: Place, start: Start) -> None:
    head = place.cli("add", "Use pnpm.")["commit"]
    one, other = start(), start()
    for wire in (one, other):
        wire.greet()
        wire.call("memory_list")  # open and warm: both are ready for the same moment

    for turn in range(8):
        text = f"Turn {turn}: service number {turn} is written in Rust."
        asked = {"name": "memory_add", "arguments": {"text": text, "force": True, "expected_head": head}}
        numbers = [(wire, wire.send("tools/call", asked)) for wire in (one, other)]
        outcomes = []
        for wire, number in numbers:
            while (message := wire.next()).get("id") != number:
                pass
            outcomes.append(message["result"]["structuredContent"])
        outcomes.sort(key=lambda doc: str(doc["outcome"]))
        won, lost = outcomes
        assert (won["outcome"], lost["outcome"], lost["code"]) == ("added", "failed", "moved-head")
        assert lost["reason"] == (
            f"Branch `main` stands at {won['commit'][:12]}, not at {head[:12]} as expected. Nothing was written."
        )
        head = won["commit"]

    assert (one.end()[0], other.end()[0]) == (0, 0)
    assert len(place.cli("log")["commits"]) == 9


def test_an_expected_head_may_be_short_and_none_means_before_the_first_write(place: Place) -> None:
    async def work(client: Client) -> None:
        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            found: dict[str, Any] = (await client.call_tool(tool, arguments)).structured_content
            return found

        first = await call("memory_add", text="Use pnpm.", expected_head="none")
        assert first["outcome"] == "added"
        assert (await call("memory_add", text="More.", expected_head="none"))["code"] == "moved-head"
        second = await call("memory_add", text="Ports are in ports.toml.", expected_head=first["commit"][:7].upper())
        assert second["outcome"] == "added"
        for tool, arguments in (
            ("memory_list", {}),
            ("memory_replace", {"old": "pnpm", "text": "Use pnpm 9."}),
            ("memory_remove", {"old": "pnpm"}),
            ("memory_undo", {"revision": "HEAD"}),
            ("memory_fork", {"name": "x"}),
            ("memory_add", {"text": "Beside the branch.", "scope": "session"}),
            ("memory_add", {"text": "The user is Ada.", "scope": "user"}),
        ):
            refused = await call(tool, **arguments, expected_head=first["commit"])
            assert refused["code"] == "moved-head", (tool, refused)
        assert (await call("memory_list", expected_head=second["commit"]))["head"] == second["commit"]

    place.talk(work)


def test_a_duplicate_on_another_head_is_a_conflict_too(place: Place) -> None:
    first = place.cli("add", "Use pnpm.")["commit"]
    place.cli("add", "Ports are in ports.toml.")

    done = place.talk(lambda client: client.call_tool("memory_add", {"text": "Use pnpm.", "expected_head": first}))

    assert done.structured_content["code"] == "moved-head"
    assert said(done).endswith("\nHint: read the branch again, then decide anew")


def test_calls_of_one_client_at_once_are_all_done_in_order(place: Place) -> None:
    async def work(client: Client) -> list[str]:
        texts = [f"Service number {number} is written in language {number}." for number in range(10)]
        done = await asyncio.gather(*(client.call_tool("memory_add", {"text": text, "force": True}) for text in texts))
        return [one.structured_content["outcome"] for one in done]

    assert place.talk(work) == ["added"] * 10
    assert len(place.cli("show")["entries"]) == 10
