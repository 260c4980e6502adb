"""Embeddings of Amazon Bedrock, through the AWS SDK: its credential chain is the reason to use it.

The SDK (`boto3`) is the optional extra `bedrock`, imported when the embedder is made. It reads AWS's own environment
variables and files; of ours only region, profile and an address for tests or private endpoints reach it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders.rows import of_content, taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noforgetti.retrieval.base import Floats

MODEL = "amazon.titan-embed-text-v2:0"  # with 512 dimensions: the reference system's choice
DIMENSIONS = 512
_CONNECT = 2.0  # seconds, as for the other providers
_BATCH = 64  # texts of one request to a Cohere model, which takes 96; a Titan model takes one

_DENIED = {
    "AccessDeniedException", "ExpiredTokenException", "ExpiredToken", "UnrecognizedClientException",
    "InvalidSignatureException", "InvalidClientTokenId", "IncompleteSignature", "MissingAuthenticationToken",
}  # fmt: skip
_NO_MODEL = {"ResourceNotFoundException", "ValidationException", "ModelNotReadyException"}
_BUSY = {"ThrottlingException", "TooManyRequestsException", "ServiceQuotaExceededException"}


class BedrockEmbedder:
    """`model` in `region` as `profile` (empty: what the AWS configuration says).

    Raises `EmbeddingError`: `not-installed` without the SDK, `denied` for an unknown profile, `no-region` without one.
    """

    quick = False

    def __init__(
        self,
        model: str = "",
        *,
        dimensions: int = 0,
        region: str = "",
        profile: str = "",
        url: str = "",
        timeout: float = 10.0,
    ) -> None:
        self.model = model or MODEL
        # Only the second Titan model lets one choose.
        self.dimensions = (dimensions or DIMENSIONS) if "titan-embed-text-v2" in self.model else 0
        self.width = self.dimensions
        self.profile, self.region = profile, region
        self._client = self._connect(url, timeout)

    @property
    def name(self) -> str:
        """Such as `bedrock/amazon.titan-embed-text-v2:0@512`."""
        return f"bedrock/{self.model}" + (f"@{self.dimensions}" if self.dimensions else "")

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row a text. Raises `EmbeddingError`."""
        return of_content(texts, self.width, lambda full: self._all(full, "search_document"))

    def embed_query(self, text: str) -> Floats:
        """The vector of a query. Raises `EmbeddingError`."""
        row: Floats = of_content([text], self.width, lambda full: self._all(full, "search_query"))[0]
        return row

    def _all(self, texts: list[str], purpose: str) -> Floats:
        raw: list[object] = []
        if "cohere.embed" in self.model:
            for start in range(0, len(texts), _BATCH):
                body = {"texts": texts[start : start + _BATCH], "input_type": purpose, "truncate": "END"}
                raw += self._ask(body, "embeddings")
        else:
            chosen = {"dimensions": self.dimensions, "normalize": True} if self.dimensions else {}
            raw = [self._ask({"inputText": text, **chosen}, "embedding") for text in texts]
        return taken(raw, count=len(texts), by=self)

    def _ask(self, body: dict[str, Any], key: str) -> list[object]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = self._client.invoke_model(
                modelId=self.model, body=json.dumps(body), contentType="application/json"
            )
            found = json.loads(answer["body"].read())[key]
        except ClientError as error:
            raise self._refused(str(error.response.get("Error", {}).get("Code", ""))) from None
        except (ValueError, KeyError, TypeError):
            found = None
        except (BotoCoreError, OSError) as error:
            raise self._failed(error) from None
        return found if isinstance(found, list) else []

    def _connect(self, url: str, timeout: float) -> Any:
        try:
            import boto3
            from botocore.config import Config
            from botocore.exceptions import BotoCoreError
        except ImportError:
            raise EmbeddingError(
                "not-installed",
                "The AWS SDK that `bedrock` needs is not installed.",
                "install it with `pip install 'noforgetti[bedrock]'`, or use a provider that needs none",
            ) from None
        # One try: a turn does not wait for a second one, and the work beside it comes back by itself.
        config = Config(connect_timeout=_CONNECT, read_timeout=timeout, retries={"total_max_attempts": 1})
        try:
            session = boto3.Session(profile_name=self.profile or None, region_name=self.region or None)
            return session.client("bedrock-runtime", endpoint_url=url or None, config=config)
        except (BotoCoreError, ValueError) as error:
            raise self._failed(error) from None

    def _refused(self, code: str) -> EmbeddingError:
        said = f"Amazon Bedrock refused to embed with `{self.model}` ({code or 'no reason given'})."
        if code in _DENIED:
            return EmbeddingError("denied", said, self._credentials)
        if code in _NO_MODEL:
            return EmbeddingError(
                "no-model", said, "check `embedding.model`, `dimensions` and whether the region has it"
            )
        if code in _BUSY:
            return EmbeddingError("rate-limit", said, "wait, or raise the quota of the account")
        return EmbeddingError("failing", said, "try again later")

    def _failed(self, error: Exception) -> EmbeddingError:
        """What the SDK could not do; its own words may quote a request, so only the kind of failure is told."""
        kind = type(error).__name__
        if kind == "NoRegionError":
            return EmbeddingError(
                "no-region", "Amazon Bedrock needs a region, and none is set.", "set `embedding.region`"
            )
        if kind in ("ReadTimeoutError", "ReadTimeout"):
            return EmbeddingError("timeout", "Amazon Bedrock gave no answer in time.", "raise `embedding.timeout`")
        if any(word in kind for word in ("Credential", "Profile", "SSO", "Token", "Login", "ConfigNotFound")):
            return EmbeddingError(
                "denied", f"There are no AWS credentials that Amazon Bedrock accepts ({kind}).", self._credentials
            )
        if "Connect" in kind or "Endpoint" in kind or isinstance(error, OSError):
            return EmbeddingError(
                "unreachable", f"Amazon Bedrock cannot be reached ({kind}).", "check `embedding.region` and the network"
            )
        return EmbeddingError(
            "failing", f"Amazon Bedrock cannot be used ({kind}).", "check `embedding` in the settings"
        )

    @property
    def _credentials(self) -> str:
        login = f"aws sso login --profile {self.profile}" if self.profile else "aws sso login"
        return (
            f"refresh the credentials (with SSO: `{login}`), check `embedding.profile` and `region`, "
            "and that `bedrock:InvokeModel` is allowed for the model there"
        )
