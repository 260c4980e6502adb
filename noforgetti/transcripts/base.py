"""Sessions of hosts as transcripts: one protocol, one register of formats, and a reader for plain `{role,
content}` lines.

A reader is total: a line it cannot read is counted in `broken`, never fatal. What never gets in, whatever
the format: thinking, images, tool arguments and results, system and developer messages, and memory's own
injected text."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from noforgetti.errors import Kind, NoForgettiError, shown
from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.evidence import BEGIN, END, Item, Role, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# A longer line counts as broken: room for the images of a long turn, not for a mistake.
LINE_BYTES = 32 * 1024 * 1024
_HEAD = 256 * 1024  # bytes that tell a format: Codex's first line holds its instructions, some 20 kB
FILE_BYTES = 512 * 1024 * 1024  # a device has no end, and a file is read as a whole
# Blocks that a host or we put into a message: our sections (a name joined to `memory`, past sessions, the
# situation report; no entry can hold such a tag) and Pi's skills. `<MemoryRouter>` and other markup of a
# project is not among them.
_SCAFFOLD = re.compile(
    r"<(/?)(?:(?:[a-z]{1,24}[-_]){1,4}memor(?:y|ies)|memor(?:y|ies)(?:[-_][a-z]{1,24}){1,4}"
    r"|noforgetti|past[-_]sessions?|situation[-_]report|skill)(?![\w-])[^<>]{0,400}>",
    re.IGNORECASE,
)
# What a hook told the model, between its two lines. Without its end it reaches as far as the text does.
_TOLD = re.compile(rf"{re.escape(BEGIN)}.*?(?:{re.escape(END)}|\Z)", re.DOTALL)
_DATABASE = b"SQLite format 3\0"
_CLINE = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"version"\s*:\s*\d+\s*,')  # how its one document begins
_OWN_TOOLS = ("project_memory", "session_search")
_SURROGATE = re.compile("[\ud800-\udfff]")


class TranscriptError(NoForgettiError):
    """A session file cannot be opened or is of no known format."""

    kind = Kind.USER
    reason = "unreadable-transcript"


class Reader(Protocol):
    """Turns the bytes of one session file into what was said on its current path."""

    def __call__(self, data: bytes, *, path: Path | None = None, branch: BranchName = MAIN) -> Transcript: ...


@dataclass(frozen=True, slots=True)
class Format:
    """A host's session format. `reader` is `module:function`, imported on first use. With `opens` the reader opens
    `path` itself and is given no bytes: a database with many sessions, of which `path` names one."""

    name: str
    reader: str
    opens: bool = False

    def load(self) -> Reader:
        """The reading function."""
        module, _, function = self.reader.partition(":")
        found: Reader = getattr(import_module(module), function)
        return found


FORMATS = (
    Format("pi", "noforgetti.transcripts.pi:parse"),
    Format("claude-code", "noforgetti.transcripts.claude_code:parse"),
    Format("codex", "noforgetti.transcripts.codex:parse"),
    Format("gemini", "noforgetti.transcripts.gemini:parse"),
    Format("qwen", "noforgetti.transcripts.qwen:parse"),
    Format("cursor", "noforgetti.transcripts.cursor:parse"),
    Format("cline", "noforgetti.transcripts.cline:parse"),
    Format("opencode", "noforgetti.transcripts.opencode:parse", opens=True),
    Format("plain", "noforgetti.transcripts.base:plain"),
)


def read(path: Path, *, kind: str = "", branch: BranchName = MAIN) -> Transcript:
    """The transcript of a session file, or of one session of a database (`<file>#<session>`); without `kind` (a
    format's name) the first lines decide. Raises `TranscriptError`."""
    named = shown(str(path), 200)
    try:
        place = path if os.path.lexists(path) else database_of(path)
        if place.exists() and not (place.is_file() or place.is_char_device()):
            raise TranscriptError(
                f"`{named}` is no file. Nothing was reviewed.", hint="name a session file with --transcript"
            )
        with place.open("rb") as file:
            data = file.read(len(_DATABASE))
            data = data if data == _DATABASE else data + file.read(FILE_BYTES + 1 - len(data))
    except (OSError, ValueError) as trouble:  # a name with a zero byte is a `ValueError`
        why = getattr(trouble, "strerror", "") or "no file has such a name"
        raise TranscriptError(
            f"The session file `{named}` cannot be read: {why}. Nothing was reviewed.",
            hint="name a readable file with --transcript",
        ) from trouble
    if len(data) > FILE_BYTES:
        raise TranscriptError(
            f"The session file `{named}` has more than {FILE_BYTES:,} bytes. Nothing was reviewed.",
            hint="name a session file with --transcript",
        )
    name = kind or recognise(data)
    chosen = next((one for one in FORMATS if one.name == name), None)
    if chosen is None:
        raise TranscriptError(
            f"The session file `{named}` has no known format. Nothing was reviewed.",
            hint="known formats: " + ", ".join(one.name for one in FORMATS),
        )
    return chosen.load()(b"" if chosen.opens else data, path=path, branch=branch)


def format_of(path: Path) -> str:
    """The format of a session file by its first lines, or empty. Never raises, and reads no more than its head."""
    try:
        place = path if os.path.lexists(path) else database_of(path)
        with place.open("rb") as file:
            return recognise(file.read(_HEAD)) if place.is_file() else ""
    except (OSError, ValueError):
        return ""


def database_of(path: Path) -> Path:
    """The file that holds a session named `<file>#<session>`; a path without such an end is returned as it is."""
    name, mark, _ = path.name.rpartition("#")
    return path.with_name(name) if mark and name else path


def recognise(data: bytes) -> str:
    """The format whose lines the first 20 readable ones look like, or empty."""
    if data.startswith(_DATABASE):
        return "opencode"
    if _CLINE.match(data) and b'"sessionId"' in data and b'"messages"' in data:
        return "cline"
    for _, line in zip(range(20), objects(data), strict=False):
        if line is not None and (name := _host_of(line)):
            return name
    for _, message in zip(range(20), _messages(data), strict=False):
        if message is not None and ("role" in message or isinstance(message.get("message"), dict)):
            return "plain"
    return ""


def _host_of(line: Mapping[str, Any]) -> str:
    """The host that writes lines such as this one, where one line can tell."""
    kind = line.get("type")
    if kind == "session" and "id" in line:
        return "pi"
    if isinstance(line.get("payload"), dict) and isinstance(kind, str):
        return "codex"
    if isinstance(line.get("sessionId"), str):
        if "projectHash" in line:
            return "gemini"
        inner = line.get("message")
        qwen = isinstance(inner, dict) and isinstance(inner.get("parts"), list)
        if qwen or "systemPayload" in line:
            return "qwen"
        return "claude-code" if isinstance(kind, str) else ""
    if "role" in line and isinstance(line.get("message"), dict):
        return "cursor"
    return "claude-code" if kind == "summary" and "leafUuid" in line else ""


def plain(data: bytes, *, path: Path | None = None, branch: BranchName = MAIN) -> Transcript:
    """Lines of `{role, content}`, as OpenAI-style logs have them, one JSON list of such, or `{messages:
    […]}`. Every turn counts as completed, since the format cannot say otherwise. Ids are `#<number of the
    message>` where none is given."""
    items: list[Item] = []
    seen: set[str] = set()
    broken = 0
    for number, message in enumerate(_messages(data), 1):
        if message is None:
            broken += 1
            continue
        inner = message.get("message")
        said = inner if isinstance(inner, dict) else message
        role = _PLAIN_ROLES.get(str(said.get("role", "")))
        if role is None:
            continue
        text = own_words(text_of(said.get("content"))) if role is not Role.TOOL else f"{name_of(said)} completed"
        if text.strip():
            own = _own_id(message, number)
            # A position is an id: one that several lines share (a conversation's, say) would end the review there.
            items.append(Item(f"#{number}" if own in seen else own, role, text, when(message), branch))
            seen.add(items[-1].id)
    session = safe_name(path.stem) if path else ""
    return Transcript(session, tuple(items), (session,) if session else (), broken=broken)


_PLAIN_ROLES = {"user": Role.USER, "human": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}


def _own_id(message: Mapping[str, Any], number: int) -> str:
    name = message.get("id")
    return safe_id(name) if isinstance(name, str) and name else f"#{number}"


def _messages(data: bytes) -> Iterator[dict[str, Any] | None]:
    opening = data[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    whole = _loads(data) if opening == b"[" or data.count(b"\n") < 2 else None
    if isinstance(whole, dict) and isinstance(whole.get("messages"), list):
        whole = whole["messages"]
    if isinstance(whole, list):
        yield from (one if isinstance(one, dict) else None for one in whole)
        return
    yield from objects(data)


def objects(data: bytes) -> Iterator[dict[str, Any] | None]:
    """The JSON objects of a file of lines; None for a line that holds none. Blank lines, and a last line
    without its line end that does not parse (the host is writing it right now), are passed over in
    silence."""
    lines = data.split(b"\n")  # LF only: U+2028 may stand inside a string
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        value = _loads(line) if len(line) <= LINE_BYTES else None
        if isinstance(value, dict):
            yield value
        elif number < len(lines):
            yield None


def _loads(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8-sig", errors="replace"), strict=False)
    except (ValueError, RecursionError):
        return None


def text_of(content: Any) -> str:
    """The visible text of a message: a string, or the text blocks of a list. Thinking, images, calls stay
    out."""
    if isinstance(content, str):
        return encodable(content)
    if not isinstance(content, list):
        return ""
    texts = (
        part.get("text")
        for part in content
        if isinstance(part, dict) and part.get("type") in ("text", "input_text", "output_text")
    )
    return encodable("\n".join(text for text in texts if isinstance(text, str)))


def encodable(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD, so that it can be written anywhere. Pairs become
    one character."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def own_words(text: str) -> str:
    """The text without blocks that a host or we put into it (`<project_memory>…`, `<skill …>…`, what stands
    between our two lines). An unmatched tag takes everything on its open side with it: rather lose evidence
    than feed memory back into memory."""
    text = _TOLD.sub("", text)
    if END in text:  # its beginning was cut off: rather lose what stands before it
        text = text.rpartition(END)[2]
    kept: list[str] = []
    start, depth = 0, 0
    for tag in _SCAFFOLD.finditer(text):
        if tag[1]:
            if depth == 0:
                kept.clear()
            depth = max(0, depth - 1)
            start = tag.end()
            continue
        if depth == 0:
            kept.append(text[start : tag.start()])
        depth += 1
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept)


def completed(items: list[Item]) -> tuple[Item, ...]:
    """What completed: up to the last answer, with the tool results and summaries that follow it at once. Words after
    it wait for the answer to them."""
    end = 0
    for number, item in enumerate(items, 1):
        if item.role is Role.ASSISTANT or (end == number - 1 and item.role is not Role.USER):
            end = number
    return tuple(items[:end])


def own_tool(name: str) -> bool:
    """Whether a tool is one of ours, whatever a host puts before its name: what it found is memory, not evidence."""
    return name in _OWN_TOOLS or name.startswith("memory_") or "noforgetti" in name


def name_of(message: Mapping[str, Any]) -> str:
    """A tool's name, fit for one line: at most 80 characters without blanks, or `tool`."""
    name = message.get("toolName") or message.get("name")
    return encodable("".join(name.split())[:80]) if isinstance(name, str) and name.strip() else "tool"


def safe_name(name: object) -> str:
    """A session's id fit for one line of a commit message: other characters become `-`, at most 128."""
    return re.sub(r"[^\w.:-]", "-", name, flags=re.ASCII)[:128] if isinstance(name, str) else ""


def safe_id(name: str) -> str:
    """An item's id if it is fit for a position in a commit message, else a digest of it: the same in every
    fork."""
    if re.fullmatch(r"[\w#:-]{1,128}", name, flags=re.ASCII):
        return name
    return "x" + hashlib.sha256(encodable(name).encode()).hexdigest()[:16]


def when(entry: Mapping[str, Any]) -> str:
    """The entry's time as written by the host when it is a string of sane length, else empty."""
    value = entry.get("timestamp")
    return encodable(value) if isinstance(value, str) and len(value) <= 40 else ""
