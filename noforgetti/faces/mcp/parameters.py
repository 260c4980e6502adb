"""The arguments of a tool: what a client is told of them, and what of them is understood.

The schema is the strict side and the reading the forgiving one: `null` counts as left out, a number or a truth value
may be spelled as text, and one layer of quotes around a text is taken off (local models encode twice). An argument that
is unknown or cannot be meant is named; nothing is ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.faces.arguments import unwrapped
from noforgetti.faces.text import clip
from noforgetti.policy import secrecy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

LONGEST = 100_000  # code points of one argument; an entry has at most 6,000, a prompt that somebody pasted has more
_SURROGATE = re.compile("[\ud800-\udfff]")
_TRUE, _FALSE = ("true", "yes"), ("false", "no", "")


class BadArgument(NoForgettiError):
    """An argument of a call that cannot be meant."""

    kind = Kind.USER
    reason = "usage"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument. `most` bounds a number, `choices` a text; a text of `required` may not be blank."""

    name: str
    help: str
    kind: Literal["text", "flag", "number"] = "text"
    choices: tuple[str, ...] = ()
    required: bool = False
    most: int = 0
    default: int = 0


class Arguments:
    """What a call says: by name, with defaults for what it leaves out."""

    def __init__(self, said: Mapping[str, str | bool | int]) -> None:
        self._said = said

    def text(self, name: str) -> str:
        """A text; empty when it was left out."""
        return str(self._said.get(name, ""))

    def flag(self, name: str) -> bool:
        """True only when it was said."""
        return bool(self._said.get(name, False))

    def number(self, name: str) -> int:
        """A number, or its parameter's default."""
        return int(self._said[name])


def schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """What a client is told: a JSON Schema object without `anyOf` and without null, which strict modes dislike."""
    required = [one.name for one in parameters if one.required]
    return {
        "type": "object",
        "properties": {one.name: _property(one) for one in parameters},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _property(one: Parameter) -> dict[str, Any]:
    if one.kind == "flag":
        return {"type": "boolean", "description": one.help, "default": False}
    if one.kind == "number":
        return {"type": "integer", "description": one.help, "minimum": 1, "maximum": one.most, "default": one.default}
    return {"type": "string", "description": one.help, **({"enum": list(one.choices)} if one.choices else {})}


def read(parameters: Sequence[Parameter], given: Mapping[str, Any] | None) -> Arguments:
    """The arguments of one call. Raises `BadArgument`, which names the first that is off."""
    given = given or {}
    known = {one.name for one in parameters}
    for name in given:
        if name not in known:
            raise BadArgument(f"There is no argument `{shown(name)}`. Nothing was done.", hint=_one_of(known))
    said: dict[str, str | bool | int] = {one.name: one.default for one in parameters if one.kind == "number"}
    for one in parameters:
        value = given.get(one.name)
        if value is None:
            if one.required:
                raise BadArgument(f"`{one.name}` is missing. Nothing was done.", hint=f"give it: {one.help}")
            continue
        said[one.name] = _READERS[one.kind](one, value)
    return Arguments(said)


def _text(one: Parameter, value: Any) -> str:
    if not isinstance(value, str):
        raise BadArgument(f"`{one.name}` must be text. Nothing was done.", hint=f"give it: {one.help}")
    if len(value) > LONGEST:
        raise BadArgument(
            f"`{one.name}` has {len(value):,} characters; an argument may have {LONGEST:,}. Nothing was done.",
            hint="say it shorter",
        )
    if _SURROGATE.search(value):
        raise BadArgument(
            f"`{one.name}` holds half of a character (a lone surrogate). Nothing was done.",
            hint="send whole characters",
        )
    text = unwrapped(value)
    if one.required and not text.strip():
        raise BadArgument(f"`{one.name}` is empty. Nothing was done.", hint=f"give it: {one.help}")
    if one.choices and text and text not in one.choices:
        raise BadArgument(f"`{one.name}` is `{shown(text)}`. Nothing was done.", hint=_one_of(one.choices))
    return text


def _flag(one: Parameter, value: Any) -> bool:
    word = str(value).strip().lower() if isinstance(value, bool | str) else "?"
    if word not in (*_TRUE, *_FALSE):
        raise BadArgument(f"`{one.name}` must be true or false. Nothing was done.", hint="leave it out for false")
    return word in _TRUE


def _number(one: Parameter, value: Any) -> int:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value.strip()):
        value = int(value)
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value and value % 1 == 0
    if not whole or not 1 <= value <= one.most:
        raise BadArgument(
            f"`{one.name}` must be a whole number from 1 to {one.most}. Nothing was done.",
            hint=f"leave it out for {one.default}",
        )
    return int(value)


_READERS: dict[str, Callable[[Parameter, Any], str | bool | int]] = {"text": _text, "flag": _flag, "number": _number}


def _one_of(names: Iterable[str]) -> str:
    return "one of: " + ", ".join(sorted(names) if isinstance(names, set) else names)


def shown(value: str) -> str:
    """A user's value as a message may quote it: one line, short, and no secret."""
    return clip(secrecy.redact(_SURROGATE.sub("\ufffd", value[:200]))[0], 60)
