"""Health: what is wrong with a memory, said by name, and what can be mended from its own history.

Looking changes nothing. `mend` restores damaged entries from the newest commit that still has them whole; the damaged
bytes stay in the history, or, where an object file itself is bad, in the project's state folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.commit import CommitKind, Message
from noforgetti.model.entry import BranchName, CommitId, Damaged, Snapshot
from noforgetti.policy import enforcement, guards
from noforgetti.service import candidates, rules, signals
from noforgetti.service.embedding import Embedding
from noforgetti.service.index_state import index_state
from noforgetti.service.memory import Draft, Memory
from noforgetti.service.registry import orphans
from noforgetti.store import folders
from noforgetti.store.base import FORMAT, Edit, PutBlob, UnknownBranch, Unreadable
from noforgetti.store.create import config_reads, rewrite_config, rewrite_head
from noforgetti.store.refs import Refs

if TYPE_CHECKING:
    from collections.abc import Iterator

_STALE = 5.0  # seconds; the store's own bound for the lock file of a dead writer
_UNREAD = 5  # session files that cannot be read and are named
_LOOSE = 2_000  # loose objects above which packing is worth it (design, measured)


class GitFailed(NoForgettiError):
    """The git program could not do what was asked of it."""

    kind = Kind.UNAVAILABLE
    reason = "git-failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a user should know. `level` is `ok`, `note`, `warning` or `error`; `--fix` mends `mendable`."""

    level: str
    what: str
    hint: str = ""
    mendable: bool = False


def examine(memory: Memory) -> list[Finding]:
    """Everything that can be said about this project's memory, worst things included. Changes nothing."""
    found = [Finding("warning", f"setting `{one}` is unknown") for one in memory.settings.unknown]
    if not memory.exists:
        found.append(Finding("ok", "no memory yet: the first write makes it"))
    else:
        found += _repository(memory)
    found += _derived(memory)
    for one in orphans(memory.places, os.path.basename(memory.project.root)):
        hint = f"in the project's new place, `noforgetti doctor --adopt {one.key}` brings it over"
        found.append(Finding("note", f"the memory `{one.name}` has lost its project `{one.root}`", hint))
    return found


def _repository(memory: Memory) -> Iterator[Finding]:
    if not _head_is_sound(memory):
        yield Finding(
            "error", f"`{memory.path}/HEAD` names no branch", "`noforgetti doctor --fix` writes it anew", mendable=True
        )
    try:
        store = memory.store
    except Unreadable as error:
        hint = "restore the folder from a backup, or move it away to begin anew"
        mendable = not config_reads(memory.path)
        yield Finding(
            "error", error.message, "`noforgetti doctor --fix` mends it" if mendable else hint, mendable=mendable
        )
        return
    mode = os.stat(memory.path).st_mode & 0o777
    if mode & 0o077:
        yield Finding("warning", f"`{memory.path}` can be read by others (mode {mode:o})", f"chmod 700 {memory.path}")
    yield from _locks(memory)
    for name in _branch_names(memory):
        yield from _branch(memory, name)
    loose = store.loose_objects()
    if loose > _LOOSE:
        yield Finding("note", f"about {loose:,} loose objects", "pack them with `noforgetti gc`")


def _derived(memory: Memory) -> Iterator[Finding]:
    """What search rests on. Nothing of it can be lost for good, so nothing of it is an error."""
    view = Embedding(memory.settings.embedding, memory.places, os.environ).view()
    if view["reason"]:
        yield Finding("warning", f"search goes by words alone: {view['reason']}", view["hint"])
    state = index_state(memory)["state"]
    if state == "damaged":
        yield Finding("note", "the index of past sessions cannot be read", "the next search begins it anew")
    if state == "ready" and memory.settings.past_sessions:
        from noforgetti.service.recall import Recall

        recall = Recall(memory, Embedding(memory.settings.embedding, memory.places, os.environ))
        for path, why in recall.past.unread()[:_UNREAD]:
            yield Finding("note", f"the session file `{path}` is not searched: {why}")
        recall.close()
    for folder in memory.settings.session_folders:
        if not os.path.isdir(folder):
            yield Finding("warning", f"`session_folders` names `{folder}`, which is no folder", "correct the settings")


