"""`memory_review`: a review in a thread of its own, which tells how far it is and can be called off.

Called off, it lets go without a trace of half a review: what it had not published stays due.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from noforgetti.faces import text
from noforgetti.faces.arguments import ToolAnswer
from noforgetti.faces.mcp.connection import Work, expecting

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from noforgetti.faces.mcp.parameters import Arguments
    from noforgetti.review.reviewer import Proposer, Reviewer

    Tell = Callable[[int, str], Coroutine[Any, Any, None]]

_REFUSED = ("failed", "invalid", "held", "stale", "running", "aborted")  # outcomes that leave something to do


async def review(work: Work, arguments: Arguments, tell: Tell) -> ToolAnswer:
    """Review a session. `tell` gets the number of windows read so far, and what is going on."""
    loop = asyncio.get_running_loop()
    cancelled = threading.Event()

    def progress(done: int, words: str) -> None:
        if not cancelled.is_set():
            asyncio.run_coroutine_threadsafe(tell(done, words), loop)

    thread = ThreadPoolExecutor(1, "noforgetti-review")
    try:
        return await asyncio.wrap_future(thread.submit(_reviewed, work, arguments, progress, cancelled))
    finally:
        cancelled.set()
        thread.shutdown(wait=False)


def _reviewed(
    work: Work, arguments: Arguments, progress: Callable[[int, str], None], cancelled: threading.Event
) -> ToolAnswer:
    from noforgetti.service.reviewers import choose
    from noforgetti.service.reviews import review
    from noforgetti.service.sessions import newest
    from noforgetti.service.views import reviewed_view
    from noforgetti.transcripts import base

    memory = work.memory.twin()
    try:
        named = arguments.text("transcript")
        path = Path(named) if named else newest(memory.project, work.connection.environ)
        said = base.read(path, branch=work.branch)
        by = choose(memory.settings, name=arguments.text("reviewer"), host=base.format_of(path))
        threading.Thread(target=_stop_when, args=(cancelled, by), daemon=True).start()
        with work.connection.reviewing(cancelled), expecting(memory, work.branch, arguments.text("expected_head")):
            progress(0, f"reading {path.name}")
            done = [review(memory, work.branch, said, by, forced=True, cancelled=cancelled.is_set)]
            while done[-1].more and done[-1].outcome in ("applied", "no-change") and not cancelled.is_set():
                progress(len(done), "reading on")
                done.append(review(memory, work.branch, said, by, forced=True, cancelled=cancelled.is_set))
    finally:
        memory.close()
    doc = reviewed_view(done, str(path))
    if doc["outcome"] in _REFUSED:
        return ToolAnswer(f"{doc['reason']}\nHint: {doc['hint']}" if doc["hint"] else doc["reason"], True, doc)
    return ToolAnswer(text.reviewed(doc), details=doc)


def _stop_when(cancelled: threading.Event, by: Reviewer | Proposer) -> None:
    """A reviewer that can be stopped is stopped at once: its answer is of no use any more."""
    cancelled.wait()
    getattr(by, "stop", lambda: None)()
