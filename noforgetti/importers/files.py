"""Files of foreign memories, read in one careful way: bounded, read-only, and line by line where bytes are damaged.

What cannot be opened at all is a `SourceError`; a line that is no text is a `Leftover` and the others are read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from noforgetti.importers.base import Item, Leftover, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

LARGEST = 64 * 1024 * 1024  # bytes of one file: 100,000 lines of 600 characters; a memory beyond that is a mishap
_FILES = 10_000  # files of one folder, and folders below each other: the largest public folders hold some hundred
_DEPTH = 6
_SECONDS = 10_000_000_000  # a number above it counts milliseconds: as seconds it would be the year 2286
_MOJIBAKE = re.compile("[\ud800-\udfff]")
_DAY = re.compile(r"(?<!\d)(20\d\d)[-/.年](\d{1,2})[-/.月](\d{1,2})(?!\d)")


def whole(path: Path) -> bytes:
    """The bytes of a regular file. Raises `SourceError` for anything else, and for more than `LARGEST` bytes."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _closed(path, error) from error
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            what = "a folder" if stat.S_ISDIR(about.st_mode) else "no regular file"
            raise SourceError(f"`{shown(path)}` is {what}. Nothing was imported.", hint="name a file")
        if about.st_size > LARGEST:
            raise SourceError(
                f"`{shown(path)}` has {about.st_size:,} bytes, more than {LARGEST:,}. Nothing was imported.",
                hint="split it and import the parts",
            )
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(LARGEST)
    except OSError as error:
        raise _closed(path, error) from error
    finally:
        os.close(handle)


def _closed(path: Path, error: Exception) -> SourceError:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return SourceError(f"`{shown(path)}` cannot be read: {why}. Nothing was imported.", hint="check the path")


def shown(path: Path | str) -> str:
    """A path in a sentence: what cannot be printed is escaped."""
    text = str(path)
    return text if text.isprintable() else ascii(text)[1:-1]


def lines(data: bytes, where: str) -> tuple[list[str], list[Leftover]]:
    """The lines of a text. A line that is no UTF-8 or holds a NUL is empty here and left over."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16", "replace").encode()
    found: list[str] = []
    lost: list[Leftover] = []
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for number, line in enumerate(data.split(b"\n"), 1):
        why = "holds NUL bytes: the file is damaged here" if b"\0" in line else ""
        try:
            found.append("" if why else line.decode())
        except UnicodeDecodeError as error:
            why = f"is not UTF-8 at byte {error.start + 1}"
            found.append("")
        if why:
            lost.append(Leftover(f"{where}:{number}", why))
    return found, lost


def documents(data: bytes, where: str) -> tuple[list[tuple[int, Any]], list[Leftover]]:
    """The JSON values of a text with their lines: one for the whole of it, else one a line. What is torn is left
    over."""
    rows, lost = lines(data, where)
    if not lost:
        try:
            return [(1, _json("\n".join(rows)))], []
        except ValueError:
            pass
    found: list[tuple[int, Any]] = []
    for number, row in enumerate(rows, 1):
        if row.strip():
            try:
                found.append((number, _json(row)))
            except ValueError:
                lost.append(Leftover(f"{where}:{number}", "is no whole JSON value"))
    return found, lost


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(text[:40]) from error


def below(folder: Path, suffixes: tuple[str, ...]) -> tuple[list[Path], list[Leftover]]:
    """The files of a folder with one of the suffixes, by path. Others, and links, which may lead anywhere, are left
    over; folders whose name begins with a dot are not looked into."""
    found: list[Path] = []
    lost: list[Leftover] = []
    for path, why in _walk(folder, 0):
        if len(found) >= _FILES:
            lost.append(Leftover(shown(folder), f"holds more than {_FILES:,} files; the others were not read"))
            break
        if why or path.suffix.lower() not in suffixes:
            lost.append(Leftover(name(path, folder), why or f"is no {' or '.join(suffixes)} file"))
        else:
            found.append(path)
    return found, lost


def _walk(folder: Path, depth: int) -> Iterator[tuple[Path, str]]:
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        if depth == 0:
            raise _closed(folder, error) from error
        yield folder, f"cannot be read: {error.strerror}"
        return
    for path in inside:
        if path.is_symlink():
            yield path, "is a symbolic link; import the file it leads to by itself"
        elif not path.is_dir():
            yield path, ""
        elif path.name.startswith("."):
            yield path, "is a hidden folder"
        elif depth >= _DEPTH:
            yield path, f"lies more than {_DEPTH} folders deep"
        else:
            yield from _walk(path, depth + 1)


def name(path: Path, folder: Path) -> str:
    """How a file of the folder is called: its path in it."""
    return shown(path.relative_to(folder).as_posix()) if path != folder else shown(path.name)


def mended(value: object) -> str:
    """A string of a JSON document as text: pairs of surrogates joined, halves replaced; anything else is empty."""
    text = value if isinstance(value, str) else ""
    if _MOJIBAKE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.strip()


def strings(value: object) -> list[str]:
    """The texts of a JSON list, or of one text."""
    values = value if isinstance(value, list) else [value]
    return [text for one in values if (text := mended(one))]


def untold(value: Mapping[str, object], known: Iterable[str]) -> tuple[str, ...]:
    """What an object says beside the keys that something is made of, each as a short note."""
    skipped = set(known)
    return tuple(
        f"{mended(key)[:40]}: {mended(str(one))[:120]}"
        for key, one in value.items()
        if key not in skipped and one not in (None, "", [], {}, False)
    )


def stamp(value: object) -> str:
    """A date or time in any of the usual spellings as RFC 3339 UTC; empty for what is none. A time without a zone is
    UTC."""
    try:
        if isinstance(value, bool) or value is None:
            return ""
        if isinstance(value, int | float):
            at = datetime.fromtimestamp(value / 1000 if abs(value) > _SECONDS else value, UTC)
        else:
            at = datetime.fromisoformat(str(value).strip().strip("\"'"))
            at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if 1970 <= at.year <= 9999 else ""


def day(text: str) -> str:
    """The first date in a text (`2026-01-31`, `2026年1月31日`), as the midnight it begins with; empty without one."""
    match = _DAY.search(text)
    return stamp("-".join((match[1], match[2].zfill(2), match[3].zfill(2)))) if match else ""


def written(path: Path) -> str:
    """When a file was last written, or empty."""
    try:
        return stamp(path.stat().st_mtime)
    except OSError:
        return ""


def digest(text: str) -> str:
    """Eight hex digits that stand for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def distinct(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items with names that are unique: the second of a name gets `~2`."""
    seen: dict[str, int] = {}
    found: list[Item] = []
    for item in items:
        seen[item.name] = count = seen.get(item.name, 0) + 1
        found.append(item if count == 1 else replace(item, name=f"{item.name}~{count}"))
    return tuple(found)
