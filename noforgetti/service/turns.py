"""What the agent is told at the start of a turn: the stable part of memory, and what fits the prompt.

The stable part is the situation report. It is made once for a commit and kept, so its bytes stay the same until the
memory changes, and a provider's prefix cache holds; scores go on fading, and the next session sees it. What depends on
the prompt is a message of its own, there only when something was found.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from noforgetti.model.entry import MAIN, Category
from noforgetti.model.signal import NEW
from noforgetti.policy import guards, scoring
from noforgetti.retrieval import lessons as lesson_choice
from noforgetti.retrieval import report as reports
from noforgetti.retrieval.queries import BIAS, QueryClass, classify, trivial
from noforgetti.service import promotions_file, scoped, signals, telemetry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from noforgetti.model.entry import CommitId, Damaged, Entry, EntryId, Snapshot
    from noforgetti.policy.scoring import Scored
    from noforgetti.retrieval.base import FoundEntry, FoundSession
    from noforgetti.service.memory import Memory
    from noforgetti.service.recalling import Question, Recalled

SECTION = "project_memory"
ABOUT, PASSING = "About the user, in every project", "For this session or task"
_KEPT = 16  # rendered sections kept, by commit: one for each branch that sessions of this bridge use
_SESSIONS = 3  # past sessions that a turn is told of (the reference system's figure)


_Key = tuple["CommitId | None", "CommitId | None", "tuple[EntryId, ...]", str, QueryClass, int]


@dataclass(frozen=True, slots=True)
class Told:
    """The section of one commit, and the numbers of the footer."""

    text: str = ""
    entries: int = 0
    characters: int = 0
    report: reports.Report | None = None
    scored: Mapping[EntryId, Scored] = field(default_factory=dict)
    promotions: int = 0  # that wait for a decision


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn is given, and why. `inject` has the words of the bridge protocol."""

    branch: str
    class_: QueryClass
    trivial: bool
    told: Told
    ephemeral: str = ""
    entries: tuple[FoundEntry, ...] = ()
    sessions: tuple[FoundSession, ...] = ()
    left_out: tuple[str, ...] = ()
    inject: dict[str, str] = field(default_factory=dict)


class Sections:
    """Rendered sections by commit: a turn whose memory did not change costs one look at the ref."""

    def __init__(self, memory: Memory, *, tokens: int = reports.BUDGET) -> None:
        self._memory = memory
        self._known: dict[_Key, tuple[Told, tuple[Damaged, ...]]] = {}
        self.tokens = tokens

    def of(self, branch: str, class_: QueryClass = QueryClass.GENERAL, session: str = "") -> Told:
        """The section for the branch as it stands now, with what holds for the user everywhere and for this session;
        its text is empty when there is nothing to tell."""
        memory = self._memory
        head, wide = memory.head(branch), None if memory.is_wide else memory.wide.head(MAIN)
        passing = scoped.held(memory, branch, session=session)
        if head is None and wide is None and not passing:
            return Told()
        key = (head, wide, tuple(one.id for one in passing), branch, class_, self.tokens)
        known, damaged = self._known.get(key, (None, ()))
        if known is not None and not damaged:
            return known
        now = self._memory.snapshot(branch)
        if known is not None and damaged == now.damaged:  # what could not be read then cannot be read now
            return known
        told = self._told(branch, now, class_, passing)
        if now.commit == head:
            if len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[key] = told, now.damaged
        return told

    def _told(self, branch: str, now: Snapshot, class_: QueryClass, passing: Sequence[Entry]) -> Told:
        memory, midnight = self._memory, _midnight(self._memory)
        about: tuple[Scored, ...] = ()
        if not memory.is_wide:
            wide = memory.wide
            known = scoring.score_all(wide.snapshot(MAIN), signals.read(wide, MAIN).by_id, midnight)
            about = tuple(one for one in known if one.told)
        beside = ((ABOUT, about), (PASSING, tuple(scoring.score(one, NEW, midnight) for one in passing)))
        scored = scoring.score_all(now, signals.read(memory, branch).by_id, midnight)
        listed = scored
        if memory.settings.lessons == "selective":
            listed = tuple(one for one in scored if not _chosen_by_prompt(one.entry))
        made = reports.report(branch, listed, memory.limits, class_=class_, budget=self.tokens, beside=beside)
        by_id = {one.entry.id: one for one in scored}
        return Told(made.text, len(now), now.characters, made, by_id, promotions_file.waiting(memory, now))


