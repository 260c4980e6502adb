"""Keys of facts: `pref.commit_style`. A key names one entry of a branch; remembering it again replaces that entry.

The first segment says what sort of fact it is. `pref.`, `project.`, `tool.` and `user.` are the reference system's; any
other is allowed and means nothing here.
"""

from __future__ import annotations

import re
import unicodedata

from noforgetti.model.commit import clip, one_line
from noforgetti.model.entry import Category, Scope
from noforgetti.policy import secrecy
from noforgetti.policy.verdict import Refusal, Rule

LONGEST = 100  # characters of a key, and two at least: the reference system's bounds
_KEY = re.compile(r"[a-z][a-z0-9._-]*[a-z0-9]")
_OFF = re.compile(r"[^a-z0-9._-]")
_CATEGORIES = {
    "pref": Category.PREFERENCE,
    "tool": Category.PREFERENCE,
    "user": Category.PREFERENCE,
    "project": Category.PATTERN,
}
SURE = 0.8  # confidence below which an automatic writer's fact is refused (the reference system's figure)


def key(name: str) -> str | Refusal:
    """The key in small letters, or why it is none: it names the character that is off, and quotes no secret."""
    if secrecy.find(name):
        return Refusal(Rule.SECRET, "The key looks like a secret. Nothing was written.", _HINT)
    found = unicodedata.normalize("NFC", name).strip().lower()
    if _KEY.fullmatch(found) and len(found) <= LONGEST and ".." not in found:
        return found
    shown = clip(one_line(found), 60)
    return Refusal(Rule.KEY, f"`{shown}` is no key: {_why(found)}. Nothing was written.", _HINT, shown)


_HINT = "write it as small letters, digits, `_`, `-` and dots between the parts, such as `pref.commit_style`"


def _why(name: str) -> str:
    if len(name) < 2:
        return "it has fewer than 2 characters"
    if len(name) > LONGEST:
        return f"it has {len(name):,} characters, more than {LONGEST}"
    if off := _OFF.search(name):
        return f"{clip(off[0], 4)!r} is at place {off.start() + 1}"
    if not "a" <= name[0] <= "z":
        return f"it begins with `{name[0]}`"
    return "two dots follow each other" if ".." in name else f"it ends in `{name[-1]}`"


def category(name: str) -> Category | None:
    """What sort of fact a key's first segment says; None when it says nothing."""
    return _CATEGORIES.get(name.partition(".")[0]) if "." in name else None


def scope(name: str) -> Scope:
    """Where a fact of that key lives: who the user is holds in every project."""
    return Scope.USER if name.startswith("user.") else Scope.PROJECT
