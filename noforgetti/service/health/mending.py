"""Mending what can be mended: from the memory's own history, its name, the modes its folders should have.

Damaged bytes are kept: in the history, or where an object or a file is bad itself, in the project's state folder. Every
repair of a branch is a commit of its own, so it can be undone.
"""

from __future__ import annotations

import os
import shutil
import stat
from typing import TYPE_CHECKING

from noforgetti.errors import NoForgettiError
from noforgetti.model.commit import CommitKind, Message
from noforgetti.service import pr_reviews
from noforgetti.service.health import derived, machine, repository
from noforgetti.service.health.finding import Finding
from noforgetti.service.memory import Draft, Memory
from noforgetti.store import folders
from noforgetti.store.base import Edit, PutBlob, UnknownBranch, Unreadable
from noforgetti.store.create import config_reads, rewrite_config, rewrite_head, write_root

if TYPE_CHECKING:
    from noforgetti.model.entry import CommitId, Damaged, Snapshot


def mend(memory: Memory) -> list[Finding]:
    """Restore what can be restored. Answers what was done; every repair is a commit of its own, so it can be undone."""
    done = [*_mend_modes(memory), *_mend_databases(memory), *_mend_reviews(memory)]
    if not memory.exists:
        return done
    done += [*_mend_head(memory), *_mend_config(memory), *_mend_root(memory), *_mend_locks(memory)]
    done += [Finding("ok", "mended", sentence) for sentence in memory.store.heal()]
    known = memory.state.traces()
    for name in repository.branch_names(memory):
        try:
            now = memory.snapshot(name)
        except UnknownBranch:
            continue  # a ref that only points to another one
        except Unreadable as error:
            done.append(Finding("error", "not-mended", f"branch `{name}`: {error.message}", error.hint))
            continue
        done += [
            Finding("ok", "mended", trace["text"])
            for trace in memory.state.traces(1)
            if trace not in known and f"`{name}`" in trace["text"] and "taken back" in trace["text"]
        ]
        if now.damaged:
            done += _restore(memory, name, now)
    return done


def _restore(memory: Memory, branch: str, now: Snapshot) -> list[Finding]:
    done: list[Finding] = []
    edits: list[Edit] = []
    for one in now.damaged:
        source = _last_whole(memory, now.commit, one)
        if source is None:
            done.append(
                Finding(
                    "error",
                    "not-mended",
                    f"branch `{branch}`: no earlier version of `{one.path}` can be read",
                    "remove it with `noforgetti remove`",
                )
            )
            continue
        commit, edit = source
        aside = _keep_aside(memory, one)
        edits.append(edit)
        done.append(Finding("ok", "mended", f"branch `{branch}`: `{one.path}` restored from {commit[:12]}{aside}"))
    if edits:
        trailers = (("Kind", str(CommitKind.REPAIR)),)
        body = "\n".join(f"~ {one.path}\n  ({one.reason})" for one in now.damaged)
        draft = Draft(tuple(edits), Message(f"repair: restore {len(edits)} damaged entries", body, trailers))
        memory.publish(branch, draft, now.commit)
    return done


def _last_whole(memory: Memory, head: CommitId | None, damaged: Damaged) -> tuple[CommitId, PutBlob] | None:
    for commit in memory.store.walk(head):
        try:
            then = memory.store.snapshot(commit.id)
        except Unreadable:
            continue
        for stored in then.entries:
            if stored.path == damaged.path:
                return commit.id, PutBlob(stored.path, stored.blob)
    return None


def _keep_aside(memory: Memory, damaged: Damaged) -> str:
    """Where the damaged bytes are: in the history when git can read them, else copied into the state folder."""
    source = os.path.join(memory.path, "objects", damaged.blob[:2], damaged.blob[2:])
    try:
        memory.store.read_blob(damaged.blob)
    except Unreadable:
        if not os.path.exists(source):
            return ""
        folder = os.path.join(memory.places.state_of(memory.name), "damaged")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        target = os.path.join(folder, damaged.blob)
        os.replace(source, target)
        return f"; the damaged object is kept as `{target}`"
    return f"; the damaged bytes stay in history as blob {damaged.blob[:12]}"


def _mend_head(memory: Memory) -> list[Finding]:
    """Write a damaged HEAD anew. The bytes that were there are kept aside."""
    path = os.path.join(memory.path, "HEAD")
    if repository.head_is_sound(memory) or not os.path.isdir(os.path.join(memory.path, "objects")):
        return []
    aside = _set_aside(memory, path)
    rewrite_head(memory.path)
    return [Finding("ok", "mended", f"`{path}` was written anew{aside}")]


def _mend_config(memory: Memory) -> list[Finding]:
    """Write a damaged repository configuration anew. The bytes that were there are kept aside."""
    path = os.path.join(memory.path, "config")
    if config_reads(memory.path):
        return []
    aside = _set_aside(memory, path)
    rewrite_config(memory.path, memory.project.root)
    return [Finding("ok", "mended", f"`{path}` was written anew{aside}")]


def _set_aside(memory: Memory, path: str) -> str:
    """Move what is at `path` into the state folder; says where, for a finding."""
    if not os.path.lexists(path):
        return ""
    folder = os.path.join(memory.places.state_of(memory.name), "damaged")
    folders.make(folder)
    target = os.path.join(folder, os.path.basename(path))
    shutil.move(path, target)
    return f"; the damaged one is kept as `{target}`"


def _mend_root(memory: Memory) -> list[Finding]:
    if repository.root_is_ours(memory):
        return []
    write_root(memory.path, memory.project.root)
    return [Finding("ok", "mended", f"`{memory.path}` names `{memory.project.root}` as its project now")]


def _mend_modes(memory: Memory) -> list[Finding]:
    """Close to others what should be the user's alone."""
    done = []
    for path in machine.folders_of(memory):
        mode = stat.S_IMODE(os.stat(path).st_mode)
        if mode & 0o077 and os.stat(path).st_uid == os.getuid():
            os.chmod(path, mode & 0o700)
            done.append(Finding("ok", "mended", f"`{path}` is closed to others now"))
    return done


def _mend_databases(memory: Memory) -> list[Finding]:
    """Take damaged databases out of the way: what was in them is derived, or costs a repeated review."""
    done = []
    for one in derived.damaged(memory):
        aside = _set_aside(memory, one)
        for tail in ("-wal", "-shm"):
            if os.path.exists(one + tail):
                os.unlink(one + tail)
        done.append(Finding("ok", "mended", f"`{one}` was taken out of the way{aside}"))
    return done


def _mend_reviews(memory: Memory) -> list[Finding]:
    """Begin the store of comments on pull requests anew with what can be read; the damaged file is kept beside it."""
    try:
        done = pr_reviews.recover(memory)
    except NoForgettiError as error:
        return [Finding("error", "not-mended", error.message, error.hint)]
    if done is None:
        return []
    what = f"{done[1]} comments on pull requests were saved; the damaged file is kept as `{done[0]}`"
    return [Finding("ok", "mended", what)]


def _mend_locks(memory: Memory) -> list[Finding]:
    """Remove the lock files of killed writers, under the write lock: whoever holds it knows that they are nobody's."""
    done = []
    with memory.store.exclusive():
        for path in repository.stale_locks(memory):
            os.unlink(path)
            done.append(Finding("ok", "mended", f"the lock file `{path}` was removed"))
    return done
