"""Puts the Pi extension into an agent folder and takes it out again.

Pi loads `<agent dir>/extensions/noforgetti/` without any setting, so no file of the user's is touched. The
folder is built beside its place and renamed into it; a manifest of hashes says which files are ours, so that
nothing the user wrote is ever overwritten or removed. What is not promised: a Pi that starts in the instant
between the two renames of an upgrade misses the extension for that session.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SOURCE = Path(__file__).resolve().parent / "extension"
NAME = "noforgetti"
PACKAGE = "noforgetti-pi"  # `name` in the extension's package.json; tells a copy of ours from a stranger
LAUNCH = "launch.json"
MANIFEST = "manifest.json"
BUILDING = ".noforgetti-"  # Pi looks one level deep: an unfinished folder inside this one is not loaded
KEPT = ".kept"  # Pi stops at an extension of which half is missing: what we keep must not look like one


class Outcome(StrEnum):
    """What an installation or its removal did."""

    INSTALLED = "installed"
    UPGRADED = "upgraded"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Result:
    """What was done, where, to which files, and what of the user's was kept on the way."""

    outcome: Outcome
    folder: Path
    paths: tuple[Path, ...] = ()
    kept: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()


class FolderNotWritableError(NoForgettiError):
    """The system refused to create, move or remove something in the agent folder."""

    kind = Kind.UNAVAILABLE
    reason = "folder-not-writable"

    def __init__(self, folder: Path, cause: OSError) -> None:
        super().__init__(
            f"The Pi extension could not be changed in `{folder}`: {cause.strerror or cause}.",
            hint="make the folder writable, or name another with PI_CODING_AGENT_DIR",
        )
        self.folder = folder


class ForeignFolderError(NoForgettiError):
    """Something that we did not put there is in the way."""

    kind = Kind.CONFLICT
    reason = "foreign-folder"

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"`{folder}` was not written by this installer, so it was left alone.",
            hint="move it away and run the command again",
        )
        self.folder = folder


class AlreadyRegisteredError(NoForgettiError):
    """Pi would load a second copy of the extension from elsewhere."""

    kind = Kind.CONFLICT
    reason = "already-registered"

    def __init__(self, where: str, copy: str) -> None:
        super().__init__(
            f"Pi already loads a copy of the extension: `{copy}` in `{where}`. Nothing was installed.",
            hint="remove that one first, for example with `pi remove`",
        )
        self.copy = copy


class CommandNotAbsoluteError(NoForgettiError):
    """The bridge's program is not an absolute path, so Pi might start another one."""

    kind = Kind.USER
    reason = "command-not-absolute"

    def __init__(self, command: list[str]) -> None:
        program = command[0] if command else ""
        super().__init__(f"The bridge's program `{program}` is not an absolute path. Nothing was installed.")


def default_agent_dir(environ: Mapping[str, str]) -> Path:
    """The folder Pi uses in that environment."""
    home = environ.get("HOME") or str(Path.home())
    named = environ.get("PI_CODING_AGENT_DIR", "")
    if named == "~" or named.startswith("~/"):
        named = home + named[1:]
    return Path(named) if named else Path(home, ".pi", "agent")


def install(
    agent_dir: Path | None,
    *,
    command: list[str],
    env: Mapping[str, str] | None = None,
    limits: Mapping[str, int] | None = None,
    environ: Mapping[str, str] | None = None,
    dry: bool = False,
) -> Result:
    """Install or upgrade the extension; it will start `command` (a whole argument list) with `env` added. `dry` answers
    what would be done, and does nothing.

    `limits` are milliseconds per sort of request, where the extension's own (`launch.ts`) do not fit the machine.
    """
    agent = agent_dir or default_agent_dir(environ or {})
    if not command or not Path(command[0]).is_absolute():
        raise CommandNotAbsoluteError(command)
    target = agent / "extensions" / NAME
    _refuse_foreign(target)
    unreadable = _refuse_other_copies(agent, target)
    wanted = _contents({"command": command, "env": dict(env or {}), "limits": dict(limits or {})})
    before = _manifest(target)
    if before == _manifest_of(wanted) == _present(target, wanted):
        return Result(Outcome.UNCHANGED, target, warnings=unreadable)
    paths = tuple(target / name for name in (*sorted(wanted), MANIFEST))
    outcome = Outcome.INSTALLED if before is None else Outcome.UPGRADED
    if dry:
        return Result(outcome, target, paths, warnings=unreadable)
    with _refusals_named(target.parent):
        kept = _replace(target, wanted, before or {})
    warnings = (*unreadable, *(f"`{path}` holds what you had changed." for path in kept))
    return Result(outcome, target, paths, kept, warnings)


def uninstall(agent_dir: Path | None, *, environ: Mapping[str, str] | None = None, dry: bool = False) -> Result:
    """Remove our own unmodified files; a changed one stays, under a name that Pi does not load. `dry` does nothing."""
    target = (agent_dir or default_agent_dir(environ or {})) / "extensions" / NAME
    _refuse_foreign(target)
    manifest = _manifest(target)
    if manifest is None:
        return Result(Outcome.ABSENT, target)
    changed = _modified(target, manifest)
    if dry:
        going = tuple(target / name for name in sorted(manifest) if name not in changed)
        return Result(Outcome.REMOVED, target, going, tuple(target / name for name in sorted(changed)))
    with _refusals_named(target):
        # The entry files first: whatever happens then, Pi finds either all of the extension or none of it.
        order = sorted(manifest, key=lambda name: (name not in {"package.json", "index.ts"}, name))
        kept = tuple(_set_aside(target / name) for name in order if name in changed)
        removed = tuple(target / name for name in order if name not in changed and (target / name).exists())
        for path in (*removed, target / MANIFEST):
            path.unlink(missing_ok=True)
        if not any(target.iterdir()):
            target.rmdir()
    warnings = tuple(f"`{path}` was kept because it had been changed." for path in kept)
    return Result(Outcome.REMOVED, target, (*removed, target / MANIFEST), kept, warnings)


