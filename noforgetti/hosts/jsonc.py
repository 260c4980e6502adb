"""JSON with comments and trailing commas, edited as text: what is not ours keeps its bytes.

`scan` reads a text into nodes that know their places. `add`, `replace` and `cut` answer a new text that differs in one
piece only, written in the file's own style: its newline, its indent, on one line where the container stands on one.
`cut` after `add` gives the same bytes again; `Added.tight` says what `cut` cannot see in the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

DEPTH = 100  # levels of nesting; a configuration file has ten
Path: TypeAlias = "tuple[str | int | None, ...]"  # member names; a number is an element, None a new last element

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_BESIDE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*(?=[\r\n]))")


class Unreadable(Exception):
    """The text is not JSON, or cannot be edited. `str()` says what is wrong and in which line."""


@dataclass(frozen=True, slots=True)
class Node:
    """One value: where it stands, what it holds. `items` are a container's: key or None, start of the item, node."""

    start: int
    end: int
    value: Any
    items: tuple[tuple[str | None, int, Node], ...] = ()

    @property
    def container(self) -> bool:
        """An object or an array."""
        return isinstance(self.value, dict | list)


@dataclass(frozen=True, slots=True)
class Added:
    """A text with one more piece. `made` are the containers that were not there before; `tight` those that held
    nothing, not even a line break, and were opened."""

    text: str
    made: tuple[Path, ...] = ()
    tight: tuple[Path, ...] = ()


def scan(text: str) -> Node:
    """The value of a whole text, with places. A byte order mark is no part of it. Raises `Unreadable`."""
    start = _blank(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, start, 0)
    end = _blank(text, node.end)
    if end != len(text):
        raise _wrong(text, end)
    return node


def node_at(root: Node, path: Path) -> Node | None:
    """The value at a path; None when it is not there. Raises `Unreadable` where a key stands twice on the way, or
    something on the way is no container of the right sort."""
    node = root
    for part in path:
        wanted: type = list if part is None or isinstance(part, int) else dict
        if not isinstance(node.value, wanted):
            name = ".".join(map(str, path))
            raise Unreadable(f"`{name}` cannot stand in it: one of its containers is something else")
        if isinstance(part, int):
            found = [item for index, (_, _, item) in enumerate(node.items) if index == part]
        else:
            found = [item for key, _, item in node.items if part is not None and key == part]
        if len(found) > 1:
            raise Unreadable(f"`{part}` stands in it twice")
        if not found:
            return None
        node = found[0]
    return node


def add(text: str, path: Path, value: Any) -> Added:
    """The text with a value at a path whose last step is a new member or a new last element; missing containers are
    made. Raises `Unreadable`, also when the member is there already."""
    root = scan(text)
    depth = 0
    while depth < len(path) - 1 and node_at(root, path[: depth + 1]) is not None:
        depth += 1
    if node_at(root, path[: depth + 1]) is not None:
        raise Unreadable(f"`{'.'.join(map(str, path))}` stands in it already")
    around = node_at(root, path[:depth])
    assert around is not None
    for step in reversed(path[depth + 1 :]):
        value = [value] if step is None else {step: value}
    made = tuple(path[: at + 1] for at in range(depth, len(path) - 1))
    new, tight = _inserted(text, around, path[depth], value)
    return Added(new, made, (path[:depth],) if tight else ())


def replace(text: str, path: Path, value: Any) -> str:
    """The text with the value at a path written anew, in its place. Raises `Unreadable`."""
    node = node_at(scan(text), path)
    if node is None:
        raise Unreadable(f"`{'.'.join(map(str, path))}` does not stand in it")
    inline = not _breaks(text, node.start, node.end)
    written = (
        json.dumps(value, ensure_ascii=False) if inline else _written(text, value, _indent_of_line(text, node.start))
    )
    return text[: node.start] + written + text[node.end :]


def cut(text: str, path: Path, *, tight: bool = False) -> str:
    """The text without the member or element at a path, its comma and the blanks before it. `tight`: a container that
    holds nothing any more loses its blanks too. Raises `Unreadable`."""
    root = scan(text)
    around, node = node_at(root, path[:-1]), node_at(root, path)
    if around is None or node is None:
        raise Unreadable(f"`{'.'.join(map(str, path))}` does not stand in it")
    index = next(at for at, (_, _, item) in enumerate(around.items) if item is node)
    start = _lead(text, around.items[index][1])
    comma = _blank(text, node.end)
    if text[comma] == ",":
        return _without(text, (start, node.end), (comma, comma + 1))
    if index:
        comma = _blank(text, around.items[index - 1][2].end)
        return _without(text, (comma, comma + 1), (start, node.end))
    end = around.end - 1 if tight and not text[node.end : around.end - 1].strip() else node.end
    return text[:start] + text[end:]


def newline(text: str) -> str:
    """The line break that a text uses: that of its first line."""
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEPTH:
        raise Unreadable(f"it is nested deeper than {DEPTH} levels")
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth)
        case "[":
            return _array(text, at, depth)
        case '"':
            return _string(text, at)
    plain = _PLAIN.match(text, at)
    if not plain:
        raise _wrong(text, at)
    return Node(at, plain.end(), _loaded(text, at, plain[0]))


