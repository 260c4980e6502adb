"""What hooks tell, kept in the cache: a text for each branch, good for one state of the memory, one day, one version
and one settings file. Whatever does not fit is not used, and the memory is asked instead."""

from __future__ import annotations

import os
import time

from noforgetti import __version__

_WORDS = 60_000  # characters of the text that prompts are compared with


class Kept:
    """A kept text. `others` holds the words of what the text does not tell: a prompt that has none of them asks for
    nothing more."""

    __slots__ = ("others", "stamp", "text")

    def __init__(self, stamp: str, text: str, others: str = "") -> None:
        self.stamp, self.text, self.others = stamp, text, others[:_WORDS]


def stamp(head: str | None, wide: str | None, settings: str) -> str:
    """One line that says what a text is good for."""
    return f"{head or 'none'} {wide or 'none'} {int(time.time() // 86_400)} {__version__} {settings}"


def settings_stamp(config: str) -> str:
    """When the settings file was changed last, and its size; `-` without one."""
    try:
        seen = os.stat(config)
    except OSError:
        return "-"
    return f"{seen.st_mtime_ns}:{seen.st_size}"


def file_of(cache_folder: str, branch: str) -> str:
    """Where the branch's text is kept."""
    return os.path.join(cache_folder, f"told-{branch}.txt")


def read(path: str) -> Kept | None:
    """The kept text, whatever it is good for; None when there is none, or it is torn."""
    try:
        with open(path, encoding="utf-8") as file:
            first, length, rest = file.readline(), file.readline(), file.read()
        size = int(length)
    except (OSError, ValueError):
        return None
    if size > len(rest):
        return None
    return Kept(first.rstrip("\n"), rest[:size], rest[size:])


def write(path: str, kept: Kept) -> None:
    """Keep a text. Trouble is ignored: it is a copy."""
    from noforgetti.store import folders

    temporary = f"{path}.{os.getpid()}"
    try:
        folders.make(os.path.dirname(path))
        with open(temporary, "w", encoding="utf-8", opener=folders.private) as file:
            file.write(f"{kept.stamp}\n{len(kept.text)}\n{kept.text}{kept.others}")
        os.replace(temporary, path)
    except (OSError, UnicodeError):
        return
