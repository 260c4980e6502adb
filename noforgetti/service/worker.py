"""Work that is due and that no session waits for: reviews of sessions that ended, and dreams.

One worker at a time for each project, held by a lock that the system frees when the process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from noforgetti.service.places import child_of
from noforgetti.store import folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from noforgetti.review.reviewer import Proposer, Reviewer
    from noforgetti.service.hooked import Said
    from noforgetti.service.memory import Memory
    from noforgetti.service.reviewers import Suited

_ROUNDS = 8  # looks at what hooks noted while the worker was at it; the hook after that starts another one
PATIENT = ("command", "http")  # reviewers that need no host and are asked once, by a worker, when a session ends


@dataclass(frozen=True, slots=True)
class Work:
    """One thing a worker did: a `review` of a session or a `dream`, its outcome in the words of those, and a commit."""

    what: str
    branch: str
    outcome: str
    session: str = ""
    commit: str | None = None
    reason: str = ""


def work(
    memory: Memory, by: Reviewer | Proposer | Suited, *, cancelled: Callable[[], bool] = lambda: False
) -> Iterator[Work]:
    """Do what is due, once: what hooks noted, then the sessions that ended, then a dream of each branch; and again what
    hooks noted meanwhile. Raises only faults and broken storage."""
    from noforgetti.service import hooked

    for _ in range(_ROUNDS):
        for said in hooked.drain(memory):
            if said.due and not cancelled():
                yield from _turns(memory, said, by, cancelled)
        yield from _ended(memory, by, cancelled)
        if cancelled() or not hooked.pending(memory):
            return


def _turns(
    memory: Memory, said: Said, by: Reviewer | Proposer | Suited, cancelled: Callable[[], bool]
) -> Iterator[Work]:
    from noforgetti.service import backlog
    from noforgetti.service.reviewers import one_for

    for done in backlog.through(memory, said.branch, said.transcript, one_for(by, Path(said.file)), cancelled):
        yield Work("review", said.branch, done.outcome, said.transcript.session, done.commit, done.reason)


def _ended(memory: Memory, by: Reviewer | Proposer | Suited, cancelled: Callable[[], bool]) -> Iterator[Work]:
    from noforgetti.service import backlog, dream
    from noforgetti.service.reviewers import one_for

    for one, done in backlog.work_off(memory, by, cancelled=cancelled):
        yield Work("review", one.branch, done.outcome, one.session, done.commit, done.reason)
    for branch in memory.heads():
        if not cancelled() and dream.due(memory, branch):
            dreamt = dream.dream(memory, branch, one_for(by), cancelled=cancelled)
            yield Work("dream", branch, dreamt.outcome, "", dreamt.commit, dreamt.reason)


@contextmanager
def alone(memory: Memory) -> Iterator[bool]:
    """Whether this process is the project's only worker for as long as the block runs."""
    folder = memory.places.state_of(memory.name)
    folders.make(folder)
    handle = os.open(os.path.join(folder, "worker.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def detach(memory: Memory, environ: Mapping[str, str]) -> bool:
    """Start a worker that outlives this process, when there is work for a reviewer that needs no host; answers whether
    it was started. It has no pipe of ours, ends by itself, and a reviewer's own session never starts one."""
    from noforgetti.service import backlog
    from noforgetti.transcripts import base

    settings = memory.settings.review
    if not settings.enabled or settings.reviewer == "host" or child_of(environ):
        return False
    waiting = backlog.due(memory)
    if not waiting or (settings.reviewer == "auto" and all(base.format_of(Path(one.file)) == "pi" for one in waiting)):
        return False  # a session of Pi's is best read by the model of the next one
    try:
        subprocess.Popen(
            [sys.executable, "-P", "-m", "noforgetti", "-C", memory.project.checkout, "worker", "--once"],
            env=dict(environ),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        memory.state.trace("warning", f"the worker could not be started: {error.strerror}; its work stays due")
        return False
    return True
