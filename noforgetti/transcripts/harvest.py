"""What a session is remembered by: the host's own summaries, or, while it has none, the user's words.

A session file is followed, not read again: `read` takes what was kept of it last time and looks at the bytes after the
offset. That is right for a file that only grew, which is judged by its identity, its size and the bytes just before the
offset; any other file is read from its beginning and said to be `anew`. A line without its end is left for the next
time. Nothing in a file raises: what cannot be read is a sentence in `Kept.trouble`.

Nothing that was put into a session from outside is harvested: system and tool messages, messages of extensions (ours
among them), and blocks inside a user's message that a host or we wrote (`base.own_words`). Text is bounded here, not
redacted: that is for whoever keeps it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from itertools import accumulate
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from noforgetti.model.evidence import Role
from noforgetti.transcripts.base import (
    FORMATS,
    LINE_BYTES,
    TranscriptError,
    encodable,
    objects,
    own_words,
    recognise,
    safe_id,
    safe_name,
    text_of,
    when,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from noforgetti.model.evidence import Transcript
    from noforgetti.transcripts.base import Format

SLICE = 1024 * 1024  # bytes read of a file at once: some 10 ms, so that a budget of time can be kept
WHOLE = 64 * 1024 * 1024  # a larger file of a format without a harvester is not read
SAID = 8_000  # code points of one user message that are looked at; what is longer is a pasted log or file
SUMMARY = 60_000  # of one summary; Pi's own have 2,000 to 6,000
LEAST, MOST = 200, 1_200  # code points of one passage
_TAIL = 256  # bytes before the offset that must still be there when a file grew
_HEAD = 64 * 1024  # bytes that tell a format

Trivial = Callable[[str], bool]
Known = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing to remember: a summary, or what the user said. Without a text: the piece of this id is taken back."""

    id: str
    role: Role
    text: str
    at: str = ""  # RFC 3339 UTC, or empty


@dataclass(slots=True)
class Seen:
    """What has been seen of a session so far, all a harvester needs to go on. Plain values, kept as JSON."""

    session: str = ""
    cwd: str = ""
    started: str = ""
    parent: str = ""  # the file it was forked from
    name: str = ""
    forked: bool = False  # the parent's file is read by itself: what was copied from it is not said here
    summarised: bool = False  # it has a summary, so the user's words count no more
    lines: int = 0
    broken: int = 0
    failed: str = ""  # the answer just before that did not complete
    overflowed: bool = False  # it failed because the context was full
    omitted: bool = False  # the host took it out of the context, to try again
    aside: bool = False  # a subagent's session: nothing in it is remembered


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a file between two readings. `complete` unless a slice was left for the next time."""

    format: str
    stamp: tuple[int, int, int, int]  # device, inode, size, mtime in ns
    offset: int = 0
    tail: str = ""
    complete: bool = True
    trouble: str = ""
    seen: Seen = field(default_factory=Seen)

    def to_json(self) -> dict[str, Any]:
        """As plain values; of `seen` only what is not as at the beginning."""
        return asdict(self) | {"seen": {key: value for key, value in asdict(self.seen).items() if value}}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Kept | None:
        """From plain values; None when they are something else."""
        try:
            device, inode, size, mtime = (int(one) for one in value["stamp"])
            rest = {key: value[key] for key in ("format", "offset", "tail", "complete", "trouble")}
            return cls(stamp=(device, inode, size, mtime), seen=Seen(**value["seen"]), **rest)
        except (KeyError, TypeError, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class Reading:
    """What one look at a file brought. `anew`: forget what was harvested from it before."""

    kept: Kept
    pieces: tuple[Piece, ...] = ()
    anew: bool = False
    bytes_read: int = 0


class Harvester(Protocol):
    """Turns lines of a host's session file, appended to those it has seen, into pieces. Total, and updates `seen`."""

    def __call__(self, lines: Iterator[bytes], seen: Seen, *, known: Known) -> Iterator[Piece]: ...


# Formats whose files are followed line by line; one of `base.FORMATS` that is not here is read as a whole.
HARVESTERS = {
    "pi": "noforgetti.transcripts.harvest:pi",
    "claude-code": "noforgetti.transcripts.harvesters:of_claude_code",
    "codex": "noforgetti.transcripts.harvesters:of_codex",
    "qwen": "noforgetti.transcripts.harvesters:of_qwen",
}


