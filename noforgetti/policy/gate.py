"""The contradiction gate: what a text that contradicts an entry is answered. A conflict is a decision of the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.model.commit import clip, one_line
from noforgetti.policy.verdict import Refusal, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noforgetti.policy.beside import Contradicted

_SHOWN = 160  # code points of a text that a refusal shows


def conflict(found: Sequence[Contradicted]) -> Refusal:
    """Why a text is refused beside the entries it contradicts: both texts, and who decides. Pinned ones never yield."""
    first = next((one for one in found if one.entry.pinned), found[0])
    entry, more = first.entry, len(found) - 1
    others = f" and {more} more" if more else ""
    message = (
        f"The text contradicts entry `{entry.id}`{others}: it says `{_short(first.clash.new)}`, "
        f"the entry says `{_short(entry.text)}`. Nothing was written."
    )
    if entry.pinned:
        hint = (
            f"ask the user; the entry is pinned, so only the user changes it, with `noforgetti replace {entry.id} …` "
            f"or `noforgetti remove {entry.id}`"
        )
    else:
        hint = (
            "ask the user which of the two holds; when the user confirms that the rule changed, write it again with "
            "`--override` (in a tool: `overrideConflicts: true`)"
        )
    return Refusal(Rule.CONTRADICTION, message, hint, _short(first.clash.new))


def _short(text: str) -> str:
    return clip(one_line(text), _SHOWN)
