"""What a user decides about a promotion: to accept it, to reject it, to take that back.

Each decision is one commit that holds the promotion's new status and everything it does, so that `undo COMMIT` takes
back both. What a decision did is read from its commit's trees, never guessed from the promotion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from noforgetti.model.change import Change
from noforgetti.model.commit import one_line
from noforgetti.model.entry import Entry, Writer
from noforgetti.model.promotion import Destination, Promotion, Status
from noforgetti.policy import promotion as policy
from noforgetti.policy import skill as packages
from noforgetti.policy import steps
from noforgetti.policy import undo as undoing
from noforgetti.policy.enforcement import EnforcedRule, advice, parse
from noforgetti.policy.implied_rule import WARN, implied
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.service import promotions_file, skills
from noforgetti.service.history import edits_of
from noforgetti.service.memory import Draft, Memory
from noforgetti.service.promotions import find, message, written
from noforgetti.service.undo import changes_of, entries_of
from noforgetti.store import promotions as file
from noforgetti.store.base import Drop, Edit, PutBlob, PutFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.model.commit import Commit
    from noforgetti.model.entry import CommitId, Snapshot

    _Answer = tuple[Promotion, list[Change], list[Edit]] | Refusal
    _Plan = Callable[[Snapshot, Promotion], _Answer]


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a decision. `text` is what a user copies (a project rule); `conflicts` changed since."""

    outcome: Literal["accepted", "rejected", "undone", "halted", "nothing", "refused"]
    branch: str
    promotion: Promotion | None = None
    commit: CommitId | None = None
    changes: tuple[Change, ...] = ()
    refusal: Refusal | None = None
    conflicts: tuple[str, ...] = ()
    reason: str = ""
    text: str = ""
    warnings: tuple[str, ...] = ()  # what makes the rule that was bound useless or too wide


def accept(
    memory: Memory,
    branch: str,
    own: str,
    *,
    trigger: str = "",
    action: str = "",
    by: Writer = Writer.USER,
    session: str = "",
) -> Decided:
    """Do what a promotion proposes, as one commit; a rejected one may be accepted after all.

    A rule is bound to the entry, `trigger` and `action` in place of what was proposed; without any trigger the entry is
    pinned, which is all that words alone can be given. A skill becomes a file of the branch. A discarded entry is
    removed. A project rule is marked as done and its text handed out: nobody writes into the user's files. An entry
    that was reworded since counts as it reads now.
    """

    def plan(now: Snapshot, one: Promotion) -> _Answer:
        stored = now.get(one.entry)
        if stored is None:
            return _gone(one)
        done = replace(_as_it_reads(one, stored.entry), status=Status.APPLIED)
        match one.destination:
            case Destination.ENFORCEMENT:
                if trigger:
                    done = replace(done, trigger=trigger, verifier="")
                return _bind(replace(done, action=action or done.action), stored.entry)
            case Destination.SKILL:
                return _make(done, now, stored.entry, memory.stamp())
            case Destination.DISCARD:
                return _discard(one, done, stored.entry)
            case Destination.PROJECT_RULE | Destination.MEMORY:
                return done, [], []

    decided = _decide(memory, branch, own, Status.APPLIED, plan, by=by, session=session)
    if decided.promotion and decided.outcome in ("accepted", "nothing"):
        if decided.promotion.destination is Destination.PROJECT_RULE:
            return replace(decided, text=decided.promotion.text)
        if decided.promotion.destination is Destination.SKILL:
            skills.publish(memory, branch)
    rule = parse(decided.changes[0].entry.rule) if decided.outcome == "accepted" and decided.changes else None
    return replace(decided, warnings=advice(rule)) if isinstance(rule, EnforcedRule) else decided


def reject(memory: Memory, branch: str, own: str, *, by: Writer = Writer.USER, session: str = "") -> Decided:
    """Settle a promotion as not wanted: it is never proposed again."""

    def plan(_: Snapshot, one: Promotion) -> _Answer:
        if one.status is Status.APPLIED:
            return Refusal(
                Rule.FORMAT,
                f"Promotion `{one.id}` is applied already, so it cannot be rejected. Nothing was written.",
                f"take it back with `noforgetti promotions undo {one.id}`",
            )
        return replace(one, status=Status.REJECTED), [], []

    return _decide(memory, branch, own, Status.REJECTED, plan, by=by, session=session)


def undo(memory: Memory, branch: str, own: str, *, by: Writer = Writer.USER, session: str = "") -> Decided:
    """Take back what accepting, applying or rejecting did: the promotion is open again, and no pass applies it by
    itself. Halts, writing nothing, when the entry or the skill changed since."""
    done: list[Decided] = []

    def plan(now: Snapshot) -> Draft | Decided:
        data = promotions_file.read(memory, now)
        one = find(file.decode(data), own)
        if isinstance(one, Refusal):
            return Decided("refused", branch, refusal=one)
        if one.open:
            return Decided("nothing", branch, one, reason="nobody decided it yet")
        settled = _settling(memory, now, one)
        edits: list[Edit] = []
        changes: tuple[Change, ...] = ()
        if settled is not None:
            before, after = memory.store.snapshot(settled.parent), memory.store.snapshot(settled.id)
            only = (str(one.entry), *((skills.place(one.skill_name),) if one.skill_name else ()))
            found = undoing.plan(before, after, now, only=only)
            if isinstance(found, undoing.Halted):
                return Decided("halted", branch, one, conflicts=found.entries)
            edits = [*(Drop(path) for path in found.drop), *(PutBlob(*put) for put in found.put.items())]
            changes = changes_of(now, entries_of(memory, found.put), found.drop)
        opened = replace(one, status=Status.PROPOSED, skill_created="")
        edits.append(written(data, {one.id: opened}))
        done[:] = [Decided("undone", branch, opened, changes=changes)]
        said = message(f"promote: take back: {one_line(one.text)}", [opened], changes, session)
        return Draft(tuple(edits), said, by)

    answer = memory.change(branch, plan)
    if isinstance(answer, Decided):
        return answer
    skills.publish(memory, branch)
    return replace(done[0], commit=answer)


