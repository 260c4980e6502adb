"""Settings: one optional `config.toml`, checked whole before anything is done with it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from noforgetti.errors import Kind, NoForgettiError

Reviewer = Literal["auto", "host", "command", "http", "rules"]


class BadSettings(NoForgettiError):
    """The settings file cannot be used. Nothing runs on half-understood settings."""

    kind = Kind.USER
    reason = "bad-settings"

    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            f"The settings file `{path}` cannot be used: {what}. Nothing was done.",
            hint="correct the file, or move it away to use the defaults",
        )


class _Model(BaseModel):
    # Unknown keys are kept apart and reported: a setting of a newer version must not stop an older one.
    model_config = ConfigDict(extra="allow", frozen=True, strict=True)


class HttpReviewer(_Model):
    """An OpenAI-compatible or Anthropic endpoint. The key is read from the environment variable `key_env`."""

    api: Literal["openai", "anthropic"] = "openai"
    url: str = ""
    model: str = ""
    key_env: str = ""


class ReviewSettings(_Model):
    """Automatic review. `timeout` is seconds for one model call (300: the reference systems' reviewer time limit)."""

    enabled: bool = True
    reviewer: Reviewer = "auto"
    command: tuple[str, ...] = Field(default=(), strict=False)
    timeout: Annotated[int, Field(ge=1, le=3600)] = 300
    http: HttpReviewer = HttpReviewer()


class LimitSettings(_Model):
    """`hard` is characters of a branch; the goal and the target follow it. `entry` is characters of one entry."""

    hard: Annotated[int, Field(ge=600, le=1_000_000)] = 6_000
    entry: Annotated[int, Field(ge=80, le=100_000)] = 800


class Settings(_Model):
    """Everything a user may set; the defaults are the contract's."""

    worktrees: Literal["separate", "shared"] = "separate"
    submodules: Literal["separate", "shared"] = "separate"
    injection: Literal["auto", "context", "system-prompt", "session-start"] = "auto"
    ephemeral: bool = True
    limits: LimitSettings = LimitSettings()
    review: ReviewSettings = ReviewSettings()

    def unknown(self) -> tuple[str, ...]:
        """Dotted names of the keys this version does not know, for a warning."""
        return tuple(_unknown(self, ""))


def _unknown(model: BaseModel, prefix: str) -> list[str]:
    found = [prefix + key for key in model.model_extra or {}]
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            found += _unknown(value, f"{prefix}{name}.")
    return found


def load(path: str) -> Settings:
    """Read the settings; a file that is not there means the defaults. Raises `BadSettings`, naming key and value."""
    try:
        data = Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except OSError as error:
        raise BadSettings(path, error.strerror or str(error)) from error
    try:
        return Settings.model_validate(tomllib.loads(data.decode("utf-8-sig")))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSettings(path, f"it is not TOML ({error})") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadSettings(path, f"`{where}` is `{first['input']}`; {first['msg'].lower()}") from error
