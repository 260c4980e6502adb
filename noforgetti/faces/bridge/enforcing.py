"""The host's tool calls, held against the rules of the branch: three methods that never fail a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from noforgetti.faces.bridge import requests
from noforgetti.policy.enforcement import Call
from noforgetti.service.recalling import Question
from noforgetti.service.rules import REMINDED, Enforcement, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from noforgetti.model.entry import BranchName, Entry
    from noforgetti.service.memory import Memory
    from noforgetti.service.recalling import Recalled

_Answer = dict[str, Any]


class Enforcing:
    """The methods `tool/call`, `tool/result` and `turn/end`. `ask` searches the entries of a branch."""

    def __init__(
        self, memory: Memory, branch: Callable[[str | None], BranchName], ask: Callable[[Question], Recalled]
    ) -> None:
        self._branch, self._ask = branch, ask
        self._rules = Enforcement(memory, self._fitting)

    def begin(self, session: str) -> None:
        """A run of the agent begins."""
        self._rules.begin(session)

    def call(self, params: Any) -> _Answer:
        """Whether a call may run."""
        asked = msgspec.convert(params, requests.ToolCall)
        call = Call(asked.id, asked.tool, asked.input)
        block = self._rules.call(self._branch(asked.branch), asked.session.id, call)
        return {"block": block} if block else {}

    def result(self, params: Any) -> _Answer:
        """What follows a call that ran."""
        asked = msgspec.convert(params, requests.ToolResult)
        call = Call(asked.id, asked.tool, asked.input)
        after = self._rules.result(self._branch(asked.branch), asked.session.id, call, failed=asked.error)
        answer: _Answer = {"append": "\n".join(after.append)} if after.append else {}
        if after.run:
            answer["run"] = [{"rule": one.rule, "command": one.command} for one in after.run]
        return answer

    def turn_end(self, params: Any) -> _Answer:
        """What follows a turn."""
        asked = msgspec.convert(params, requests.TurnEnd)
        end = self._rules.turn_end(self._branch(asked.branch), asked.session.id)
        return {key: text for key, text in (("retry", end.retry), ("remind", end.remind)) if text}

    def _fitting(self, branch: str, session: str, paths: Sequence[str]) -> list[Entry]:
        """Entries that speak of the files: found as a turn's are, by the words of their paths."""
        words = words_of(paths)
        if not words:
            return []
        from noforgetti.retrieval.ranking import ENTRIES

        # Not "files modified: …": every entry with the word "file" would fit every change. Ten paths asked of fourteen
        # entries brought ten that have nothing to do with the path (with the shipped model); without it, none.
        found = self._ask(Question(branch, words, REMINDED, 0, session))
        clear = [one for one in found.entries if one.similarity is None or one.score >= ENTRIES.floor]
        return [one.entry for one in clear if not one.entry.archived]
