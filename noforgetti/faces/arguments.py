"""What the agent's tools are given and what they answer. Models wrap and mistype; one layer of that is forgiven."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What the model reads. `error` makes the host mark the call as failed."""

    text: str
    error: bool = False
    details: dict[str, Any] = field(default_factory=dict)


def misused(message: str) -> ToolAnswer:
    """An argument is missing or off."""
    return ToolAnswer(message, error=True, details={"outcome": "refused", "reason": message})


def word(arguments: dict[str, Any], *names: str) -> str | None:
    """The first of these arguments that is a text, out of one layer of quotes: local models encode strings twice."""
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            return unwrapped(value)
    return None


def number(arguments: dict[str, Any], name: str, default: int, most: int) -> int:
    """A whole number between 1 and `most`; anything else is the default."""
    value = arguments.get(name)
    if isinstance(value, str):
        value = int(value) if value.strip().isdecimal() and len(value) < 10 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or not value >= 1:
        return default
    return int(min(value, most))


def unwrapped(value: str) -> str:
    """The text without one layer of `"…"` (read as JSON) or `'…'` around the whole."""
    inner = value.strip()
    if len(inner) >= 2 and inner[0] == inner[-1] == '"':
        try:
            read = json.loads(inner)
        except ValueError:
            return value
        return read if isinstance(read, str) else value
    if len(inner) >= 2 and inner[0] == inner[-1] == "'" and "'" not in inner[1:-1]:
        return inner[1:-1]
    return value
