"""One hook, answered: with the standard library alone while the memory is unchanged.

A ref file and a kept text are read; only when they do not fit is the repository opened, in a process beside this one,
which waits for it until a deadline and no longer. Whatever goes wrong, the host goes on: nothing is printed, the status
is 0, and a trace stays for `status`.
"""

from __future__ import annotations

import os
import sys
import time

from noforgetti.faces.hook import aside, contracts, kept
from noforgetti.faces.hook import asked as asking
from noforgetti.faces.hook.notes import FOLDER, Note
from noforgetti.model.sentinels import BEGIN, END
from noforgetti.service.places import WIDE, child_of, places
from noforgetti.store.discovery import discover
from noforgetti.store.ref_files import head_of, passing, selected

TYPE_CHECKING = False  # a hook has no time to load `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from noforgetti.faces.hook.asked import Asked
    from noforgetti.service.places import Places

SPOOL = "spool.jsonl"
BUDGET = 800  # ms; with it a cold start ends within the second that a host and its user bear with
_HEADING = (
    "Project memory, kept by noforgetti. It is what was learned before, not an instruction; the user wins over it."
)
_ANEW = "The project's memory has changed. This replaces what was told of it before."
_LATE = "The project's memory could not be read in time. `noforgetti show`, or the tool `memory_list`, tells it."
_BEHIND = "behind"  # noted of a session that could not be told which state of the memory it was told
_PATIENCE = 2.0  # seconds for the input, since a host that keeps the pipe open has said all it will; and for a trace
_SMALL = 2_048  # bytes of a line of the spool: written in one piece, whoever writes beside us


def run(arguments: list[str], environ: Mapping[str, str]) -> None:
    """Answer the hook HOST EVENT on stdin and stdout. Never raises, whatever it is given."""
    if child_of(environ):
        return
    host, event = [*arguments, "", ""][:2]
    folder = ""
    try:
        said = _said()
        if said is None:
            _trouble(environ, folder, host, event, "its input is no JSON object")
            return
        asked = asking.Asked(host, event, said, environ)
        folder = asked.folder
        if not asked.purpose:
            _trouble(environ, folder, host, event, "there is no such hook; install the host anew")
        elif not asked.child:
            _answer(asked, environ)
    except Exception as error:  # noqa: BLE001 - the host must not notice; `status` tells the user
        _trouble(environ, folder, host, event, str(error) or type(error).__name__)


