"""Review guidelines of a branch: one line each, learned when a finding is skipped for a reason that holds beyond it.

They are for whoever reviews code, not a part of what every session is told; only a prompt that asks for a review is.
Every change is one commit that `undo COMMIT` takes back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from noforgetti.model.commit import CommitKind, Message, clip, one_line, trailers
from noforgetti.model.entry import Writer
from noforgetti.policy import guards
from noforgetti.policy.contradiction import contradicts
from noforgetti.policy.likeness import Likeness, judge
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.service import pieces
from noforgetti.service.memory import Draft, Memory
from noforgetti.store import guidelines as file
from noforgetti.store.base import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from noforgetti.model.entry import CommitId, Snapshot


@dataclass(frozen=True, slots=True)
class Guideline:
    """One line of the file. `refusal` says why it may not be shown: somebody may have written it by hand."""

    text: str
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of a change. `texts` were learned or taken out; `known` are the guidelines that say already what
    was to be learned."""

    outcome: Literal["added", "removed", "duplicate", "refused"]
    branch: str
    texts: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    commit: CommitId | None = None
    refusal: Refusal | None = None


def listed(memory: Memory, now: Snapshot) -> tuple[Guideline, ...]:
    """The guidelines of a snapshot, in the order of the file. A file whose object is lost counts as empty; `doctor`
    tells of it."""
    if file.FILE not in now.files:
        return ()
    try:
        found = file.decode(pieces.read(memory, now, file.FILE))
    except Unreadable:
        return ()
    return tuple(Guideline(one, guards.unsafe(one)) for one in found)


def learn(memory: Memory, branch: str, texts: Iterable[str], *, by: Writer = Writer.USER, session: str = "") -> Changed:
    """Put guidelines last, as one commit; several lines of one become one line. What the guards refuse, or what a
    guideline contradicts, refuses all of them; what one says already is a duplicate. Together they may be as long as a
    branch's entries."""
    wanted: list[str] = []
    for raw in texts:
        checked = guards.check(raw, limit=memory.limits.entry, automatic=False)
        if isinstance(checked, Refusal):
            return Changed("refused", branch, refusal=checked)
        wanted.append(one_line(checked))

    def plan(now: Snapshot) -> Draft | Changed:
        data = pieces.read(memory, now, file.FILE)
        there = file.decode(data)
        new: list[str] = []
        known: list[str] = []
        for one in wanted:
            said = next((old for old in (*there, *new) if judge(one, old).likeness is Likeness.REPEATS), None)
            if said is None:
                new.append(one)
            else:
                known.append(said)
        refusal = _opposed(new, there) or _too_many((*there, *new), memory.limits.hard)
        if refusal is not None and new:
            return Changed("refused", branch, refusal=refusal)
        if not new:
            return Changed("duplicate", branch, known=tuple(known))
        done[:] = [Changed("added", branch, tuple(new), tuple(known))]
        edit = pieces.edit(file.FILE, file.encode(data, add=new))
        return Draft((edit,), _message("add", new, session), by)

    done: list[Changed] = []
    answer = memory.change(branch, plan) if wanted else Changed("duplicate", branch)
    return answer if isinstance(answer, Changed) else replace(done[0], commit=answer)


def forget(memory: Memory, branch: str, old: str, *, by: Writer = Writer.USER, session: str = "") -> Changed:
    """Take one guideline out: `old` is its whole text or a piece of exactly one."""

    def plan(now: Snapshot) -> Draft | Changed:
        data = pieces.read(memory, now, file.FILE)
        found = _meant(file.decode(data), one_line(old))
        if isinstance(found, Refusal):
            return Changed("refused", branch, refusal=found)
        done[:] = [Changed("removed", branch, (found,))]
        edit = pieces.edit(file.FILE, file.encode(data, drop=(found,)))
        return Draft((edit,), _message("remove", [found], session), by)

    done: list[Changed] = []
    answer = memory.change(branch, plan)
    return answer if isinstance(answer, Changed) else replace(done[0], commit=answer)


def _opposed(new: Iterable[str], there: Sequence[str]) -> Refusal | None:
    for one in new:
        for old in there:
            if contradicts(one, old) is not None:
                return Refusal(
                    Rule.CONTRADICTION,
                    f"`{clip(one, 80)}` contradicts the guideline `{clip(old, 80)}`. Nothing was written.",
                    "if that no longer holds, take it out with `noforgetti guidelines remove OLD`",
                )
    return None


def _too_many(texts: Sequence[str], limit: int) -> Refusal | None:
    size = sum(map(len, texts))
    if size <= limit:
        return None
    return Refusal(
        Rule.CAPACITY,
        f"The guidelines would have {size} characters together, {size - limit} over the limit of {limit}."
        " Nothing was written.",
        "take out what no longer holds with `noforgetti guidelines remove OLD`",
    )


def _meant(there: Sequence[str], old: str) -> str | Refusal:
    found = [one for one in there if one == old] or [one for one in there if old and old in one]
    if len(found) == 1:
        return found[0]
    if not found:
        reason = f"No guideline matches `{clip(old, 60)}`. Nothing was written."
        return Refusal(Rule.UNKNOWN_ENTRY, reason, "list them with `noforgetti guidelines`")
    shown = "; ".join(f"`{clip(one, 60)}`" for one in found[:3])
    reason = f"`{clip(old, 60)}` matches {len(found)} guidelines. Nothing was written."
    return Refusal(Rule.AMBIGUOUS, reason, f"use more of the text: {shown}")


def _message(verb: str, texts: Sequence[str], session: str) -> Message:
    sign = "+" if verb == "add" else "-"
    subject = f"guideline: {verb} {texts[0] if len(texts) == 1 else len(texts)}"
    body = "\n".join(f"  {sign} {one}" for one in texts)
    return Message(subject, body, trailers(CommitKind.GUIDELINE, session=session))
