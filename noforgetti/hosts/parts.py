"""What we put into the files of a host: a file of our own, members of a JSON file, a table of a TOML file.

Each part answers three questions about the text of its file: where are our pieces and are they as we would write them
(`look`), the text with them (`put`), the text without them (`cut`). A piece that somebody else wrote or changed is
never touched; `look` reports it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - dataclasses read the annotations
from typing import TYPE_CHECKING, Any, Protocol

from noforgetti.hosts import jsonc, toml_block

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class State(StrEnum):
    """What one of our pieces is now."""

    ABSENT = "absent"
    CURRENT = "current"  # as we would write it
    OLD = "old"  # ours, as another version or installation wrote it
    CHANGED = "changed"  # ours once; somebody has changed it since
    FOREIGN = "foreign"  # in our place, and never ours


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece as found: what it is called for people, its state, and the program it would start (empty: none)."""

    name: str
    state: State
    program: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """What a put leaves for a later cut: the values as written, and which containers were made or opened."""

    values: tuple[tuple[str, Any], ...] = ()  # (name of the piece, its value)
    made: tuple[jsonc.Path, ...] = ()
    tight: tuple[jsonc.Path, ...] = ()


NO_MARKS = Marks()


class Part(Protocol):
    """Our pieces in one file. Every method raises `Unusable` when the text cannot be read."""

    @property
    def path(self) -> Path: ...
    @property
    def mode(self) -> int:
        """The mode of a file that we create."""

    def look(self, text: str | None, marks: Marks) -> tuple[Piece, ...]: ...
    def put(self, text: str | None, marks: Marks) -> tuple[str, Marks]: ...
    def cut(self, text: str, marks: Marks) -> str: ...
    def empty(self, text: str) -> bool:
        """True when the text says nothing, so that the file may go if we had made it."""


class Unusable(Exception):
    """The file's text cannot be understood. `str()` says why."""


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is wholly ours."""

    path: Path
    content: str
    program: str = ""
    mode: int = 0o600
    stamp: str = "noforgetti"  # what a file in our place says when it is ours, whoever wrote it

    def look(self, text: str | None, marks: Marks) -> tuple[Piece, ...]:
        """One piece: the file."""
        if text is None:
            return (Piece(self.path.name, State.ABSENT),)
        if text == self.content:
            return (Piece(self.path.name, State.CURRENT, self.program),)
        if ("", text) in marks.values:
            return (Piece(self.path.name, State.OLD, _program_in(text)),)
        state = State.CHANGED if marks.values else State.FOREIGN
        return (Piece(self.path.name, state, _program_in(text) if marks.values else ""),)

    def put(self, text: str | None, marks: Marks) -> tuple[str, Marks]:
        """The file as we want it, unless somebody else's stands there."""
        (piece,) = self.look(text, marks)
        if text is not None and piece.state in (State.CHANGED, State.FOREIGN):
            return text, marks
        return self.content, Marks((("", self.content),))

    def cut(self, text: str, marks: Marks) -> str:
        """Nothing, unless it has been changed."""
        (piece,) = self.look(text, marks)
        return text if piece.state in (State.CHANGED, State.FOREIGN) else ""

    def empty(self, text: str) -> bool:
        """True for no text at all."""
        return not text


@dataclass(frozen=True, slots=True)
class Member:
    """One value in a JSON file. `path` ends with a name, or with None: one element of an array. `ours` tells an element
    or a member of ours by its value; `same` tells whether two values differ in nothing but the program's place."""

    path: jsonc.Path
    value: Any
    ours: Callable[[Any], bool]
    name: str = ""