def wordless(text: str) -> bool:
    """Whether a text has fewer than three letters or digits of any script."""
    return sum(character.isalnum() for character in text[:100]) < 3


def read(
    path: str,
    kept: Kept | None = None,
    *,
    kind: str = "",
    known: Known = lambda _: False,
    trivial: Trivial = wordless,
    most: int = SLICE,
    opened: Callable[[str], BinaryIO] | None = None,
) -> Reading:
    """Look at a session file, `most` bytes at a time; without `kind` (a format's name) its first lines decide.

    `known` answers whether another session file is read by itself (a fork's parent), `trivial` whether a user's message
    says nothing. Never raises.
    """
    if kind and (found := next((one for one in FORMATS if one.name == kind), None)) and found.opens:
        return _opened(path, kept, found, trivial)
    try:
        with (opened or _open)(path) as file:
            return _read(file, path, kept, kind=kind, known=known, trivial=trivial, most=most)
    except (OSError, ValueError) as error:  # ValueError: a path that no system accepts
        why = (isinstance(error, OSError) and error.strerror) or str(error)
        return _unread(kept, kind, f"`{path}` cannot be read: {why}")


def _open(path: str) -> BinaryIO:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # opening a pipe would wait for its writer
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is no file")
    return os.fdopen(descriptor, "rb")


def _unread(kept: Kept | None, kind: str, trouble: str) -> Reading:
    return Reading(Kept(kind, (0, 0, 0, 0), trouble=trouble), anew=kept is not None)


def _read(
    file: BinaryIO, path: str, kept: Kept | None, *, kind: str, known: Known, trivial: Trivial, most: int
) -> Reading:
    stamp = stamp_of(os.fstat(file.fileno()))
    anew = kept is not None and not _continues(file, kept, stamp)
    if kept is None or anew:
        file.seek(0)
        kind = kind or recognise(file.read(_HEAD)) or _recognised_late(file)
        if not kind:
            trouble = f"`{path}` is of no known format" if stamp[2] else ""
            return Reading(Kept("", stamp, trouble=trouble), anew=anew)
        kept = Kept(kind, stamp, seen=Seen(session=_named(path)))
    if kept.format not in HARVESTERS:
        return _whole(file, path, kept, trivial, anew=anew or kept.offset > 0)
    reading = _follow(file, kept, stamp, known=known, most=most)
    pieces = tuple(one for one in reading.pieces if not one.text or one.role is Role.SUMMARY or not trivial(one.text))
    return Reading(reading.kept, pieces, anew=anew, bytes_read=reading.bytes_read)


def _recognised_late(file: BinaryIO) -> str:
    """The format of a file whose first line is longer than a head, such as a whole conversation in one JSON text."""
    file.seek(0)
    return recognise(file.read(WHOLE)) if os.fstat(file.fileno()).st_size > _HEAD else ""


def stamp_of(found: os.stat_result) -> tuple[int, int, int, int]:
    """What tells a file that changed from one that did not."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _named(path: str) -> str:
    """The session of a file whose header does not say: Pi's file names are `<time>_<session>.jsonl`."""
    stem = PurePath(path).stem
    return safe_name(stem.partition("_")[2] or stem)


def _continues(file: BinaryIO, kept: Kept, stamp: tuple[int, int, int, int]) -> bool:
    """Whether the file only grew since. One of the same or a smaller size that was written to is another text."""
    if kept.trouble or not kept.format or kept.stamp[:2] != stamp[:2] or stamp[2] < kept.offset:
        return False
    if stamp[2] <= kept.stamp[2] and stamp != kept.stamp:
        return False
    file.seek(max(0, kept.offset - _TAIL))
    return _digest(file.read(min(kept.offset, _TAIL))) == kept.tail


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _follow(file: BinaryIO, kept: Kept, stamp: tuple[int, int, int, int], *, known: Known, most: int) -> Reading:
    seen = replace(kept.seen)
    lines = _Lines(file, kept.offset, most)
    module, _, function = HARVESTERS[kept.format].partition(":")
    harvester: Harvester = getattr(import_module(module), function)
    pieces = tuple(harvester(iter(lines), seen, known=known))
    seen.broken += lines.endless
    file.seek(max(0, lines.offset - _TAIL))
    tail = _digest(file.read(min(lines.offset, _TAIL)))
    now = Kept(kept.format, stamp, lines.offset, tail, complete=not lines.more, seen=seen)
    return Reading(now, pieces, bytes_read=lines.offset - kept.offset)


