"""Topic files and their score index, in the form of the memory architecture that invented them.

A topic file has a heading and one line an entry; an index has a record for each, under a hash of its line. What such a
line cannot hold (line breaks, an id, importance) stands in the record, so that an export can come back as it went.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from noforgetti.model import portable
from noforgetti.model.entry import FOLDERS
from noforgetti.model.signal import NEW
from noforgetti.policy import enforcement, scoring
from noforgetti.policy.document import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from noforgetti.model.entry import Entry, EntryId
    from noforgetti.model.signal import Signal
    from noforgetti.policy.scoring import Scored

FOLDER = "topics"
ARCHIVE = "archive"  # entries that are set aside, which the architecture does not know
INDEX = "memory-scores.jsonl"
LARGEST = 12_000  # characters of a topic file (the architecture's cap: 3,000 tokens of four)
_NAME = re.compile(rf"{FOLDER}/(?:{ARCHIVE}/)?(?:{'|'.join(FOLDERS.values())})(?:-[1-9]\d*)?\.md")
_OFFSET, _PRIME = 0x811C9DC5, 0x01000193  # FNV-1a, 32 bits


def canonical(entry: Entry) -> str:
    """The line that stands for the entry, without its marks: what the architecture's hash is made of."""
    return f"- [{entry.category}] {' '.join(entry.text.split())}"


def line(entry: Entry) -> str:
    """The entry's line in its topic file."""
    marks = [" *(pinned)*"] if entry.pinned else []
    marks += [" *(enforced)*"] if entry.enforced else []
    return canonical(entry) + "".join(marks)


def digest(text: str) -> str:
    """What keys a record: FNV-1a over UTF-16 units, eight hex digits, with the architecture's own arithmetic. Its
    program multiplies in doubles, which drop the last bits of a product; the exact hash would find no record there."""
    found = _OFFSET
    units = text.encode("utf-16-le")
    for at in range(0, len(units), 2):
        found ^= units[at] | units[at + 1] << 8
        signed = found - (1 << 32) if found >> 31 else found  # what its `^` makes
        found = int(float(signed * _PRIME)) & 0xFFFFFFFF
    return f"{found:08x}"


def files(entries: Iterable[Entry]) -> dict[str, str]:
    """The topic files by path: `topics/lessons.md`; what is beyond the cap goes to `topics/lessons-2.md` and so on."""
    found: dict[str, str] = {}
    known = list(entries)
    for folder, archived in ((FOLDER, False), (f"{FOLDER}/{ARCHIVE}", True)):
        for category, heading in HEADINGS.items():
            here = [line(one) for one in known if one.category is category and one.archived is archived]
            for number, lines in enumerate(_parts(here, LARGEST - len(heading) - 4), 1):
                name = category.folder if number == 1 else f"{category.folder}-{number}"
                found[f"{folder}/{name}.md"] = "\n".join([f"# {heading}", "", *lines, ""])
    return found


def is_name(path: str) -> bool:
    """Whether `files` can name a file so."""
    return _NAME.fullmatch(path) is not None


def _parts(lines: Iterable[str], room: int) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for one in lines:
        if part and size + len(one) + 1 > room:
            yield part
            part, size = [], 0
        part.append(one)
        size += len(one) + 1
    if part:
        yield part


def record(scored: Scored, signal: Signal) -> dict[str, Any]:
    """What an index says of an entry: the architecture's own keys, then the whole entry as it is."""
    entry = scored.entry
    state = "pinned" if entry.pinned else "forgotten" if signal.forgotten else "auto"
    said: dict[str, Any] = {
        "class": entry.category,
        "score": round(scored.score, 4),
        "evidenceCount": scored.evidence,
        "cue": entry.cue,
        "firstSeen": entry.created,
        "lastReinforced": max(scored.reinforced, entry.created),
        "userState": state,
        "lifecycle": scored.lifecycle,
    }
    rule = enforcement.parse(entry.rule) if entry.rule else None
    if isinstance(rule, enforcement.EnforcedRule):
        said |= {
            key: str(value)
            for key, value in (
                ("trigger", rule.trigger),
                ("action", rule.action),
                ("actionCommand", rule.command),
                ("verifier", rule.verifier),
            )
            if value
        }
    if entry.session:
        said["sourceSession"] = entry.session
    if entry.derived:
        said["derivedFrom"] = " ".join(entry.derived)
    if entry.informs:
        said["informs"] = list(entry.informs)
    return said | {
        "entry": portable.value(entry),
        **({"signal": signal_value(signal)} if signal != NEW else {}),
    }


def signal_value(signal: Signal) -> dict[str, Any]:
    """What use says, as JSON."""
    told: dict[str, Any] = {"evidence": signal.evidence, "reinforced": signal.reinforced}
    return told | ({"forgotten": True} if signal.forgotten else {})


def scores(entries: Iterable[Entry], signals: Mapping[EntryId, Signal], now: float) -> list[tuple[str, dict[str, Any]]]:
    """Every entry's record with the hash of its line, in the order of the entries. Archived ones are dropped by the
    architecture's words."""
    known = list(entries)
    judged = {one.entry.id: one for one in scoring.score_all(known, signals, now)}
    found = []
    for entry in known:
        signal = signals.get(entry.id, NEW)
        one = judged.get(entry.id) or scoring.score(entry, signal, now)
        said = record(one, signal)
        if entry.archived:
            said["lifecycle"] = scoring.Lifecycle.DROPPED
        found.append((digest(canonical(entry)), said))
    return found


def index(found: Iterable[tuple[str, dict[str, Any]]], files: Mapping[str, str], at: str) -> str:
    """The score index as one line, a whole state, as the architecture writes it. Of two entries with one line the
    second has `~2` behind the hash. `digests` says how each of the files was written."""
    entries: dict[str, dict[str, Any]] = {}
    for key, said in found:
        number = 1
        own = key
        while own in entries:
            number += 1
            own = f"{key}~{number}"
        entries[own] = said
    doc = {"entries": entries, "lastRebuild": at, "format": portable.FORMAT, "version": portable.VERSION}
    digests = {path: content_digest(files[path].encode()) for path in sorted(files)}
    return json.dumps(doc | {"files": sorted(files), "digests": digests}, ensure_ascii=False) + "\n"


def content_digest(data: bytes) -> str:
    """What an index says of a file's bytes, so that a change by somebody else is seen."""
    return hashlib.sha256(data).hexdigest()
