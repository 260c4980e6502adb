"""The skills of a memory branch: files in its tree, and the folder in the cache from which a host reads them.

A skill is `skills/<name>/SKILL.md`; a deleted one moves to `skills/.archive/` and stays in the branch. Every change is
a commit that `undo` takes back. What is published to a host is judged again at that moment, because the branch may
have been written by hand or have come from elsewhere; only `SKILL.md` is published, never a script beside it.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.model.commit import CommitKind, Message, one_line, trailers
from noforgetti.model.entry import Writer
from noforgetti.policy import skill as packages
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.service.memory import Draft, Memory
from noforgetti.store import folders
from noforgetti.store.base import Drop, PutBlob, PutFile, Unreadable

if TYPE_CHECKING:
    from noforgetti.model.entry import BlobId, CommitId, Snapshot
    from noforgetti.service.undo import Undone

FOLDER = "skills"
ARCHIVE = f"{FOLDER}/.archive"
_NAME = "SKILL.md"
_LARGEST = 262_144  # bytes of a file that is read at all: as of an entry, more is damage or abuse


class UnknownSkill(NoForgettiError):
    """The branch has no skill of that name."""

    kind = Kind.USER
    reason = "unknown-skill"

    def __init__(self, name: str) -> None:
        shown = name if name.isprintable() else ascii(name)[1:-1]
        super().__init__(
            f"No skill is called `{shown[:80]}`. Nothing was written.",
            hint="list them with `noforgetti skills`",
        )


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill of the branch. `text` is its file; `refusal` says why no host is given it."""

    name: str
    description: str
    path: str
    text: str
    refusal: Refusal | None = None
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of a change. `nothing`: the file says exactly that already."""

    outcome: Literal["saved", "deleted", "nothing", "refused"]
    branch: str
    name: str
    commit: CommitId | None = None
    refusal: Refusal | None = None


def place(name: str) -> str:
    """Where the skill's file lies in the branch's tree."""
    return f"{FOLDER}/{name}/{_NAME}"


def names(now: Snapshot) -> tuple[str, ...]:
    """The names of the branch's skills, sorted; whether they may be offered is another question."""
    return tuple(sorted(name for path in now.files if (name := _named(path))))


def listed(memory: Memory, branch: str, *, archived: bool = False) -> tuple[Skill, ...]:
    """The branch's skills by name; with `archived` those that were deleted behind them."""
    now = memory.snapshot(branch)
    found = [_skill(memory, name, place(name), now.files[place(name)]) for name in names(now)]
    if archived:
        for path in sorted(now.files, key=lambda path: path.split("/")):
            parts = path.split("/")
            if len(parts) == 4 and path.startswith(ARCHIVE + "/") and parts[3] == _NAME:
                found.append(_skill(memory, parts[2], path, now.files[path], archived=True))
    return tuple(found)


def find(memory: Memory, branch: str, name: str) -> Skill:
    """One skill. Raises `UnknownSkill`."""
    now = memory.snapshot(branch)
    blob = now.files.get(place(name)) if packages.name_refused(name) is None else None
    if blob is None:
        raise UnknownSkill(name)
    return _skill(memory, name, place(name), blob)


def save(memory: Memory, branch: str, name: str, text: str, *, by: Writer = Writer.USER, session: str = "") -> Changed:
    """Write a skill that is there already, or a new one, as one commit. The guards judge its text first."""
    package = packages.read(name, text)
    if isinstance(package, Refusal):
        said = package.message
        said = said if "othing was written" in said else f"{said} Nothing was written."
        return Changed("refused", branch, name, refusal=replace(package, message=said))
    data = package.text.encode()

    def plan(now: Snapshot) -> Draft | Changed:
        blob = now.files.get(place(name))
        if blob is not None and memory.store.read_blob(blob) == data:
            return Changed("nothing", branch, name)
        verb = "edit" if blob else "add"
        message = _message(f"skill: {verb} {name}: {one_line(package.description)}", session)
        return Draft((PutFile(place(name), data),), message, by)

    answer = memory.change(branch, plan)
    if isinstance(answer, Changed):
        return answer
    publish(memory, branch)
    return Changed("saved", branch, name, answer)


