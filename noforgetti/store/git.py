"""The repository of one memory: branches, snapshots, commits, and publishing by compare-and-swap.

Guaranteed: a branch's ref names, at every moment and after every crash, either the commit it named before or the new
one, whole; a publish whose expected commit is not the current one changes nothing; creating a branch never overwrites.
Not guaranteed here: retries. A caller that can plan again does so (a direct write), another does not (a review).
"""

from __future__ import annotations

import os
import re
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pygit2
from pygit2.enums import ConfigLevel, ObjectType, Option

from noforgetti.model.commit import Author, Commit, Message, parse_message
from noforgetti.model.entry import BranchName, CommitId, Snapshot
from noforgetti.store import failpoints, folders, trees
from noforgetti.store import signals as signal_book
from noforgetti.store.base import (
    FORMAT,
    Book,
    BranchExists,
    Conflict,
    Edit,
    NewerFormat,
    UnknownBranch,
    Unreadable,
    Unwritable,
)
from noforgetti.store.disk import sync
from noforgetti.store.locks import WAIT, write_lock
from noforgetti.store.objects import Objects
from noforgetti.store.refs import Refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEADS = "refs/heads/"
_NAME, _PATH = 255, 3_000  # bytes of a part of a ref, characters of a ref: no file system has room for more
_NEAR = 1_000  # commits that are looked at one by one, some 20 ms, before libgit2 walks the rest
_SNAPSHOTS = 8  # kept in memory by commit id: a walk through history needs two, sessions one for each branch
_HEX = re.compile(r"[0-9a-f]{40}")


def isolate() -> None:
    """Make libgit2 ours alone: no configuration of the user or the system, no ownership riddles.

    Runs once, when this module is imported: libgit2 looks at these options when a repository is opened.
    """
    pygit2.option(Option.SET_OWNER_VALIDATION, False)
    for level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.option(Option.SET_SEARCH_PATH, level, "")


isolate()


