"""The user's own agent program as a reviewer: the model and login of the host that a session was held in.

Guaranteed besides what `command` guarantees: the program runs in a private folder with nothing in it, so that no
project file, rule or hook of a project reaches it; it is told to offer its model no tool that reads, writes or reaches
the network, to start no memory server of ours and, where it can, to keep no session. What it prints is untrusted text.

The arguments were tried with the real programs against a scripted model: claude 2.1.197, codex 0.171.0, gemini 0.61.0,
qwen 0.15.10, opencode 1.18.33. What their models were offered then: no tool by claude, opencode and qwen; by codex
`request_user_input` and `view_image`; by gemini one entry without a name, which was not looked into.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from noforgetti.review.reviewer import Completion, ReviewerError
from noforgetti.review.reviewers.command import TIMEOUT, CommandReviewer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_POLICY = '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'  # Gemini's policy engine: no tool
_POLICY_FILE = "no-tools.toml"
_QUOTED = 200  # characters of a program's own error in a message
# What a host sets for its children; Claude Code is said to refuse to run within itself.
_NESTED = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID")
_CODEX_OFF = (
    *("features.hooks", "features.plugins", "features.shell_tool", "features.unified_exec"),
    *("features.multi_agent", "features.goals", "features.apps", "tools.view_image"),
)
_CODEX = (
    *("exec", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only", "--color", "never"),
    *(word for name in _CODEX_OFF for word in ("-c", f"{name}=false")),
    *("-c", "web_search=disabled"),
    # The whole table: without a command codex refuses a server that was not configured before.
    *("-c", 'mcp_servers.noforgetti={command="noforgetti",enabled=false}', "-"),
)
_CLAUDE = (
    *("-p", "--output-format", "json", "--no-session-persistence", "--strict-mcp-config", "--tools", ""),
    *("--disable-slash-commands", "--settings", '{"disableAllHooks":true}'),
)
_GEMINI = (
    *("--skip-trust", "-e", "none", "--allowed-mcp-server-names", "none"),
    *("--policy", f"../{_POLICY_FILE}", "--output-format", "json", "-p", ""),
)
_QWEN = (
    *("--bare", "--chat-recording=false", "--output-format", "json"),
    *(word for tool in ("read_file", "edit", "run_shell_command") for word in ("--exclude-tools", tool)),
)
_OPENCODE = ("run", "--pure", "--format", "json", "--title", "noforgetti")


@dataclass(frozen=True, slots=True)
class Program:
    """How a host's program is asked once: the prompt on its stdin, the model's words found by `answer` in what it
    prints. `answer` raises `ReviewerError` when the program tells of a failure there."""

    name: str
    binary: str
    arguments: tuple[str, ...]
    answer: Callable[[str], str]
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class ProgramReviewer:
    """Asks a program in `folder`, a private one of ours that is made when it is needed. `environ` is the user's."""

    program: Program
    path: str
    environ: Mapping[str, str]
    folder: str
    timeout: float = TIMEOUT
    _running: CommandReviewer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        kept = {name: value for name, value in self.environ.items() if name not in _NESTED}
        self._running = CommandReviewer(
            (self.path, *self.program.arguments),
            {**kept, **self.program.environ},
            cwd=os.path.join(self.folder, "empty"),
            timeout=self.timeout,
            name=self.name,
        )

    @property
    def name(self) -> str:
        """The host's name, as it stands in the review commit's trailer."""
        return self.program.name

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        """The model's words. Raises `ReviewerError` as `CommandReviewer` does, and when the program tells of a
        failure."""
        try:
            _prepare(self.folder)
        except OSError as trouble:
            raise _failed(f"`{self.program.binary}` has no folder to run in: {trouble.strerror}") from trouble
        said = self._running.complete(system, prompt, max_tokens)
        return replace(said, text=self.program.answer(said.text))

    def stop(self) -> None:
        """Call the review off from another thread."""
        self._running.stop()


def _prepare(folder: str) -> None:
    os.makedirs(os.path.join(folder, "empty"), mode=0o700, exist_ok=True)
    policy = os.path.join(folder, _POLICY_FILE)
    if not os.path.exists(policy):
        with open(policy, "w", encoding="utf-8") as file:
            file.write(_POLICY)


def _plain(said: str) -> str:
    return said


def _result(said: str) -> str:
    """Claude Code's answer: one object."""
    return _of_result(_value(said, "claude"), "claude")


def _last_result(said: str) -> str:
    """Qwen Code's answer: a list of events, of which the last tells the result."""
    events = _value(said, "qwen")
    listed = [one for one in events if isinstance(one, dict)] if isinstance(events, list) else []
    return _of_result(next((one for one in reversed(listed) if one.get("type") == "result"), None), "qwen")


def _of_result(done: object, binary: str) -> str:
    answer = done.get("result") if isinstance(done, dict) else None
    if not isinstance(done, dict) or not isinstance(answer, str) or done.get("is_error"):
        error = done.get("error") if isinstance(done, dict) else None
        told = error.get("message") if isinstance(error, dict) else None
        raise _told(binary, answer or told)
    return answer


def _response(said: str) -> str:
    """Gemini CLI's answer: one object."""
    done = _value(said, "gemini")
    answer = done.get("response") if isinstance(done, dict) else None
    if not isinstance(answer, str):
        error = done.get("error") if isinstance(done, dict) else None
        raise _told("gemini", error.get("message") if isinstance(error, dict) else None)
    return answer


def _texts(said: str) -> str:
    """OpenCode's answer: events, one a line; the texts of the last message."""
    texts: dict[str, list[str]] = {}
    trouble: object = None
    for line in said.splitlines():
        event = _loads(line)
        part = event.get("part") if isinstance(event, dict) else None
        if isinstance(event, dict) and event.get("type") == "error":
            trouble = event.get("error")
        elif isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            texts.setdefault(str(part.get("messageID")), []).append(part["text"])
    if not texts:
        data = trouble.get("data") if isinstance(trouble, dict) else None
        raise _told("opencode", data.get("message") if isinstance(data, dict) else None)
    return "\n".join(list(texts.values())[-1])


def _value(said: str, binary: str) -> Any:
    """The one JSON value of what was printed; words before it (warnings, say) are passed over line by line."""
    lines = said.strip().splitlines(keepends=True)
    for start, line in enumerate(lines):
        if line.startswith(("{", "[")) and (value := _loads("".join(lines[start:]))) is not None:
            return value
    raise _told(binary, said.strip())


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _told(binary: str, what: object) -> ReviewerError:
    line = " ".join(what.split()) if isinstance(what, str) else ""
    shown = "".join(one if one.isprintable() else " " for one in line)[:_QUOTED]
    return _failed(f"`{binary}` gave no answer{f', saying: {shown}' if shown else ''}")


def _failed(why: str) -> ReviewerError:
    return ReviewerError(
        f"The reviewer {why}. Nothing was reviewed.", hint="run the program by hand, or set `review.reviewer`"
    )


PROGRAMS = {
    one.name: one
    for one in (
        Program("claude-code", "claude", _CLAUDE, _result),
        Program("codex", "codex", _CODEX, _plain),
        Program("gemini", "gemini", _GEMINI, _response),
        Program("qwen", "qwen", _QWEN, _last_result),
        Program(
            "opencode",
            "opencode",
            _OPENCODE,
            _texts,
            {"OPENCODE_PERMISSION": '{"*":"deny"}', "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        ),
    )
}
