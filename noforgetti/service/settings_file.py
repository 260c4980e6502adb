"""The settings file, checked whole before anything is done with it. Imports pydantic."""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from noforgetti.service.settings import BadSettings, Settings

_BOUNDS = {
    # name: least and greatest value. Below 600 characters the contract's ratios leave no room for a whole entry.
    "limits.hard": (600, 1_000_000),
    "limits.entry": (80, 100_000),
    "review.timeout": (1, 3_600),
    "embedding.dimensions": (0, 8_192),  # 0: the model's own; no provider offers wider vectors
    "embedding.timeout": (1, 120),
    "recall_budget": (0, 2_000),  # milliseconds; the extension gives a whole turn 3 s
}


def read(path: str) -> Settings:
    """The settings in the file. Raises `BadSettings`."""
    try:
        data = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise BadSettings(path, error.strerror or str(error)) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSettings(path, f"it is not TOML ({error})") from error
    if isinstance(data.get("embedding"), str):
        data["embedding"] = {"type": data["embedding"]}
    unknown = tuple(_unknown(data, Settings, ""))
    data.pop("unknown", None)
    try:
        # By way of JSON, whose strict rules know that a table is an object and a list may be a tuple.
        settings = _ADAPTER.validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise BadSettings(path, f"`{where}` is `{first['input']}`; {first['msg'].lower()}") from error
    for name, (least, most) in _BOUNDS.items():
        value = _at(settings, name)
        if not least <= value <= most:
            raise BadSettings(path, f"`{name}` is `{value}`; it must be between {least:,} and {most:,}")
    if settings.embedding.url and not _address(settings.embedding.url):
        # The value is not shown: it may hold a password.
        raise BadSettings(path, "`embedding.url` is no address such as `http://127.0.0.1:8080/v1`, without user or key")
    return replace(settings, unknown=unknown)


def _address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url
    return plain and parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc


def _unknown(data: dict[str, Any], kind: Any, prefix: str) -> list[str]:
    """Dotted names of the keys this version does not know: a newer one may have written them, so they are no error."""
    known = {field.name: field.default for field in fields(kind) if field.name != "unknown"}
    found = [prefix + key for key in data if key not in known]
    for name, default in known.items():
        inner = data.get(name)
        if is_dataclass(default) and isinstance(inner, dict):
            found += _unknown(inner, type(default), f"{prefix}{name}.")
    return found


def _at(settings: Any, name: str) -> int:
    for part in name.split("."):
        settings = getattr(settings, part)
    value: int = settings
    return value


_ADAPTER: TypeAdapter[Settings] = TypeAdapter(with_config(ConfigDict(strict=True, extra="ignore"))(Settings))
