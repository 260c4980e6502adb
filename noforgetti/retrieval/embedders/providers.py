"""The providers behind an endpoint, and what is meant where settings name no address, model or key. Imports nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Api(StrEnum):
    """Which provider; its format, its address and its model where settings name none."""

    OLLAMA = "ollama"
    OPENAI = "openai"
    MISTRAL = "mistral"
    COMPATIBLE = "openai-compatible"


ADDRESS: Mapping[Api, str] = {
    Api.OLLAMA: "http://127.0.0.1:11434",
    Api.OPENAI: "https://api.openai.com/v1",
    Api.MISTRAL: "https://api.mistral.ai/v1",
}
MODEL: Mapping[Api, str] = {
    Api.OLLAMA: "nomic-embed-text",
    Api.OPENAI: "text-embedding-3-small",
    Api.MISTRAL: "mistral-embed",
}
KEY: Mapping[Api, str] = {Api.OPENAI: "OPENAI_API_KEY", Api.MISTRAL: "MISTRAL_API_KEY"}  # variables that hold it
