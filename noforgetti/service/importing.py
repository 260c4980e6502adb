"""Bringing foreign memories in: a source is read, planned, and becomes commits of the importer's.

A branch that is not here yet gets the source's history, one commit for each revision with its own date, published as a
whole by one compare-and-swap. A branch that is here gets one commit with what is new or changed: its own history cannot
be the source's. Killed at any point, a branch is as it was or as it will be, and the next run does the rest.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.importers.base import FORMATS, Leftover, Revision, SourceBranch
from noforgetti.model.commit import AUTHORS, CommitKind, Message, counted, describe, entries_trailer
from noforgetti.model.entry import MAIN, CommitId, Scope, Snapshot, Writer
from noforgetti.policy import guards, scoring
from noforgetti.policy import skill as packages
from noforgetti.policy.names import BadBranchName, branch_name, proposed
from noforgetti.policy.verdict import Refusal
from noforgetti.service import books, candidates, skills
from noforgetti.service.history import edits_of
from noforgetti.service.import_plan import Outcome, Plan, Row, came_from, plan
from noforgetti.service.memory import Draft, Memory
from noforgetti.service.undo import taken_back
from noforgetti.store import failpoints
from noforgetti.store import signals as signal_book
from noforgetti.store.base import Conflict, Edit, PutFile, UnknownBranch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from noforgetti.importers.base import Item, Source
    from noforgetti.model.change import Change
    from noforgetti.model.entry import EntryId
    from noforgetti.model.signal import Signal

_FILES = ("promotions.md", "review-guidelines.md")  # files beside the entries that a source may bring
_TOLD = 200  # changes that a commit's body describes: a message of megabytes tells nobody anything
_COMPARED = 200  # entries that came, and entries here, that are compared for contradictions


class NoSource(NoForgettiError):
    """No memory of that format can be found."""

    kind = Kind.USER
    reason = "no-source"


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one branch of a source: `name` there, `branch` here (`user` for the user-wide memory, which is
    `wide`), the commits that were made, oldest first, and a row for each item."""

    name: str
    branch: str
    commits: tuple[CommitId, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    opposed: int = 0  # pairs that contradict each other and wait as candidates
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Import:
    """What became of a source."""

    outcome: Literal["imported", "nothing", "planned"]
    format: str
    path: str
    branches: tuple[Imported, ...]
    leftovers: tuple[Leftover, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """How to import: `dry_run` only plans, `prune` removes entries of earlier imports that the source holds no longer,
    `restore` brings back what was removed here since."""

    dry_run: bool = False
    prune: bool = False
    restore: bool = False


def read(format_: str, path: str, memory: Memory, environ: Mapping[str, str]) -> tuple[Source, Path]:
    """The source of that format at `path`, or where the project's usually lies when that is empty. Raises `NoSource`
    and `SourceError`."""
    known = next(one for one in FORMATS if one.name == format_)
    root = memory.project.root
    found = Path(path) if path else known.find(root, environ)
    if found is None:
        raise NoSource(
            f"No {known.title} was found for this project. Nothing was imported.",
            hint=f"name it: `noforgetti import {format_} PATH`",
        )
    return known.load()(found, project=root), found


def bring(memory: Memory, branch: str, source: Source, path: str, wish: Wish) -> Import:
    """Import a source that was read. Raises what the store raises; what was published by then stays."""
    done: list[Imported] = []
    run = _Run(memory, source, wish)
    targets = _targets(memory, branch, [one.name for one in source.branches])
    for one in _parents_first(source.branches):
        target = targets[one.name]
        own, wide = _parted(memory, one)
        done.append(run.branch(own, target))
        run.made[one.name] = target
        if wide is not None:
            done.append(_Run(memory.wide, source, wish).branch(wide, MAIN))
    writes = any(row.outcome.writes for one in done for row in one.rows)
    outcome: Literal["imported", "nothing", "planned"] = "planned" if wish.dry_run and writes else "nothing"
    if writes and not wish.dry_run:
        outcome = "imported"
    return Import(outcome, source.format, path, tuple(done), (*source.leftovers, *run.lost))


def _parents_first(branches: Sequence[SourceBranch]) -> list[SourceBranch]:
    names = {one.name for one in branches}
    found: list[SourceBranch] = []
    left = sorted(branches, key=lambda one: one.name != MAIN)
    while left:
        done = {one.name for one in found}
        ready = [one for one in left if one.parent not in names or one.parent in done or one.parent == one.name]
        found += ready or left  # parents in a circle are no parents
        left = [one for one in left if one not in found]
    return found


def _targets(memory: Memory, branch: str, names: Sequence[str]) -> dict[str, str]:
    """What the branches of the source are called here, no two alike: a name that is good here is kept, one that is not
    makes way. The user-wide memory has one branch."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(dict.fromkeys(names), key=lambda one: _wanted(one) != one):
        if not name or memory.is_wide:
            found[name] = branch
            continue
        wanted = _wanted(name)
        numbered = (f"{wanted[:60]}-{number}" for number in range(2, len(names) + 2))
        wanted = next(one for one in (wanted, *numbered) if one.casefold() not in taken)
        taken.add(wanted.casefold())
        found[name] = next((one for one in memory.heads() if one.casefold() == wanted.casefold()), wanted)
    return found


def _wanted(name: str) -> str:
    try:
        return branch_name(name)
    except BadBranchName:
        return proposed(name)


def _parted(memory: Memory, one: SourceBranch) -> tuple[SourceBranch, SourceBranch | None]:
    """What belongs to the project, and what holds for the user everywhere; of that only the newest state."""
    if memory.is_wide:
        return one, None
    wide = tuple(item for item in one.revisions[-1].items if item.scope is Scope.USER) if one.revisions else ()
    if not wide:
        return one, None
    own = tuple(replace(r, items=tuple(i for i in r.items if i.scope is not Scope.USER)) for r in one.revisions)
    return replace(one, revisions=own), SourceBranch((replace(one.revisions[-1], items=wide),))


@dataclass(slots=True)
class _Run:
    """One import into one memory. `made` is what the branches of the source that came already are called here, `lost`
    the files beside the entries that were left in the source."""

    memory: Memory
    source: Source
    wish: Wish
    made: dict[str, str] = field(default_factory=dict)
    lost: list[Leftover] = field(default_factory=list)

    def branch(self, one: SourceBranch, target: str) -> Imported:
        """Bring a branch of the source as `target`. Raises what the store raises."""
        wide = self.memory.is_wide
        notes = (f"the source calls this branch `{one.name[:80]}`",) if one.name not in ("", target) else ()
        came = Imported(one.name or target, "user" if wide else target, (), (), notes, wide=wide)
        if not one.revisions:
            return came
        if self._is_fresh(target):
            with suppress(Conflict):  # somebody began the branch meanwhile, and it is one with a history now
                if len(one.revisions) > 1 or one.parent in self.made:
                    return self._history(one, target, came)
                return self._newest(one.revisions[-1], target, came)
        if len(one.revisions) > 1:
            more = f"the branch has a history here, so the newest of {len(one.revisions):,} revisions came"
            came = replace(came, notes=(*notes, more))
        return self._newest(one.revisions[-1], target, came)

    def _is_fresh(self, branch: str) -> bool:
        try:
            return self.memory.head(branch) is None
        except UnknownBranch:
            return True

    def _newest(self, state: Revision, target: str, came: Imported) -> Imported:
        """One commit on top of the branch as it stands."""
        memory, wish = self.memory, self.wish
        planned: list[Plan] = []
        lost: list[Leftover] = []
        drafts: dict[
            CommitId | None, Draft | None
        ] = {}  # by the head they were made for: a long import is planned once

        def draft(now: Snapshot) -> Draft | None:
            if now.commit not in drafts:
                drafts[now.commit] = made(now)
            return drafts[now.commit]

        def made(now: Snapshot) -> Draft | None:
            removed = frozenset() if wish.restore else _removed(memory, self.source.format, now)
            found = self._plan(state.items, now, prune=wish.prune, time=state.time, removed=removed)
            planned[:] = [found]
            lost[:] = []
            files = list(self._files(now, lost))
            if wish.dry_run or not (found.changes or files):
                return None
            message = _message(self.source, state, found.changes)
            return Draft((*edits_of(now, found.changes), *files), message, Writer.IMPORT)

        if wish.dry_run or (self._is_fresh(target) and target != MAIN):
            now = Snapshot() if self._is_fresh(target) else memory.snapshot(target)
            answer = draft(now)
            commit = None if answer is None else self._begun(target, answer)
        else:
            commit = memory.change(target, draft)
        self.lost += lost
        came = replace(came, rows=planned[0].rows)
        if commit is None:
            if not wish.dry_run:
                _use(memory, target, planned[0].signals)  # of an import that was killed before it could
            return came
        failpoints.reach("import:published")
        return replace(came, commits=(commit,), opposed=_after(memory, target, planned[0]))

    def _begun(self, target: str, draft: Draft) -> CommitId:
        """The first commit of a branch that is not there yet."""
        self.memory.prepare()
        with self.memory.store.exclusive():
            return self.memory.publish(target, draft, None)

    def _history(self, one: SourceBranch, target: str, came: Imported) -> Imported:
        """The source's revisions as commits of a branch that is not here yet. Nothing shows before all of it is
        written."""
        memory = self.memory
        if self.wish.dry_run:
            last = one.revisions[-1]
            found = self._plan(last.items, Snapshot(), time=last.time)
            more = f"{len(one.revisions):,} revisions would become as many commits, with their own dates"
            return replace(came, rows=found.rows, notes=(*came.notes, more))
        memory.prepare()
        commits: list[CommitId] = []
        said: dict[EntryId, Signal] = {}
        refused: dict[str, Row] = {}
        lost: list[Leftover] = []
        with memory.store.exclusive():
            at = _fork_point(memory, self.made.get(one.parent, ""), one.revisions[0].time)
            began = at
            now = memory.store.snapshot(at)
            for state in one.revisions:
                found = self._plan(state.items, now, prune=True, time=state.time, replay=True)
                said.update(found.signals)
                refused.update({row.name: row for row in found.rows if row.outcome is Outcome.REFUSED})
                files = list(self._files(now, lost)) if state is one.revisions[-1] else []
                if not found.changes and not files:
                    continue
                edits = (*edits_of(now, found.changes), *files)
                message = _message(self.source, state, found.changes)
                seconds = _seconds(memory, state.time)
                at = memory.store.write(at, edits, message, author=AUTHORS[Writer.IMPORT], seconds=seconds)
                commits.append(at)
                now = memory.store.snapshot(at)
            if at is not None and (commits or at == began):
                failpoints.reach("import:before-publish")
                memory.store.publish(target, at, None, reason=f"import: {self.source.format}")
                memory.keep_traces()
        self.lost += lost
        named = {row.name for row in found.rows}
        rows = (*_as_carried(found.rows), *(row for name, row in refused.items() if name not in named))
        opposed = _after(memory, target, Plan(rows, (), said))
        return replace(came, commits=tuple(commits), rows=rows, opposed=opposed)

    def _plan(
        self,
        items: tuple[Item, ...],
        now: Snapshot,
        *,
        time: str = "",
        removed: frozenset[str] = frozenset(),
        prune: bool = False,
        replay: bool = False,
    ) -> Plan:
        return plan(
            self.source.format,
            items,
            now,
            self.memory.limits,
            self.memory.draw,
            time=time,
            removed=removed,
            prune=prune,
            only=self.source.only,
            replay=replay,
        )

    def _files(self, now: Snapshot, lost: list[Leftover]) -> Iterable[Edit]:
        """Files beside the entries, where the branch has none of that name. One that it has, the same, is silent."""
        for path, data in self.source.files.items():
            if path in now.files:
                if self.memory.store.read_blob(now.files[path]) != data:
                    lost.append(Leftover(path, "the branch has such a file, and it was left as it is"))
            elif why := _unfit(path, data):
                lost.append(Leftover(path, why))
            else:
                yield PutFile(path, data)


def _as_carried(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows of the newest revision, as an import of all of them: what an earlier revision brought was added too."""
    came = (Outcome.UNCHANGED, Outcome.UPDATED)
    return tuple(replace(row, outcome=Outcome.ADDED) if row.outcome in came else row for row in rows)


def _fork_point(memory: Memory, parent: str, time: str) -> CommitId | None:
    """The parent's newest commit that is no younger than the branch; its first where all are."""
    if not parent:
        return None
    at, since = memory.head(parent), scoring.seconds_of(time)
    for commit in memory.store.walk(at):
        at = commit.id
        if since is None or (scoring.seconds_of(commit.time) or 0.0) <= since:
            break
    return at


def _removed(memory: Memory, format_: str, now: Snapshot) -> frozenset[str]:
    """The origins of entries that imports of this format brought and that somebody removed here since. What an import
    itself took out or renamed nobody removed, and an import that was undone brought nothing."""
    if now.commit is None:
        return frozenset()
    undone = taken_back(memory, now.commit)
    brought: set[str] = set()
    settled: set[str] = set()
    for commit in memory.store.walk(now.commit):
        if commit.kind is CommitKind.IMPORT and commit.id not in undone and commit.trailer("Source") == format_:
            then = _origins(format_, memory.store.snapshot(commit.id))
            brought |= then - settled
            settled |= then | _origins(format_, memory.store.snapshot(commit.parent))
    return frozenset(brought - _origins(format_, now))


def _origins(format_: str, now: Snapshot) -> set[str]:
    """Where the entries came from that imports of this format brought."""
    return {where for entry in now if (where := came_from(entry)[0]).startswith(f"{format_}:")}


def _unfit(path: str, data: bytes) -> str:
    """Why a file of a source does not belong beside the entries; empty when it does. A skill must be one that could be
    saved here."""
    if path in _FILES:
        try:
            refusal = guards.unsafe(data.decode())
        except UnicodeDecodeError:
            return "it cannot be read as text"
        return f"it may not be shown ({refusal.rule})" if refusal else ""
    folder, _, name = path.rpartition("/")[0].partition("/")
    if path != skills.place(name) or not folder:
        return "no file of that name belongs beside the entries"
    found = packages.read(name, data.decode("utf-8", "replace"))
    return found.message.removesuffix(" Nothing was written.") if isinstance(found, Refusal) else ""


def _message(source: Source, state: Revision, changes: Sequence[Change]) -> Message:
    what = counted(changes) or "files"
    body = describe(changes[:_TOLD])
    if len(changes) > _TOLD:
        body += f"\n… and {len(changes) - _TOLD:,} more"
    if state.subject:
        body = f"{' '.join(state.subject.split())[:500]}\n\n{body}"
    listed = entries_trailer(changes)
    told = (("Kind", str(CommitKind.IMPORT)), *((("Entries", listed),) if listed else ()), ("Source", source.format))
    return Message(f"import: {source.format}: {what}", body, told)


def _seconds(memory: Memory, time: str) -> int:
    seconds = scoring.seconds_of(time)
    return int(memory.clock() if seconds is None else max(0.0, seconds))


def _after(memory: Memory, branch: str, found: Plan) -> int:
    """What follows the commit beside the branch: what use said in the source, and the pairs that contradict each other,
    which wait for the user. The import itself is done by then."""
    _use(memory, branch, found.signals)
    came = {row.entry: row for row in found.rows if row.entry and row.outcome in (Outcome.ADDED, Outcome.UPDATED)}
    if not came or len(came) > _COMPARED or memory.is_wide:
        return 0
    now = memory.snapshot(branch)
    if len(now) - len(came) > _COMPARED:
        return 0
    pairs = candidates.opposed(memory, now, [entry for entry in now if entry.id in came], "an import")
    if pairs:
        memory.aside(lambda: candidates.queue(memory, branch, [one for _, one in pairs], by=Writer.IMPORT))
    return len(pairs)


def _use(memory: Memory, branch: str, said: Mapping[EntryId, Signal]) -> None:
    """What use said in the source, of entries that nothing is said of here."""

    def change(data: bytes) -> tuple[bytes, Message] | None:
        known = signal_book.decode(data).by_id
        new = {own: signal for own, signal in said.items() if own not in known}
        message = Message(f"reinforce: {len(new)} entries as imported", "", (("Kind", str(CommitKind.REINFORCE)),))
        return (signal_book.encode(data, new), message) if new else None

    if said:
        memory.aside(lambda: books.change(memory, branch, signal_book.BOOK, change, by=Writer.IMPORT))