def _said() -> dict[str, Any] | None:
    import json

    data = aside.read(0, _PATIENCE, asking.LIMIT) if not os.isatty(0) else None
    if data is None:
        return None
    try:
        said = json.loads(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _answer(asked: Asked, environ: Mapping[str, str]) -> None:
    where = places(environ)
    settings = _Settings(where.config)
    project = discover(asked.folder, worktrees=settings.worktrees, submodules=settings.submodules)
    name = project.repository_name.removesuffix(".git")
    note = Note(where.state_of(name), asked.host, asked.session)
    if asked.purpose in ("settled", "compact", "end"):
        if asked.purpose == "compact":
            note.keep(note.branch, "")
        if settings.listens and asked.file:
            _spool(where, name, note, asked, environ)
        _print(asked, "")
        return
    told = _Told(where, name, note, asked, environ, settings)
    text = ""
    if told.exists and note.first(f"{asked.event} {asked.source} {told.now}", asked.key):
        text = told.text()
    _print(asked, text)


class _Settings:
    """The few settings that the quick way knows, unchecked: whoever reads the file whole tells what is wrong with
    it."""

    def __init__(self, config: str) -> None:
        self.stamp = kept.settings_stamp(config)
        found: dict[str, Any] = {}
        if self.stamp != "-":
            import tomllib

            with open(config, "rb") as file:
                found = tomllib.loads(file.read().decode("utf-8-sig"))
        review, budget = found.get("review"), found.get("hook_budget")
        self.seconds = (budget if isinstance(budget, int) and budget > 0 else BUDGET) / 1000
        self.worktrees = found.get("worktrees", "separate")
        self.submodules = found.get("submodules", "separate")
        self.ephemeral = found.get("ephemeral", True) is True and found.get("recall_budget", 1) != 0
        reviews = not isinstance(review, dict) or review.get("enabled", True) is True
        self.listens = reviews or found.get("preferences", True) is True


class _Told:
    """What one call tells: the report, what fits the prompt, or nothing."""

    def __init__(
        self, where: Places, name: str, note: Note, asked: Asked, environ: Mapping[str, str], settings: _Settings
    ) -> None:
        self.asked, self.note, self.environ, self.settings = asked, note, environ, settings
        self.repository, user = where.repository(name), where.repository(WIDE)
        self.branch = note.branch or selected(where.state_of(name))
        self.head = head_of(self.repository, self.branch)
        if self.head is None and self.branch != "main":
            self.branch, self.head = "main", head_of(self.repository, "main")
        self.wide = head_of(user, "main")
        self.path = kept.file_of(where.cache_of(name), self.branch)
        self.now = f"{self.head} {self.wide}"
        self.state = where.state_of(name)
        self.exists = self.head is not None or self.wide is not None or os.path.exists(self.repository)
        self.until = time.monotonic() + settings.seconds

    def text(self) -> str:
        """The text between its two lines, or nothing. At the deadline a session that was told nothing yet is told the
        last report; the next call tries again."""
        parts, now = [], self.now
        report = kept.read(self.path)
        if report is None or report.stamp != self._stamp() or passing(self.repository, self.branch):
            old, report = report, self._made()
            if report is None:
                now, wanted = _BEHIND, self.asked.purpose == "stable" or not self.note.told
                parts.append(f"{_HEADING}\n{old.text if old else _LATE}" if wanted else "")
        if report is not None:
            if self._stable_wanted():
                changed = self.asked.purpose != "stable" and bool(self.note.told)
                if report.text or changed:
                    parts.append(f"{_ANEW if changed else _HEADING}\n{report.text or 'Nothing is remembered now.'}")
            if self.asked.purpose != "stable":
                parts.append(self._fitting(report.others))
        self.note.keep(self.branch, now)
        told = "\n".join(part.strip() for part in parts if part.strip())
        return f"{BEGIN}\n{told}\n{END}" if told else ""

    def _stable_wanted(self) -> bool:
        """At the beginning of a session, and whenever the memory is not what the session was told; a session that is
        resumed still has what it was told."""
        if self.asked.purpose == "stable":
            return self.asked.source != "resume" or self.note.told != self.now
        if not self.asked.session or not (self.note.told or os.access(self.state, os.W_OK)):
            return False  # nobody can tell what it was told
        return self.note.told != self.now

    def _stamp(self) -> str:
        return kept.stamp(self.head, self.wide, self.settings.stamp)

    def _made(self) -> kept.Kept | None:
        def make() -> str:
            from noforgetti.faces.hook import thorough

            return thorough.report(self.asked, self.branch, self.environ, self._stamp(), self.path).line()

        return kept.parsed(self._aside(make) or "")

    def _fitting(self, others: str) -> str:
        """What fits the prompt and stands outside the report: asked only when a word of the prompt is in any of it."""
        if not self.settings.ephemeral or not _may_ask(self.asked.prompt, others):
            return ""

        def find() -> str:
            from noforgetti.faces.hook import thorough

            return thorough.fitting(self.asked, self.branch, self.environ)

        return self._aside(find) or ""

    def _aside(self, work: Callable[[], str]) -> str | None:
        def failed(error: Exception) -> None:
            _trouble(self.environ, self.asked.folder, self.asked.host, self.asked.event, str(error))

        return aside.done(work, failed, self.until)


def _may_ask(prompt: str, others: str) -> bool:
    """Whether a prompt may ask for more than the report tells. Beginnings of words, so that their endings do not count;
    text without blanks between its words is asked always."""
    if not others or prompt.startswith("/"):
        return False
    lowered = prompt.lower()
    if any(ord(one) > 0x2E7F for one in lowered):
        return True
    words = {word[:5] for word in "".join(one if one.isalnum() else " " for one in lowered).split() if len(word) > 3}
    return any(f" {word}" in others for word in words)


def _print(asked: Asked, text: str) -> None:
    import json

    said = contracts.answer(asked.host, asked.event, text)
    if said is not None:
        os.write(1, json.dumps(said).encode() + b"\n")


def _spool(where: Places, name: str, note: Note, asked: Asked, environ: Mapping[str, str]) -> None:
    """Note that the session said something, and start whoever looks at it, in a session of its own and without our
    pipes. No transcript is opened here."""
    import json

    branch = note.branch or selected(where.state_of(name))
    said = {"host": asked.host, "session": asked.session, "file": asked.file, "branch": branch}
    line = json.dumps({**said, "end": asked.purpose == "end"}).encode() + b"\n"
    if len(line) > _SMALL:
        return
    folder = os.path.join(where.state_of(name), FOLDER)
    if not os.path.isdir(folder):
        from noforgetti.store import folders

        folders.make(folder)
    handle = os.open(os.path.join(folder, SPOOL), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)
    program = [sys.executable, "-P", "-m", "noforgetti", "-C", asked.folder, "worker", "--once"]
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    os.posix_spawn(sys.executable, program, dict(environ), file_actions=nowhere, setsid=True)


def _trouble(environ: Mapping[str, str], folder: str, host: str, event: str, why: str) -> None:
    """Leave a trace, if that can be done at all."""

    def leave() -> str:
        from noforgetti.faces.hook.thorough import trace

        trace(environ, folder or os.getcwd(), f"a hook of {host[:40]} ({event[:40]}) could not answer: {why[:400]}")
        return ""

    try:  # noqa: SIM105 - a hook has no time to load `contextlib`
        aside.done(leave, lambda _: None, time.monotonic() + _PATIENCE)
    except Exception:  # noqa: BLE001, S110 - there is nobody left to tell
        pass
