"""What is wrong with a memory's repository and what is in it."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING

from noforgetti.model.entry import BranchName
from noforgetti.policy import enforcement, guards
from noforgetti.service import candidates, rules, signals
from noforgetti.service.health.finding import Finding
from noforgetti.store import locks
from noforgetti.store.base import FORMAT, Unreadable
from noforgetti.store.create import config_reads, described, read_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noforgetti.model.entry import Entry
    from noforgetti.service.memory import Memory

_STALE = 5.0  # seconds; the store's own bound for the lock file of a dead writer
_DEEP = 5.0  # seconds for git to walk the history; some 50,000 commits, and `fsck` has all the time it wants
_LOOSE = 2_000  # loose objects above which packing is worth it (design, measured)


def examine(memory: Memory) -> Iterator[Finding]:
    """The repository's own files, then each branch and the books beside it."""
    if not head_is_sound(memory):
        hint = "`noforgetti doctor --fix` writes it anew"
        yield Finding("error", "head-damaged", f"`{memory.path}/HEAD` names no branch", hint, mendable=True)
    try:
        store = memory.store
    except Unreadable as error:
        mendable = not config_reads(memory.path)
        hint = "restore the folder from a backup, or move it away to begin anew"
        hint = "`noforgetti doctor --fix` mends it" if mendable else hint
        yield Finding("error", "unreadable-repository", error.message, hint, mendable=mendable)
        return
    if not root_is_ours(memory):
        what = f"`{memory.path}` says that it is the memory of `{read_root(memory.path) or 'no project'}`"
        yield Finding("warning", "wrong-root", what, "`noforgetti doctor --fix` corrects it", mendable=True)
    yield from _locks(memory)
    told = [one for name in branch_names(memory) for one in _branch(memory, name)]
    yield from told
    if not any(one.level == "error" for one in told):
        yield from _objects(memory)
    loose = store.loose_objects()
    if loose > _LOOSE:
        yield Finding("note", "loose-objects", f"about {loose:,} loose objects", "pack them with `noforgetti gc`")


def root_is_ours(memory: Memory) -> bool:
    """Whether the repository names this project's root; the user-wide one names none."""
    return memory.is_wide or read_root(memory.path) == described(memory.project.root)


def _objects(memory: Memory) -> Iterator[Finding]:
    """Whether the history is whole. The heads were read already; this asks git for all that they rest on."""
    from noforgetti.service.health.gitprogram import GitFailed, connected

    try:
        whole, said = connected(memory, _DEEP)
    except GitFailed:
        return  # told with the programs
    if not whole:
        hint = (
            "what a branch holds now is not touched by it; see `noforgetti fsck`, and restore the object from a clone"
        )
        what = f"the history is not whole: {said.splitlines()[0] if said else 'git does not say why'}"
        yield Finding("error", "history-damaged", what, hint)


def branch_names(memory: Memory) -> list[str]:
    """Branches by their ref files too: a torn ref is not listed by git."""
    names = set(memory.heads())
    folder = os.path.join(memory.path, "refs", "heads")
    for place, _, files in os.walk(folder):  # a push may have made branches with slashes
        inside = os.path.relpath(place, folder)
        names |= {BranchName(os.path.normpath(os.path.join(inside, one))) for one in files if not one.endswith(".lock")}
    return sorted(names)


def head_is_sound(memory: Memory) -> bool:
    """Whether git can take the folder for a repository: its HEAD names a branch."""
    try:
        with open(os.path.join(memory.path, "HEAD"), "rb") as file:
            return re.fullmatch(rb"ref: refs/heads/[^\s\0]+\n?|[0-9a-f]{40}\n?", file.read(4096)) is not None
    except OSError:
        return False


# What becomes of signals that cannot be read.
_SINGLE_LINES = "they are kept as they are; correct or remove them in `signals.jsonl` of the branch's signals"
_WHOLE_FILE = "the next reinforcement takes them back to their newest readable state"


