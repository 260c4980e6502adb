"""The reviewer that asks the host to run the model its user has selected: no keys of our own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from noforgetti.errors import NoForgettiError
from noforgetti.review.reviewer import Completion, ReviewAbortedError, ReviewerError, Usage

Ask = Callable[[str, str, int], Mapping[str, Any]]

_CUT = ("length", "max_tokens")


@dataclass(frozen=True, slots=True)
class HostReviewer:
    """`ask(system, prompt, max_tokens)` is the bridge's request `model/complete`; it answers `text`,
    `stop_reason`, `model` and `usage: {input, output}`. Its own `NoForgettiError` (no model, no answer in
    time) passes through."""

    ask: Ask
    name: str = "host"

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        """The answer of the host's model. Raises `ReviewerError` when the host fails or answers nonsense."""
        try:
            answer = self.ask(system, prompt, max_tokens)
        except NoForgettiError:
            raise
        except (OSError, ValueError, EOFError) as trouble:  # OSError holds TimeoutError and a broken pipe
            raise _failed(type(trouble).__name__) from trouble
        text, stop = answer.get("text"), answer.get("stop_reason")
        if stop == "aborted":
            raise ReviewAbortedError("The host called the review off. Nothing was reviewed.")
        if stop == "error" or not isinstance(text, str):
            raise _failed("its model answered with an error" if stop == "error" else "its answer has no text")
        model = answer.get("model")
        return Completion(
            text=text,
            usage=_usage(answer.get("usage")),
            truncated=stop in _CUT,
            model=model if isinstance(model, str) else "",
        )


def _usage(data: object) -> Usage:
    if not isinstance(data, Mapping):
        return Usage()
    counts = (data.get("input"), data.get("output"))
    return Usage(*(count if isinstance(count, int) and count > 0 else 0 for count in counts))


def _failed(why: str) -> ReviewerError:
    return ReviewerError(
        f"The host could not run its model: {why}. Nothing was reviewed.",
        hint="select a model in the host, or set another reviewer",
    )
