"""Installing and uninstalling as plans: what each file is and becomes, worked out before anything is written.

A plan is made from what is on the disk now, so it may be made and carried out again after any interruption. Installing
twice changes nothing. Uninstalling gives a file that nobody has changed since its first bytes back; out of a changed
one exactly our pieces are cut; a piece that somebody changed is kept and reported, here as when installing.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from typing import TYPE_CHECKING

from noforgetti.hosts import files
from noforgetti.hosts.base import Deed, Step, Trouble, Wiring
from noforgetti.hosts.parts import Marks, Part, Piece, State, Unusable
from noforgetti.hosts.records import Record, Records, with_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_CONTEXT = 2  # lines of the file around each change in what is shown


@dataclass(frozen=True, slots=True)
class Change:
    """One file as it is and as it will be. `after` None: it goes. `record` is what will be remembered of it."""

    step: Step
    before: files.Kept | None
    after: bytes | None
    record: Record | None
    folders: tuple[Path, ...] = ()  # to be removed when they are empty
    mode: int = 0o600
    changed: int | None = None  # nanoseconds; set when old bytes come back


class Moved(files.UnusableFile):
    """A file changed between planning and writing."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "it changed while this command ran", "run the command again")


def to_install(parts: Sequence[Part], records: Records, mask: Callable[[str], str]) -> tuple[Change, ...]:
    """What installing would do. A file that cannot be used is a step `fail` that says why."""
    return tuple(_guarded(part, lambda part: _put(part, records, mask)) for part in parts)


def to_uninstall(parts: Sequence[Part], records: Records, mask: Callable[[str], str]) -> tuple[Change, ...]:
    """What uninstalling would do, also with files that only an earlier version touched."""
    known = {part.path for part in parts}
    old = [_given_back(record, mask) for record in records.all() if record.path not in known]
    return (*(_guarded(part, lambda part: _cut(part, records, mask)) for part in parts), *old)


def apply(changes: Sequence[Change], records: Records) -> None:
    """Carry a plan out, file by file. Raises `UnusableFile`; what was not reached is as it was. Records of files we
    left are forgotten last: until then the next run finds what is still to be done."""
    for change in changes:
        _carry_out(change, records)
    left = [one for one in changes if one.record is None and one.step.deed in ("change", "delete", "none")]
    files.remove_folders(tuple({folder for change in left for folder in change.folders}))
    for change in left:
        records.forget(change.step.path)


def _carry_out(change: Change, records: Records) -> None:
    path = change.step.path
    match change.step.deed:
        case "create" | "change" if change.after is not None:
            _unmoved(change)
            if change.record:
                records.keep(with_folders(change.record, files.missing_folders(path)))
                files.make_folders(path)
            files.write(path, change.after, mode=change.mode, changed=change.changed)
        case "delete":
            _unmoved(change)
            files.remove(path)
        case "none" if change.record and change.record != records.of(path):
            records.keep(change.record)
        case _:
            pass


def inspect(host: str, parts: Sequence[Part], records: Records, program: str, exists: Callable[[str], bool]) -> Wiring:
    """What a host's files say of us now. `program` is what we would write; `exists` tells whether one is there."""
    pieces: list[tuple[Part, Piece]] = []
    troubles: list[Trouble] = []
    for part in parts:
        try:
            text, _ = _text(part.path)
            record = records.of(part.path)
            pieces.extend((part, piece) for piece in part.look(text, record.marks if record else Marks()))
        except files.UnusableFile as error:
            troubles.append(Trouble("unreadable-file", f"{host}: {error.message}", error.hint))
        except Unusable as error:
            what = f"{host}: `{part.path}` cannot be used: {error}"
            troubles.append(Trouble("unreadable-file", what, "correct the file by hand"))
    ours = [(part, piece) for part, piece in pieces if piece.state in (State.CURRENT, State.OLD, State.CHANGED)]
    installed = bool(ours)
    for part, piece in pieces:
        troubles.extend(_troubles(host, part, piece, installed, (program, exists)))
    troubles.extend(_doubled(host, pieces))
    programs = [piece.program for _, piece in ours if piece.program]
    paths = dict.fromkeys(part.path for part, _ in ours)
    return Wiring(host, installed, tuple(paths), tuple(programs[:1]), tuple(dict.fromkeys(troubles)))


