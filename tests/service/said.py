"""Sessions of Pi as files that grow, reviewers that follow a script, and a memory whose ids are no chance."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from store.builders import HERE, clean_environ

from noforgetti.service.memory import Memory
from noforgetti.transcripts import pi

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.model.evidence import Transcript

AT = "2026-11-30T10:00:00.000Z"
FACT = "Use pnpm instead of npm."


@dataclass
class Session:
    """A Pi session file; `say` adds one completed turn."""

    file: Path
    id: str = "s1"
    parent: str | None = None
    count: int = 0

    def __post_init__(self) -> None:
        self.add({"type": "session", "version": 3, "id": self.id, "timestamp": AT, "cwd": "/p"})

    def say(self, *texts: str, answer: str = "Done.") -> Session:
        """The user says each text and gets the answer."""
        for text in texts:
            self.message("user", content=text)
            self.message("assistant", content=answer, stopReason="stop")
        return self

    def select(self, branch: str) -> Session:
        """The session uses another memory branch from here on."""
        self.entry({"type": "custom", "customType": "noforgetti", "data": {"branch": branch}})
        return self

    def message(self, role: str, **fields: Any) -> None:
        """One message."""
        self.entry({"type": "message", "message": {"role": role, **fields}})

    def entry(self, fields: dict[str, Any]) -> None:
        """One entry of the tree: `n1`, `n2`, …"""
        self.count += 1
        own = f"n{self.count}"
        self.add({**fields, "id": own, "parentId": self.parent, "timestamp": AT})
        self.parent = own

    def add(self, line: dict[str, Any]) -> None:
        """One line of the file."""
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def read(self) -> Transcript:
        """The transcript as it stands."""
        return pi.read(self.file)


class Plain(Memory):
    """A memory whose ids end in `aaaa`, so that its commits can be compared whole."""

    def draw(self, below: int) -> int:
        """No chance at all."""
        return 0


def proposal(*operations: dict[str, Any]) -> str:
    """What a reviewer answers; each operation rests on the first item unless it says otherwise."""
    return json.dumps({"operations": [{"evidence": ["e1"], **one} for one in operations]})


def learns(text: str = FACT, **more: Any) -> dict[str, Any]:
    """One addition."""
    return {"action": "add", "content": text, "importance": "high", **more}


NOTHING = proposal()


def everything_in(repository: str) -> bytes:
    """Every object of a repository with its content, refs and logs: all that a leak could be in."""
    environ = clean_environ(**HERE)
    done = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch", "--unordered"],
        cwd=repository,
        env=environ,
        capture_output=True,
        check=True,
    )
    return done.stdout


def fake_secret() -> str:
    """A token of a shape that providers use, made here so that no scanner finds it in this file."""
    return "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" * 2
