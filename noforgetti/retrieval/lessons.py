"""Selective lessons: those that this prompt, this project and this sort of work ask for, and the general ones.

The order and the numbers are the reference's (pi-memory, lesson filtering). Its third filter, categories inferred from
the prompt, is described there and was never written; the table is ours, and a user's configuration may add to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from noforgetti.model.entry import Entry, EntryId

MOST = 15  # lessons in all, and found by the prompt
_OF_PROJECT = 5
_GENERAL = 10
GENERAL = "general"  # the tag of a lesson that holds everywhere, as if it had none
_LETTERS = "A-Za-z0-9\u00c0-\u052f"  # Latin, Greek, Cyrillic; Chinese and Japanese words have no edges
_LOOKED_AT = 20_000  # characters of a prompt; what follows is a pasted log or file

# Words that a prompt begins a word with, and the tags that they bring in.
KEYWORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("pentest", "exploit", "cve", "vulnerab", "xss", "sqli"), ("bug-bounty", "security")),
        **dict.fromkeys(("blog post", "article", "draft", "essay", "newsletter"), ("writing",)),
        **dict.fromkeys(("deploy", "release", "rollout"), ("deploy", "release")),
        **dict.fromkeys(("test", "flaky", "coverage"), ("testing",)),
        **dict.fromkeys(("wiki", "docs", "readme"), ("docs", "wiki-edit")),
        **dict.fromkeys(("vault", "obsidian", "daily note"), ("vault",)),
        **dict.fromkeys(("css", "layout", "component"), ("frontend",)),
        **dict.fromkeys(("sql", "migration", "schema"), ("database",)),
        **dict.fromkeys(("docker", "container", "k8s"), ("containers",)),
        **dict.fromkeys(("commit", "branch", "rebase", "merge"), ("git",)),
    }
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A lesson and why it was chosen."""

    entry: Entry
    why: str


def selective(
    lessons: Sequence[Entry],
    prompt: str,
    *,
    hits: Iterable[EntryId] = (),
    project: str = "",
    keywords: Mapping[str, Sequence[str]] = KEYWORDS,
) -> tuple[Chosen, ...]:
    """At most 15 of the `lessons`, each once: found by the prompt (`hits`, best first), naming the project, of a tag
    that the prompt speaks of, general. Within each sort the order of `lessons` stays."""
    prompt = prompt[:_LOOKED_AT]
    chosen: dict[EntryId, Chosen] = {}
    for entry, why in (
        *_found(lessons, hits),
        *islice(_of_project(lessons, project), _OF_PROJECT),
        *_inferred(lessons, prompt, keywords),
        *islice(_general(lessons), _GENERAL),
    ):
        chosen.setdefault(entry.id, Chosen(entry, why))
    return tuple(islice(chosen.values(), MOST))


def inferred(prompt: str, tags: Iterable[str], keywords: Mapping[str, Sequence[str]] = KEYWORDS) -> dict[str, str]:
    """The tags that a prompt speaks of, in small letters, each with the word that says so: by the table, and every one
    of `tags` that is itself a word of the prompt."""
    found: dict[str, str] = {}
    for keyword, brought in keywords.items():
        if keyword.strip() and _begins(keyword).search(prompt):
            for tag in brought:
                found.setdefault(tag.casefold(), keyword)
    for tag in tags:
        if _whole(tag, prompt):
            found.setdefault(tag.casefold(), tag)
    return found


def _found(lessons: Sequence[Entry], hits: Iterable[EntryId]) -> Iterator[tuple[Entry, str]]:
    by_id = {entry.id: entry for entry in lessons}
    return ((by_id[one], "found by the prompt") for one in islice(hits, MOST) if one in by_id)


def _of_project(lessons: Sequence[Entry], project: str) -> Iterator[tuple[Entry, str]]:
    if len(project) < 2:  # one letter names nothing
        return iter(())
    named = (entry for entry in lessons if any(_whole(project, said) for said in (entry.text, *entry.tags)))
    return ((entry, f"names the project `{project}`") for entry in named)


def _inferred(
    lessons: Sequence[Entry], prompt: str, keywords: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Entry, str]]:
    wanted = inferred(prompt, dict.fromkeys(tag for entry in lessons for tag in entry.tags), keywords)
    wanted.pop(GENERAL, None)
    for entry in lessons:
        tag = next((tag for tag in entry.tags if tag.casefold() in wanted), None)
        if tag is not None:
            yield entry, f"the prompt says `{wanted[tag.casefold()]}`, its tag is `{tag}`"


def _general(lessons: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
    return (
        (entry, "general")
        for entry in lessons
        if not entry.tags or any(tag.casefold() == GENERAL for tag in entry.tags)
    )


def _whole(name: str, text: str) -> bool:
    """True when `name` stands in the text as a word; blanks, hyphens and underscores in it are one and the same."""
    parts = [re.escape(part) for part in re.split(r"[\s_-]+", name) if part]
    return bool(parts) and bool(_bounded("[ _-]".join(parts), start=name, end=name).search(text))


def _begins(keyword: str) -> re.Pattern[str]:
    """The keyword at the start of a word."""
    return _bounded(r"\s+".join(re.escape(word) for word in keyword.split()), start=keyword)


def _bounded(pattern: str, *, start: str, end: str = "") -> re.Pattern[str]:
    """The pattern between edges of words, where its own first and last letters are of an alphabet that has edges."""
    before = f"(?<![{_LETTERS}])" if re.match(f"[{_LETTERS}]", start.strip()) else ""
    after = f"(?![{_LETTERS}])" if re.search(f"[{_LETTERS}]$", end.strip()) else ""
    return re.compile(before + pattern + after, re.IGNORECASE)
