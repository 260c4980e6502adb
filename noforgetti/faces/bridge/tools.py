"""The agent's tools: arguments in, one text out. Failures are texts that the model can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noforgetti.faces import text
from noforgetti.faces.bridge.arguments import ToolAnswer, misused
from noforgetti.model.entry import Importance, Writer
from noforgetti.policy.verdict import Rule
from noforgetti.service import writes
from noforgetti.service.views import show_view, written_view

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory

_ACTIONS = ("list", "add", "replace", "remove")


def project_memory(memory: Memory, branch: str, arguments: dict[str, Any], session: str) -> ToolAnswer:
    """List, add, replace or remove. The names `text` and `match` of the older product are understood too."""
    action = arguments.get("action")
    content = _text(arguments, "content", "text")
    old = _text(arguments, "oldText", "match")
    if action not in _ACTIONS:
        return _misused(f"`action` is {action!r}; it must be one of {', '.join(_ACTIONS)}.")
    if action == "list":
        doc = show_view(branch, memory.snapshot(branch))
        size = f"{doc['characters']:,} of {memory.limits.hard:,} characters"
        return ToolAnswer(f"{text.entry_list(doc)}\n({size}, branch `{branch}`)", details={"action": action, **doc})
    if action in ("replace", "remove") and old is None:
        return _misused(f"`{action}` needs `oldText`: the id of an entry, or text that occurs in exactly one entry.")
    if action in ("add", "replace") and content is None:
        return _misused(f"`{action}` needs `content`: the fact as one statement.")
    importance = arguments.get("importance")
    if importance is not None and importance not in list(Importance):
        return _misused(f"`importance` is {importance!r}; it must be high, normal or low.")
    traits = writes.Traits(importance=Importance(importance) if importance else None)
    if action == "add":
        done = writes.add(memory, branch, content or "", traits, writer=Writer.AGENT, session=session)
    elif action == "replace":
        done = writes.reword(memory, branch, old or "", content or "", traits, writer=Writer.AGENT, session=session)
    else:
        done = writes.remove(memory, branch, old or "", writer=Writer.AGENT, session=session)
    return _answered(memory, branch, str(action), done)


def _answered(memory: Memory, branch: str, action: str, done: writes.Written) -> ToolAnswer:
    doc = {"action": action, **written_view(done)}
    refusal = done.refusal
    if refusal is None:
        tail = "" if done.commit is None else " It is part of the memory from the next prompt on."
        return ToolAnswer(text.written(doc) + tail, details=doc)
    lines = [refusal.message, refusal.hint]
    if refusal.rule is Rule.CAPACITY:
        lines += [
            "Do not try again in this turn. The entries are:",
            text.entry_list(show_view(branch, memory.snapshot(branch))),
        ]
    return ToolAnswer("\n".join(line for line in lines if line), error=True, details=doc)


def _text(arguments: dict[str, Any], *names: str) -> str | None:
    return next((arguments[name] for name in names if isinstance(arguments.get(name), str)), None)


def _misused(message: str) -> ToolAnswer:
    return misused(f"{message} Nothing was written.")


TOOLS = {"project_memory": project_memory}