class _Lines:
    """The complete lines from an offset on, until `most` bytes were read."""

    def __init__(self, file: BinaryIO, offset: int, most: int) -> None:
        self.file, self.offset, self.most = file, offset, most
        self.more, self.endless = False, 0

    def __iter__(self) -> Iterator[bytes]:
        end = self.offset + self.most
        self.file.seek(self.offset)
        while line := self.file.readline(LINE_BYTES):
            if len(line) == LINE_BYTES and not line.endswith(b"\n"):
                skipped = self._skip(len(line))
                if not skipped:
                    return
                self.offset += skipped
                self.endless += 1
            elif not line.endswith(b"\n") and not any(objects(line)):
                return  # the host is writing it right now
            else:
                self.offset += len(line)
                yield line
            if self.offset >= end:
                self.more = bool(self.file.read(1))
                return

    def _skip(self, length: int) -> int:
        """The length of a line too long to read, 0 while it has no end."""
        while part := self.file.readline(1024 * 1024):
            length += len(part)
            if part.endswith(b"\n"):
                return length
        return 0


def _whole(file: BinaryIO, path: str, kept: Kept, trivial: Trivial, *, anew: bool) -> Reading:
    """All of a file whose format has no harvester, through the reader that reviews use."""
    stamp = stamp_of(os.fstat(file.fileno()))
    file.seek(0)
    data = file.read(WHOLE + 1)
    chosen = next((one for one in FORMATS if one.name == kept.format), None)
    if chosen is None or len(data) > WHOLE:
        why = f"has more than {WHOLE:,} bytes" if chosen else "is of no known format"
        return Reading(Kept(kept.format, stamp, trouble=f"`{path}` {why}"), anew=anew, bytes_read=len(data))
    transcript = chosen.load()(data, path=Path(path))
    seen, pieces = _remembered(transcript, trivial)
    seen.session = seen.session or kept.seen.session
    now = Kept(kept.format, stamp, len(data), _digest(data[-_TAIL:]), seen=seen)
    return Reading(now, pieces, anew=anew, bytes_read=len(data))


def _opened(path: str, kept: Kept | None, chosen: Format, trivial: Trivial) -> Reading:
    """A session of a database, read as a whole whenever it changed."""
    stamp = stamp_at(path)
    if stamp is None:
        return _unread(kept, chosen.name, f"`{path}` is no session any more")
    try:
        transcript = chosen.load()(b"", path=Path(path))
    except TranscriptError as error:
        return _unread(kept, chosen.name, error.message)
    seen, pieces = _remembered(transcript, trivial)
    return Reading(Kept(chosen.name, stamp, seen=seen), pieces, anew=kept is not None)


def stamp_at(path: str) -> tuple[int, int, int, int] | None:
    """The stamp of a session file, or of a session in a database; None when it is gone."""
    try:
        return stamp_of(os.stat(path))
    except (OSError, ValueError):
        if "#" not in os.path.basename(path):
            return None
    from noforgetti.transcripts import opencode

    return opencode.stamp_of(Path(path))


def _remembered(transcript: Transcript, trivial: Trivial) -> tuple[Seen, tuple[Piece, ...]]:
    """What a transcript is remembered by: its summaries, or, while it has none, the user's words."""
    summarised = any(item.role is Role.SUMMARY for item in transcript.items)
    wanted = Role.SUMMARY if summarised else Role.USER
    pieces = tuple(
        Piece(item.id, item.role, bounded(item.text, SUMMARY if summarised else SAID), utc(item.at))
        for item in transcript.items
        if item.role is wanted and (summarised or asked(item.text)) and not trivial(item.text)
    )
    seen = Seen(
        session=transcript.session,
        cwd=transcript.cwd,
        started=next((utc(item.at) for item in transcript.items if utc(item.at)), ""),
        summarised=summarised,
        broken=transcript.broken,
    )
    return seen, pieces


# Pi.

