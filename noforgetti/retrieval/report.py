"""The situation report: what the agent is told of a memory at the start of a turn, within a budget of tokens.

Guaranteed: the estimate of the whole text, headings and notes included, never exceeds the budget; entries are whole or
absent, the least valuable absent first; the same entries, scores, limits and class give the same bytes. Scored at the
midnight of a day (`scoring.midnight`), a report therefore changes with a commit and with the day, and not by itself.
Sections, their order and their budgets are the reference's (memory architecture, situation report; docs/scoring.md).
Ours: what the sections leave of the budget is filled, so that a small memory is told whole.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from noforgetti.model.commit import one_line
from noforgetti.model.entry import Category, Entry, EntryId
from noforgetti.policy import guards
from noforgetti.policy.scoring import DAY, Reason, Scored
from noforgetti.policy.tokens import estimate_tokens, weight
from noforgetti.retrieval.queries import BIAS, QueryClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from noforgetti.policy.capacity import Limits

BUDGET = 1_700  # tokens; this and the next two are the reference's
LEAST = 500
_WINDOW = 8_000  # tokens that system prompt and report may have together
FALLBACK = 8_000  # bytes of the dump once a session, the reference's 8 KB
_FULL = 80  # percent, from which on the header warns
_BOOST = 1.5  # of the budget of a section that the class of the prompt brings forward
_MARKED = 30 * DAY  # age from which on a decision or a completion shows its days
_BESIDE = 200  # tokens of a section beside the branch's: the least that a section of the reference has
_NAMED = 8  # pinned entries without room that are named
_MARGIN = 1.0  # tokens: the whole text is rounded up once
_DRIFT = 1e-6  # tokens by which sums of the same weights may differ

PINNED = "Pinned"
NOTES = """\
Notes from earlier sessions: background, not a request of the user.
Trust them for preferences and conventions; verify anything about files, versions and state.
Where the user or the system says something else now, that counts."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A section of one category. Entries older than `days` go to the section `earlier`, when there is room."""

    title: str
    category: Category
    budget: int  # tokens
    days: int = 0
    earlier: str = ""


_PARTS = (
    _Part("Active Preferences", Category.PREFERENCE, 400),
    _Part("Active Lessons", Category.LESSON, 400),
    _Part("Vetoes & Mistakes", Category.MISTAKE, 200),
    _Part("Patterns", Category.PATTERN, 200),
    _Part("Recent Decisions", Category.DECISION, 200, 7, "Earlier Decisions"),
    _Part("Recent Completions", Category.DONE, 200, 3, "Earlier Completions"),
)
_PART_OF = {part.category: part for part in _PARTS}


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a report. `tokens` is what it costs, its heading included; `budget` is its own, 0 for none."""

    title: str
    entries: tuple[EntryId, ...]
    tokens: int
    budget: int


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of one entry: its section (empty when it is not in the report) and the reason."""

    id: EntryId
    section: str
    why: str


@dataclass(frozen=True, slots=True)
class Report:
    """A report and how it came about. `tokens` is the estimate of `text`; `places` has the section of each entry in it,
    and `scored` all entries, best first."""

    text: str = ""
    tokens: int = 0
    budget: int = BUDGET
    sections: tuple[Section, ...] = ()
    scored: tuple[Scored, ...] = ()
    places: Mapping[EntryId, str] = field(default_factory=dict)

    @property
    def omitted(self) -> tuple[EntryId, ...]:
        """The entries that are not in the report."""
        return tuple(one.entry.id for one in self.scored if one.entry.id not in self.places)

    @property
    def placed(self) -> tuple[Placed, ...]:
        """What became of every entry, and why, best first."""
        return tuple(_placed(one, self.places.get(one.entry.id, "")) for one in self.scored)


