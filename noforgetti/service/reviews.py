"""One automatic review: claim, window, reviewer, admission, one commit against the reviewed head, settlement.

Nothing here waits for a lock while a reviewer thinks. A head that moved meanwhile drops the proposal; the evidence
waits for the next review. Evidence is consumed only by the commit that holds what was learned, or by a note that a
sound review found nothing.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from noforgetti.model.candidate import Candidate, CandidateKind
from noforgetti.model.change import Add, Change, Operation, apply, diff
from noforgetti.model.commit import (
    Author,
    CommitKind,
    Message,
    clip,
    counted,
    describe,
    entries_trailer,
    one_line,
)
from noforgetti.model.entry import (
    MAIN,
    BranchName,
    Category,
    CommitId,
    Entry,
    EntryId,
    Importance,
    Snapshot,
    Writer,
)
from noforgetti.policy import guards, secrecy
from noforgetti.policy.names import entry_id
from noforgetti.policy.verdict import Rule
from noforgetti.review import reviewer as reviewing
from noforgetti.review import window as windows
from noforgetti.review.reviewer import Outcome, Proposer, Result, Reviewer
from noforgetti.review.schedule import Reason, Settlement
from noforgetti.service import cadence, candidates, signals, writes
from noforgetti.service.documents import documents
from noforgetti.service.held import hold
from noforgetti.service.history import edits_of, states
from noforgetti.service.memory import Draft, Memory
from noforgetti.service.positions import note, position, span
from noforgetti.store.base import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.errors import NoForgettiError
    from noforgetti.model.evidence import Transcript, Window

_SETTLEMENTS = {
    Outcome.CHANGE: Settlement.SUCCESS,
    Outcome.NO_CHANGE: Settlement.SUCCESS,
    Outcome.INVALID: Settlement.FAILURE,
    Outcome.FAILED: Settlement.FAILURE,
    Outcome.ABORTED: Settlement.CANCELLED,
}
_READ = ("applied", "no-change", "nothing", "held")  # outcomes after which the window's evidence waits no more


@dataclass(frozen=True, slots=True)
class Reviewed:
    """How a review went. `outcome` is `applied`, `no-change`, `nothing` (no new evidence), `not-due`, `running`,
    `stale`, `held`, `invalid`, `failed` or `aborted`; `more` says that evidence is left for another window."""

    outcome: str
    branch: str
    commit: CommitId | None = None
    changes: tuple[Change, ...] = ()
    result: Result | None = None
    reason: str = ""
    hint: str = ""
    more: bool = False


def review(
    memory: Memory,
    branch: BranchName,
    transcript: Transcript,
    by: Reviewer | Proposer,
    *,
    forced: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> Reviewed:
    """Review the oldest evidence of the session that the branch has not seen. Raises only faults and broken storage."""
    mine = cadence.claim(memory, branch, forced=forced)
    if isinstance(mine, Reason):
        running = mine is Reason.RUNNING
        reason = "a review of this branch is running already" if running else f"no review is due ({mine})"
        return Reviewed("running" if running else "not-due", branch, reason=reason)
    settlement = Settlement.CANCELLED
    try:
        done, settlement = _claimed(memory, branch, transcript, by, cancelled)
    finally:
        cadence.settle(memory, branch, mine, settlement)
    if done.outcome in _READ and not done.more:
        memory.state.read_all(branch, transcript.session)
    if done.result is not None and done.outcome in ("applied", "no-change"):
        _follow(memory, branch, done.result)
    _account(memory, done)
    return done


def _follow(memory: Memory, branch: BranchName, result: Result) -> None:
    """What a review says beside its commit: more evidence for what it said again, facts about the user, and pairs that
    somebody has to decide on. The commit stands whatever becomes of this."""
    session = result.window.session
    again = [EntryId(one.target) for one in result.refused if one.refusal.rule is Rule.DUPLICATE and one.target]
    if again:
        memory.aside(partial(_again, memory, branch, again, session))
    for add in result.wide:
        memory.aside(partial(_remembered, memory, add.entry))
    waiting = _waiting(memory, result)
    if waiting:
        memory.aside(lambda: candidates.queue(memory, branch, waiting, by=Writer.REVIEW))


def _again(memory: Memory, branch: BranchName, entries: list[EntryId], session: str) -> None:
    """What a review found again is one more piece of evidence, and perhaps more than a memory by now."""
    from noforgetti.service import promotions

    signals.reinforce(memory, branch, entries, by=Writer.REVIEW, session=session)
    promotions.after_reinforcement(memory, branch, entries, by=Writer.REVIEW, session=session)


def _remembered(memory: Memory, entry: Entry) -> None:
    """A fact about the user goes to the user-wide memory, through the same chain as any other text."""
    traits = writes.Traits(entry.category, entry.importance, key=entry.key, confidence=entry.confidence)
    done = writes.add(memory, MAIN, entry.text, traits, writer=Writer.REVIEW, session=entry.session)
    if done.refusal is not None:
        memory.state.trace("warning", f"a review's fact `{entry.key}` was not kept: {done.refusal.message}")


def _waiting(memory: Memory, result: Result) -> list[Candidate]:
    """What the review found and may not decide."""
    waits = partial(Candidate, "", session=result.window.session, at=memory.stamp(), writer=Writer.REVIEW)
    texts = {one.entry.id: one.entry.text for one in result.operations if isinstance(one, Add)}
    found = [
        waits(CandidateKind.REPLACEMENT, texts[new], f"entry `{new}` may replace `{old}`", old)
        for new, old in result.similar
        if new in texts
    ]
    return found + [
        waits(CandidateKind.CONTRADICTION, one.text, one.refusal.message, EntryId(one.target))
        for one in result.refused
        if one.refusal.rule is Rule.CONTRADICTION and one.text
    ]


def _claimed(
    memory: Memory,
    branch: BranchName,
    transcript: Transcript,
    by: Reviewer | Proposer,
    cancelled: Callable[[], bool],
) -> tuple[Reviewed, Settlement]:
    base = memory.snapshot(branch)
    window = windows.build(transcript, position(memory, branch, transcript), branch, redact=secrecy.redact)
    if window is None:
        return Reviewed("nothing", branch, reason="no new evidence"), Settlement.SUCCESS
    result = reviewing.run_review(
        by,
        window,
        states(base),
        limits=memory.limits,
        check=guards.check,
        new_entry=_maker(memory, base, transcript.session),
        now=memory.stamp(),
        nonce=secrets.token_hex(8),
        documents=documents(memory.project.checkout),
        meaning=memory.meaning,
        cancelled=cancelled,
    )
    if result.outcome is Outcome.CHANGE:
        return _admitted(memory, branch, base, result, transcript)
    if result.outcome is Outcome.NO_CHANGE:
        note(memory, branch, result.window, base.commit)
        return Reviewed("no-change", branch, result=result, more=_more(transcript, result.window)), Settlement.SUCCESS
    if result.outcome is Outcome.HELD:
        return _held(memory, branch, base, result, transcript), Settlement.SUCCESS
    reason, hint = _why(result)
    return Reviewed(str(result.outcome), branch, result=result, reason=reason, hint=hint), _SETTLEMENTS[result.outcome]


def _admitted(
    memory: Memory, branch: BranchName, base: Snapshot, result: Result, transcript: Transcript
) -> tuple[Reviewed, Settlement]:
    before = states(base)
    after = apply(before, result.operations, now=memory.stamp())
    changes = diff(before, after)
    more = _more(transcript, result.window)
    if not changes:
        note(memory, branch, result.window, base.commit)
        return Reviewed("no-change", branch, result=result, more=more), Settlement.SUCCESS
    draft = Draft(edits_of(base, changes), _message(base, changes, result), Writer.REVIEW, author=_author(result))
    memory.prepare()
    try:
        commit = memory.publish(branch, draft, base.commit)
    except Conflict as moved:
        # The evidence stays due at once: nothing is wrong with the reviewer.
        return Reviewed("stale", branch, result=result, reason=moved.message), Settlement.CANCELLED
    return Reviewed("applied", branch, commit, changes, result, more=more), Settlement.SUCCESS


def _held(memory: Memory, branch: BranchName, base: Snapshot, result: Result, transcript: Transcript) -> Reviewed:
    """The operations wait for the user. Their evidence counts as read once they are on the disk: asking the model again
    would hold them again."""
    reason, hint = _why(result)
    waiting = hold(memory, branch, base, result, _trailers(base, result))
    if waiting is not None:
        note(memory, branch, result.window, base.commit)
        hint = f"commit it with `noforgetti candidates accept {waiting.id}`, or drop it with `discard`"
    return Reviewed("held", branch, result=result, reason=reason, hint=hint, more=_more(transcript, result.window))


def _message(base: Snapshot, changes: tuple[Change, ...], result: Result) -> Message:
    first = next((change for change in changes if change.after is not None), changes[0])
    subject = f"review: {counted(changes)}: {one_line(first.entry.text)}"
    entries = ("Entries", clip(entries_trailer(changes), 1_000))
    kind, *others = _trailers(base, result)
    return Message(subject, describe(changes), (kind, entries, *others))


def _trailers(base: Snapshot, result: Result) -> tuple[tuple[str, str], ...]:
    trailers = [
        ("Kind", str(CommitKind.REVIEW)),
        ("Session", result.window.session),
        ("Window", span(result.window)),
        ("Base", base.commit or "none"),
        ("Reviewer", f"{result.reviewer} ({result.model})" if result.model else result.reviewer),
        *(("Evidence", line) for line in _evidence(result)),
    ]
    return tuple((key, clip(value, 1_000)) for key, value in trailers)


def _evidence(result: Result) -> list[str]:
    """For each operation the session's items it rests on."""
    items = {section.label: section.item for section in result.window.sections}
    lines = []
    for operation in result.operations:
        cited = dict.fromkeys(items[label] for label in operation.evidence if label in items)
        if cited:
            lines.append(f"{_target(operation)} {' '.join(cited)}")
    return lines


