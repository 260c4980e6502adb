"""Memories whose project moved or is gone, and what lies beside them and is none."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from noforgetti.service.health.finding import Finding
from noforgetti.service.registry import holds, known, orphans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noforgetti.service.memory import Memory

_UNFINISHED = 3_600.0  # seconds; making a repository takes a fraction of one


def examine(memory: Memory) -> Iterator[Finding]:
    """Orphaned memories, those of this project's folder name first; then folders that are no memories."""
    own = os.path.basename(memory.project.root)
    for one in orphans(memory.places, own):
        what = f"the memory `{one.name}` has lost its project `{one.root}`"
        if not holds(one):
            yield Finding("note", "orphan", f"{what}; it holds nothing", f"remove the folder `{one.path}`")
            continue
        hint = f"in the project's new place, `noforgetti relink {one.key}` brings it over"
        if os.path.basename(one.root) == own and not memory.exists and not memory.is_wide:
            hint = f"if this is that project in its new place, `noforgetti relink {one.key}` brings it over"
        hint += f"; if it is gone for good, keep `{one.path}` elsewhere or remove it"
        yield Finding("warning", "orphan", what, hint)
    yield from _strangers(memory)


def _strangers(memory: Memory) -> Iterator[Finding]:
    folder = os.path.join(memory.places.data, "projects")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    read = {os.path.basename(one.path) for one in known(memory.places)}
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith(".new-"):
            if time.time() - os.stat(path).st_mtime > _UNFINISHED:
                what = f"a killed process left the unfinished repository `{path}`"
                yield Finding("note", "unfinished", what, "remove that folder")
        elif name.endswith(".git") and name not in read and path != memory.path:
            what = f"`{path}` does not say whose memory it is, or cannot be read"
            hint = (
                f"in its project, `noforgetti doctor --fix` mends it; look at it with `git --git-dir {path} log main`"
            )
            yield Finding("warning", "nameless", what, hint)
