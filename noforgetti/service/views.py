"""What faces show, as plain JSON-like documents: the same for `--json`, for people and for hosts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from noforgetti import __version__
from noforgetti.model.entry import MAIN
from noforgetti.policy import guards
from noforgetti.service.memory import Memory
from noforgetti.store.base import FORMAT, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.model.change import Change
    from noforgetti.model.commit import Commit
    from noforgetti.model.entry import CommitId, Entry, Snapshot
    from noforgetti.policy.verdict import Refusal
    from noforgetti.service.branches import Branch
    from noforgetti.service.editing import Edited
    from noforgetti.service.history import Logged
    from noforgetti.service.merging import MergeResult
    from noforgetti.service.reviews import Reviewed
    from noforgetti.service.undo import Undone
    from noforgetti.service.writes import Written
    from noforgetti.store.discovery import Project

Document = dict[str, Any]


def entry_view(entry: Entry) -> Document:
    """One entry. A text that may not be shown (a secret, an order to the model) is replaced and its rule named."""
    refusal = guards.unsafe(entry.text)
    return {
        "id": entry.id,
        "category": entry.category,
        "text": _safe(entry),
        "importance": entry.importance,
        "assessed": bool(entry.assessed),
        "pinned": entry.pinned,
        "enforced": entry.enforced,
        "archived": entry.archived,
        "key": entry.key,
        "created": entry.created,
        "writer": entry.writer,
        "session": entry.session,
        "tags": list(entry.tags),
        "negative": entry.negative,
        "scope": entry.scope,
        **{key: value for key, value in _more_of(entry) if value},
        **({"hidden": refusal.rule} if refusal else {}),
    }


def _more_of(entry: Entry) -> Iterable[tuple[str, Any]]:
    """What few entries have: shown where it is there."""
    yield "task", entry.task
    yield "expires", entry.expires
    yield "confidence", entry.confidence
    yield "supersedes", list(entry.supersedes)
    yield "derived", list(entry.derived)
    yield "informs", list(entry.informs)
    yield "origin", entry.origin


def show_view(branch: str, now: Snapshot) -> Document:
    """The entries of a branch at one commit, and the files that cannot be read as entries."""
    return {
        "branch": branch,
        "head": now.commit,
        "format": now.format,
        "characters": now.characters,
        "entries": [entry_view(entry) for entry in now],
        "damaged": [{"path": one.path, "reason": one.reason} for one in now.damaged],
    }


def shown_view(memory: Memory, branch: str, now: Snapshot, *, session: str = "") -> Document:
    """The entries of a branch, with those of the user-wide memory and those of this session and its tasks."""
    from noforgetti.service import scoped

    doc = show_view(branch, now)
    if not memory.is_wide:
        doc["user"] = [entry_view(entry) for entry in memory.wide.snapshot(MAIN)]
        doc["scoped"] = [entry_view(entry) for entry in scoped.held(memory, branch, session=session)]
    return doc


def status_view(memory: Memory, branch: str, *, embedding: Document | None = None) -> Document:
    """Where the memory is, how full it is, what review is doing and what is degraded. `embedding` is what a resident
    process knows of its own; without it the settings and the disk are looked at."""
    from noforgetti.service import signals
    from noforgetti.service.embedding import Embedding
    from noforgetti.service.index_state import index_state

    now = memory.snapshot(branch)
    limits = memory.limits
    degraded = [f"`{one.path}` {one.reason}" for one in now.damaged]
    facts = memory.facts(now)
    hidden = facts.hidden
    degraded += [f"entry `{one}` is hidden: its text may not be shown" for one in hidden]
    if now.format != FORMAT:
        degraded.append(f"format `{now.format}` is newer than this version writes: reading only")
    degraded += [f"unknown setting `{one}`" for one in memory.settings.unknown]
    embedding = embedding or Embedding(memory.settings.embedding, memory.places, os.environ).view()
    degraded += [one for one in (signals.read(memory, branch).reason, *embedding["notes"]) if one]
    if embedding["reason"]:
        degraded.append(f"search goes by words alone: {embedding['reason']} {embedding['hint']}.")
    index = index_state(memory)
    if index["state"] == "damaged":
        degraded.append("the index of past sessions cannot be read; the next search begins it anew")
    waiting, skills = _promoted(memory, branch, now, degraded)
    return {
        "version": __version__,
        "project": project_view(memory),
        "branch": branch,
        "head": now.commit,
        "entries": facts.entries,
        "characters": facts.characters,
        "limits": {"entry": limits.entry, "goal": limits.goal, "target": limits.target, "hard": limits.hard},
        "review": review_view(memory, branch),
        "user": _user_view(memory),
        "index": index,
        "embedding": embedding,
        "hidden": len(hidden),
        "promotions": waiting,
        "skills": skills,
        "degraded": degraded,
        "traces": memory.state.traces() if memory.exists else [],
        "notes": notes(memory, now),
    }


def _promoted(memory: Memory, branch: str, now: Snapshot, degraded: list[str]) -> tuple[int, int]:
    """Open promotions and offered skills of the branch; what is wrong with others is added to `degraded`."""
    if not any(path == "promotions.md" or path.startswith("skills/") for path in now.files):
        return 0, 0
    from noforgetti.service import promotions_file, skills

    known = promotions_file.queue(memory, now)
    degraded += [f"block {own} of promotions.md cannot be read" for own in known.broken]
    found = skills.listed(memory, branch)
    degraded += [f"skill `{one.name}` is not offered: {one.refusal.message}" for one in found if one.refusal]
    return promotions_file.waiting(memory, now), sum(one.refusal is None for one in found)


def _user_view(memory: Memory) -> Document:
    """The user-wide memory: what holds in every project."""
    wide = memory.wide
    now = wide.snapshot(MAIN)
    return {"repository": wide.path, "head": now.commit, "entries": len(now), "characters": now.characters}


def project_view(memory: Memory) -> Document:
    """The project and its repository; what it belongs to, when it is a worktree or a submodule. The user-wide memory
    has no root and no key."""
    project = memory.project
    found: Document = {
        "root": project.root,
        "key": "" if memory.is_wide else project.key,
        "name": memory.name if memory.is_wide else project.name,
        "kind": project.kind,
        "repository": memory.path,
    }
    found["exists"] = memory.exists
    if project.worktree_of:
        found["worktree_of"] = project.worktree_of
    if project.superproject:
        found["superproject"] = project.superproject
    return found


def review_view(memory: Memory, branch: str) -> Document:
    """Whether reviews run, by whom, and how the last one went."""
    settings = memory.settings.review
    found: Document = {
        "mode": "auto" if settings.enabled else "off",
        "reviewer": settings.reviewer,
        "state": "idle",
    }
    if not memory.exists:
        return found
    from noforgetti.service.cadence import cadence_view

    found.update(cadence_view(memory, branch))
    found["last"] = memory.state.last_account(branch)
    return found


def notes(memory: Memory, now: Snapshot) -> list[str]:
    """What a user with an empty memory should know: that the project is new, and which memory may be meant instead."""
    if len(now) or now.damaged:
        return []
    if memory.is_wide:
        return ["nothing is remembered yet of the user"]
    found = ["new project: nothing is remembered yet"]
    if not memory.exists:
        found += _orphan_notes(memory)
    parent = memory.project.superproject or memory.project.worktree_of
    if parent and memory.project.checkout == memory.project.root:
        found += _parent_note(memory, parent)
    return found


def _orphan_notes(memory: Memory) -> list[str]:
    """A project that was moved or renamed looks new: say which memory may be its own."""
    from noforgetti.service.registry import orphans

    name = project_name(memory.project)
    return [
        f"the memory of `{one.root}` has lost its project;"
        f" if it is this one, `noforgetti relink {one.key}` brings it here"
        for one in orphans(memory.places, name)[:3]
    ]


def _parent_note(memory: Memory, parent: str) -> list[str]:
    from noforgetti.store.discovery import discover

    try:
        other = Memory(discover(parent), memory.places, memory.settings, clock=memory.clock)
        count = len(other.snapshot("main"))
    except Unreadable:
        return []
    what, setting = ("superproject", "submodules") if memory.project.superproject else ("main checkout", "worktrees")
    if not count:
        return []
    return [f'the {what} `{parent}` has {count} entries of its own; `{setting} = "shared"` in the settings shares them']


def written_view(written: Written) -> Document:
    """The outcome of a direct write."""
    return {
        "outcome": written.outcome,
        "branch": written.branch,
        "commit": written.commit,
        "entry": entry_view(written.entry) if written.entry else None,
        **refusal_view(written.refusal),
        "warnings": list(written.warnings),
        "scope": written.scope,
        "evidence": written.evidence,
        "conflicts": [{"id": one.id, "text": _safe(one), "pinned": one.pinned} for one in written.conflicts],
        "superseded": [{"id": one.id, "text": _safe(one)} for one in written.superseded],
        "similar": [{"id": one.id, "text": _safe(one)} for one in written.similar],
    }


def refusal_view(refusal: Refusal | None) -> Document:
    """Why something was refused and what to do instead; all None when it was not."""
    if refusal is None:
        return {"reason": None, "rule": None, "hint": None}
    return {"reason": refusal.message, "rule": refusal.rule, "hint": refusal.hint}


def refused_view(refusal: Refusal) -> Document:
    """A command that was refused."""
    return {"outcome": "refused", **refusal_view(refusal)}


def branches_view(branches: Iterable[Branch]) -> Document:
    """All branches."""
    return {
        "branches": [
            {"name": one.name, "head": one.head, "entries": one.entries, "current": one.current} for one in branches
        ]
    }


def forked_view(source: str, made: Branch) -> Document:
    """A branch that was created."""
    return {"outcome": "forked", "branch": made.name, "from": source, "head": made.head, "entries": made.entries}


def change_view(change: Change) -> Document:
    """What happened to one entry."""
    before, after = change.before, change.after
    kind = {"+": "add", "-": "remove", "~": "replace"}[change.sign]
    if before and after and before.text == after.text:
        kind = "assess" if before.importance != after.importance else "change"
    return {
        "operation": kind,
        "id": change.id,
        "text": _safe(after) if after else None,
        "before": _safe(before) if before else None,
        "importance": change.entry.importance,
    }


def logged_view(logged: Logged) -> Document:
    """One commit with what it did."""
    commit = logged.commit
    return {
        "commit": commit.id,
        "kind": commit.kind,
        "time": commit.time,
        "author": commit.author.name,
        "subject": commit.subject,
        "operations": [change_view(change) for change in logged.changes],
        "trailers": _trailers(commit.trailers),
        "parents": list(commit.parents),
    }


def _trailers(trailers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Trailers by name; the values of a repeated one are lines."""
    found: dict[str, str] = {}
    for key, value in trailers:
        found[key] = f"{found[key]}\n{value}" if key in found else value
    return found


