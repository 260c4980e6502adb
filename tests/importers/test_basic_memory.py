"""basic-memory's notes, written by its published format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.importers.basic_memory import read

from .sources import items, left, put, said

if TYPE_CHECKING:
    from pathlib import Path

NOTE = """\
---
title: Authentication Design
type: note
tags: [auth, security]
permalink: auth/authentication-design
created: 2026-03-01T10:00:00+01:00
---

# Authentication Design
The team compared sessions and tokens during the first quarter.

## Observations
- [decision] Using JWT tokens for stateless authentication #security #api
- [approach] Refresh tokens stored in HTTP-only cookies to prevent XSS #web (since the audit)
- [constraint] Tokens expire fast

## Relations
- implements [[API Security Requirements]]
- depends_on [[User Database Schema]] (read only)
- [[Session Management]]
"""


def test_observations_and_relations_are_memories(tmp_path: Path) -> None:
    put(tmp_path, "auth/Authentication Design.md", NOTE)

    source = read(tmp_path)

    assert left(source) == []
    assert said(source) == [
        ("lesson", "The team compared sessions and tokens during the first quarter."),
        ("decision", "Using JWT tokens for stateless authentication"),
        ("lesson", "Refresh tokens stored in HTTP-only cookies to prevent XSS (since the audit)"),
        ("lesson", "Authentication Design: Tokens expire fast"),
        ("lesson", "Authentication Design implements API Security Requirements."),
        ("lesson", "Authentication Design depends on User Database Schema (read only)."),
        ("lesson", "Authentication Design relates to Session Management."),
    ]
    assert items(source)[1].tags == ("authentication-design", "security", "api", "auth")
    assert {one.created for one in items(source)} == {"2026-03-01T09:00:00Z"}
    assert {one.group for one in items(source)} == {"auth/authentication-design"}
    assert said(read(tmp_path / "auth/Authentication Design.md")) == said(source)


def test_a_note_that_moved_keeps_its_names(tmp_path: Path) -> None:
    put(tmp_path, "one/a.md", NOTE)
    before = items(read(tmp_path))
    (tmp_path / "one").rename(tmp_path / "two")

    assert [one.name for one in items(read(tmp_path))] == [one.name for one in before]


def test_a_note_without_front_matter_is_called_by_its_file(tmp_path: Path) -> None:
    put(tmp_path, "Coffee.md", "- [method] Pour over gives more clarity than a press does\n- requires [[Grinder]]\n")

    assert said(read(tmp_path)) == [
        ("lesson", "Pour over gives more clarity than a press does"),
        ("lesson", "Coffee requires Grinder."),
    ]
