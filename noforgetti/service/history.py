"""History in the terms of entries: revisions, log, diff, blame.

What a commit did is read from its trees, never from its message, so commits that somebody made by hand with plain git
show up like ours. Only first parents are followed: that is the branch's own life.
"""

from __future__ import annotations

import re
import sys
import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from noforgetti.model.change import Change, diff
from noforgetti.store.base import Drop, Edit, Put, UnknownRevision
from noforgetti.store.codec import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from noforgetti.model.commit import Commit
    from noforgetti.model.entry import CommitId, Entry, EntryId, Snapshot
    from noforgetti.service.memory import Memory

_STEPS = re.compile(r"(?P<base>.+?)(?P<steps>(?:~\d{0,6}|\^)*)")
_WHEN = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?")


def states(entries: Snapshot) -> dict[EntryId, Entry]:
    """The entries of a snapshot by id."""
    return {entry.id: entry for entry in entries}


def resolve(memory: Memory, branch: str, revision: str) -> CommitId:
    """The commit that a revision names: `HEAD`, a branch, a commit id or its start, each with `~N` or `^`, or a time
    (`2026-11-30`, `2026-11-30T12:00Z`: the branch's newest commit up to then). Raises `UnknownRevision`."""
    if not memory.exists:
        raise UnknownRevision(revision)
    if _WHEN.fullmatch(revision):
        return _at(memory, branch, revision)
    parts = _STEPS.fullmatch(revision)
    if parts is None:
        raise UnknownRevision(revision)
    commit: CommitId | None = _base(memory, branch, parts["base"], revision)
    for step in re.findall(r"~\d*|\^", parts["steps"]):
        for _ in range(int(step[1:]) if step[1:] else 1):
            commit = memory.store.commit(commit).parent if commit else None
    if commit is None:
        raise UnknownRevision(revision)
    return commit


def _base(memory: Memory, branch: str, name: str, revision: str) -> CommitId:
    heads = memory.heads()
    if name in ("HEAD", "@"):
        head = memory.head(branch)
        if head is not None:
            return head
    for known, head in heads.items():
        if known == name:
            return head
    found = memory.store.by_prefix(name.lower())
    if len(found) != 1:
        raise UnknownRevision(revision, ambiguous=len(found) > 1)
    return found[0]


def _at(memory: Memory, branch: str, when: str) -> CommitId:
    stamp = when.replace(" ", "T").rstrip("Z")
    latest = stamp + "9999-12-31T23:59:59"[len(stamp) :]
    try:
        time.strptime(latest, "%Y-%m-%dT%H:%M:%S")
    except ValueError:  # a 99th day: what it names is a slip of the finger, not the end of time
        raise UnknownRevision(when) from None
    for commit in memory.store.walk(memory.head(branch)):
        if commit.time.rstrip("Z") <= latest:
            return commit.id
    raise UnknownRevision(when)


def edits_of(base: Snapshot, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """How changes of `base` are written: entries put, and places dropped that they leave."""
    edits: list[Edit] = []
    for change in changes:
        old = base.get(change.id)
        if old is not None and (change.after is None or path_of(change.after) != old.path):
            edits.append(Drop(old.path))
        if change.after is not None:
            edits.append(Put(change.after))
    return tuple(edits)


@dataclass(frozen=True, slots=True)
class Logged:
    """A commit with what it did."""

    commit: Commit
    changes: tuple[Change, ...]


def log(memory: Memory, branch: str, *, limit: int = 0, entry: str = "") -> Iterator[Logged]:
    """The branch's commits, newest first; with `entry` only those that touched it. `limit` 0 means all."""
    commits = memory.store.walk(memory.head(branch)) if memory.exists else iter(())
    found = (Logged(commit, changes_of(memory, commit)) for commit in commits)
    if entry:
        found = (one for one in found if any(change.id == entry for change in one.changes))
    return islice(found, min(limit, sys.maxsize)) if limit else found


def changes_of(memory: Memory, commit: Commit) -> tuple[Change, ...]:
    """What one commit did to entries, against its first parent."""
    before = memory.store.snapshot(commit.parent)
    return diff(states(before), states(memory.store.snapshot(commit.id)))


def between(memory: Memory, one: CommitId, other: CommitId) -> tuple[Change, ...]:
    """What turns the state at `one` into the state at `other`."""
    return diff(states(memory.store.snapshot(one)), states(memory.store.snapshot(other)))


def blame(memory: Memory, branch: str, entry: str = "") -> tuple[tuple[Entry, Commit], ...]:
    """For each entry of the branch (or one) the commit that gave it its present form."""
    now = memory.snapshot(branch)
    wanted = {stored.entry.id: stored for stored in now.entries if not entry or stored.entry.id == entry}
    found: dict[EntryId, Commit] = {}
    for commit in memory.store.walk(memory.head(branch)) if memory.exists else ():
        if len(found) == len(wanted):
            break
        before = memory.store.snapshot(commit.parent)
        for one, stored in wanted.items():
            old = before.get(one)
            if one not in found and (old is None or old.blob != stored.blob or old.path != stored.path):
                found[one] = commit
    return tuple((stored.entry, found[one]) for one, stored in wanted.items() if one in found)
