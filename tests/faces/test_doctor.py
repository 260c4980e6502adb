"""`doctor` finds what was broken on purpose, names what mends it, and that mends it."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import CommandLine

TOKEN = "ghp_" + "a8B3kq" * 6


@dataclass(frozen=True)
class Fault:
    """Something broken: how it is put in, the code and the words of the fix that `doctor` must name, and the fix."""

    code: str
    put: Callable[[CommandLine], Any]
    named: str
    fix: Callable[[CommandLine], Any]


def _doctor_fix(nf: CommandLine) -> None:
    assert nf("doctor", "--fix").status == 0


def _settings(text: str) -> Callable[[CommandLine], None]:
    return lambda nf: _private(nf.home / "config.toml", text)


def _private(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)


def _no_settings(nf: CommandLine) -> None:
    (nf.home / "config.toml").unlink()


def _only_ref(nf: CommandLine) -> Path:
    return nf.repository / "refs/heads/main"


def _torn_ref(nf: CommandLine) -> None:
    _only_ref(nf).write_bytes(b"")


def _by_hand(path: str, data: bytes) -> Callable[[CommandLine], None]:
    """A commit that somebody made with plain git."""

    def put(nf: CommandLine) -> None:
        git = ["git", "--git-dir", str(nf.repository)]
        blob = subprocess.run([*git, "hash-object", "-w", "--stdin"], input=data, capture_output=True, check=True)
        tree = subprocess.run([*git, "ls-tree", "-r", "main"], capture_output=True, check=True).stdout
        index = {**os.environ, "GIT_INDEX_FILE": str(nf.home / "index")}
        subprocess.run([*git, "update-index", "--index-info"], input=tree, env=index, check=True)
        line = f"100644 {blob.stdout.decode().strip()}\t{path}\n".encode()
        subprocess.run([*git, "update-index", "--add", "--index-info"], input=line, env=index, check=True)
        made = subprocess.run([*git, "write-tree"], env=index, capture_output=True, text=True, check=True)
        head = nf.git("rev-parse", "main").strip()
        commit = nf.git("commit-tree", made.stdout.strip(), "-p", head, "-m", "by hand").strip()
        nf.git("update-ref", "refs/heads/main", commit)
        (nf.home / "index").unlink()

    return put


def _lost_object(nf: CommandLine) -> None:
    """An object of the history only: what the branch holds now is whole."""
    nf("replace", "pnpm test", "Run pnpm lint first.")
    old = nf.git("rev-parse", "main~1").strip()
    lost = next(line.split()[2] for line in nf.git("ls-tree", "-r", old).splitlines() if "lessons/" in line)
    path = nf.repository / "objects" / lost[:2] / lost[2:]
    path.rename(nf.home / "kept-object")
    _private(nf.home / "where", str(path))


def _object_back(nf: CommandLine) -> None:
    (nf.home / "kept-object").rename((nf.home / "where").read_text(encoding="utf-8"))


def _stale_lock(nf: CommandLine) -> None:
    lock = nf.repository / "refs/heads/main.lock"
    lock.write_bytes(b"")
    os.utime(lock, (time.time() - 3_600,) * 2)


def _database(name: str) -> Callable[[CommandLine], None]:
    def put(nf: CommandLine) -> None:
        folder = "state" if name == "state.sqlite" else "cache"
        path = nf.home / folder / "projects" / nf.repository.name.removesuffix(".git") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"no database at all" * 500)

    return put


def _moved_project(nf: CommandLine) -> None:
    """The project's folder gets another name; the same work goes on in it, as a new project without a memory."""
    moved = nf.project.parent / "moved"
    nf.project.rename(moved)
    nf.project = moved
    nf.monkeypatch.chdir(moved)


def _relink(nf: CommandLine) -> None:
    found = next(one for one in nf("--json", "doctor").doc["findings"] if one["code"] == "orphan")
    key = found["hint"].split("noforgetti relink ")[1].split("`")[0]
    assert nf("relink", key).status == 0
    assert [one["text"] for one in nf.json("show")["entries"]] == ["Run pnpm check before pnpm test."]


def _program(nf: CommandLine) -> None:
    """Another installation, of an older version, comes first on the PATH."""
    folder = nf.home / "bin"
    folder.mkdir(mode=0o700)
    program = folder / "noforgetti"
    program.write_text("#!/bin/sh\necho noforgetti, version 0.0.9\n", encoding="utf-8")
    program.chmod(0o755)
    nf.monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def _path_back(nf: CommandLine) -> None:
    nf.monkeypatch.setenv("PATH", os.environ["PATH"].partition(":")[2])


def _no_git(nf: CommandLine) -> None:
    nf.monkeypatch.setenv("NOFORGETTI_TEST_PATH", os.environ["PATH"])
    nf.monkeypatch.setenv("PATH", str(nf.home))


def _git_back(nf: CommandLine) -> None:
    nf.monkeypatch.setenv("PATH", os.environ["NOFORGETTI_TEST_PATH"])


