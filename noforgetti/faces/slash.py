"""`/memory …`: what the user types in a host, answered as text."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.faces import text

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.model.entry import BranchName
    from noforgetti.service.embedding import Embedding
    from noforgetti.service.memory import Memory
    from noforgetti.service.recall import Recall

_CANDIDATES = "candidates [accept|discard ID]"
_PROMOTIONS = "promotions [all | show|accept|reject|undo ID]"
_SKILLS = "skills [all | show|delete|undo NAME]"
_LOGGED = 10  # commits that `/memory log` shows; the command line shows all


class BadWords(NoForgettiError):
    """The words after `/memory` are none of the commands."""

    kind = Kind.USER
    reason = "usage"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user reads; `branch` is set when the session selects another one; `review` and `dream` when one
    was asked for."""

    text: str
    level: str = "info"
    branch: BranchName | None = None
    review: bool = False
    dream: bool = False


@dataclass(frozen=True, slots=True)
class Here:
    """Where a line is typed. `recall` opens the search when it is asked for."""

    memory: Memory
    branch: BranchName
    recall: Callable[[], Recall]
    embedding: Embedding


@dataclass(frozen=True, slots=True)
class Word:
    """One subcommand: how it is written, what it does, and what it completes."""

    usage: str
    help: str
    act: Callable[[Here, list[str]], Answer]
    least: int = 0
    most: int = 0


