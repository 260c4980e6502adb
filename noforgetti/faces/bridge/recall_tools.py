"""The agent's tools that find: memories, past sessions, lessons, and how the search is doing."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from noforgetti.faces import found as text
from noforgetti.faces import promoted
from noforgetti.faces.arguments import ToolAnswer, misused, number, word
from noforgetti.model.entry import Category, Writer
from noforgetti.policy import addressing
from noforgetti.service.found_views import found_entries_view, found_sessions_view, lessons_view, stats_view

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory
    from noforgetti.service.recall import Recall

_DECIDES = "the user decides that with `/memory promotions`"


def memory_search(recall: Recall, branch: str, arguments: dict[str, Any], session: str) -> ToolAnswer:
    """Search the entries of the branch, archived and faded ones too."""
    del session
    query = word(arguments, "query")
    if not query:
        return misused("`query` is missing: say in words what you want to know.")
    category = word(arguments, "category")
    if category is not None and category not in list(Category):
        return misused(f"`category` is {category!r}; it must be one of {', '.join(Category)}.")
    found = recall.entries(
        branch, query, limit=number(arguments, "limit", 10, 50), category=Category(category) if category else None
    )
    doc = found_entries_view(branch, query, found, recall)
    return ToolAnswer(text.hits(doc), details=doc)


def session_search(recall: Recall, branch: str, arguments: dict[str, Any], session: str) -> ToolAnswer:
    """Search the project's earlier sessions; the one that asks is left out."""
    del branch
    query = word(arguments, "query")
    if not query:
        return misused("`query` is missing: say in words what you want to know.")
    found = recall.sessions(query, limit=number(arguments, "limit", 5, 20), current=session)
    doc = found_sessions_view(query, found, recall)
    return ToolAnswer(text.sessions(doc), details=doc)


def memory_lessons(recall: Recall, branch: str, arguments: dict[str, Any], session: str) -> ToolAnswer:
    """List lessons, newest first."""
    del session
    doc = lessons_view(
        branch,
        recall.memory.snapshot(branch),
        tag=word(arguments, "category") or "",
        limit=number(arguments, "limit", 50, 200),
    )
    return ToolAnswer(text.lessons(doc), details=doc)


def memory_stats(recall: Recall, branch: str, arguments: dict[str, Any], session: str) -> ToolAnswer:
    """Counts, and how the search is doing."""
    del arguments, session
    try:
        doc = stats_view(recall, branch)
    except sqlite3.Error as error:  # the index was torn or closed to us a moment ago; whoever keeps it up mends it
        return ToolAnswer(f"The index cannot be counted right now ({error}). Ask again.", error=True)
    return ToolAnswer(text.stats(doc), details=doc)


def memory_reinforce(recall: Recall, branch: str, arguments: dict[str, Any], session: str) -> ToolAnswer:
    """Count one more piece of evidence for an entry."""
    from noforgetti.model.entry import Damaged
    from noforgetti.policy.verdict import Refusal
    from noforgetti.service.promotion_views import passed_view
    from noforgetti.service.promotions import after_reinforcement
    from noforgetti.service.signals import reinforce

    memory: Memory = recall.memory
    old = word(arguments, "id", "entryText", "text")
    if not old:
        return misused("`id` is missing: the id of an entry, or text that occurs in exactly one entry.")
    found = addressing.find(memory.snapshot(branch), old)
    if isinstance(found, Refusal):
        return ToolAnswer(f"{found.message} {found.hint}", error=True, details={"outcome": "refused"})
    if isinstance(found, Damaged):
        return ToolAnswer(f"`{found.path}` cannot be read as an entry.", error=True, details={"outcome": "refused"})
    done = reinforce(memory, branch, [found.entry.id], by=Writer.AGENT, session=session)
    evidence = done.signals[found.entry.id].evidence
    passed = passed_view(after_reinforcement(memory, branch, [found.entry.id], by=Writer.AGENT, session=session))
    doc = {
        "outcome": "reinforced",
        "entry": found.entry.id,
        "evidence": evidence,
        "commit": done.commit,
        "promotions": passed,
    }
    lines = [f"Reinforced `{found.entry.id}`: evidence {evidence}.", *promoted.passed(passed, decide=_DECIDES)]
    return ToolAnswer("\n".join(lines), details=doc)


TOOLS = {
    "memory_search": memory_search,
    "session_search": session_search,
    "memory_lessons": memory_lessons,
    "memory_stats": memory_stats,
    "memory_reinforce": memory_reinforce,
}