def _failing_reviews(nf: CommandLine) -> None:
    _settings('[review]\nreviewer = "command"\ncommand = ["false"]\n')(nf)
    talk = nf.home / "talk.jsonl"
    talk.write_text('{"role": "user", "content": "We always use tabs here."}\n' * 3, encoding="utf-8")
    for _ in range(2):
        nf("review", "--transcript", str(talk))


def _retried(nf: CommandLine) -> None:
    _no_settings(nf)
    assert nf("review", "retry", "--reviewer", "rules", "--transcript", str(nf.home / "talk.jsonl")).status == 0


def _too_much(nf: CommandLine) -> None:
    _settings("[limits]\nhard = 60000\n")(nf)
    for number in range(9):
        text = " ".join(f"fact{number}x{word}" for word in range(90))
        assert nf("add", f"{text}.").status == 0
    _no_settings(nf)


def _less(nf: CommandLine) -> None:
    for one in nf.json("show")["entries"][:4]:
        nf("remove", one["id"])


def _wired(nf: CommandLine, old: str, new: str) -> None:
    """Codex is installed, and its hooks are changed by somebody else."""
    (nf.home.parent / ".codex").mkdir()
    assert nf("install", "codex").status == 0
    hooks = nf.home.parent / ".codex" / "hooks.json"
    text = hooks.read_text(encoding="utf-8")
    assert old in text
    hooks.write_text(text.replace(old, new), encoding="utf-8")


def _gone_program(nf: CommandLine) -> None:
    _wired(nf, f"{Path(sys.executable).parent}/noforgetti", "/gone/noforgetti")


def _second_program(nf: CommandLine) -> None:
    other = nf.home / "noforgetti"
    other.write_text("#!/bin/sh\n", encoding="utf-8")
    other.chmod(0o755)
    _wired(nf, f"{Path(sys.executable).parent}/noforgetti", str(other))


def _torn_hooks(nf: CommandLine) -> None:
    _wired(nf, "}", "")


def _foreign_server(nf: CommandLine) -> None:
    folder = nf.home.parent / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text('[mcp_servers.noforgetti]\ncommand = "other"\n', encoding="utf-8")


def _foreign_gone(nf: CommandLine) -> None:
    (nf.home.parent / ".codex" / "config.toml").unlink()


def _hooks_gone(nf: CommandLine) -> None:
    (nf.home.parent / ".codex" / "hooks.json").unlink()
    assert nf("install", "codex").status == 0


def _installed(nf: CommandLine) -> None:
    assert nf("install", "codex").status == 0


def _stale_pi(nf: CommandLine) -> None:
    folder = nf.home.parent / ".pi" / "agent" / "extensions" / "noforgetti"
    assert nf("install", "pi").status == 0
    launch = folder / "launch.json"
    launch.write_text('{"command": ["/gone/noforgetti", "serve", "--stdio"]}', encoding="utf-8")


def _pi_again(nf: CommandLine) -> None:
    assert nf("install", "pi").status == 0


def _failed_hook(nf: CommandLine) -> None:
    nf.process("hook", "codex", "SessionStart", stdin=b"{")


def _a_day_later(nf: CommandLine) -> None:
    state = next(nf.home.rglob("state.sqlite"))
    with closing(sqlite3.connect(state)) as db, db:
        db.execute("update trace set time = '2020-01-01T00:00:00Z'")


def _overwritten(nf: CommandLine) -> None:
    path = next(line.split("\t")[1] for line in nf.git("ls-tree", "-r", "main").splitlines() if "lessons/" in line)
    _by_hand(path, b"---\nno end")(nf)