# Most of a file is answers and tool results, which are not harvested: a line is parsed only when it holds one of these.
# Inside a JSON text the quotes would be escaped, so only real keys and values are found. `_ROLE` is the line as Pi
# writes it, which spares looking through it (measured: 127 MB/s instead of 74).
_HELD = (b'"user"', b'"compaction"', b'"branch_summary"', b'"context_edit"', b'"session"', b'"session_info"')
_ENDED_BADLY = (b'"error"', b'"length"')
_ROLE = re.compile(rb'\{"type":"message",[^{}]{0,300}"message":\{"role":"(\w+)"')
# Before Pi 1.0 nothing but the provider's words tells an answer that failed because the context was full.
_FULL = re.compile(r"context|tokens?\b|too (?:long|large)|\b413\b|maximum (?:prompt )?length", re.IGNORECASE)
_SLASH = re.compile(r"/[a-z][\w:-]*(?:[ \t][^\n]{0,60})?", re.IGNORECASE | re.ASCII)


def pi(lines: Iterator[bytes], seen: Seen, *, known: Known) -> Iterator[Piece]:
    """Pi's session files, of every version. Summaries and messages of abandoned paths count too: they were said."""
    for line in lines:
        if not line.strip():
            continue
        seen.lines += 1
        if not _promising(line, seen):
            continue
        entry = next(objects(line), None)
        if entry is None:
            seen.broken += 1
            continue
        yield from _entry(entry, seen, known)


def _promising(line: bytes, seen: Seen) -> bool:
    """Whether a line has to be parsed. An answer that completed has not."""
    found = _ROLE.match(line)
    role = found[1] if found else b""
    if role not in (b"", b"assistant"):
        return role == b"user"
    if not role and any(mark in line for mark in _HELD):
        return True
    if role or b'"assistant"' in line:
        if any(mark in line for mark in _ENDED_BADLY):
            return True
        _completed(seen)
    return False


def _entry(entry: Mapping[str, Any], seen: Seen, known: Known) -> Iterator[Piece]:
    own = entry.get("id")
    own = safe_id(own) if isinstance(own, str) and own else f"#{seen.lines}"
    match entry.get("type"):
        case "session":
            _header(entry, seen, known)
        case "session_info":
            seen.name = _word(entry.get("name"), 200)
        case "message":
            yield from _message(entry, own, seen)
        case "context_edit":
            yield from _edit(entry, seen)
        case "compaction" if _retried(seen):
            _completed(seen)
        case "compaction" | "branch_summary":
            _completed(seen)
            text = bounded(own_words(text_of(entry.get("summary"))), SUMMARY)
            if text.strip() and not _copied(entry, seen):
                seen.summarised = True
                yield Piece(own, Role.SUMMARY, text, utc(when(entry)))
        case _:
            pass


def _header(entry: Mapping[str, Any], seen: Seen, known: Known) -> None:
    if seen.started or seen.cwd:
        return
    seen.session = safe_name(entry.get("id")) or seen.session
    seen.cwd = _word(entry.get("cwd"), 4_096)
    seen.started = utc(when(entry))
    seen.parent = _word(entry.get("parentSession"), 4_096)
    seen.forked = bool(seen.parent) and known(seen.parent)


def _message(entry: Mapping[str, Any], own: str, seen: Seen) -> Iterator[Piece]:
    message = entry.get("message")
    if not isinstance(message, dict):
        return
    match message.get("role"):
        case "user":
            _completed(seen)
            text = bounded(own_words(text_of(message.get("content"))), SAID)
            if asked(text) and not _copied(entry, seen):
                yield Piece(own, Role.USER, text, utc(when(entry)))
        case "assistant":
            _completed(seen)
            if message.get("stopReason") in ("error", "length"):
                seen.failed = own
                seen.overflowed = message["stopReason"] == "error" and bool(
                    _FULL.search(_word(message.get("errorMessage"), 2_000))
                )
        case _:
            pass


def _edit(entry: Mapping[str, Any], seen: Seen) -> Iterator[Piece]:
    """A message that was taken out of the model's context, or replaced there, is nothing to remember either."""
    target = entry.get("targetId")
    if not isinstance(target, str) or not target:
        return
    if safe_id(target) == seen.failed:
        seen.omitted = entry.get("replacement") is None
    else:
        yield Piece(safe_id(target), Role.USER, "")


def _retried(seen: Seen) -> bool:
    """Whether a compaction comes from a full context, whose turn Pi then repeats.

    Seen in Pi 1.6: the answer that failed, a `context_edit` that takes it out, the compaction, the answer again.
    Older versions had no `context_edit`.
    """
    return bool(seen.failed) and (seen.omitted or seen.overflowed)


def _completed(seen: Seen) -> None:
    seen.failed, seen.overflowed, seen.omitted = "", False, False


