"""Rules of a branch: listing, binding and approving them, and what they say of an agent's tool calls.

A rule lives in the entry it belongs to, so rewording keeps it, history shows it and undo takes it back. Whether a
command may run is no property of the memory, which can be merged, synced or imported: it is approved on this machine,
for that entry and that very command.

Guaranteed: a rule fires at most once for a tool call and asks for at most one retry in a run of the agent; a rule that
cannot be read, an engine that fails, or enforcement that is switched off stops nothing.
"""

from __future__ import annotations

import os
import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from noforgetti.errors import NoForgettiError
from noforgetti.model.change import Change
from noforgetti.model.commit import CommitKind, Message, clip, entries_trailer, one_line, trailers
from noforgetti.model.entry import MAIN, Entry, EntryId, Writer
from noforgetti.policy import addressing, enforcement, guards
from noforgetti.policy.enforcement import Action, BadRule, Call, EnforcedRule
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.service.memory import Draft, Memory
from noforgetti.store.base import Put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from noforgetti.model.entry import CommitId, Snapshot

_Answer = TypeVar("_Answer")
State = Literal["active", "waits", "refused", "unreadable"]
ALLOWED = "PI_ENFORCEMENT_ALLOWED_COMMANDS"  # the reference's allow-list: commands between colons, letter for letter
SHOWN = 10  # modified paths that a reminder is asked with (the reference's figure)
REMINDED = 3  # entries of one reminder (the reference's figure)
FOCUS = 120.0  # seconds between two reminders of open tasks (the reference's two minutes)
_SESSIONS = 16  # sessions whose calls are kept: a host has one, a few while it switches
_CALLS = 400  # calls of one run that a verifier looks back at


@dataclass(frozen=True, slots=True)
class Listed:
    """A rule as `rules` lists it. `state` `waits`: its command is not approved here; `refused`: it is never run."""

    entry: Entry
    rule: EnforcedRule | BadRule
    state: State
    advice: tuple[str, ...] = ()
    scope: str = "project"


@dataclass(frozen=True, slots=True)
class Bound:
    """What became of binding, taking off or approving a rule."""

    outcome: Literal["bound", "cleared", "approved", "nothing", "refused"]
    branch: str
    entry: Entry | None = None
    commit: CommitId | None = None
    refusal: Refusal | None = None
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """A command that is to be run once, for the rule of this entry."""

    rule: EntryId
    command: str


@dataclass(frozen=True, slots=True)
class After:
    """What follows a tool call: texts for its result, commands to run."""

    append: tuple[str, ...] = ()
    run: tuple[Run, ...] = ()


@dataclass(frozen=True, slots=True)
class End:
    """What follows a turn: why the agent is to try once more, and what it should know in its next one."""

    retry: str = ""
    remind: str = ""


def listed(memory: Memory, branch: str) -> tuple[Listed, ...]:
    """Every rule of the branch and of the user-wide memory, in the order of the entries. Reads only."""
    found = of(memory, memory.snapshot(branch))
    return found if memory.is_wide else (*found, *of(memory.wide, memory.wide.snapshot(MAIN), "user"))


def of(memory: Memory, now: Snapshot, scope: str = "project") -> tuple[Listed, ...]:
    """Every rule of a snapshot, in the order of its entries."""
    return tuple(_listed(memory, entry, scope) for entry in now if entry.enforced)


def bind(
    memory: Memory, branch: str, old: str, rule: EnforcedRule, *, by: Writer = Writer.USER, session: str = ""
) -> Bound:
    """Bind a rule to the entry that `old` means, in place of one that it had. What the user binds here is approved."""
    done = _changed(memory, branch, old, enforcement.encode(rule), by, session)
    if done.entry is not None and done.outcome == "bound" and rule.command and by is Writer.USER:
        memory.state.approve(done.entry.id, rule.command)
    return replace(done, advice=enforcement.advice(rule)) if done.outcome == "bound" else done


def clear(memory: Memory, branch: str, old: str, *, by: Writer = Writer.USER, session: str = "") -> Bound:
    """Take the rule off the entry that `old` means."""
    return _changed(memory, branch, old, "", by, session)


def approve(memory: Memory, branch: str, old: str) -> Bound:
    """Let the rule of the entry that `old` means run its command on this machine. The memory does not change."""
    found = addressing.meant(memory.snapshot(branch), old)
    if isinstance(found, Refusal):
        return Bound("refused", branch, refusal=found)
    entry = found.entry
    rule = enforcement.parse(entry.rule) if entry.rule else BadRule("it has no rule")
    if isinstance(rule, BadRule):
        return _refused(branch, entry, f"Entry `{entry.id}` has no rule that can be approved: {rule.reason}.")
    if not rule.command:
        return Bound("nothing", branch, entry)
    if why := enforcement.refuses(rule.command):
        return _refused(branch, entry, f"The command of `{entry.id}` {why}; no rule runs that.")
    memory.prepare()
    memory.state.approve(entry.id, rule.command)
    return Bound("approved", branch, entry)