def _put(part: Part, records: Records, mask: Callable[[str], str]) -> Change:
    text, kept = _text(part.path)
    record = records.of(part.path)
    marks = record.marks if record and kept else Marks()
    after, new_marks = part.put(text, marks)
    held = [piece for piece in part.look(text, marks) if piece.state in (State.CHANGED, State.FOREIGN)]
    why = _held(held)
    if text is not None and after == text:
        deed: Deed = "keep" if held else "none"
        return Change(Step(part.path, deed, why=why), kept, None, _adopted(part, text, record, new_marks, kept))
    data = after.encode()
    before = _before(part, text, kept, record)
    record = Record(
        part.path,
        before.data if before else None,
        before.mode if before else part.mode,
        before.changed if before else None,
        files.digest(data),
        record.folders if record else (),
        new_marks,
    )
    deed = "create" if kept is None else "change"
    mode = kept.mode if kept else part.mode
    return Change(Step(part.path, deed, _shown(part.path, text, after, mask), why), kept, data, record, mode=mode)


def _before(part: Part, text: str | None, kept: files.Kept | None, record: Record | None) -> files.Kept | None:
    """What uninstalling will give back: the very first bytes, while nobody but us has changed the file since."""
    if kept is None or text is None:
        return None
    if record and files.digest(kept.data) == record.wrote:
        return files.Kept(record.before, record.mode, record.changed or 0) if record.before is not None else None
    marks = record.marks if record else Marks()
    rest = part.cut(text, marks)
    if rest == text:
        return kept
    if record and record.before is None and part.empty(rest):
        return None
    return files.Kept(rest.encode(), kept.mode, kept.changed)


def _adopted(part: Part, text: str, record: Record | None, marks: Marks, kept: files.Kept | None) -> Record | None:
    """The record, or one made for pieces that stand there although nothing is remembered of them."""
    if record or kept is None or all(piece.state is not State.CURRENT for piece in part.look(text, marks)):
        return record
    rest = part.cut(text, marks)
    before = None if part.empty(rest) else rest.encode()
    return Record(part.path, before, kept.mode, kept.changed, files.digest(kept.data), (), marks)


def _cut(part: Part, records: Records, mask: Callable[[str], str]) -> Change:
    text, kept = _text(part.path)
    record = records.of(part.path)
    folders = record.folders if record else ()
    if text is None or kept is None:
        return Change(Step(part.path, "none"), None, None, None, folders)
    if record and files.digest(kept.data) == record.wrote:
        return _back(record, kept, text, mask)
    marks = record.marks if record else Marks()
    held = [piece for piece in part.look(text, marks) if piece.state in (State.CHANGED, State.FOREIGN)]
    after = part.cut(text, marks)
    if after == text:
        if held:
            keeps = record if any(piece.state is State.CHANGED for piece in held) else None
            return Change(Step(part.path, "keep", why=_held(held)), kept, None, keeps, folders)
        return Change(Step(part.path, "none"), kept, None, None, folders)
    if part.empty(after) and not held:
        if record is None or record.before is None:
            return _gone(part.path, kept, text, mask, folders)
        if part.empty(record.before.decode("utf-8", "replace")):
            return _back(record, kept, text, mask)
    shown = _shown(part.path, text, after, mask)
    return Change(Step(part.path, "change", shown, _held(held)), kept, after.encode(), None, folders, kept.mode)


def _given_back(record: Record, mask: Callable[[str], str]) -> Change:
    """A file that this version knows nothing of: its old bytes, or nothing."""
    try:
        text, kept = _text(record.path)
    except files.UnusableFile as error:
        return Change(Step(record.path, "fail", why=error.message), None, None, record)
    if text is None or kept is None:
        return Change(Step(record.path, "none"), None, None, None, record.folders)
    if files.digest(kept.data) != record.wrote:
        why = f"`{record.path}` was written by another version and changed since, so it was left alone."
        return Change(Step(record.path, "keep", why=why), kept, None, record)
    return _back(record, kept, text, mask)


