"""Merging one memory branch into another, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.commit import CommitKind, Message, counted, describe, entries_trailer
from noforgetti.model.entry import Writer
from noforgetti.policy import capacity
from noforgetti.policy.merge import Conflicted, Merged, Side, merge
from noforgetti.policy.undo import size_after
from noforgetti.service import candidates
from noforgetti.service.memory import Draft, Memory
from noforgetti.service.pieces import apart, merged
from noforgetti.service.undo import changes_of, entries_of
from noforgetti.store.base import Drop, Edit, PutBlob, UnknownBranch

if TYPE_CHECKING:
    from noforgetti.model.change import Change
    from noforgetti.model.entry import CommitId, EntryId, Snapshot
    from noforgetti.policy.verdict import Refusal


class SelfMerge(NoForgettiError):
    """A branch cannot be merged into itself."""

    kind = Kind.USER
    reason = "self-merge"


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What became of a merge. `conflicts` were changed on both sides; with a preferred side they are settled. `clashes`
    are entries that came and one that was there which say the opposite: both are kept, and wait as candidates."""

    outcome: Literal["merged", "halted", "nothing"]
    branch: str
    source: str
    commit: CommitId | None = None
    changes: tuple[Change, ...] = ()
    conflicts: tuple[str, ...] = ()
    refusal: Refusal | None = None
    clashes: tuple[tuple[EntryId, EntryId], ...] = ()


def merge_branch(
    memory: Memory, branch: str, source: str, *, prefer: Side | None = None, dry_run: bool = False
) -> MergeResult:
    """Take over into `branch` what `source` changed since they parted.

    Always a commit of two parents, never a fast-forward: how far review has read belongs to each branch's own first
    parents, and taking over the other's would skip evidence. Halts, writing nothing, on conflicts without `prefer`.
    """
    if branch == source:
        raise SelfMerge(
            f"Memory branch `{branch}` cannot be merged into itself. Nothing was written.", hint="name another"
        )
    other = memory.head(source)
    if other is None:
        raise UnknownBranch(source)
    planned: list[MergeResult] = []

    def plan(now: Snapshot) -> Draft | MergeResult:
        blank = MergeResult("nothing", branch, source)
        if memory.store.contains(now.commit, other):
            return blank
        base = memory.store.merge_base(now.commit, other)
        was, theirs = memory.store.snapshot(base), memory.store.snapshot(other)
        found = merge(apart(was), apart(now), apart(theirs), prefer=prefer)
        within, disputed = merged(memory, was, now, theirs, prefer=prefer.value if prefer else None)
        if isinstance(found, Conflicted) or (disputed and prefer is None):
            ids = found.entries if isinstance(found, Conflicted) else ()
            return replace(blank, outcome="halted", conflicts=(*ids, *disputed))
        texts = entries_of(memory, found.put)
        refusal = capacity.direct(memory.limits, now.characters, size_after(now, texts, found.drop), now)
        if refusal:
            return replace(blank, outcome="halted", refusal=refusal)
        changes = changes_of(now, texts, found.drop)
        result = replace(blank, outcome="merged", changes=changes, conflicts=(*found.settled, *disputed))
        planned[:] = [result]
        return result if dry_run else _draft(found, within, changes, source, other)

    answer = memory.change(branch, plan)
    if isinstance(answer, MergeResult):
        return answer
    came = [change.after for change in planned[0].changes if change.after is not None]
    waiting = candidates.opposed(memory, memory.snapshot(branch), came, "a merge")
    if waiting:
        memory.aside(lambda: candidates.queue(memory, branch, [one for _, one in waiting], by=Writer.USER))
    return replace(planned[0], commit=answer, clashes=tuple((own, one.entry) for own, one in waiting))


def _draft(found: Merged, within: tuple[Edit, ...], changes: tuple[Change, ...], source: str, other: CommitId) -> Draft:
    edits: list[Edit] = [Drop(path) for path in found.drop]
    edits += [PutBlob(path, blob) for path, blob in found.put.items()]
    edits += within
    listed = entries_trailer(changes)
    trailers = (
        ("Kind", str(CommitKind.MERGE)),
        *((("Entries", listed),) if listed else ()),
        ("Merges", f"{source} {other}"),
    )
    subject = f"merge: {source}: {counted(changes) or 'nothing new'}"
    return Draft(tuple(edits), Message(subject, describe(changes), trailers), parents=(other,))