def delete(memory: Memory, branch: str, name: str, *, by: Writer = Writer.USER, session: str = "") -> Changed:
    """Set a skill aside: it moves to the archive of the branch, and no host is given it. Raises `UnknownSkill`."""

    def plan(now: Snapshot) -> Draft:
        blob = now.files.get(place(name)) if packages.name_refused(name) is None else None
        if blob is None:
            raise UnknownSkill(name)
        aside = f"{ARCHIVE}/{_free(now, name)}/{_NAME}"
        edits = (Drop(place(name)), PutBlob(aside, blob))
        return Draft(edits, _message(f"skill: delete {name}", session, f"kept as {aside}"), by)

    commit = memory.change(branch, plan)
    publish(memory, branch)
    return Changed("deleted", branch, name, commit)


def undo(memory: Memory, branch: str, name: str) -> Undone:
    """Take back the newest change of a skill that is not taken back yet: an edit, a deletion, or its making."""
    from noforgetti.service.undo import UNDOING, Undone, taken_back
    from noforgetti.service.undo import undo as service

    head = memory.head(branch)
    gone = taken_back(memory, head) if head else {}
    for commit in memory.store.walk(head) if head else ():
        if commit.kind in UNDOING or commit.id in gone:
            continue
        before, after = memory.store.snapshot(commit.parent), memory.store.snapshot(commit.id)
        if before.files.get(place(name)) != after.files.get(place(name)):
            done = service(memory, branch, commit.id)
            publish(memory, branch)
            return done
    return Undone("nothing", branch, reason=f"no change of a skill `{name}` is left to take back")


def free_name(now: Snapshot, name: str) -> str:
    """The name, or the name with a number where the branch has a skill of that name already."""
    taken, new, number = set(names(now)), name, 2
    while new in taken:
        new, number = f"{name}-{number}", number + 1
    return new


# ---- what a host is given


def publish(memory: Memory, branch: str) -> tuple[str, ...]:
    """Bring the host's folder of skills up to date; answers the folder to read, or nothing when there are no skills.

    Each file is replaced whole, so that a host which reads meanwhile reads the old one or the new one. A branch that
    never had a skill costs one look. Trouble with the cache is a trace, and no skills.
    """
    folder = published(memory, branch)
    wanted = {one.name: one.text for one in listed(memory, branch) if one.refusal is None} if memory.exists else {}
    try:
        if wanted:
            for name, text in wanted.items():
                _write(os.path.join(folder, name), text)
        if os.path.isdir(folder):
            for name in os.listdir(folder):
                if name not in wanted:
                    _remove(os.path.join(folder, name))
    except OSError as error:
        memory.state.trace("warning", f"the skills of `{branch}` could not be put before the host: {error.strerror}")
        return ()
    return (folder,) if wanted else ()


def published(memory: Memory, branch: str) -> str:
    """The folder from which a host reads the branch's skills."""
    return os.path.join(memory.places.cache_of(memory.name), FOLDER, branch)


def _write(folder: str, text: str) -> None:
    path = os.path.join(folder, _NAME)
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except (OSError, UnicodeError):
        pass
    folders.make(folder)
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8", opener=folders.private) as file:
        file.write(text)
    os.replace(temporary, path)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.remove(path)


def _named(path: str) -> str:
    """The skill whose file lies at that path, or nothing. What has no name of a skill is somebody else's file."""
    parts = path.split("/")
    if len(parts) != 3 or parts[0] != FOLDER or parts[2] != _NAME or packages.name_refused(parts[1]):
        return ""
    return parts[1]


def _skill(memory: Memory, name: str, path: str, blob: BlobId, *, archived: bool = False) -> Skill:
    try:
        data = memory.store.read_blob(blob)
    except Unreadable as error:
        return Skill(name, "", path, "", Refusal(Rule.FORMAT, str(error), "run `noforgetti doctor`"), archived)
    text = data[:_LARGEST].decode("utf-8", "replace")
    package = packages.read(name if not archived else _told(text, name), text)
    if isinstance(package, Refusal):
        return Skill(name, "", path, text, package, archived)
    return Skill(name, package.description, path, package.text, None, archived)


def _told(text: str, name: str) -> str:
    """What an archived skill was called: its folder may have a number behind the name."""
    line = next((line for line in text.split("\n")[1:8] if line.startswith("name:")), "")
    return line.removeprefix("name:").strip() or name


def _free(now: Snapshot, name: str) -> str:
    new, number = name, 2
    while f"{ARCHIVE}/{new}/{_NAME}" in now.files:
        new, number = f"{name}-{number}", number + 1
    return new


def _message(subject: str, session: str, body: str = "") -> Message:
    return Message(subject, body, trailers(CommitKind.SKILL, session=session))
