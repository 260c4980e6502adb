"""Taking changes back, and bringing them back again: the selective undo of `policy.undo` on a branch's history."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from noforgetti.model.change import Change, diff
from noforgetti.model.commit import REVIEWS, Commit, CommitKind, Message, describe, entries_trailer
from noforgetti.model.entry import CommitId, Damaged, Entry, Snapshot
from noforgetti.policy import capacity
from noforgetti.policy.undo import Halted, plan, size_after, touched
from noforgetti.service.history import states
from noforgetti.service.memory import Draft, Memory
from noforgetti.service.pieces import apart, changed_by, merged
from noforgetti.store.base import Drop, Edit, PutBlob
from noforgetti.store.codec import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from noforgetti.model.entry import BlobId
    from noforgetti.policy.verdict import Refusal

UNDOING = (CommitKind.UNDO, CommitKind.REDO)


@dataclass(frozen=True, slots=True)
class Conflicting:
    """An entry that stops an undo, and the newest later commit that changed it."""

    id: str
    commit: CommitId | None


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of an undo or redo. `target` is the commit whose work was taken back (or back again); `entries` were
    put back or taken out, `already` needed nothing; `changes` is what happens to entries, also for a dry run."""

    outcome: Literal["undone", "redone", "halted", "nothing"]
    branch: str
    target: Commit | None = None
    commit: CommitId | None = None
    entries: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    conflicts: tuple[Conflicting, ...] = ()
    refusal: Refusal | None = None
    changes: tuple[Change, ...] = ()
    reason: str = ""
    again: bool = False  # a redo


_Choice = Undone | tuple[Draft, Undone]


def undo(memory: Memory, branch: str, target: CommitId | None = None, *, dry_run: bool = False) -> Undone:
    """Take back what one commit did to entries: the newest automatic review that is not undone yet, or `target`.

    Halts, writing nothing, when an entry it touched was changed since. Later work on other entries stays.
    """

    def choose(now: Snapshot) -> _Choice:
        if now.commit is None:
            return Undone("nothing", branch, reason="the memory is empty")
        undone = taken_back(memory, now.commit)
        if target is None:
            commit = next(
                (one for one in memory.store.walk(now.commit) if one.kind in REVIEWS and one.id not in undone),
                None,
            )
            if commit is None:
                return Undone("nothing", branch, reason="no automatic review is left to take back")
        else:
            commit = memory.store.commit(target)
            if not memory.store.contains(now.commit, target):
                return Undone("nothing", branch, commit, reason=f"that commit is not part of branch `{branch}`")
            if target in undone:
                return Undone("nothing", branch, commit, reason="it is undone already")
        trailers = (("Kind", str(CommitKind.UNDO)), ("Undoes", commit.id))
        return _reverse(memory, branch, now, commit, Message(f"undo: {commit.subject}", "", trailers))

    return _carried_out(memory, branch, choose, dry_run=dry_run)


def redo(memory: Memory, branch: str, target: CommitId | None = None, *, dry_run: bool = False) -> Undone:
    """Bring back what the newest undo took, by the rule of undo. After any other change there is nothing to redo.

    `target` names the undo, or the commit it undid, further back.
    """

    def choose(now: Snapshot) -> _Choice:
        if now.commit is None:
            return Undone("nothing", branch, reason="the memory is empty")
        undone = taken_back(memory, now.commit)
        if target is None:
            undoing = _newest_undo(memory, now.commit)
        else:
            undoing = undone.get(target) or next((one for one in undone.values() if one.id == target), None)
        if undoing is None:
            return Undone(
                "nothing",
                branch,
                reason="nothing was undone since the last change" if target is None else "it is not undone",
            )
        original = memory.store.commit(CommitId(undoing.trailer("Undoes")))
        message = Message(f"redo: {original.subject}", "", (("Kind", str(CommitKind.REDO)), ("Redoes", original.id)))
        answer = _reverse(memory, branch, now, undoing, message)
        if isinstance(answer, Undone):
            return replace(answer, target=original)
        return answer[0], replace(answer[1], outcome="redone", target=original)

    return replace(_carried_out(memory, branch, choose, dry_run=dry_run), again=True)


