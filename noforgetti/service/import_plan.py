"""What becomes of each item of a foreign memory: decided on one snapshot, written nowhere.

Every item ends in at least one row, and no row is silent: what is not carried says why. An entry remembers where it
came from (`Entry.origin`: format, the source's name, `@`, eight digits of the digest of the text that came), so that
the next import of the same source changes what changed there and doubles nothing. What somebody changed or removed here
since stays as it is here.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from noforgetti.model.change import Change
from noforgetti.model.commit import one_line
from noforgetti.model.entry import Entry, EntryId, Importance, Scope, Snapshot, Writer
from noforgetti.model.signal import NEW, Signal
from noforgetti.policy import enforcement, guards, keys, secrecy
from noforgetti.policy import text as forms
from noforgetti.policy.names import entry_id
from noforgetti.policy.verdict import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from noforgetti.importers.base import Item
    from noforgetti.policy.capacity import Limits

_NAME = 300  # code points of a source's name for an item that are kept in the entry
_NEAR = 0.6  # share of equal text from which an item is one that lost its name: difflib's own advice for "close"
_PAIRS = 250_000  # comparisons of reworded items in one import; past that they come as new and the old ones are told
_DIGITS = 8
_MASKED = 16_384  # masked names, tags and headings that are kept: a source of 10,000 items repeats most of them
_PART = re.compile(r"#\d+$")  # what tells the later pieces of a long item from the first
_MARKS = ("category", "importance", "pinned", "negative")
_ORDER = {Importance.HIGH: 0, Importance.NORMAL: 1, Importance.LOW: 2}


class Outcome(StrEnum):
    """What becomes of one item, or of one piece of a long one."""

    ADDED = "added"
    UPDATED = "updated"
    ARCHIVED = "archived"  # added, but there is no room to tell it: kept and found, not injected
    UNCHANGED = "unchanged"  # an earlier import brought it, and the source says the same still
    DUPLICATE = "duplicate"  # an entry here says exactly that
    KEPT = "kept"  # somebody changed it here since; the source's version is not taken
    REMOVED_HERE = "removed-here"  # somebody removed it here since
    GONE = "gone"  # an entry of an earlier import that the source holds no longer; kept
    PRUNED = "pruned"  # the same, removed because it was asked for
    REFUSED = "refused"

    @property
    def writes(self) -> bool:
        """Whether the branch changes by it."""
        return self in (Outcome.ADDED, Outcome.UPDATED, Outcome.ARCHIVED, Outcome.PRUNED)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report. `name` is the source's, `entry` ours, `reason` why it is as it is; secrets are masked."""

    name: str
    outcome: Outcome
    entry: EntryId | None = None
    text: str = ""
    reason: str = ""
    rule: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do to one branch: the rows, the changes, and what use said in the source."""

    rows: tuple[Row, ...]
    changes: tuple[Change, ...]
    signals: Mapping[EntryId, Signal] = field(default_factory=dict)


def plan(
    format_: str,
    items: Iterable[Item],
    now: Snapshot,
    limits: Limits,
    draw: Callable[[int], int],
    *,
    time: str = "",
    removed: frozenset[str] = frozenset(),
    prune: bool = False,
    only: str = "",
    replay: bool = False,
) -> Plan:
    """Decide on `now`. `removed` are the origins (without digest) of entries that earlier imports brought and somebody
    removed since; `time` is when an item was made that does not say itself. `prune` takes out what the source no longer
    holds; a source that is `only` one file says nothing of the others. With `replay` nobody but the source wrote what
    is there, so that an entry becomes in all things what its item is now."""
    planning = _Planning(format_, now, limits, draw, time, removed, only, replay)
    return planning.done(tuple(items), prune=prune)


def origin(format_: str, name: str) -> str:
    """Where an item comes from, without the digest of its text. One line without secrets; a name that is long or holds
    one is cut and told apart."""
    plain = one_line(name)
    masked = _masked(plain)
    if len(masked) > _NAME or masked != plain:
        masked = f"{masked[:_NAME]}~{_digest(name)}"
    return f"{format_}:{masked}"


def came_from(entry: Entry) -> tuple[str, str]:
    """The origin of an entry without the digest, and the digest; empty when it was not imported."""
    where, at, digest = entry.origin.rpartition("@")
    return (where, digest) if at and re.fullmatch("[0-9a-f]{8}", digest) else ("", "")


def pieces(text: str, limit: int) -> list[str]:
    """The text in pieces of at most `limit` code points, cut between paragraphs, else lines, else sentences, else
    words, and only where nothing else helps between two letters that no one reads as one."""
    text = text.strip()
    if len(text) <= limit:
        return [text] if text else []
    for border in ("\n\n", "\n", None, " "):
        parts = _sentences(text) if border is None else [part for part in text.split(border) if part.strip()]
        if len(parts) > 1:
            return _packed(parts, border or " ", limit)
    return _cut(text, limit)


def _packed(parts: list[str], glue: str, limit: int) -> list[str]:
    found: list[str] = []
    for part in parts:
        for one in pieces(part, limit):
            if found and len(found[-1]) + len(glue) + len(one) <= limit:
                found[-1] += glue + one
            else:
                found.append(one)
    return found


def _sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+|(?<=[。！？])", text) if part.strip()]


def _cut(text: str, limit: int) -> list[str]:
    found = []
    while len(text) > limit:
        at = forms.border(text, limit) or limit
        found.append(text[:at])
        text = text[at:]
    return [*found, text]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]


@dataclass(slots=True)
class _Piece:
    """One text on its way: an item, or a part of a long one."""

    item: Item
    name: str
    origin: str
    text: str
    notes: tuple[str, ...]

    @property
    def row(self) -> Callable[..., Row]:
        """A row about it."""
        return lambda outcome, entry=None, reason="", rule="": Row(
            self.name, outcome, entry, self.text, reason, rule, self.notes
        )


class _Planning:
    def __init__(
        self,
        format_: str,
        now: Snapshot,
        limits: Limits,
        draw: Callable[[int], int],
        time: str,
        removed: frozenset[str],
        only: str,
        replay: bool,
    ) -> None:
        self.format, self.now, self.limits, self.draw, self.time = format_, now, limits, draw, time
        self.removed, self.only, self.replay = removed, only, replay
        self.entries = {entry.id: entry for entry in now}
        self.taken = {path.rpartition("/")[2].removesuffix(".md") for path in now.files} | set(map(str, self.entries))
        self.by_origin = {where: entry for entry in now if (where := came_from(entry)[0])}
        self.by_text = {entry.text: entry for entry in now if not entry.key}
        self.by_key = {entry.key: entry for entry in now if entry.key}
        self.after = dict(self.entries)
        self.rows: list[Row] = []
        self.signals: dict[EntryId, Signal] = {}
        self.made: dict[str, EntryId] = {}  # the source's names, for what rests on what
        self.refused: set[str] = set()  # origins of what the source still holds and may not be written

    def done(self, items: tuple[Item, ...], *, prune: bool) -> Plan:
        fresh: list[_Piece] = []
        present: set[str] = set()
        again: list[tuple[_Piece, Entry]] = []
        for item in items:
            if item.own is not None:
                self._own(item, item.own)
                continue
            for piece in self._read(item):
                present.add(piece.origin)
                held = self.by_origin.get(piece.origin)
                if held is not None:
                    again.append((piece, held))
                elif piece.origin in self.removed:
                    self.rows.append(piece.row(Outcome.REMOVED_HERE, reason="it was removed here since"))
                else:
                    fresh.append(piece)
        vanished = {
            where: entry
            for where, entry in self.by_origin.items()
            if self._ours(where) and where not in present and _PART.sub("", where) not in self.refused
        }
        fresh, renamed = self._renamed(fresh, vanished)
        self._again([*again, *renamed])
        for piece in fresh:
            self._new(piece)
        self._leave(vanished, prune=prune)
        self._derive(items)
        self._make_room()
        changes = tuple(
            Change(own, self.entries.get(own), self.after.get(own))
            for own in {**self.entries, **self.after}
            if self.entries.get(own) != self.after.get(own)
        )
        return Plan(tuple(self.rows), changes, self.signals)

    # ---- one item

    def _read(self, item: Item) -> Iterator[_Piece]:
        """The pieces of an item that may be written; what may not be becomes a row."""
        if item.scope in (Scope.SESSION, Scope.TASK):
            why = f"it holds for one {item.scope} only"
            self.rows.append(Row(item.name, Outcome.REFUSED, None, _shown(item.text), why, "scope", item.notes))
            return
        form = forms.normalise(item.text)
        whole = guards.unsafe(form)
        parts = pieces(form, self.limits.entry)
        if not parts:
            self.rows.append(Row(item.name, Outcome.REFUSED, None, "", "it has no text", "form", item.notes))
            return
        if whole is not None and all(guards.unsafe(part) is None for part in parts):
            parts = parts[:1] if len(parts) == 1 else []  # what may not be read lies across a cut
            self._refused(item, item.name, form, whole)
        for number, part in enumerate(parts, 1):
            name = item.name if number == 1 else f"{item.name}#{number}"
            checked = guards.check(part, limit=self.limits.entry, automatic=False, scope=Scope.PROJECT)
            if isinstance(checked, Refusal):
                self._refused(item, name, part, checked)
            else:
                more = (f"part {number} of {len(parts)}",) if len(parts) > 1 else ()
                yield _Piece(item, name, origin(self.format, name), checked, (*item.notes, *more))

    def _refused(self, item: Item, name: str, text: str, refusal: Refusal) -> None:
        self.refused.add(origin(self.format, item.name))
        why = refusal.message.replace("Nothing was written.", "").replace("; nothing was written", "").strip()
        self.rows.append(Row(name, Outcome.REFUSED, None, _shown(text), why, str(refusal.rule), item.notes))

    def _own(self, item: Item, own: Entry) -> None:
        """An entry of an export of ours: it comes back as it was."""
        held = self.after.get(own.id)
        if held == own:
            self._use(item, own.id)
            self.rows.append(Row(item.name, Outcome.UNCHANGED, own.id, own.text))
        elif held is not None:
            why = "the entry here has another text or other marks"
            self.rows.append(Row(item.name, Outcome.KEPT, own.id, own.text, why))
        elif (twin := self.by_text.get(own.text)) is not None and not own.key and twin.id in self.entries:
            self.rows.append(Row(item.name, Outcome.DUPLICATE, twin.id, own.text, "an entry here says exactly that"))
        elif (refusal := guards.unsafe(own.text) or _hidden(own)) is not None or str(own.id) in self.taken:
            why = refusal.message if refusal else f"a file of the branch has the name `{own.id}`"
            self.rows.append(Row(item.name, Outcome.REFUSED, None, _shown(own.text), why))
        elif own.key and own.key in self.by_key:
            other = self.by_key[own.key]
            why = f"entry `{other.id}` has the key `{own.key}`"
            self.rows.append(Row(item.name, Outcome.KEPT, other.id, own.text, why))
        else:
            self._put(own)
            self._use(item, own.id)
            self.rows.append(Row(item.name, Outcome.ADDED, own.id, own.text, notes=item.notes))

    def _again(self, found: Iterable[tuple[_Piece, Entry]]) -> None:
        """Items that earlier imports brought."""
        waiting: list[tuple[_Piece, Entry]] = []
        for piece, held in found:
            brought = came_from(held)[1]
            self.made.setdefault(piece.item.name, held.id)
            if _digest(piece.text) == brought:
                self._same(piece, held)
            elif _digest(held.text) != brought:
                self.rows.append(piece.row(Outcome.KEPT, held.id, "it was changed here since the last import"))
            else:
                waiting.append((piece, held))
        self._reworded(waiting)

    def _same(self, piece: _Piece, held: Entry) -> None:
        """An item that says what it said. Judged anew in the source it is judged anew here; what else is different may
        have been changed here, and is told."""
        traits = self._entry(piece, held.id, held.key)
        now = held
        if self.replay:
            now = replace(traits, created=piece.item.created or held.created)
        elif traits.assessed > held.assessed:
            now = replace(held, importance=traits.importance, assessed=traits.assessed)
        other = [one for one in _MARKS if getattr(traits, one) != getattr(now, one)]
        piece.notes += tuple(f"its {one} is `{getattr(traits, one)}` in the source, not here" for one in other)
        self._use(piece.item, held.id)
        if now != held:
            self._put(now)
        self.rows.append(piece.row(Outcome.UNCHANGED if now == held else Outcome.UPDATED, held.id))

    def _reworded(self, waiting: list[tuple[_Piece, Entry]]) -> None:
        """Reword entries. A text that one of them gives up is free for another."""
        while waiting:
            taken = []
            for piece, held in waiting:
                if self._twin(piece, held) is None:
                    self._reword(piece, held)
                else:
                    taken.append((piece, held))
            if len(taken) == len(waiting):
                break
            waiting = taken
        for piece, held in waiting:
            why = f"`{self._twin(piece, held)}` says what the source says now"
            self.rows.append(piece.row(Outcome.KEPT, held.id, why))

    def _twin(self, piece: _Piece, held: Entry) -> EntryId | None:
        """Another entry that says already what the piece says."""
        twin = None if held.key else self.by_text.get(piece.text)
        return twin.id if twin is not None and twin.id != held.id else None

    def _reword(self, piece: _Piece, held: Entry) -> None:
        traits = self._entry(piece, held.id, held.key)
        entry = replace(
            replace(traits, created=piece.item.created or held.created) if self.replay else held,
            text=piece.text,
            importance=traits.importance if traits.assessed else held.importance,
            assessed=traits.assessed or held.assessed,
            tags=traits.tags or held.tags,
            negative=traits.negative,
            confidence=traits.confidence,
            origin=traits.origin,
        )
        self._put(entry)
        self._use(piece.item, held.id)
        self.rows.append(piece.row(Outcome.UPDATED, held.id))

    def _renamed(
        self, fresh: list[_Piece], vanished: dict[str, Entry]
    ) -> tuple[list[_Piece], list[tuple[_Piece, Entry]]]:
        """Items whose name is new, parted: those that are new, and those that an earlier import brought under a name
        that is gone, with their entries. One that says the same moved; one that says nearly the same, near where it
        stood, was reworded, too. What was recognised leaves `vanished`."""
        rest: list[_Piece] = []
        found: list[tuple[_Piece, Entry]] = []
        tries = _PAIRS
        gone = {(entry.key, entry.text): where for where, entry in vanished.items()}
        for piece in fresh:
            near = gone.pop((piece.item.key, piece.text), None)
            if near is None and piece.text not in self.by_text and piece.item.group and vanished:
                place = origin(self.format, piece.item.group.partition("#")[0])
                there = [(where, entry) for where, entry in vanished.items() if where.startswith(place)]
                tries -= len(there)
                near = _nearest(piece.text, there) if tries > 0 else None
            if near is None:
                rest.append(piece)
                continue
            held = vanished.pop(near)
            gone.pop((held.key, held.text), None)
            found.append((piece, held))
        return rest, found

    def _new(self, piece: _Piece) -> None:
        key = self._key(piece)
        twin = self.by_text.get(piece.text) if not key else None
        if twin is not None:
            self.made.setdefault(piece.item.name, twin.id)
            self.rows.append(piece.row(Outcome.DUPLICATE, twin.id, "an entry here says exactly that"))
            return
        if key and key in self.by_key:
            other = self.by_key[key]
            same = other.text == piece.text
            why = "an entry here says exactly that" if same else f"entry `{other.id}` has the key `{key}`"
            self.rows.append(piece.row(Outcome.DUPLICATE if same else Outcome.KEPT, other.id, why))
            return
        own = entry_id(piece.text, self.taken, self.draw)
        self._put(self._entry(piece, own, key))
        self._use(piece.item, own)
        self.made.setdefault(piece.item.name, own)
        self.rows.append(piece.row(Outcome.ADDED, own))

    def _entry(self, piece: _Piece, own: EntryId, key: str) -> Entry:
        item = piece.item
        rule, notes = item.rule, list(piece.notes)
        if rule and isinstance(bad := enforcement.parse(rule), enforcement.BadRule):
            rule = ""
            notes.append(f"its rule never fires and was left out: {bad.reason}")
        if rule and secrecy.refuse(rule):
            rule = ""
            notes.append("its rule holds what looks like a secret and was left out")
        tags = _lines(item.tags)
        if tags and _masked(item.group) != one_line(item.group):  # a tag is made of a heading, and no longer looks it
            tags = ()
            notes.append("its heading holds what looks like a secret, so its tags were left out")
        piece.notes = tuple(notes)
        return Entry(
            own,
            piece.text,
            category=item.category,
            importance=item.importance,
            assessed=item.assessed,
            pinned=item.pinned,
            key=key,
            cue=item.cue,
            negative=item.negative,
            archived=item.archived,
            tags=tags,
            confidence=item.confidence if item.confidence is not None and 0 <= item.confidence <= 1 else None,
            rule=rule,
            created=item.created or self.time,
            writer=Writer.IMPORT,
            session=_masked(item.session),
            informs=_lines(item.informs),
            origin=f"{piece.origin}@{_digest(piece.text)}",
        )

    def _key(self, piece: _Piece) -> str:
        """The item's key in good form, or none; a key that is none is told."""
        if not piece.item.key or piece.name != piece.item.name:
            return ""
        found = keys.key(piece.item.key)
        if isinstance(found, Refusal) or secrecy.refuse(found):
            piece.notes = (*piece.notes, f"its key `{one_line(piece.item.key)[:80]}` is none here and was left out")
            return ""
        return found

    def _use(self, item: Item, own: EntryId) -> None:
        signal = Signal(max(1, item.evidence), item.reinforced, forgotten=item.forgotten)
        if signal != NEW:
            self.signals[own] = signal

    def _put(self, entry: Entry) -> None:
        before = self.after.get(entry.id)
        if before is not None and self.by_text.get(before.text) == before:
            del self.by_text[before.text]
        self.after[entry.id] = entry
        self.taken.add(str(entry.id))
        if entry.key:
            self.by_key[entry.key] = entry
        else:
            self.by_text[entry.text] = entry

    # ---- all of them

    def _ours(self, where: str) -> bool:
        """Whether the source would say it if it still held it."""
        if self.only:
            place = origin(self.format, self.only)
            return where == place or where.startswith(f"{place}#")
        return where.startswith(f"{self.format}:")

    def _leave(self, vanished: Mapping[str, Entry], *, prune: bool) -> None:
        """What earlier imports brought and the source no longer holds."""
        for where, entry in vanished.items():
            name = where.partition(":")[2]
            own = _digest(entry.text) == came_from(entry)[1]
            if prune and own and not entry.pinned:
                del self.after[entry.id]
                self.rows.append(Row(name, Outcome.PRUNED, entry.id, entry.text))
            elif prune:
                why = "it was changed or pinned here since the last import"
                self.rows.append(Row(name, Outcome.KEPT, entry.id, entry.text, why))
            else:
                why = "the source holds it no longer; `--prune` removes such entries"
                self.rows.append(Row(name, Outcome.GONE, entry.id, entry.text, why))

    def _make_room(self) -> None:
        """Archive what there is no room for. Imports leave the room that direct writes have beyond the working target;
        only what is pinned may take it."""
        new = [entry for entry in self.after.values() if not entry.archived and self._takes_room(entry)]
        size = sum(len(one.text) for one in self.after.values() if not one.archived) - sum(len(one.text) for one in new)
        archived: set[EntryId] = set()
        for entry in sorted(new, key=lambda one: (not one.pinned, not one.rule, _ORDER[one.importance])):
            size += len(entry.text)
            room = self.limits.hard if entry.pinned or entry.rule or self._whole(entry) else self.limits.target
            if size > room:
                size -= len(entry.text)
                archived.add(entry.id)
                self.after[entry.id] = replace(entry, archived=True)
        why = "there is no room to tell it: it is kept and found by `search`, and `unarchive` brings it in"
        self.rows = [
            replace(row, outcome=Outcome.ARCHIVED, reason=why) if row.entry in archived and row.outcome.writes else row
            for row in self.rows
        ]

    def _takes_room(self, entry: Entry) -> bool:
        """Whether it takes more room than before."""
        before = self.entries.get(entry.id)
        return before is None or before.archived or len(entry.text) > len(before.text)

    def _whole(self, entry: Entry) -> bool:
        """An export of ours held as much as a branch may hold."""
        return entry.writer is not Writer.IMPORT or not entry.origin.startswith(f"{self.format}:")

    def _derive(self, items: Iterable[Item]) -> None:
        """Fill in what was made from what, now that all have their ids."""
        for item in items:
            own = self.made.get(item.name)
            found = tuple(self.made[name] for name in item.derived if name in self.made and self.made[name] != own)
            if own in self.after and found and self.after[own] != self.entries.get(own):
                self.after[own] = replace(self.after[own], derived=found)


def _nearest(text: str, there: list[tuple[str, Entry]]) -> str | None:
    best, found = _NEAR, None
    matcher = SequenceMatcher(a="", b=text, autojunk=False)
    for where, entry in there:
        matcher.set_seq1(entry.text)
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (near := matcher.ratio()) > best:
            best, found = near, where
    return found


def _shown(text: str) -> str:
    """The text as a report may show it."""
    return secrecy.redact(text)[0]


@lru_cache(maxsize=_MASKED)
def _masked(text: str) -> str:
    """A text on one line, without secrets."""
    return _shown(one_line(text))


def _lines(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for one in texts if (line := _masked(one))))


def _hidden(entry: Entry) -> Refusal | None:
    """What an entry says beside its text that nobody may write."""
    beside = (entry.key, entry.session, entry.origin, entry.rule, *entry.tags, *entry.informs, *entry.extra)
    return next((refusal for one in beside if (refusal := secrecy.refuse(one))), None)
