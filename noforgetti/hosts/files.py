"""The files of a host: read with every surprise named, written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - dataclasses read the annotations

from noforgetti.errors import Kind, NoForgettiError

LIMIT = 20_000_000  # bytes; a configuration has kilobytes, Claude Code's own state file had 3 MB


class UnusableFile(NoForgettiError):
    """A host's file cannot be read, understood or written. Nothing in it was changed."""

    kind = Kind.UNAVAILABLE
    reason = "unusable-file"

    def __init__(self, path: Path, what: str, hint: str = "") -> None:
        super().__init__(f"`{path}` was left alone: {what}.", hint=hint or "correct the file and run the command again")
        self.path, self.what = path, what


@dataclass(frozen=True, slots=True)
class Kept:
    """A file as it was: its bytes, its mode, and when it was changed last (nanoseconds)."""

    data: bytes
    mode: int
    changed: int


def read(path: Path) -> Kept | None:
    """What a file holds; None when there is none. Raises `UnusableFile` for a folder, a pipe, a loop of links, a file
    too large, and whatever the system refuses."""
    try:
        handle = os.open(
            path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
        )  # a pipe without a writer would wait for ever
    except FileNotFoundError:
        if path.is_symlink():
            raise UnusableFile(path, "it is a link to a file that is not there", "repair or remove the link") from None
        return None
    except OSError as error:
        raise UnusableFile(path, _said(error), "check what stands there, and its permissions") from error
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise UnusableFile(path, "it is no regular file", "move it away")
        if about.st_size > LIMIT:
            raise UnusableFile(path, f"it has more than {LIMIT // 1_000_000} MB", "move it away")
        try:
            data = file.read()
        except OSError as error:
            raise UnusableFile(path, _said(error)) from error
    return Kept(data, stat.S_IMODE(about.st_mode), about.st_mtime_ns)


def write(path: Path, data: bytes, *, mode: int, changed: int | None = None) -> None:
    """Put bytes in a file's place: written beside it, made durable, renamed. A link stays a link; the file that it
    names is replaced. An existing file keeps its owner. Raises `UnusableFile`."""
    target = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".new")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), mode)
                _same_owner(file.fileno(), target)
                file.flush()
                os.fsync(file.fileno())
            if changed is not None:
                os.utime(name, ns=(changed, changed))
            os.replace(name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
        _sync_folder(target.parent)
    except OSError as error:
        raise UnusableFile(path, _said(error), "make the folder writable and run the command again") from error


def missing_folders(path: Path) -> tuple[Path, ...]:
    """The folders above a file that do not exist yet, outermost first."""
    return tuple(reversed([folder for folder in path.parents if not folder.exists()]))


def make_folders(path: Path) -> None:
    """Make the folders above a file; new ones are the user's alone. Raises `UnusableFile`."""
    try:
        for folder in missing_folders(path):
            folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise UnusableFile(path, _said(error), "make the folder writable and run the command again") from error


def remove(path: Path) -> None:
    """Remove a file, or the link that it is. Raises `UnusableFile`."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise UnusableFile(path, _said(error)) from error


def remove_folders(folders: tuple[Path, ...]) -> None:
    """Remove those of the folders that are empty."""
    for folder in sorted(folders, key=lambda one: len(one.parts), reverse=True):
        with suppress(OSError):  # somebody else has put something into it, or it is gone
            folder.rmdir()


def digest(data: bytes) -> str:
    """SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _same_owner(handle: int, target: Path) -> None:
    with suppress(OSError):  # nothing there, or only root may give files away
        about = os.stat(target)
        if (about.st_uid, about.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(handle, about.st_uid, about.st_gid)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _said(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
