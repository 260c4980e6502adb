"""Speed and size of what is felt, as ratios within one run: `python tools/bench [--rounds N] [--scale]`.

`python tools/bench TOPIC …` runs one of the others: `guards`, `pairs`, `recall`, `retrieval_quality`.

Every figure is measured beside its yardstick, in turns, on the same disk: a busy machine slows both. Medians are
printed; the first tenth of each series warms up and is dropped. docs/benchmarks.md holds the last figures.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bridge import Bridge

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = "Entry {} of the benchmark: run pnpm check before pnpm test, and keep the lock file in step with it."
ENTRIES = 20  # of the memory that is written to; the design's figures are for twenty too


TOPICS = ("guards", "pairs", "recall", "retrieval_quality")  # modules beside this one
SESSION = {"id": "bench", "file": None}


class Place:
    """A throw-away home and project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        home = folder / "home"
        home.mkdir()
        (home / "config.toml").write_text("limits.hard = 1000000\n", encoding="utf-8")
        self.environ = {
            **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
            "NOFORGETTI_HOME": str(home),
        }

    def run(self, *arguments: str) -> str:
        """One command of the command line."""
        script = Path(sys.executable).parent / "noforgetti"
        done = subprocess.run(
            [str(script), *arguments], cwd=self.project, env=self.environ, capture_output=True, check=True
        )
        return done.stdout.decode()