def _object(text: str, start: int, depth: int) -> Node:
    items: list[tuple[str | None, int, Node]] = []
    at = _blank(text, start + 1)
    while text[at : at + 1] != "}":
        key = _string(text, at)
        colon = _blank(text, key.end)
        if text[colon : colon + 1] != ":":
            raise _wrong(text, colon)
        node = _value(text, _blank(text, colon + 1), depth + 1)
        items.append((key.value, at, node))
        at = _next(text, node.end, "}")
    return Node(start, at + 1, {key: node.value for key, _, node in items}, tuple(items))


def _array(text: str, start: int, depth: int) -> Node:
    items: list[tuple[str | None, int, Node]] = []
    at = _blank(text, start + 1)
    while text[at : at + 1] != "]":
        node = _value(text, at, depth + 1)
        items.append((None, at, node))
        at = _next(text, node.end, "]")
    return Node(start, at + 1, [node.value for _, _, node in items], tuple(items))


def _next(text: str, end: int, closing: str) -> int:
    """Where the next item begins, or the closing bracket stands."""
    at = _blank(text, end)
    if text[at : at + 1] == ",":
        return _blank(text, at + 1)
    if text[at : at + 1] != closing:
        raise _wrong(text, at)
    return at


def _string(text: str, at: int) -> Node:
    found = _STRING.match(text, at)
    if not found:
        raise _wrong(text, at)
    return Node(at, found.end(), _loaded(text, at, found[0]))


def _loaded(text: str, at: int, literal: str) -> Any:
    try:
        return json.loads(literal)
    except ValueError:  # a bad escape; a number of more digits than Python reads
        raise _wrong(text, at) from None


def _blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _wrong(text: str, at: int) -> Unreadable:
    line = text.count("\n", 0, at) + 1
    return Unreadable(f"line {line} is not JSON" if at < len(text) else f"it ends too early, in line {line}")


def _inserted(text: str, around: Node, step: str | int | None, value: Any) -> tuple[str, bool]:
    """The text with one more item, and whether its container had to be opened."""
    name = "" if step is None else json.dumps(step, ensure_ascii=False) + ": "
    if not around.items:
        return _first(text, around, name, value)
    last_start, last = around.items[-1][1], around.items[-1][2]
    comma = _blank(text, last.end)
    trailing = text[comma] == ","
    if not _breaks(text, around.start, last_start):
        written = name + json.dumps(value, ensure_ascii=False)
        if trailing:
            return f"{text[: comma + 1]} {written},{text[comma + 1 :]}", False
        return f"{text[: last.end]}, {written}{text[last.end :]}", False
    indent = _indent_of_line(text, last_start)
    written = f"{newline(text)}{indent}{name}{_written(text, value, indent)}"
    at = _after_comment(text, comma + 1 if trailing else last.end)
    if trailing:
        return f"{text[:at]}{written},{text[at:]}", False
    return f"{text[: last.end]},{text[last.end : at]}{written}{text[at:]}", False


def _first(text: str, around: Node, name: str, value: Any) -> tuple[str, bool]:
    """The first item of an empty container."""
    inner = text[around.start + 1 : around.end - 1]
    head, tail = text[: around.start + 1], text[around.start + 1 :]
    if "\n" not in inner and (inner or ("\n" not in text and text.strip("\ufeff \t") not in ("{}", "[]"))):
        return f"{head}{name}{json.dumps(value, ensure_ascii=False)}{tail}", False
    outer = _indent_of_line(text, around.start)
    indent = outer + _unit(text)
    written = f"{newline(text)}{indent}{name}{_written(text, value, indent)}"
    if "\n" in inner:
        return f"{head}{written}{tail}", False
    return f"{head}{written}{newline(text)}{outer}{tail}", True


def _lead(text: str, start: int) -> int:
    """Where the blanks before an item begin that came with it: its indent and one line break."""
    while text[start - 1] in " \t":
        start -= 1
    if text[start - 1] == "\n":
        start -= 2 if text[start - 2] == "\r" else 1
    return start


def _after_comment(text: str, at: int) -> int:
    """The place behind a comment that ends the line; comments of an item stay with it."""
    found = _BESIDE.match(text, at)
    return found.end() if found else at


def _written(text: str, value: Any, indent: str) -> str:
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (newline(text) + indent).join(lines)


def _unit(text: str) -> str:
    """One step of indent: that of the first indented line; two blanks when there is none."""
    found = re.search(r"^([ \t]+)[^\s/*]", text, re.MULTILINE)
    return found[1] if found else "  "


def _indent_of_line(text: str, at: int) -> str:
    begin = text.rfind("\n", 0, at) + 1
    found = re.compile(r"\ufeff?([ \t]*)").match(text, begin)
    return found[1] if found else ""


def _breaks(text: str, start: int, end: int) -> bool:
    return "\n" in text[start:end]


def _without(text: str, *spans: tuple[int, int]) -> str:
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text
