"""Sessions that said more than was reviewed: counted as they go on, due once they ended.

A session is due when it has three messages of the user's, some of them unreviewed, and the process it ran in left it or
is gone. The table is derived: losing it costs the reviews of sessions that ended, never what a running one says. Only
sessions with a file can wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from noforgetti.model.entry import BranchName
from noforgetti.model.evidence import Role
from noforgetti.review.schedule import Reason
from noforgetti.service import cadence, reviews
from noforgetti.service.reviewers import one_for
from noforgetti.store.base import UnknownBranch
from noforgetti.transcripts import base

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from noforgetti.model.evidence import Transcript
    from noforgetti.review.reviewer import Proposer, Reviewer
    from noforgetti.service.memory import Memory
    from noforgetti.service.reviewers import Suited
    from noforgetti.service.reviews import Reviewed

LEAST = 3  # messages of the user in a session that is reviewed when it ends: the reference's number
WINDOWS = 8  # windows of one session at once: eight times twelve turns; what is left waits for the next time
_DONE = ("applied", "no-change", "nothing", "held")


@dataclass(frozen=True, slots=True)
class Pending:
    """A session that waits for a review. `messages` are the user's, `unread` those that no review has read; `since` is
    when the first of them was said, RFC 3339 UTC."""

    branch: BranchName
    session: str
    file: str
    messages: int
    unread: int
    since: str


def count(memory: Memory, branch: str, session: str, file: str, prompts: int) -> None:
    """Prompts of a session were completed in this process."""
    memory.state.put_unread(branch, session, file, prompts, cadence.own_token())


def leave(memory: Memory, branch: str, session: str) -> None:
    """The session ended here; what was not reviewed is due."""
    memory.state.leave_unread(branch, session)


def due(memory: Memory) -> tuple[Pending, ...]:
    """The sessions that wait, the longest waiting first. What is no session's any more and does not wait is dropped."""
    found = []
    for branch, session, file, messages, unread, owner, since in memory.state.unread():
        if owner and cadence.alive(owner):
            continue
        if unread > 0 and messages >= LEAST:
            found.append(Pending(BranchName(branch), session, file, messages, unread, since))
        else:
            memory.state.forget_unread(branch, session)
    return tuple(found)


def worth(memory: Memory, branch: BranchName, transcript: Transcript) -> bool:
    """Whether a session that ended holds enough, and some of it unreviewed. Its count is put right on the way."""
    messages = sum(one.role is Role.USER and one.branch == branch for one in transcript.items)
    unread = reviews.unread(memory, branch, transcript)
    memory.state.correct_unread(branch, transcript.session, messages, unread)
    return messages >= LEAST and unread > 0


def work_off(
    memory: Memory,
    by: Reviewer | Proposer | Suited,
    *,
    most: int = 1_000,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[Pending, Reviewed]]:
    """Review the sessions that are due, each at most once and `most` in all; answers each review as it is done.

    One whose branch is backing off after failures stays due, and so does one whose review failed or was called off. One
    whose file or branch is gone is dropped with a trace.
    """
    tried: set[tuple[str, str]] = set()
    while len(tried) < most and not cancelled():
        one = next((one for one in due(memory) if (one.branch, one.session) not in tried), None)
        if one is None:
            return
        tried.add((one.branch, one.session))
        yield from ((one, done) for done in _reviewed(memory, one, by, cancelled))


def _reviewed(
    memory: Memory, one: Pending, by: Reviewer | Proposer | Suited, cancelled: Callable[[], bool]
) -> Iterator[Reviewed]:
    try:
        memory.head(one.branch)
        transcript = base.read(Path(one.file), branch=one.branch)
    except (UnknownBranch, base.TranscriptError) as gone:
        memory.state.forget_unread(one.branch, one.session)
        memory.state.trace("note", f"session `{one.session}` was not reviewed: {gone}")
        return
    if transcript.session != one.session or not worth(memory, one.branch, transcript):
        memory.state.forget_unread(one.branch, one.session)
        return
    yield from through(memory, one.branch, transcript, one_for(by, Path(one.file)), cancelled)


def through(
    memory: Memory,
    branch: BranchName,
    transcript: Transcript,
    by: Reviewer | Proposer,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Reviewed]:
    """Review a session window by window, as far as it can be done at once; nothing while its branch backs off."""
    for _ in range(WINDOWS):
        if cadence.due(memory, branch) is Reason.BACKING_OFF:
            return
        done = reviews.review(memory, branch, transcript, by, forced=True, cancelled=cancelled)
        yield done
        if not done.more or done.outcome not in _DONE:
            return