FAULTS = {
    "settings that cannot be read": Fault("bad-settings", _settings("review = ["), "correct the file", _no_settings),
    "a setting nobody knows": Fault("unknown-setting", _settings("reviw = 3\n"), "correct its spelling", _no_settings),
    "a reviewer without a program": Fault(
        "reviewer", _settings('[review]\nreviewer = "command"\n'), "review.command", _no_settings
    ),
    "a reviewer whose program is gone": Fault(
        "reviewer",
        _settings('[review]\nreviewer = "command"\ncommand = ["/gone/it"]\n'),
        "review.command",
        _no_settings,
    ),
    "reviews that fail": Fault("review-failing", _failing_reviews, "review retry", _retried),
    "a folder of sessions that is none": Fault(
        "session-folder", _settings('session_folders = ["/gone/sessions"]\n'), "correct the settings", _no_settings
    ),
    "a model of meanings that is not there": Fault(
        "embedding", _settings('[embedding]\ntype = "local"\npath = "/gone/model"\n'), "", _no_settings
    ),
    "no git program": Fault("git-missing", _no_git, "install git", _git_back),
    "a second installation": Fault("second-program", _program, "upgrade or remove one", _path_back),
    "a memory that others can read": Fault(
        "open-to-others", lambda nf: nf.repository.chmod(0o755), "doctor --fix", _doctor_fix
    ),
    "a data folder that others can read": Fault(
        "open-to-others", lambda nf: (nf.home / "data").chmod(0o750), "doctor --fix", _doctor_fix
    ),
    "a folder that cannot be written": Fault(
        "not-writable", lambda nf: nf.repository.chmod(0o500), "chmod u+rwX", lambda nf: nf.repository.chmod(0o700)
    ),
    "comments on pull requests that cannot be read": Fault(
        "damaged-reviews",
        lambda nf: _private(nf.home / "data" / "pr-reviews.sqlite", ""),
        "doctor --fix",
        _doctor_fix,
    ),
    "a HEAD that names nothing": Fault(
        "head-damaged", lambda nf: (nf.repository / "HEAD").write_bytes(b"\0"), "doctor --fix", _doctor_fix
    ),
    "a configuration that git cannot read": Fault(
        "unreadable-repository",
        lambda nf: (nf.repository / "config").write_bytes(b"[core\n"),
        "doctor --fix",
        _doctor_fix,
    ),
    "a repository of another root": Fault(
        "wrong-root", lambda nf: nf.git("config", "noforgetti.root", "/somewhere/else"), "doctor --fix", _doctor_fix
    ),
    "a torn branch": Fault("branch-torn", _torn_ref, "doctor --fix", _doctor_fix),
    "a lost object of the history": Fault("history-damaged", _lost_object, "restore the object", _object_back),
    "the lock file of a killed process": Fault("stale-lock", _stale_lock, "doctor --fix", _doctor_fix),
    "an entry that cannot be read": Fault("entry-damaged", _overwritten, "doctor --fix", _doctor_fix),
    "an entry with a secret": Fault(
        "entry-hidden",
        _by_hand("lessons/token-aaaa.md", f"The token is {TOKEN}.\n".encode()),
        "remove token-aaaa",
        lambda nf: nf("remove", "token-aaaa"),
    ),
    "a branch of a newer format": Fault(
        "newer-format",
        _by_hand("format", b"99\n"),
        "upgrade noforgetti",
        lambda nf: nf.git("update-ref", "refs/heads/main", "main~1"),
    ),
    "more than the limit": Fault("over-limit", _too_much, "remove or shorten", _less),
    "a state database that is none": Fault("state-damaged", _database("state.sqlite"), "doctor --fix", _doctor_fix),
    "an index that is no database": Fault("index-damaged", _database("sessions.sqlite"), "doctor --fix", _doctor_fix),
    "vectors that are no database": Fault("index-damaged", _database("vectors.sqlite"), "doctor --fix", _doctor_fix),
    "a host that starts a program which is gone": Fault(
        "stale-command", _gone_program, "noforgetti install codex", _installed
    ),
    "a host that starts another installation": Fault(
        "second-install", _second_program, "noforgetti install codex", _installed
    ),
    "a configuration of a host that is torn": Fault("unreadable-file", _torn_hooks, "", _hooks_gone),
    "a server of our name that is not ours": Fault(
        "foreign-entry", _foreign_server, "remove or rename it", _foreign_gone
    ),
    "an extension of Pi that starts nothing": Fault("stale-command", _stale_pi, "noforgetti install pi", _pi_again),
    "a hook that could not answer": Fault("hook-failing", _failed_hook, "noforgetti install HOST", _a_day_later),
    "a project that was moved": Fault("orphan", _moved_project, "noforgetti relink", _relink),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_with_its_fix_and_the_fix_mends_it(nf: CommandLine, name: str) -> None:
    fault = FAULTS[name]
    nf("add", "Run pnpm check before pnpm test.")
    assert nf("doctor").status == 0, nf("doctor").out

    fault.put(nf)
    done = nf("--json", "doctor")
    found = [one for one in done.doc["findings"] if one["code"] == fault.code]

    assert (done.status, done.doc["outcome"]) == (1, "unhealthy")
    assert found, done.doc["findings"]
    assert found[0]["hint"]
    assert fault.named in found[0]["hint"]
    assert TOKEN not in done.out
    told = nf("doctor").out
    assert found[0]["what"][:60] in told

    fault.fix(nf)
    assert [one for one in nf("--json", "doctor").doc["findings"] if one["code"] == fault.code] == []


def test_a_sound_memory_has_nothing_wrong(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    done = nf("--json", "doctor")
    assert (done.status, done.doc) == (0, {"outcome": "ok", "mended": [], "findings": []})
    assert nf("doctor").out == "Everything is in order.\n"


def test_looking_changes_nothing(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    nf("search", "pnpm")
    before = _everything(nf.home)
    nf("doctor")
    assert _everything(nf.home) == before


def _everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


def test_relinking_refuses_what_would_lose_a_memory(nf: CommandLine) -> None:
    nf("add", "Run pnpm check before pnpm test.")
    key = nf.json("status")["project"]["key"]
    _moved_project(nf)
    assert "No memory has the key `beef`" in nf("relink", "beef").err
    nf("add", "Another memory began here.")

    done = nf("--json", "relink", key)

    assert done.status == 1
    assert "has a memory of its own" in done.doc["reason"]
    assert [one["text"] for one in nf.json("show")["entries"]] == ["Another memory began here."]
