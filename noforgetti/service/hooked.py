"""What hooks noted: turns that are done, counted and heard like those of a host that a bridge serves.

A hook only appends a line to a spool; here, in a process of its own, the transcripts are read. A line that is worked
off twice counts once, because what counts is the transcript. Losing the spool costs a delay: the next turn of the
session counts what this one would have.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from noforgetti.errors import NoForgettiError
from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.evidence import Role
from noforgetti.service import backlog, cadence, reviews
from noforgetti.store.base import UnknownBranch
from noforgetti.transcripts import base

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.model.evidence import Transcript
    from noforgetti.service.memory import Memory

FOLDER, SPOOL = "hooks", "spool.jsonl"  # in the project's state folder; `faces.hook` writes there
OWNER = "hook"  # of a session that only hooks tell of: no process of ours lives as long as it does
QUIET = 1_800.0  # seconds without a turn after which a session counts as left: its host may have been killed
_NOTES = 30 * 86_400.0  # seconds after which what a hook noted of a session is of no use
_CALLS = 3_600.0  # the same for a call that a second layer of the host's configuration may repeat, within seconds


@dataclass(frozen=True, slots=True)
class Said:
    """A session that said something new, and whether its branch is due for a review."""

    branch: BranchName
    file: str
    transcript: Transcript
    due: bool


def drain(memory: Memory) -> tuple[Said, ...]:
    """Work off what hooks noted. What cannot be read leaves a trace and is dropped."""
    folder = os.path.join(memory.places.state_of(memory.name), FOLDER)
    taken = _taken(folder)
    sessions: dict[tuple[str, str], bool] = {}
    for path in taken:
        for file, branch, end in _lines(path):
            sessions[file, branch] = sessions.get((file, branch), False) or end
    found = [one for (file, branch), end in sessions.items() if (one := _counted(memory, file, branch, end=end))]
    for path in taken:
        os.unlink(path)
    _leave_quiet(memory)
    _sweep(folder)
    return tuple(found)


def pending(memory: Memory) -> bool:
    """Whether a hook noted something that nobody worked off."""
    return os.path.exists(os.path.join(memory.places.state_of(memory.name), FOLDER, SPOOL))


def _taken(folder: str) -> list[str]:
    """The spool, put aside so that hooks begin a new one, and what an earlier worker put aside and did not get done."""
    spool = os.path.join(folder, SPOOL)
    with suppress(OSError):
        os.replace(spool, f"{spool}.{os.getpid()}")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.startswith(f"{SPOOL}.")]


def _lines(path: str) -> Iterable[tuple[str, str, bool]]:
    try:
        data = Path(path).read_bytes()
    except OSError:
        return
    for line in data.split(b"\n"):
        try:
            said = json.loads(line)
            yield str(said["file"]), str(said["branch"]), said.get("end") is True
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # torn by a full disk


def _counted(memory: Memory, file: str, wanted: str, *, end: bool) -> Said | None:
    """Count what the session said since it was counted last, hear it, and say whether a review is due."""
    branch = _branch(memory, wanted)
    try:
        transcript = base.read(Path(file), branch=branch)
    except base.TranscriptError as error:
        memory.state.trace("note", f"a session that a hook named was not read: {error.message}")
        return None
    if not transcript.session:
        return None
    prompts = [one.text for one in transcript.items if one.role is Role.USER and one.branch == branch]
    new = len(prompts) - _before(memory, branch, transcript, len(prompts))
    if new > 0:
        fresh = prompts[-new:]
        _hear(memory, branch, fresh, transcript.session)
        if memory.settings.review.enabled:
            memory.prepare()
            cadence.record(memory, branch, fresh)
            memory.state.put_unread(branch, transcript.session, file, new, OWNER)
    if end:
        backlog.leave(memory, branch, transcript.session)
    due = memory.settings.review.enabled and cadence.due(memory, branch).due
    return Said(branch, file, transcript, due)


def _branch(memory: Memory, wanted: str) -> BranchName:
    try:
        memory.head(wanted)
    except UnknownBranch:
        return MAIN
    return BranchName(wanted)


def _before(memory: Memory, branch: BranchName, transcript: Transcript, prompts: int) -> int:
    """How many prompts of the session were counted: by its row, else those that a review has read."""
    for row in memory.state.unread():
        if row[:2] == (branch, transcript.session):
            return row[3]
    return prompts - min(prompts, reviews.unread(memory, branch, transcript))


def _hear(memory: Memory, branch: BranchName, prompts: list[str], session: str) -> None:
    if not memory.settings.preferences:
        return
    from noforgetti.service.preferences import hear

    try:
        hear(memory, branch, prompts, session)
    except NoForgettiError as error:
        memory.state.trace("warning", f"what the user stated could not be queued: {error}")


def _leave_quiet(memory: Memory) -> None:
    for branch, session, file, _, _, owner, _ in memory.state.unread():
        if owner == OWNER and time.time() - _changed(file) > QUIET:
            backlog.leave(memory, branch, session)


def _changed(file: str) -> float:
    try:
        return os.stat(file).st_mtime
    except OSError:
        return 0.0


def _sweep(folder: str) -> None:
    """Remove notes of sessions that are long over."""
    try:
        with os.scandir(folder) as entries:
            old = [one.path for one in entries if time.time() - one.stat().st_mtime > _life(one.name)]
    except OSError:
        return
    for path in old:
        if not os.path.basename(path).startswith(SPOOL):
            os.unlink(path)


def _life(name: str) -> float:
    return _CALLS if name.endswith(".call") else _NOTES