def _back(record: Record, kept: files.Kept, text: str, mask: Callable[[str], str]) -> Change:
    if record.before is None:
        return _gone(record.path, kept, text, mask, record.folders)
    if record.before == kept.data:
        return Change(Step(record.path, "none"), kept, None, None, record.folders)
    shown = _shown(record.path, text, record.before.decode("utf-8", "replace"), mask)
    step = Step(record.path, "change", shown)
    return Change(step, kept, record.before, None, record.folders, kept.mode, record.changed)


def _gone(path: Path, kept: files.Kept, text: str, mask: Callable[[str], str], folders: tuple[Path, ...]) -> Change:
    return Change(Step(path, "delete", _shown(path, text, None, mask)), kept, None, None, folders)


def _text(path: Path) -> tuple[str | None, files.Kept | None]:
    kept = files.read(path)
    if kept is None:
        return None, None
    try:
        return kept.data.decode(), kept
    except UnicodeDecodeError as error:
        raise files.UnusableFile(path, "it is not UTF-8") from error


def _guarded(part: Part, planned: Callable[[Part], Change]) -> Change:
    """Trouble with one file is a step of its own; the others are planned all the same."""
    try:
        return planned(part)
    except files.UnusableFile as error:
        return Change(Step(part.path, "fail", why=error.message), None, None, None)
    except Unusable as error:
        return Change(Step(part.path, "fail", why=files.UnusableFile(part.path, str(error)).message), None, None, None)


def _unmoved(change: Change) -> None:
    now = files.read(change.step.path)
    if (now.data if now else None) != (change.before.data if change.before else None):
        raise Moved(change.step.path)


def _held(pieces: Sequence[Piece]) -> str:
    said = []
    for piece in pieces:
        how = "was changed since we wrote it" if piece.state is State.CHANGED else "was not written by us"
        said.append(f"`{piece.name}` {how}, so it was left alone.")
    return " ".join(dict.fromkeys(said))


def _troubles(
    host: str, part: Part, piece: Piece, installed: bool, ours: tuple[str, Callable[[str], bool]]
) -> list[Trouble]:
    program, exists = ours
    again = f"run `noforgetti install {host}`"
    where = f"`{piece.name}` in `{part.path}`"
    match piece.state:
        case State.ABSENT:
            what = f"{host}: {where} is missing"
            return [Trouble("missing-file", what + ".", again)] if installed else []
        case State.FOREIGN:
            what = f"{host}: {where} stands in our place and was not written by us."
            return [Trouble("foreign-entry", what, f"remove or rename it, then {again}")]
        case State.CHANGED:
            what = f"{host}: {where} was changed since we wrote it; it is neither upgraded nor removed."
            return [Trouble("changed-block", what, f"remove it, then {again}")]
        case State.CURRENT | State.OLD if piece.program and not exists(piece.program):
            return [Trouble("stale-command", f"{host}: {where} starts `{piece.program}`, which is not there.", again)]
        case State.OLD if piece.program and program and piece.program != program:
            what = f"{host}: {where} starts another installation, `{piece.program}`."
            return [Trouble("second-install", what, again)]
        case State.OLD:
            return [Trouble("old-version", f"{host}: {where} is not what this version writes.", again)]
    return []


def _doubled(host: str, pieces: Sequence[tuple[Part, Piece]]) -> list[Trouble]:
    names = [(part.path, piece.name) for part, piece in pieces]
    return [
        Trouble(
            "second-install",
            f"{host}: `{name}` stands in `{path}` {names.count((path, name))} times.",
            f"run `noforgetti install {host}`",
        )
        for path, name in dict.fromkeys(names)
        if names.count((path, name)) > 1
    ]


def _shown(path: Path, before: str | None, after: str | None, mask: Callable[[str], str]) -> str:
    """The change as a unified diff, secrets masked. Masking sees whole texts: a key may go over several lines."""
    old, new = ((mask(text).splitlines() if text else []) for text in (before, after))
    names = ("/dev/null" if before is None else str(path), "/dev/null" if after is None else str(path))
    return "\n".join(unified_diff(old, new, *names, n=_CONTEXT, lineterm=""))
