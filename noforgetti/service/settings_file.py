"""The settings file, checked whole before anything is done with it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec

from noforgetti.service.settings import BadSettings, Settings

_BOUNDS = {
    # name: least and greatest value. Below 600 characters the contract's ratios leave no room for a whole entry.
    "limits.hard": (600, 1_000_000),
    "limits.entry": (80, 100_000),
    "review.timeout": (1, 3_600),
    "embedding.dimensions": (0, 8_192),  # 0: the model's own; no provider offers wider vectors
    "embedding.timeout": (1, 120),
    "dream_hours": (0, 24),  # hours; the reference system's bounds are 0.5 and 24, and 0 is off
    "worker_interval": (1, 86_400),  # seconds
    "hook_budget": (50, 60_000),  # milliseconds
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
        settings = msgspec.convert(data, Settings)
    except msgspec.ValidationError as error:
        raise BadSettings(path, _told(str(error), data)) from error
    for name, (least, most) in _BOUNDS.items():
        value = _at(settings, name)
        if not least <= value <= most:
            raise BadSettings(path, f"`{name}` is `{value}`; it must be between {least:,} and {most:,}")
    if 0 < settings.dream_hours < 0.5:
        raise BadSettings(path, f"`dream_hours` is `{settings.dream_hours}`; it must be 0 (off), or between 0.5 and 24")
    for name in ("embedding.key_env", "review.http.key_env"):
        if not re.fullmatch(r"(?:[A-Za-z_][A-Za-z0-9_]*)?", str(_at(settings, name))):
            # The value is not shown: whoever mistook the key for the variable's name wrote a secret.
            raise BadSettings(path, f"`{name}` is not the name of an environment variable")
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


def _at(settings: Any, name: str) -> Any:
    for part in name.split("."):
        settings = getattr(settings, part)
    return settings


_TYPES = {  # the validator's names of types, as TOML has them
    "object": "a table",
    "array": "a list",
    "str": "a text",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
}


def _told(message: str, data: Any) -> str:
    """The validator's sentence with the key as a user writes it, the value, and the words that it could have been."""
    expected, _, at = message.partition(" - at `$")
    names: list[str] = []
    value, kind = data, cast(Any, Settings)
    for step in re.findall(r"\.?([^.\[\]`]+)", at.replace("[...]", ".*")):
        name = _odd(value) if step == "*" else step  # `*`: a key of the user's own
        value = value[int(name)] if isinstance(value, list) else value[name]
        kind = get_type_hints(kind).get(name) if is_dataclass(kind) else None
        names.append(name)
    words = get_args(kind) if get_origin(kind) is Literal else ()
    for word, plain in _TYPES.items():
        expected = expected.replace(f"`{word}`", plain)
    listed = ", ".join(f"`{one}`" for one in words)
    told = f"it must be one of {listed}" if words else expected[:1].lower() + expected[1:]
    return f"`{'.'.join(names)}` is `{value}`; {told}"


def _odd(table: dict[str, Any]) -> str:
    """The key whose value is no list of texts."""
    return next(
        key for key, one in table.items() if not isinstance(one, list) or any(not isinstance(part, str) for part in one)
    )