@dataclass(frozen=True, slots=True)
class JsonMembers:
    """Members and elements in a JSON file that is somebody else's; comments and trailing commas may stand in it.
    `base` is what a file of ours begins with (`{"version": 1}` for Cursor's hooks)."""

    path: Path
    members: tuple[Member, ...]
    base: Mapping[str, Any] = field(default_factory=dict)
    mode: int = 0o600

    def look(self, text: str | None, marks: Marks) -> tuple[Piece, ...]:
        """One piece for each member, and one more for each that stands there twice."""
        with _understood():
            root = jsonc.scan(text) if text and not _blank(text) else None
            return tuple(piece for member in self.members for piece in self._look(root, member, marks))

    def put(self, text: str | None, marks: Marks) -> tuple[str, Marks]:
        """The text with every member that is missing or old."""
        with _understood():
            new = text if text and not _blank(text) else _begun(text, self.base)
            values, made, tight = dict(marks.values), list(marks.made), list(marks.tight)
            for member in self.members:
                root = jsonc.scan(new)
                states = {piece.state for piece in self._look(root, member, marks)}
                if states == {State.ABSENT}:
                    added = jsonc.add(new, member.path, member.value)
                    new = added.text
                    made.extend(one for one in added.made if one not in made)
                    tight.extend(one for one in added.tight if one not in tight)
                elif states <= {State.OLD, State.CURRENT}:
                    first, *others = _places(root, member)
                    new = jsonc.replace(new, first, member.value) if State.OLD in states else new
                    for place in reversed(others):  # what another installation has put there
                        new = jsonc.cut(new, place)
                elif states != {State.CURRENT}:
                    continue
                values[member.name] = member.value
            _verify(text, new)
            return new, Marks(tuple(values.items()), tuple(made), tuple(tight))

    def cut(self, text: str, marks: Marks) -> str:
        """The text without every member that is as we wrote it, and without the containers that we had made."""
        if _blank(text):
            return text
        with _understood():
            for member in reversed(self.members):
                root = jsonc.scan(text)
                states = [piece.state for piece in self._look(root, member, marks)]
                for place, state in reversed(list(zip(_places(root, member), states, strict=False))):
                    if state in (State.CURRENT, State.OLD):
                        text = jsonc.cut(text, place, tight=_in(place[:-1], marks.tight))
            for path in sorted(marks.made, key=len, reverse=True):
                node = jsonc.node_at(jsonc.scan(text), path)
                if node and node.container and not node.value and not text[node.start + 1 : node.end - 1].strip():
                    text = jsonc.cut(text, path, tight=_in(path[:-1], marks.tight))
            jsonc.scan(text)
            return text

    def empty(self, text: str) -> bool:
        """True for an empty object, without comments, or what a file of ours begins with."""
        if _blank(text):
            return True
        with _understood():
            root = jsonc.scan(text)
            return root.value in ({}, dict(self.base)) and not _comments(text, root)

    def _look(self, root: jsonc.Node | None, member: Member, marks: Marks) -> tuple[Piece, ...]:
        places = _places(root, member) if root else []
        if not places or root is None:
            return (Piece(member.name, State.ABSENT),)
        found = [node.value for node in (jsonc.node_at(root, place) for place in places) if node]
        return tuple(Piece(member.name, _state(value, member, marks), _program_in(value)) for value in found)


@dataclass(frozen=True, slots=True)
class TomlTable:
    """One table in a TOML file that is somebody else's."""

    path: Path
    table: tuple[str, ...]
    body: str
    ours: Callable[[Any], bool]
    mode: int = 0o600

    @property
    def name(self) -> str:
        """What people call it."""
        return ".".join(self.table)

    def look(self, text: str | None, marks: Marks) -> tuple[Piece, ...]:
        """One piece: the table."""
        with _understood():
            block = toml_block.block_in(text or "")
            value = _under(block.value if block else toml_block.loaded(text or ""), self.table)
            if not block and value is None:
                return (Piece(self.name, State.ABSENT),)
            wanted = _under(toml_block.loaded(self.body), self.table)
            member = Member(self.table, wanted, self.ours, self.name)
            state = _state(value, member, marks) if block else State.FOREIGN
            return (Piece(self.name, state, _program_in(value)),)

    def put(self, text: str | None, marks: Marks) -> tuple[str, Marks]:
        """The text with our block, unless somebody has changed it or wrote the table first."""
        (piece,) = self.look(text, marks)
        if piece.state in (State.CHANGED, State.FOREIGN):
            return text or "", marks
        with _understood():
            wanted = _under(toml_block.loaded(self.body), self.table)
            new = text or "" if piece.state is State.CURRENT else toml_block.put(text or "", self.table, self.body)
            return new, Marks(((self.name, wanted),))

    def cut(self, text: str, marks: Marks) -> str:
        """The text without our block, unless somebody has changed it."""
        (piece,) = self.look(text, marks)
        if piece.state not in (State.CURRENT, State.OLD):
            return text
        with _understood():
            return toml_block.cut(text)

    def empty(self, text: str) -> bool:
        """True for no text at all."""
        return not text.removeprefix("\ufeff")