def _changed(memory: Memory, branch: str, old: str, rule: str, by: Writer, session: str) -> Bound:
    made: list[Entry] = []

    def plan(now: Snapshot) -> Draft | Bound:
        found = addressing.meant(now, old)
        if isinstance(found, Refusal):
            return Bound("refused", branch, refusal=found)
        before = found.entry
        if before.pinned and by is not Writer.USER:
            return _refused(branch, before, f"Entry `{before.id}` is pinned, so only the user changes its rule.")
        if before.rule == rule:
            made[:] = [before]
            return Bound("bound" if rule else "nothing", branch, before)
        made[:] = [replace(before, rule=rule)]
        change = Change(before.id, before, made[0])
        verb = "bind" if rule else "clear"
        told = trailers(CommitKind.RULE, entries_trailer((change,)), session)
        body = "\n".join(
            [f"~ {before.id}", *(f"  {sign} {one}" for sign, one in (("-", before.rule), ("+", rule)) if one)]
        )
        return Draft((Put(made[0]),), Message(f"rule: {verb} {one_line(before.text)}", body, told), by)

    answer = memory.change(branch, plan)
    if isinstance(answer, Bound):
        return answer
    return Bound("bound" if rule else "cleared", branch, made[0], answer)


def _refused(branch: str, entry: Entry, message: str) -> Bound:
    refusal = Refusal(Rule.ENFORCED, f"{message} Nothing was changed.", "look at it with `noforgetti rules`")
    return Bound("refused", branch, entry, refusal=refusal)


def _listed(memory: Memory, entry: Entry, scope: str) -> Listed:
    rule = enforcement.parse(entry.rule)
    if isinstance(rule, BadRule):
        return Listed(entry, rule, "unreadable", scope=scope)
    return Listed(entry, rule, _state(memory, entry, rule), enforcement.advice(rule), scope)


def _state(memory: Memory, entry: Entry, rule: EnforcedRule) -> State:
    if rule.action is not Action.RUN_AFTER:
        return "active"
    allowed = _allowed(memory)
    if enforcement.refuses(rule.command) or (allowed and rule.command not in allowed):
        return "refused"
    return "active" if rule.command in allowed or (entry.id, rule.command) in memory.state.approved() else "waits"


def _allowed(memory: Memory) -> frozenset[str]:
    """The allow-list. A list of the reference is parted at colons; commands with colons belong in the settings."""
    named = os.environ.get(ALLOWED, "").split(":")
    return frozenset((*memory.settings.enforcement.allowed, *(one for one in named if one)))


@dataclass(slots=True)
class _Session:
    """What happened in a session since its agent's run began."""

    calls: deque[Call] = field(default_factory=lambda: deque(maxlen=_CALLS))
    fired: set[tuple[EntryId, str]] = field(default_factory=set)
    retried: set[EntryId] = field(default_factory=set)
    modified: dict[str, None] = field(default_factory=dict)
    reminded: set[tuple[EntryId, str]] = field(default_factory=set)
    acted: bool = False
    focused: float = 0.0


