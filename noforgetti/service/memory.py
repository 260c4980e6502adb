"""One memory, opened: the place where discovery, settings, the clock and the repository meet.

Every use case works on a `Memory`: a project's, or the user-wide one, which is one more repository and belongs to no
project. Reading never creates anything; the repository is made by the first write.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from noforgetti.errors import NoForgettiError
from noforgetti.model.commit import AUTHORS, Author, Message
from noforgetti.model.entry import MAIN, BranchName, CommitId, EntryId, Snapshot, Writer
from noforgetti.policy.capacity import Limits, scaled
from noforgetti.service.places import WIDE, Places, places
from noforgetti.service.state import State
from noforgetti.store import folders
from noforgetti.store.base import Conflict, Edit, UnknownBranch, Unreadable
from noforgetti.store.discovery import Project, discover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from noforgetti.policy.beside import Meaning
    from noforgetti.service.settings import Settings
    from noforgetti.store.git import Store

_ATTEMPTS = 8  # plans of a direct write; only a push into the repository can overtake a plan made under the write lock


@dataclass(frozen=True, slots=True)
class Draft:
    """A change that is planned on one head: what to write and what the commit says."""

    edits: tuple[Edit, ...]
    message: Message
    writer: Writer = Writer.USER
    parents: tuple[CommitId, ...] = ()
    author: Author | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What views say of a whole snapshot; worth keeping, because a large memory is judged entry by entry."""

    entries: int
    characters: int
    hidden: tuple[EntryId, ...]


Answer = TypeVar("Answer")
NOWHERE = Project("", kind="none")  # what the user-wide memory has in place of a project
_FACTS = 16  # snapshots whose facts are kept: one for each branch that sessions of a bridge use


class Unexpected(Conflict):
    """The branch is not where the caller knows it to be: what he decided, he decided on another memory."""

    def __init__(self, branch: str, expected: CommitId | None, actual: CommitId | None) -> None:
        super().__init__(branch, expected, actual)
        there, here = (one[:12] if one else "no commit" for one in (expected, actual))
        self.args = (f"Branch `{branch}` stands at {here}, not at {there} as expected. Nothing was written.",)
        self.message = str(self)
        self.hint = "read the branch again, then decide anew"


