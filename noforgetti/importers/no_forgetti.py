"""No Forgetti's JSON store: a project record, a file a branch, and immutable records of reviews.

A branch's file is its newest state. The records of its reviews lead back from there: what a review added was not there
before it, what it removed or changed was, as it says. A review that was undone left nothing and is no revision. Direct
writes have no record; an entry counts from its own date on.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from noforgetti.importers import files
from noforgetti.importers.base import Item, Leftover, Revision, Source, SourceBranch, SourceError
from noforgetti.model.entry import Category, Cue, Importance

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FORMAT = "no-forgetti"
VERSION = 1
_KEY = 24  # hex digits of a project's key: the beginning of the SHA-256 of its root
_EPOCH = "1970-01-01T00:00:00Z"  # what the product writes where it knows no time

_BRANCH = ("version", "name", "parent", "createdAt", "updatedAt", "entries")
_ENTRY = (
    *("id", "text", "importance", "importanceAssessedAt", "createdAt", "updatedAt", "createdBy", "updatedBy"),
    "sourceSessionId",
)

Entry = dict[str, Any]


class NewerError(SourceError):
    """A store of a newer version than the reader knows."""


def read(path: Path, *, project: str = "") -> Source:
    """The branches of a project: its folder in the store, the store (for `project`, or with one project in it), or the
    file of one branch. Raises `SourceError`."""
    if not path.is_dir():
        lost: list[Leftover] = []
        branch = _branch(path, path.name, [], lost)
        if branch is None:
            raise SourceError(
                f"`{files.shown(path)}` is no branch of No Forgetti. Nothing was imported.",
                hint="name the project's folder in its store",
            )
        return Source(FORMAT, (branch,), tuple(lost))
    folder = _project(path, project)
    record = _object(folder / "project.json")
    root = files.mended(record.get("projectRoot")) if record else ""
    _refuse_newer(folder / "project.json", record or {})
    lost = []
    found: list[SourceBranch] = []
    records = _records(folder, lost)
    inside, more = files.below(folder / "branches", (".json",))
    lost += [replace(one, where=f"branches/{one.where}") for one in more]
    named_so = {files.name(file, folder / "branches").removesuffix(".json") for file in inside}
    for file in inside:
        where = files.name(file, folder)
        named = files.name(file, folder / "branches").removesuffix(".json")
        try:
            branch = _branch(file, where, records.get(named, []), lost)
        except NewerError:
            raise
        except SourceError as error:
            lost.append(Leftover(where, error.message.partition(". ")[0]))
            continue
        if branch is None:
            lost.append(Leftover(where, "is no branch"))
        else:
            if branch.name != named and branch.name in named_so:
                lost.append(
                    Leftover(where, f"calls itself `{branch.name[:80]}`, as another file does; it is `{named}`")
                )
                branch = replace(branch, name=named)
            named_so.add(branch.name)
            found.append(branch)
    lost += [
        Leftover(f"revisions/{name}", "are the reviews of no branch that is here")
        for name in sorted(
            records.keys() - {files.name(one, folder / "branches").removesuffix(".json") for one in inside}
        )
    ]
    skills = _skills(folder, lost)
    return Source(FORMAT, _ordered(found), tuple(lost), skills, root)


def _project(path: Path, project: str) -> Path:
    """The folder of the project in a store."""
    if (path / "branches").is_dir():
        return path
    inside = sorted(one.parent for one in path.glob("*/branches")) or sorted(
        one.parent for one in path.glob("*/*/branches")
    )
    key = hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()[:_KEY] if project else ""
    ours = [one for one in inside if one.name == key or (_object(one / "project.json") or {}).get("projectKey") == key]
    if len(ours or inside) != 1:
        what = f"holds {len(inside)} projects, and none is this one" if inside else "holds no project of No Forgetti"
        raise SourceError(
            f"`{files.shown(path)}` {what}. Nothing was imported.", hint="name the folder with `branches` in it"
        )
    return (ours or inside)[0]


def _object(path: Path) -> dict[str, Any] | None:
    try:
        read = json.loads(files.whole(path))
    except (SourceError, ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _refuse_newer(path: Path, doc: dict[str, Any]) -> None:
    version = doc.get("version", VERSION)
    if type(version) is not int or version > VERSION:
        raise NewerError(
            f"`{files.shown(path)}` is of version {files.shown(str(version)[:40])}, newer than the {VERSION} that this "
            "version reads. Nothing was imported.",
            hint="upgrade noforgetti",
        )


# ---- branches


def _branch(path: Path, where: str, records: list[dict[str, Any]], lost: list[Leftover]) -> SourceBranch | None:
    """One branch with its states; None when the file is no branch."""
    data = files.whole(path)
    doc = _object(path)
    if doc is None:
        entries = _torn(data)
        if not entries:
            raise SourceError(f"`{files.shown(path)}` is no whole JSON document. Nothing was imported.", hint="mend it")
        lost.append(Leftover(where, f"is torn; its first {len(entries):,} entries were read"))
        doc = {"name": path.stem, "entries": entries}
    _refuse_newer(path, doc)
    if not isinstance(doc.get("entries"), list):
        return None
    name = files.mended(doc.get("name")) or path.stem
    lost += [Leftover(where, f"is not carried: {note}") for note in files.untold(doc, _BRANCH)]
    now = [one for one in doc["entries"] if isinstance(one, dict)]
    lost += [
        Leftover(f"{where}: entry {number}", "is no entry: it has no text")
        for number, one in enumerate(doc["entries"], 1)
        if not isinstance(one, dict) or not files.mended(one.get("text"))
    ]
    states = _states(now, records, files.stamp(doc.get("updatedAt")))
    return SourceBranch(tuple(states), name, files.mended(doc.get("parent")))


def _torn(data: bytes) -> list[Entry]:
    """The whole entries at the beginning of a document that breaks off."""
    text = data.decode("utf-8", "replace")
    at = text.find("[", text.find('"entries"'))
    found: list[Entry] = []
    decoder = json.JSONDecoder()
    while 0 <= at < len(text) - 1:
        at += 1
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        try:
            one, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        at -= 1
        if isinstance(one, dict):
            found.append(one)
    return found


def _states(now: list[Entry], records: list[dict[str, Any]], updated: str) -> list[Revision]:
    """The states that the records of a branch lead back to, the oldest first, then the newest."""
    undone = {files.mended(one.get(key)) for one in records for key in ("target", "targetId", "undoes")} - {""}
    reviews = [one for one in records if one.get("kind") != "undo" and files.mended(one.get("id")) not in undone]
    found = [_revision(now, updated or _newest(now), "")]
    state = now
    for review in reversed(reviews):
        at = _time(review)
        after = [one for one in state if not at or files.stamp(one.get("createdAt")) <= at]
        found.append(_revision(after, at, "review"))
        state = _before(after, review)
    found.append(_revision(state, _newest(state), ""))
    states: list[Revision] = []
    for one in reversed(found):
        if states and one.items == states[-1].items:
            continue
        if one.items or states:
            states.append(one)
    return states or [Revision(())]


def _before(after: list[Entry], review: dict[str, Any]) -> list[Entry]:
    """The state that a review found: its changes taken back, the removed ones put where they were."""
    told = review.get("changes")
    changes = [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []
    state = list(after)
    back: list[tuple[int, Entry]] = []
    for one in changes:
        own = files.mended(one.get("id"))
        old: Entry | None = next((one[key] for key in ("before", "entry") if isinstance(one.get(key), dict)), None)
        what = next((one[key] for key in ("type", "kind", "op", "action") if isinstance(one.get(key), str)), "")
        if what == "add":
            state = [each for each in state if each.get("id") != own]
        elif what == "remove" and old is not None:
            index = next((one[key] for key in ("index", "indexBefore") if type(one.get(key)) is int), len(state))
            back.append((index, old))
        elif what == "update" and old is not None:
            state = [(old if each.get("id") == own else each) for each in state]
    for index, old in sorted(back, key=lambda each: each[0]):
        if not any(each.get("id") == old.get("id") for each in state):
            state.insert(min(max(index, 0), len(state)), old)
    return state


def _revision(entries: Iterable[Entry], at: str, subject: str) -> Revision:
    items = (_item(one) for one in entries if files.mended(one.get("text")))
    return Revision(files.distinct(items), at, subject)


def _newest(entries: Iterable[Entry]) -> str:
    return max((files.stamp(one.get("updatedAt")) for one in entries), default="")


def _time(record: dict[str, Any]) -> str:
    return next((at for key in ("createdAt", "time", "timestamp", "at") if (at := files.stamp(record.get(key)))), "")


def _item(entry: Entry) -> Item:
    text = files.mended(entry.get("text"))
    own = files.mended(entry.get("id")) or files.digest(text)
    created, updated = files.stamp(entry.get("createdAt")), files.stamp(entry.get("updatedAt"))
    importance = files.mended(entry.get("importance"))
    known = importance in set(Importance)
    item = Item(
        name=own,
        text=text,
        group=own,
        category=Category.LESSON,
        importance=Importance(importance) if known else Importance.NORMAL,
        assessed=files.stamp(entry.get("importanceAssessedAt")),
        cue=Cue.BEHAVIORAL if entry.get("createdBy") == "background_review" else Cue.EXPLICIT,
        created="" if created == _EPOCH else created,
        reinforced=updated if updated > created else "",
        session=files.mended(entry.get("sourceSessionId")),
    )
    notes = files.untold(entry, _ENTRY if known else [one for one in _ENTRY if one != "importance"])
    return replace(item, notes=notes) if notes else item


def _records(folder: Path, lost: list[Leftover]) -> dict[str, list[dict[str, Any]]]:
    """The records of each branch in their order. Their files are numbered."""
    found: dict[str, list[dict[str, Any]]] = {}
    revisions = folder / "revisions"
    for path in sorted(revisions.rglob("*.json")) if revisions.is_dir() else ():
        record = _object(path)
        if record is None or not isinstance(record.get("kind"), str):
            lost.append(Leftover(files.name(path, folder), "is no whole record of a review"))
            continue
        name = files.mended(record.get("branch")) or files.mended(record.get("branchName"))
        found.setdefault(name or path.parent.relative_to(revisions).as_posix(), []).append(record)
    return found


def _ordered(branches: list[SourceBranch]) -> tuple[SourceBranch, ...]:
    """Parents before the branches that were forked from them; `main` first. A parent that is not there is none."""
    names = {one.name for one in branches}
    waiting = sorted(branches, key=lambda one: (one.name != "main", one.name))
    waiting = [one if one.parent in names - {one.name} else replace(one, parent="") for one in waiting]
    found: list[SourceBranch] = []
    while waiting:
        done = {one.name for one in found}
        ready = next((one for one in waiting if not one.parent or one.parent in done), None)
        ready = ready or replace(waiting[0], parent="")  # a ring
        waiting = [one for one in waiting if one.name != ready.name]
        found.append(ready)
    return tuple(found)


def _skills(folder: Path, lost: list[Leftover]) -> dict[str, bytes]:
    """Skills of the project; they have one form here and there, a file each."""
    found: dict[str, bytes] = {}
    inside, more = files.below(folder / "skills", (".md",)) if (folder / "skills").is_dir() else ([], [])
    lost += [replace(one, where=f"skills/{one.where}") for one in more]
    for path in inside:
        where = files.name(path, folder)
        if path.name != "SKILL.md" or path.parent.parent != folder / "skills":
            lost.append(Leftover(where, "is no skill, and a skill is one file here"))
            continue
        try:
            found[where] = files.whole(path)
        except SourceError as error:
            lost.append(Leftover(where, error.message.partition(". ")[0]))
    return found
