"""The past sessions of a project as a corpus that can be searched, kept up to date bit by bit.

Derived: the session files are the truth. A file that is gone, that belongs to another project now, or that did more
than grow is forgotten and, where it is there, read again. What was said passes `secrecy.redact` as a whole before it is
cut into passages, so that no half of a secret is kept.

Each file is one transaction, which begins by looking whether the file's record is still the one that was started from:
two processes at once do the work once. Nothing here raises; a busy database means that this time is skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from noforgetti.model.commit import one_line
from noforgetti.model.evidence import Role
from noforgetti.policy import guards
from noforgetti.policy.secrecy import redact
from noforgetti.retrieval.base import Passage
from noforgetti.review.window import sanitise
from noforgetti.service.sessions import belonging, cwd_of, named, session_files
from noforgetti.transcripts.harvest import SLICE, Kept, Seen, passages, read, stamp_at, wordless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    from noforgetti.retrieval.base import Hit
    from noforgetti.service.sessions import SessionFile
    from noforgetti.store.discovery import Project
    from noforgetti.transcripts.harvest import Piece, Reading

FIRST = 64 * 1024  # bytes read of a file that is not known yet: it may be another project's
_PARTS = 40  # passages that one message can have: 8,000 characters in pieces of 200
_FILE = "file:"  # meta: the record of a file, by its path as JSON
_SESSION = "session:"  # meta: the paths of a session's files as a JSON list, so that a hit needs no other record
_WRITTEN = "files"  # meta: changes with every record
_ANCESTORS = 32  # forks of forks that are followed


class Corpus(Protocol):
    """What is needed of `retrieval.corpus.Corpus`."""

    def transaction(self) -> AbstractContextManager[object]: ...

    def put(self, passages: Iterable[Passage]) -> int: ...

    def drop(self, keys: Iterable[str]) -> int: ...

    def drop_group(self, group: str) -> int: ...

    def meta_get(self, key: str) -> str | None: ...

    def meta_put(self, key: str, value: str | None) -> None: ...

    def meta_keys(self, prefix: str) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Where:
    """Whose sessions, and where they are looked for: `folders` beside those of the hosts; the sharing modes are those
    of `discovery.discover`."""

    project: Project
    environ: Mapping[str, str]
    folders: tuple[str, ...] = ()
    worktrees: str = "separate"
    submodules: str = "separate"


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did; `added` and `dropped` count passages. `more`: call again, something is left."""

    files_read: int = 0
    bytes_read: int = 0
    added: int = 0
    dropped: int = 0
    more: bool = False
    trouble: str = ""


class _Record:
    """What is noted of a file, as text in the corpus: one line of what every refresh asks for, then the rest as JSON.

    A project may have tens of thousands of files, of most of which only the stamp is looked at: splitting the first
    line takes a tenth of the time that parsing all of it does.
    """

    __slots__ = ("complete", "cwd", "ours", "place", "session", "source", "stamp", "text", "trouble")

    def __init__(self, text: str) -> None:
        device, inode, size, mtime, flags, place, session, cwd, source = text.partition("\n")[0].split("\t")
        self.text, self.stamp = text, (int(device), int(inode), int(size), int(mtime))
        self.ours, self.complete, self.trouble = "o" in flags, "c" in flags, "t" in flags
        self.place, self.session = int(place), session
        self.cwd, self.source = _unquoted(cwd), _unquoted(source)  # the file that a fork's copied entries are read from

    @classmethod
    def made(cls, kept: Kept, *, ours: bool, place: int) -> _Record:
        seen = kept.seen
        flags = "o" * ours + "c" * kept.complete + "t" * bool(kept.trouble)
        words = (flags, str(place), seen.session, json.dumps(seen.cwd), json.dumps(seen.parent if seen.forked else ""))
        return cls("\t".join((*map(str, kept.stamp), *words)) + "\n" + json.dumps(kept.to_json()))

    @property
    def kept(self) -> Kept:
        return Kept.from_json(json.loads(self.text.partition("\n")[2])) or Kept("", (0, 0, 0, 0))


def _unquoted(text: str) -> str:
    return text[1:-1] if "\\" not in text else str(json.loads(text))


@dataclass(slots=True)
class _Work:
    """One refresh under way."""

    ends: float
    present: dict[str, SessionFile]
    belongs: Callable[[str], bool]
    done: Refreshed = field(default_factory=Refreshed)

    def count(self, **more: int) -> None:
        self.done = replace(self.done, **{name: getattr(self.done, name) + by for name, by in more.items()})


