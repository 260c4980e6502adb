"""Builders with defaults, real git, and eyes that look at a repository from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noforgetti.model.commit import AUTHORS, Message
from noforgetti.model.entry import MAIN, BranchName, CommitId, Entry, EntryId, Snapshot, Writer
from noforgetti.model.evidence import Item, Role, Transcript
from noforgetti.service.memory import Draft, Memory
from noforgetti.service.places import Places, places
from noforgetti.service.settings import load
from noforgetti.store.base import Drop, Edit, Put
from noforgetti.store.create import create
from noforgetti.store.discovery import Project, discover
from noforgetti.store.git import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PACKAGE = Path(__file__).resolve().parents[2]
NOW = 1_796_126_400  # 2026-12-01T12:00:00Z
STAMP = "2026-12-01T12:00:00Z"
HERE: dict[str, str] = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "somebody",
    "GIT_AUTHOR_EMAIL": "somebody@example.org",
    "GIT_COMMITTER_NAME": "somebody",
    "GIT_COMMITTER_EMAIL": "somebody@example.org",
}


@dataclass
class Clock:
    """A clock that stands still until somebody moves it."""

    now: float = NOW

    def __call__(self) -> float:
        return self.now

    def tick(self, seconds: float = 1.0) -> None:
        self.now += seconds


def clean_environ(**more: str) -> dict[str, str]:
    """This process's environment without git's and without ours."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "NOFORGETTI_"))}
    return {**kept, **more}


def git(folder: str | Path, *words: str, stdin: bytes = b"", environ: Mapping[str, str] | None = None) -> str:
    """Run the real git program in a folder, away from the user's settings; what it printed, trimmed."""
    done = subprocess.run(
        ["git", *words], cwd=folder, env=clean_environ(**HERE, **(environ or {})), input=stdin, capture_output=True
    )
    assert done.returncode == 0, (words, done.stderr.decode(errors="replace"))
    return done.stdout.decode("utf-8", "replace").strip()


def fsck(repository: str | Path) -> str:
    """What `git fsck --strict` complains of; empty when the repository is clean. Dangling objects are allowed."""
    done = subprocess.run(
        ["git", "fsck", "--strict", "--no-dangling", "--no-progress"],
        cwd=repository,
        env=clean_environ(**HERE),
        capture_output=True,
        text=True,
    )
    return f"{done.returncode} {done.stdout}{done.stderr}" if done.returncode or done.stdout else ""


def python(script: str, *words: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start a child with this package that runs `script`; `words` are its arguments."""
    environ = clean_environ(PYTHONPATH=os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen([sys.executable, "-c", script, *words], env=environ, **options)


def cli(
    memory: Memory, *words: str, environ: Mapping[str, str] | None = None, status: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run the real command line in the memory's project, in a process of its own."""
    settings = clean_environ(
        PYTHONPATH=os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]),
        NOFORGETTI_HOME=os.path.dirname(memory.places.data),
    )
    done = subprocess.run(
        [sys.executable, "-m", "noforgetti", *words],
        cwd=memory.project.root,
        env={**settings, **(environ or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done


def made_project(folder: Path, *options: str) -> Path:
    """A real git project."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", *options)
    return folder


def opened(folder: str | Path, home: Path, clock: Clock | None = None, *, config: str = "") -> Memory:
    """The memory of the project around a folder, with everything of ours under `home`."""
    if config:
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.toml").write_text(config, encoding="utf-8")
    where = places({"NOFORGETTI_HOME": str(home)})
    settings = load(where.config)
    project = discover(str(folder), worktrees=settings.worktrees, submodules=settings.submodules)
    return Memory(project, where, settings, clock=clock or Clock())


def bare_memory(folder: Path, clock: Clock | None = None) -> Memory:
    """A memory of a plain folder; cheaper than one of a git project."""
    where = Places(data=f"{folder}/data", state=f"{folder}/state", cache=f"{folder}/cache", config=f"{folder}/none")
    return Memory(Project(f"{folder}/project", kind="folder"), where, load(where.config), clock=clock or Clock())


def new_store(folder: Path, name: str = "memory.git") -> Store:
    """A fresh repository, opened."""
    path = str(folder / name)
    create(path, str(folder / "project"))
    return Store(path)


def entry(text: str = "Use tabs.", own: str = "", **fields: Any) -> Entry:
    """An entry; its id is the first word of its text unless it is given."""
    return Entry(EntryId(own or text.split(maxsplit=1)[0].lower().strip(".,")), text, **fields)


def message(subject: str = "add: something", **trailers: str) -> Message:
    """A commit message."""
    return Message(subject, "", tuple(trailers.items()))


def written(
    store: Store, parent: CommitId | None, *edits: Edit | Entry, said: Message | None = None, at: int = NOW
) -> CommitId:
    """A commit that is published nowhere. Entries are put."""
    changes = [Put(one) if isinstance(one, Entry) else one for one in edits]
    return store.write(parent, changes, said or message(), author=AUTHORS[Writer.USER], seconds=at)


def published(
    store: Store, *edits: Edit | Entry, branch: str = "main", said: Message | None = None, at: int = NOW
) -> CommitId:
    """One more commit on a branch."""
    head = store.head(branch)
    new = written(store, head, *edits, said=said, at=at)
    store.publish(branch, new, head)
    return new


def texts(now: Snapshot) -> list[str]:
    """The texts of a snapshot, sorted."""
    return sorted(one.text for one in now)


def state_of(now: Snapshot) -> dict[str, Entry]:
    """The entries of a snapshot by id."""
    return {one.id: one for one in now}


def review_draft(
    base: Snapshot,
    *,
    add: Iterable[Entry] = (),
    reword: Mapping[str, str] | None = None,
    remove: Iterable[str] = (),
    session: str = "s1",
    window: str = "",
    subject: str = "review: something",
) -> Draft:
    """What a review writes, without a reviewer."""
    edits: list[Edit] = [Put(one) for one in add]
    for one, text in (reword or {}).items():
        stored = base.get(EntryId(one))
        assert stored is not None
        edits.append(Put(stored.entry.with_text(text)))
    for one in remove:
        stored = base.get(EntryId(one))
        assert stored is not None
        edits.append(Drop(stored.path))
    trailers = [("Kind", "review"), ("Session", session)]
    if window:
        trailers.append(("Window", window))
    return Draft(tuple(edits), Message(subject, "", tuple(trailers)), Writer.REVIEW)


def review(memory: Memory, branch: str = "main", **changes: Any) -> CommitId:
    """Publish a review commit on the branch's head."""
    memory.prepare()
    base = memory.snapshot(branch)
    return memory.publish(branch, review_draft(base, **changes), base.commit)


def transcript(count: int, *, session: str = "s1", branch: str = MAIN, lineage: tuple[str, ...] = ()) -> Transcript:
    """A session of `count` user messages `i0`, `i1`, …"""
    items = tuple(Item(f"i{n}", Role.USER, f"Message {n}.", STAMP, BranchName(branch)) for n in range(count))
    return Transcript(session, items, lineage or (session,))


def loose_path(repository: str | Path, oid: str) -> Path:
    """Where an object's own file is."""
    return Path(repository) / "objects" / oid[:2] / oid[2:]


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