class Memory:
    """The memory of one project, or the user-wide one. Belongs to one thread; see `twin` for another one."""

    def __init__(
        self, project: Project, where: Places, settings: Settings, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.project, self.places, self.settings, self.clock = project, where, settings, clock
        self.path = where.repository(self.name)
        self.limits = _limits(settings)
        self._store: Store | None = None
        self._state: State | None = None
        self._facts: dict[CommitId, Facts] = {}
        self._wide: Memory | None = None
        self._expected: tuple[str, CommitId | None] | None = None  # a branch and where a caller knows it to be
        self.meaning: Meaning | None = None  # how near texts are; set by whoever has a model in this process

    @property
    def name(self) -> str:
        """`<name>-<key>`, the name of all the project's files; `user` for the user-wide memory."""
        return WIDE if self.is_wide else self.project.repository_name.removesuffix(".git")

    @property
    def is_wide(self) -> bool:
        """True for the user-wide memory."""
        return not self.project.root

    @property
    def wide(self) -> Memory:
        """The user-wide memory: what holds for this user in every project. It has the branch `main` only."""
        if self.is_wide:
            return self
        if self._wide is None:
            self._wide = Memory(NOWHERE, self.places, self.settings, clock=self.clock)
            self._wide.meaning = self.meaning
        return self._wide

    @property
    def exists(self) -> bool:
        """True once something was written. What is there and is no repository counts: opening it says what is wrong,
        where an empty memory would only seem new."""
        if os.path.isfile(os.path.join(self.path, "HEAD")):
            return True
        try:
            return bool(os.listdir(self.path))
        except FileNotFoundError:
            return False
        except NotADirectoryError:
            return os.path.lexists(self.path)  # else it is a folder above that is none: nothing was ever written
        except OSError:
            return True

    @property
    def store(self) -> Store:
        """The repository. Raises `Unreadable` when it is there and broken; call only when `exists`."""
        if self._store is None:
            from noforgetti.store.git import Store

            self._store = Store(self.path)
        return self._store

    @property
    def state(self) -> State:
        """The derived state, opened on first use."""
        if self._state is None:
            self._state = State(self.places.state_of(self.name))
        return self._state

    def twin(self) -> Memory:
        """The same memory for another thread."""
        twin = Memory(self.project, self.places, self.settings, clock=self.clock)
        twin.meaning = self.meaning
        return twin

    def close(self) -> None:
        """Free files and threads."""
        if self._store is not None:
            self._store.close()
            self._store = None
        if self._state is not None:
            self._state.close()
            self._state = None
        if self._wide is not None:
            self._wide.close()
            self._wide = None

    # ---- reading

    def head(self, branch: str) -> CommitId | None:
        """Where the branch stands; None for `main` before the first write. Raises `UnknownBranch`."""
        head = self._head(branch) if self.exists else None
        if head is None and branch != MAIN:
            raise UnknownBranch(branch)
        return head

    def snapshot(self, branch: str) -> Snapshot:
        """What the branch holds now. A branch that power loss tore is taken back to its newest readable commit."""
        head = self.head(branch)
        if head is None:
            return Snapshot()
        try:
            return self.store.snapshot(head)
        except Unreadable:
            return self.store.snapshot(self._recovered(branch))

    def facts(self, now: Snapshot) -> Facts:
        """Size of a snapshot, and its entries whose text may not be shown. Kept by commit."""
        known = self._facts.get(now.commit) if now.commit else None
        if known is None:
            from noforgetti.policy import guards

            hidden = tuple(entry.id for entry in now if guards.unsafe(entry.text))
            known = Facts(len(now), now.characters, hidden)
            if now.commit and not now.damaged:
                if len(self._facts) >= _FACTS:
                    self._facts.pop(next(iter(self._facts)))
                self._facts[now.commit] = known
        return known

    def heads(self) -> dict[BranchName, CommitId]:
        """All branches and their heads."""
        return self.store.heads() if self.exists else {}

    def current(self) -> BranchName:
        """The branch that the command line works on: what `use` selected, else `main`. A deleted one is `main`."""
        chosen = selected(self.places.state_of(self.name))
        if chosen and chosen != MAIN and self.exists and self.store.head(chosen) is not None:
            return BranchName(chosen)
        return MAIN

    def select(self, branch: BranchName) -> None:
        """Remember the branch for the command line."""
        folder = self.places.state_of(self.name)
        folders.make(folder)
        temporary = os.path.join(folder, f".branch-{os.getpid()}")
        with open(temporary, "w", encoding="utf-8", opener=folders.private) as file:
            file.write(branch + "\n")
        os.replace(temporary, os.path.join(folder, "branch"))

    # ---- writing

    def change(self, branch: str, plan: Callable[[Snapshot], Draft | Answer]) -> CommitId | Answer:
        """Plan on the current head and publish; plan again when the head moved. Any other answer of `plan` is returned.

        Raises `Conflict` when the head moved under every plan, and everything that the store raises.
        """
        if not self.exists:
            self._compare(branch)
            first = plan(self.snapshot(branch))
            if not isinstance(first, Draft):
                return first
            self.prepare()
        for attempt in range(_ATTEMPTS):
            with self.store.exclusive():
                self._compare(branch)  # under the lock: what follows is planned on this head and on no other
                answer = plan(self.snapshot(branch))
                if not isinstance(answer, Draft):
                    return answer
                try:
                    return self.publish(branch, answer, self.head(branch))
                except Conflict:
                    if attempt == _ATTEMPTS - 1:
                        raise
        raise AssertionError("unreachable")

    @contextmanager
    def expecting(self, branch: str, head: CommitId | None) -> Iterator[None]:
        """Within the block the branch is changed only from `head` (None: before the first write). Raises `Unexpected`,
        at the beginning and at every change. What lies elsewhere, as the user-wide memory does, is not bound by it."""
        self._expected = (branch, head)
        try:
            self._compare(branch)
            yield
        finally:
            self._expected = None

    def _compare(self, branch: str) -> None:
        if self._expected is not None and self._expected[0] == branch:
            head = self.head(branch)
            if head != self._expected[1]:
                raise Unexpected(branch, self._expected[1], head)

    def publish(self, branch: str, draft: Draft, base: CommitId | None) -> CommitId:
        """Write the draft as a child of `base` and move the branch there. Raises `Conflict` when it is elsewhere."""
        if self._expected is not None and self._expected[0] == branch and base != self._expected[1]:
            raise Unexpected(branch, self._expected[1], base)
        author = draft.author or AUTHORS[draft.writer]
        new = self.store.write(
            base, draft.edits, draft.message, author=author, seconds=int(self.clock()), parents=draft.parents
        )
        self.store.publish(branch, new, base, reason=draft.message.subject)
        self.keep_traces()
        return new

    def prepare(self) -> None:
        """Make the repository if it is not there."""
        if not self.exists:
            from noforgetti.store.create import create

            create(self.path, self.project.root)

    def keep_traces(self) -> None:
        """Move what the store mended by itself to where `status` shows it."""
        if self._store is not None and self._store.traces:
            for sentence in self._store.traces:
                self.state.trace("warning", sentence)
            self._store.traces.clear()

    def aside(self, work: Callable[[], Answer]) -> Answer | None:
        """Do what follows a change that is done: trouble is a trace that `status` shows, not a failure."""
        try:
            return work()
        except NoForgettiError as error:
            self.state.trace("warning", str(error))
            return None

    def stamp(self) -> str:
        """Now, as RFC 3339 UTC."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.clock()))

    def draw(self, below: int) -> int:
        """A random number for ids."""
        import secrets

        return secrets.randbelow(below)

    def _head(self, branch: str) -> CommitId | None:
        try:
            return self.store.head(branch)
        except Unreadable:
            return self._recovered(branch)

    def _recovered(self, branch: str) -> CommitId | None:
        try:
            return self.store.recover(branch)
        finally:
            self.keep_traces()


def selected(state_folder: str) -> str:
    """The branch name that `use` wrote into the project's state folder, or an empty string."""
    try:
        with open(os.path.join(state_folder, "branch"), encoding="utf-8", errors="replace") as file:
            return file.read(300).strip()
    except OSError:
        return ""


def open_memory(
    folder: str,
    environ: Mapping[str, str],
    *,
    clock: Callable[[], float] = time.time,
    settings: Settings | None = None,
) -> Memory:
    """The memory of the project around `folder`. Raises what discovery and the settings raise; creates nothing.

    `settings` stand in for the settings file.
    """
    from noforgetti.service.settings import load

    where = places(environ)
    settings = settings or load(where.config)
    project = discover(folder, worktrees=settings.worktrees, submodules=settings.submodules)
    memory = Memory(project, where, settings, clock=clock)
    if memory.exists:
        return memory
    from noforgetti.service.registry import same

    twin = same(where, project)
    if twin is None:
        return memory
    return Memory(
        discover(twin.root, worktrees=settings.worktrees, submodules=settings.submodules), where, settings, clock=clock
    )


def open_wide(
    environ: Mapping[str, str], *, clock: Callable[[], float] = time.time, settings: Settings | None = None
) -> Memory:
    """The user-wide memory, from wherever. Raises what the settings raise; creates nothing."""
    from noforgetti.service.settings import load

    where = places(environ)
    return Memory(NOWHERE, where, settings or load(where.config), clock=clock)


def _limits(settings: Settings) -> Limits:
    limits = scaled(settings.limits.hard)
    return Limits(
        entry=min(settings.limits.entry, limits.hard),
        goal=limits.goal,
        target=limits.target,
        hard=limits.hard,
    )