class _understood:  # noqa: N801 - reads as what it promises
    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, jsonc.Unreadable | toml_block.Unreadable):
            raise Unusable(str(error)) from error


def _places(root: jsonc.Node, member: Member) -> list[jsonc.Path]:
    """Where a member stands now; an element of ours may stand in several places."""
    if member.path[-1] is not None:
        return [member.path] if jsonc.node_at(root, member.path) else []
    around = jsonc.node_at(root, member.path[:-1])
    if around is None:
        return []
    if not isinstance(around.value, list):
        raise jsonc.Unreadable(f"`{'.'.join(map(str, member.path[:-1]))}` is no list")
    return [(*member.path[:-1], index) for index, value in enumerate(around.value) if member.ours(value)]


def _state(value: Any, member: Member, marks: Marks) -> State:
    if value == member.value:
        return State.CURRENT
    written = dict(marks.values).get(member.name)
    if value == written or (member.ours(value) and _elsewhere(value) == _elsewhere(member.value)):
        return State.OLD
    return State.CHANGED if written is not None or member.ours(value) else State.FOREIGN


_PROGRAM = re.compile(r"""(?:'[^']*'|"[^"]*"|\S+)(?:[ ]-P[ ]-m[ ]noforgetti)?(?=[ ](?:hook|mcp|serve)\b)""")


def _elsewhere(value: Any) -> Any:
    """A value with the place of our program left out."""
    match value:
        case dict():
            program = "command" in value and isinstance(value.get("args"), list)
            arguments = (
                [one for one in value.get("args", []) if one not in ("-P", "-m", "noforgetti")] if program else []
            )
            kept = {key: _elsewhere(one) for key, one in value.items() if not (program and key in ("command", "args"))}
            return {**kept, "args": arguments} if program else kept
        case list():
            return [_elsewhere(one) for one in value]
        case str():
            return _PROGRAM.sub("noforgetti", value, count=1)
    return value


def _program_in(value: Any) -> str:
    """The program that a value of ours would start; empty when it names none."""
    import shlex

    match value:
        case {"command": str(command), "args": list()}:
            return command
        case {"command": list(words)} if words:
            return str(words[0])
        case {"command": str(line)}:
            try:
                return next(iter(shlex.split(line)), "")
            except ValueError:
                return ""
        case dict():
            return next((found for one in value.values() if (found := _program_in(one))), "")
        case list():
            return next((found for one in value if (found := _program_in(one))), "")
    return ""


def _begun(text: str | None, base: Mapping[str, Any]) -> str:
    import json

    return (
        ("\ufeff" if (text or "").startswith("\ufeff") else "")
        + (json.dumps(dict(base), indent=2) if base else "{}")
        + "\n"
    )


def _verify(before: str | None, after: str) -> None:
    """An edit that lost a member of the file's would be ours to answer for."""
    old = jsonc.scan(before).value if before and not _blank(before) else {}
    new = jsonc.scan(after).value
    if isinstance(old, dict) and not (isinstance(new, dict) and set(old) <= set(new)):
        raise jsonc.Unreadable("the edit would have lost a part of it")


def _under(value: Any, table: tuple[str, ...]) -> Any:
    for name in table:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _in(path: jsonc.Path, paths: tuple[jsonc.Path, ...]) -> bool:
    return any(tuple(path) == tuple(one) for one in paths)


def _blank(text: str) -> bool:
    return not text.removeprefix("\ufeff").strip()


def _comments(text: str, root: jsonc.Node) -> bool:
    inside = text[root.start + 1 : root.end - 1] if root.container and not root.value else ""
    return bool((text[: root.start].removeprefix("\ufeff") + text[root.end :] + inside).strip())
