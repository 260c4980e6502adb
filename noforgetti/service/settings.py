"""Settings as values. Reading a file needs a validator (`settings_file`), imported only when there is a file."""

from __future__ import annotations

import os
from collections.abc import Mapping  # noqa: TC003 - the validator reads the annotations
from dataclasses import dataclass, field
from typing import Literal

from noforgetti.errors import Kind, NoForgettiError

Reviewer = Literal["auto", "host", "command", "http", "rules", "claude-code", "codex", "gemini", "qwen", "opencode"]
HOSTS = ("claude-code", "codex", "gemini", "qwen", "opencode")  # reviewers that are a host's own program
CHOICES = ("rules", "command", "http", *HOSTS)  # reviewers that need no running host: what a command may name
Provider = Literal["auto", "off", "static", "local", "ollama", "openai", "mistral", "openai-compatible", "bedrock"]


class BadSettings(NoForgettiError):
    """The settings file cannot be used. Nothing runs on half-understood settings."""

    kind = Kind.USER
    reason = "bad-settings"

    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            f"The settings file `{path}` cannot be used: {what}. Nothing was done.",
            hint="correct the file, or move it away to use the defaults",
        )


@dataclass(frozen=True, slots=True)
class HttpReviewer:
    """An OpenAI-compatible or Anthropic endpoint. The key is read from the environment variable `key_env`."""

    api: Literal["openai", "anthropic"] = "openai"
    url: str = ""
    model: str = ""
    key_env: str = ""


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """Automatic review. `timeout` is seconds for one model call (300: the reference systems' reviewer time limit)."""

    enabled: bool = True
    reviewer: Reviewer = "auto"
    command: tuple[str, ...] = ()
    timeout: int = 300
    http: HttpReviewer = HttpReviewer()


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """`hard` is characters of a branch; the goal and the target follow it. `entry` is characters of one entry."""

    hard: int = 6_000
    entry: int = 800


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Who makes vectors of texts. In the file also a plain string: the type alone. Empty values mean the type's own.

    `key_env` names the environment variable with the key, which is never stored. `dimensions` 0 is the model's own
    width. `path` is a folder with a model for `local`. `timeout` is seconds for one answer of a provider.
    """

    type: Provider = "auto"
    model: str = ""
    url: str = ""
    key_env: str = ""
    dimensions: int = 0
    region: str = ""
    profile: str = ""
    path: str = ""
    timeout: int = 10


@dataclass(frozen=True, slots=True)
class EnforcementSettings:
    """Rules of entries. `allowed`, where it names any, are the only commands that `run_after` may run, letter for
    letter; being named there is an approval."""

    enabled: bool = True
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a user may set; the defaults are the contract's. `unknown` are keys this version does not know.

    `lesson_categories` maps a word of a prompt to the tags of lessons it asks for. `recall_budget` is milliseconds that
    a turn waits for what fits its prompt: 250 lets a model on this machine and most behind a network answer, and
    nobody feels it before an answer that takes seconds. `hook_budget` is milliseconds that a host's hook may take to
    open a memory that changed; then the last report is told. `dream_hours` is the time between two dreams of a branch,
    the reference system's 3; 0 means that only a user starts one. `preferences` lets stated preferences be queued.
    `worker_interval` is seconds between two looks of `worker`: a minute is soon enough for a session that ended.
    """

    worktrees: Literal["separate", "shared"] = "separate"
    submodules: Literal["separate", "shared"] = "separate"
    injection: Literal["auto", "context", "system-prompt", "session-start"] = "auto"
    ephemeral: bool = True
    lessons: Literal["all", "selective"] = "all"
    lesson_categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    past_sessions: bool = True
    session_folders: tuple[str, ...] = ()
    recall_budget: int = 250
    hook_budget: int = 800
    telemetry: bool = True
    dream_hours: float = 3.0
    preferences: bool = True
    worker_interval: int = 60
    limits: LimitSettings = LimitSettings()
    review: ReviewSettings = ReviewSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    enforcement: EnforcementSettings = EnforcementSettings()
    unknown: tuple[str, ...] = ()


def load(path: str) -> Settings:
    """Read the settings; a file that is not there means the defaults. Raises `BadSettings`, naming key and value."""
    if not os.path.lexists(path):
        return Settings()
    from noforgetti.service.settings_file import read

    return read(path)
