"""What search and review rest on. Nothing of it can be lost for good, so nothing of it is an error."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from noforgetti.errors import NoForgettiError
from noforgetti.service import backlog, cadence
from noforgetti.service.embedding import Embedding
from noforgetti.service.health.finding import Finding
from noforgetti.service.index_state import SESSIONS, VECTORS, file_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noforgetti.service.memory import Memory

_UNREAD = 5  # session files that cannot be read and are named
_STATE = "state.sqlite"


def examine(memory: Memory) -> Iterator[Finding]:
    """The model of meanings, the databases in state and cache, and reviews that do not get on."""
    view = Embedding(memory.settings.embedding, memory.places, os.environ).view()
    if view["reason"]:
        yield Finding("warning", "embedding", f"search goes by words alone: {view['reason']}", view["hint"])
    yield from databases(memory)
    yield from _sessions(memory)
    if reviewer := _reviewer(memory):
        yield Finding("warning", "reviewer", *reviewer)
    if memory.exists:
        yield from _reviews(memory)


def databases(memory: Memory) -> Iterator[Finding]:
    """Databases that are none any more. Looks at the files only: opening one as usual would begin it anew."""
    for path in damaged(memory):
        hint = "`noforgetti doctor --fix` sets it aside, and the next use begins it anew"
        code = "state-damaged" if path.endswith(_STATE) else "index-damaged"
        yield Finding("warning", code, f"the database `{path}` cannot be read", hint, mendable=True)


def damaged(memory: Memory) -> list[str]:
    """The derived databases that cannot be read."""
    state = os.path.join(memory.places.state_of(memory.name), _STATE)
    return [path for path in (state, file_of(memory, SESSIONS), file_of(memory, VECTORS)) if not _sound(path)]


def _sound(path: str) -> bool:
    """Whether the file is a whole database; one that is missing, busy or closed to us is not called damaged."""
    if not os.path.isfile(path) or os.path.getsize(path) == 0:
        return not os.path.isdir(path)
    try:
        with closing(sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, timeout=0.1)) as db:
            return bool(db.execute("pragma quick_check(1)").fetchone() == ("ok",))
    except sqlite3.OperationalError:
        return True
    except sqlite3.DatabaseError:
        return False


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path)


def _sessions(memory: Memory) -> Iterator[Finding]:
    for folder in memory.settings.session_folders:
        if not os.path.isdir(folder):
            what = f"`session_folders` names `{folder}`, which is no folder"
            yield Finding("warning", "session-folder", what, "correct the settings")
    path = file_of(memory, SESSIONS)
    if not memory.settings.past_sessions or not os.path.isfile(path) or not _sound(path):
        return
    from noforgetti.service.recall import Recall

    recall = Recall(memory, Embedding(memory.settings.embedding, memory.places, os.environ))
    for name, why in recall.past.unread()[:_UNREAD]:
        hint = "make it readable, or leave it: it is tried again at every search"
        yield Finding("note", "session-unread", f"the session file `{name}` is not searched: {why}", hint)
    recall.close()


def state_is_there(memory: Memory) -> bool:
    """Whether the state database can be looked into: opening one that is missing or damaged would make it."""
    path = os.path.join(memory.places.state_of(memory.name), _STATE)
    return os.path.isfile(path) and _sound(path)


def _reviews(memory: Memory) -> Iterator[Finding]:
    if not state_is_there(memory):
        return
    for branch in memory.heads():
        view = cadence.cadence_view(memory, branch)
        if view["failures"]:
            last = memory.state.last_account(branch) or {}
            why = last.get("reason") or last.get("outcome") or "no word of why"
            times = f"{view['failures']} times in a row" if view["failures"] > 1 else "last time"
            what = f"reviews of branch `{branch}` failed {times}: {why}"
            hint = "mend what it names, then `noforgetti review retry`"
            yield Finding("warning", "review-failing", what, hint)
    waiting = backlog.due(memory)
    if waiting:
        what = f"{len(waiting)} sessions wait for a review, the longest since {waiting[0].since}"
        yield Finding("note", "reviews-waiting", what, "`noforgetti worker --once` reviews them now")


def _reviewer(memory: Memory) -> tuple[str, str] | None:
    """Why the reviewer that the settings name cannot work, and what mends it."""
    from importlib.util import find_spec
    from shutil import which

    from noforgetti.service.reviewers import choose

    review = memory.settings.review
    if not review.enabled or review.reviewer in ("auto", "host"):
        return None
    try:
        choose(memory.settings)
    except NoForgettiError as error:
        return error.message, error.hint
    if review.reviewer == "command" and which(review.command[0]) is None:
        return (
            f"the reviewer's program `{review.command[0]}` cannot be found",
            "correct `review.command` in the settings",
        )
    if review.reviewer == "http" and find_spec("pydantic_ai") is None:
        return "reviewer `http` needs the extra `llm`", "install it: `pip install 'noforgetti[llm]'`"
    return None