def _branch_names(memory: Memory) -> list[str]:
    """Branches by their ref files too: a torn ref is not listed by git."""
    names = set(memory.heads())
    folder = os.path.join(memory.path, "refs", "heads")
    for place, _, files in os.walk(folder):  # a push may have made branches with slashes
        inside = os.path.relpath(place, folder)
        names |= {BranchName(os.path.normpath(os.path.join(inside, one))) for one in files if not one.endswith(".lock")}
    return sorted(names)


def _head_is_sound(memory: Memory) -> bool:
    """Whether git can take the folder for a repository: its HEAD names a branch."""
    try:
        with open(os.path.join(memory.path, "HEAD"), "rb") as file:
            return re.fullmatch(rb"ref: refs/heads/[^\s\0]+\n?|[0-9a-f]{40}\n?", file.read(4096)) is not None
    except OSError:
        return False


def _mend_head(memory: Memory) -> list[Finding]:
    """Write a damaged HEAD anew. The bytes that were there are kept aside."""
    path = os.path.join(memory.path, "HEAD")
    if _head_is_sound(memory) or not os.path.isdir(os.path.join(memory.path, "objects")):
        return []
    aside = _set_aside(memory, path)
    rewrite_head(memory.path)
    return [Finding("ok", f"`{path}` was written anew{aside}")]


def _mend_config(memory: Memory) -> list[Finding]:
    """Write a damaged repository configuration anew. The bytes that were there are kept aside."""
    path = os.path.join(memory.path, "config")
    if config_reads(memory.path):
        return []
    aside = _set_aside(memory, path)
    rewrite_config(memory.path, memory.project.root)
    return [Finding("ok", f"`{path}` was written anew{aside}")]


def _set_aside(memory: Memory, path: str) -> str:
    """Move what is at `path` into the state folder; says where, for a finding."""
    if not os.path.lexists(path):
        return ""
    folder = os.path.join(memory.places.state_of(memory.name), "damaged")
    folders.make(folder)
    target = os.path.join(folder, os.path.basename(path))
    shutil.move(path, target)
    return f"; the damaged one is kept as `{target}`"


# What becomes of signals that cannot be read.
_SINGLE_LINES = "they are kept as they are; correct or remove them in `signals.jsonl` of the branch's signals"
_WHOLE_FILE = "the next reinforcement takes them back to their newest readable state"


def _branch(memory: Memory, name: str) -> Iterator[Finding]:
    reason = signals.read(memory, name).reason
    if reason:
        yield Finding("warning", reason, _SINGLE_LINES if "these entries" in reason else _WHOLE_FILE)
    waiting = candidates.read(memory, name).reason
    if waiting:
        yield Finding("warning", waiting, "correct `candidates.jsonl`; a queue that is torn is mended by the next one")
    try:
        head = memory.store.head(name)
        now = memory.store.snapshot(head)
    except Unreadable as error:
        yield Finding(
            "error",
            f"branch `{name}`: {error.message}",
            "`noforgetti doctor --fix` goes back along the reflog",
            mendable=True,
        )
        return
    if now.format != FORMAT:
        yield Finding("warning", f"branch `{name}` has format `{now.format}`, newer than {FORMAT}: it can be read only")
    for one in now.damaged:
        hint = "`noforgetti doctor --fix` restores it from history, `noforgetti remove` drops it"
        yield Finding("error", f"branch `{name}`: `{one.path}` {one.reason}", hint, mendable=True)
    for entry in now:
        refusal = guards.unsafe(entry.text)
        if refusal:
            yield Finding(
                "warning", f"branch `{name}`: entry `{entry.id}` is hidden: {refusal.message}", "reword or remove it"
            )
        if entry.enforced and isinstance(rule := enforcement.parse(entry.rule), enforcement.BadRule):
            hint = (
                f"`noforgetti rules set {entry.id} …` binds another, `noforgetti rules clear {entry.id}` takes it off"
            )
            yield Finding("warning", f"branch `{name}`: the rule of `{entry.id}` never fires: {rule.reason}", hint)
        if len(entry.text) > memory.limits.entry:
            yield Finding("note", f"branch `{name}`: entry `{entry.id}` has {len(entry.text):,} characters", "split it")
    waits = [one.entry.id for one in rules.of(memory, now) if one.state == "waits"]
    if waits:
        named = ", ".join(f"`{own}`" for own in waits)
        yield Finding(
            "note", f"branch `{name}`: rules wait for your approval: {named}", "see `noforgetti rules approve ENTRY`"
        )
    if now.characters > memory.limits.hard:
        yield Finding(
            "warning",
            f"branch `{name}` holds {now.characters:,} characters, more than {memory.limits.hard:,}",
            "remove or shorten entries",
        )


