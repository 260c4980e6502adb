"""Rules: what an entry enforces in a host. A trigger, an action, a verifier; read from the entry's `rule`.

A rule fires on what a host reports of the agent's tool calls, never on prose. A rule that cannot be read never fires,
and whoever lists rules says so. The names of triggers and actions are the reference's; commands are matched as the
shell reads them (see `shell`), not as text.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from noforgetti.policy.implied_rule import PROGRAMS

REGEX_LENGTH, REGEX_TEXT = 200, 4_000  # characters of a pattern, and of a command it looks at (the reference's figures)
_NESTED = 6  # tool calls inside of tool calls
_NARROW = 4  # characters of a piece of a command or path below which it fires on nearly everything
# What these are given is said, searched for or looked up, not done.
_SAYS = frozenset(
    {"echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "man", "which", "type", "whatis", "apropos", "help", ":"}
)
_SHORT = re.compile(r"-[A-Za-z]{1,4}")  # short options written together; longer ones are words, as in `find -delete`
_SHELL_TOOLS = frozenset({"bash", "shell", "sh", "terminal", "run_command", "execute_command"})
_WRITES = frozenset({"write", "edit", "multi_edit", "multiedit", "patch", "apply_patch", "create", "str_replace"})
_PATHS = ("path", "file_path", "filePath", "filename", "file")
_CALLED, _GIVEN = ("tool", "toolName", "tool_name", "name"), ("input", "arguments", "args", "params", "parameters")
_REFUSED = (  # commands that no rule may run, whoever approved them (the reference's list)
    (
        "pipes a download into a shell",
        re.compile(r"\b(?:curl|wget)\b[^;&\n]*\|\s*(?:sudo\s+)?(?:\w*/)*(?:ba|z|da|k)?sh\b"),
    ),
    ("removes an absolute path", re.compile(r"\brm\b(?:\s+\S+)*?\s+[\"']?(?:/|~|\$HOME)")),
    ("asks for more rights", re.compile(r"(?:^|[;&|(\s])(?:sudo|doas|su)\b")),
    (
        "makes a file writable for everybody",
        re.compile(r"\bchmod\b(?:\s+-\S+)*\s+(?:[0-7]?[0-7]{2}[2367]\b|[ao]?\+[rx]*w|o=\S*w)"),
    ),
)


class TriggerKind(StrEnum):
    """What makes a rule fire."""

    BASH_CONTAINS = "bash_contains"
    BASH_REGEX = "bash_regex"
    TOOL_NAME = "tool_name"
    FILE_MODIFIED = "file_modified"


class Action(StrEnum):
    """What a rule does."""

    BLOCK = "block"  # the call does not run; the agent reads the entry
    RUN_AFTER = "run_after"  # a command runs after the call succeeded
    WARN = "warn"  # the entry is added to the call's result


@dataclass(frozen=True, slots=True)
class Trigger:
    """What a rule looks for: `bash_contains git add .`"""

    kind: TriggerKind
    text: str

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"


@dataclass(frozen=True, slots=True)
class Verifier:
    """Asked at the end of a turn: was `tool` called before a command with these words?"""

    tool: str
    command: str

    def __str__(self) -> str:
        return f"tool_called {self.tool} before {self.command}"


@dataclass(frozen=True, slots=True)
class EnforcedRule:
    """One rule. `command` belongs to `run_after`; `extra` holds keys of the object that this version does not know."""

    trigger: Trigger | None = None
    action: Action | None = None
    command: str = ""
    verifier: Verifier | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BadRule:
    """A rule that cannot be read: why, in one sentence. It never fires."""

    reason: str


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of the agent, as the host reports it. `id` is the host's: a rule fires once for it."""

    id: str
    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)


