"""Exports of our own, brought back: `json`, `scores`, and the folder of `topics`. Entries arrive as they went, ids,
dates and all. (A bundle is git's own format and is fetched by git.)

In a folder of topics the lines decide what is there: a line that was taken out is not brought back, one that somebody
wrote is an entry like any other, and the index says of the rest what a line cannot.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from noforgetti.importers import files
from noforgetti.importers.base import Item, Leftover, Revision, Source, SourceBranch, SourceError
from noforgetti.model import portable
from noforgetti.model.entry import Category

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT = "noforgetti"
INDEX = "memory-scores.jsonl"
_TOPICS = "topics"
_LINE = re.compile(rf"- \[({'|'.join(Category)})\] (.+)")
_MARK = re.compile(r"(.+) \*\((pinned|enforced)\)\*")
_DOCUMENT = ("format", "version", "made_by", "exported", "project", "branches")
_BRANCH = ("name", "head", "entries", "files", "hidden")
_BESIDE = ("signal", "score", "lifecycle")  # keys of an entry in an export that the entry itself has not


def read(path: Path, *, project: str = "") -> Source:
    """The export at a path. Raises `SourceError` when it is none of ours, or of a newer version."""
    del project  # an export says itself where it is from
    if path.is_dir():
        return _folder(path)
    values, lost = files.documents(files.whole(path), path.name)
    ours = [one for _, one in values if isinstance(one, dict) and one.get("format") == portable.FORMAT]
    if not ours:
        raise _foreign(path)
    for one in ours:
        _refuse_newer(path, one)
    if isinstance(ours[0].get("branches"), list):
        return _document(ours[0], path.name, lost)
    if isinstance(ours[0].get("entries"), dict):
        raise SourceError(
            f"`{files.shown(path)}` is the index of a folder of topics. Nothing was imported.",
            hint=f"name the folder: {files.shown(path.parent)}",
        )
    items: list[Item] = []
    for number, one in values:
        item = _scored(one)
        if item is None:
            lost.append(Leftover(f"{path.name}:{number}", "is no entry"))
        else:
            items.append(item)
    return _source(items, lost)


def _foreign(path: Path) -> SourceError:
    return SourceError(
        f"`{files.shown(path)}` is no export of noforgetti. Nothing was imported.",
        hint="make one with `noforgetti export json PATH`, or name the product it is from",
    )


def _refuse_newer(path: Path, doc: dict[str, Any]) -> None:
    version = doc.get("version")
    if type(version) is not int or version > portable.VERSION:
        raise SourceError(
            f"`{files.shown(path)}` is of version {version}, newer than the {portable.VERSION} that this version "
            "reads. Nothing was imported.",
            hint="upgrade noforgetti",
        )


def _source(items: list[Item], lost: list[Leftover], beside: dict[str, bytes] | None = None) -> Source:
    state = Revision(files.distinct(items))
    return Source(FORMAT, (SourceBranch((state,)),), tuple(lost), beside or {})


# ---- json


def _document(doc: dict[str, Any], where: str, lost: list[Leftover]) -> Source:
    """The branches of a document. One alone goes where the import was asked to; of several each keeps its name."""
    parts = [one for one in doc["branches"] if isinstance(one, dict)]
    if len(parts) < len(doc["branches"]):
        lost.append(Leftover(where, f"{len(doc['branches']) - len(parts):,} of its branches are none"))
    lost += [Leftover(where, f"is not carried: {note}") for note in files.untold(doc, _DOCUMENT)]
    found: list[SourceBranch] = []
    beside: dict[str, bytes] = {}
    for number, part in enumerate(parts, 1):
        name = files.mended(part.get("name")) or f"branch-{number}"
        items: list[Item] = []
        entries = part.get("entries")
        lost += [Leftover(f"{where}: {name}", f"is not carried: {note}") for note in files.untold(part, _BRANCH)]
        if not isinstance(entries, list):
            lost.append(Leftover(f"{where}: {name}", "has no list of entries"))
        for place, one in enumerate(entries if isinstance(entries, list) else (), 1):
            item = _item(one, one)
            if item is None:
                lost.append(Leftover(f"{where}: {name} {place}", "is no entry"))
            else:
                items.append(item)
        hidden = files.strings(part.get("hidden") or [])
        lost += [Leftover(f"{where}: {name} {own}", "was hidden when it was exported") for own in hidden]
        found.append(SourceBranch((Revision(files.distinct(items)),), "" if len(parts) == 1 else name))
        told = part.get("files")
        if len(parts) == 1 and isinstance(told, dict):
            beside = {key: text.encode("utf-8", "replace") for key, text in told.items() if isinstance(text, str)}
            lost += [Leftover(f"{where}: {key}", "is no text") for key in told if key not in beside]
        elif told:
            lost.append(Leftover(f"{where}: {name}", "holds files beside the entries; export this branch alone"))
    return Source(FORMAT, tuple(found), tuple(lost), beside, files.mended(doc.get("project")))


def _item(read: Any, beside: Any) -> Item | None:
    """An entry with what use says of it."""
    entry = portable.entry(read)
    if entry is None:
        return None
    signal = beside.get("signal")
    signal = signal if isinstance(signal, dict) else {}
    evidence = signal.get("evidence")
    more = portable.unknown(read, _BESIDE)
    return Item(
        name=entry.id,
        text=entry.text,
        group=entry.category,
        category=entry.category,
        importance=entry.importance,
        assessed=entry.assessed,
        pinned=entry.pinned,
        key=entry.key,
        cue=entry.cue,
        negative=entry.negative,
        archived=entry.archived,
        tags=entry.tags,
        confidence=entry.confidence,
        rule=entry.rule,
        scope=entry.scope,
        created=entry.created,
        session=entry.session,
        derived=tuple(entry.derived),
        informs=entry.informs,
        evidence=evidence if type(evidence) is int and evidence > 0 else 0,
        reinforced=files.stamp(signal.get("reinforced")),
        forgotten=signal.get("forgotten") is True,
        notes=(f"says what no field here can hold: {', '.join(more)}"[:200],) if more else (),
        own=entry,
    )


# ---- scores and topics


def _scored(row: Any) -> Item | None:
    return _item(row.get("entry"), row) if isinstance(row, dict) else None


def _folder(folder: Path) -> Source:
    index = folder / INDEX
    if not index.exists():
        raise _foreign(folder)
    values, lost = files.documents(files.whole(index), INDEX)
    states = [one for _, one in values if isinstance(one, dict) and isinstance(one.get("entries"), dict)]
    if not states or states[-1].get("format") != portable.FORMAT:
        raise SourceError(
            f"`{files.shown(folder)}` is a folder of topics that another product wrote. Nothing was imported.",
            hint=f"import it with `noforgetti import topics {files.shown(folder)}`",
        )
    _refuse_newer(index, states[-1])
    known: dict[str, list[Item]] = {}
    for key, row in states[-1]["entries"].items():
        item = _scored(row)
        if item is None:
            lost.append(Leftover(f"{INDEX}: {key}", "is no entry"))
        else:
            known.setdefault(_line(item), []).append(item)
    items: list[Item] = []
    for where, number, line in _lines(folder, lost):
        rows = known.get(line)
        if rows:
            items.append(rows.pop(0))
        elif found := _LINE.fullmatch(line):
            items.append(_written(where, Category(found[1]), found[2]))
        else:
            lost.append(Leftover(f"{where}:{number}", "is no line of a topic"))
    for rows in known.values():
        lost += [Leftover(f"{INDEX}: {one.name}", "has no line in a topic file any more") for one in rows]
    return _source(items, lost, _beside(folder, states[-1]))


def _line(item: Item) -> str:
    """The line that the export wrote for an entry."""
    text = " ".join(item.text.split())
    return f"- [{item.category}] {text}{' *(pinned)*' * item.pinned}{' *(enforced)*' * bool(item.rule)}"


def _lines(folder: Path, lost: list[Leftover]) -> Iterator[tuple[str, int, str]]:
    """The lines of all topic files that are no headings, with their file and number."""
    found, left = files.below(folder / _TOPICS, (".md",)) if (folder / _TOPICS).is_dir() else ([], [])
    lost += left
    for path in found:
        where = files.name(path, folder)
        try:
            rows, left = files.lines(files.whole(path), where)
        except SourceError as error:
            rows, left = [], [Leftover(where, error.message.partition(". ")[0])]
        lost += left
        for number, row in enumerate(rows, 1):
            if row.strip() and not row.startswith("#"):
                yield where, number, row.rstrip()


def _written(where: str, category: Category, text: str) -> Item:
    """A line that somebody wrote into a topic file."""
    marks: set[str] = set()
    while match := _MARK.fullmatch(text):
        text = match[1]
        marks.add(match[2])
    item = Item(f"{where}#{files.digest(text)}", text, where, category, pinned="pinned" in marks)
    return replace(item, archived="/archive/" in where)


def _beside(folder: Path, state: dict[str, Any]) -> dict[str, bytes]:
    """Files of the branch that lie beside the topics."""
    found: dict[str, bytes] = {}
    names = state.get("files")
    for name in names if isinstance(names, list) else ():
        path = folder / str(name)
        if "/" not in str(name) and path.suffix == ".md" and path.is_file() and not path.is_symlink():
            found[path.name] = files.whole(path)
    return found
