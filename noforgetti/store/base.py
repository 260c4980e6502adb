"""What the store is asked for and what it answers: edits by path, and the ways it can fail."""

from __future__ import annotations

from dataclasses import dataclass

from noforgetti.errors import Kind, NoForgettiError, shown
from noforgetti.model.entry import BlobId, BranchName, CommitId, Entry

FORMAT = "1"  # the repository format this version writes


@dataclass(frozen=True, slots=True)
class Put:
    """Write an entry to its place; the place it had before, if another, is dropped by an explicit `Drop`."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class PutBlob:
    """Put a blob that the repository holds already at a path: how undo brings back exact bytes."""

    path: str
    blob: BlobId


@dataclass(frozen=True, slots=True)
class PutFile:
    """Write bytes to a path that is no entry."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Drop:
    """Take a path out of the tree."""

    path: str


Edit = Put | PutBlob | PutFile | Drop


@dataclass(frozen=True, slots=True)
class Book:
    """What lies beside each branch in a ref of its own, `space` + branch: a chain of commits like the branch's, forked,
    undone and merged never with it. `file` is the file of its tree that matters; `name` is what people call it."""

    space: str
    file: str
    name: str


class Conflict(NoForgettiError):
    """The branch is not where the writer expected it. Nothing was published."""

    kind = Kind.CONFLICT
    reason = "moved-head"

    def __init__(self, branch: str, expected: CommitId | None, actual: CommitId | None) -> None:
        was, now = (one[:12] if one else "no commit" for one in (expected, actual))
        super().__init__(
            f"Branch `{branch}` moved from {was} to {now} while this change was made. Nothing was written.",
            hint="run the command again",
        )
        self.branch, self.expected, self.actual = branch, expected, actual


class Busy(NoForgettiError):
    """A living process holds the write lock, or a fresh lock file lies on the ref."""

    kind = Kind.BUSY
    reason = "busy"

    def __init__(self, what: str, holder: str, waited: float) -> None:
        super().__init__(
            f"{holder or 'Another process'} holds {what}; after {waited:.0f} s nothing was written.",
            hint="try again when that process is done",
        )
        self.holder = holder


class UnknownBranch(NoForgettiError):
    """No such memory branch."""

    kind = Kind.USER
    reason = "unknown-branch"

    def __init__(self, branch: str) -> None:
        super().__init__(
            f"There is no memory branch `{shown(branch)}`. Nothing was changed.",
            hint="list them with `noforgetti branches`",
        )
        self.branch = branch


class BranchExists(NoForgettiError):
    """Branches are created, never overwritten."""

    kind = Kind.USER
    reason = "branch-exists"

    def __init__(self, branch: str, existing: str) -> None:
        same = "exists already" if branch == existing else f"differs from `{existing}` only by case"
        super().__init__(
            f"Memory branch `{branch}` {same}. Nothing was written.",
            hint=f"switch to it with `noforgetti use {existing}`",
        )
        self.branch = BranchName(existing)


class UnknownRevision(NoForgettiError):
    """A revision that names no commit of this memory, or more than one."""

    kind = Kind.USER
    reason = "unknown-revision"

    def __init__(self, revision: str, *, ambiguous: bool = False) -> None:
        what = "names more than one commit" if ambiguous else "names no commit of this memory"
        super().__init__(
            f"Revision `{shown(revision)}` {what}. Nothing was changed.",
            hint="list the commits with `noforgetti log`",
        )


class NewerFormat(NoForgettiError):
    """The branch was written by a newer version. It can be read; writing could lose what this version cannot see."""

    kind = Kind.UNAVAILABLE
    reason = "newer-format"

    def __init__(self, found: str) -> None:
        super().__init__(
            f"This memory has format `{found}`, newer than the {FORMAT} that this version writes. Nothing was written.",
            hint="upgrade noforgetti; reading still works",
        )


class Unreadable(NoForgettiError):
    """Stored data that cannot be read and that the store did not mend by itself."""

    kind = Kind.CORRUPT
    reason = "corrupt"


class Unwritable(NoForgettiError):
    """The disk or its permissions do not allow writing."""

    kind = Kind.UNAVAILABLE
    reason = "unwritable"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"The memory at `{path}` cannot be written: {why}. Nothing was changed.",
            hint="free space or check the folder's permissions",
        )
