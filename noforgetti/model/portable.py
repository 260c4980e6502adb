"""An entry as a plain JSON object, and back: the form of our own exports.

`value(entry)` says everything the entry's file says; what has its default is left out, so that an older reader meets as
few unknown keys as possible. `entry(value(e)) == e` for every entry that a repository can hold.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from noforgetti.model.entry import Category, Cue, Entry, EntryId, Importance, Scope, Writer

if TYPE_CHECKING:
    from enum import StrEnum

FORMAT = "noforgetti/export"  # the value of `format` in every export of ours
VERSION = 1  # raised when an older reader would misread an export
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_ALWAYS = ("id", "category", "text", "importance")
_CHOICES: dict[str, type[StrEnum]] = {
    "category": Category,
    "importance": Importance,
    "cue": Cue,
    "scope": Scope,
    "writer": Writer,
}
_FIELDS = {one.name: one.default for one in fields(Entry)}


def value(entry: Entry) -> dict[str, Any]:
    """The entry as JSON: `id`, `category`, `text` and `importance` always, the rest where it is not the default."""
    found: dict[str, Any] = {name: getattr(entry, name) for name in _ALWAYS}
    for name, default in _FIELDS.items():
        if name not in found and (one := getattr(entry, name)) != default:
            found[name] = list(one) if isinstance(one, tuple) else one
    return found


def entry(read: Any) -> Entry | None:
    """The entry that an object stands for; None when it has no id or text. A value of another type counts as absent:
    what is read back is always an entry that a repository can hold."""
    if not isinstance(read, dict) or not isinstance(read.get("text"), str) or not read["text"].strip():
        return None
    if not isinstance(read.get("id"), str) or not _ID.fullmatch(read["id"]):
        return None
    found: dict[str, Any] = {}
    for name, default in _FIELDS.items():
        one = _typed(name, read.get(name), default)
        if one is not None:
            found[name] = one
    return Entry(**{**found, "id": EntryId(read["id"])})


def unknown(read: dict[str, Any], beside: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of an object that no field and none of `beside` stands for, and those whose value no field can hold."""
    return tuple(key for key in read if key not in beside and not _known(key, read[key]))


def _known(key: str, value: Any) -> bool:
    return key in _FIELDS and (value is None or _typed(key, value, _FIELDS[key]) is not None)


def _typed(name: str, one: Any, default: Any) -> Any:
    """The value as the field's type, or None."""
    if name in _CHOICES:
        return _CHOICES[name](one) if isinstance(one, str) and one in set(_CHOICES[name]) else None
    if name == "confidence":
        number = isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one <= 1
        return float(one) if number else None
    if isinstance(default, tuple):
        texts = isinstance(one, list) and all(isinstance(part, str) and part for part in one)
        lines = name != "extra" or (texts and not any("\n" in part or part == "---" for part in one))
        return tuple(one) if texts and lines else None
    if isinstance(default, bool):
        return one if isinstance(one, bool) else None
    if not isinstance(one, str) or (name == "rule" and not _object(one)):
        return None
    return one


def _object(text: str) -> bool:
    """Whether a rule is one JSON object on one line."""
    try:
        return "\n" not in text and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
