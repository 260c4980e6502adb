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

    def line(self) -> str:
        """Its form in a file."""
        return f"{self.stamp}\n{len(self.text)}\n{self.text}{self.others}"


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
        with open(path, encoding="utf-8", newline="") as file:
            return parsed(file.read())
    except (OSError, ValueError):
        return None


def parsed(said: str) -> Kept | None:
    """What `Kept.line` made."""
    first, _, rest = said.partition("\n")
    length, _, rest = rest.partition("\n")
    if not length.isdecimal() or int(length) > len(rest):
        return None
    return Kept(first, rest[: int(length)], rest[int(length) :])


def write(path: str, kept: Kept) -> None:
    """Keep a text. Trouble is ignored: it is a copy."""
    from noforgetti.store import folders

    temporary = f"{path}.{os.getpid()}"
    try:
        folders.make(os.path.dirname(path))
        with open(temporary, "w", encoding="utf-8", newline="", opener=folders.private) as file:
            file.write(kept.line())
        os.replace(temporary, path)
    except (OSError, UnicodeError):
        return