class Enforcement:
    """The rules of one resident process at work. Belongs to one thread. No method raises.

    `remind` finds entries that fit modified paths: branch, session and paths in, entries out.
    """

    def __init__(
        self, memory: Memory, remind: Callable[[str, str, Sequence[str]], Sequence[Entry]] | None = None
    ) -> None:
        self._memory, self._remind = memory, remind
        self._sessions: dict[str, _Session] = {}
        self._known: dict[tuple[CommitId | None, CommitId | None], tuple[tuple[Entry, EnforcedRule], ...]] = {}
        self._failed = False

    def begin(self, session: str) -> None:
        """A run of the agent begins: what the last one did is no cause any more."""
        seen = self._session(session)
        seen.calls.clear()
        seen.retried.clear()
        seen.acted = False

    def call(self, branch: str, session: str, call: Call) -> str:
        """Why the call is blocked, in the words of the entry; empty when it may run."""
        return self._safely(lambda: self._call(branch, session, call), "")

    def result(self, branch: str, session: str, call: Call, *, failed: bool) -> After:
        """What follows the call. Commands follow only one that did not fail."""
        return self._safely(lambda: self._result(branch, session, call, failed=failed), After())

    def turn_end(self, branch: str, session: str) -> End:
        """What follows the turn: at most one retry for a verifier in a run, and reminders not given before."""
        return self._safely(lambda: self._turn_end(branch, session), End())

    # ---- inside

    def _call(self, branch: str, session: str, call: Call) -> str:
        seen = self._session(session)
        seen.acted = True
        for entry, rule in self._rules(branch):
            if rule.action is Action.BLOCK and enforcement.fires(rule, call):
                return f"Blocked by memory `{entry.id}` ({rule.trigger}): {_said(entry)}"
        seen.calls.append(call)
        return ""

    def _result(self, branch: str, session: str, call: Call, *, failed: bool) -> After:
        seen = self._session(session)
        if not failed:
            seen.modified.update(dict.fromkeys(enforcement.modified(call)))
        warns: list[str] = []
        runs: list[Run] = []
        for entry, rule in self._rules(branch):
            cause = (entry.id, call.id)
            if rule.action in (None, Action.BLOCK) or cause in seen.fired or not enforcement.fires(rule, call):
                continue
            seen.fired.add(cause)
            if rule.action is Action.WARN:
                warns.append(f"Memory `{entry.id}`: {_said(entry)}")
            elif not failed:
                state = _state(self._memory, entry, rule)
                if state == "active":
                    runs.append(Run(entry.id, rule.command))
                else:
                    warns.append(_unrun(entry, rule, state))
        return After(tuple(warns), tuple(runs))

    def _turn_end(self, branch: str, session: str) -> End:
        seen = self._session(session)
        calls = tuple(seen.calls)
        retry = []
        for entry, rule in self._rules(branch):
            if entry.id not in seen.retried and enforcement.violated(rule, calls):
                seen.retried.add(entry.id)
                retry.append(f"Memory `{entry.id}` was not followed ({rule.verifier}): {_said(entry)}")
        reminders = [*self._of_files(branch, session, seen), *self._of_tasks(branch, session, seen)]
        seen.acted = False
        return End("\n".join(retry), "\n".join(reminders))

    def _of_files(self, branch: str, session: str, seen: _Session) -> list[str]:
        paths = tuple(seen.modified)[:SHOWN]
        seen.modified.clear()
        if not paths or self._remind is None:
            return []
        found = []
        for entry in self._remind(branch, session, paths)[:REMINDED]:
            fresh = {(entry.id, path) for path in paths} - seen.reminded
            if fresh and not guards.unsafe(entry.text):
                seen.reminded |= fresh
                found.append(f"- [{entry.category}] {one_line(entry.text)}")
        named = ", ".join(clip(one_line(path), 120) for path in paths)
        return [f"Memories that fit the files you changed ({named}):", *found] if found else []

    def _of_tasks(self, branch: str, session: str, seen: _Session) -> list[str]:
        """Open tasks, where a turn used no tool. Tasks are entries of scope `task` that have not ended."""
        from noforgetti.model.entry import Scope
        from noforgetti.service import scoped

        now = self._memory.clock()
        if seen.acted:
            seen.focused = 0.0
            return []
        tasks = [one for one in scoped.held(self._memory, branch, session=session) if one.scope is Scope.TASK]
        if not tasks or (seen.focused and now - seen.focused < FOCUS):
            return []
        seen.focused = now
        told = [f"- [{one.task}] {one_line(one.text)}" for one in tasks[:REMINDED] if not guards.unsafe(one.text)]
        return ["Tasks are open, and this turn used no tool:", *told] if told else []

    def _rules(self, branch: str) -> tuple[tuple[Entry, EnforcedRule], ...]:
        memory = self._memory
        if not memory.settings.enforcement.enabled:
            return ()
        heads = (memory.head(branch), memory.wide.head(MAIN))
        known = self._known.get(heads)
        if known is None:
            entries = (*memory.snapshot(branch), *memory.wide.snapshot(MAIN))
            read = [(one, enforcement.parse(one.rule)) for one in entries if one.enforced and not one.archived]
            known = tuple((one, rule) for one, rule in read if isinstance(rule, EnforcedRule))
            if len(self._known) >= _SESSIONS:
                self._known.pop(next(iter(self._known)))
            self._known[heads] = known
        return known

    def _session(self, session: str) -> _Session:
        if session not in self._sessions and len(self._sessions) >= _SESSIONS:
            self._sessions.pop(next(iter(self._sessions)))
        return self._sessions.setdefault(session, _Session())

    def _safely(self, work: Callable[[], _Answer], otherwise: _Answer) -> _Answer:
        """An engine that fails must not stop the agent; `status` keeps the first failure."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - fail open: a rule is a help, the agent's work is the point
            if not self._failed:
                self._failed = True
                told = str(error) if isinstance(error, NoForgettiError) else type(error).__name__
                with suppress(Exception):  # nowhere left to tell
                    self._memory.state.trace("warning", f"rules are not enforced in this session: {told}")
            return otherwise


def words_of(paths: Iterable[str]) -> str:
    """The words of paths that may say what a memory is about: no folder that every project has."""
    parts = [part for path in paths for part in re.split(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])", path) if part]
    return " ".join(dict.fromkeys(part for part in parts if len(part) > 1 and part.lower() not in _COMMON))


_FOLDERS = "src lib test tests spec index main app home users user tmp var opt dist build the"
_COMMON = frozenset(_FOLDERS.split())


def _said(entry: Entry) -> str:
    return "its text may not be shown" if guards.unsafe(entry.text) else entry.text


def _unrun(entry: Entry, rule: EnforcedRule, state: State) -> str:
    command = clip(one_line(rule.command), 200)
    if state == "refused":
        return f"Memory `{entry.id}` wants `{command}` to be run, which is not allowed."
    return (
        f"Memory `{entry.id}` wants `{command}` to be run. It was not: the user has not approved it on this machine "
        f"(`noforgetti rules approve {entry.id}`)."
    )
