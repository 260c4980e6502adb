"""Refs read as files, for whoever has no time to open the repository. Standard library; anything odd is None."""

from __future__ import annotations

import os

_HEX = frozenset("0123456789abcdef")


def selected(state_folder: str) -> str:
    """The branch that the command line works on: what `use` selected, else `main`."""
    try:
        with open(f"{state_folder}/branch", encoding="ascii") as file:
            return file.read(100).strip() or "main"
    except (FileNotFoundError, NotADirectoryError):
        return "main"


def head_of(repository: str, branch: str) -> str | None:
    """The commit that the branch's ref file, or the packed refs, name; None: torn, missing, or an odd name."""
    if not branch.isascii() or not branch.replace("-", "").replace("_", "").isalnum():
        return None
    try:
        with open(f"{repository}/refs/heads/{branch}", encoding="ascii") as file:
            head = file.read(64).rstrip("\n")
    except FileNotFoundError:
        head = _packed(repository, f" refs/heads/{branch}\n")
    return head if len(head) == 40 and _HEX.issuperset(head) else None


def passing(repository: str, branch: str) -> bool:
    """Whether entries of sessions or tasks lie beside the branch."""
    ref = f"refs/noforgetti/volatile/{branch}"
    return os.path.exists(f"{repository}/{ref}") or bool(_packed(repository, f" {ref}\n"))


def _packed(repository: str, ending: str) -> str:
    try:
        with open(f"{repository}/packed-refs", encoding="utf-8") as file:
            return next((line[:40] for line in file if line.endswith(ending)), "")
    except FileNotFoundError:
        return ""


def branches(repository: str) -> list[str]:
    """The names of the branches, sorted, whether their refs are files of their own or packed."""
    from contextlib import suppress

    found: set[str] = set()
    with suppress(OSError):
        found.update(one.name for one in os.scandir(f"{repository}/refs/heads") if not one.name.endswith(".lock"))
    with suppress(OSError), open(f"{repository}/packed-refs", encoding="utf-8", errors="replace") as file:
        found.update(line[52:].rstrip("\n") for line in file if line[40:52] == " refs/heads/")
    return sorted(found)
