"""Values with defaults, and doubles for what review is handed: guards, entry factory, models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from noforgetti.model.entry import MAIN, BranchName, Category, Entry, EntryId, Importance
from noforgetti.model.evidence import Item, Position, Role, Section, Transcript, Window
from noforgetti.policy.capacity import Limits
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.review import reviewer as reviewing
from noforgetti.review.reviewer import Completion, Result, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

NOW = "2026-12-01T12:00:00Z"
NONCE = "5f0c2a9d"


def entry(text: str = "Use tabs.", own: str = "", **fields: Any) -> Entry:
    return Entry(EntryId(own or text.split(maxsplit=1)[0].lower().strip(".")), text, **fields)


def state(*entries: Entry) -> dict[EntryId, Entry]:
    return {one.id: one for one in entries}


def item(text: str, role: Role = Role.USER, own: str = "", branch: BranchName = MAIN, at: str = "") -> Item:
    return Item(own or f"i{abs(hash(text)) % 10**8}", role, text, at, branch)


def transcript(*items: Item | str) -> Transcript:
    """Strings are user messages; ids are `i1`, `i2`, … in order."""
    made = []
    for number, one in enumerate(items, 1):
        given = item(one) if isinstance(one, str) else one
        made.append(Item(f"i{number}", given.role, given.text, given.at, given.branch))
    return Transcript("s1", tuple(made), ("s1",))


def window(*texts: str, role: Role = Role.USER, at: str = "") -> Window:
    sections = tuple(Section(f"e{n}", role, text, f"i{n}", at) for n, text in enumerate(texts or ("hello",), 1))
    return Window(
        "s1",
        sections,
        Position(sections[0].item),
        Position(sections[-1].item),
        turns=len(sections),
        characters=sum(len(section.text) for section in sections),
    )


def keep(text: str) -> tuple[str, int]:
    """A redaction that finds nothing."""
    return text, 0


def check(text: str, /, *, limit: int, automatic: bool, documents: Sequence[tuple[str, str]] = ()) -> str | Refusal:
    """Guards in miniature: trims, refuses what is too long and what says BAD."""
    assert automatic
    text = text.strip()
    if len(text) > limit:
        return Refusal(Rule.TOO_LONG, f"The text has {len(text):,} characters, at most {limit:,} fit.")
    if "BAD" in text or any(text == known for _, known in documents):
        return Refusal(Rule.SECRET, "The text looks like a secret.")
    return text


def new_entry(text: str, *, category: Category, importance: Importance, at: str) -> Entry:
    return Entry(EntryId(f"new-{text.lower().replace(' ', '-')[:12]}"), text, category, importance, created=at)


@dataclass
class Scripted:
    """A model that answers from a list, or by a function of the prompt, and remembers what it was sent."""

    answers: Iterable[str] | Callable[[str], str]
    name: str = "scripted"
    sent: list[str] = field(default_factory=list)
    truncated: bool = False

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        self.sent.append(f"{system}\n{prompt}")
        if callable(self.answers):
            return Completion(self.answers(prompt), Usage(10, 5), self.truncated)
        self.answers = iter(self.answers)
        return Completion(next(self.answers), Usage(10, 5), self.truncated)


def run(reviewer: Any, seen: Window | None = None, *entries: Entry, **more: Any) -> Result:
    options: dict[str, Any] = {
        "limits": Limits(),
        "check": check,
        "new_entry": new_entry,
        "now": NOW,
        "nonce": NONCE,
        **more,
    }
    return reviewing.run_review(reviewer, seen or window(), state(*entries), **options)
