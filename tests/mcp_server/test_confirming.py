"""What is hard to take back is confirmed by the user, where the client can ask; the same in every era."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp_types import ElicitResult

from .client import MODES, Place, said

if TYPE_CHECKING:
    from mcp import Client

NOT = "The user did not confirm it. Nothing was changed.\nHint: do not try again unless the user asks for it"


class User:
    """Answers forms, and keeps what was asked."""

    def __init__(self, action: Any, content: dict[str, Any] | None = None) -> None:
        self.asked: list[str] = []
        self.answer = ElicitResult(action=action, content=content)

    async def __call__(self, _: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        return self.answer


YES = ("accept", {"confirm": True})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("answer", "confirmed"),
    [(YES, True), (("accept", {"confirm": False}), False), (("decline", None), False), (("cancel", None), False)],
)
def test_a_pinned_entry_is_removed_when_the_user_says_so(
    place: Place, mode: str, answer: tuple[str, Any], confirmed: bool
) -> None:
    entry = place.cli("add", "Use pnpm.", "--pin")["entry"]["id"]
    user = User(*answer)

    done = place.talk(
        lambda client: client.call_tool("memory_remove", {"old": "pnpm"}), mode, elicitation_callback=user
    )

    assert user.asked == [f"Remove the pinned entry `{entry}` from the memory? It says: Use pnpm."]
    assert (said(done) == NOT) is not confirmed
    assert bool(done.is_error) is not confirmed
    assert len(place.cli("show")["entries"]) == (0 if confirmed else 1)


@pytest.mark.parametrize("mode", MODES)
def test_undoing_what_is_not_newest_is_confirmed(place: Place, mode: str) -> None:
    first = place.cli("add", "Use pnpm.")["commit"]
    second = place.cli("add", "Ports are in ports.toml.")["commit"]
    user = User(*YES)

    async def work(client: Client) -> None:
        for arguments in ({"revision": second}, {"revision": first, "dry_run": True}, {"revision": first}):
            done = await client.call_tool("memory_undo", arguments)
            assert not done.is_error, said(done)

    place.talk(work, mode, elicitation_callback=user)

    [asked] = user.asked
    assert asked == (
        f"Take back {first[:12]} (add: Use pnpm.) on memory branch `main`? It is not the newest change; later changes "
        "of other entries stay."
    )


def test_a_client_that_cannot_ask_leaves_it_to_its_own_dialog(place: Place) -> None:
    place.cli("add", "Use pnpm.", "--pin")

    done = place.talk(lambda client: client.call_tool("memory_remove", {"old": "pnpm"}))

    assert done.structured_content["outcome"] == "removed"


def test_what_is_not_pinned_is_removed_without_a_question(place: Place) -> None:
    place.cli("add", "Use pnpm.")
    user = User("decline")

    done = place.talk(lambda client: client.call_tool("memory_remove", {"old": "pnpm"}), elicitation_callback=user)

    assert (done.structured_content["outcome"], user.asked) == ("removed", [])
