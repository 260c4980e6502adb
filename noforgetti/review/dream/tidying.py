"""The part of a dream that needs no model: repetitions become one entry, and plain preferences are put in one clean
sentence. The same memory is tidied the same way every time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from noforgetti.model.change import Archive, Merge, Operation, Remove
from noforgetti.model.entry import Importance
from noforgetti.policy import retention
from noforgetti.policy.beside import beside
from noforgetti.policy.contradiction import contradicts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.model.entry import Entry, EntryId
    from noforgetti.review.dream.material import Material

_RANK = {Importance.HIGH: 0, Importance.NORMAL: 1, Importance.LOW: 2}


@dataclass(slots=True)
class _Kept:
    """One entry that stays, with those that say the same."""

    entry: Entry
    text: str
    importance: Importance
    others: list[Entry] = field(default_factory=list)


def tidy(material: Material, cold: Iterable[EntryId] = ()) -> tuple[Operation, ...]:
    """Merge what repeats itself, and archive the `cold` entries that nothing was merged into.

    Of a group the strongest keeps its id: guarded, then keyed, then the highest score. The text that stays is one of
    theirs, of the highest importance, then the longest, and it says what all of them say; where none does, nothing is
    merged. What repeats a guarded entry goes, and that entry stays as it is. Opposites are never merged.
    """
    groups: list[_Kept] = []
    live = [entry for entry in material.state.values() if not entry.archived]
    for entry in sorted(live, key=lambda one: _strength(material, one)):
        twin = None if entry.id in material.settled else _twin(material, groups, entry)
        if twin is None:
            groups.append(_Kept(entry, entry.text, entry.importance))
    merged = [operation for group in groups if group.others for operation in _operations(material, group)]
    gone = {one.id for group in groups for one in group.others} | {group.entry.id for group in groups if group.others}
    return (*merged, *(Archive(one) for one in cold if one in material.state and one not in gone))


def _twin(material: Material, groups: list[_Kept], entry: Entry) -> _Kept | None:
    """The group that says what `entry` says, now with it inside; None when it stays by itself."""
    if material.guarded(entry):
        return None
    open_ = {group.entry.id: group for group in groups if _may_join(group, entry)}
    found = beside(entry.text, (group.entry for group in open_.values()), negative=entry.negative)
    if found.repeats is None:
        return None
    group = open_[found.repeats.entry.id]
    members = [group.entry, *group.others, entry]
    if any(contradicts(one.text, entry.text) for one in members[:-1]):
        return None
    if material.guarded(group.entry):
        texts = [group.entry.text]
    else:
        texts = [one.text for one in sorted(members, key=lambda one: (_RANK[one.importance], -len(one.text), one.id))]
    text = next((text for text in texts if not retention.missing([one.text for one in members], text)), None)
    if text is None:
        return None
    group.others.append(entry)
    group.text, group.importance = text, min(group.importance, entry.importance, key=_RANK.__getitem__)
    return group


def _may_join(group: _Kept, entry: Entry) -> bool:
    return group.entry.negative == entry.negative and entry.key in ("", group.entry.key)


def _operations(material: Material, group: _Kept) -> Iterable[Operation]:
    ids = tuple(one.id for one in group.others)
    if material.guarded(group.entry):
        yield from (Remove(one, (group.entry.id,)) for one in ids)
        return
    importance = group.importance if group.importance is not group.entry.importance else None
    yield Merge((group.entry.id, *ids), group.text, importance, ids)


def _strength(material: Material, entry: Entry) -> tuple[bool, bool, float, str, str]:
    scored = material.scored.get(entry.id)
    return (not material.guarded(entry), not entry.key, -(scored.score if scored else 0.0), entry.created, entry.id)
