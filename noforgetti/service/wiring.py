"""Wiring: hosts on this machine, and our pieces in their configuration. Reads the environment; keeps records in the
state folder; one process at a time."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from noforgetti import __version__
from noforgetti.hosts import plans
from noforgetti.hosts.base import Launch
from noforgetti.hosts.catalogue import HOSTS
from noforgetti.hosts.records import Records
from noforgetti.service.places import places
from noforgetti.store.folders import make
from noforgetti.store.locks import write_lock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from noforgetti.hosts.base import Host, Step, Wiring
    from noforgetti.hosts.parts import Part
    from noforgetti.hosts.plans import Change

Direction = Literal["install", "uninstall"]


def program(executable: str = sys.executable) -> tuple[str, ...]:
    """The words that start us from anywhere: the installed script, whose folder is not on Python's path (a project's
    own `pydantic/` must not be imported); without one, this interpreter in its safe-path mode."""
    script = Path(executable).parent / "noforgetti"
    return (str(script),) if script.is_file() else (executable, "-P", "-m", "noforgetti")


@dataclass(frozen=True, slots=True)
class Wired:
    """A host in an environment, ready to be looked at and changed."""

    host: Host
    home: Path
    parts: tuple[Part, ...]
    records: Records
    launch: Launch
    lock: str

    @property
    def found(self) -> bool:
        """True when the host keeps a configuration here already."""
        return self.host.present(self.home)


def wired(name: str, environ: Mapping[str, str], *, words: tuple[str, ...] = ()) -> Wired:
    """The host of that name (`HOSTS`). `words` start us (default: `program`)."""
    host = HOSTS[name]
    launch = Launch(words or program(), __version__)
    home = host.home(environ)
    state = places(environ).state
    records = Records(Path(state, "hosts", name))
    return Wired(host, home, host.parts(home, launch), records, launch, f"{state}/hosts.lock")


def run(name: str, direction: Direction, environ: Mapping[str, str], *, dry: bool = False) -> dict[str, Any]:
    """Install or uninstall, and what was done as a document. `dry` writes nothing. Nothing is installed while one of
    the files cannot be used. Raises `UnusableFile` where the system refuses to write (the same command goes on from
    there), and `Busy`."""
    one = wired(name, environ)
    if dry:
        return _document(one, direction, _planned(one, direction), dry=True)
    make(os.path.dirname(one.lock))
    with write_lock(one.lock):
        changes = _planned(one, direction)
        was = _inspected(one).installed
        if direction == "uninstall" or not _failed(changes):
            plans.apply(changes, one.records)
    return _document(one, direction, changes, dry=False, was=was)


def inspected(name: str, environ: Mapping[str, str]) -> Wiring:
    """What a host's configuration says of us now."""
    return _inspected(wired(name, environ))


def _inspected(one: Wired) -> Wiring:
    return plans.inspect(one.host.name, one.parts, one.records, one.launch.program[0], os.path.exists)


def known(environ: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every host: whether it is on this machine, and what its configuration says of us."""
    return [_listed(name, environ) for name in HOSTS]


def troubles(environ: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """What is wrong with the wiring of hosts, as (code, what, hint), for `doctor`."""
    for name in HOSTS:
        for trouble in inspected(name, environ).troubles:
            yield trouble.code, trouble.what, trouble.hint


def _listed(name: str, environ: Mapping[str, str]) -> dict[str, Any]:
    one = wired(name, environ)
    wiring = inspected(name, environ)
    path = environ.get("PATH", os.defpath)
    return {
        "host": name,
        "title": one.host.title,
        "found": one.found or any(shutil.which(word, path=path) for word in one.host.programs),
        "installed": wiring.installed,
        "folder": str(one.home),
        "troubles": [{"code": t.code, "what": t.what, "hint": t.hint} for t in wiring.troubles],
    }


def _planned(one: Wired, direction: Direction) -> tuple[Change, ...]:
    plan = plans.to_install if direction == "install" else plans.to_uninstall
    return plan(one.parts, one.records, _masked)


def _masked(text: str) -> str:
    from noforgetti.policy.secrecy import redact

    return redact(text)[0]


def _failed(changes: tuple[Change, ...]) -> bool:
    return any(change.step.deed == "fail" for change in changes)


def _document(
    one: Wired, direction: Direction, changes: tuple[Change, ...], *, dry: bool, was: bool = False
) -> dict[str, Any]:
    steps = [change.step for change in changes]
    touched = [step for step in steps if step.deed in ("create", "change", "delete")]
    left = [step for step in steps if step.why]
    refused = direction == "install" and _failed(changes)
    doc = {
        "outcome": "refused" if refused else "planned" if dry and touched else _outcome(direction, steps, was=was),
        "host": one.host.name,
        "title": one.host.title,
        "folder": str(one.home),
        "command": list(one.launch.program),
        "steps": [
            {"path": str(step.path), "deed": step.deed, "diff": step.shown} for step in steps if step.deed != "none"
        ],
        "paths": [] if refused else [str(step.path) for step in touched],
        "kept": [str(step.path) for step in left],
        "warnings": [step.why for step in left],
        "then": list(one.host.then) if direction == "install" and not dry and touched else [],
        "cannot": list(one.host.cannot) if direction == "install" else [],
    }
    failed = [step.why for step in steps if step.deed == "fail"]
    if not failed:
        return doc
    nothing = " Nothing was installed." if refused else " The other files were taken back."
    return {**doc, "reason": " ".join(failed) + nothing, "hint": "correct the file and run the command again"}


def _outcome(direction: Direction, steps: list[Step], *, was: bool) -> str:
    deeds = {step.deed for step in steps}
    if not deeds & {"create", "change", "delete"}:
        return "kept" if deeds & {"keep", "fail"} else "unchanged" if direction == "install" else "absent"
    if direction == "uninstall":
        return "removed"
    return "upgraded" if was else "installed"
