"""What in a text reads like a procedure: its steps, in order, and what to call it.

A procedure has three steps or more (the reference's least for a skill). Steps are numbered, joined by arrows, told one
after another (then, after that, finally), or listed behind a word such as workflow or pipeline. What stands in quotes
or code is one piece: `a -> b -> c` in backticks is a type, not a procedure.
"""

from __future__ import annotations

import re

from noforgetti.policy.masking import mask, unmask

LEAST = 3  # steps
_TITLE = 60  # code points of a title: a heading, not a paragraph

_NUMBER = re.compile(r"(?:(?<=\s)|^)(?:\W?step\s+)?\(?(\d{1,2})[.):](?=\s)\s*", re.IGNORECASE)
_STEP = re.compile(r"\bstep\s+(\d{1,2})\b\s*[-.:,)–—]?\s*", re.IGNORECASE)
_BULLET = re.compile(r"^\s{0,8}[-*•]\s+", re.MULTILINE)
_ARROW = re.compile(r"\s*(?:-{1,2}>|=>|→|⇒|➜|➔)\s*")
_THEN = re.compile(
    r"(?:\s*[,;.:]\s*|\s+)(?:and\s+)?(?:then|after\s+that|afterwards|thereafter|next|finally|lastly|at\s+last)\b[,:]?\s+"
    r"|\s*[,;.:]\s*(?:and\s+)?(?:second|third|fourth|fifth)(?:ly)?\b[,:]?\s+",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"\b(?:workflow|pipeline|procedure|process|recipe|checklist|runbook|playbook|steps|how\s+to)\b", re.IGNORECASE
)
_CONDITION = re.compile(r"\b(?:if|when|whenever|once|unless)\b[^,;.]*$", re.IGNORECASE)
_FIRST = re.compile(r"^(?:(?:always|please)\s+)?(?:first(?:ly)?|start\s+by|begin\s+by)\b[,:]?\s+", re.IGNORECASE)
_PURPOSE = re.compile(r"^(?:how\s+to|to|when|before|for)\s+(?P<what>[^,:;.\n]{3,50}?)\s*[,:]\s+(?=\S)", re.IGNORECASE)


def steps(text: str) -> tuple[str, ...]:
    """The steps that a text tells, at least three, without their numbers; empty when it tells none."""
    return _found(text)[1]


def title(text: str) -> str:
    """What the procedure is called: what stands before its first step, else its first words."""
    named, found = _found(text)
    if not named:
        named = " ".join((found[0] if found else text).split()[:6])
    return named.strip(" .,:;-–—\"'`*#").strip()[:_TITLE].rstrip()


def _found(text: str) -> tuple[str, tuple[str, ...]]:
    """The title, as far as the text names one, and the steps."""
    masked, held = mask(text)
    for cut in (_numbered, _bullets, _arrows, _told, _listed):
        head, parts = cut(masked)
        kept = tuple(step for part in parts if (step := unmask(part, held).strip(" \t\n.,;:-–—*•")))
        if len(kept) >= LEAST and len(kept) == len(parts):
            return _name(unmask(head, held)), kept
    return _name(unmask(_opening(masked)[0], held)), ()


def _numbered(text: str) -> tuple[str, list[str]]:
    for pattern in (_STEP, _NUMBER):
        marks: list[re.Match[str]] = []
        for match in pattern.finditer(text):
            if int(match[1]) == len(marks) + 1:
                marks.append(match)
        if len(marks) >= LEAST:
            ends = [*(match.start() for match in marks[1:]), len(text)]
            return text[: marks[0].start()], [text[m.end() : end] for m, end in zip(marks, ends, strict=True)]
    return "", []


def _bullets(text: str) -> tuple[str, list[str]]:
    marks = list(_BULLET.finditer(text))
    if len(marks) < LEAST or not _CUE.search(text[: marks[0].start()]):
        return "", []
    ends = [*(match.start() for match in marks[1:]), len(text)]
    return text[: marks[0].start()], [text[m.end() : end] for m, end in zip(marks, ends, strict=True)]


def _arrows(text: str) -> tuple[str, list[str]]:
    head, rest = _opening(text)
    parts = _ARROW.split(rest)
    return (head, parts) if len(parts) >= LEAST else ("", [])


def _told(text: str) -> tuple[str, list[str]]:
    head, rest = _opening(text)
    parts = [""]
    last = 0
    for match in _THEN.finditer(rest):
        # "if A, then B" is one step
        if not _CONDITION.search(rest[last : match.start()]):
            parts[-1] = rest[last : match.start()]
            parts.append("")
            last = match.end()
    parts[-1] = rest[last:]
    parts[0] = _FIRST.sub("", parts[0])
    if len(parts) == LEAST - 1 and not re.search(r"[.!?]\s", rest.strip()):  # build it, push it, then restart
        parts = [one for part in parts for one in ([part] if _CONDITION.search(part) else re.split(r",\s+", part))]
    return head, parts


def _listed(text: str) -> tuple[str, list[str]]:
    head, colon, rest = text.partition(":")
    if not colon or not _CUE.search(head) or len(head) > _TITLE:
        return "", []
    rest = re.split(r"[.!?](?:\s|$)", rest, maxsplit=1)[0]
    return head, re.split(r"\s*[;,]\s*(?:and\s+)?|\s+and\s+", rest)


def _opening(text: str) -> tuple[str, str]:
    """What a text says before its first step (`Release:`, `To cut a release, …`), and the rest."""
    head, colon, rest = text.partition(":")
    if colon and rest[:1].isspace() and len(head) <= _TITLE and "\n" not in head.strip() and not _ARROW.search(head):
        return head, rest
    purpose = _PURPOSE.match(text)
    return (purpose["what"], text[purpose.end() :]) if purpose else ("", text)


def _name(head: str) -> str:
    """A heading out of what stands before the steps."""
    line = head.strip().rpartition("\n")[2] if len(head) > _TITLE else " ".join(head.split())
    line = line.strip(" .,:;-–—*#")
    purpose = re.match(r"(?:how\s+to|to|when|before|for)\s+(.+)", line, re.IGNORECASE)
    return purpose[1] if purpose else line
