"""All the memories on this machine: one that a folder has under another spelling, those whose project is gone."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.store.create import read_root, write_root
from noforgetti.store.discovery import Project, same_folder

if TYPE_CHECKING:
    from noforgetti.service.memory import Memory
    from noforgetti.service.places import Places


class NotRelinked(NoForgettiError):
    """The memory that was named cannot become this project's."""

    kind = Kind.USER
    reason = "not-relinked"


@dataclass(frozen=True, slots=True)
class Known:
    """A memory repository and the project root it was made for."""

    path: str
    root: str

    @property
    def name(self) -> str:
        """`<name>-<key>`."""
        return os.path.basename(self.path).removesuffix(".git")

    @property
    def key(self) -> str:
        """The project key."""
        return self.name.rpartition("-")[2]


def known(places: Places) -> tuple[Known, ...]:
    """Every memory repository with its root. Unreadable ones are left out."""
    folder = os.path.join(places.data, "projects")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    found = []
    for name in names:
        root = read_root(os.path.join(folder, name)) if name.endswith(".git") else None
        if root:
            found.append(Known(os.path.join(folder, name), root))
    return tuple(found)


def same(places: Places, project: Project) -> Known | None:
    """The memory of the same folder under another path: a bind mount, or a volume that ignores case."""
    return next(
        (one for one in known(places) if one.root != project.root and same_folder(one.root, project.root)), None
    )


def orphans(places: Places, name: str = "") -> tuple[Known, ...]:
    """Memories whose project folder is not there any more, those of the same folder name first."""
    gone = [one for one in known(places) if not os.path.isdir(one.root)]
    return tuple(sorted(gone, key=lambda one: os.path.basename(one.root) != name))


def holds(one: Known) -> bool:
    """Whether the repository has a branch, so that something was written to it. Looks at its files only."""
    for _, _, files in os.walk(os.path.join(one.path, "refs", "heads")):
        if files:
            return True
    try:
        with open(os.path.join(one.path, "packed-refs"), "rb") as file:
            return b" refs/heads/" in file.read()
    except OSError:
        return False


def relink(memory: Memory, key: str) -> Known:
    """Make the memory with that key this project's: its repository and state move to the project's name. `key` may be
    the beginning of one.

    Raises `NotRelinked` when this project has a memory of its own that holds something, or the other's project is still
    there. Killed in the middle, the repository has moved and names the old root, which `doctor --fix` corrects.
    """
    if memory.is_wide:
        raise NotRelinked(
            "The user-wide memory belongs to no project. Nothing was changed.", hint="relink in a project's folder"
        )
    own = Known(memory.path, memory.project.root)
    if memory.exists and holds(own):
        raise NotRelinked(
            f"This project has a memory of its own at `{memory.path}`. Nothing was changed.",
            hint="move it away first; a memory is one folder",
        )
    found = [one for one in known(memory.places) if one.key.startswith(key.lower()) and key and one.path != own.path]
    if len(found) != 1:
        what = "No memory has" if not found else "More than one memory has"
        raise NotRelinked(f"{what} the key `{key}`. Nothing was changed.", hint="list them with `noforgetti doctor`")
    other = found[0]
    if os.path.isdir(other.root):
        raise NotRelinked(
            f"The memory `{other.name}` belongs to `{other.root}`, which is still there. Nothing was changed.",
            hint="only a memory whose project is gone can be relinked",
        )
    if memory.exists:
        memory.close()
        shutil.rmtree(memory.path)
    os.rename(other.path, memory.path)
    write_root(memory.path, memory.project.root)
    old_state, new_state = memory.places.state_of(other.name), memory.places.state_of(memory.name)
    if os.path.isdir(old_state) and not os.path.exists(new_state):
        os.rename(old_state, new_state)
    return other