def _copied(entry: Mapping[str, Any], seen: Seen) -> bool:
    """Whether a fork has the entry from its parent: entries keep their times, a fork's header has its own."""
    at = utc(when(entry))
    return seen.forked and bool(at) and at[:23] < seen.started[:23]


def asked(text: str) -> bool:
    """Whether a message is words, not only a command with a slash."""
    stripped = text.strip()
    return bool(stripped) and not _SLASH.fullmatch(stripped)


def _word(value: Any, most: int) -> str:
    return encodable(value[:most]) if isinstance(value, str) else ""


_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z", re.ASCII)


def utc(at: str) -> str:
    """The time if it is one in RFC 3339 and UTC, else empty."""
    return at if _UTC.fullmatch(at) else ""


# Passages.

_HEADING = re.compile(r"#{1,6}\s")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_BREAKS = {"heading": LEAST, "paragraph": 2 * LEAST, "bullet": 3 * LEAST, "": MOST + 1}
_ROOM = MOST - LEAST  # a unit never has more, so that a passage below LEAST can always take one more


def passages(text: str) -> tuple[str, ...]:
    """A text as passages of 200 to 1,200 characters, cut at headings, paragraphs, bullets, then sentences.

    A passage is broken off once it has 200 characters at a heading, 400 at a paragraph, 600 at a bullet, anywhere at
    1,200. Only a text shorter than 200 gives a shorter passage; only a word longer than 1,000 is cut.
    """
    packed: list[list[str]] = [[]]
    for kind, unit in _units(text):
        size = sum(map(len, packed[-1]))
        if size and (size >= _BREAKS[kind] or size + len(unit) > MOST):
            packed.append([])
        packed[-1].append(unit)
    if len(packed) > 1:
        _balance(packed[-2], packed[-1])
    return tuple(joined for units in packed if (joined := "".join(units).strip()))


def _balance(before: list[str], last: list[str]) -> None:
    """A short end takes more of what stands before it: from a unit on, a sentence, or else a word."""
    if sum(map(len, last)) >= LEAST:
        return
    text = "".join([*before, *last])
    cut = len(text) if len(text) <= MOST else _fair_cut(text, list(accumulate(map(len, before))))
    before[:], last[:] = [text[:cut]], [text[cut:]]


def _fair_cut(text: str, units: list[int]) -> int:
    for ends in (units, [found.end() for found in _SENTENCE.finditer(text)]):
        fair = [end for end in ends if LEAST <= end <= MOST and len(text) - end >= LEAST]
        if fair:
            return fair[-1]
    return _word_end(text, 0, len(text) - LEAST)


def _units(text: str) -> Iterator[tuple[str, str]]:
    paragraph = False
    for line in text.splitlines(keepends=True):
        if not line.strip():
            paragraph = True
            yield "", "\n"
            continue
        kind = "heading" if _HEADING.match(line) else "paragraph" if paragraph else ""
        if not kind and _BULLET.match(line):
            kind = "bullet"
        paragraph = False
        for part in _fitting(line):
            yield kind, part
            kind = ""


def _fitting(line: str) -> Iterator[str]:
    if len(line) <= _ROOM:
        yield line
        return
    start = 0
    for end in [*(found.end() for found in _SENTENCE.finditer(line)), len(line)]:
        while end - start > _ROOM:
            cut = _word_end(line, start, start + _ROOM)
            yield line[start:cut]
            start = cut
        if end > start:
            yield line[start:end]
        start = end


def _word_end(line: str, start: int, end: int) -> int:
    """The last place up to `end` behind a blank, else one that splits no character."""
    blank = max(line.rfind(" ", start, end), line.rfind("\t", start, end))
    if blank > start + LEAST:
        return blank + 1
    for cut in range(end, end - 64, -1):
        if not _joined(line[cut - 1], line[cut]):
            return cut
    return end


def _joined(before: str, after: str) -> bool:
    """Whether two code points are one character to a reader."""
    if before == "\u200d" or after == "\u200d" or unicodedata.category(after)[0] == "M":
        return True
    return "\U0001f3fb" <= after <= "\U0001f3ff" or "\U0001f1e6" <= after <= "\U0001f1ff"


def bounded(text: str, most: int) -> str:
    """The beginning of a long text, up to the last blank: what is cut off there is half of nothing."""
    if len(text) <= most:
        return text
    cut = max(text.rfind(blank, 0, most) for blank in " \n")
    return text[: cut if cut > most // 2 else most]