def _decide(memory: Memory, branch: str, own: str, status: Status, plan: _Plan, *, by: Writer, session: str) -> Decided:
    """Settle one promotion as one commit."""
    word: Literal["accepted", "rejected"] = "accepted" if status is Status.APPLIED else "rejected"
    done: list[Decided] = []

    def planned(now: Snapshot) -> Draft | Decided:
        data = promotions_file.read(memory, now)
        one = find(file.decode(data), own)
        if isinstance(one, Refusal):
            return Decided("refused", branch, refusal=one)
        if one.status is status:
            return Decided("nothing", branch, one, reason=f"it is {one.status} already")
        found = plan(now, one)
        if isinstance(found, Refusal):
            return Decided("refused", branch, one, refusal=found)
        settled, changes, edits = found
        done[:] = [Decided(word, branch, settled, changes=tuple(changes))]
        verb = "accept" if status is Status.APPLIED else "reject"
        subject = f"promote: {verb} {settled.destination}: {one_line(settled.text)}"
        edits = [*edits_of(now, changes), *edits, written(data, {settled.id: settled})]
        return Draft(tuple(edits), message(subject, [settled], changes, session), by)

    answer = memory.change(branch, planned)
    return answer if isinstance(answer, Decided) else replace(done[0], commit=answer)


def _bind(one: Promotion, entry: Entry) -> _Answer:
    if entry.enforced:
        return Refusal(
            Rule.ENFORCED,
            f"Entry `{entry.id}` has a rule already. Nothing was written.",
            "look at it with `noforgetti rules`, or reject this promotion",
        )
    if not one.trigger:
        return replace(one, action=""), [Change(entry.id, entry, replace(entry, pinned=True))], []
    one = replace(one, action=one.action or WARN)
    rule = policy.rule_text(one.trigger, one.action, one.verifier)
    if isinstance(rule, Refusal):
        return rule
    return one, [Change(entry.id, entry, replace(entry, rule=rule))], []


def _make(one: Promotion, now: Snapshot, entry: Entry, stamp: str) -> _Answer:
    wanted = one.skill_name if packages.name_refused(one.skill_name) is None else ""
    name = skills.free_name(now, wanted or policy.skill_name(entry.text, entry.id))
    found = steps.steps(entry.text)
    text = packages.compose(name, steps.title(entry.text) or name, entry.text, found, source=entry.id)
    package = packages.read(name, text)
    if isinstance(package, Refusal):
        return package
    edit = PutFile(skills.place(name), package.text.encode())
    return replace(one, skill_name=name, skill_created=stamp), [], [edit]


def _as_it_reads(one: Promotion, entry: Entry) -> Promotion:
    """The promotion with the entry's present words, and the rule that they imply now."""
    if entry.text == one.text:
        return one
    rule = implied(entry.text)
    if rule is None:
        return replace(one, text=entry.text, trigger="", action="", verifier="")
    return replace(one, text=entry.text, trigger=rule.trigger, action=rule.action, verifier=rule.verifier)


def _discard(before: Promotion, one: Promotion, entry: Entry) -> _Answer:
    if entry.text != before.text:
        return Refusal(
            Rule.UNKNOWN_ENTRY,
            f"Entry `{entry.id}` was reworded since promotion `{one.id}` was proposed. Nothing was written.",
            "remove it with `noforgetti remove`, or reject the promotion",
        )
    if entry.pinned or entry.enforced:
        rule, why = (Rule.PINNED, "is pinned") if entry.pinned else (Rule.ENFORCED, "has a rule bound to it")
        return Refusal(rule, f"Entry `{entry.id}` {why}. Nothing was written.", f"reject promotion `{one.id}`")
    return one, [Change(entry.id, entry, None)], []


def _gone(one: Promotion) -> Refusal:
    return Refusal(
        Rule.UNKNOWN_ENTRY,
        f"The entry `{one.entry}` of promotion `{one.id}` is gone. Nothing was written.",
        f"reject it with `noforgetti promotions reject {one.id}`",
    )


def _settling(memory: Memory, now: Snapshot, one: Promotion) -> Commit | None:
    """The newest commit that gave the promotion its status; None when it was born with it by hand."""
    for commit in memory.store.walk(now.commit):
        before, after = memory.store.snapshot(commit.parent), memory.store.snapshot(commit.id)
        if before.files.get(file.FILE) == after.files.get(file.FILE):
            continue
        was, left = (promotions_file.queue(memory, some).by_id.get(one.id) for some in (before, after))
        if left is not None and left.status is one.status and (was is None or was.status is not one.status):
            return commit
    return None
