"""Making bytes durable, the way each system needs it."""

from __future__ import annotations

import fcntl
import os

# On macOS `fsync` only hands the bytes to the drive; its manual names F_FULLFSYNC as what reaches the medium.
_FULL = getattr(fcntl, "F_FULLFSYNC", None)
_data = getattr(os, "fdatasync", os.fsync)


def sync(handle: int) -> None:
    """Make an open file durable: content, length and name. Raises OSError."""
    if _FULL is not None:
        fcntl.fcntl(handle, _FULL)
    else:
        os.fsync(handle)


def sync_data(handle: int) -> None:
    """Make the content and the length of an open file durable. Raises OSError."""
    if _FULL is not None:
        fcntl.fcntl(handle, _FULL)
    else:
        _data(handle)


def sync_path(path: str) -> None:
    """Make a file, or the names in a folder, durable. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)  # a folder takes no F_FULLFSYNC
    finally:
        os.close(handle)