def undone_view(undone: Undone) -> Document:
    """The outcome of an undo or redo."""
    refusal: Refusal | None = undone.refusal
    return {
        "outcome": undone.outcome,
        "branch": undone.branch,
        "redoes" if undone.again else "undoes": undone.target.id if undone.target else None,
        "subject": undone.target.subject if undone.target else None,
        "commit": undone.commit,
        "entries": list(undone.entries),
        "already": list(undone.already),
        "conflicts": [{"id": one.id, "commit": one.commit} for one in undone.conflicts],
        "operations": [change_view(change) for change in undone.changes],
        "reason": refusal.message if refusal else undone.reason or None,
        "hint": refusal.hint if refusal else None,
    }


def edited_view(edited: Edited) -> Document:
    """The outcome of editing a branch as one document."""
    return {
        "outcome": edited.outcome,
        "branch": edited.branch,
        "commit": edited.commit,
        "operations": [change_view(change) for change in edited.changes],
        **refusal_view(edited.refusal),
    }


def merged_view(merged: MergeResult) -> Document:
    """The outcome of a merge."""
    refusal = merged.refusal
    reason = refusal.message if refusal else None
    if merged.outcome == "halted" and not refusal:
        many = len(merged.conflicts)
        reason = f"Both branches changed {many} {'entry' if many == 1 else 'entries'}. Nothing was written."
    return {
        "outcome": merged.outcome,
        "branch": merged.branch,
        "source": merged.source,
        "commit": merged.commit,
        "operations": [change_view(change) for change in merged.changes],
        "conflicts": [{"id": one} for one in merged.conflicts],
        "clashes": [{"id": one, "with": other} for one, other in merged.clashes],
        "reason": reason,
        "hint": refusal.hint
        if refusal
        else "choose a side with --ours or --theirs"
        if merged.outcome == "halted"
        else None,
    }


