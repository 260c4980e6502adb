"""Dreaming: a branch is consolidated as one commit against the head it read, or not at all.

First what needs no model (repetitions, cold topics), then a reviewer, through the guards, bounds and compare-and-swap
of a review. A head that moved meanwhile drops the dream; the next one runs again. What follows the commit (candidates
that were decided, expired scoped entries, promotions) may be lost with the process and is done by the next dream: it
changes nothing that was learned. One dream of a branch runs at a time; one whose process is gone, or that took half an
hour, is taken over.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from noforgetti.model.change import Add, Change, Merge, Operation, apply, diff, targets
from noforgetti.model.commit import Author, CommitKind, Message, clip, counted, describe, entries_trailer, one_line
from noforgetti.model.entry import BranchName, CommitId, EntryId, Snapshot, Writer
from noforgetti.model.promotion import Destination
from noforgetti.policy import guards, scoring
from noforgetti.policy.names import entry_id
from noforgetti.review import schedule
from noforgetti.review.dream import dreamer
from noforgetti.review.dream.admission import Rights
from noforgetti.review.dream.material import CANDIDATES, DREAMT, Material
from noforgetti.review.reviewer import Outcome, Proposer, Reviewer
from noforgetti.service import cadence, candidates, held, promotions, scoped, signals
from noforgetti.service.documents import documents
from noforgetti.service.history import edits_of, states
from noforgetti.service.memory import Draft, Memory
from noforgetti.store.base import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.model.entry import Entry
    from noforgetti.review.dream.dreamer import Dream

LEASE = 30 * 60.0  # seconds after which a dream that said nothing may be taken over: the reference system's
_AGAIN = 60.0  # seconds until a dream that was overtaken or called off is due again
_SETTLED = 1_000  # newest commits that are searched for undone dreams


@dataclass(frozen=True, slots=True)
class Dreamt:
    """How a dream went. `outcome` is `applied`, `no-change`, `not-due`, `running`, `stale`, `held`, `invalid`, `failed`
    or `aborted`, and `planned` for a dry run. `before` and `after` are characters, `merged` counts entries whose
    facts others say now, `archived`, `distilled`, `discarded` and `pruned` (expired scoped entries) what they say."""

    outcome: str
    branch: str
    commit: CommitId | None = None
    changes: tuple[Change, ...] = ()
    thought: Dream | None = None
    reason: str = ""
    hint: str = ""
    before: int = 0
    after: int = 0
    merged: int = 0
    archived: int = 0
    distilled: int = 0
    discarded: int = 0
    pruned: int = 0


def due(memory: Memory, branch: str) -> bool:
    """Whether a dream should start now: the time is up, something changed since the last one, and nobody is at it. The
    first look starts the clock: a memory that was just begun needs no dream."""
    hours = memory.settings.dream_hours
    if not hours or not memory.exists:
        return False
    known, now = memory.state.dream(branch), memory.clock()
    if "done" not in known:
        with memory.state.transaction():
            memory.state.put_dream(branch, {**memory.state.dream(branch), "done": now})
        return False
    return not _held(known, now) and _waited(known, now, hours) and _changed(memory, branch, known)


def next_at(memory: Memory, branch: str) -> float | None:
    """When the next dream may start, as UNIX time: now or earlier when it is due; None when nothing changed since the
    last one, or dreams are off."""
    hours = memory.settings.dream_hours
    known = memory.state.dream(branch) if hours and memory.exists else {}
    if not hours or not memory.exists or not _changed(memory, branch, known):
        return None
    begun = _number(known, "done") if "done" in known else memory.clock()
    return max(begun + hours * 3600, _number(known, "not_before"))


def dream(
    memory: Memory,
    branch: BranchName,
    by: Reviewer | Proposer,
    *,
    forced: bool = False,
    dry_run: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> Dreamt:
    """Consolidate the branch. A `forced` dream needs no time to be up and may touch what an undo of a dream brought
    back. Raises only faults and broken storage."""
    if not forced and not due(memory, branch):
        return Dreamt("not-due", branch, reason="no dream is due")
    token = _claim(memory, branch)
    if token is None:
        return Dreamt("running", branch, reason="a dream of this branch is running already")
    done = Dreamt("aborted", branch)
    try:
        done = _claimed(memory, branch, by, forced, dry_run, cancelled)
        if done.outcome in ("applied", "no-change"):
            done = _follow(memory, branch, done)
    finally:
        _settle(memory, branch, token, done)
    _account(memory, done)
    return done


def _claimed(
    memory: Memory,
    branch: BranchName,
    by: Reviewer | Proposer,
    forced: bool,
    dry_run: bool,
    cancelled: Callable[[], bool],
) -> Dreamt:
    base = memory.snapshot(branch)
    material = _material(memory, branch, base, forced)
    _, cold = signals.cold(memory, branch, base)
    chilled = [one.entry.id for one in cold if one.entry.id not in material.settled]
    thought = dreamer.dream(
        by, material, _rights(memory, base), nonce=secrets.token_hex(8), cold=chilled, cancelled=cancelled
    )
    if thought.outcome is Outcome.HELD:
        return _held_back(memory, branch, base, thought, dry_run)
    if thought.outcome not in (Outcome.CHANGE, Outcome.NO_CHANGE):
        reason, hint = _why(thought)
        return Dreamt(str(thought.outcome), branch, thought=thought, reason=reason, hint=hint)
    changes = diff(states(base), apply(states(base), thought.operations, now=memory.stamp()))
    done = _counted(Dreamt("planned" if dry_run else "no-change", branch, None, changes, thought), base)
    if dry_run or not changes:
        return done
    draft = Draft(edits_of(base, changes), _message(base, changes, thought), Writer.DREAM, author=_author(thought))
    try:
        return replace(done, outcome="applied", commit=memory.publish(branch, draft, base.commit))
    except Conflict as moved:
        return Dreamt("stale", branch, thought=thought, reason=moved.message)


def _material(memory: Memory, branch: str, base: Snapshot, forced: bool) -> Material:
    scored = scoring.score_all(base, signals.read(memory, branch).by_id, memory.clock())
    waiting = [one for one in candidates.pending(memory, branch) if one.kind in DREAMT and one.text]
    return Material(
        states(base),
        base.characters,
        tuple(waiting[:CANDIDATES]),
        {one.entry.id: one for one in scored},
        frozenset() if forced else _brought_back(memory, base),
    )


def _rights(memory: Memory, base: Snapshot) -> Rights:
    taken = {str(stored.entry.id) for stored in base.entries} | {
        path.rpartition("/")[2].removesuffix(".md") for path in base.files
    }

    def new_id(text: str) -> EntryId:
        made = entry_id(text, taken, memory.draw)
        taken.add(made)
        return made

    return Rights(
        memory.limits,
        guards.check,
        new_id,
        memory.stamp(),
        documents(memory.project.checkout),
        memory.meaning,
    )


def _brought_back(memory: Memory, base: Snapshot) -> frozenset[EntryId]:
    """Entries that an undo of a dream brought back: whoever undid it wants them as they are."""
    found: set[EntryId] = set()
    redone: set[str] = set()
    for commit in islice(memory.store.walk(base.commit), _SETTLED) if base.commit else ():
        if commit.kind is CommitKind.REDO:
            redone.add(commit.trailer("Redoes"))
        elif commit.kind is CommitKind.UNDO and (undid := commit.trailer("Undoes")) not in redone:
            dreamt = memory.store.commit(CommitId(undid)).kind is CommitKind.DREAM
            found.update(EntryId(word[1:]) for word in commit.trailer("Entries").split() if dreamt)
    return frozenset(found)


def _counted(done: Dreamt, base: Snapshot) -> Dreamt:
    thought = done.thought
    assert thought is not None
    grown = sum(_size(one.after) - _size(one.before) for one in done.changes)
    outcomes = [one.outcome for one in thought.resolved]
    return replace(
        done,
        before=base.characters,
        after=base.characters + grown,
        merged=sum(one.after is None for one in done.changes),
        archived=sum(_archives(one) for one in done.changes),
        distilled=outcomes.count("distilled"),
        discarded=outcomes.count("discarded") + outcomes.count("known"),
    )


def _size(entry: Entry | None) -> int:
    return len(entry.text) if entry is not None and not entry.archived else 0


def _archives(change: Change) -> bool:
    return change.after is not None and change.after.archived and not (change.before and change.before.archived)


def _held_back(memory: Memory, branch: BranchName, base: Snapshot, thought: Dream, dry_run: bool) -> Dreamt:
    """More would be set aside than one dream may: the operations wait for the user, nothing is written."""
    reason, hint = _why(thought)
    if not dry_run:
        waiting = held.keep(
            memory, branch, base, thought.operations, _trailers(base, thought), of="A dream", reason=reason
        )
        if waiting is not None:
            hint = f"commit it with `noforgetti candidates accept {waiting.id}`, or drop it with `discard`"
    return Dreamt("held", branch, thought=thought, reason=reason, hint=hint)


def _why(thought: Dream) -> tuple[str, str]:
    if thought.error is not None:
        return thought.error.message.replace("Nothing was reviewed.", "Nothing was changed."), thought.error.hint
    if thought.refusal is not None:
        return thought.refusal.message, thought.refusal.hint
    return f"the dream ended as {thought.outcome}", ""


def _message(base: Snapshot, changes: tuple[Change, ...], thought: Dream) -> Message:
    first = next((change for change in changes if change.after is not None), changes[0])
    subject = f"dream: {counted(changes)}: {one_line(first.entry.text)}"
    kind, *others = _trailers(base, thought)
    return Message(subject, describe(changes), (kind, ("Entries", entries_trailer(changes)), *others))


def _trailers(base: Snapshot, thought: Dream) -> tuple[tuple[str, str], ...]:
    trailers = [
        ("Kind", str(CommitKind.DREAM)),
        ("Base", base.commit or "none"),
        ("Reviewer", f"{thought.reviewer} ({thought.model})" if thought.model else thought.reviewer),
        *(("Evidence", line) for line in map(_evidence, thought.operations) if line),
    ]
    return tuple((key, clip(value, 1_000)) for key, value in trailers)


def _evidence(operation: Operation) -> str:
    """An operation's entry, and the entries and candidates it rests on."""
    own = operation.entry.id if isinstance(operation, Add) else targets(operation)[0]
    merged = operation.ids[1:] if isinstance(operation, Merge) else ()
    cited = [one for one in dict.fromkeys((*merged, *operation.evidence)) if one != own]
    return f"{own} {' '.join(cited)}" if cited else ""