def answer(here: Here, line: str) -> Answer:
    """Carry out one line. Raises what the use cases raise, and `BadWords`."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    name, *rest = words or ["status"]
    word = WORDS.get("show" if name == "list" else name)
    if word is None:
        raise BadWords(f"`/memory {name[:40]}` is no command.", hint="one of: " + ", ".join(WORDS))
    if not word.least <= len(rest) <= (word.most or len(rest)) or (word.most == 0 and rest):
        raise BadWords(f"`/memory {name}` is written `/memory {word.usage}`.", hint="try it with those words")
    return word.act(here, rest)


def completions(memory: Memory, branch: BranchName, prefix: str) -> list[dict[str, str]]:
    """What may follow; nothing when the argument is complete, so that Enter submits."""
    name, space, rest = prefix.partition(" ")
    if not space:
        found = [(one, word.help) for one, word in WORDS.items() if one.startswith(name) and one != name]
        return [{"value": one, "label": one, "description": told} for one, told in found]
    if name in ("promotions", "skills"):
        return _promoted(memory, branch, name, rest)
    if name not in ("use", "merge", "diff") or " " in rest:
        return []
    names = [one for one in memory.heads() if one.startswith(rest) and one != rest and (name == "use" or one != branch)]
    return [{"value": f"{name} {one}", "label": one, "description": "memory branch"} for one in names]


def _promoted(memory: Memory, branch: BranchName, name: str, rest: str) -> list[dict[str, str]]:
    """Completions of what follows `promotions ` or `skills `: what can be done, then with which one."""
    from noforgetti.service import promotions, skills
    from noforgetti.service.promotion_views import promotion_view

    act, space, own = rest.partition(" ")
    if not space:
        acts = (
            ("all", "show", "accept", "reject", "undo") if name == "promotions" else ("all", "show", "delete", "undo")
        )
        return [
            {"value": f"{name} {one}", "label": one, "description": ""}
            for one in acts
            if one.startswith(act) and one != act
        ]
    if name == "promotions":
        wanted = [
            (one.id, str(promotion_view(one)["text"]))
            for one in promotions.queue(memory, branch)
            if one.open or act in ("show", "undo")
        ]
    else:
        wanted = [(one.name, one.description) for one in skills.listed(memory, branch)]
    return [
        {"value": f"{name} {act} {one}", "label": one, "description": text.clip(told)}
        for one, told in wanted
        if one.startswith(own) and one != own
    ]


def _status(here: Here, _: list[str]) -> Answer:
    from noforgetti.service.views import status_view

    doc = status_view(here.memory, here.branch, embedding=here.embedding.view())
    return Answer(text.status(doc), "warning" if doc["degraded"] else "info")


def _show(here: Here, _: list[str]) -> Answer:
    from noforgetti.service.views import shown_view

    return Answer(text.show(shown_view(here.memory, here.branch, here.memory.snapshot(here.branch))))


def _branches(here: Here, _: list[str]) -> Answer:
    from noforgetti.service.branches import listed
    from noforgetti.service.views import branches_view

    return Answer(text.branches(branches_view(listed(here.memory, here.branch))))


def _fork(here: Here, words: list[str]) -> Answer:
    from noforgetti.service.branches import fork

    made = fork(here.memory, here.branch, words[0])
    return Answer(f"Forked `{made.name}` from `{here.branch}`; this session uses it now.", branch=made.name)


def _use(here: Here, words: list[str]) -> Answer:
    from noforgetti.service.branches import use

    chosen = use(here.memory, words[0])
    return Answer(f"This session uses memory branch `{chosen}` now.", branch=chosen)


def _undo(here: Here, words: list[str]) -> Answer:
    from noforgetti.service.undo import undo

    return _undone(here, words, undo)


def _redo(here: Here, words: list[str]) -> Answer:
    from noforgetti.service.undo import redo

    return _undone(here, words, redo)


def _undone(here: Here, words: list[str], act: Callable[..., object]) -> Answer:
    from noforgetti.service.history import resolve
    from noforgetti.service.undo import Undone
    from noforgetti.service.views import undone_view

    dry_run = "--dry-run" in words
    revisions = [word for word in words if word != "--dry-run"]
    target = resolve(here.memory, here.branch, revisions[0]) if revisions else None
    done = act(here.memory, here.branch, target, dry_run=dry_run)
    assert isinstance(done, Undone)
    shown = text.undone(undone_view(done), dry_run=dry_run)
    if done.commit is not None:
        # Some models keep the earlier section above the update; only a new session starts without it.
        shown += "\nIt holds from the next prompt on; what this conversation has read stays in it (/new starts clean)."
    return Answer(shown, "warning" if done.outcome == "halted" else "info")


def _review(here: Here, words: list[str]) -> Answer:
    if words and words != ["retry"]:
        raise BadWords("`/memory review` is written `/memory review [retry]`.", hint="try it with those words")
    return Answer(f"A review of branch `{here.branch}` was started.", review=True)


def _dream(here: Here, _: list[str]) -> Answer:
    return Answer(f"A dream over branch `{here.branch}` was started.", dream=True)


def _consolidate(here: Here, _: list[str]) -> Answer:
    return Answer(f"This session is reviewed and branch `{here.branch}` consolidated.", review=True, dream=True)


def _search(here: Here, words: list[str]) -> Answer:
    from noforgetti.faces import found
    from noforgetti.service.found_views import found_entries_view

    recall, query = here.recall(), " ".join(words)
    return Answer(found.hits(found_entries_view(here.branch, query, recall.entries(here.branch, query), recall)))


def _promotions(here: Here, words: list[str]) -> Answer:
    from noforgetti.faces import promoted
    from noforgetti.policy.verdict import Refusal
    from noforgetti.service import promotions, settling
    from noforgetti.service.promotion_views import decided_view, promotion_view, promotions_view

    if words in ([], ["list"], ["all"]):
        known = promotions.queue(here.memory, here.branch)
        return Answer(promoted.promotions(promotions_view(here.branch, known, settled=words == ["all"])))
    acts = {"accept": settling.accept, "reject": settling.reject, "undo": settling.undo}
    if len(words) != 2 or words[0] not in ("show", *acts):
        raise BadWords(f"`/memory promotions` is written `/memory {_PROMOTIONS}`.", hint="try it with those words")
    if words[0] == "show":
        found = promotions.find(promotions.queue(here.memory, here.branch), words[1])
        if isinstance(found, Refusal):
            return Answer(f"{found.message}\nHint: list them with `/memory promotions all`", "warning")
        return Answer(promoted.promotion(promotion_view(found)))
    doc = decided_view(acts[words[0]](here.memory, here.branch, words[1]))
    if doc["outcome"] in ("refused", "halted"):
        return Answer(f"{doc['reason']}\nHint: {doc['hint']}", "warning")
    return Answer(promoted.decided(doc))


def _skills(here: Here, words: list[str]) -> Answer:
    from noforgetti.faces import promoted
    from noforgetti.service import skills
    from noforgetti.service.promotion_views import skill_changed_view, skill_view, skills_view
    from noforgetti.service.views import undone_view

    if words in ([], ["list"], ["all"]):
        found = skills.listed(here.memory, here.branch, archived=words == ["all"])
        return Answer(promoted.skills(skills_view(here.branch, found)))
    if len(words) != 2 or words[0] not in ("show", "delete", "undo"):
        raise BadWords(f"`/memory skills` is written `/memory {_SKILLS}`.", hint="try it with those words")
    if words[0] == "show":
        return Answer(promoted.skill(skill_view(skills.find(here.memory, here.branch, words[1]))))
    if words[0] == "delete":
        return Answer(promoted.skill_changed(skill_changed_view(skills.delete(here.memory, here.branch, words[1]))))
    done = skills.undo(here.memory, here.branch, words[1])
    return Answer(text.undone(undone_view(done)), "warning" if done.outcome == "halted" else "info")


def _rules(here: Here, _: list[str]) -> Answer:
    from noforgetti.faces import ruled
    from noforgetti.service.rule_views import rules_view
    from noforgetti.service.rules import listed

    return Answer(ruled.listed(rules_view(here.branch, listed(here.memory, here.branch))))


def _candidates(here: Here, words: list[str]) -> Answer:
    from noforgetti.faces import queued
    from noforgetti.model.candidate import Candidate
    from noforgetti.service import accepting
    from noforgetti.service.queue_views import accepted_view, candidate_view, candidates_view

    if words in ([], ["list"]):
        return Answer(queued.candidates(candidates_view(here.memory, here.branch)))
    if len(words) != 2 or words[0] not in ("accept", "discard"):
        raise BadWords(f"`/memory candidates` is written `/memory {_CANDIDATES}`.", hint="try it with those words")
    one = accepting.find(here.memory, here.branch, words[1])
    if not isinstance(one, Candidate):
        return Answer(f"{one.message}\nHint: list them with `/memory candidates`", "warning")
    if words[0] == "discard":
        gone = accepting.discard(here.memory, here.branch, [one.id])
        return Answer(queued.discarded({"discarded": [candidate_view(each) for each in gone]}))
    doc = accepted_view(accepting.accept(here.memory, here.branch, one))
    if doc["outcome"] == "refused":
        return Answer(f"{doc['reason']}\nHint: {doc['hint']}" if doc["hint"] else doc["reason"], "warning")
    return Answer(queued.accepted(doc))


def _log(here: Here, words: list[str]) -> Answer:
    from noforgetti.service.history import log
    from noforgetti.service.views import logged_view

    commits = [
        logged_view(one) for one in log(here.memory, here.branch, limit=_LOGGED, entry=words[0] if words else "")
    ]
    return Answer(text.log({"branch": here.branch, "commits": commits}))


def _diff(here: Here, words: list[str]) -> Answer:
    from noforgetti.service.history import between, resolve
    from noforgetti.service.views import diff_view

    first = resolve(here.memory, here.branch, words[0])
    second = resolve(here.memory, here.branch, words[1] if len(words) > 1 else "HEAD")
    return Answer(text.operations(diff_view(first, second, between(here.memory, first, second))))


def _merge(here: Here, words: list[str]) -> Answer:
    from noforgetti.policy.merge import Side
    from noforgetti.service.merging import merge_branch
    from noforgetti.service.views import merged_view

    flags = {"--ours": Side.OURS, "--theirs": Side.THEIRS}
    side = next((flags[word] for word in words if word in flags), None)
    names = [word for word in words if word not in flags]
    if len(names) != 1:
        raise BadWords("`/memory merge` is written `/memory merge NAME [--ours|--theirs]`.", hint="name one branch")
    doc = merged_view(merge_branch(here.memory, here.branch, names[0], prefer=side))
    hint = f"\nHint: {doc['hint']}" if doc["hint"] else ""
    return Answer(text.merged(doc) + hint, "warning" if doc["outcome"] == "halted" else "info")


WORDS: dict[str, Word] = {
    "status": Word("status", "where the memory is and how full", _status),
    "show": Word("show", "the entries of the selected branch", _show),
    "branches": Word("branches", "the memory branches", _branches),
    "fork": Word("fork NAME", "create a branch and use it in this session", _fork, 1, 1),
    "use": Word("use NAME", "select a branch for this session", _use, 1, 1),
    "undo": Word("undo [REV] [--dry-run]", "take back the newest automatic review", _undo, 0, 2),
    "redo": Word("redo [REV] [--dry-run]", "bring back what undo took", _redo, 0, 2),
    "review": Word("review [retry]", "review this session now", _review, 0, 1),
    "dream": Word("dream", "consolidate the branch now", _dream),
    "consolidate": Word("consolidate", "review this session and consolidate, as /memory-consolidate", _consolidate),
    "search": Word("search QUERY", "find entries by words and by meaning", _search, 1, 10_000),
    "candidates": Word(_CANDIDATES, "what may become a memory and waits for you", _candidates, 0, 2),
    "promotions": Word(_PROMOTIONS, "what memories could become", _promotions, 0, 2),
    "skills": Word(_SKILLS, "the skills of the branch", _skills, 0, 2),
    "rules": Word("rules", "what entries enforce", _rules),
    "log": Word("log [ENTRY]", "the newest changes", _log, 0, 1),
    "diff": Word("diff A [B]", "how two branches or commits differ", _diff, 1, 2),
    "merge": Word("merge NAME [--ours|--theirs]", "merge a branch into this one", _merge, 1, 2),
}
