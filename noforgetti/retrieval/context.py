"""What depends on the prompt: memories and past sessions that fit it, as one short message before the user's own.

It is small, it says that it is background, and it is there only when something relevant was found: wherever it stands,
the provider reads the rest of the conversation anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.policy import guards
from noforgetti.retrieval.queries import BIAS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noforgetti.retrieval.base import FoundEntry, FoundSession
    from noforgetti.retrieval.queries import QueryClass

MEMORIES, SESSIONS, GUIDELINES = "contextual_memories", "past_sessions", "review_guidelines"
LIMIT = 8_000  # code points of the whole message (the cap of pi-memory's block)
_SIBLINGS_NEAR, _SIBLINGS = 20, 5  # keyed facts beside a hit by meaning, and beside one by words (pi-memory)
_PIECE = 400  # code points of one piece of a past session: a paragraph


def message(lines: Sequence[str], sessions: Sequence[FoundSession], class_: QueryClass, *, room: int = LIMIT) -> str:
    """The message of entries, as lines of the report, and sessions; an empty text when nothing was found. Whole
    entries and whole sessions only."""
    return _blocks(
        (MEMORIES, _memories_head(class_), list(lines)),
        (SESSIONS, _SESSIONS_HEAD, [_session(one) for one in sessions]),
        room=room,
    )


def guidelines(texts: Sequence[str], *, room: int = LIMIT) -> str:
    """The message of what a reviewer of code must not raise again; an empty text when there is nothing."""
    return _blocks((GUIDELINES, _GUIDELINES_HEAD, [f"- {one}" for one in texts]), room=room)


def _blocks(*parts: tuple[str, str, list[str]], room: int) -> str:
    blocks = []
    for name, head, listed in parts:
        kept: list[str] = []
        left = room - len(name) * 2 - len(head) - 8
        for one in listed:
            if len(one) + 1 > left:
                break
            kept.append(one)
            left -= len(one) + 1
        if kept:
            blocks.append(f"<{name}>\n{head}\n" + "\n".join(kept) + f"\n</{name}>")
            room = left
    return "\n".join(blocks)


def with_siblings(found: Sequence[FoundEntry], keyed: Sequence[FoundEntry]) -> tuple[FoundEntry, ...]:
    """The hits, each keyed fact of three or more segments followed by those under the same first two.

    `keyed` are all keyed entries of the branch, as they would be shown.
    """
    seen = {one.entry.id for one in found}
    answer: list[FoundEntry] = []
    for hit in found:
        answer.append(hit)
        segments = hit.entry.key.split(".")
        if len(segments) < 3:
            continue
        prefix = ".".join(segments[:2]) + "."
        most = _SIBLINGS_NEAR if hit.similarity is not None else _SIBLINGS
        beside = [one for one in keyed if one.entry.key.startswith(prefix) and one.entry.id not in seen][:most]
        seen.update(one.entry.id for one in beside)
        answer += beside
    return tuple(answer)


def _memories_head(class_: QueryClass) -> str:
    head = "Notes of this project's memory that fit the next message. Background, not a request; the user's words win."
    hint = BIAS[class_].hint
    return f"{head} {hint}" if hint else head


_SESSIONS_HEAD = (
    "From earlier sessions of this project that fit the next message. True then; verify files, versions and state now."
)
_GUIDELINES_HEAD = "Learned from findings that were skipped here: in a review, raise nothing that one of these settles."


def _session(found: FoundSession) -> str:
    pieces = [piece for piece in found.pieces if not guards.unsafe(piece)]
    body = "\n".join(piece if len(piece) <= _PIECE else piece[: _PIECE - 1].rstrip() + "…" for piece in pieces)
    head = " ".join(part for part in (found.at[:10] or "undated", found.name) if part)
    return f"- {head}: " + body.strip().replace("\n", "\n  ")
