"""A memory beside a model of it: dictionaries, no git. Hypothesis walks both; wherever they differ is a fault.

The model knows for each commit what the branch held, what kind of change it was and how far review had read. Undo, redo
and positions are worked out from that alone.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, precondition, rule

from noforgetti.model.entry import MAIN, BranchName, CommitId, Entry, Importance
from noforgetti.review.proposal import Proposal
from noforgetti.review.reviewer import Proposed
from noforgetti.service import branches, positions, reviews, undo, writes
from noforgetti.service.health.gitprogram import pack
from noforgetti.store import failpoints
from noforgetti.store.base import BranchExists, Conflict
from noforgetti.store.git import Store

from .builders import Clock, bare_memory, entry, fsck, git, review_draft, state_of, transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from noforgetti.model.evidence import Window
    from noforgetti.policy.capacity import Limits
    from noforgetti.service.memory import Draft, Memory
    from noforgetti.service.undo import Undone

TEXTS = tuple(
    f"Module {name} keeps its settings in TOML files." for name in ["amber", "birch", "cedar", "delta", "ember", "fern"]
)
NAMES = ("main", "left", "right")
SESSIONS = ("s1", "s2")
_CRASHES = tuple(name for name in failpoints.NAMES if not name.startswith("create:"))

_FAST = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of syncs that nobody needs here

names = st.sampled_from(NAMES)
texts = st.sampled_from(TEXTS)
picks = st.integers(0, 7)


class Crashed(BaseException):
    """The process would be gone here."""


@dataclass(frozen=True)
class Known:
    """What the model knows of a commit."""

    parent: CommitId | None
    entries: Mapping[str, Entry]
    kind: str = "write"
    about: CommitId | None = None  # the commit that was undone or redone
    session: str = ""
    upto: int = -1


@dataclass
class Model:
    """Branches, commits and review positions as plain values."""

    commits: dict[CommitId, Known] = field(default_factory=dict)
    heads: dict[str, CommitId] = field(default_factory=dict)
    notes: dict[tuple[str, str], tuple[int, CommitId | None]] = field(default_factory=dict)

    def entries(self, branch: str) -> dict[str, Entry]:
        head = self.heads.get(branch)
        return dict(self.commits[head].entries) if head else {}

    def chain(self, branch: str) -> list[tuple[CommitId, Known]]:
        found, at = [], self.heads.get(branch)
        while at is not None:
            found.append((at, self.commits[at]))
            at = self.commits[at].parent
        return found

    def position(self, branch: str, session: str) -> int:
        chain = self.chain(branch)
        read = [one.upto for _, one in chain if one.session == session][:1]
        noted = self.notes.get((branch, session))
        if noted is not None and (noted[1] is None or noted[1] in dict(chain)):
            read.append(noted[0])
        return max(read, default=-1)

    def undone(self, branch: str) -> dict[CommitId, CommitId]:
        """Which commits are undone now, and by which."""
        found: dict[CommitId, CommitId] = {}
        for at, one in reversed(self.chain(branch)):
            if one.kind == "undo" and one.about:
                found[one.about] = at
            elif one.kind == "redo" and one.about:
                found.pop(one.about, None)
        return found

    def redoable(self, branch: str) -> CommitId | None:
        """The newest undo that is still in force, when only undos and redos came after it."""
        undone = self.undone(branch)
        for at, one in self.chain(branch):
            if one.kind not in ("undo", "redo"):
                return None
            if at in undone.values():
                return at
        return None

    def reversed(self, branch: str, commit: CommitId) -> dict[str, Entry] | set[str]:
        """What the branch holds once `commit` is taken back, or the ids that changed since."""
        known = self.commits[commit]
        before = self.commits[known.parent].entries if known.parent else {}
        after, result = known.entries, self.entries(branch)
        touched = [one for one in {**before, **after} if before.get(one) != after.get(one)]
        changed = {one for one in touched if result.get(one) not in (before.get(one), after.get(one))}
        changed |= {one for one in touched if result.get(one) is None and before.get(one) and after.get(one)}
        if changed:
            return changed
        stays = {e.text for one, e in result.items() if one not in touched or before.get(one) == e}
        for one in touched:
            old = before.get(one)
            if result.get(one) == old:
                continue
            result.pop(one, None)
            if old is not None and old.text not in stays:
                result[one] = old
        return result


@dataclass
class Scripted:
    """A reviewer that says what it is told, after something else has happened."""

    operations: list[dict[str, Any]]
    meanwhile: Callable[[], None]
    name: str = "scripted"

    def propose(self, window: Window, state: Any, limits: Limits) -> Proposed:
        self.meanwhile()
        return Proposed(Proposal.model_validate({"operations": tuple(self.operations)}))


@dataclass(frozen=True)
class Pending:
    """A proposal that was built on the head of its time."""

    branch: str
    base: CommitId | None
    draft: Draft
    entries: Mapping[str, Entry]


class MemoryMachine(RuleBasedStateMachine):
    """Rules do the same to a real repository and to the model; invariants compare."""

    pending: Bundle[Pending] = Bundle("pending")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="noforgetti-machine-", dir=_FAST))
        self.clock = Clock()
        self.memory: Memory = bare_memory(self.folder, self.clock)
        self.model = Model()
        self.step = 0

    def teardown(self) -> None:
        self.memory.close()
        if os.path.exists(self.memory.path):
            assert fsck(self.memory.path) == ""
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- what rules share

    def branch(self, name: str) -> str:
        return name if name in self.model.heads else "main"

    def picked(self, branch: str, pick: int) -> Entry | None:
        have = sorted(self.model.entries(branch).values(), key=lambda one: (one.text, one.id))
        return have[pick % len(have)] if have else None

    def moved(self, branch: str, commit: CommitId, entries: Mapping[str, Entry], **known: Any) -> None:
        """The branch has one more commit."""
        assert commit not in self.model.commits
        self.model.commits[commit] = Known(self.model.heads.get(branch), dict(entries), **known)
        self.model.heads[branch] = commit
        self.clock.tick()

    def reworded(self, branch: str, pick: int, text: str) -> tuple[Entry, bool] | None:
        """The entry that a rewording means and whether it would change anything."""
        old = self.picked(branch, pick)
        if old is None:
            return None
        taken = any(one.text == text for one in self.model.entries(branch).values())
        return old, not taken

    # ---- direct writes

    @rule(name=names, text=texts)
    def add(self, name: str, text: str) -> None:
        branch, have = self.branch(name), self.model.entries(self.branch(name))
        done = writes.add(self.memory, branch, text)
        if any(one.text == text for one in have.values()):
            assert (done.outcome, done.commit) == ("duplicate", None)
            return
        assert done.outcome == "added"
        assert done.commit is not None
        assert done.entry is not None
        assert done.entry.id not in have
        self.moved(branch, done.commit, {**have, done.entry.id: done.entry})

    @rule(name=names, pick=picks, text=texts)
    def replace(self, name: str, pick: int, text: str) -> None:
        branch = self.branch(name)
        meant = self.reworded(branch, pick, text)
        if meant is None:
            return
        old, changes = meant
        done = writes.reword(self.memory, branch, old.id, text)
        if not changes:
            assert (done.outcome, done.commit) == ("duplicate" if old.text == text else "refused", None)
            return
        assert done.outcome == "replaced"
        assert done.commit is not None
        self.moved(branch, done.commit, {**self.model.entries(branch), old.id: old.with_text(text)})

    @rule(name=names, pick=picks)
    def remove(self, name: str, pick: int) -> None:
        branch = self.branch(name)
        old = self.picked(branch, pick)
        if old is None:
            return
        done = writes.remove(self.memory, branch, old.id)
        assert done.outcome == "removed"
        assert done.commit is not None
        have = self.model.entries(branch)
        del have[old.id]
        self.moved(branch, done.commit, have)

    # ---- branches

    @precondition(lambda self: self.model.heads)
    @rule(source=names, name=names)
    def fork(self, source: str, name: str) -> None:
        source = self.branch(source)
        if name == "main" or name in self.model.heads:
            with pytest.raises(BranchExists):
                branches.fork(self.memory, source, name)
            return
        made = branches.fork(self.memory, source, name)
        assert made.head == self.model.heads[source]
        self.model.heads[name] = self.model.heads[source]
        for (branch, session), noted in list(self.model.notes.items()):
            if branch == source:
                self.model.notes.setdefault((name, session), noted)

    @precondition(lambda self: self.model.heads)
    @rule(name=names, pick=picks)
    def create_over(self, name: str, pick: int) -> None:
        """Whoever creates a branch that is there changes nothing, whatever they looked at before."""
        commits = list(self.model.commits)
        with pytest.raises((BranchExists, Conflict)):
            self.memory.store.publish(self.branch(name), commits[-1 - pick % len(commits)], None)

    @rule(name=names)
    def delete(self, name: str) -> None:
        if name == "main" or name not in self.model.heads:
            return
        assert branches.delete(self.memory, name) == self.model.heads.pop(name)
        self.model.notes = {key: noted for key, noted in self.model.notes.items() if key[0] != name}

    @precondition(lambda self: self.model.heads)
    @rule(name=names, pick=picks)
    def rewind(self, name: str, pick: int) -> None:
        """Somebody moves a branch back with plain git."""
        branch = self.branch(name)
        chain = self.model.chain(branch)
        older = chain[pick % min(3, len(chain))][0]
        git(self.memory.path, "update-ref", f"refs/heads/{branch}", older)
        self.model.heads[branch] = older

    # ---- reviews

    def proposal(self, branch: str, pick: int, text: str) -> dict[str, Entry]:
        """The state that a review would leave: it adds, rewords or swaps."""
        have = self.model.entries(branch)
        old = self.picked(branch, pick)
        other = self.picked(branch, pick + 1)
        if old is not None and other is not None and old.id != other.id and pick % 4 == 3:
            have.pop(other.id)
            return {**have, old.id: old.with_text(other.text)}  # consolidated under the words of the second
        free = not any(one.text == text for one in have.values())
        if old is not None and pick % 2 and free:
            return {**have, old.id: old.with_text(text)}
        if free:
            new = entry(text, f"reviewed-{len(self.model.commits)}-{self.step}")
            return {**have, new.id: new}
        if old is not None:
            have.pop(old.id)
        return have

    @rule(target=pending, name=names, pick=picks, text=texts, session=st.sampled_from(SESSIONS), more=st.integers(1, 3))
    def propose(self, name: str, pick: int, text: str, session: str, more: int) -> Any:
        branch = self.branch(name)
        wanted, have = self.proposal(branch, pick, text), self.model.entries(branch)
        if wanted == have:
            return multiple()
        upto = self.model.position(branch, session) + more
        draft = review_draft(
            self.memory.snapshot(branch),
            add=[one for key, one in wanted.items() if key not in have],
            reword={key: one.text for key, one in wanted.items() if key in have and have[key] != one},
            remove=[key for key in have if key not in wanted],
            session=session,
            window=f"i0..i{upto}",
        )
        return Pending(branch, self.model.heads.get(branch), draft, wanted)

    @rule(one=consumes(pending))
    def admit(self, one: Pending) -> None:
        """A review lands on the very head it read, or not at all."""
        branch, head = one.branch, self.model.heads.get(one.branch)
        if one.base is None and not self.memory.exists:
            self.memory.prepare()
        if head != one.base:
            with pytest.raises((Conflict, BranchExists)):
                self.memory.publish(branch, one.draft, one.base)
            return
        commit = self.memory.publish(branch, one.draft, one.base)
        window = dict(one.draft.message.trailers)
        upto = int(window["Window"].rpartition("i")[2])
        self.moved(branch, commit, one.entries, kind="review", session=window["Session"], upto=upto)

    @rule(
        name=names,
        pick=picks,
        text=texts,
        session=st.sampled_from(SESSIONS),
        more=st.integers(1, 2),
        fact=st.sampled_from(["add", "replace", "remove", "nothing"]),
        overtaken=st.booleans(),
    )
    def review(self, name: str, pick: int, text: str, session: str, more: int, fact: str, overtaken: bool) -> None:
        """The whole way of a review, with and without somebody who writes while the reviewer thinks."""
        branch, have = self.branch(name), self.model.entries(self.branch(name))
        upto = self.model.position(branch, session) + more
        old = self.picked(branch, pick)

        said: list[dict[str, Any]] = []
        if fact == "add":
            said.append({"action": "add", "content": text, "importance": Importance.NORMAL, "evidence": ("e1",)})
        elif fact == "replace" and old is not None:
            said.append({"action": "replace", "entryId": old.id, "content": text, "evidence": ("e1",)})
        elif fact == "remove" and old is not None:
            said.append({"action": "remove", "entryId": old.id, "evidence": ("e1",)})

        def meanwhile() -> None:
            if overtaken:
                self.add(branch, f"Somebody wrote sentence {self.step} meanwhile.")

        done = reviews.review(
            self.memory,
            BranchName(branch),
            transcript(upto + 1, session=session, branch=branch),
            Scripted(said, meanwhile),
            forced=True,
        )
        if done.outcome == "no-change":
            # The evidence was read against the head that was reviewed.
            chain = self.model.chain(branch)
            seen = (chain[1][0] if len(chain) > 1 else None) if overtaken else self.model.heads.get(branch)
            self.model.notes[branch, session] = (upto, seen)
        elif overtaken:
            assert (done.outcome, done.commit) == ("stale", None)
        else:
            assert done.outcome == "applied", done
            assert done.commit is not None
            kept: dict[str, Entry] = dict(have)
            for change in done.changes:
                kept.pop(change.id, None)
                if change.after is not None:
                    kept[change.id] = change.after
            wanted = [] if fact == "remove" else [text]
            assert [change.after.text for change in done.changes if change.after] == wanted
            self.moved(branch, done.commit, kept, kind="review", session=session, upto=upto)

    # ---- undo and redo

    @rule(name=names)
    def undo(self, name: str) -> None:
        branch = self.branch(name)
        undone = self.model.undone(branch)
        chain = self.model.chain(branch)
        target = next((at for at, one in chain if one.kind == "review" and at not in undone), None)
        self.taken_back(branch, undo.undo(self.memory, branch), target, "undo", target)

    @precondition(lambda self: self.model.heads)
    @rule(name=names, pick=picks)
    def undo_named(self, name: str, pick: int) -> None:
        branch = self.branch(name)
        chain = [at for at, one in self.model.chain(branch) if one.kind in ("review", "write")]
        if not chain:
            return
        named = chain[pick % len(chain)]
        target = None if named in self.model.undone(branch) else named
        self.taken_back(branch, undo.undo(self.memory, branch, named), target, "undo", target)

    @rule(name=names)
    def redo(self, name: str) -> None:
        branch = self.branch(name)
        target = self.model.redoable(branch)
        about = self.model.commits[target].about if target else None
        self.taken_back(branch, undo.redo(self.memory, branch), target, "redo", about)

    def taken_back(self, branch: str, done: Undone, target: CommitId | None, kind: str, about: CommitId | None) -> None:
        expected = self.model.reversed(branch, target) if target else self.model.entries(branch)
        if isinstance(expected, set):
            assert (done.outcome, done.commit) == ("halted", None)
            assert {one.id for one in done.conflicts} == expected
        elif expected == self.model.entries(branch):
            assert (done.outcome, done.commit) == ("nothing", None)
        else:
            assert done.outcome == ("undone" if kind == "undo" else "redone")
            assert done.commit is not None
            self.moved(branch, done.commit, expected, kind=kind, about=about)

    # ---- what happens to processes and files

    @rule()
    def reopen(self) -> None:
        self.memory.close()
        self.memory = self.memory.twin()

    @precondition(lambda self: self.model.heads)
    @rule(how=st.sampled_from(["ours", "pack-refs", "repack"]))
    def pack(self, how: str) -> None:
        if how == "ours":
            pack(self.memory)
        elif how == "pack-refs":
            git(self.memory.path, "pack-refs", "--all")
        else:
            git(self.memory.path, "repack", "-d", "-l", "-q")

    @rule(name=names, text=texts, moment=st.sampled_from(_CRASHES))
    def crash(self, name: str, text: str, moment: str) -> None:
        """A write that dies on the way has happened whole or not at all."""
        branch, have = self.branch(name), self.model.entries(self.branch(name))
        if any(one.text == text for one in have.values()):
            return

        def die(reached: str) -> None:
            if reached == moment:
                raise Crashed

        failpoints.arm(die)
        try:
            with pytest.raises(Crashed):
                writes.add(self.memory, branch, text)
        finally:
            failpoints.arm(None)
        self.reopen()
        head = self.memory.head(branch)
        if head != self.model.heads.get(branch):
            assert moment == "publish:done"
            assert head is not None
            now = state_of(self.memory.snapshot(branch))
            (new,) = now.keys() - have.keys()
            assert now[new].text == text
            self.moved(branch, head, {**have, new: now[new]})

    # ---- what holds after every step

    @invariant()
    def what_another_process_sees_is_the_model(self) -> None:
        self.step += 1
        if not self.memory.exists:
            assert self.model.heads == {}
            return
        eye = Store(self.memory.path)
        try:
            assert eye.heads() == self.model.heads
            for head in set(self.model.heads.values()):
                assert state_of(eye.snapshot(head)) == self.model.commits[head].entries
        finally:
            eye.close()

    @invariant()
    def old_commits_never_change(self) -> None:
        if self.model.commits:
            commits = list(self.model.commits)
            one = commits[self.step % len(commits)]
            eye = Store(self.memory.path)
            try:
                assert state_of(eye.snapshot(one)) == self.model.commits[one].entries
                assert eye.commit(one).parent == self.model.commits[one].parent
            finally:
                eye.close()

    @invariant()
    def a_position_is_where_its_evidence_is(self) -> None:
        for branch in list(self.model.heads) or [MAIN]:
            for session in SESSIONS:
                found = positions.position(
                    self.memory, BranchName(branch), transcript(200, session=session, branch=branch)
                )
                at = int(found.item[1:]) if found else -1
                assert at == self.model.position(branch, session), (branch, session)
