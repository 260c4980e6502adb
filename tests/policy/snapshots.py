"""Snapshots without a repository: a blob's name is what it holds."""

from __future__ import annotations

import hashlib
from types import MappingProxyType

from noforgetti.model.entry import BlobId, Category, CommitId, Entry, EntryId, Snapshot, Stored


def entry(one: str, text: str | None = None, category: Category = Category.LESSON) -> Entry:
    """An entry with defaults."""
    return Entry(EntryId(one), text or f"Text of {one}.", category)


def snapshot(*entries: Entry, commit: str = "c") -> Snapshot:
    """What a branch with these entries holds."""
    stored = tuple(
        Stored(one, f"{one.category.folder}/{one.id}.md", BlobId(hashlib.sha1(one.text.encode()).hexdigest()))
        for one in entries
    )
    return Snapshot(CommitId(commit), stored, (), MappingProxyType({one.path: one.blob for one in stored}))


def texts(of: Snapshot) -> dict[str, str]:
    """Text by id."""
    return {str(one.id): one.text for one in of}


def carried_out(now: Snapshot, put: dict[str, BlobId], drop: tuple[str, ...], *sources: Snapshot) -> dict[str, BlobId]:
    """The files after a plan."""
    files = {path: blob for path, blob in now.files.items() if path not in drop}
    known = {blob for source in sources for blob in source.files.values()}
    assert set(put.values()) <= known, "a plan puts only blobs that exist"
    return {**files, **put}
