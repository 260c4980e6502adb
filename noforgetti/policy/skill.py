"""A skill: a procedure as an Agent Skills package, one `SKILL.md` with a little front matter. Read strictly.

A host shows the description to the model and lets it read the rest, so both are judged like any memory, the description
in the form the host will read it: YAML can write a word so that it does not look like one. Front matter that says it in
any but the plainest way is refused rather than guessed at.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noforgetti.policy import guards
from noforgetti.policy.text import normalise
from noforgetti.policy.verdict import Refusal, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME_LIMIT = 64  # characters, as in the Agent Skills specification
DESCRIPTION_LIMIT = 500  # code points; the reference's, the specification allows 1,024
CONTENT_LIMIT = 32_000  # code points of the whole file; the reference's

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_KEY = re.compile(r"([A-Za-z][\w-]*):(?:\s+(.*?))?\s*")
_FENCE = "---"


@dataclass(frozen=True, slots=True)
class Package:
    """A skill as it was read. `text` is the whole file, normalised, with one line end behind."""

    name: str
    description: str
    text: str


def read(name: str, raw: str) -> Package | Refusal:
    """The skill in a file that lies in a folder `name`, or why it may be neither stored nor offered. Never raises."""
    refusal = name_refused(name)
    if refusal:
        return refusal
    text = normalise(raw)
    if len(text) > CONTENT_LIMIT:
        over = len(text) - CONTENT_LIMIT
        return Refusal(
            Rule.TOO_LONG,
            f"The skill has {len(text):,} characters, {over:,} over the limit of {CONTENT_LIMIT:,}.",
            "shorten it, or make two of it",
        )
    head = _head(text)
    if isinstance(head, Refusal):
        return head
    if head.get("name", name) != name:
        return _malformed(f"names itself `{head['name'][:80]}`, but is called `{name}`", f"write `name: {name}`")
    description = head.get("description", "")
    if not description:
        return _malformed("has no description", "say in one line what it is for and when to use it")
    if len(description) > DESCRIPTION_LIMIT:
        many = f"a description of {len(description):,} characters, {DESCRIPTION_LIMIT} are allowed"
        return _malformed(f"has {many}", "shorten it")
    unsafe = guards.unsafe(description) or guards.unsafe(text)
    return unsafe or Package(name, description, text + "\n")


def name_refused(name: str) -> Refusal | None:
    """Why a skill may not have that name, or None."""
    if _NAME.fullmatch(name) and len(name) <= NAME_LIMIT:
        return None
    shown = name if name.isprintable() else ascii(name)[1:-1]
    return Refusal(
        Rule.FORMAT,
        f"`{shown[:80]}` cannot be the name of a skill. Nothing was written.",
        f"use lower-case words joined by hyphens, at most {NAME_LIMIT} characters",
    )


def compose(name: str, title: str, text: str, steps: Sequence[str], *, source: str) -> str:
    """The file of a new skill out of a memory's text and its steps. `source` is the id of the entry it came from."""
    heading = title[:1].upper() + title[1:]
    told = "; ".join(" ".join(step.split()) for step in steps) or " ".join(text.split())
    description = f"{heading}: {told}"
    if len(description) > DESCRIPTION_LIMIT:
        description = description[: DESCRIPTION_LIMIT - 1].rstrip() + "…"
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    lines = [
        _FENCE,
        f"name: {name}",
        f"description: {json.dumps(description, ensure_ascii=False)}",
        _FENCE,
        "",
        f"# {heading}",
        "",
        *(numbered or [text]),
        "",
        f"Made of the memory `{source}`:",
        "",
        *(f"> {line}".rstrip() for line in text.splitlines()),
        "",
    ]
    return "\n".join(lines)


def _head(text: str) -> dict[str, str] | Refusal:
    """`name` and `description` of the front matter."""
    opened, _, rest = text.partition("\n")
    head, end, _ = f"{rest}\n".partition(f"\n{_FENCE}\n")
    if opened.rstrip() != _FENCE or not end:
        return _malformed("has no front matter", "begin it with `---`, `name: …`, `description: …`, `---`")
    values: dict[str, list[str]] = {}
    key = ""
    for line in head.split("\n"):
        found = _KEY.fullmatch(line)
        if found and found[1] in values:
            return _malformed(f"has `{found[1]}` twice in its front matter", "keep one of them")
        if found:
            key = found[1]
            values[key] = [found[2] or ""]
        elif key and (line[:1] in (" ", "\t") or not line):
            values[key].append(line.strip())
        elif line.strip() and not line.startswith("#"):
            return _malformed(f"has front matter that cannot be read: `{line[:60]}`", "write `key: value` lines")
    result: dict[str, str] = {}
    for wanted in ("name", "description"):
        if wanted in values:
            value = _scalar(values[wanted])
            if value is None:
                return _malformed(f"writes its {wanted} in a way that is not read", "put it on one line, in quotes")
            result[wanted] = value
    return result


def _scalar(lines: list[str]) -> str | None:
    """A plain, quoted or folded text of YAML; None for every other way to write one."""
    first = lines[0]
    if first in (">", ">-", "|", "|-"):
        return " ".join(line for line in lines[1:] if line)
    joined = " ".join(line for line in lines if line)
    if first.startswith('"'):
        try:
            value = json.loads(joined)
        except (ValueError, RecursionError):
            return None
        return " ".join(value.split()) if isinstance(value, str) else None
    if first.startswith("'"):
        inner = joined[1:-1]
        whole = len(joined) > 1 and joined.endswith("'") and "'" not in inner.replace("''", "")
        return inner.replace("''", "'") if whole else None
    if first[:1] in "&*!%@|>{[`,?#-" or re.search(r":(?:\s|$)|\s#", joined):
        return None if first else joined
    return joined


def _malformed(what: str, hint: str) -> Refusal:
    return Refusal(Rule.FORMAT, f"The skill {what}.", hint)
