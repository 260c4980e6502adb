"""What the words of a user or agent mean: which entry `OLD` names.

An id, else the whole text of an entry, else a unique piece of one, else a unique beginning of an id; a key names its
entry too. Words that name none or several are refused with what they could have meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.model.commit import clip, one_line
from noforgetti.model.entry import Damaged
from noforgetti.policy.text import normalise
from noforgetti.policy.verdict import Refusal, Rule

if TYPE_CHECKING:
    from noforgetti.model.entry import Snapshot, Stored

_LISTED = 8  # entries that a refusal lists as what `OLD` could have meant


def find(now: Snapshot, old: str) -> Stored | Damaged | Refusal:
    """What `old` means: an id or key, else the whole text of an entry, else a unique piece of one, else the beginning
    of an id."""
    wanted = normalise(old)
    if not wanted:
        return Refusal(
            Rule.EMPTY,
            "The old text is empty, so it names no entry. Nothing was written.",
            "give an id or a piece of the entry's text",
        )
    for stored in now.entries:
        if stored.entry.id == wanted:
            return stored
    for stored in now.entries:
        if stored.entry.key == wanted:
            return stored
    for damaged in now.damaged:
        if wanted in (damaged.path, damaged.path.rpartition("/")[2].removesuffix(".md")):
            return damaged
    whole = [stored for stored in now.entries if stored.entry.text == wanted]
    within = whole or [stored for stored in now.entries if wanted in stored.entry.text]
    found = within or [stored for stored in now.entries if stored.entry.id.startswith(wanted) and len(wanted) > 2]
    if len(found) == 1:
        return found[0]
    shown = clip(one_line(wanted), 60)
    if not found:
        near = _near(now, wanted)
        listed = "nearest: " + "; ".join(near) if near else "list the entries with `noforgetti show`"
        return Refusal(Rule.UNKNOWN_ENTRY, f"No entry matches `{shown}`. Nothing was written.", listed)
    listed = "; ".join(f"`{one.entry.id}` {clip(one_line(one.entry.text), 60)}" for one in found[:_LISTED])
    more = f"; and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return Refusal(
        Rule.AMBIGUOUS,
        f"`{shown}` matches {len(found)} entries. Nothing was written.",
        f"use an id or more of the text: {listed}{more}",
    )


def meant(now: Snapshot, old: str) -> Stored | Refusal:
    """The readable entry that `old` means, or why there is none."""
    found = find(now, old)
    return damaged(found) if isinstance(found, Damaged) else found


def _near(now: Snapshot, wanted: str) -> list[str]:
    from difflib import SequenceMatcher

    words = set(wanted.casefold().split())
    scored: list[tuple[float, str]] = []
    for entry in list(now)[:500]:
        shared = len(words & set(entry.text.casefold().split())) / (len(words) or 1)
        close = SequenceMatcher(None, wanted[:200].casefold(), entry.text[:200].casefold()).quick_ratio()
        if shared >= 0.5 or close >= 0.7:  # half of the words, or mostly the same letters: worth showing
            scored.append((shared + close, f"`{entry.id}` {clip(one_line(entry.text), 60)}"))
    return [line for _, line in sorted(scored, reverse=True)[:3]]


def damaged(found: Damaged) -> Refusal:
    """Why an entry that cannot be read cannot be changed."""
    return Refusal(
        Rule.FORMAT,
        f"The entry file `{found.path}` {found.reason}, so it cannot be reworded. Nothing was written.",
        "mend it with `noforgetti doctor --fix`, or remove it",
    )
