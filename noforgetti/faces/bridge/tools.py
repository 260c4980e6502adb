"""The agent's tools that write: arguments in, one text out. Failures are texts that the model can act on."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from noforgetti.faces import text
from noforgetti.faces.arguments import ToolAnswer, misused, word
from noforgetti.model.entry import Category, EntryId, Importance, Scope, Writer
from noforgetti.policy.verdict import Rule
from noforgetti.service import writes
from noforgetti.service.views import show_view, written_view

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory

_ACTIONS = ("list", "add", "replace", "remove")
_TEXTS = 20  # values of a list argument that are looked at; nobody means more


_Choice = TypeVar("_Choice", bound=StrEnum)


class _Misuse(Exception):
    """An argument that cannot be meant; its text tells the model."""


def project_memory(memory: Memory, branch: str, arguments: dict[str, Any], session: str) -> ToolAnswer:
    """List, add, replace or remove. The names `text` and `match` of the older product are understood too."""
    action = arguments.get("action")
    content = word(arguments, "content", "text")
    old = word(arguments, "oldText", "match")
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
    try:
        traits = _traits(arguments)
    except _Misuse as error:
        return _misused(str(error))
    if action == "add":
        done = _add(memory, branch, content or "", traits, arguments, session)
    elif action == "replace":
        override = _yes(arguments, "overrideConflicts")
        done = writes.reword(
            memory, branch, old or "", content or "", traits, writer=Writer.AGENT, session=session, override=override
        )
    else:
        done = writes.remove(memory, branch, old or "", writer=Writer.AGENT, session=session)
    return _answered(memory, branch, str(action), done)


def memory_remember(memory: Memory, branch: str, arguments: dict[str, Any], session: str) -> ToolAnswer:
    """Remember a fact under a key, or a lesson."""
    kind = word(arguments, "type") or ("fact" if arguments.get("key") is not None else "lesson")
    try:
        traits = _traits(arguments)
        if kind == "fact":
            said, key = word(arguments, "value", "content", "text"), word(arguments, "key")
            if not key or said is None:
                return _misused("A fact needs `key`, such as `pref.commit_style`, and `value`.")
            traits = replace(traits, key=key)
        elif kind == "lesson":
            said = word(arguments, "rule", "content", "text")
            if said is None:
                return _misused("A lesson needs `rule`: what to do or not to do, as one statement.")
            traits = replace(
                traits,
                category=Category.LESSON,
                negative=_yes(arguments, "negative") or None,
                tags=_tag(word(arguments, "category")),
            )
        else:
            return _misused(f"`type` is {kind!r}; it must be fact or lesson.")
    except _Misuse as error:
        return _misused(str(error))
    return _answered(memory, branch, "remember", _add(memory, branch, said, traits, arguments, session))


def memory_forget(memory: Memory, branch: str, arguments: dict[str, Any], session: str) -> ToolAnswer:
    """Take a fact or a lesson out; history keeps it."""
    old = word(arguments, "key", "id", "oldText", "text")
    if not old:
        return _misused("Say what to forget: the `key` of a fact, or the `id` of an entry.")
    done = writes.remove(memory, branch, old, writer=Writer.AGENT, session=session)
    return _answered(memory, branch, "forget", done)


def memory_edit(memory: Memory, branch: str, arguments: dict[str, Any], session: str) -> ToolAnswer:
    """Reword an entry, or take it out for one that took its place; say where it comes from."""
    op = word(arguments, "op", "action") or "update"
    old = word(arguments, "id", "oldText", "text")
    if not old:
        return _misused("`id` is missing: the id of an entry, or text that occurs in exactly one entry.")
    if op == "invalidate":
        by = word(arguments, "supersededBy") or ""
        done = writes.invalidate(memory, branch, old, by, writer=Writer.AGENT, session=session)
        return _answered(memory, branch, op, done)
    if op != "update":
        return _misused(f"`op` is {op!r}; it must be update or invalidate.")
    try:
        traits = replace(
            _traits(arguments),
            derived=tuple(EntryId(one) for one in _texts(arguments, "derivedFrom")) or None,
            informs=_texts(arguments, "informs") or None,
            source=word(arguments, "sourceSession"),
        )
    except _Misuse as error:
        return _misused(str(error))
    done = writes.reword(
        memory,
        branch,
        old,
        word(arguments, "newText", "content"),
        traits,
        writer=Writer.AGENT,
        session=session,
        override=_yes(arguments, "overrideConflicts"),
    )
    return _answered(memory, branch, op, done)


def _add(
    memory: Memory, branch: str, said: str, traits: writes.Traits, arguments: dict[str, Any], session: str
) -> writes.Written:
    return writes.add(
        memory,
        branch,
        said,
        traits,
        writer=Writer.AGENT,
        session=session,
        override=_yes(arguments, "overrideConflicts"),
        force=_yes(arguments, "force"),
    )


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


def _traits(arguments: dict[str, Any]) -> writes.Traits:
    """What the arguments say about an entry besides its text. Raises `_Misuse`."""
    category = word(arguments, "category")
    return writes.Traits(
        category=Category(category) if category in list(Category) else None,
        importance=_one_of(arguments, "importance", Importance),
        pinned=_yes(arguments, "pinned") or None,
        scope=_one_of(arguments, "scope", Scope),
        task=word(arguments, "task") or "",
    )


def _one_of(arguments: dict[str, Any], name: str, choices: type[_Choice]) -> _Choice | None:
    given, value = arguments.get(name), word(arguments, name)
    if given is None:
        return None
    if value not in list(choices):
        raise _Misuse(f"`{name}` is {given!r}; it must be one of {', '.join(choices)}.")
    return choices(value)


def _yes(arguments: dict[str, Any], name: str) -> bool:
    value = arguments.get(name)
    return value is True or (isinstance(value, str) and value.strip().lower() in ("true", "yes"))


def _texts(arguments: dict[str, Any], name: str) -> tuple[str, ...]:
    value = arguments.get(name)
    listed = value if isinstance(value, list) else [value]
    return tuple(one for one in listed[:_TEXTS] if isinstance(one, str) and one.strip())


def _tag(category: str | None) -> tuple[str, ...] | None:
    """The tag that a lesson's category stands for; `general` is no tag."""
    return (category.casefold(),) if category and category.casefold() not in ("general", *Category) else None


def _misused(message: str) -> ToolAnswer:
    return misused(f"{message} Nothing was written.")


TOOLS = {
    "project_memory": project_memory,
    "memory_remember": memory_remember,
    "memory_forget": memory_forget,
    "memory_edit": memory_edit,
}
