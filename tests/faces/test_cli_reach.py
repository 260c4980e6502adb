"""The user-wide memory and entries that pass, from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faces.conftest import CommandLine

ZONE = "The user's time zone is Europe/Vienna."


def test_every_command_works_on_the_user_wide_memory_with_user(nf: CommandLine) -> None:
    added = nf.json("--user", "add", ZONE)

    assert [one["text"] for one in nf.json("--user", "show")["entries"]] == [ZONE]
    assert [one["commit"] for one in nf.json("--user", "log")["commits"]] == [added["commit"]]
    assert [one["id"] for one in nf.json("--user", "search", "time zone")["hits"]] == [added["entry"]["id"]]
    assert nf.json("--user", "undo", added["commit"])["outcome"] == "undone"
    assert nf.json("--user", "show")["entries"] == []
    assert nf.json("--user", "status")["project"]["repository"] == f"{nf.home}/data/user.git"
    assert nf.json("show")["entries"] == []


def test_the_user_wide_memory_needs_no_project(nf: CommandLine) -> None:
    assert nf.json("--user", "-C", "/nowhere/at/all", "add", ZONE)["outcome"] == "added"


def test_status_of_the_user_wide_memory_names_no_project(nf: CommandLine) -> None:
    shown = nf("--user", "status").out.splitlines()
    assert shown[:2] == [
        "project      none: the user-wide memory, for every project",
        f"repository   {nf.home}/data/user.git (made by the first write)",
    ]
    assert "note         nothing is remembered yet of the user" in shown
