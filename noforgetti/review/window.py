"""The evidence of one review: the oldest that is not reviewed yet, sanitised, redacted, bounded.

Guaranteed: an item is in a window only if it was said while the memory branch was selected; whatever is in
a window has no control characters, no lone surrogates, one normal form, and went through `redact` as a
whole, so that a secret is never cut in half and half of it shown; building again from `last` ends after
finitely many windows that together hold every text exactly once. A turn longer than the window is split,
never skipped. Not guaranteed: that the host's text is true or friendly. It is data."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from noforgetti.model.evidence import Item, Position, Role, Section, Transcript, Window

if TYPE_CHECKING:
    from noforgetti.model.entry import BranchName

TURNS = 12  # user turns; the contract's review window, as is the next number (code points of sanitised text)
CHARACTERS = 32_000
_NEAR = 5  # a cut looks for a line, sentence or word end in the last fifth of the room
_CLUSTER = 64  # code points looked back for the start of a joined emoji or accented letter; real ones have under 20

Redact = Callable[[str], tuple[str, int]]


def build(
    transcript: Transcript,
    position: Position | None,
    branch: BranchName,
    *,
    redact: Redact,
    turns: int = TURNS,
    characters: int = CHARACTERS,
) -> Window | None:
    """The next window of the evidence that belongs to `branch`, or None when all of it is reviewed.

    `position` is where the last review of this session on this branch ended (None: nothing reviewed). One
    that is not on the path any more, because the session was edited, starts at the last `turns` user turns.
    The transcript must hold the whole path, not only what follows the position. `redact` returns the text
    without secrets and how many there were."""
    start, offset = _resolve(transcript, position, branch, turns)
    pieces = _pieces(transcript.items[start:], offset, branch, redact)
    taken = tuple(_take(pieces, turns, characters))
    if not taken:
        return None
    sections = tuple(
        Section(f"e{number}", piece.item.role, piece.text, piece.item.id, piece.item.at)
        for number, piece in enumerate(taken, 1)
    )
    first, last = taken[0], taken[-1]
    return Window(
        session=transcript.session,
        sections=sections,
        first=Position(first.item.id, first.start),
        last=Position(last.item.id, 0 if last.complete else last.end),
        turns=sum(section.role is Role.USER for section in sections),
        characters=sum(len(section.text) for section in sections),
        redactions=sum(piece.redactions for piece in taken if piece.start == 0),
    )


def until(window: Window, label: str) -> Window:
    """The window cut after the section `label`, for a reviewer that stopped there: the rest waits for the
    next one. Raises KeyError for a label that is not in the window."""
    labels = [section.label for section in window.sections]
    if label not in labels:
        raise KeyError(label)
    kept = window.sections[: labels.index(label) + 1]
    if len(kept) == len(window.sections):
        return window
    return replace(
        window,
        sections=kept,
        last=Position(kept[-1].item),
        turns=sum(section.role is Role.USER for section in kept),
        characters=sum(len(section.text) for section in kept),
    )


def sanitise(text: str) -> str:
    """The text as a reviewer may see it: NFC, LF, nothing invisible but joiners inside emoji and words, no
    controls, no lone surrogates (U+FFFD in their place). Idempotent."""
    text = _LINE_ENDS.sub("\n", text)
    text = _HIDDEN.sub("", _CONTROL.sub("\ufffd", text))
    return unicodedata.normalize("NFC", _STRAY_JOINER.sub("", text))


_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# Zero-width marks, bidi overrides and isolates, invisible operators, byte-order marks, tag characters: a
# reader sees nothing where a model reads something. U+200C and U+200D are letters' neighbours in many
# scripts and join emoji.
_HIDDEN = re.compile("[\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
_STRAY_JOINER = re.compile("(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f])")


@dataclass(frozen=True, slots=True)
class _Piece:
    item: Item
    text: str
    start: int
    complete: bool
    redactions: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def head(self, room: int) -> _Piece:
        """What of it fits into `room` characters, at least one."""
        if len(self.text) <= room:
            return self
        return replace(self, text=self.text[: cut(self.text, room)], complete=False)


def _resolve(transcript: Transcript, position: Position | None, branch: BranchName, turns: int) -> tuple[int, int]:
    if position is None:
        return 0, 0
    index = transcript.place(position.item)
    if index is not None:
        return (index, position.offset) if position.offset else (index + 1, 0)
    items = transcript.items
    asked = [i for i, item in enumerate(items) if item.role is Role.USER and item.branch == branch]
    return (asked[-turns:][0] if asked else len(items)), 0


def _pieces(items: Sequence[Item], offset: int, branch: BranchName, redact: Redact) -> Iterator[_Piece]:
    for item in items:
        start, offset = offset, 0
        if item.branch != branch or not item.text:
            continue
        text, redactions = (_clean_long if len(item.text) > CHARACTERS else _clean)(item.text, redact)
        if text[start:].strip():
            yield _Piece(item, text[start:], start, complete=True, redactions=redactions)


def _clean(text: str, redact: Redact) -> tuple[str, int]:
    return redact(sanitise(text))


_clean_long = lru_cache(maxsize=2)(_clean)  # a text of many windows is cleaned as a whole once, not for each of them


def _take(pieces: Iterator[_Piece], turns: int, characters: int) -> Iterator[_Piece]:
    """Whole turns while they fit; only the first may be cut, where it alone is more than the window."""
    room, used = max(1, characters), 0
    for number, turn in enumerate(_turns(pieces, characters)):
        used += turn[0].item.role is Role.USER
        size = sum(len(piece.text) for piece in turn)
        if used > turns or (size > room and number):
            return
        for piece in turn:
            if room == 0:
                return
            head = piece.head(room)
            yield head
            if not head.complete:
                return
            room -= len(head.text)


def _turns(pieces: Iterator[_Piece], characters: int) -> Iterator[list[_Piece]]:
    """The pieces by turn; what comes before the first user message is a group of its own. A turn that is longer than
    `characters` is the last one, read only so far: no window takes more of it."""
    turn: list[_Piece] = []
    size = 0
    for piece in pieces:
        if piece.item.role is Role.USER and turn:
            yield turn
            turn, size = [], 0
        turn.append(piece)
        size += len(piece.text)
        if size > max(1, characters):
            break
    if turn:
        yield turn


def cut(text: str, room: int) -> int:
    """Where to end a piece of at most `room` (at least 1) characters: after a line, a sentence or a word
    near the end of the room, else before a whole joined character; inside one only when it is longer than
    the room."""
    if len(text) <= room:
        return len(text)
    near = room - room // _NEAR
    for mark in ("\n", ". ", "。", " "):
        found = text.rfind(mark, near, room)
        if found > 0:
            return found + len(mark)
    at = room
    while at > max(0, room - _CLUSTER) and _joined(text, at):
        at -= 1
    return at if at > 0 and not _joined(text, at) else room


def _joined(text: str, at: int) -> bool:
    """True when a cut before `text[at]` would split what is shown as one character."""
    before, after = text[at - 1], text[at]
    if unicodedata.combining(after) or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    if after == "\u200d" or before == "\u200d" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if not (_regional(before) and _regional(after)):
        return False
    run = 0
    while run < min(at, _CLUSTER) and _regional(text[at - 1 - run]):
        run += 1
    return run % 2 == 1


def _regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
