"""Folders and files that are the user's alone, whatever the umask."""

from __future__ import annotations

import os


def make(path: str) -> None:
    """Make the folder, and those above it that are missing, with mode 0700 whatever the umask. Raises `OSError`.

    `os.makedirs` gives its mode only to the last one.
    """
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent != path:
        make(parent)
    try:
        os.mkdir(path, mode=0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


def private(path: str, flags: int) -> int:
    """An opener for `open`: a new file gets mode 0600."""
    return os.open(path, flags, 0o600)
