"""Programs from npm that tests run: installed once from a folder's lock file.

They go to `.tools-cache/<name>-<hash of the lock file>/` at the root of the repository. Test workers that start
together wait for the one that installs.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

CACHE = Path(__file__).resolve().parent.parent / ".tools-cache"


class ToolsMissingError(Exception):
    """A program cannot be had on this machine; the message says what is missing."""


def installed(here: Path, name: str) -> Path:
    """The `node_modules` that the lock file in `here` describes; the first call on a machine runs npm. Raises
    `ToolsMissingError`."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        msg = f"Node and npm are needed to run {name}"
        raise ToolsMissingError(msg)
    folder = CACHE / f"{name}-{_fingerprint(here)}"
    CACHE.mkdir(exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _install(npm, here, folder)
    return folder / "node_modules"


def required() -> bool:
    """True where the absence of a program is an error instead of a reason to skip."""
    return os.environ.get("CI", "").lower() in {"1", "true"}


def _install(npm: str, here: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(here / name, folder / name)
    argv = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    ran = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=540)
    if ran.returncode != 0:
        msg = f"npm could not install what {here.name} needs: {ran.stderr.strip()[-500:]}"
        raise ToolsMissingError(msg)
    (folder / "complete").touch()


def _fingerprint(here: Path) -> str:
    return hashlib.sha256((here / "package-lock.json").read_bytes()).hexdigest()[:12]