class Past:
    """The past sessions of one project in `corpus`. Belongs to the corpus's thread."""

    def __init__(
        self,
        corpus: Corpus,
        where: Where,
        *,
        trivial: Callable[[str], bool] = wordless,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._corpus, self._where = corpus, where
        self._trivial, self._clock = trivial, clock
        self._records: dict[str, _Record] = {}
        self._written: str | None = None

    # ---- keeping up

    def refresh(self, budget_seconds: float = 1.0) -> Refreshed:
        """Bring the corpus up to date, newest files first, for about so long; what is left is left for the next time.

        Files that did not change are not opened.
        """
        try:
            self._load()
            work = self._look(budget_seconds)
            self._forget_gone(work)
            self._follow(work)
        except sqlite3.Error as error:
            self._written = None
            return Refreshed(more=True, trouble=f"past sessions were not looked at ({error})")
        return work.done

    def _look(self, budget_seconds: float) -> _Work:
        where = self._where
        ends = self._clock() + budget_seconds
        files = session_files(where.project, where.environ, folders=where.folders, worktrees=where.worktrees)
        belongs = belonging(where.project, worktrees=where.worktrees, submodules=where.submodules)
        return _Work(ends, {one.path: one for one in files}, belongs)

    def _forget_gone(self, work: _Work) -> None:
        gone = [
            path
            for path, record in self._records.items()
            if (file := work.present.get(path)) is None or _ours(record.cwd, file, work.belongs) != record.ours
        ]
        for path in gone:
            if path in self._records:  # else it went together with another
                work.count(dropped=self._forget(path))

    def _follow(self, work: _Work) -> None:
        for file in work.present.values():
            record = self._records.get(file.path)
            while record is None or _changed(record, file):
                if self._clock() >= work.ends:
                    work.done = replace(work.done, more=True)
                    return
                record = self._take(file, record, work)
                if record is None or record.complete:
                    break

    def _take(self, file: SessionFile, record: _Record | None, work: _Work) -> _Record | None:
        """Read one slice of a file. None when another process was faster: its record is looked at next time."""
        reading = read(
            file.path,
            record.kept if record else None,
            kind=file.format,
            known=lambda parent: self._read_by_itself(parent, work),
            trivial=self._trivial,
            most=SLICE if record else FIRST,
        )
        work.count(bytes_read=reading.bytes_read, files_read=reading.kept.complete)
        reading.kept.seen.name = _title(reading.kept.seen.name)
        ours = _ours(reading.kept.seen.cwd, file, work.belongs)
        before = None if record is None or reading.anew else record
        cut = _cut(reading, before.place if before else 0) if ours else ()
        now = _Record.made(reading.kept, ours=ours, place=(before.place if before else 0) + len(cut))
        if record and now.text == record.text:  # still cannot be read
            return now
        with self._corpus.transaction():
            if self._corpus.meta_get(_key(file.path)) != (record.text if record else None):
                self._written = None
                return None
            if record and reading.anew:
                work.count(dropped=self._drop(record, file.path))
            elif before and reading.kept.seen.summarised and not before.kept.seen.summarised:
                work.count(dropped=self._corpus.drop_group(reading.kept.seen.session))
            if ours:
                work.count(dropped=self._corpus.drop(_taken_back(reading)), added=self._corpus.put(cut))
            self._note(file.path, now)
        return now

    def _read_by_itself(self, path: str, work: _Work) -> bool:
        record = self._records.get(path)
        return path in work.present and (
            record.ours if record else work.belongs(cwd_of(path, work.present[path].format))
        )

    # ---- records

    def _load(self) -> None:
        """Follow what other processes noted, and notice a database that was begun anew."""
        with self._corpus.transaction():
            written = self._corpus.meta_get(_WRITTEN)
        if written is not None and written == self._written:
            return
        self._records = {}
        for key in self._corpus.meta_keys(_FILE):
            text = self._corpus.meta_get(key) or ""
            try:
                self._records[_unquoted(key.removeprefix(_FILE))] = _Record(text)
            except ValueError:  # not as we write it: the file is read again
                self._corpus.meta_put(key, None)
        self._written = written

    def _note(self, path: str, record: _Record | None) -> None:
        self._written = secrets.token_hex(8)
        self._corpus.meta_put(_WRITTEN, self._written)
        self._corpus.meta_put(_key(path), record.text if record else None)
        before = self._records.pop(path, None)
        if record:
            self._records[path] = record
        was, now = before.session if before else "", record.session if record else ""
        if was and was != now:
            self._put_paths(was, [one for one in self._paths(was) if one != path])
        if now and path not in (paths := self._paths(now)):
            self._put_paths(now, [*paths, path])

    def _paths(self, session: str) -> list[str]:
        try:
            found = json.loads(self._corpus.meta_get(_SESSION + session) or "[]")
        except ValueError:
            return []
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []

    def _put_paths(self, session: str, paths: list[str]) -> None:
        self._corpus.meta_put(_SESSION + session, json.dumps(paths) if paths else None)

    def _forget(self, path: str) -> int:
        with self._corpus.transaction():
            dropped = self._drop(self._records[path], path)
            self._note(path, None)
        return dropped

    def _drop(self, record: _Record, path: str) -> int:
        """Take out what a file brought. Another file of the same session, and forks that left out what they had copied
        from it, are read again."""
        session = record.session
        if not record.ours or not session:
            return 0
        dropped = self._corpus.drop_group(session)
        for other in [one for one in self._paths(session) if one != path]:
            self._note(other, None)
        for other, child in list(self._records.items()):
            if child.source == path and other != path:
                dropped += self._corpus.drop_group(child.session)
                self._note(other, None)
        return dropped

    # ---- about sessions

    def alive(self, hit: Hit) -> bool:
        """Whether the session file of a hit is still there and has not lost anything: asked before a hit is shown."""
        return any(_still_there(path, record.kept) for path, record in self._noted(hit.passage.group).items())

    def describe(self, session: str) -> dict[str, str]:
        """What views say about a session: `session`, `file`, `started`, `cwd`, `name`; empty where nobody knows."""
        path, record = next(iter(self._noted(session).items()), ("", None))
        seen = record.kept.seen if record else Seen()
        return {"session": session, "file": path, "started": seen.started, "cwd": seen.cwd, "name": seen.name}

    def lineage_of(self, session: str) -> tuple[str, ...]:
        """The session and those it was forked from, nearest first: what the agent of this session has before it anyway.

        A session that was not read yet is looked for by its file's name.
        """
        where = self._where
        path = next(iter(self._noted(session)), "") or named(
            session, where.project, where.environ, worktrees=where.worktrees
        )
        found = [session]
        while path and len(found) <= _ANCESTORS:
            path = self._seen(path).parent
            parent = self._seen(path).session if path else ""
            if not parent or parent in found:
                break
            found.append(parent)
        return tuple(found)

    def unread(self) -> tuple[tuple[str, str], ...]:
        """The files that could not be read, with the reason as a sentence."""
        with suppress(sqlite3.Error):
            self._load()
        found = []
        for path, one in sorted(self._records.items()):
            if one.trouble:
                found.append((path, one.kept.trouble))
            elif one.complete and not one.ours and not one.cwd and one.stamp[2]:
                found.append((path, "no line of it says where a session was started"))
        return tuple(found)

    def _noted(self, session: str) -> dict[str, _Record]:
        """The files of a session that are the project's, with their records; none while the database is in trouble."""
        try:
            found = {path: self._record(path) for path in self._paths(session)}
        except sqlite3.Error:
            return {}
        return {path: record for path, record in found.items() if record and record.ours}

    def _record(self, path: str) -> _Record | None:
        with suppress(ValueError):
            return _Record(self._corpus.meta_get(_key(path)) or "")
        return None

    def _seen(self, path: str) -> Seen:
        with suppress(sqlite3.Error):
            record = self._record(path)
            if record:
                return record.kept.seen
        return read(path, kind="opencode" if "#" in os.path.basename(path) else "", most=1).kept.seen


def _key(path: str) -> str:
    return _FILE + json.dumps(path)  # a name that is no UTF-8 comes as escapes


def _ours(cwd: str, file: SessionFile, belongs: Callable[[str], bool]) -> bool:
    """A file that does not say where it was started counts only in a folder that the user named for it."""
    return belongs(cwd) if cwd else not file.format


def _title(name: str) -> str:
    """The name of a session as it may be kept and shown, on one line; empty when it may not."""
    line = one_line(redact(sanitise(name))[0])
    return "" if guards.unsafe(line) else line


def _changed(record: _Record, file: SessionFile) -> bool:
    if record.stamp == file.stamp and record.complete:
        return False
    if not record.ours and record.cwd:
        return record.stamp[:2] != file.stamp[:2]  # another project's: its first line will not change
    return True


def _still_there(path: str, kept: Kept) -> bool:
    stamp = stamp_at(path)
    return stamp is not None and stamp[:2] == kept.stamp[:2] and stamp[2] >= kept.offset


def _cut(reading: Reading, place: int) -> tuple[Passage, ...]:
    """The passages of what was harvested. A summary's are named by their text: the next one repeats most of it."""
    seen = reading.kept.seen
    found: list[Passage] = []
    gone = {piece.id for piece in reading.pieces if not piece.text}
    for piece in reading.pieces:
        if piece.id in gone or (seen.summarised and piece.role is not Role.SUMMARY):
            continue
        text, _ = redact(sanitise(piece.text))
        for number, part in enumerate(passages(text)):
            digest = hashlib.sha256(part.encode()).hexdigest()[:32]
            name = digest[:16] if piece.role is Role.SUMMARY else _part(piece, number)
            found.append(
                Passage(
                    key=f"{seen.session}#{name}",
                    text=part,
                    digest=digest,
                    group=seen.session,
                    place=place + len(found),
                    at=piece.at or seen.started,
                )
            )
    return tuple(found)


def _part(piece: Piece, number: int) -> str:
    return f"{piece.id}.{number + 1}" if number else piece.id


def _taken_back(reading: Reading) -> list[str]:
    session = reading.kept.seen.session
    return [
        f"{session}#{_part(piece, number)}" for piece in reading.pieces if not piece.text for number in range(_PARTS)
    ]