class Store:
    """One open memory repository. Belongs to one thread; opening another for a second thread is cheap.

    `trace` receives one sentence for everything the store mended by itself.
    """

    def __init__(self, path: str, *, wait: float = WAIT) -> None:
        self.path = path
        self.wait = wait
        self.traces: list[str] = []
        try:
            self._repo = pygit2.Repository(path)
        except (pygit2.GitError, KeyError, OSError) as error:
            raise Unreadable(
                f"`{path}` is not a readable git repository: {error}.", hint="run `noforgetti doctor`"
            ) from error
        self._objects = Objects(path)
        self._repo.set_odb(self._objects.odb)
        self._refs = Refs(path, self._trace)
        self._decoded = trees.Decoded(self._objects)
        self._snapshots: dict[CommitId, Snapshot] = {}
        self._signals: dict[CommitId, signal_book.Signals] = {}
        self._depth = 0  # of the write lock that this store holds
        self._heal()

    # ---- reading

    def heads(self) -> dict[BranchName, CommitId]:
        """Every memory branch that can be read and its head, by name, `main` first."""
        found: dict[BranchName, CommitId] = {}
        for reference in self._repo.references.iterator():
            name = reference.name
            if name.startswith(HEADS) and isinstance(reference.target, pygit2.Oid):
                found[BranchName(name[len(HEADS) :])] = CommitId(str(reference.target))
        return dict(sorted(found.items(), key=lambda item: (item[0] != "main", item[0])))

    def head(self, branch: str, *, space: str = HEADS) -> CommitId | None:
        """Where the branch (or its book of that space) stands; None when it is not there. Raises `Unreadable`."""
        return self._ref(space + branch)

    def signals(self, branch: str) -> signal_book.Signals:
        """What use has said about a branch's entries, kept by commit. Never raises: what cannot be read is missing, and
        its `reason` says why."""
        try:
            at = self.head(branch, space=signal_book.SPACE)
            if at is None:
                return signal_book.Signals()
            known = self._signals.get(at)
            if known is None:
                known = signal_book.decode(self.read_file(at, signal_book.FILE) or b"", at)
                if len(self._signals) >= _SNAPSHOTS:
                    self._signals.pop(next(iter(self._signals)))
                self._signals[at] = known
        except Unreadable as error:
            return signal_book.Signals(reason=f"{error} Its entries count as never reinforced.")
        return known

    def tree_of(self, commit: CommitId) -> str:
        """The tree of a commit. Raises `Unreadable`."""
        data = self._objects.read(commit, ObjectType.COMMIT)
        first = data.split(b"\n", 1)[0]
        if not first.startswith(b"tree ") or len(first) != 45:
            raise Unreadable(f"Commit {commit[:12]} of the memory is damaged.", hint="run `noforgetti doctor`")
        return first[5:].decode("ascii", "replace")

    def snapshot(self, commit: CommitId | None) -> Snapshot:
        """What a commit holds; None is the empty memory before the first write. Cached by commit id."""
        if commit is None:
            return Snapshot()
        known = self._snapshots.get(commit)
        if known is not None:
            return known
        read = trees.snapshot(self._objects, self._decoded, commit, self.tree_of(commit))
        if not read.damaged:
            if len(self._snapshots) >= _SNAPSHOTS:
                self._snapshots.pop(next(iter(self._snapshots)))
            self._snapshots[commit] = read
        return read

    def commit(self, commit: CommitId) -> Commit:
        """One commit as a value. Raises `Unreadable`."""
        return _parse_commit(commit, self._objects.read(commit, ObjectType.COMMIT))

    def walk(self, start: CommitId | None) -> Iterator[Commit]:
        """The first-parent chain from `start` back to the first commit."""
        seen: set[CommitId] = set()
        while start is not None and start not in seen:
            seen.add(start)
            commit = self.commit(start)
            yield commit
            start = commit.parent

    def contains(self, head: CommitId | None, commit: CommitId) -> bool:
        """True when `commit` is `head` or one of its ancestors."""
        if head is None:
            return False
        try:
            near = self._near(head, commit)
            return self._repo.descendant_of(head, commit) if near is None else near
        except (pygit2.GitError, KeyError, ValueError, Unreadable):
            return False

    def _near(self, head: CommitId, commit: CommitId) -> bool | None:
        """Whether `commit` is among the newest ancestors; None when they do not tell.

        Nearly every question is about the last few commits, and libgit2 would not return from a torn one among them.
        """
        seen, waiting = {head}, deque([head])
        while waiting:
            one = waiting.popleft()
            if one == commit:
                return True
            if len(seen) > _NEAR:
                return None
            fresh = [parent for parent in self.commit(one).parents if parent not in seen]
            seen.update(fresh)
            waiting.extend(fresh)
        return False

    def merge_base(self, one: CommitId | None, other: CommitId) -> CommitId | None:
        """The newest commit that both histories hold; None when they share none."""
        if one is None:
            return None
        try:
            found = self._repo.merge_base(one, other)
        except (pygit2.GitError, KeyError, ValueError) as error:
            raise Unreadable(
                f"The history of {other[:12]} cannot be read: {error}.", hint="run `noforgetti doctor`"
            ) from error
        return CommitId(str(found)) if found else None

    def by_prefix(self, prefix: str) -> list[CommitId]:
        """The commits whose id starts with `prefix` (4 to 40 hex digits): none, one, or two to say "several"."""
        if not re.fullmatch(r"[0-9a-f]{4,40}", prefix):
            return []
        found = [CommitId(oid) for oid in self._objects.with_prefix(prefix) if self._may_be_commit(oid)]
        if found or len(prefix) == 40:
            return found[:2]
        try:
            packed: object = self._repo.get(prefix)
        except ValueError:  # ambiguous: libgit2 does not list them, and a list of two says all a caller needs
            return [CommitId(prefix), CommitId(prefix)]
        return [CommitId(str(packed.id))] if isinstance(packed, pygit2.Commit) else []

    def _may_be_commit(self, oid: str) -> bool:
        """False for an object of another kind. A torn one may be a commit: reading it will say so."""
        try:
            return self._objects.kind(oid) is ObjectType.COMMIT
        except Unreadable:
            return self._objects.has_file(oid)

    def read_file(self, commit: CommitId, path: str) -> bytes | None:
        """The bytes of a file of the tree, or None when it is not there. Raises `Unreadable`."""
        blob = self.snapshot(commit).files.get(path)
        return None if blob is None else self._objects.read(blob, ObjectType.BLOB)

    def read_blob(self, blob: str) -> bytes:
        """The bytes of a blob. Raises `Unreadable`."""
        return self._objects.read(blob, ObjectType.BLOB)

    def whole(self, commit: CommitId) -> bool:
        """True when the commit, its tree and every file in it can be read."""
        try:
            return not any(
                "object" in one.reason
                for one in trees.snapshot(
                    self._objects, trees.Decoded(self._objects), commit, self.tree_of(commit)
                ).damaged
            )
        except Unreadable:
            return False

    # ---- writing

    def write(
        self,
        parent: CommitId | None,
        edits: Iterable[Edit],
        message: Message,
        *,
        author: Author,
        seconds: int,
        parents: tuple[CommitId, ...] = (),
    ) -> CommitId:
        """Write the commit that `edits` make of `parent`, durably, and publish nothing. `seconds` is UNIX time.

        `parents` adds further parents (a merge). Raises `NewerFormat` when the parent's tree has a format this version
        does not write, `Unwritable` when the disk does not take it.
        """
        failpoints.reach("write:before-objects")
        base = None
        if parent is not None:
            base = self.tree_of(parent)
            self._refuse_newer(self.snapshot(parent))
        tree = trees.rewrite(self._objects, base, edits)
        first = () if parent is None else (parent,)
        data = _commit_bytes(tree, (*first, *parents), author, seconds, str(message))
        new = CommitId(self._objects.write(ObjectType.COMMIT, data))
        self._objects.flush()
        return new

    def publish(
        self, branch: str, new: CommitId, old: CommitId | None, *, reason: str = "", space: str = HEADS
    ) -> None:
        """Move `branch` from `old` to `new`; `old` None creates it. Raises `Conflict`, `BranchExists` or `Busy`."""
        failpoints.reach("publish:before-lock")
        with self.exclusive():
            failpoints.reach("publish:locked")
            if old is None and space == HEADS:
                self._refuse_twin(branch)
            self._refs.swap(
                space + branch,
                new,
                old,
                lambda: self.head(branch, space=space),
                reason=reason or "publish",
                seconds=int(time.time()),
            )
        failpoints.reach("publish:done")

    def delete(self, branch: str, old: CommitId) -> None:
        """Delete a branch that stands at `old`. Its commits stay. Raises `Conflict`, `UnknownBranch`."""
        with self.exclusive():
            actual = self.head(branch)
            if actual is None:
                raise UnknownBranch(branch)
            if actual != old:
                raise Conflict(branch, old, actual)
            self._refs.clear_stale(HEADS + branch)
            self._refs.clear_stale("packed-refs")
            self._repo.references.delete(HEADS + branch)

    def drop_book(self, branch: str, book: Book) -> None:
        """Delete what lies beside a branch, readable or not; nothing happens when there is nothing."""
        ref = book.space + branch
        with self.exclusive():
            self._refs.clear_stale(ref)
            try:
                if self.head(branch, space=book.space) is not None:
                    self._refs.clear_stale("packed-refs")
                    self._repo.references.delete(ref)
            except Unreadable:
                self._refs.remove_torn(ref)

    def recover_book(self, branch: str, book: Book) -> CommitId | None:
        """Take what lies beside a branch and cannot be read back to its newest readable commit; without any, it begins
        anew."""
        ref, name = book.space + branch, book.name
        with self.exclusive():
            self._objects.forget()
            self._heal(always=True)
            for candidate in self._reflog(ref):
                try:
                    self.read_file(candidate, book.file)
                except Unreadable:
                    continue
                self._overwrite(ref, candidate)
                self._trace(f"the {name} of `{branch}` could not be read; they were taken back to {candidate[:12]}")
                return candidate
            self.drop_book(branch, book)
            self._trace(f"the {name} of `{branch}` could not be read; they begin anew")
        return None

    def recover(self, branch: str) -> CommitId | None:
        """Bring a branch with a torn ref, or an unreadable head commit or tree, back to its newest readable commit.

        The reflog is the way back. A whole commit (all files readable) is preferred. What the ref named is kept in a
        trace. Raises `Unreadable` when nothing readable is left; then nothing is changed.
        """
        with self.exclusive():
            self._objects.forget()
            self._heal(always=True)
            try:
                actual = self.head(branch)
                if actual is None or self._serves(actual):
                    return actual
            except Unreadable:
                actual = None
            for candidate in self._reflog(HEADS + branch):
                if candidate != actual and self.whole(candidate):
                    self._overwrite(HEADS + branch, candidate)
                    was = actual[:12] if actual else "an unreadable ref"
                    self._trace(
                        f"branch `{branch}` named {was}, which cannot be read; it was taken back to {candidate[:12]}"
                    )
                    return candidate
        raise Unreadable(
            f"The head of memory branch `{branch}` cannot be read and no earlier commit is left. Nothing was changed.",
            hint="run `noforgetti doctor`",
        )

    def heal(self) -> list[str]:
        """Put back every object of the object log that does not read. Answers what was done, a sentence each."""
        before = len(self.traces)
        self._heal(always=True)
        return self.traces[before:]

    def close(self) -> None:
        """Free the repository's files."""
        self._repo.free()

    def loose_objects(self) -> int:
        """About how many loose objects wait to be packed."""
        return self._objects.loose_count()

    # ---- inside

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the write lock over several steps, so that no other writer of ours overtakes a plan made inside.

        Correctness never rests on it: publishing compares all the same, and a `git push` does not know the lock.
        """
        if self._depth == 0:
            with write_lock(os.path.join(self.path, "write.flock"), wait=self.wait):
                self._depth = 1
                try:
                    yield
                finally:
                    self._depth = 0
        else:
            yield

    def _ref(self, ref: str) -> CommitId | None:
        if max(len(part.encode("utf-8", "replace")) for part in ref.split("/")) > _NAME or len(ref) > _PATH:
            return None
        try:
            reference = self._repo.references.get(ref)
        except UnicodeError:  # a lone surrogate: no ref can have such a name
            return None
        except (pygit2.GitError, ValueError, OSError) as error:
            raise Unreadable(
                f"`{ref}` of the memory cannot be read: {error}.", hint="run `noforgetti doctor`"
            ) from error
        if reference is None:
            return None
        target = reference.target
        return CommitId(str(target)) if isinstance(target, pygit2.Oid) else None

    def _refuse_twin(self, branch: str) -> None:
        # A branch of the very name is left to the comparison: it tells who created it since (`Conflict`).
        for existing in self.heads():
            if existing != branch and existing.casefold() == branch.casefold():
                raise BranchExists(branch, existing)

    def _refuse_newer(self, snapshot: Snapshot) -> None:
        if snapshot.format != FORMAT:
            raise NewerFormat(snapshot.format)

    def _serves(self, commit: CommitId) -> bool:
        try:
            self.snapshot(commit)
        except Unreadable:
            return False
        return True

    def _reflog(self, ref: str) -> list[CommitId]:
        """Ids the ref stood at, newest first, read without trust: power loss tears the last line."""
        try:
            with open(os.path.join(self.path, "logs", ref), "rb") as file:
                lines = file.read().split(b"\n")
        except OSError:
            return []
        found: list[CommitId] = []
        for line in reversed(lines):
            words = line[:81].decode("ascii", "replace").split(" ")
            found += [CommitId(word) for word in reversed(words) if _HEX.fullmatch(word) and set(word) != {"0"}]
        return list(dict.fromkeys(found))

    def _overwrite(self, ref: str, commit: CommitId) -> None:
        # The only place that sets a ref without a comparison: what is there cannot be read, and the write lock is held.
        path = os.path.join(self.path, ref)
        temporary = f"{path}.recovered-{os.getpid()}"
        folders.make(os.path.dirname(path))
        with open(temporary, "w", encoding="ascii") as file:
            file.write(commit + "\n")
            file.flush()
            sync(file.fileno())
        os.replace(temporary, path)

    def _heal(self, *, always: bool = False) -> None:
        try:
            healed = self._objects.heal(always=always)
        except Unwritable:
            return  # a read-only memory is read as it is
        if healed:
            self._trace(f"{len(healed)} objects that a power cut had lost were put back")

    def _trace(self, sentence: str) -> None:
        self.traces.append(sentence)


def _commit_bytes(tree: str, parents: tuple[CommitId, ...], author: Author, seconds: int, message: str) -> bytes:
    who = f"{author.name} <{author.email}> {seconds} +0000"
    lines = [
        f"tree {tree}",
        *(f"parent {parent}" for parent in parents),
        f"author {who}",
        f"committer {who}",
        "",
        message,
    ]
    return "\n".join(lines).replace("\0", "").encode("utf-8", "replace")


_PERSON = re.compile(r"(?P<name>.*?) ?<(?P<email>[^>]*)> (?P<time>-?\d{1,12}) [+-]\d{4}")


def _parse_commit(commit: CommitId, data: bytes) -> Commit:
    """Read a commit object, ours or anybody's: encodings, signatures and odd dates included."""
    head, _, message = data.partition(b"\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.decode("utf-8", "replace").split("\n"):
        key, _, value = line.partition(" ")
        fields.setdefault(key, []).append(value)
    found = _PERSON.match((fields.get("author") or [""])[0])
    author = Author(found["name"], found["email"]) if found else Author("unknown", "")
    seconds = int(found["time"]) if found else 0
    parsed = parse_message(message.decode("utf-8", "replace"))
    parents = tuple(CommitId(parent) for parent in fields.get("parent", ()))
    return Commit(commit, parents, _rfc3339(seconds), author, parsed.subject, parsed.body, parsed.trailers)


def _rfc3339(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    except (OverflowError, ValueError, OSError):
        return "1970-01-01T00:00:00Z"
