"""The rendered memory of a branch, kept in the cache so that a hook can print it without opening the repository.

A file whose first line names the commit and the version it was made by; anything else in that line and it is not used.
The file may vanish or be torn at any moment: readers fall back to the repository.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from noforgetti import __version__
from noforgetti.store import folders

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory


def stamp(head: str, wide: str | None) -> str:
    """The first line of a file that is right for this commit, that of the user-wide memory, and this version."""
    return f"{head} {wide or 'none'} {__version__}\n"


def keep(memory: Memory, doc: dict[str, Any]) -> None:
    """Keep the document of `show` for its branch and commit. Trouble is ignored: the cache is a copy."""
    if not doc["head"] or doc["damaged"] or doc.get("scoped") or memory.is_wide:
        return  # a damaged memory is looked at afresh each time, and so is what ends by itself
    first = stamp(doc["head"], memory.wide.head("main"))
    path = file_of(memory.places.cache_of(memory.name), doc["branch"])
    try:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if file.readline() == first:
                    return
        folders.make(os.path.dirname(path))
        temporary = f"{path}.{os.getpid()}"
        with open(temporary, "w", encoding="utf-8", opener=folders.private) as file:
            file.write(first + json.dumps(doc))
        os.replace(temporary, path)
    except (OSError, UnicodeError):
        return


def file_of(folder: str, branch: str) -> str:
    """Where the branch's file is."""
    return os.path.join(folder, f"show-{branch}.json")
