"""What use says about entries: reading it, reinforcing, and archiving topics that went cold.

Reinforcing publishes to the signals beside a branch and never to the branch: a review that is thinking does not become
stale by it, and no undo halts. Archiving changes entries, so it is a commit of the branch like any other; it can be
undone, and nothing is deleted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from noforgetti.errors import NoForgettiError
from noforgetti.model.change import Change
from noforgetti.model.commit import CommitKind, Message, describe, entries_trailer, trailers
from noforgetti.model.entry import Category, CommitId, EntryId, Snapshot, Stored, Writer
from noforgetti.model.signal import NEW, Signal
from noforgetti.policy import capacity, scoring
from noforgetti.service import books
from noforgetti.service.memory import Draft, Memory
from noforgetti.store import signals as book
from noforgetti.store.base import Put, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from noforgetti.model.entry import Entry
    from noforgetti.policy.verdict import Refusal


@dataclass(frozen=True, slots=True)
class Reinforced:
    """What became of a reinforcement: the new signals, ids that the branch does not hold, and the commit of the
    signals (None when nothing was written)."""

    signals: Mapping[EntryId, Signal]
    unknown: tuple[EntryId, ...] = ()
    commit: CommitId | None = None


@dataclass(frozen=True, slots=True)
class Archived:
    """What became of archiving or bringing back: the entries whose mark changed, and the commit, if there was one."""

    entries: tuple[EntryId, ...] = ()
    categories: tuple[Category, ...] = ()
    commit: CommitId | None = None
    refusal: Refusal | None = None


def read(memory: Memory, branch: str) -> book.Signals:
    """The signals of a branch, kept by commit. Never raises: `reason` says what could not be read."""
    if not memory.exists:
        return book.Signals()
    try:
        return memory.store.signals(branch)
    except Unreadable as error:  # the repository itself; whoever reads the entries will say so louder
        return book.Signals(reason=str(error))


def reinforce(
    memory: Memory, branch: str, entry_ids: Iterable[EntryId], *, by: Writer, session: str = ""
) -> Reinforced:
    """Count one more piece of evidence for each entry, as of now. The branch's own ref does not move.

    Signals that cannot be read are taken back to their newest readable state first. Raises what the store raises.
    """
    wanted = tuple(dict.fromkeys(entry_ids))
    there = {entry.id for entry in memory.snapshot(branch)}
    known = tuple(one for one in wanted if one in there)
    unknown = tuple(one for one in wanted if one not in there)
    if not known:
        return Reinforced({}, unknown)
    return _published(memory, branch, known, _message(known, session), by, unknown)


def reworded(memory: Memory, branch: str, entry: Entry, *, by: Writer, session: str = "") -> None:
    """A user or agent who rewords an entry says that it holds now, so it is reinforced: an old one would have faded out
    of the report although it was just corrected. One that was written or reinforced within a day has nothing to gain
    and costs no commit. The rewording itself is done by then, so trouble is a trace."""
    age = scoring.age_of(entry, read(memory, branch).by_id.get(entry.id, NEW), memory.clock())
    if age is not None and age < scoring.DAY:
        return
    try:
        reinforce(memory, branch, (entry.id,), by=by, session=session)
    except NoForgettiError as error:
        memory.state.trace("warning", str(error))


def copy(memory: Memory, source: str, target: str) -> None:
    """A fork begins with the signals of its source. A name that was used before loses what was left of it."""
    store = memory.store
    with store.exclusive():
        store.drop_book(target, book.BOOK)
        at = store.signals(source).commit
        if at is not None:
            store.publish(target, at, None, space=book.SPACE, reason=f"fork: from {source}")


def archive_cold(memory: Memory, branch: str, *, by: Writer = Writer.DREAM) -> Archived:
    """Set aside every entry of a topic whose newest reinforcement is more than two half-lives old and that holds
    nothing pinned or enforced: one commit, which undo takes back. What such an undo brought back counts as reinforced
    then, so that the next look does not archive it again."""

    def plan(now: Snapshot) -> Draft | Archived:
        categories, chosen = cold(memory, branch, now)
        if not chosen:
            return Archived()
        listed = ", ".join(one.folder for one in categories)
        answer[:] = [Archived(tuple(one.entry.id for one in chosen), categories)]
        return _draft(f"archive: {listed} without reinforcement", chosen, by, archived=True)

    answer: list[Archived] = []
    done = memory.change(branch, plan)
    return done if isinstance(done, Archived) else replace(answer[0], commit=done)


def cold(memory: Memory, branch: str, now: Snapshot) -> tuple[tuple[Category, ...], list[Stored]]:
    """The topics of a snapshot of the branch that went cold, and their entries."""
    signals = read(memory, branch).by_id
    at = memory.clock()
    categories = scoring.cold(now, signals, at)
    if categories:
        categories = scoring.cold(now, {**signals, **_wanted_back(memory, now, signals, categories)}, at)
    return categories, [one for one in now.entries if one.entry.category in categories and not one.entry.archived]


def unarchive(memory: Memory, branch: str, entry_ids: Iterable[EntryId], *, by: Writer, session: str = "") -> Archived:
    """Bring archived entries back, and reinforce them: they would be cold again at once. The reinforcement comes first,
    so that whatever happens in between, an entry that came back stays."""
    wanted = tuple(dict.fromkeys(entry_ids))
    before = memory.snapshot(branch)
    archived = [own for own in wanted if (one := before.get(own)) is not None and one.entry.archived]
    reinforce(memory, branch, archived, by=by, session=session)

    def plan(now: Snapshot) -> Draft | Archived:
        chosen = [one for own in wanted if (one := now.get(own)) is not None and one.entry.archived]
        if not chosen:
            return Archived()
        after = now.characters + sum(len(one.entry.text) for one in chosen)
        refusal = capacity.direct(memory.limits, now.characters, after, now)
        if refusal:
            return Archived(refusal=refusal)
        answer[:] = [Archived(tuple(one.entry.id for one in chosen), _categories(chosen))]
        return _draft(f"bring back: {len(chosen)} archived", chosen, by, archived=False, session=session)

    answer: list[Archived] = []
    done = memory.change(branch, plan)
    return done if isinstance(done, Archived) else replace(answer[0], commit=done)


def _published(
    memory: Memory, branch: str, known: tuple[EntryId, ...], message: Message, by: Writer, unknown: tuple[EntryId, ...]
) -> Reinforced:
    counted: dict[EntryId, Signal] = {}

    def plan(data: bytes) -> tuple[bytes, Message]:
        before = book.decode(data).by_id
        counted.update({one: _again(before.get(one, NEW), memory.stamp()) for one in known})
        return book.encode(data, counted), message

    commit = books.change(memory, branch, book.BOOK, plan, by=by)
    return Reinforced(counted, unknown, commit)


def _again(before: Signal, now: str) -> Signal:
    """One more piece of evidence. A clock that was set back does not make the newest one older; what is no date is
    no newer than one."""
    newer = (scoring.seconds_of(before.reinforced) or 0.0) > (scoring.seconds_of(now) or 0.0)
    return replace(before, evidence=before.evidence + 1, reinforced=before.reinforced if newer else now)


def _message(entry_ids: tuple[EntryId, ...], session: str) -> Message:
    count = len(entry_ids)
    told = trailers(CommitKind.REINFORCE, " ".join(f"~{one}" for one in entry_ids), session)
    return Message(f"reinforce: {entry_ids[0] if count == 1 else f'{count} entries'}", "", told)


def _wanted_back(
    memory: Memory, now: Snapshot, signals: Mapping[EntryId, Signal], categories: tuple[Category, ...]
) -> dict[EntryId, Signal]:
    """Entries that an undo of an archiving brought back since their topic could have gone cold again, as if they had
    been reinforced by it."""
    since = memory.clock() - max(scoring.cold_after(one) for one in categories)
    found: dict[EntryId, Signal] = {}
    for commit in memory.store.walk(now.commit):
        if (scoring.seconds_of(commit.time) or 0.0) < since:
            break
        if commit.kind is CommitKind.UNDO and _archives(memory, CommitId(commit.trailer("Undoes"))):
            for word in commit.trailer("Entries").split():
                found.setdefault(
                    EntryId(word[1:]), replace(signals.get(EntryId(word[1:]), NEW), reinforced=commit.time)
                )
    return found


def _archives(memory: Memory, commit: CommitId) -> bool:
    try:
        return memory.store.commit(commit).kind in (CommitKind.ARCHIVE, CommitKind.DREAM)
    except Unreadable:
        return False


def _draft(subject: str, chosen: list[Stored], by: Writer, *, archived: bool, session: str = "") -> Draft:
    changes = tuple(Change(one.entry.id, one.entry, replace(one.entry, archived=archived)) for one in chosen)
    told = trailers(CommitKind.ARCHIVE, entries_trailer(changes), session)
    message = Message(subject, describe(changes), told)
    return Draft(tuple(Put(change.entry) for change in changes), message, by)


def _categories(chosen: list[Stored]) -> tuple[Category, ...]:
    return tuple(one for one in Category if any(stored.entry.category is one for stored in chosen))