def _locks(memory: Memory) -> Iterator[Finding]:
    import time

    for place, _, files in os.walk(os.path.join(memory.path, "refs")):
        for name in files:
            if name.endswith(".lock"):
                path = os.path.join(place, name)
                age = time.time() - os.stat(path).st_mtime
                if age > _STALE:
                    what = f"a killed process left the lock file `{path}` {age:,.0f} s ago"
                    yield Finding("note", what, "the next write removes it")


def mend(memory: Memory) -> list[Finding]:
    """Restore what can be restored. Answers what was done; every repair is a commit of its own, so it can be undone."""
    if not memory.exists:
        return []
    done = [*_mend_head(memory), *_mend_config(memory)]
    done += [Finding("ok", sentence) for sentence in memory.store.heal()]
    known = memory.state.traces()
    for name in _branch_names(memory):
        try:
            now = memory.snapshot(name)
        except UnknownBranch:
            continue  # a ref that only points to another one
        except Unreadable as error:
            done.append(Finding("error", f"branch `{name}`: {error.message}", error.hint))
            continue
        done += [
            Finding("ok", trace["text"])
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
                    f"branch `{branch}`: no earlier version of `{one.path}` can be read",
                    "remove it with `noforgetti remove`",
                )
            )
            continue
        commit, edit = source
        aside = _keep_aside(memory, one)
        edits.append(edit)
        done.append(Finding("ok", f"branch `{branch}`: `{one.path}` restored from {commit[:12]}{aside}"))
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


# ---- the git program


def git(memory: Memory, *arguments: str) -> tuple[int, str]:
    """Run git on the repository without the user's configuration, environment and hooks: status and output."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environ.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull, LC_ALL="C", GIT_TERMINAL_PROMPT="0")
    command = [
        "git",
        "--git-dir",
        memory.path,
        "--no-pager",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        f"safe.directory={memory.path}",
    ]
    try:
        done = subprocess.run(
            [*command, *arguments],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise GitFailed(
            f"The program git cannot be started: {error.strerror}.", hint="install git; memory itself works without it"
        ) from error
    return done.returncode, (done.stdout + done.stderr).strip()


def fsck(memory: Memory) -> tuple[bool, str]:
    """`git fsck --strict` on the repository: clean or not, and what it says."""
    status, said = git(memory, "fsck", "--strict", "--no-dangling", "--no-progress")
    return status == 0, said


def pack(memory: Memory) -> str:
    """Pack loose objects and refs beside running writers, in the ways that are safe there. Nothing is pruned."""
    with memory.store.exclusive():
        Refs(memory.path, memory.store.traces.append).clear_stale("packed-refs")
        memory.keep_traces()
        for arguments in (("repack", "-d", "-l", "-q"), ("pack-refs", "--all"), ("prune-packed", "-q")):
            status, said = git(memory, *arguments)
            if status:
                raise GitFailed(
                    f"`git {arguments[0]}` failed: {said.splitlines()[-1] if said else status}. Nothing was lost."
                )
    return "packed"
