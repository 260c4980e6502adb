"""The queue of candidates: what may become a memory and waits for a user or a dream to say so.

Beside the branch, durable, bounded, and never told to the agent. What `queue` answered with is on the disk. `take` goes
by ids, so that what arrives while somebody decides stays. A fork begins with an empty queue.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from noforgetti.model.candidate import Candidate, CandidateKind
from noforgetti.model.commit import CommitKind, Message, clip, one_line, trailers
from noforgetti.model.entry import Writer
from noforgetti.policy import guards, secrecy
from noforgetti.policy import text as forms
from noforgetti.policy.beside import beside
from noforgetti.service import books
from noforgetti.store import candidates as book
from noforgetti.store.base import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from noforgetti.model.entry import Entry, EntryId, Snapshot
    from noforgetti.service.memory import Memory

MOST = 200  # candidates of one branch: more than anybody reads in one sitting
_TEXT = 2_000  # characters kept of a text: above the largest entry of the default limits, so that nothing is cut
_SAID = 1_000  # characters kept of the words it was taken from: what the reference sends of one message
_BASE32 = "abcdefghijkmnpqrstuvwxyz23456789"


def read(memory: Memory, branch: str) -> book.Queue:
    """The queue of a branch. Never raises for a damaged one: `reason` says what could not be read."""
    try:
        data, commit = books.read(memory, branch, book.BOOK)
    except Unreadable as error:
        return book.Queue(reason=f"{error} The queue of candidates counts as empty.")
    queue = book.decode(data, commit)
    return replace(queue, candidates=tuple(_shown(one) for one in queue.candidates))


def pending(memory: Memory, branch: str) -> tuple[Candidate, ...]:
    """What waits, the oldest first. A text that may not be shown to a model comes back empty, with the reason."""
    return read(memory, branch).candidates


def queue(
    memory: Memory, branch: str, candidates: Iterable[Candidate], *, by: Writer = Writer.AGENT
) -> tuple[Candidate, ...]:
    """Let candidates wait; answers them as they are stored, without those that may not be.

    A secret is cut out; a text that speaks to the model, or hides something, is left out. The same text about the same
    entry waits once: the older one is answered. Beyond 200, the oldest stated preference goes (without one, the
    oldest), and a trace says so. Raises `UnknownBranch` and what the store raises; then nothing was queued.
    """
    memory.head(branch)
    wanted = [clean for one in candidates if (clean := _clean(one)) is not None]
    if not wanted:
        return ()
    stored: list[Candidate] = []
    dropped: list[Candidate] = []

    def plan(data: bytes) -> tuple[bytes, Message] | None:
        there = list(book.decode(data).candidates)
        known = {_same(one): one for one in there}
        stored.clear()
        fresh: list[Candidate] = []
        for one in wanted:
            twin = known.get(_same(one))
            if twin is None:
                own = one.id or _new_id(memory, (other.id for other in (*there, *fresh)))
                twin = replace(one, id=own, at=one.at or memory.stamp())
                known[_same(one)] = twin
                fresh.append(twin)
            stored.append(twin)
        if not fresh:
            return None
        dropped[:] = _beyond([*there, *fresh])
        gone = {one.id for one in dropped}
        kept = [one for one in fresh if one.id not in gone]
        message = _message("queue", fresh, [f"+ {one.id} {one.kind}: {_line(one)}" for one in fresh])
        return book.encode(data, added=kept, gone=gone), message

    books.change(memory, branch, book.BOOK, plan, by=by)
    if dropped:
        told = "; ".join(f"{one.kind}: {_line(one)}" for one in dropped[:3])
        count = f"{len(dropped)} candidate{'s' if len(dropped) > 1 else ''}"
        memory.state.trace("warning", f"the queue of `{branch}` is full ({MOST}); the oldest went: {count} ({told})")
    gone = {one.id for one in dropped}
    return tuple(dict.fromkeys(one for one in stored if one.id not in gone))


def opposed(memory: Memory, now: Snapshot, came: Sequence[Entry], way: str) -> tuple[tuple[EntryId, Candidate], ...]:
    """What came by `way` and contradicts what was there: both may be right, so both are kept and the user says which
    holds. Answers the id of each entry that came with the candidate that tells of it."""
    own = {entry.id for entry in came}
    there = [entry for entry in now if entry.id not in own and not entry.archived]
    return tuple(
        (
            entry.id,
            Candidate(
                "",
                CandidateKind.CONTRADICTION,
                entry.text,
                f"`{entry.id}` came with {way} and contradicts `{one.entry.id}`: {clip(one_line(one.entry.text), 100)}",
                one.entry.id,
                entry.session,
                at=memory.stamp(),
                writer=entry.writer,
            ),
        )
        for entry in came
        for one in beside(entry.text, there, negative=entry.negative).contradicted
    )


def take(
    memory: Memory, branch: str, ids: Iterable[str], outcome: str, *, by: Writer = Writer.USER, session: str = ""
) -> tuple[Candidate, ...]:
    """Take candidates out of the queue; answers those that were there. `outcome` is a word for the log: `accepted`,
    `discarded`, `distilled`. What arrived meanwhile stays. Raises what the store raises."""
    wanted = frozenset(ids)
    taken: list[Candidate] = []

    def plan(data: bytes) -> tuple[bytes, Message] | None:
        taken[:] = [one for one in book.decode(data).candidates if one.id in wanted]
        if not taken:
            return None
        message = _message(outcome, taken, [f"- {one.id} {one.kind}: {_line(one)}" for one in taken], session)
        return book.encode(data, gone={one.id for one in taken}), message

    books.change(memory, branch, book.BOOK, plan, by=by)
    return tuple(taken)


def _clean(one: Candidate) -> Candidate | None:
    """The candidate as it may lie on the disk, or None. `operations` passed the guards as they were admitted."""
    text = forms.normalise(secrecy.redact(one.text)[0])
    text, said = forms.clip(text, _TEXT), forms.clip(secrecy.redact(one.said)[0], _SAID)
    if not text or guards.unsafe(text) is not None:
        return None
    return replace(
        one,
        text=text,
        said=said if guards.unsafe(said) is None else "",
        reason=one_line(secrecy.redact(one.reason)[0]),
        session=one_line(one.session),
    )


def _shown(one: Candidate) -> Candidate:
    refusal = guards.unsafe(one.text)
    if refusal is None:
        return one
    return replace(one, text="", said="", reason=f"hidden: {refusal.message.replace('; nothing was written', '')}")


def _same(one: Candidate) -> tuple[str, str]:
    return one_line(one.text).casefold(), one.entry


def _beyond(all_: Sequence[Candidate]) -> list[Candidate]:
    """What has to go. Preferences first: whoever holds one says it again, and nobody says a held review again."""
    excess = len(all_) - MOST
    order = sorted(all_, key=lambda one: one.kind is not CandidateKind.PREFERENCE)
    return order[:excess] if excess > 0 else []


def _new_id(memory: Memory, taken: Iterable[str]) -> str:
    used = set(taken)
    while True:
        new = "c-" + "".join(_BASE32[memory.draw(32)] for _ in range(5))
        if new not in used:
            return new


def _line(one: Candidate) -> str:
    return clip(one_line(one.text), 120)


def _message(verb: str, of: Sequence[Candidate], lines: list[str], session: str = "") -> Message:
    subject = f"{verb}: {_line(of[0])}" if len(of) == 1 else f"{verb}: {len(of)} candidates"
    return Message(subject, "\n".join(lines), trailers(CommitKind.CANDIDATE, session=session or of[0].session))
