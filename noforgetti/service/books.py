"""Books: files beside a branch, each in a ref of its own, changed by compare-and-swap like the branch.

What is written to a book never moves the branch: no review that is thinking becomes stale by it, no undo halts. A book
that cannot be read is taken back to its newest readable commit by the next change. A change that was acknowledged is
durable; one that was not has changed nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from noforgetti.model.commit import AUTHORS
from noforgetti.service.memory import Draft
from noforgetti.store.base import Conflict, PutFile, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.model.commit import Message
    from noforgetti.model.entry import CommitId, Writer
    from noforgetti.service.memory import Memory
    from noforgetti.store.base import Book

_State = TypeVar("_State")
_ATTEMPTS = 8  # plans of one change, as of a direct write


def read(memory: Memory, branch: str, book: Book) -> tuple[bytes, CommitId | None]:
    """The book's bytes and their commit; empty and None when there is none. Raises `Unreadable`."""
    if not memory.exists:
        return b"", None
    at = memory.store.head(branch, space=book.space)
    return (memory.store.read_file(at, book.file) or b"", at) if at else (b"", None)


def change(
    memory: Memory,
    branch: str,
    book: Book,
    plan: Callable[[bytes], tuple[bytes, Message] | None],
    *,
    by: Writer,
) -> CommitId | None:
    """Let `plan` turn the book's bytes into new ones, and publish them; planned again when somebody else was first.

    Answers the commit, or None when `plan` wanted no change. Raises what the store raises.
    """

    def drafted(data: bytes) -> Draft | None:
        planned = plan(data)
        return None if planned is None else Draft((PutFile(book.file, planned[0]),), planned[1], by)

    def bytes_at(commit: CommitId | None) -> bytes:
        return (memory.store.read_file(commit, book.file) or b"") if commit else b""

    return publish(memory, branch, book, bytes_at, drafted, empty=b"")


def publish(
    memory: Memory,
    branch: str,
    book: Book,
    at: Callable[[CommitId | None], _State],
    plan: Callable[[_State], Draft | None],
    *,
    empty: _State,
) -> CommitId | None:
    """Publish what `plan` drafts on the book as it stands; planned again when somebody else was first, or when what was
    there had to be mended. `at` reads the book at a commit; `empty` is what a memory without a repository has.

    Answers the commit, or None when `plan` wanted no change. Raises what the store raises.
    """
    if not memory.exists:
        if plan(empty) is None:
            return None
        memory.prepare()
    store = memory.store
    for attempt in range(_ATTEMPTS):
        with store.exclusive():
            try:
                old = store.head(branch, space=book.space)
                state = at(old)
            except Unreadable:
                if attempt:
                    raise
                store.recover_book(branch, book)
                memory.keep_traces()
                continue
            draft = plan(state)
            if draft is None:
                return None
            author, seconds = AUTHORS[draft.writer], int(memory.clock())
            new = store.write(old, draft.edits, draft.message, author=author, seconds=seconds)
            try:
                store.publish(branch, new, old, space=book.space, reason=draft.message.subject)
            except Conflict:
                if attempt == _ATTEMPTS - 1:
                    raise
                continue
        memory.keep_traces()
        return new
    raise AssertionError("unreachable")
