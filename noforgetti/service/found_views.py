"""What was found, as plain JSON-like documents: the same for `--json`, for people and for hosts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from noforgetti.model.entry import Category
from noforgetti.service.views import entry_view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.model.entry import Snapshot
    from noforgetti.retrieval.base import FoundEntry, FoundSession
    from noforgetti.service.memory import Memory
    from noforgetti.service.recall import Recall
    from noforgetti.service.turns import Turn

Document = dict[str, Any]


def found_entries_view(branch: str, query: str, found: Iterable[FoundEntry], recall: Recall) -> Document:
    """The hits of `search`, best first."""
    return {"branch": branch, "query": query, "hits": [hit_view(one) for one in found], "search": search_view(recall)}


def hit_view(found: FoundEntry) -> Document:
    """One entry, how well it fits and by what it was found."""
    return {
        **entry_view(found.entry),
        "score": round(found.score, 4),
        "why": found.why,
        "similarity": None if found.similarity is None else round(found.similarity, 4),
    }


def found_sessions_view(query: str, found: Iterable[FoundSession], recall: Recall) -> Document:
    """The hits of `sessions`, best first."""
    hits = [session_view(one) for one in found]
    return {"query": query, "hits": hits, "search": search_view(recall), "notes": list(recall.past_notes())}


def session_view(found: FoundSession) -> Document:
    """One past session, and its pieces that fit best."""
    return {
        "id": found.session,
        "name": found.name,
        "time": found.at,
        "text": "\n\n".join(found.pieces),
        "score": round(found.score, 4),
        "why": found.why,
        "file": found.file,
    }


def search_view(recall: Recall) -> Document:
    """Whether search goes by meaning too, and if not, why and what to do."""
    state = recall.embedding.view()
    mode = "hybrid" if state["state"] == "ready" else "keyword"
    return {"mode": mode, **{key: state.get(key) for key in ("model", "reason", "hint")}}


def turn_view(memory: Memory, prompt: str, turn: Turn, recall: Recall) -> Document:
    """What a turn would be given, and why."""
    made = turn.told.report
    return {
        "branch": turn.branch,
        "head": memory.head(turn.branch),
        "injection": memory.settings.injection,
        "prompt": prompt,
        "class": turn.class_,
        "trivial": turn.trivial,
        "inject": turn.inject,
        "tokens": made.tokens if made else 0,
        "budget": made.budget if made else 0,
        "entries": [
            {"id": one.id, "section": one.section, "told": bool(one.section), "why": one.why}
            for one in (made.placed if made else ())
        ],
        "memories": [hit_view(one) for one in turn.entries],
        "sessions": [session_view(one) for one in turn.sessions],
        "left_out": list(turn.left_out),
        "search": search_view(recall),
    }


def lessons_view(branch: str, now: Snapshot, *, tag: str = "", limit: int = 50) -> Document:
    """Lessons and mistakes, newest first; `tag` keeps those that carry it, `general` those that carry none."""
    wanted = tag.strip().casefold()
    lessons = [
        entry
        for entry in now
        if entry.category in (Category.LESSON, Category.MISTAKE)
        and not entry.archived
        and (not wanted or wanted in ({one.casefold() for one in entry.tags} or {"general"}))
    ]
    lessons.sort(key=lambda entry: (entry.created, entry.id), reverse=True)
    shown = [{**entry_view(entry), "negative": entry.negative} for entry in lessons[:limit]]
    return {"branch": branch, "category": tag, "lessons": shown, "more": max(0, len(lessons) - limit)}


def stats_view(recall: Recall, branch: str) -> Document:
    """How much there is, what of it is told, and how the search is doing."""
    memory = recall.memory
    now = memory.snapshot(branch)
    entries = [entry for entry in now if not entry.archived]
    return {
        "branch": branch,
        "repository": memory.path,
        "entries": len(entries),
        "archived": len(now) - len(entries),
        "categories": dict(Counter(str(entry.category) for entry in entries)),
        "keyed": sum(1 for entry in entries if entry.key),
        "characters": now.characters,
        "hard": memory.limits.hard,
        "search": search_view(recall),
        **index_view(recall, branch),
    }


def index_view(recall: Recall, branch: str) -> Document:
    """What is indexed and what has a vector."""
    vectors = recall.vectors
    corpus = recall.corpus(branch)
    past = recall.past_corpus
    done = corpus.embedded(vectors)[0] if vectors else 0
    done_past = past.embedded(vectors)[0] if vectors else 0
    return {
        "index": {
            "state": "degraded" if past.trouble else "ready",
            "entries": len(corpus),
            "sessions": len(past.group_names()),
            "passages": len(past),
            "reason": past.trouble,
        },
        "embedding": {
            **recall.embedding.view(),
            "entries": done,
            "passages": done_past,
            "trouble": vectors.trouble if vectors else "",
        },
    }