def budget(system_prompt: int | None) -> int:
    """Tokens for a report beside a system prompt of that many characters: 500 to 1,700; None when nobody knows."""
    return BUDGET if system_prompt is None else max(LEAST, min(BUDGET, _WINDOW + -system_prompt // 4))


def report(
    branch: str,
    scored: Sequence[Scored],
    limits: Limits,
    *,
    class_: QueryClass = QueryClass.GENERAL,
    budget: int = BUDGET,
    beside: Sequence[tuple[str, Sequence[Scored]]] = (),
) -> Report:
    """The report of a branch whose entries are `scored`, all of them and best first. `beside` are sections of entries
    that are not the branch's, by title; each has 200 tokens. The text is empty when there is nothing to tell, or when
    the budget has no room for the header."""
    stored = sum(len(one.entry.text) for one in scored)
    head = _Head(branch, stored, limits, max(budget, 1), BIAS[class_].hint)
    fixed = weight(head.worst()) + weight(_left_out(len(scored))) + _MARGIN
    if not (scored or any(others for _, others in beside)) or fixed > budget:
        return Report(budget=budget, scored=tuple(scored))
    page = _Page(budget - fixed)
    ranked = sorted(scored, key=lambda one: -one.value)
    for title, others in beside:
        for one in others:
            if not page.put(title, line_of(one), own=_BESIDE):
                break
    _pin(page, [one for one in ranked if one.reason is Reason.PINNED])
    plain = [one for one in ranked if one.reason is not Reason.PINNED]
    for part in (parts := _ordered(class_)):
        own = part.budget * _BOOST if part.category in BIAS[class_].boosts else part.budget
        page.fill((one for one in plain if one.told and _section(one) == part.title), own)
    # Each step ends with the first that does not fit, so that nothing of less value takes its place within the step.
    page.fill(one for one in plain if one.told and _section(one) == _PART_OF[one.entry.category].title)
    page.fill(one for one in plain if one.told)
    page.fill(one for one in plain if one.reason is Reason.CAPPED)
    titles = (
        *(title for title, _ in beside),
        PINNED,
        *(part.title for part in parts),
        *(part.earlier for part in _PARTS if part.earlier),
    )
    body = page.text(titles)
    missing = len(scored) - len(page.places)
    text = head.over(body + ("\n\n" + _left_out(missing) if missing else ""))
    return Report(
        text, estimate_tokens(text), budget, page.sections(titles, class_), tuple(scored), MappingProxyType(page.places)
    )


def fallback(scored: Iterable[Scored], *, cap: int = FALLBACK) -> str:
    """What is told once a session where nothing is told by the turn: whole entries in the order of the reference, at
    most `cap` bytes of UTF-8. Empty when there is nothing to tell."""
    told = [one for one in sorted(scored, key=lambda one: -one.value) if one.told or one.reason is Reason.CAPPED]
    parts = [NOTES]
    room = cap - len(NOTES.encode())
    for title, most, belongs in _DUMP:
        heading = f"\n\n## {title}"
        lines: list[str] = []
        for one in [one for one in told if belongs(one.entry)][:most]:
            line = ("" if lines else heading) + "\n" + line_of(one)
            if len(line.encode()) > room:
                break
            room -= len(line.encode())
            lines.append(line)
        parts += lines
    return "".join(parts) if len(parts) > 1 else ""


def line_of(one: Scored) -> str:
    """An entry as the agent reads it: `- [category] text`. Further lines are indented, so that no entry fakes a bullet
    or a heading. A text that may not be shown is replaced by a note, alone."""
    entry = one.entry
    said = entry.text
    if entry.negative and not _FORBIDS.search(said):
        said = f"don't: {said}"
    if entry.key:
        said = f"{one_line(entry.key.partition('.')[2] or entry.key)}: {said}"
    refusal = guards.unsafe(said)
    if refusal:
        said = f"[entry {entry.id} is hidden: {refusal.rule}]"
    elif entry.category in (Category.DECISION, Category.DONE) and one.age is not None and one.age >= _MARKED:
        said += f" ({int(one.age / DAY)} d ago)"
    first, *others = said.splitlines() or [""]
    return "\n".join((f"- [{entry.category}] {first}", *(f"  {line}" if line.strip() else "" for line in others)))


# Words that say themselves that something is not to be done.
_FORBIDS = re.compile(
    r"\b(?:do not|don['’]t|never|avoid|must not|mustn['’]t|should not|shouldn['’]t|no longer|forbidden"
    r"|nicht|nie|niemals|kein\w*|vermeide\w*|jamais|ne pas|éviter?|nunca|jamás|evitar?|нельзя|никогда)\b"
    r"|不要|不得|禁止|切勿|避免|勿|しない|ないで|금지|마세요",
    re.IGNORECASE,
)


def _keyed(*prefixes: str) -> Callable[[Entry], bool]:
    return lambda entry: entry.key.startswith(prefixes)


def _sort(*categories: Category) -> Callable[[Entry], bool]:
    elsewhere = _keyed("tool.", "user.")
    return lambda entry: entry.category in categories and not elsewhere(entry)


# The dump's sections in the reference's order, and how many entries each may have.
_DUMP: tuple[tuple[str, int, Callable[[Entry], bool]], ...] = (
    ("User Preferences", 50, _sort(Category.PREFERENCE)),
    ("Project Context", 50, _sort(Category.PATTERN, Category.DECISION)),
    ("Tool Preferences", 20, _keyed("tool.")),
    ("Lessons", 50, _sort(Category.LESSON, Category.MISTAKE)),
    ("User", 10, _keyed("user.")),
)


@dataclass(slots=True)
class _Page:
    """What is on the page so far. `room` is in tokens, as `weight` counts them."""

    room: float
    lines: dict[str, list[str]] = field(default_factory=dict)
    places: dict[EntryId, str] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)

    def fill(self, entries: Iterable[Scored], own: float = math.inf) -> None:
        """Put entries on the page until one does not fit, within `own` tokens for each section."""
        for one in entries:
            if one.entry.id not in self.places and not self.put(_section(one), line_of(one), one.entry.id, own):
                return

    def put(self, title: str, line: str, entry: EntryId | None = None, own: float = math.inf) -> bool:
        """One entry, or a note without one, whole; False when there is no room."""
        before = self.cost.get(title, 0.0)
        cost = weight("\n" + line) + (0.0 if before else weight(f"\n\n## {title}"))
        if cost > self.room + _DRIFT or before + cost > own:
            return False
        self.room -= cost
        self.cost[title] = before + cost
        self.lines.setdefault(title, []).append(line)
        if entry is not None:
            self.places[entry] = title
        return True

    def text(self, titles: Iterable[str]) -> str:
        found = (title for title in titles if title in self.lines)
        return "".join(f"\n\n## {title}\n" + "\n".join(self.lines[title]) for title in found)

    def sections(self, titles: Iterable[str], class_: QueryClass) -> tuple[Section, ...]:
        budgets = {part.title: part.budget for part in _PARTS}
        boosted = {_PART_OF[one].title for one in BIAS[class_].boosts}
        return tuple(
            Section(
                title,
                tuple(own for own, place in self.places.items() if place == title),
                math.ceil(self.cost[title]),
                int(budgets.get(title, 0) * (_BOOST if title in boosted else 1)),
            )
            for title in titles
            if title in self.lines
        )


def _pin(page: _Page, pinned: Sequence[Scored]) -> None:
    """All pinned entries; when they do not fit, the best, and a line that names others."""
    shown: list[tuple[Scored, str, float]] = []
    total = weight(f"\n\n## {PINNED}")
    for one in pinned:
        line = line_of(one)
        cost = weight("\n" + line)
        if total + cost > page.room:
            break
        total += cost
        shown.append((one, line, cost))
    note = _pinned_out(pinned[len(shown) :])
    while note and total + weight("\n" + note) > page.room:
        total -= shown.pop()[2] if shown else math.inf
        note = _pinned_out(pinned[len(shown) :]) if total > 0 else ""
    for one, line, _ in shown:
        page.put(PINNED, line, one.entry.id)
    if note:
        page.put(PINNED, note)


def _pinned_out(rest: Sequence[Scored]) -> str:
    if not rest:
        return ""
    named = ", ".join(f"`{one.entry.id}`" for one in rest[:_NAMED])
    more = f" and {len(rest) - _NAMED} more" if len(rest) > _NAMED else ""
    return f"- [pinned, but without room here: {named}{more}]"


def _ordered(class_: QueryClass) -> tuple[_Part, ...]:
    """The sections in base order, those that the class brings forward first."""
    return tuple(sorted(_PARTS, key=lambda part: part.category not in BIAS[class_].boosts))


def _section(one: Scored) -> str:
    part = _PART_OF[one.entry.category]
    return part.earlier if part.days and (one.age or 0.0) > part.days * DAY else part.title


def _left_out(count: int) -> str:
    entries = "1 more entry is" if count == 1 else f"{count:,} more entries are"
    return f"[{entries} not shown here; `noforgetti show` lists them]"


def _placed(one: Scored, section: str) -> Placed:
    wanted = one.told or one.reason is Reason.CAPPED
    return Placed(one.entry.id, section, one.why if section or not wanted else f"no room; {one.why}")


@dataclass(frozen=True, slots=True)
class _Head:
    """The lines above the sections: how full the memory is, and what its word is worth."""

    branch: str
    stored: int
    limits: Limits
    budget: int
    hint: str

    def worst(self) -> str:
        """The longest it can get."""
        return self._lines(self.budget, full=True) + "\n"

    def over(self, body: str) -> str:
        """The header on top of a body. It counts itself: its numbers grow until they are right."""
        used, text = 0, ""
        while (counted := estimate_tokens(text := self._lines(used) + body)) > used:
            used = counted
        return text

    def _lines(self, used: int, *, full: bool = False) -> str:
        percent = used * 100 // self.budget
        told = f"{percent} % full, {used:,} of {self.budget:,} tokens told"
        stored = f"{self.stored:,} of {self.limits.hard:,} characters stored"
        lines = [f"Memory of this project, branch `{self.branch}`: {told}; {stored}."]
        if full or percent >= _FULL or self.stored * 100 >= _FULL * self.limits.hard:
            lines.append("It is nearly full: merge, shorten or remove what is no longer needed.")
        return "\n".join((*lines, NOTES, *((self.hint,) if self.hint else ())))