def _carried_out(memory: Memory, branch: str, choose: Callable[[Snapshot], _Choice], *, dry_run: bool) -> Undone:
    planned: list[Undone] = []

    def chosen(now: Snapshot) -> Draft | Undone:
        answer = choose(now)
        if isinstance(answer, Undone):
            return answer
        draft, result = answer
        planned[:] = [result]
        return result if dry_run else draft

    answer = memory.change(branch, chosen)
    return answer if isinstance(answer, Undone) else replace(planned[0], commit=answer)


def _reverse(memory: Memory, branch: str, now: Snapshot, commit: Commit, message: Message) -> _Choice:
    """Plan the opposite of `commit` on `now`."""
    before, after = memory.store.snapshot(commit.parent), memory.store.snapshot(commit.id)
    planned = plan(apart(before), apart(after), apart(now))
    within, moved = merged(memory, after, now, before)
    if isinstance(planned, Halted) or moved:
        ids = planned.entries if isinstance(planned, Halted) else ()
        conflicts = (
            *(Conflicting(one, _changed_by(memory, now, commit.id, one)) for one in ids),
            *(Conflicting(one, changed_by(memory, now, commit.id, one)) for one in moved),
        )
        return Undone("halted", branch, commit, conflicts=conflicts)
    texts = entries_of(memory, planned.put)
    refusal = capacity.direct(memory.limits, now.characters, size_after(now, texts, planned.drop), now)
    if refusal:
        return Undone("halted", branch, commit, refusal=refusal)
    if not planned.put and not planned.drop and not within:
        reason = "everything it did is taken back already" if planned.already else "it changed no entry"
        return Undone("nothing", branch, commit, already=planned.already, reason=reason)
    changes = changes_of(now, texts, planned.drop)
    edits: tuple[Edit, ...] = (
        *(Drop(path) for path in planned.drop),
        *(PutBlob(*one) for one in planned.put.items()),
        *within,
    )
    listed = entries_trailer(changes)
    trailers = (*message.trailers[:1], *((("Entries", listed),) if listed else ()), *message.trailers[1:])
    draft = Draft(edits, replace(message, body=describe(changes), trailers=trailers))
    return draft, Undone("undone", branch, commit, entries=planned.entries, already=planned.already, changes=changes)


def entries_of(memory: Memory, put: Mapping[str, BlobId]) -> dict[str, Entry]:
    """The entries in blobs that are about to be put at paths."""
    found: dict[str, Entry] = {}
    for path, blob in put.items():
        data = memory.store.read_blob(blob)
        read = decode(path, data, blob)
        if not isinstance(read, Damaged):
            found[path] = read
    return found


def changes_of(now: Snapshot, texts: dict[str, Entry], drop: Collection[str]) -> tuple[Change, ...]:
    """What putting and dropping does to the entries of the branch."""
    dropped = {stored.entry.id for stored in now.entries if stored.path in drop}
    after = {one: entry for one, entry in states(now).items() if one not in dropped}
    return diff(states(now), {**after, **{entry.id: entry for entry in texts.values()}})


def _changed_by(memory: Memory, now: Snapshot, since: CommitId, one: str) -> CommitId | None:
    """The newest commit after `since` that touched the entry (or file)."""
    for commit in memory.store.walk(now.commit):
        if commit.id == since:
            break
        if one in touched(memory.store.snapshot(commit.parent), memory.store.snapshot(commit.id)):
            return commit.id
    return None


def taken_back(memory: Memory, head: CommitId) -> dict[CommitId, Commit]:
    """The commits that are undone and not redone since, each with the commit that undid it."""
    settled: set[str] = set()
    found: dict[CommitId, Commit] = {}
    for commit in memory.store.walk(head):
        if commit.kind not in UNDOING:
            continue
        target = commit.trailer("Undoes") or commit.trailer("Redoes")
        if target not in settled:
            settled.add(target)
            if commit.kind is CommitKind.UNDO:
                found[CommitId(target)] = commit
    return found


def _newest_undo(memory: Memory, head: CommitId) -> Commit | None:
    """The newest undo that is not redone, with nothing but undos and redos after it."""
    redone: set[str] = set()
    for commit in memory.store.walk(head):
        if commit.kind is CommitKind.REDO:
            redone.add(commit.trailer("Redoes"))
        elif commit.kind is CommitKind.UNDO:
            if commit.trailer("Undoes") not in redone:
                return commit
            redone.discard(commit.trailer("Undoes"))
        else:
            return None
    return None
