"""The memory architecture of topic files: `topics/*.md`, its score index, promotions, provenance and candidates.

A line `- [category] text` with its marks is one memory; the index says under a hash of the line what use and rules
belong to it. The hash is FNV-1a over UTF-16 units; the product's own program computes it in doubles, other writers
exactly, so both are looked for. An older form, one `memory.md` with sections, is read as well.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noforgetti.importers import files, own
from noforgetti.importers.base import Item, Leftover, Revision, Source, SourceBranch, SourceError
from noforgetti.importers.listing import tag
from noforgetti.model import portable
from noforgetti.model.entry import CATEGORY_OF_FOLDER, Category, Cue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMAT = "topics"
INDEXES = ("memory-scores.jsonl", "memory-scores.json")
PENDING = ("provenance-pending.jsonl", "provenance-pending.json")
CANDIDATES = "preference-candidates.jsonl"
PROMOTIONS, GUIDELINES = "promotions.md", "review-guidelines.md"
OLDER = "memory.md"
_LINE = re.compile(r"[-*] (?:\[([\w -]{1,40})\] +)?(\S.*)")
_MARK = re.compile(r"(.*\S) +\*\((pinned|enforced)\)\*")
_OFFSET, _PRIME = 0x811C9DC5, 0x01000193  # FNV-1a, 32 bits
_RULE = (("trigger", "trigger"), ("action", "action"), ("actionCommand", "command"), ("verifier", "verifier"))
_KNOWN = (  # keys of a record that become something of an item, or are counted anew
    *("class", "score", "evidenceCount", "cue", "firstSeen", "lastReinforced", "userState", "lifecycle", "hash"),
    *("trigger", "action", "actionCommand", "verifier", "sourceSession", "derivedFrom", "informs"),
)

Record = dict[str, Any]


def find(project: str, environ: Mapping[str, str]) -> Path | None:
    """The project's `.pi/memory`, when something of this form is in it."""
    del environ
    folder = Path(project, ".pi", "memory")
    there = (folder / "topics", *(folder / one for one in (*INDEXES, OLDER)))
    return folder if project and any(one.exists() for one in there) else None


def read(path: Path, *, project: str = "") -> Source:
    """The memory in a folder (that of the project, its `.pi/memory` or the `topics` in it) or in one topic file. Raises
    `SourceError` when there is nothing of the kind."""
    del project
    folder, topics = _places(path)
    index = _index(folder)
    if path.is_dir():
        index.leftovers += _unread(folder, topics)
    if index.ours:
        return replace(own.read(folder), format=FORMAT)
    reading = _Reading(index)
    only = "" if path.is_dir() else files.name(path, folder)
    for one in topics:
        reading.topic(one, files.name(one, folder))
    reading.pending(folder)
    reading.rest(folder, whole=path.is_dir())
    state = Revision(files.distinct(reading.items))
    beside = _beside(folder, reading.leftovers)
    return Source(FORMAT, (SourceBranch((state,)),), tuple(reading.leftovers), beside, only=only)


def _places(path: Path) -> tuple[Path, list[Path]]:
    """The folder of a memory and its topic files."""
    if not path.is_dir():
        files.whole(path)  # says what is wrong with it
        inside = path.parent.name == "topics"
        return (path.parent.parent if inside else path.parent), [path]
    inner = path / ".pi" / "memory"
    folder = inner if inner.is_dir() else path.parent if path.name == "topics" else path
    topics = sorted((folder / "topics").glob("*.md")) if (folder / "topics").is_dir() else []
    topics = topics or [one for one in (folder / OLDER,) if one.exists()]
    if not topics and not any((folder / one).exists() for one in INDEXES):
        topics = [folder / f"{name}.md" for name in CATEGORY_OF_FOLDER if (folder / f"{name}.md").is_file()]
        if not topics:
            raise SourceError(
                f"`{files.shown(path)}` holds no topic files. Nothing was imported.",
                hint="name the folder with `topics` and `memory-scores.jsonl` in it, such as .pi/memory",
            )
    return folder, topics


def _unread(folder: Path, topics: list[Path]) -> list[Leftover]:
    """What lies where topics do and is none."""
    inside = sorted((folder / "topics").iterdir()) if (folder / "topics").is_dir() else []
    older = [one for one in (folder / OLDER,) if one.exists() and inside]
    found = [one for one in (*inside, *older) if one not in topics]
    return [Leftover(files.name(one, folder), "is no topic file of this form; import it by itself") for one in found]


# ---- the index


