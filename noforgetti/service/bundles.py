"""Bundles brought back: every branch with its history, commit for commit.

A branch that is not here is created, one that is behind is moved forward, and one that went its own way stays as it is:
the bundle's comes beside it under a free name, for `merge`. Nothing here is overwritten, and a run that was killed is
finished by the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.entry import MAIN, BranchName
from noforgetti.policy.names import BadBranchName, branch_name, proposed
from noforgetti.store import bundle as bundles
from noforgetti.store.git import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from noforgetti.model.entry import CommitId
    from noforgetti.service.memory import Memory


class NoMemory(NoForgettiError):
    """A bundle of which no branch can be brought in."""

    kind = Kind.USER
    reason = "unreadable-source"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"No branch of the bundle `{path}` can be brought in: {why}. Nothing was imported.",
            hint="make it with `noforgetti export bundle`",
        )


class Outcome(StrEnum):
    """What becomes of a branch of a bundle."""

    CREATED = "created"
    FORWARD = "moved-forward"
    HERE = "already-here"
    BESIDE = "beside"  # both went on: it comes under another name
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Restored:
    """One branch of a bundle: its name there, its name here, where it stands, and what became of it."""

    name: str
    branch: str
    commit: CommitId
    outcome: Outcome
    reason: str = ""


def is_bundle(path: str) -> bool:
    """Whether a file begins as a bundle does."""
    return bundles.is_bundle(path)


def restore(memory: Memory, path: str, *, dry_run: bool = False) -> tuple[Restored, ...]:
    """Bring the branches of a bundle in. With `dry_run` only say what would become of them. Raises `BadBundle`,
    `NoMemory`, `NoGit` and what the store raises."""
    if dry_run or not memory.exists:  # of a file that is torn no memory is begun
        plan = _tried(memory, path)
        if dry_run:
            return plan
    memory.prepare()
    refs = bundles.fetch(memory.path, path)
    memory.close()  # objects came in beside an open store
    try:
        with memory.store.exclusive():
            plan = _planned(memory.store, path, bundles.branches(refs), wide=memory.is_wide)
            for one in plan:
                _publish(memory, one, refs)
        return plan
    finally:
        bundles.release(memory.path)


def _tried(memory: Memory, path: str) -> tuple[Restored, ...]:
    """What would become of the branches, found out where nothing of it stays."""
    with bundles.aside(memory.path if memory.exists else "") as folder:
        refs = bundles.fetch(folder, path)
        store = Store(folder)
        try:
            return _planned(store, path, bundles.branches(refs), wide=memory.is_wide)
        finally:
            store.close()


def _planned(store: Store, path: str, there: Mapping[BranchName, CommitId], *, wide: bool) -> tuple[Restored, ...]:
    here = store.heads()
    found: list[Restored] = []
    for name, commit in sorted(there.items(), key=lambda one: (one[0] != MAIN, one[0])):
        one = _fate(store, here, name, commit, wide=wide)
        if one.outcome is not Outcome.REFUSED:
            here[BranchName(one.branch)] = commit if one.outcome is not Outcome.HERE else here[BranchName(one.branch)]
        found.append(one)
    if all(one.outcome is Outcome.REFUSED for one in found):
        raise NoMemory(path, found[0].reason)
    return tuple(found)


def _fate(store: Store, here: Mapping[BranchName, CommitId], name: str, commit: CommitId, *, wide: bool) -> Restored:
    if wide and name != MAIN:
        return Restored(name, name, commit, Outcome.REFUSED, "the user-wide memory has one branch, `main`")
    if not store.whole(commit):
        return Restored(name, name, commit, Outcome.REFUSED, "its objects cannot be read")
    now = store.snapshot(commit)
    if "format" not in now.files and not now.entries:
        return Restored(name, name, commit, Outcome.REFUSED, "it is a branch of something else than a memory")
    try:
        wanted = branch_name(name)
    except BadBranchName:
        wanted = BranchName(proposed(name))
    twin = next((one for one in here if one.casefold() == wanted.casefold()), None)
    if twin is None:
        return Restored(name, wanted, commit, Outcome.CREATED)
    if store.contains(here[twin], commit):
        return Restored(name, twin, commit, Outcome.HERE)
    if twin == wanted and store.contains(commit, here[twin]):
        return Restored(name, twin, commit, Outcome.FORWARD)
    known = next((one for one, at in here.items() if at == commit), None)
    if known is not None:
        return Restored(name, known, commit, Outcome.HERE)
    return Restored(name, _free(wanted, here), commit, Outcome.BESIDE)


def _free(name: str, here: Mapping[BranchName, CommitId]) -> str:
    """A name beside the one that is taken."""
    taken = {one.casefold() for one in here}
    number = 1
    while True:
        found = f"{name[:48]}-imported" + (f"-{number}" if number > 1 else "")
        if found.casefold() not in taken:
            return found
        number += 1


def _publish(memory: Memory, one: Restored, refs: Mapping[str, CommitId]) -> None:
    if one.outcome in (Outcome.HERE, Outcome.REFUSED):
        return
    store = memory.store
    old = store.head(one.branch) if one.outcome is Outcome.FORWARD else None
    if one.outcome is not Outcome.FORWARD:
        for ref, at in refs.items():  # what use said of the branch; before it, so that no branch is without
            space, _, name = ref.rpartition("/")
            if ref.startswith(bundles.BESIDE) and name == one.name:
                space += "/"
                if store.head(one.branch, space=space) is None and store.whole(at):
                    store.publish(one.branch, at, None, space=space, reason="import: from a bundle")
    store.publish(one.branch, one.commit, old, reason="import: from a bundle")


def restored_view(plan: tuple[Restored, ...], path: str, *, dry_run: bool) -> dict[str, Any]:
    """What became of a bundle's branches; `outcome` is `nothing` when all of them were here."""
    moved = [one for one in plan if one.outcome not in (Outcome.HERE, Outcome.REFUSED)]
    done = "planned" if dry_run else "imported"
    return {
        "outcome": done if moved else "nothing",
        "source": "noforgetti",
        "path": path,
        "branches": [
            {
                "name": one.name,
                "branch": one.branch,
                "commit": one.commit,
                "outcome": one.outcome,
                **({"reason": one.reason} if one.reason else {}),
            }
            for one in plan
        ],
    }
