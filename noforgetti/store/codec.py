"""Entry files: Markdown with a little front matter. Total and round-tripping.

`decode` reads every sequence of bytes as an entry or as a `Damaged` that names the reason; it never raises and drops
nothing: front-matter lines that this version does not know, or whose value it does not understand, ride along in
`Entry.extra` and are written back byte for byte. `encode` writes only what differs from the default, in a fixed order,
so that equal entries are equal blobs. The format is described in docs/storage-format.md.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from noforgetti.model.entry import (
    CATEGORY_OF_FOLDER,
    BlobId,
    Category,
    Cue,
    Damaged,
    Entry,
    EntryId,
    Importance,
    Scope,
    Writer,
)

if TYPE_CHECKING:
    from collections.abc import Callable

FILE_LIMIT = (
    262_144  # bytes; the entry limit is 800 characters, so 256 KiB is damage or abuse (reference system's bound)
)
ENTRY_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_FENCE = "---"
_PLAIN = re.compile(r"[^\s\"\[{](?:[^\n\r]*[^\s])?")


def path_of(entry: Entry) -> str:
    """Where the entry lies in a branch's tree."""
    return f"{entry.category.folder}/{entry.id}.md"


def entry_path(path: str) -> tuple[Category, str] | None:
    """The category and id that a tree path stands for, or None when it is not an entry's place."""
    folder, slash, name = path.partition("/")
    category = CATEGORY_OF_FOLDER.get(folder)
    if category is None or not slash or "/" in name or not name.endswith(".md"):
        return None
    return category, name[:-3]


def encode(entry: Entry) -> bytes:
    """The bytes of the entry's file: front matter in a fixed order, a blank line, the text, a line end."""
    head = [f"{key}: {text}" for key, write in _WRITERS if (text := write(entry)) is not None]
    lines = [_FENCE, *head, *entry.extra, _FENCE, "", entry.text, ""]
    return "\n".join(lines).encode()


def decode(path: str, data: bytes, blob: BlobId) -> Entry | Damaged:
    """Read one file of the tree. `path` must be an entry's place."""
    place = entry_path(path)
    if place is None:
        return Damaged(path, blob, "is not in a place where entries live")
    category, name = place
    if not ENTRY_ID.fullmatch(name):
        return Damaged(path, blob, "has a name that is no entry id")
    if len(data) > FILE_LIMIT:
        return Damaged(path, blob, f"is {len(data):,} bytes long, more than {FILE_LIMIT:,}")
    try:
        raw = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Damaged(path, blob, f"is not UTF-8 at byte {error.start}")
    if "\0" in raw:
        return Damaged(path, blob, "holds a NUL character")
    raw = raw.replace("\r\n", "\n")
    if not raw.startswith(_FENCE + "\n"):
        return _with_text(Entry(EntryId(name), "", category), raw, path, blob)
    head, end, text = raw[len(_FENCE) + 1 :].partition("\n" + _FENCE + "\n")
    if raw.startswith(f"{_FENCE}\n{_FENCE}\n"):
        head, end, text = "", "yes", raw[2 * len(_FENCE) + 2 :]
    if not end:
        return Damaged(path, blob, "has front matter without an end")
    return _with_text(_read_head(Entry(EntryId(name), "", category), head), text, path, blob)


def _with_text(entry: Entry, text: str, path: str, blob: BlobId) -> Entry | Damaged:
    text = unicodedata.normalize("NFC", text).strip()
    return replace(entry, text=text) if text else Damaged(path, blob, "has no text")


def _read_head(entry: Entry, head: str) -> Entry:
    seen: set[str] = set()
    extra: list[str] = []
    for line in head.split("\n") if head else ():
        key, colon, value = line.partition(":")
        read = _READERS.get(key) if colon and key not in seen else None
        if read is None:
            extra.append(line)
            continue
        try:
            entry = read(entry, value.strip())
            seen.add(key)
        except (ValueError, TypeError):
            extra.append(line)
    return replace(entry, extra=tuple(extra))


def quoted(text: str) -> str:
    """A value on one line: plain where that is unmistakable, else a JSON string."""
    # A NUL would make the whole file unreadable, a lone surrogate cannot be encoded at all: both are escaped.
    plain = _PLAIN.fullmatch(text) and text.isprintable()
    return text if plain else json.dumps(text, ensure_ascii=True)


def unquoted(value: str) -> str:
    """What `quoted` wrote. Raises `ValueError` for anything it would not write: nothing, or half a character."""
    read = json.loads(value) if value.startswith('"') else value
    if not isinstance(read, str) or not read:
        raise ValueError(value)
    return _whole(read)


def _strings(value: str) -> tuple[str, ...]:
    read = json.loads(value)
    if not isinstance(read, list) or not read or not all(isinstance(one, str) for one in read):
        raise ValueError(value)
    return tuple(_whole(one) for one in read)


def _whole(text: str) -> str:
    """The text; half a character (an escaped lone surrogate) could never be printed or written again."""
    if any("\ud800" <= one <= "\udfff" for one in text):
        raise ValueError(text)
    return text


def _yes(value: str) -> bool:
    if value != "yes":
        raise ValueError(value)
    return True


def _share(value: str) -> float:
    number = float(value)
    if not 0 <= number <= 1:
        raise ValueError(value)
    return number


def _object(value: str) -> str:
    if not isinstance(json.loads(value), dict):
        raise TypeError(value)
    return value


def _list_or_none(values: tuple[str, ...]) -> str | None:
    return json.dumps(list(values)) if values else None


# One line a key, in the order of the file: how to write it (None: it has its default) and how to read it.
_KEYS: tuple[tuple[str, Callable[[Entry], str | None], Callable[[str], Any]], ...] = (
    ("importance", lambda e: None if e.importance is Importance.NORMAL else e.importance, Importance),
    ("assessed", lambda e: quoted(e.assessed) if e.assessed else None, unquoted),
    ("pinned", lambda e: "yes" if e.pinned else None, _yes),
    ("key", lambda e: quoted(e.key) if e.key else None, unquoted),
    ("cue", lambda e: None if e.cue is Cue.EXPLICIT else e.cue, Cue),
    ("negative", lambda e: "yes" if e.negative else None, _yes),
    ("archived", lambda e: "yes" if e.archived else None, _yes),
    ("tags", lambda e: _list_or_none(e.tags), _strings),
    ("confidence", lambda e: None if e.confidence is None else repr(float(e.confidence)), _share),
    ("rule", lambda e: e.rule or None, _object),
    ("scope", lambda e: None if e.scope is Scope.PROJECT else e.scope, Scope),
    ("task", lambda e: quoted(e.task) if e.task else None, unquoted),
    ("expires", lambda e: quoted(e.expires) if e.expires else None, unquoted),
    ("created", lambda e: quoted(e.created) if e.created else None, unquoted),
    ("writer", lambda e: None if e.writer is Writer.USER else e.writer, Writer),
    ("session", lambda e: quoted(e.session) if e.session else None, unquoted),
    ("supersedes", lambda e: _list_or_none(e.supersedes), _strings),
    ("derived", lambda e: _list_or_none(e.derived), _strings),
    ("informs", lambda e: _list_or_none(e.informs), _strings),
    ("origin", lambda e: quoted(e.origin) if e.origin else None, unquoted),
)
_WRITERS = tuple((key, write) for key, write, _ in _KEYS)


def _reader(key: str, read: Callable[[str], Any]) -> Callable[[Entry, str], Entry]:
    return lambda entry, value: replace(entry, **{key: read(value)})


_READERS = {key: _reader(key, read) for key, _, read in _KEYS}