def listed(environ: Mapping[str, str]) -> dict[str, object]:
    """Pi among the hosts of a machine, as the service lists the others."""
    agent = default_agent_dir(environ)
    target = agent / "extensions" / NAME
    program = _program(target)
    troubles = []
    if program and not Path(program).exists():
        what = f"pi: the extension in `{target}` starts `{program}`, which is not there."
        troubles = [{"code": "stale-command", "what": what, "hint": "run `noforgetti install pi`"}]
    return {
        "host": "pi",
        "title": "Pi",
        "found": agent.is_dir(),
        "installed": _manifest(target) is not None,
        "folder": str(agent),
        "troubles": troubles,
    }


def _program(target: Path) -> str:
    try:
        return str(json.loads((target / LAUNCH).read_bytes())["command"][0])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def _contents(launch: Mapping[str, object]) -> dict[str, bytes]:
    files = {path.name: path.read_bytes() for path in SOURCE.iterdir() if path.suffix in {".ts", ".json"}}
    return {**files, LAUNCH: json.dumps(launch, indent=2).encode() + b"\n"}


def _manifest_of(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def _manifest(target: Path) -> dict[str, str] | None:
    try:
        read = json.loads((target / MANIFEST).read_bytes())
        if read["package"] != PACKAGE:
            return None
        return {str(name): str(digest) for name, digest in read["files"].items() if Path(name).name == name}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _modified(target: Path, manifest: Mapping[str, str]) -> set[str]:
    """Names of our files whose bytes are no longer ours."""
    return {name for name, digest in _present(target, manifest).items() if manifest[name] != digest}


def _present(target: Path, names: Iterable[str]) -> dict[str, str]:
    return _manifest_of({name: (target / name).read_bytes() for name in names if (target / name).is_file()})


def _refuse_foreign(target: Path) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise ForeignFolderError(target)
    loadable = any((target / name).exists() for name in ("package.json", "index.ts", "index.js", MANIFEST))
    if loadable and _manifest(target) is None:
        raise ForeignFolderError(target)


def _replace(target: Path, wanted: Mapping[str, bytes], before: Mapping[str, str]) -> tuple[Path, ...]:
    """Build the folder beside its place, carry over what is the user's, and move it in."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for unfinished in target.parent.glob(f"{BUILDING}*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=BUILDING) as beside:
        fresh, old = Path(beside, "new"), Path(beside, "old")
        fresh.mkdir()
        manifest = {"package": PACKAGE, "files": _manifest_of(wanted)}
        for name, data in {**wanted, MANIFEST: json.dumps(manifest, indent=2).encode() + b"\n"}.items():
            (fresh / name).write_bytes(data)
        kept = _carry_over(target, fresh, before) if target.exists() else []
        if target.exists():
            target.rename(old)
        try:
            fresh.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    return tuple(target / name for name in kept)


def _carry_over(target: Path, fresh: Path, before: Mapping[str, str]) -> list[str]:
    changed = _modified(target, before)
    kept = []
    for path in sorted(target.iterdir()):
        if path.name in changed:
            kept.append(_name_to_keep(path))
            shutil.copy2(path, fresh / kept[-1])
        elif path.name not in before and path.name != MANIFEST:
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, fresh / path.name)
    return kept


def _set_aside(path: Path) -> Path:
    return path.rename(path.with_name(_name_to_keep(path)))


def _name_to_keep(path: Path) -> str:
    names = (f"{path.name}{KEPT}{number or ''}" for number in itertools.count())
    return next(name for name in names if not path.with_name(name).exists())


def _refuse_other_copies(agent: Path, target: Path) -> tuple[str, ...]:
    """Refuse when Pi would find the extension twice; a warning when its settings cannot be read."""
    for neighbour in sorted(target.parent.glob("*/package.json")):
        if neighbour.parent != target and _is_ours(neighbour.parent):
            raise AlreadyRegisteredError(str(target.parent), str(neighbour.parent))
    file = agent / "settings.json"
    try:
        settings = json.loads(file.read_bytes())
        lists = [settings.get(key, []) for key in ("packages", "extensions")]
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, AttributeError):
        return (f"`{file}` could not be read, so other copies of the extension were not looked for.",)
    for source in (item for items in lists if isinstance(items, list) for item in items):
        place = source.get("source") if isinstance(source, dict) else source
        if isinstance(place, str) and _names_us(place, agent, target):
            raise AlreadyRegisteredError(str(file), place)
    return ()


def _names_us(place: str, agent: Path, target: Path) -> bool:
    if place.startswith(("npm:", "git:", "https:", "ssh:")):
        return NAME in place
    folder = (agent / Path(place).expanduser()).resolve()
    if folder.is_file():
        folder = folder.parent
    return folder != target.resolve() and _is_ours(folder)


def _is_ours(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / "package.json").read_bytes()).get("name") == PACKAGE)
    except (OSError, ValueError, AttributeError):
        return False


@contextmanager
def _refusals_named(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FolderNotWritableError(folder, error) from error