def timed(act: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


def rounds(count: int, **acts: Callable[[], object]) -> dict[str, float]:
    """The median of each act in milliseconds; the acts take turns."""
    found: dict[str, list[float]] = {name: [] for name in acts}
    for number in range(count + count // 10):
        for name, act in acts.items():
            took = timed(act)
            if number >= count // 10:
                found[name].append(took)
    return {name: statistics.median(values) for name, values in found.items()}


def table(title: str, found: dict[str, float], yardstick: str, unit: str = "ms") -> None:
    """Print the figures and their ratios to the yardstick."""
    print(f"\n{title}")
    for name, value in found.items():
        ratio = value / found[yardstick]
        print(f"  {name.replace('_', ' '):<44} {value:9.3f} {unit}   {ratio:6.2f} x")


def writes(folder: Path, count: int) -> None:
    """A durable direct write through the bridge, against four other ways to keep the same bytes."""
    place = Place(folder)
    bridge = Bridge(place.environ, place.project)
    for number in range(ENTRIES):
        bridge.call(
            "tool", name="project_memory", session=SESSION, arguments={"action": "add", "content": TEXT.format(number)}
        )
    numbers = iter(range(10**9))

    def write() -> None:
        text = TEXT.format(next(numbers) + ENTRIES)
        old = f"Entry {numbers_seen[-1]} of" if numbers_seen else "Entry 0 of"
        numbers_seen.append(int(text.split()[1]))
        answer = bridge.call(
            "tool",
            name="project_memory",
            session=SESSION,
            arguments={"action": "replace", "oldText": old, "content": text},
        )
        assert not answer["error"], answer

    numbers_seen: list[int] = []
    found = rounds(
        count,
        raw_write_fsync_rename=raw(folder),
        noforgetti_through_the_bridge=write,
        json_store_with_lock_and_journal=json_store(folder),
        sqlite_wal_full=sqlite(folder),
        four_git_processes=git_processes(folder, place.environ),
    )
    size = bridge.memory()
    bridge.close()
    table("One durable change of a memory of 20 entries", found, "raw_write_fsync_rename")
    print(f"  memory of the bridge after it: {size:.1f} MiB")


def raw(folder: Path) -> Callable[[], None]:
    """The yardstick: the bytes of one entry, written, synced, renamed."""
    data = (TEXT.format(1) * 2).encode()

    def act() -> None:
        handle = os.open(folder / "raw.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(handle, data)
        os.fsync(handle)
        os.close(handle)
        os.replace(folder / "raw.new", folder / "raw")

    return act


def json_store(folder: Path) -> Callable[[], None]:
    """One JSON file a branch: lock folder, read, change, write, sync, rename; then a journal record the same way."""
    store = folder / "json"
    store.mkdir()
    entries = [
        {"id": f"{number:012d}", "text": TEXT.format(number), "importance": "normal"} for number in range(ENTRIES)
    ]
    (store / "main.json").write_text(json.dumps({"version": 1, "entries": entries}), encoding="utf-8")
    counter = iter(range(10**9))

    def put(name: str, value: object) -> None:
        with open(store / f"{name}.new", "w", encoding="utf-8") as file:
            json.dump(value, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(store / f"{name}.new", store / name)

    def act() -> None:
        number = next(counter)
        os.mkdir(store / "lock")
        branch = json.loads((store / "main.json").read_text(encoding="utf-8"))
        branch["entries"][number % ENTRIES]["text"] = TEXT.format(number)
        put("main.json", branch)
        put(f"{number:012d}.json", {"kind": "write", "changes": [branch["entries"][number % ENTRIES]]})
        os.rmdir(store / "lock")

    return act


def sqlite(folder: Path) -> Callable[[], None]:
    """SQLite in WAL mode with `synchronous = full`."""
    db = sqlite3.connect(folder / "bench.sqlite", isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("create table entry(id integer primary key, text text)")
    counter = iter(range(10**9))

    def act() -> None:
        number = next(counter)
        db.execute("insert or replace into entry values (?, ?)", (number % ENTRIES, TEXT.format(number)))

    return act


def git_processes(folder: Path, environ: dict[str, str]) -> Callable[[], None]:
    """hash-object, mktree, commit-tree, update-ref: the same commit by git's own programs, durable by its settings."""
    repository = str(folder / "plain.git")
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    environ = {
        **environ,
        **identity,
        "GIT_DIR": repository,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }

    def git(*arguments: str, data: str = "") -> str:
        done = subprocess.run(["git", *arguments], input=data, env=environ, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "-q", "--bare", repository)
    git("config", "core.fsync", "loose-object,reference")
    counter = iter(range(10**9))

    def act() -> None:
        blob = git("hash-object", "-w", "--stdin", data=TEXT.format(next(counter)))
        tree = git("mktree", data=f"100644 blob {blob}\tentry.md\n")
        commit = git("commit-tree", tree, "-m", "change")
        git("update-ref", "refs/heads/main", commit)

    return act


def turns(folder: Path, count: int) -> None:
    """The start of a turn through the bridge: nothing changed, and changed by another process."""
    place = Place(folder)
    bridge, other = Bridge(place.environ, place.project), Bridge(place.environ, place.project)
    for number in range(ENTRIES):
        bridge.call(
            "tool", name="project_memory", session=SESSION, arguments={"action": "add", "content": TEXT.format(number)}
        )
    state = {"number": 0}

    def start() -> None:
        bridge.call("turn/start", session=SESSION, branch="main", prompt="ok")

    def change() -> None:
        state["number"] += 1
        old, new = f"Entry {state['number'] - 1} of", TEXT.format(state["number"] + ENTRIES)
        other.call(
            "tool",
            name="project_memory",
            session=SESSION,
            arguments={"action": "replace", "oldText": old, "content": new},
        )

    unchanged = [timed(start) for _ in range(count)]
    changed = []
    for _ in range(min(count, ENTRIES - 1)):
        change()
        changed.append(timed(start))
    size = bridge.memory()
    bridge.close()
    other.close()
    table(
        "Turn start through the bridge",
        {
            "memory_unchanged": statistics.median(unchanged),
            "memory_changed_by_another_process": statistics.median(changed),
        },
        "memory_unchanged",
    )
    print(f"  memory of the bridge after it: {size:.1f} MiB")


def processes(folder: Path, count: int) -> None:
    """`noforgetti show` and hooks as whole processes against an empty interpreter. Each session start has a session of
    its own; a prompt's memory is unchanged."""
    place = Place(folder)
    for number in range(ENTRIES):
        place.run("add", TEXT.format(number))
    (Path(place.environ["NOFORGETTI_HOME"]) / "config.toml").unlink()
    place.run("show")
    script = str(Path(sys.executable).parent / "noforgetti")

    def command(*arguments: str) -> Callable[[], object]:
        return lambda: subprocess.run(arguments, cwd=place.project, env=place.environ, capture_output=True, check=True)

    sessions = iter(range(10**9))

    def hook(event: str, session: str = "") -> Callable[[], object]:
        def call() -> None:
            said = {"session_id": session or str(next(sessions)), "cwd": str(place.project), "prompt": "fix the tests"}
            data = json.dumps(said | {"turn_id": str(next(sessions))}).encode()
            words = [script, "hook", "codex", event]
            subprocess.run(words, input=data, cwd=place.project, env=place.environ, capture_output=True, check=True)

        return call

    hook("SessionStart", "one")()
    found = rounds(
        count,
        python_c_pass=command(sys.executable, "-c", "pass"),
        noforgetti_show=command(script, "show"),
        noforgetti_show_json=command(script, "--json", "show"),
        hook_of_a_session_start=hook("SessionStart"),
        hook_of_a_prompt=hook("UserPromptSubmit", "one"),
        noforgetti_status=command(script, "status"),
    )
    table("Whole processes", found, "python_c_pass")


def scale(folder: Path, count: int) -> None:
    """A large repository against a small one: 10,000 entries, 1,000 branches, 100,000 commits."""
    small, large = Place(folder / "small"), Place(folder / "large")
    for place in (small, large):
        (
            Path(place.environ["NOFORGETTI_HOME"]) / "config.toml"
        ).unlink()  # what is injected is bounded as for everybody
        place.run("add", TEXT.format(0))
    repository = json.loads(large.run("--json", "status"))["project"]["repository"]
    _grow(repository)
    bridges = {"small": Bridge(small.environ, small.project), "large": Bridge(large.environ, large.project)}
    for name, bridge in bridges.items():
        took = timed(lambda bridge=bridge: bridge.call("turn/start", session=SESSION, branch="main", prompt="ok"))  # type: ignore[misc]
        print(f"  first turn start, {name}: {took:.1f} ms")

    def start(name: str) -> Callable[[], object]:
        return lambda: bridges[name].call("turn/start", session=SESSION, branch="main", prompt="ok")

    def status(name: str) -> Callable[[], object]:
        return lambda: bridges[name].call("command", session=SESSION, branch="main", line="status")

    turn = rounds(count, small=start("small"), large=start("large"))
    table("Turn start: 10,000 entries, 1,000 branches, 100,000 commits against one entry", turn, "small")
    table("/memory status of the same", rounds(count, small=status("small"), large=status("large")), "small")
    for bridge in bridges.values():
        bridge.close()


def _grow(repository: str) -> None:
    """Grow the memory with git's own import program: as anybody's history would be."""
    head = subprocess.run(
        ["git", "--git-dir", repository, "rev-parse", "main"], capture_output=True, text=True, check=True
    )
    lines = []
    # The history first, on a small tree: git would compress a tree of 10,000 entries 100,000 times otherwise.
    for number in range(100_000):
        lines.append(f"commit refs/heads/main\ncommitter a <a@b> {1_767_225_600 + number} +0000\ndata 2\nx\n")
        if number == 0:
            lines.append(f"from {head.stdout.strip()}\n")
        wanted = range(10_000) if number == 99_999 else (number % 20,)
        for one in wanted:
            entry = f"---\ncreated: 2026-01-01T00:00:00Z\n---\n\n{TEXT.format(f'{one}, {number}')}\n"
            lines.append(f"M 100644 inline lessons/entry-{one:05d}.md\ndata {len(entry.encode())}\n{entry}\n")
    lines += [f"reset refs/heads/branch-{number}\nfrom refs/heads/main\n\n" for number in range(1_000)]
    subprocess.run(
        ["git", "--git-dir", repository, "fast-import", "--quiet"], input="".join(lines).encode(), check=True
    )
    subprocess.run(["git", "--git-dir", repository, "pack-refs", "--all"], check=True)


def main() -> None:
    """Run the benchmarks and print them."""
    if sys.argv[1:2] and sys.argv[1] in TOPICS:
        sys.exit(importlib.import_module(sys.argv.pop(1)).main())
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--scale", action="store_true", help="also the large repository (takes minutes)")
    parser.add_argument("--only", choices=["writes", "turns", "processes", "scale"])
    chosen = parser.parse_args()
    print(f"{platform.system()} {platform.release()}, Python {platform.python_version()}, {os.cpu_count()} processors")
    # Beside the checkout: a temporary folder in memory would make every sync free.
    folder = Path(tempfile.mkdtemp(prefix=".bench-", dir=Path(__file__).resolve().parents[2]))
    try:
        for name, bench, count in (
            ("writes", writes, chosen.rounds),
            ("turns", turns, chosen.rounds),
            ("processes", processes, max(20, chosen.rounds // 4)),
            ("scale", scale, chosen.rounds),
        ):
            if chosen.only == name or (chosen.only is None and (name != "scale" or chosen.scale)):
                bench(folder / name, count)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
