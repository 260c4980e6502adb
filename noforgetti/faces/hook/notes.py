"""What hooks remember of a host's session between two calls: its branch, and which state of the memory it was told.

One small file a session in the project's state folder. All of it may be lost, or impossible to write: then a report is
told once more, or not again.
"""

from __future__ import annotations

import os
import time
from binascii import crc32

FOLDER = "hooks"
_AGAIN = 5.0  # seconds in which the same call of the same session is a second layer of the host's configuration


class Note:
    """The note of one session of a host: `branch` is the memory branch it uses, `told` the heads it was told of."""

    __slots__ = ("_folder", "_path", "branch", "told")

    def __init__(self, state_folder: str, host: str, session: str) -> None:
        self._folder = os.path.join(state_folder, FOLDER)
        self._path = os.path.join(self._folder, _name(host, session))
        self.branch = self.told = ""
        try:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                self.branch, self.told = [*file.read(1000).split("\n"), "", ""][:2]
        except OSError:
            pass

    def keep(self, branch: str, told: str) -> None:
        """Remember; where nothing can be written, nothing is."""
        if (branch, told) == (self.branch, self.told):
            return
        self.branch, self.told = branch, told
        temporary = f"{self._path}.{os.getpid()}"
        try:
            _made(self._folder)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with open(handle, "w", encoding="utf-8") as file:
                file.write(f"{branch}\n{told}\n")
            os.replace(temporary, self._path)
        except OSError:
            pass

    def first(self, event: str, key: str) -> bool:
        """Whether this call is not the same one again: two layers of a host's configuration may name one hook, and then
        run it twice at once."""
        path = f"{self._path}-{crc32(f'{event} {key}'.encode('utf-8', 'replace')):08x}.call"
        try:
            _made(self._folder)
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            except FileExistsError:
                if abs(time.time() - os.stat(path).st_mtime) < _AGAIN:
                    return False
                os.utime(path)
        except OSError:
            pass  # told twice is better than not at all
        return True


def _name(*parts: str) -> str:
    """A file name that says whose it is; no secret rests on it, and the import of a stronger digest costs 5 ms."""
    data = "\0".join(parts).encode("utf-8", "replace")
    readable = "".join(one if one.isascii() and one.isalnum() else "-" for one in parts[-1][:48])
    return f"{parts[0][:16]}-{readable}-{crc32(data):08x}{len(data):x}"


def _made(folder: str) -> None:
    if not os.path.isdir(folder):
        from noforgetti.store import folders

        folders.make(folder)