def _branch(memory: Memory, name: str) -> Iterator[Finding]:
    yield from _books(memory, name)
    try:
        head = memory.store.head(name)
        now = memory.store.snapshot(head)
    except Unreadable as error:
        hint = "`noforgetti doctor --fix` goes back along the reflog"
        yield Finding("error", "branch-torn", f"branch `{name}`: {error.message}", hint, mendable=True)
        return
    if now.format != FORMAT:
        what = f"branch `{name}` has format `{now.format}`, newer than {FORMAT}: it can be read only"
        yield Finding("warning", "newer-format", what, "upgrade noforgetti")
    for one in now.damaged:
        hint = "`noforgetti doctor --fix` restores it from history, `noforgetti remove` drops it"
        yield Finding("error", "entry-damaged", f"branch `{name}`: `{one.path}` {one.reason}", hint, mendable=True)
    for entry in now:
        yield from _entry(memory, name, entry)
    waits = [one.entry.id for one in rules.of(memory, now) if one.state == "waits"]
    if waits:
        what = f"branch `{name}`: rules wait for your approval: {', '.join(f'`{own}`' for own in waits)}"
        yield Finding("note", "rules-wait", what, "see `noforgetti rules approve ENTRY`")
    if now.characters > memory.limits.hard:
        what = f"branch `{name}` holds {now.characters:,} characters, more than {memory.limits.hard:,}"
        hint = "remove or shorten entries, `noforgetti archive` cold ones, or `noforgetti dream`"
        yield Finding("warning", "over-limit", what, hint)


def _books(memory: Memory, name: str) -> Iterator[Finding]:
    reason = signals.read(memory, name).reason
    if reason:
        hint = _SINGLE_LINES if "these entries" in reason else _WHOLE_FILE
        yield Finding("warning", "signals-damaged", reason, hint)
    waiting = candidates.read(memory, name).reason
    if waiting:
        hint = "correct `candidates.jsonl`; a queue that is torn is mended by the next one"
        yield Finding("warning", "candidates-damaged", waiting, hint)


def _entry(memory: Memory, name: str, entry: Entry) -> Iterator[Finding]:
    refusal = guards.unsafe(entry.text)
    if refusal:
        what = f"branch `{name}`: entry `{entry.id}` is hidden: {refusal.message}"
        yield Finding("warning", "entry-hidden", what, f"reword or remove it: `noforgetti remove {entry.id}`")
    if entry.enforced and isinstance(rule := enforcement.parse(entry.rule), enforcement.BadRule):
        hint = f"`noforgetti rules set {entry.id} …` binds another, `noforgetti rules clear {entry.id}` takes it off"
        what = f"branch `{name}`: the rule of `{entry.id}` never fires: {rule.reason}"
        yield Finding("warning", "bad-rule", what, hint)
    if len(entry.text) > memory.limits.entry:
        what = f"branch `{name}`: entry `{entry.id}` has {len(entry.text):,} characters"
        yield Finding("note", "entry-long", what, f"at most {memory.limits.entry:,} can be written: split it")


def _locks(memory: Memory) -> Iterator[Finding]:
    holder = locks.held(os.path.join(memory.path, "write.flock"))
    if holder:
        yield Finding("note", "lock-held", f"{holder} is writing now", "wait; a lock is never broken for its age")
    for path in stale_locks(memory):
        what = f"a killed process left the lock file `{path}` {time.time() - os.stat(path).st_mtime:,.0f} s ago"
        hint = "`noforgetti doctor --fix` removes it, and so does the next write"
        yield Finding("warning", "stale-lock", what, hint, mendable=True)


def stale_locks(memory: Memory) -> list[str]:
    """Lock files on refs that nobody alive can have left there."""
    found = []
    for place, _, files in os.walk(os.path.join(memory.path, "refs")):
        paths = (os.path.join(place, name) for name in files if name.endswith(".lock"))
        found += [path for path in paths if os.path.isfile(path) and time.time() - os.stat(path).st_mtime > _STALE]
    return found
