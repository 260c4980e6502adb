"""`noforgetti show` without opening the repository: one ref file read, one cached file printed.

A whole process in about twice the time of an empty one. Anything out of the ordinary (another option, a settings
file, a missing ref, a cache of another commit) is left to the ordinary command.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from noforgetti.errors import NoForgettiError

if TYPE_CHECKING:
    from collections.abc import Mapping


def show(arguments: list[str], environ: Mapping[str, str]) -> bool:
    """Print what `show` would print; False, with nothing printed, when the ordinary command has to do it."""
    words = _parse(arguments)
    if words is None or any(name.startswith("_NOFORGETTI") for name in environ):
        return False
    folder, branch, as_json = words
    try:
        from noforgetti.service.places import WIDE, places
        from noforgetti.service.rendered import file_of, stamp
        from noforgetti.store.discovery import discover
        from noforgetti.store.ref_files import head_of, passing, selected

        where = places(environ)
        if os.path.exists(where.config):
            return False
        name = discover(folder).repository_name.removesuffix(".git")
        if branch is None:
            branch = selected(where.state_of(name))
        repository = where.repository(name)
        head = head_of(repository, branch)
        if head is None or passing(repository, branch):
            return False  # what holds for a session ends by itself
        user = where.repository(WIDE)
        wide = head_of(user, "main") if os.path.exists(user) else None
        with open(file_of(where.cache_of(name), branch), encoding="utf-8") as file:
            if file.readline() != stamp(head, wide):
                return False
            body = file.read()
        return _print(body, as_json=as_json, colour=sys.stdout.isatty() and not environ.get("NO_COLOR"))
    except (OSError, ValueError, KeyError, TypeError, NoForgettiError):
        return False


def _parse(arguments: list[str]) -> tuple[str, str | None, bool] | None:
    folder, branch, as_json = ".", None, False
    words = iter(arguments)
    for word in words:
        if word == "--json":
            as_json = True
        elif word == "-C":
            folder = next(words, "")
        elif word == "--branch":
            branch = next(words, "")
        elif word == "show":
            rest = list(words)
            if any(one != "--json" for one in rest):
                return None
            return folder, branch, as_json or bool(rest)
        else:
            return None
    return None


def _print(body: str, *, as_json: bool, colour: bool) -> bool:
    import json

    doc = json.loads(body)
    if as_json:
        shown = json.dumps(doc, ensure_ascii=(sys.stdout.encoding or "").lower().replace("-", "") != "utf8", indent=2)
    else:
        from noforgetti.faces import text

        encoding = sys.stdout.encoding or "ascii"
        shown = text.show(doc, text.Style(colour=colour)).encode(encoding, "backslashreplace").decode(encoding)
    sys.stdout.write(shown + "\n")
    sys.stdout.flush()  # a reader that went away is the ordinary command's to answer
    return True
