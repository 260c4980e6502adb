"""Changes of a memory as values: operations somebody asks for, and the difference between two states.

`apply` turns operations into the next state, in sequence; `diff` says what happened between two states. Both are total
functions over mappings from id to entry and know nothing of git: a commit message, a review card, `log` and `blame` are
all renderings of `diff`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.entry import Entry, EntryId, Importance

State = Mapping[EntryId, Entry]


class UnknownEntry(NoForgettiError):
    """An operation names an id that is not there at its point of the sequence."""

    kind = Kind.USER
    reason = "unknown-entry"

    def __init__(self, entry_id: str) -> None:
        super().__init__(
            f"No entry has the id `{entry_id}`. Nothing was written.",
            hint="list the ids with `noforgetti show`",
        )
        self.entry_id = entry_id


@dataclass(frozen=True, slots=True)
class Add:
    """A new entry."""

    entry: Entry
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replace:
    """Reword one entry; it keeps its id. `importance` and `confidence` None keep the old ones."""

    id: EntryId
    text: str
    importance: Importance | None = None
    evidence: tuple[str, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Remove:
    """Take one entry out of the branch; history keeps it."""

    id: EntryId
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """Consolidate several entries into the first named one, which keeps its id and says what it was made from; the
    others go, and their tags and what rests on them come along."""

    ids: tuple[EntryId, ...]
    text: str
    importance: Importance | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Assess:
    """Judge the importance of one entry again."""

    id: EntryId
    importance: Importance
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Archive:
    """Keep one entry in the branch, neither told nor counted."""

    id: EntryId
    evidence: tuple[str, ...] = ()


Operation = Add | Replace | Remove | Merge | Assess | Archive


def targets(operation: Operation) -> tuple[EntryId, ...]:
    """The existing entries an operation touches."""
    match operation:
        case Add():
            return ()
        case Merge(ids=ids):
            return ids
        case Replace(id=one) | Remove(id=one) | Assess(id=one) | Archive(id=one):
            return (one,)


def apply(state: State, operations: Iterable[Operation], *, now: str) -> dict[EntryId, Entry]:
    """The state after the operations, applied in sequence. `now` (RFC 3339 UTC) stamps judged importance.

    Raises `UnknownEntry` when an operation names an entry that is not there at that point.
    """
    result = dict(state)
    for operation in operations:
        for entry_id in targets(operation):
            if entry_id not in result:
                raise UnknownEntry(entry_id)
        match operation:
            case Add(entry=entry):
                result[entry.id] = entry
            case Replace(id=one, text=text, importance=importance, confidence=confidence):
                entry = _reworded(result[one], text, importance, now)
                result[one] = entry if confidence is None else replace(entry, confidence=confidence)
            case Remove(id=one):
                del result[one]
            case Merge(ids=ids, text=text, importance=importance):
                others = [gone for other in ids[1:] if (gone := result.pop(other, None))]
                result[ids[0]] = _reworded(_joined(result[ids[0]], others), text, importance, now)
            case Assess(id=one, importance=importance):
                result[one] = _reworded(result[one], result[one].text, importance, now)
            case Archive(id=one):
                result[one] = replace(result[one], archived=True)
    return result


def _joined(entry: Entry, others: Iterable[Entry]) -> Entry:
    """The entry as the one that is made from itself and the others."""
    derived, informs, tags = dict.fromkeys(entry.derived), dict.fromkeys(entry.informs), dict.fromkeys(entry.tags)
    for other in others:
        derived.update(dict.fromkeys((*other.derived, other.id)))
        informs.update(dict.fromkeys(other.informs))
        tags.update(dict.fromkeys(other.tags))
    return replace(entry, derived=tuple(derived), informs=tuple(informs), tags=tuple(tags))


def _reworded(entry: Entry, text: str, importance: Importance | None, now: str) -> Entry:
    if importance is None:
        return replace(entry, text=text)
    return replace(entry, text=text, importance=importance, assessed=now)


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one entry between two states. At least one side is there."""

    id: EntryId
    before: Entry | None
    after: Entry | None

    @property
    def sign(self) -> str:
        """`+` added, `-` removed, `~` changed."""
        if self.before is None:
            return "+"
        return "-" if self.after is None else "~"

    @property
    def entry(self) -> Entry:
        """The newer side, or the only one."""
        entry = self.after or self.before
        assert entry is not None
        return entry


def diff(before: State, after: State) -> tuple[Change, ...]:
    """What turned `before` into `after`: additions, then changes, then removals, in the states' order."""
    added = (Change(one, None, entry) for one, entry in after.items() if one not in before)
    changed = (
        Change(one, before[one], entry) for one, entry in after.items() if one in before and before[one] != entry
    )
    removed = (Change(one, entry, None) for one, entry in before.items() if one not in after)
    return (*added, *changed, *removed)
