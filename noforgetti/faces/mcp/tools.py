"""The tools: what a model is told of each, and what each does. Every one answers a document of the service, in words
and in the shape of `answers`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from noforgetti.faces import found, text
from noforgetti.faces.arguments import ToolAnswer
from noforgetti.faces.mcp import answers, asking, reviewing
from noforgetti.faces.mcp.parameters import Parameter
from noforgetti.model.entry import Category, Importance, Scope, Writer
from noforgetti.service.settings import CHOICES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from noforgetti.faces.mcp.connection import Work
    from noforgetti.faces.mcp.parameters import Arguments
    from noforgetti.faces.mcp.reviewing import Tell
    from noforgetti.service.writes import Traits, Written


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `act` runs in the connection's thread; `long` instead of it on the event loop, with progress. `asks`
    answers the question that the user should confirm first, or nothing."""

    title: str
    help: str
    answer: type[answers.Answer]
    act: Callable[[Work, Arguments], ToolAnswer] | None = None
    own: tuple[Parameter, ...] = ()
    reads: bool = False
    destroys: bool = False
    repeats: bool = True  # a second call with the same arguments changes nothing more
    outside: bool = False  # may reach beyond this machine
    asks: Callable[[Work, Arguments], str] | None = None
    long: Callable[[Work, Arguments, Tell], Awaitable[ToolAnswer]] | None = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its own arguments and those that every tool takes."""
        return (*self.own, *EVERYWHERE)


EVERYWHERE = (
    Parameter("branch", "The memory branch; this connection's own if left out."),
    Parameter(
        "expected_head",
        "Only if the branch still stands there, else nothing is done: the `head` of an earlier answer; `none` before "
        "the first write.",
    ),
)
_OLD = Parameter(
    "old", "Which entry: its id, its key, or a piece of its text that occurs in no other entry.", required=True
)
_ABOUT = (
    Parameter("importance", "The cost of forgetting it. Leave it out when unsure.", choices=tuple(Importance)),
    Parameter("category", "What sort of fact it is.", choices=tuple(Category)),
    Parameter("pinned", "True: automatic reviews leave the entry alone. Only when the user asks for it.", kind="flag"),
    Parameter(
        "key",
        "For a fact with one value: a short dotted name such as `pref.commit_style`. A later write with the same key "
        "replaces the value.",
    ),
    Parameter(
        "scope",
        "How far it reaches: this project (the default), the user in every project, one task, or this session.",
        choices=tuple(Scope),
    ),
    Parameter("task", "The name of the task, for scope `task`."),
)
_OVERRIDE = Parameter(
    "override",
    "True only after the user confirmed that a rule changed: entries that the text contradicts are superseded.",
    kind="flag",
)
_QUERY = Parameter("query", "What to look for, in words; whole sentences are fine.", required=True)


def _limit(default: int, most: int) -> Parameter:
    return Parameter("limit", "At most this many.", kind="number", most=most, default=default)


# ---- what they do


def _list(work: Work, arguments: Arguments) -> ToolAnswer:
    from noforgetti.service.history import resolve
    from noforgetti.service.views import show_view, shown_view

    revision, memory = arguments.text("revision"), work.memory
    if revision:
        commit = resolve(memory, work.branch, revision)
        doc = show_view(work.branch, memory.store.snapshot(commit))
    else:
        doc = shown_view(memory, work.branch, memory.snapshot(work.branch), session=work.session)
    hard = memory.limits.hard
    size = f"{doc['characters']:,} of {hard:,} characters, branch `{work.branch}`, head {doc['head'] or 'none'}"
    return ToolAnswer(f"{text.show(doc)}\n\n({size})", details={**doc, "limit": hard})


def _add(work: Work, arguments: Arguments) -> ToolAnswer:
    from noforgetti.service import writes

    done = writes.add(
        work.memory,
        work.branch,
        arguments.text("text"),
        _traits(arguments),
        writer=Writer.AGENT,
        session=work.session,
        override=arguments.flag("override"),
        force=arguments.flag("force"),
    )
    return _written(work, done)


def _replace(work: Work, arguments: Arguments) -> ToolAnswer:
    from noforgetti.service import writes

    done = writes.reword(
        work.memory,
        work.branch,
        arguments.text("old"),
        arguments.text("text"),
        _traits(arguments),
        writer=Writer.AGENT,
        session=work.session,
        override=arguments.flag("override"),
    )
    return _written(work, done)


def _remove(work: Work, arguments: Arguments) -> ToolAnswer:
    from noforgetti.service import writes

    old = arguments.text("old")
    return _written(work, writes.remove(work.memory, work.branch, old, writer=Writer.AGENT, session=work.session))


def _written(work: Work, done: Written) -> ToolAnswer:
    from noforgetti.policy.verdict import Rule
    from noforgetti.service.views import show_view, written_view

    doc = written_view(done)
    if done.refusal is None:
        return ToolAnswer(text.written(doc), details=doc)
    if done.refusal.rule is not Rule.CAPACITY:
        return refused(doc)
    entries = text.entry_list(show_view(work.branch, work.memory.snapshot(work.branch)))
    return ToolAnswer(f"{refused(doc).text}\nDo not try again in this turn. The entries are:\n{entries}", True, doc)


def refused(doc: dict[str, Any]) -> ToolAnswer:
    """What was refused: the sentence and the hint."""
    return ToolAnswer("\nHint: ".join(one for one in (doc["reason"], doc["hint"]) if one), error=True, details=doc)


def _traits(arguments: Arguments) -> Traits:
    from noforgetti.service.writes import Traits

    category, importance, scope = (arguments.text(name) for name in ("category", "importance", "scope"))
    return Traits(
        Category(category) if category else None,
        Importance(importance) if importance else None,
        arguments.flag("pinned") or None,  # models fill in `false`: it must not take a pin away
        arguments.text("key") or None,
        scope=Scope(scope) if scope else None,
        task=arguments.text("task"),
    )


def _search(work: Work, arguments: Arguments) -> ToolAnswer:
    from noforgetti.service.found_views import found_entries_view

    recall, query, category = work.recall, arguments.text("query"), arguments.text("category")
    recall.complete(work.branch)
    hits = recall.entries(
        work.branch, query, limit=arguments.number("limit"), category=Category(category) if category else None
    )
    doc = found_entries_view(work.branch, query, hits, recall)
    return ToolAnswer(found.hits(doc), details=doc)


def _sessions(work: Work, arguments: Arguments) -> ToolAnswer:
    from noforgetti.service.found_views import found_sessions_view

    recall, query = work.recall, arguments.text("query")
    recall.complete_past()
    doc = found_sessions_view(query, recall.sessions(query, limit=arguments.number("limit")), recall)
    return ToolAnswer(found.sessions(doc), details=doc)


def _report(work: Work, arguments: Arguments) -> ToolAnswer:
    doc = reported(work, arguments.text("prompt"))
    return ToolAnswer(doc["report"], details=doc)


def reported(work: Work, prompt: str = "") -> dict[str, Any]:
    """What an agent would be told of the branch now; `report` is the text."""
    from noforgetti.service.found_views import turn_view
    from noforgetti.service.recalling import at_once
    from noforgetti.service.turns import Turns

    if prompt:
        work.recall.complete(work.branch)
        work.recall.complete_past()
    turn = Turns(work.memory, at_once(work.recall)).start(work.branch, prompt, work.session)
    told = "\n\n".join(part for part in turn.inject.values() if part)
    doc = turn_view(work.memory, prompt, turn, work.recall)
    return {**doc, "report": text.clean(told) or f"Nothing is remembered yet on branch `{work.branch}`."}


def _undo(work: Work, arguments: Arguments) -> ToolAnswer:
    from noforgetti.service.history import resolve
    from noforgetti.service.undo import undo
    from noforgetti.service.views import undone_view

    memory, revision, dry_run = work.memory, arguments.text("revision"), arguments.flag("dry_run")
    target = resolve(memory, work.branch, revision) if revision else None
    doc = {**undone_view(undo(memory, work.branch, target, dry_run=dry_run)), "dry_run": dry_run}
    shown = text.undone(doc, dry_run=dry_run)
    if doc["outcome"] != "halted":
        return ToolAnswer(shown, details=doc)
    hint = doc["hint"] or f"look at what changed with `memory_log`, or list the entries of {doc['undoes'][:12]}"
    return refused({**doc, "reason": shown, "hint": hint})


def _branches(work: Work, _: Arguments) -> ToolAnswer:
    from noforgetti.service.branches import listed
    from noforgetti.service.views import branches_view

    doc = branches_view(listed(work.memory, work.branch))
    return ToolAnswer(text.branches(doc), details=doc)


def _fork(work: Work, arguments: Arguments) -> ToolAnswer:
    from noforgetti.service.branches import fork
    from noforgetti.service.history import resolve
    from noforgetti.service.views import forked_view

    revision = arguments.text("revision")
    at = resolve(work.memory, work.branch, revision) if revision else work.memory.head(work.branch)
    doc = forked_view(work.branch, fork(work.memory, work.branch, arguments.text("name"), at=at))
    shown = f"Forked `{doc['branch']}` from `{doc['from']}` at {doc['head'][:12]}; `memory_use` selects it."
    return ToolAnswer(shown, details=doc)


def _use(work: Work, arguments: Arguments) -> ToolAnswer:
    from noforgetti.service.branches import use

    chosen = use(work.memory, arguments.text("name"))
    work.connection.chosen = chosen
    doc = {"outcome": "selected", "branch": chosen, "head": work.memory.head(chosen)}
    shown = (
        f"This connection uses memory branch `{chosen}` now: what names no `branch` works on it. "
        "Other sessions and the command line keep theirs."
    )
    return ToolAnswer(shown, details=doc)


def _log(work: Work, arguments: Arguments) -> ToolAnswer:
    from noforgetti.service.history import log
    from noforgetti.service.views import logged_view

    entry = arguments.text("entry")
    commits = [logged_view(one) for one in log(work.memory, work.branch, limit=arguments.number("limit"), entry=entry)]
    doc = {"branch": work.branch, "commits": commits}
    if entry and not commits:
        reason = f"No commit of branch `{work.branch}` touched an entry `{text.clip(entry, 60)}`."
        return refused(
            {**doc, "outcome": "refused", "reason": reason, "hint": "give a whole id; `memory_list` shows them"}
        )
    return ToolAnswer(text.log(doc), details=doc)


TOOLS: dict[str, Tool] = {
    "memory_list": Tool(
        "List the memory",
        "List what is remembered of this project: every entry with its id, importance and category, and what holds for "
        "the user everywhere. Read it before you write, to reword an entry instead of adding a second one. The answer "
        "names the branch's head.",
        answers.Listed,
        _list,
        (Parameter("revision", "List what it held then: a commit id, `HEAD~2`, a branch, or a day (2026-11-30)."),),
        reads=True,
    ),
    "memory_add": Tool(
        "Remember a fact",
        "Remember one durable fact about this project or its user, for all later sessions: a preference, decision, "
        "lesson, pattern or mistake, as one short statement that is understood without this conversation. Not for "
        "progress, one-time permissions, secrets, or what the repository says itself. A text that is there already "
        "changes nothing. A text that contradicts an entry is refused: tell the user, and only when they confirm the "
        "change repeat it with `override`.",
        answers.Written,
        _add,
        (
            Parameter("text", "The fact, as one short statement.", required=True),
            *_ABOUT,
            _OVERRIDE,
            Parameter("force", "True: store it although an entry says nearly the same.", kind="flag"),
        ),
    ),
    "memory_replace": Tool(
        "Reword an entry",
        "Replace the WHOLE text of one entry (not a part of it); it keeps its id and its history. For a fact that "
        "changed, was wrong, or can be said better. Prefer this to removing and adding.",
        answers.Written,
        _replace,
        (_OLD, Parameter("text", "The whole new text.", required=True), *_ABOUT, _OVERRIDE),
        destroys=True,
    ),
    "memory_remove": Tool(
        "Forget an entry",
        "Take one entry out of the memory, because it is wrong or no longer holds. History keeps it: `memory_undo` "
        "with the commit of the answer brings it back.",
        answers.Written,
        _remove,
        (_OLD,),
        destroys=True,
        asks=asking.removal,
    ),
    "memory_search": Tool(
        "Search the memory",
        "Find entries by words and by meaning, also archived and faded ones. Use it when you need to know what was "
        "decided, preferred or learned about something.",
        answers.Found,
        _search,
        (_QUERY, _limit(10, 50), Parameter("category", "Only this sort of fact.", choices=tuple(Category))),
        reads=True,
    ),
    "memory_sessions": Tool(
        "Search past sessions",
        "Find earlier sessions of this project by what was said or done in them. Use it for what happened; use "
        "`memory_search` for what holds.",
        answers.FoundSessions,
        _sessions,
        (_QUERY, _limit(5, 20)),
        reads=True,
    ),
    "memory_undo": Tool(
        "Take a change back",
        "Take back what one commit did to the memory: the newest automatic review, or the commit that `revision` "
        "names. Later work on other entries stays; it stops, changing nothing, when an entry was changed since. "
        "`dry_run` shows what would happen.",
        answers.Undone,
        _undo,
        (
            Parameter("revision", "The commit to take back: a commit id or `HEAD`, from `memory_log`."),
            Parameter("dry_run", "True: show what would happen and change nothing.", kind="flag"),
        ),
        destroys=True,
        repeats=False,
        asks=asking.undoing,
    ),
    "memory_branches": Tool(
        "List memory branches",
        "List the branches of the memory, with the number of entries; `*` marks the one this connection uses.",
        answers.Branches,
        _branches,
        reads=True,
    ),
    "memory_fork": Tool(
        "Fork the memory",
        "Create a new memory branch from where the branch stands, to try something without touching what is there. It "
        "shares history and costs nothing. `memory_use` selects it.",
        answers.Forked,
        _fork,
        (
            Parameter("name", "The new branch: letters, digits, `-` and `_`, at most 63.", required=True),
            Parameter("revision", "Fork from this commit instead of the branch's head."),
        ),
    ),
    "memory_use": Tool(
        "Select a memory branch",
        "Select the memory branch that this connection uses from now on, wherever a call names none. It holds until "
        "the connection ends; other sessions and the command line keep theirs.",
        answers.Selected,
        _use,
        (Parameter("name", "The branch.", required=True),),
    ),
    "memory_log": Tool(
        "Show the memory's history",
        "List the newest changes of the memory: what each commit did to which entries, when and by whom.",
        answers.Log,
        _log,
        (Parameter("entry", "Only commits that touched this entry: its whole id."), _limit(10, 100)),
        reads=True,
    ),
    "memory_review": Tool(
        "Review a session",
        "Read a session of this project and commit what is worth remembering, as the automatic review does: one "
        "commit, which `memory_undo` takes back. Only when the user asks for it. It may take minutes.",
        answers.Reviewed,
        own=(
            Parameter("transcript", "A session file; the newest session of this project if left out."),
            Parameter("reviewer", "Who reads it; the settings say if left out.", choices=CHOICES),
        ),
        destroys=True,
        outside=True,
        long=reviewing.review,
    ),
    "memory_report": Tool(
        "Report the memory",
        "What an agent should know at the start of its work: the memory by topic, within a budget, and with `prompt` "
        "what fits that request. Read it once at the start of a session, unless it stands in your context already.",
        answers.Reported,
        _report,
        (Parameter("prompt", "The user's request: what fits it is told too."),),
        reads=True,
    ),
}