def _target(operation: Operation) -> EntryId:
    from noforgetti.model.change import Merge

    if isinstance(operation, Add):
        return operation.entry.id
    return operation.ids[0] if isinstance(operation, Merge) else operation.id


def _author(result: Result) -> Author:
    return Author(f"reviewer ({result.reviewer})", "reviewer@noforgetti")


def _maker(memory: Memory, base: Snapshot, session: str) -> Callable[..., Entry]:
    taken = {str(stored.entry.id) for stored in base.entries}

    def new_entry(text: str, *, category: Category, importance: Importance, at: str) -> Entry:
        made = entry_id(text, taken, memory.draw)
        taken.add(made)
        now = memory.stamp()
        # A fact is as old as what it rests on, never as young as its review.
        return Entry(
            made,
            text,
            category,
            importance,
            assessed=now,
            created=_utc(at) or now,
            writer=Writer.REVIEW,
            session=session,
        )

    return new_entry


def _utc(at: str) -> str:
    """The time as the repository writes times; empty for what is no time."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return ""
    # A host that names no zone means its own clock's UTC, as Pi's session format does.
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _more(transcript: Transcript, window: Window) -> bool:
    return bool(transcript.items) and (transcript.items[-1].id != window.last.item or window.last.offset > 0)


def _why(result: Result) -> tuple[str, str]:
    error: NoForgettiError | None = result.error
    if error is not None:
        return error.message, error.hint
    if result.refusal is not None:
        return result.refusal.message, result.refusal.hint
    return f"the review ended as {result.outcome}", ""


def _account(memory: Memory, done: Reviewed) -> None:
    result = done.result
    if result is None:
        return
    value = {
        "attempts": result.attempts,
        "input_tokens": result.usage.input,
        "output_tokens": result.usage.output,
        "turns": result.window.turns,
        "characters": result.window.characters,
        "redactions": result.window.redactions,
        "refused": [{"action": one.action, "rule": one.refusal.rule} for one in result.refused],
        "commit": done.commit,
        "reason": done.reason,
    }
    memory.state.account(done.branch, result.reviewer, done.outcome, value)
    if done.outcome in ("failed", "invalid", "held"):
        memory.state.trace("warning", f"review of branch `{done.branch}` by {result.reviewer}: {done.reason}")


def unread(memory: Memory, branch: BranchName, transcript: Transcript) -> int:
    """How many of the user's messages the branch has not seen in the next window of this session."""
    found = windows.build(transcript, position(memory, branch, transcript), branch, redact=lambda text: (text, 0))
    return found.turns if found else 0