class Turns:
    """The turns of one process. `ask` answers what fits a prompt, within its own time."""

    def __init__(self, memory: Memory, ask: Callable[[Question], Recalled]) -> None:
        self._memory, self._ask = memory, ask
        self.sections = Sections(memory)
        self._started: set[str] = set()  # sessions that got their one message (injection = session-start)

    def start(self, branch: str, prompt: str, session: str = "") -> Turn:
        """What the turn of this prompt is given."""
        settings = self._memory.settings
        class_ = classify(prompt)
        told = self.sections.of(branch, session=session)
        turn = Turn(branch, class_, trivial(prompt), told)
        if settings.injection == "session-start":
            return self._once(turn, session)
        if settings.ephemeral and settings.recall_budget and not turn.trivial:
            turn = self._recalled(turn, prompt, session)
        if settings.ephemeral and class_ is QueryClass.PR_REVIEW:
            turn = self._with_guidelines(turn)
        return _placed(turn, self._in_mode(turn, session))

    def _recalled(self, turn: Turn, prompt: str, session: str) -> Turn:
        from noforgetti.retrieval import context
        from noforgetti.retrieval.ranking import ENTRIES, REPEATED
        from noforgetti.service.recalling import Question

        memory = self._memory
        past = _SESSIONS if memory.settings.past_sessions else 0
        if not turn.told.entries and not past:
            return turn
        found = self._ask(Question(turn.branch, prompt, BIAS[turn.class_].matches, past, session))
        now = memory.snapshot(turn.branch)
        scored = {own: one for own, one in turn.told.scored.items() if one.reason is not scoring.Reason.FORGOTTEN}
        shown = turn.told.report.places if turn.told.report else {}
        worth = [one for one in found.entries if _clear(one, REPEATED if one.entry.id in shown else ENTRIES.floor)]
        beside = context.with_siblings(_tellable(worth), _keyed(now))
        entries = _ordered([one for one in beside if one.entry.id in scored], turn.class_)
        if memory.settings.lessons == "selective":
            entries = self._with_lessons(entries, [entry for entry in now if entry.id in scored], prompt)
        lines = [reports.line_of(scored[one.entry.id]) for one in entries]
        text = context.message(lines, found.sessions, turn.class_)
        if session:  # else it is a command that asks what a turn would be given
            telemetry.record(
                memory,
                {
                    "event": "turn",
                    "branch": turn.branch,
                    "class": turn.class_,
                    "entries": [[one.entry.id, round(one.score, 3)] for one in entries],
                    "sessions": [[one.session, round(one.score, 3)] for one in found.sessions],
                    "left_out": found.left_out,
                    "characters": len(text),
                    "ms": round(found.milliseconds, 1),
                },
            )
        return replace(turn, ephemeral=text, entries=entries, sessions=found.sessions, left_out=found.left_out)

    def _with_guidelines(self, turn: Turn) -> Turn:
        """A reviewer of code is told first what he must not raise again."""
        from noforgetti.retrieval import context
        from noforgetti.service import guidelines

        memory = self._memory
        found = [one.text for one in guidelines.listed(memory, memory.snapshot(turn.branch)) if not one.refusal]
        parts = (context.guidelines(found), turn.ephemeral)
        return replace(turn, ephemeral="\n".join(part for part in parts if part))

    def _with_lessons(self, entries: Sequence[FoundEntry], now: Sequence[Entry], prompt: str) -> tuple[FoundEntry, ...]:
        from noforgetti.retrieval.base import FoundEntry

        memory = self._memory
        lessons = [entry for entry in now if _chosen_by_prompt(entry) and not guards.unsafe(entry.text)]
        chosen = lesson_choice.selective(
            lessons,
            prompt,
            hits=[one.entry.id for one in entries],
            project=memory.project.name,
            keywords={**lesson_choice.KEYWORDS, **memory.settings.lesson_categories},
        )
        seen = {one.entry.id for one in entries}
        more = (FoundEntry(one.entry, 0.0, one.why) for one in chosen if one.entry.id not in seen)
        return (*entries, *more)

    def _in_mode(self, turn: Turn, session: str) -> dict[str, str]:
        """Where the parts go, by the setting `injection`; its costs are in docs/configuration.md."""
        section = turn.told.text
        match self._memory.settings.injection:
            case "system-prompt":
                parts = [fenced(self._for_class(turn, session)), turn.ephemeral]
                return {"section": "", "system_prompt": "\n".join(part for part in parts if part)}
            case "context":
                parts = [fenced(self._for_class(turn, session)), turn.ephemeral]
                return {"section": "", "ephemeral": "\n".join(part for part in parts if part)}
            case _:
                return {"section": section, "ephemeral": turn.ephemeral}

    def _for_class(self, turn: Turn, session: str) -> str:
        """The report in the order of the prompt's class: only where no prefix cache rests on it."""
        return self.sections.of(turn.branch, turn.class_, session).text

    def _once(self, turn: Turn, session: str) -> Turn:
        body = ""
        if session not in self._started:
            body = fenced(reports.fallback(turn.told.scored.values()))
        if body:  # an empty memory does not use the one message up
            self._started.add(session)
        return _placed(turn, {"section": "", "message": body})


def fenced(body: str) -> str:
    """The section between its tags, for the ways in where the host adds none."""
    return f"<{SECTION}>\n{body}\n</{SECTION}>" if body else ""


def _midnight(memory: Memory) -> float:
    """When the day began: whatever is told of a commit stays the same all day, in every process."""
    return scoring.midnight(datetime.fromtimestamp(memory.clock(), UTC).date())


def _placed(turn: Turn, inject: dict[str, str]) -> Turn:
    return replace(turn, inject={key: value for key, value in inject.items() if value or key == "section"})


def _tellable(found: Sequence[FoundEntry]) -> tuple[FoundEntry, ...]:
    return tuple(one for one in found if not one.entry.archived and not guards.unsafe(one.entry.text))


def _clear(found: FoundEntry, least: float) -> bool:
    """Whether it fits well enough by itself, not as one of several. Scores by words alone do not tell."""
    return found.similarity is None or found.score >= least


def _keyed(now: Snapshot) -> tuple[FoundEntry, ...]:
    from noforgetti.retrieval.base import FoundEntry

    return _tellable([FoundEntry(entry, 0.0, "stands beside one that was found") for entry in now if entry.key])


def _ordered(found: Sequence[FoundEntry], class_: QueryClass) -> tuple[FoundEntry, ...]:
    """What the class asks for first; within that, as they were found."""
    return tuple(sorted(found, key=lambda one: one.entry.category not in BIAS[class_].boosts))


def _chosen_by_prompt(entry: Entry) -> bool:
    """A lesson that the setting `lessons = "selective"` keeps out of the stable part: it has a tag other than
    `general`, so it holds for some prompts only."""
    tagged = any(tag.casefold() != "general" for tag in entry.tags)
    return entry.category in (Category.LESSON, Category.MISTAKE) and tagged and not entry.pinned and not entry.enforced
