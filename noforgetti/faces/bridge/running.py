"""Reviews beside the conversation: each in a thread of its own, with its own connection to the memory.

A review never delays an answer, a prompt or a quit. It can be called off at any moment; what it did not publish by then
stays due.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noforgetti.faces import dreamt, text
from noforgetti.faces.bridge import requests
from noforgetti.faces.bridge.wire import HostError, Peer
from noforgetti.model.evidence import Role
from noforgetti.review.reviewer import ReviewAbortedError
from noforgetti.service import promotions_file
from noforgetti.service.settings import HOSTS
from noforgetti.service.views import change_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from noforgetti.model.entry import BranchName
    from noforgetti.model.evidence import Transcript
    from noforgetti.service.memory import Memory
    from noforgetti.service.reviews import Reviewed

_WINDOWS = 8  # windows of one run: eight times twelve turns; what is left waits for the next
_SESSIONS = 3  # earlier sessions that one review thread catches up with
_LEAST = 2  # messages of the user's that `/memory-consolidate` needs: the reference system's bound
_LEARNED = "Consolidated: {:,} learned from this session. "
_ENTRIES = 30.0  # seconds for the host to hand over the entries of a session without a file


@dataclass(frozen=True, slots=True)
class Job:
    """One review that was asked for. `forced` ignores thresholds and back-off; `manual` tells of no find too."""

    session: requests.Session
    branch: BranchName
    prompts: int
    forced: bool = False
    manual: bool = False
    leftovers: bool = False  # review when the session holds more than the prompts that just completed
    ending: bool = False  # the session ends: review what is left, if it said enough
    backlog: bool = False  # afterwards, review the project's sessions that ended before
    dream: bool = False  # consolidate the branch, whether it is due or not
    review: bool = True  # of the session, before a dream that was asked for


class Reviews:
    """The reviews of one bridge: at most one at a time, so that two never ask the host's model at once."""

    def __init__(self, memory: Memory, peer: Peer, *, host: str = "pi") -> None:
        self._memory, self._peer, self._host = memory, peer, host
        self._thread: threading.Thread | None = None
        self._cancelled = threading.Event()
        self._stop: Callable[[], None] = lambda: None

    @property
    def running(self) -> bool:
        """True while a review is at work."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, job: Job) -> bool:
        """Start the review unless one is running; answers whether it was started."""
        if self.running or self._cancelled.is_set():
            return False
        self._thread = threading.Thread(target=self._run, args=(job,), name="noforgetti-review", daemon=True)
        self._thread.start()
        return True

    def end(self, wait: float) -> None:
        """Give a running review `wait` seconds, then call it off. Nothing starts afterwards."""
        thread = self._thread
        if thread is not None:
            thread.join(wait)
        self._cancelled.set()
        self._stop()

    def finish(self, wait: float) -> None:
        """Wait for a review that was called off to let go."""
        if self._thread is not None:
            self._thread.join(wait)

    def _run(self, job: Job) -> None:
        memory = self._memory.twin()
        try:
            self._review(memory, job)
        except Exception as error:  # noqa: BLE001 - a review must not end the bridge
            self._trouble(memory, job, error)
        finally:
            memory.close()

    def _review(self, memory: Memory, job: Job) -> None:
        if job.dream and job.review and not self._said_enough(job):
            return
        learned = self._own(memory, job) if job.review else 0
        if job.backlog:
            self._others(memory)
        if not job.ending:
            self._dream(memory, job, learned)

    def _said_enough(self, job: Job) -> bool:
        """A consolidation that was asked for needs something to consolidate."""
        said = sum(one.role is Role.USER for one in self._transcript(job).items)
        if said < _LEAST:
            told = f"Nothing to consolidate yet: this session has {text.counted(said, 'message', 'messages')} of yours"
            self._notice("info", f"{told}, {_LEAST} are needed. `/memory dream` tidies the memory all the same.")
        return said >= _LEAST

    def _dream(self, memory: Memory, job: Job, learned: int) -> None:
        from noforgetti.service.dream import dream, due
        from noforgetti.service.dream_views import dreamt_view
        from noforgetti.service.reviewers import choose

        if not job.dream and not due(memory, job.branch):
            return
        by = choose(memory.settings, ask=None if self._asks_no_host else self._ask_model)
        self._stop = getattr(by, "stop", lambda: None)
        done = dream(memory, job.branch, by, forced=job.dream, cancelled=self._cancelled.is_set)
        doc = dreamt_view(memory, done)
        if done.commit is not None:
            lines = [*dreamt.operations(doc, width=_card_width()), "take it back with /memory undo"]
            self._peer.tell("card", {"title": f"Memory `{job.branch}` dreamt ({done.commit[:12]})", "lines": lines})
            self._footer(memory, job)
        if done.outcome == "held":
            self._notice("warning", f"A dream was held: {done.reason} {done.hint}".strip())
        elif job.dream and done.outcome in ("applied", "no-change"):
            self._notice("info", f"{_LEARNED.format(learned) if job.review else ''}Memory: {dreamt.totals(doc)}.")
        elif job.dream:
            self._notice("warning", f"Dream: {done.reason}")

    def _own(self, memory: Memory, job: Job) -> int:
        """Review the session; how many entries that changed."""
        from noforgetti.service import backlog, cadence
        from noforgetti.service.reviewers import choose
        from noforgetti.service.reviews import review, unread

        transcript = self._transcript(job)
        if job.ending and not backlog.worth(memory, job.branch, transcript):
            memory.state.forget_unread(job.branch, job.session.id)
            return 0
        forced = job.forced or job.ending or (job.leftovers and unread(memory, job.branch, transcript) > job.prompts)
        if not forced and not cadence.due(memory, job.branch).due:
            return 0
        learned = 0
        by = choose(memory.settings, ask=None if self._asks_no_host else self._ask_model, host=self._host)
        self._stop = getattr(by, "stop", lambda: None)
        for number in range(_WINDOWS):
            done = review(
                memory, job.branch, transcript, by, forced=forced or number > 0, cancelled=self._cancelled.is_set
            )
            self._report(memory, job, done, first=number == 0)
            learned += len(done.changes)
            if not done.more or done.outcome not in ("applied", "no-change"):
                break
        return learned

    def _others(self, memory: Memory) -> None:
        """Sessions of the project that ended before their review did: a few, oldest first; the rest waits."""
        from noforgetti.service import backlog
        from noforgetti.service.reviewers import choose, suiting

        if not backlog.due(memory):
            return
        by = suiting(memory.settings) if self._asks_no_host else choose(memory.settings, ask=self._ask_model)
        self._stop = getattr(by, "stop", lambda: None)
        for one, done in backlog.work_off(memory, by, most=_SESSIONS, cancelled=self._cancelled.is_set):
            self._report(memory, Job(requests.Session(one.session, one.file), one.branch, 0), done, first=False)

    def _transcript(self, job: Job) -> Transcript:
        from noforgetti.transcripts import base, pi

        if job.session.file:
            return base.read(Path(job.session.file), kind=self._host if self._asks_no_host else "pi")
        answer = self._peer.ask("session/entries", {"after": None}, _ENTRIES)
        entries = answer.get("entries")
        if not isinstance(entries, list):
            raise HostError("The host's session holds no entries that can be read.")
        header = {"type": "session", "id": answer.get("id") or job.session.id, "cwd": answer.get("cwd") or ""}
        return pi.read([header, *entries])

    def _ask_model(self, system: str, prompt: str, max_tokens: int) -> dict[str, Any]:
        timeout = float(self._memory.settings.review.timeout)
        end = time.monotonic() + timeout
        asked = {"system": system, "prompt": prompt, "max_tokens": max_tokens}
        try:
            if not self._gone:
                return self._peer.ask("model/complete", asked, end - time.monotonic())
        except HostError:
            if not self._gone:
                raise
        # A host that ended or was killed has not failed: the review stays due at once, without a back-off.
        raise ReviewAbortedError("The session ended before the review did.")

    @property
    def _asks_no_host(self) -> bool:
        """Whether the host does not lend its model: those with a program of their own do not, and that is asked."""
        return self._host in HOSTS

    @property
    def _gone(self) -> bool:
        return self._cancelled.is_set() or self._peer.closed.is_set()

    def _report(self, memory: Memory, job: Job, done: Reviewed, *, first: bool) -> None:
        if done.outcome == "applied" and done.commit is not None:
            lines = [
                line for change in done.changes for line in text.operation(change_view(change), width=_card_width())
            ]
            title = f"Memory `{job.branch}` learned ({done.commit[:12]})"
            self._peer.tell("card", {"title": title, "lines": [*lines, "take it back with /memory undo"]})
            self._footer(memory, job)
        elif done.outcome == "held":
            self._notice("warning", f"A review was held: {done.reason} {done.hint}".strip())
        elif job.manual and first:
            found = "Nothing new to remember." if done.outcome in ("no-change", "nothing") else f"Review: {done.reason}"
            self._notice("info" if done.outcome in ("no-change", "nothing") else "warning", found)

    def _footer(self, memory: Memory, job: Job) -> None:
        now = memory.snapshot(job.branch)
        waiting = promotions_file.waiting(memory, now)
        footer = text.footer(job.branch, len(now), now.characters, memory.limits.hard, promotions=waiting)
        self._peer.tell("status", {"line": footer})

    def _trouble(self, memory: Memory, job: Job, error: Exception) -> None:
        if self._cancelled.is_set():
            return
        reason = str(error) if isinstance(error, HostError) or hasattr(error, "hint") else type(error).__name__
        memory.state.trace("warning", f"a review of branch `{job.branch}` could not run: {reason}")
        if job.manual:
            self._notice("warning", f"The review could not run: {reason}")

    def _notice(self, level: str, words: str) -> None:
        self._peer.tell("notice", {"level": level, "text": words})


def _card_width() -> int:
    return 76  # code points; the reference system's clip of a card's lines