def reviewed_view(windows: list[Reviewed], source: str) -> Document:
    """The outcome of a review over one or more windows."""
    last = windows[-1]
    commits = [one.commit for one in windows if one.commit]
    operations = [change_view(change) for one in windows for change in one.changes]
    refused = [left for one in windows if one.result for left in one.result.refused]
    return {
        "outcome": "applied" if commits and last.outcome in ("no-change", "nothing") else last.outcome,
        "branch": last.branch,
        "transcript": source,
        "reviewer": next((one.result.reviewer for one in windows if one.result), None),
        "commit": commits[-1] if commits else None,
        "commits": commits,
        "windows": sum(1 for one in windows if one.result),
        "operations": operations,
        "refused": [{"action": one.action, "rule": one.refusal.rule, "reason": one.refusal.message} for one in refused],
        "reason": last.reason or None,
        "hint": last.hint or None,
    }


def blame_view(entry: Entry, commit: Commit) -> Document:
    """Where an entry's present form comes from: the commit, who made it, and the evidence it rests on."""
    rests = [
        line.partition(" ")[2] for key, line in commit.trailers if key == "Evidence" and line.split()[:1] == [entry.id]
    ]
    return {
        **entry_view(entry),
        "commit": commit.id,
        "time": commit.time,
        "kind": commit.kind,
        "author": commit.author.name,
        "subject": commit.subject,
        "session": commit.trailer("Session") or entry.session,
        "window": commit.trailer("Window"),
        "reviewer": commit.trailer("Reviewer"),
        "evidence": " ".join(rests).split(),
    }


def diff_view(one: CommitId, other: CommitId, changes: Iterable[Change]) -> Document:
    """What differs between two commits."""
    return {"from": one, "to": other, "operations": [change_view(change) for change in changes]}


def project_name(project: Project) -> str:
    """What people call the project."""
    return project.root.rpartition("/")[2] or project.root


def _safe(entry: Entry) -> str:
    refusal = guards.unsafe(entry.text)
    return f"[hidden: {refusal.message}]" if refusal else entry.text
