"""`noforgetti serve --stdio`: one process for one host, the memory kept open, a turn start answered from one ref.

The main thread answers requests in their order; one thread reads lines; a review works in a third. Whatever a request
meets becomes an answer: the process ends only when the host closes its end.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any

import msgspec

from noforgetti import __version__
from noforgetti.errors import Kind, NoForgettiError
from noforgetti.faces import slash, text
from noforgetti.faces.bridge import requests, wire
from noforgetti.faces.bridge.hearing import Hearing
from noforgetti.faces.bridge.recall_tools import TOOLS as RECALL_TOOLS
from noforgetti.faces.bridge.running import Job, Reviews
from noforgetti.faces.bridge.tools import TOOLS
from noforgetti.model.entry import MAIN, BranchName
from noforgetti.retrieval import report as reports
from noforgetti.service import scoped, worker
from noforgetti.service.embedding import Embedding
from noforgetti.service.meaning import meaning
from noforgetti.service.memory import Memory, open_memory
from noforgetti.service.recalling import Question, Recalled, Recalling
from noforgetti.service.turns import Told, Turns
from noforgetti.store.base import UnknownBranch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from noforgetti.faces.bridge.enforcing import Enforcing
    from noforgetti.service.recall import Recall

PROTOCOL = 1
_LAST_BREATH = 1.5  # seconds that a review called off gets to let go before the process ends
_Result = dict[str, Any]


class Server:
    """The methods of the bridge. One for each process."""

    def __init__(self, peer: wire.Peer, environ: Mapping[str, str], cwd: str) -> None:
        self._peer, self._environ, self._cwd, self._host = peer, environ, cwd, ""
        self._memory: Memory | None = None
        self._turns: Turns | None = None
        self._recalling: Recalling | None = None
        self._recall: Recall | None = None
        self._embedding: Embedding | None = None
        self._measured = False
        self._reviews: Reviews | None = None
        self._enforcing: Enforcing | None = None
        self._hearing: Hearing | None = None
        self._settled: dict[tuple[str, str], requests.Session] = {}  # by branch and id: sessions that said something
        self._caught_up = False  # whether sessions that ended before were looked at
        self._reopened: set[str] = set()  # sessions that were there before and may hold unreviewed evidence
        self._methods: dict[str, Callable[[Any], _Result]] = {
            "hello": self._hello,
            "session/start": self._session_start,
            "skills/paths": self._skills_paths,
            "turn/start": self._turn_start,
            "turn/settled": self._turn_settled,
            "tool/call": self._tool_call,
            "tool/result": self._tool_result,
            "turn/end": self._turn_end,
            "command": self._command,
            "complete": self._complete,
            "tool": self._tool,
            "session/end": self._session_end,
        }

    # ---- one request

    def handle(self, message: wire.Message) -> None:
        """Answer one request. Nothing gets out of here."""
        number, name = message.get("id"), message.get("method")
        method = self._methods.get(name) if isinstance(name, str) else None
        if method is None:
            if number is not None:
                self._peer.refuse(number, wire.UNKNOWN_METHOD, f"There is no method {str(name)[:80]!r}.")
            return
        try:
            result = method(message.get("params") or {})
        except msgspec.ValidationError as error:
            self._peer.refuse(number, wire.BAD_PARAMS, f"`{name}`: {error}", kind="user", reason="usage")
        except NoForgettiError as error:
            code = wire.UNAVAILABLE if error.kind is Kind.UNAVAILABLE else wire.EXPECTED
            self._peer.refuse(number, code, error.message, kind=error.kind, hint=error.hint, reason=error.reason)
        except Exception as error:  # noqa: BLE001 - the bridge's guard: a surprise becomes an answer
            traceback.print_exc()  # to stderr, which the host keeps for its own log
            where = traceback.extract_tb(error.__traceback__)[-1]
            told = f"{type(error).__name__} in {os.path.basename(where.filename)}:{where.lineno}"
            self._peer.refuse(
                number, wire.FAULT, f"noforgetti {__version__} met a fault of its own: {told}", kind="internal"
            )
        else:
            if number is not None:
                self._peer.answer(number, result)

    def end(self) -> None:
        """The host is gone: call off what runs, and let go of the memory."""
        if self._recalling is not None:
            self._recalling.close()
        if self._reviews is not None:
            self._reviews.end(0.0)
            if self._hearing is not None:
                self._hearing.end(_LAST_BREATH)
            self._reviews.finish(_LAST_BREATH)
        if self._memory is not None:
            self._memory.close()

    @property
    def memory(self) -> Memory:
        """The project's memory, opened at the first need."""
        if self._memory is None:
            self._memory = open_memory(self._cwd, self._environ)
            self._embedding = Embedding(self._memory.settings.embedding, self._memory.places, self._environ)
            self._memory.meaning = meaning(self._embedding, load=False)
            self._recalling = Recalling(self._memory, self._embedding)
            self._turns = Turns(self._memory, self._ask)
            self._reviews = Reviews(self._memory, self._peer, host=self._host)
            self._hearing = Hearing(self._memory)
        return self._memory

    # ---- methods

    def _hello(self, params: Any) -> _Result:
        hello = msgspec.convert(params, requests.Hello)
        if self._memory is None:
            self._cwd, self._host = hello.cwd, hello.host
        project = self.memory.project
        return {"protocol": PROTOCOL, "version": __version__, "project": {"root": project.root, "key": project.key}}

    def _session_start(self, params: Any) -> _Result:
        start = msgspec.convert(params, requests.SessionStart)
        branch, notices = self._branch(start.branch)
        file = start.session.file
        if file and os.path.exists(file) and start.reason != "tree":
            self._reopened.add(start.session.id)
        self.recalling.wake(branch)
        return {"branch": branch, "status": self._footer(branch), "notices": notices}

    def _skills_paths(self, params: Any) -> _Result:
        from noforgetti.service import skills

        asked = msgspec.convert(params, requests.SkillsPaths)
        branch, notices = self._branch(asked.branch)
        paths = (*skills.publish(self.memory, branch), *skills.publish(self.memory.wide, MAIN))
        return {"branch": branch, "paths": list(paths), "notices": notices}

    def _turn_start(self, params: Any) -> _Result:
        turn = msgspec.convert(params, requests.TurnStart)
        branch, notices = self._branch(turn.branch)
        notices += self._notice_of_search()
        if turn.system_characters is not None and not self._measured:
            self._measured = True  # once: the section's bytes must not follow the length of the prompt around it
            self.turns.sections.tokens = reports.budget(turn.system_characters)
        if self._enforcing is not None:  # else no call was looked at yet: there is nothing to begin anew
            self._enforcing.begin(turn.session.id)
        started = self.turns.start(branch, turn.prompt, turn.session.id)
        return {
            "branch": branch,
            "inject": started.inject,
            "status": self._footer(branch, started.told),
            "notices": notices,
        }

    def _ask(self, question: Question) -> Recalled:
        return self.recalling.ask(question, self.memory.settings.recall_budget / 1000)

    def _notice_of_search(self) -> list[_Result]:
        """The first failure of each kind in this process: what happened and how to mend it."""
        told = self.embedding.take_notice()
        return [{"level": "warning", "text": told}] if told else []

    def _turn_settled(self, params: Any) -> _Result:
        from noforgetti.service import backlog, cadence, dream

        settled = msgspec.convert(params, requests.TurnSettled)
        branch, _ = self._branch(settled.branch)
        memory = self.memory
        self.recalling.wake(branch)
        if memory.exists:
            scoped.used(memory, branch, settled.session.id)
        if settled.outcome != "completed" or not settled.prompts or settled.session.file is None:
            # Without a file: a child of another tool, or a user who wants no traces. Only `/memory review` reviews it.
            return {}
        if memory.settings.preferences and self._hearing is not None:
            self._hearing.hear(branch, settled.session.id, settled.prompts)
        if not memory.settings.review.enabled:
            return {}
        memory.prepare()
        cadence.record(memory, branch, settled.prompts)
        backlog.count(memory, branch, settled.session.id, settled.session.file, len(settled.prompts))
        self._settled.pop((branch, settled.session.id), None)  # the newest stands last
        self._settled[branch, settled.session.id] = settled.session
        leftovers = settled.session.id in self._reopened
        self._reopened.discard(settled.session.id)
        behind = not self._caught_up and bool(backlog.due(memory))
        if leftovers or behind or cadence.due(memory, branch).due or dream.due(memory, branch):
            job = Job(settled.session, branch, len(settled.prompts), leftovers=leftovers, backlog=behind)
            self._caught_up |= self.reviews.start(job)
        return {}

    def _tool_call(self, params: Any) -> _Result:
        return self.enforcing.call(params)

    def _tool_result(self, params: Any) -> _Result:
        return self.enforcing.result(params)

    def _turn_end(self, params: Any) -> _Result:
        return self.enforcing.turn_end(params)

    def _command(self, params: Any) -> _Result:
        command = msgspec.convert(params, requests.Command)
        branch, notices = self._branch(command.branch)
        try:
            answer = slash.answer(self._here(branch), command.line)
        except NoForgettiError as error:
            shown = f"{error.message}\nHint: {error.hint}" if error.hint else error.message
            return {
                "text": shown,
                "level": "error",
                "branch": branch,
                "status": self._footer(branch),
                "notices": notices,
            }
        shown, level = answer.text, answer.level
        if answer.review or answer.dream:
            self.memory.prepare()  # so that `status` shows how it went, in a new project too
            job = Job(command.session, branch, 0, forced=True, manual=True, dream=answer.dream, review=answer.review)
            if not self.reviews.start(job):
                shown, level = "A review is running already.", "warning"
        chosen = answer.branch or branch
        return {"text": shown, "level": level, "branch": chosen, "status": self._footer(chosen), "notices": notices}

    def _here(self, branch: BranchName) -> slash.Here:
        return slash.Here(self.memory, branch, lambda: self.recall, self.embedding)

    def _complete(self, params: Any) -> _Result:
        complete = msgspec.convert(params, requests.Complete)
        branch, _ = self._branch(complete.branch)
        return {"items": slash.completions(self.memory, branch, complete.prefix)}

    def _tool(self, params: Any) -> _Result:
        call = msgspec.convert(params, requests.Tool)
        branch, notices = self._branch(call.branch)
        try:
            if call.name in TOOLS:
                answer = TOOLS[call.name](self.memory, branch, call.arguments, call.session.id)
            elif call.name in RECALL_TOOLS:
                answer = RECALL_TOOLS[call.name](self.recall, branch, call.arguments, call.session.id)
            else:
                return {"text": f"There is no tool `{call.name[:80]}`.", "error": True, "details": {}}
        except NoForgettiError as error:
            shown = f"{error.message} {error.hint}".strip()
            return {"text": shown, "error": True, "details": {"code": error.reason}, "notices": notices}
        return {
            "text": answer.text,
            "error": answer.error,
            "details": answer.details,
            "branch": branch,
            "status": self._footer(branch),
            "notices": notices,
        }

    def _session_end(self, params: Any) -> _Result:
        end = msgspec.convert(params, requests.SessionEnd)
        until = time.monotonic() + max(0.0, min(end.wait, 2.0))
        if end.reason != "reload":
            self._leave()
        if self._hearing is not None:
            self._hearing.end(until - time.monotonic())
        if self._reviews is not None:
            self._reviews.end(max(0.0, until - time.monotonic()))
            if end.reason != "reload" and self._settled:
                worker.detach(self.memory, self._environ)
        return {}

    def _leave(self) -> None:
        """The session is over: what it said and nobody reviewed is due, and the newest is reviewed at once, if it can
        be within the wait. A program or an endpoint is left to a worker: it would be asked twice."""
        from noforgetti.service import backlog

        for branch, session in self._settled:
            backlog.leave(self.memory, branch, session)
        if self._settled and self.memory.settings.review.reviewer not in worker.PATIENT:
            (branch, _), session_ = next(reversed(self._settled.items()))
            self.reviews.start(Job(session_, BranchName(branch), 0, ending=True))

    # ---- shared

    @property
    def turns(self) -> Turns:
        """What turns are told."""
        assert self.memory is not None
        assert self._turns is not None
        return self._turns

    @property
    def recall(self) -> Recall:
        """What tools and commands search with; opened at the first need."""
        if self._recall is None:
            from noforgetti.service.recall import Recall

            self._recall = Recall(self.memory, self.embedding)
        return self._recall

    @property
    def recalling(self) -> Recalling:
        """What answers turns and keeps the index up, beside this thread."""
        assert self.memory is not None
        assert self._recalling is not None
        return self._recalling

    @property
    def embedding(self) -> Embedding:
        """The model of this process."""
        assert self.memory is not None
        assert self._embedding is not None
        return self._embedding

    @property
    def enforcing(self) -> Enforcing:
        """The rules of this process, at work."""
        if self._enforcing is None:
            from noforgetti.faces.bridge.enforcing import Enforcing

            self._enforcing = Enforcing(self.memory, lambda wanted: self._branch(wanted)[0], self._ask)
        return self._enforcing

    @property
    def reviews(self) -> Reviews:
        """The reviews of this process."""
        assert self.memory is not None
        assert self._reviews is not None
        return self._reviews

    def _branch(self, wanted: str | None) -> tuple[BranchName, list[_Result]]:
        """The session's branch; one that is gone falls back to `main` with a notice."""
        if wanted is None or wanted == MAIN:
            return MAIN, []
        try:
            self.memory.head(wanted)
        except UnknownBranch:
            told = f"Memory branch `{wanted}` is gone; this session uses `main` now."
            return MAIN, [{"level": "warning", "text": told}]
        return BranchName(wanted), []

    def _footer(self, branch: str, told: Told | None = None) -> str:
        told = told or self.turns.sections.of(branch)
        hard = self.memory.limits.hard
        return text.footer(branch, told.entries, told.characters, hard, promotions=told.promotions)


def serve(environ: Mapping[str, str], cwd: str) -> int:
    """Serve the host on stdin and stdout until it closes its end. Answers the exit status."""
    reading, writing = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # what a library prints goes to stderr: stdout belongs to the protocol
    sys.stdout = sys.stderr
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    peer = wire.Peer(reading, writing)
    waiting: queue.SimpleQueue[wire.Message | None] = queue.SimpleQueue()

    def listen() -> None:
        try:
            peer.listen(waiting.put)
        finally:
            waiting.put(None)

    threading.Thread(target=listen, name="noforgetti-listen", daemon=True).start()
    server = Server(peer, environ, cwd)
    while (message := waiting.get()) is not None:
        server.handle(message)
    server.end()
    sys.stderr.flush()
    os._exit(0)  # a reviewer's thread that does not let go must not keep the process