def _author(thought: Dream) -> Author:
    return Author(f"reviewer ({thought.reviewer})", "reviewer@noforgetti")


# ---- what follows the commit


def _follow(memory: Memory, branch: BranchName, done: Dreamt) -> Dreamt:
    """The commit stands whatever becomes of this; trouble is a trace."""
    thought = done.thought
    assert thought is not None
    for outcome in ("distilled", "known", "discarded"):
        ids = [one.candidate for one in thought.resolved if one.outcome == outcome]
        if ids:
            memory.aside(partial(candidates.take, memory, branch, ids, outcome, by=Writer.DREAM))
    known = [EntryId(one.entry) for one in thought.resolved if one.outcome == "known"]
    if known:
        memory.aside(partial(signals.reinforce, memory, branch, known, by=Writer.DREAM))
    pruned = memory.aside(partial(scoped.prune, memory, branch)) or 0
    flags = [promotions.Flag(EntryId(one.entry_id), Destination(one.destination), one.reason) for one in thought.flags]
    # Faded entries are proposed for discarding after a dream that changed nothing: after one that did, a commit of
    # proposals would stand between the user and what was just written.
    looked_at = [one.id for one in memory.snapshot(branch)] if done.commit else None
    memory.aside(partial(promotions.run, memory, branch, looked_at, flags=flags))
    return replace(done, pruned=pruned)


