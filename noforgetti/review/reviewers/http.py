"""The reviewer behind an endpoint: OpenAI-compatible or Anthropic, through pydantic-ai's model classes.

The library is the optional extra `llm`; nothing is imported before the first answer (2 s and 80 MiB that a
command that does not review must not pay). Keys are handed in and used, never stored or shown: an error
names the provider's status and nothing of the answer's body, which may quote what was sent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from noforgetti.review.reviewer import Completion, ReviewerError, Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI
    from pydantic_ai.models import Model

TIMEOUT = 300.0  # seconds for one answer (upstream's model time limit)
_RETRIES = 1  # the client's own, for a dropped connection; the schedule's back-off does the rest


class Api(StrEnum):
    """Which of the two wire protocols an endpoint speaks."""

    OPENAI = "openai"  # chat completions, as most servers offer them
    ANTHROPIC = "anthropic"


@dataclass(frozen=True, slots=True)
class HttpReviewer:
    """Asks `model` at `url` (empty: the provider's own address). `name` is what the commit's trailer says."""

    api: Api
    model: str
    url: str = ""
    key: str = field(default="", repr=False)
    timeout: float = TIMEOUT

    @property
    def name(self) -> str:
        """The trailer's `http/<model>`."""
        return f"http/{self.model}"

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        """The endpoint's answer. Raises `ReviewerError` without the extra, and when the endpoint cannot
        answer."""
        try:
            from pydantic_ai.exceptions import AgentRunError, UserError
        except ImportError as trouble:
            raise _missing() from trouble
        try:
            # A loop of our own, closed with its connections: reviews run in threads that have none.
            return asyncio.run(self._ask(system, prompt, max_tokens))
        except ImportError as trouble:
            raise _missing() from trouble
        except AgentRunError as trouble:
            raise self._failed(_status(trouble)) from None
        except UserError:
            raise self._failed("it is not set up: a key or an address is missing") from None

    async def _ask(self, system: str, prompt: str, max_tokens: int) -> Completion:
        from pydantic_ai import ModelRequest, ModelSettings
        from pydantic_ai.direct import model_request

        request = ModelRequest.user_text_prompt(prompt, instructions=system)
        settings = ModelSettings(max_tokens=max_tokens, timeout=self.timeout)
        client, model = self._anthropic() if self.api is Api.ANTHROPIC else self._openai()
        async with client:
            answer = await model_request(model, [request], model_settings=settings)
        return Completion(
            text=answer.text or "",
            usage=Usage(answer.usage.input_tokens, answer.usage.output_tokens),
            truncated=answer.finish_reason == "length",
            model=answer.model_name or self.model,
        )

    def _openai(self) -> tuple[AsyncOpenAI, Model]:
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        client = AsyncOpenAI(base_url=self.url or None, api_key=self.key or "none", max_retries=_RETRIES)
        return client, OpenAIChatModel(self.model, provider=OpenAIProvider(openai_client=client))

    def _anthropic(self) -> tuple[AsyncAnthropic, Model]:
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = AsyncAnthropic(base_url=self.url or None, api_key=self.key or "none", max_retries=_RETRIES)
        return client, AnthropicModel(self.model, provider=AnthropicProvider(anthropic_client=client))

    def _failed(self, why: str) -> ReviewerError:
        return ReviewerError(
            f"The model `{self.model}` could not answer: {why}. Nothing was reviewed.",
            hint="check the reviewer's url, model and key",
        )


def _status(trouble: Any) -> str:
    status = getattr(trouble, "status_code", None)
    if isinstance(status, int):
        return f"the endpoint answered with status {status}"
    cause = trouble.__cause__
    return f"no usable answer came ({type(cause or trouble).__name__})"


def _missing() -> ReviewerError:
    return ReviewerError(
        "The `http` reviewer needs the optional extra `llm`, which is not installed. Nothing was reviewed.",
        hint="install it with `pip install 'noforgetti[llm]'`, or set another reviewer",
    )