class _Index:
    """What the newest whole state of a score index says, by hash."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.leftovers: list[Leftover] = []
        self.used: set[str] = set()
        self.ours = False  # an export of noforgetti

    def of(self, line: str) -> tuple[str, Record]:
        """The record of a line, and its key; an empty one where it has none."""
        for key in (digest(line, exact=False), digest(line, exact=True)):
            if key in self.records:
                self.used.add(key)
                return key, self.records[key]
        return digest(line, exact=True), {}


def digest(line: str, *, exact: bool) -> str:
    """FNV-1a of a line over UTF-16 units, eight hex digits: exact, or in doubles as the product multiplies."""
    found = _OFFSET
    units = line.encode("utf-16-le", "surrogatepass")
    for at in range(0, len(units), 2):
        found ^= units[at] | units[at + 1] << 8
        signed = found - (1 << 32) if found >> 31 else found
        found = (found * _PRIME if exact else int(float(signed * _PRIME))) & 0xFFFFFFFF
    return f"{found:08x}"


def _index(folder: Path) -> _Index:
    index = _Index()
    for name in INDEXES:
        path = folder / name
        if not path.exists():
            continue
        try:
            values, lost = files.documents(files.whole(path), name)
        except SourceError as error:
            index.leftovers.append(Leftover(name, error.message.partition(". ")[0]))
            continue
        index.leftovers += lost
        for number, value in values:
            found = _state(value)
            if found is None:
                index.leftovers.append(Leftover(f"{name}:{number}", "is no state of a score index"))
            else:
                index.records.update(found) if _single(value) else setattr(index, "records", dict(found))
                index.ours = isinstance(value, dict) and value.get("format") == portable.FORMAT
        return index  # the older form is the newer one's past
    return index


def _single(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("hash"), str)


def _state(value: Any) -> dict[str, Record] | None:
    """The records of one line: a whole state, one in an envelope, or a single record with its hash."""
    if not isinstance(value, dict):
        return None
    if _single(value):
        return {value["hash"]: value}
    for inner in (value, *(one for one in value.values() if isinstance(one, dict))):
        entries = inner.get("entries")
        if isinstance(entries, dict):
            return {str(key): one for key, one in entries.items() if isinstance(one, dict)}
    return None


# ---- the lines


class _Reading:
    """What was read so far of topic files, with the records of their lines."""

    def __init__(self, index: _Index) -> None:
        self.index = index
        self.items: list[Item] = []
        self.leftovers = index.leftovers
        self.by_line: dict[str, int] = {}
        self.by_hash: dict[str, str] = {}

    def topic(self, path: Path, where: str) -> None:
        """Read one topic file, or the older `memory.md`."""
        try:
            lines, lost = files.lines(files.whole(path), where)
        except SourceError as error:
            self.leftovers.append(Leftover(where, error.message.partition(". ")[0]))
            return
        self.leftovers += lost
        pinned = False
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                pinned = line.lstrip("# ").casefold().startswith("pinned")
            elif match := _LINE.fullmatch(line.rstrip()):
                self._line(match, where, pinned=pinned)
            elif line.strip():
                self.leftovers.append(Leftover(f"{where}:{number}", "is no line of a topic"))

    def _line(self, match: re.Match[str], where: str, *, pinned: bool) -> None:
        label, text = match[1], match[2].rstrip()
        marks: set[str] = {"pinned"} if pinned else set()
        while found := _MARK.fullmatch(text):
            text = found[1]
            marks.add(found[2])
        known = label in set(Category)
        category = Category(label) if known else CATEGORY_OF_FOLDER.get(Path(where).stem, Category.LESSON)
        line = f"- [{category}] {text}"
        key, record = self.index.of(line)
        item = _item(f"{where}#{key}", text, where, category, record, marks)
        if label and not known and tag(label):
            item = replace(item, tags=(tag(label),))
        self.by_line.setdefault(line, len(self.items))
        self.by_hash.setdefault(key, item.name)
        self.items.append(item)

    def pending(self, folder: Path) -> None:
        """Provenance that the product had not merged into its index yet."""
        for name in PENDING:
            for number, value in _values(folder / name, self.leftovers):
                inner = value.get("entries") if isinstance(value, dict) else None
                for one in inner if isinstance(inner, list) else (value,):
                    line = f"- [{one.get('category')}] {files.mended(one.get('text'))}" if isinstance(one, dict) else ""
                    at = self.by_line.get(line)
                    if at is None:
                        self.leftovers.append(Leftover(f"{name}:{number}", "is about no line of a topic"))
                    else:
                        self.items[at] = _provenance(self.items[at], one)

    def rest(self, folder: Path, *, whole: bool) -> None:
        """What no line stands for: rules without one, candidates; and what a record names becomes a name of an item. Of
        one file out of several nobody knows what its index has no line for."""
        self.items = [replace(one, derived=self._derived(one)) for one in self.items]
        gone = 0
        for key, record in self.index.records.items() if whole else ():
            if key in self.index.used:
                continue
            if rule := _rule(record):
                self.leftovers.append(Leftover(f"index: {key}", f"has a rule and no line any more: {rule}"))
            else:
                gone += 1
        if gone:
            self.leftovers.append(Leftover("index", f"{gone:,} of its records have no line any more"))
        for number, value in _values(folder / CANDIDATES, self.leftovers):
            said = next((text for text in _texts(value) if text), "")
            self.leftovers.append(Leftover(f"{CANDIDATES}:{number}", f"waits for a decision: {said[:200]}"))

    def _derived(self, item: Item) -> tuple[str, ...]:
        return tuple(self.by_hash[one] for one in item.derived if one in self.by_hash)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key in ("text", "sentence", "content", "preference"):
            yield files.mended(value.get(key))
    yield files.mended(value)


def _values(path: Path, leftovers: list[Leftover]) -> list[tuple[int, Any]]:
    if not path.exists():
        return []
    try:
        values, lost = files.documents(files.whole(path), path.name)
    except SourceError as error:
        leftovers.append(Leftover(path.name, error.message.partition(". ")[0]))
        return []
    leftovers += lost
    return values


def _item(name: str, text: str, where: str, category: Category, record: Record, marks: set[str]) -> Item:
    """A line with its record. Without one the product takes a pinned line as said and any other as observed, once."""
    state, cue = record.get("userState"), files.mended(record.get("cue"))
    rule = _rule(record)
    evidence = record.get("evidenceCount")
    reinforced, created = files.stamp(record.get("lastReinforced")), files.stamp(record.get("firstSeen"))
    more = [*files.untold(record, _KNOWN)]
    if "enforced" in marks and not rule:
        more.append("is marked as enforced, but its rule is missing")
    item = Item(
        name=name,
        text=text,
        group=where,
        category=category,
        pinned="pinned" in marks or state == "pinned",
        cue=Cue(cue) if cue in set(Cue) else Cue.EXPLICIT if "pinned" in marks else Cue.BEHAVIORAL,
        rule=rule,
        created=created,
        evidence=evidence if type(evidence) is int and evidence > 0 else 0,
        reinforced=reinforced if reinforced > created else "",
        forgotten=state == "forgotten",
        notes=tuple(more),
    )
    return _provenance(item, record)


def _provenance(item: Item, told: Record) -> Item:
    """Where an item is from: its session, the hash of what it was made of (another note stays a note), what it
    informs."""
    session, derived = files.mended(told.get("sourceSession")), files.mended(told.get("derivedFrom"))
    informs = files.strings(told.get("informs") or [])
    words = derived.split()
    hashes = tuple(words) if words and all(re.fullmatch(r"[0-9a-f]{8}", one) for one in words) else ()
    notes = () if hashes or not derived else (f"derived from: {derived[:200]}",)
    return replace(
        item,
        session=session or item.session,
        derived=hashes or item.derived,
        informs=tuple(dict.fromkeys((*item.informs, *informs))),
        notes=tuple(dict.fromkeys((*item.notes, *notes))),
    )


def _rule(record: Record) -> str:
    """The rule of a record as one JSON object, or empty."""
    said = {ours: text for theirs, ours in _RULE if (text := files.mended(record.get(theirs)))}
    whole = ("trigger" in said and "action" in said) or "verifier" in said
    return json.dumps(said, ensure_ascii=False) if whole else ""


def _beside(folder: Path, leftovers: list[Leftover]) -> dict[str, bytes]:
    """Promotions and review guidelines, which have the same form here. Guidelines may lie in `.pi/data`."""
    found: dict[str, bytes] = {}
    for name, places in (
        (PROMOTIONS, (folder / PROMOTIONS,)),
        (GUIDELINES, (folder / GUIDELINES, folder.parent / "data" / GUIDELINES)),
    ):
        for path in places:
            if path.is_symlink():
                leftovers.append(Leftover(name, "is a symbolic link; it is not followed"))
            elif path.is_file() and name not in found:
                try:
                    found[name] = files.whole(path)
                except SourceError as error:
                    leftovers.append(Leftover(name, error.message.partition(". ")[0]))
    return found