def _account(memory: Memory, done: Dreamt) -> None:
    thought = done.thought
    if thought is None or done.outcome == "planned":
        return
    value = {
        "dream": True,
        "attempts": thought.attempts,
        "input_tokens": thought.usage.input,
        "output_tokens": thought.usage.output,
        "refused": [{"action": one.action, "rule": one.refusal.rule} for one in thought.refused],
        "before": done.before,
        "after": done.after,
        "commit": done.commit,
        "reason": done.reason,
    }
    memory.state.account(done.branch, thought.reviewer, done.outcome, value)
    if done.outcome in ("failed", "invalid", "held"):
        memory.state.trace("warning", f"a dream over branch `{done.branch}` by {thought.reviewer}: {done.reason}")


# ---- one at a time, and when


def _claim(memory: Memory, branch: str) -> str | None:
    """The right to dream, or None while somebody else does."""
    with memory.state.transaction():
        known, now = memory.state.dream(branch), memory.clock()
        if _held(known, now):
            return None
        token = cadence.own_token()
        memory.state.put_dream(branch, {**known, "token": token, "until": now + LEASE})
    return token


def _held(known: dict[str, Any], now: float) -> bool:
    token = known.get("token")
    # A lease from a future that the clock has since left holds nobody back.
    return isinstance(token, str) and now < _number(known, "until") <= now + LEASE and cadence.alive(token)


def _settle(memory: Memory, branch: str, token: str, done: Dreamt) -> None:
    now = memory.clock()
    with memory.state.transaction():
        known = memory.state.dream(branch)
        if known.get("token") != token:
            return  # somebody took it over
        value: dict[str, Any] = {
            name: known[name] for name in ("done", "seen", "not_before", "failures") if name in known
        }
        if done.outcome in ("applied", "no-change", "held"):
            value |= {"done": now, "seen": _seen(memory, branch), "not_before": 0.0, "failures": 0}
        elif done.outcome in ("failed", "invalid"):
            failures = int(_number(known, "failures")) + 1
            value |= {"failures": failures, "not_before": now + schedule.back_off(failures)}
        elif done.outcome != "planned":
            value["not_before"] = now + _AGAIN
        memory.state.put_dream(branch, value)


def _seen(memory: Memory, branch: str) -> str:
    """What a dream depends on: the head, and the candidates that it may decide."""
    waiting = (one.id for one in candidates.pending(memory, branch) if one.kind in DREAMT)
    return " ".join([memory.head(branch) or "none", *waiting])


def _waited(known: dict[str, Any], now: float, hours: float) -> bool:
    done, not_before = _number(known, "done"), _number(known, "not_before")
    if now < not_before <= now + schedule.LONGEST_BACK_OFF:
        return False
    return not done <= now < done + hours * 3600  # a clock that was set back must not stop dreams for good


def _changed(memory: Memory, branch: str, known: dict[str, Any]) -> bool:
    seen = _seen(memory, branch)
    return seen not in ("none", known.get("seen"))


def _number(known: dict[str, Any], name: str) -> float:
    value = known.get(name, 0.0)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0