@lru_cache(maxsize=1_024)
def parse(text: str) -> EnforcedRule | BadRule:
    """The rule in an entry's `rule`. Never raises."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return BadRule("it is no JSON object")
    if not isinstance(read, dict):
        return BadRule("it is no JSON object")
    known = {key: read.pop(key, "") for key in ("trigger", "action", "command", "verifier")}
    odd = next((key for key, value in known.items() if not isinstance(value, str)), None)
    if odd:
        return BadRule(f"its `{odd}` is no text")
    return made(**known, extra=read)


def made(
    trigger: str = "",
    action: str = "",
    command: str = "",
    verifier: str = "",
    extra: Mapping[str, Any] | None = None,
) -> EnforcedRule | BadRule:
    """The rule that these words make, or why they make none."""
    found = _trigger(trigger) if trigger.strip() else None
    proof = _verifier(verifier) if verifier.strip() else None
    for one in (found, proof):
        if isinstance(one, BadRule):
            return one
    if action and action not in list(Action):
        return BadRule(f"its action is `{action[:40]}`; it must be one of {', '.join(Action)}")
    if found is None and proof is None:
        return BadRule("it has neither a trigger nor a verifier")
    if found is not None and not action:
        return BadRule("its trigger has no action")
    if (action == Action.RUN_AFTER) != bool(command.strip()):
        what = "has no command to run" if action == Action.RUN_AFTER else "has a command, which only `run_after` runs"
        return BadRule(f"it {what}")
    assert not isinstance(found, BadRule)
    assert not isinstance(proof, BadRule)
    return EnforcedRule(found, Action(action) if action else None, command.strip(), proof, extra or {})


def encode(rule: EnforcedRule) -> str:
    """The rule as one JSON object on one line; keys in a fixed order, so that equal rules are equal bytes."""
    said = {
        "trigger": str(rule.trigger) if rule.trigger else "",
        "action": str(rule.action or ""),
        "command": rule.command,
        "verifier": str(rule.verifier) if rule.verifier else "",
    }
    return json.dumps({key: value for key, value in said.items() if value} | dict(rule.extra), ensure_ascii=False)


def advice(rule: EnforcedRule) -> tuple[str, ...]:
    """What makes a rule useless or too wide, a sentence each. It is stored all the same."""
    trigger, found = rule.trigger, []
    if trigger is None:
        return ()
    if trigger.kind is TriggerKind.TOOL_NAME:
        if trigger.text.lower() in _SHELL_TOOLS:
            if rule.action is Action.BLOCK:
                found.append(
                    f"It blocks every command of `{trigger.text}`; `bash_contains WORDS` names the ones you mean."
                )
        elif trigger.text.lower() in PROGRAMS:
            found.append(
                f"`{trigger.text}` is a program of the shell and no tool, so it never fires; "
                f"write `bash_contains {trigger.text}`."
            )
    narrow = trigger.kind in (TriggerKind.BASH_CONTAINS, TriggerKind.FILE_MODIFIED) and len(trigger.text) < _NARROW
    if narrow and not trigger.text.startswith("*."):
        found.append(f"`{trigger.text}` is short, so the rule may fire on more than you mean.")
    if trigger.kind is TriggerKind.BASH_REGEX and (why := slow(trigger.text)):
        found.append(f"The pattern {why}, so the rule never fires.")
    if rule.command and (refused := refuses(rule.command)):
        found.append(f"The command {refused}, so it never runs.")
    return tuple(found)


def refuses(command: str) -> str:
    """Why a command is run by no rule; empty when it may be."""
    return next((why for why, pattern in _REFUSED if pattern.search(command)), "")


def fires(rule: EnforcedRule, call: Call) -> bool:
    """Whether the rule's trigger fits the call, or a call inside of it (a subagent's). Never raises."""
    return rule.trigger is not None and any(_fits(rule.trigger, one) for one in calls_in(call))


def violated(rule: EnforcedRule, calls: tuple[Call, ...]) -> Call | None:
    """The first call of a turn that ran the verifier's command before its tool was called; None when all is well."""
    if rule.verifier is None:
        return None
    for call in calls:
        for one in calls_in(call):
            if one.tool == rule.verifier.tool:
                return None
            if _runs(rule.verifier.command, one):
                return call
    return None


def modified(call: Call) -> tuple[str, ...]:
    """Paths of files that the call, or a call inside of it, writes or edits."""
    return tuple(path for one in calls_in(call) if one.tool.lower() in _WRITES for path in _paths(one.input))


def calls_in(call: Call) -> Iterator[Call]:
    """The call, and every structured tool call in its input: a subagent's tools are the agent's tools. Text is never
    read as a call."""
    waiting: list[tuple[Any, int]] = [(call.input, 0)]
    yield call
    while waiting:
        value, depth = waiting.pop()
        if depth > _NESTED:
            continue
        if isinstance(value, Mapping):
            tool = next((value[key] for key in _CALLED if isinstance(value.get(key), str)), None)
            given = next((value[key] for key in _GIVEN if isinstance(value.get(key), Mapping)), None)
            if tool is not None and given is not None:
                yield Call(call.id, tool, given)
            waiting += ((one, depth + 1) for one in value.values())
        elif isinstance(value, list | tuple):
            waiting += ((one, depth + 1) for one in value)


def slow(pattern: str) -> str:
    """Why a pattern is not tried: it is none, or could take for ever; empty when it may be."""
    if len(pattern) > REGEX_LENGTH:
        return f"has {len(pattern):,} characters, more than {REGEX_LENGTH}"
    try:
        parsed = re._parser.parse(pattern)  # type: ignore[attr-defined]  # the only way to look at a pattern
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is no regular expression ({error})"
    nested, wild = _repeats(parsed, inside=False)
    return (
        "repeats something that repeats or alternates"
        if nested
        else "has too many wide repetitions"
        if wild > 2
        else ""
    )


