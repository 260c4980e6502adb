"""Names of memory branches, and ids of entries."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.entry import BranchName, EntryId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")  # the contract's form of a branch name
_DEVICES = frozenset(
    {
        "con",
        "prn",
        "aux",
        "nul",
        "conin$",
        "conout$",
        *(f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)),
    }
)
_SLUG_LIMIT = 40  # code points of the readable part of an id: long enough to recognise, short enough to type
_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"


class BadBranchName(NoForgettiError):
    """A name that no memory branch may have. The hint proposes one that it may."""

    kind = Kind.USER
    reason = "bad-branch-name"

    def __init__(self, name: str, why: str) -> None:
        shown = name if name.isprintable() else ascii(name)[1:-1]
        super().__init__(
            f"`{shown[:80]}` cannot be the name of a memory branch: {why}. Nothing was written.",
            hint=f"try `{proposed(name)}`",
        )
        self.name = name


def branch_name(name: str) -> BranchName:
    """The name, checked. Raises `BadBranchName`. Whether it collides with an existing branch is checked on creation."""
    if not name:
        raise BadBranchName(name, "it is empty")
    if _secret(name[:1000]):
        raise BadBranchName("[redacted]", "it looks like a secret")
    if name.upper() == "HEAD":
        raise BadBranchName(name, "git uses that word itself")
    if name.lower() in _DEVICES:
        raise BadBranchName(name, "it is a device name on Windows")
    if len(name) > 63:
        raise BadBranchName(name, f"it has {len(name)} characters, 63 are allowed")
    if not _NAME.fullmatch(name):
        raise BadBranchName(name, "letters A to Z, digits, `_` and `-` are allowed, and a letter or digit comes first")
    return BranchName(name)


def proposed(name: str) -> str:
    """A valid name that resembles the given one."""
    words = re.sub(r"[^A-Za-z0-9_-]+", "-", _ascii(name)).strip("-_")[:57].rstrip("-_")
    if not words or _secret(words):
        return "experiment"
    return f"{words}-1" if words.upper() == "HEAD" or words.lower() in _DEVICES else words


def entry_id(text: str, taken: Iterable[str], draw: Callable[[int], int]) -> EntryId:
    """A new id: a slug of the text and four random base-32 characters. `draw(n)` gives a random number below n."""
    used = taken if isinstance(taken, set) else set(taken)
    words = slug(text)
    while True:
        tail = "".join(_BASE32[draw(32)] for _ in range(4))
        new = f"{words or 'entry'}-{tail}"
        if new not in used:
            return EntryId(new)


def slug(text: str) -> str:
    """Lower-case words of ASCII letters and digits, joined by hyphens, at most 40 characters; empty when there are
    none."""
    words = "-".join(re.findall(r"[a-z0-9]+", _ascii(text.casefold())))
    return words if len(words) <= _SLUG_LIMIT else words[: _SLUG_LIMIT + 1].rpartition("-")[0] or words[:_SLUG_LIMIT]


def _secret(name: str) -> bool:
    from noforgetti.policy import secrecy

    return bool(secrecy.find(name))


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