def _repeats(parsed: Any, *, inside: bool) -> tuple[bool, int]:
    """Whether an unbounded repetition holds another one or a choice, and how many repeat anything at all."""
    nested, wild = False, 0
    for kind, value in parsed:
        name = str(kind)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            _, most, body = value
            unbounded = most > REGEX_LENGTH
            deeper, more = _repeats(body, inside=inside or unbounded)
            nested |= deeper or (inside and unbounded)
            wild += more + (unbounded and str(body[0][0]) in ("ANY", "NOT_LITERAL") if len(body) == 1 else 0)
        elif name == "BRANCH":
            nested |= inside
            for body in value[1]:
                deeper, more = _repeats(body, inside=inside)
                nested, wild = nested or deeper, wild + more
        elif name in ("SUBPATTERN", "ATOMIC_GROUP", "ASSERT", "ASSERT_NOT"):
            body = value if name == "ATOMIC_GROUP" else value[-1]
            deeper, more = _repeats(body, inside=inside)
            nested, wild = nested or deeper, wild + more
    return nested, wild


def _trigger(text: str) -> Trigger | BadRule:
    kind, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if kind not in list(TriggerKind):
        return BadRule(f"its trigger begins with `{kind[:40]}`; it must be one of {', '.join(TriggerKind)}")
    return Trigger(TriggerKind(kind), rest) if rest else BadRule(f"its trigger `{kind}` names nothing")


def _verifier(text: str) -> Verifier | BadRule:
    found = re.fullmatch(r"tool_called\s+(\S+)\s+before\s+(\S.*)", text.strip(), re.DOTALL)
    if found is None:
        return BadRule("its verifier is not written `tool_called TOOL before COMMAND`")
    return Verifier(found[1], found[2].strip())


def _fits(trigger: Trigger, call: Call) -> bool:
    match trigger.kind:
        case TriggerKind.TOOL_NAME:
            return call.tool == trigger.text
        case TriggerKind.FILE_MODIFIED:
            return call.tool.lower() in _WRITES and any(_named(trigger.text, path) for path in _paths(call.input))
        case TriggerKind.BASH_CONTAINS:
            return _runs(trigger.text, call)
        case TriggerKind.BASH_REGEX:
            command = _command(call)
            return bool(command) and not slow(trigger.text) and bool(re.search(trigger.text, command[:REGEX_TEXT]))


def _runs(text: str, call: Call) -> bool:
    """Whether the call runs a command that holds these words, one after the other."""
    command = _command(call)
    if not command:
        return False
    from noforgetti.policy.shell import commands

    wanted = next(iter(commands(text)), ()) or tuple(text.split())
    return any(_holds(words, wanted) for words in commands(command))


def _holds(words: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Whether a command is meant. A program's name alone means the program, not an argument that reads like it; what is
    only said, searched for or looked up is not done."""
    first = wanted[0]
    named = (len(wanted) == 1 and first in PROGRAMS) or words[0] in _SAYS
    places = range(1 if named else len(words))
    if any(_same(words[at], first) and _follow(words[at + 1 :], wanted[1:]) for at in places):
        return True
    # One word with signs in it (an address, a path) may be a piece of a longer one, up to a sign on either side.
    if len(wanted) > 1 or words[0] in _SAYS or not re.search(r"[^\w-]", first) or len(first) < _NARROW:
        return False
    return any(re.search(rf"(?<![\w-]){re.escape(first)}(?![\w-])", word) for word in words)


def _follow(rest: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Whether these words follow in their order with nothing but options between them; wanted options may stand
    anywhere."""
    at = 0
    for word in wanted:
        if word.startswith("-") and len(word) > 1:
            if not _has_option(rest, word):
                return False
            continue
        while at < len(rest) and rest[at].startswith("-") and rest[at] != word:
            at += 1
        if at == len(rest) or not _same(rest[at], word):
            return False
        at += 1
    return True


def _same(word: str, wanted: str) -> bool:
    return word == wanted or (len(word) > 1 and word.rstrip("/") == wanted.rstrip("/") != "")


def _has_option(words: tuple[str, ...], wanted: str) -> bool:
    """`-rf` is `-fr` and `-r -f` too; `--name` is `--name=value` too."""
    if wanted in words or any(word.startswith(f"{wanted}=") for word in words):
        return True
    letters = {letter for word in words if _SHORT.fullmatch(word) for letter in word[1:]}
    return _SHORT.fullmatch(wanted) is not None and letters.issuperset(wanted[1:])


def _command(call: Call) -> str:
    if call.tool.lower() not in _SHELL_TOOLS:
        return ""
    given = next((call.input[key] for key in ("command", "cmd", "script") if key in call.input), "")
    if isinstance(given, list):
        given = " ".join(str(one) for one in given)
    return given if isinstance(given, str) else ""


def _paths(given: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(value for key in _PATHS if isinstance(value := given.get(key), str) and value)


def _named(pattern: str, path: str) -> bool:
    """Whether a path is meant: `*.sql` by its end, a pattern with wildcards by its parts, anything else as a piece."""
    path = path.replace("\\", "/")
    if any(sign in pattern for sign in "*?["):
        name = path.rpartition("/")[2]
        return (
            fnmatch.fnmatchcase(path, pattern)
            or fnmatch.fnmatchcase(path, f"*/{pattern}")
            or ("/" not in pattern and fnmatch.fnmatchcase(name, pattern))
        )
    if "/" in pattern or "." in pattern:
        return pattern in path
    return pattern in path.split("/")
