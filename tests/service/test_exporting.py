"""Exports: what they hold, where they may be written, and that each comes back as it went."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from importers.sources import put
from store.builders import STAMP, bytes_of, entry, fsck, git, made_project, opened, published, state_of

from noforgetti.importers.base import SourceError
from noforgetti.importers.own import read
from noforgetti.model.entry import Category, Cue, Entry, EntryId, Importance, Writer
from noforgetti.model.signal import Signal
from noforgetti.policy.text import normalise
from noforgetti.service import bundles, exporting, signals
from noforgetti.service.branches import delete, fork
from noforgetti.service.exporting import BadPlace, Format, NotOurs
from noforgetti.store import bundle as store_bundle
from noforgetti.store.base import Drop, PutFile, Unwritable
from noforgetti.store.bundle import BadBundle, NoGit

if TYPE_CHECKING:
    from noforgetti.importers.base import Source
    from noforgetti.service.memory import Memory

SECRET = "The key is sk-proj-" + "Ab3" * 16
RULE = '{"trigger": "bash_contains git add .", "action": "block"}'
ENTRIES = (
    entry("Use pnpm check.", "pnpm-aaaa", pinned=True, tags=("build",), created=STAMP),
    entry("First line.\n\n  Second *(pinned)*", "two-bbbb", category=Category.DECISION, importance=Importance.HIGH),
    entry("Never git add .", "add-cccc", rule=RULE, cue=Cue.BEHAVIORAL, origin="topics:x@12345678"),
    entry("An old thing.", "old-dddd", archived=True, writer=Writer.DREAM, confidence=0.5, extra=("new: thing",)),
)


@pytest.fixture
def filled(memory: Memory) -> Memory:
    """A memory with an entry of every sort, one of them confirmed."""
    memory.prepare()
    published(memory.store, *ENTRIES)
    signals.reinforce(memory, "main", [EntryId("pnpm-aaaa")], by=Writer.USER)
    return memory


def written(memory: Memory, fmt: Format, path: Path, *branches: str, **more: bool) -> Path:
    """An export at its place."""
    exporting.save(memory, exporting.made(memory, branches or ("main",), fmt), str(path), **more)
    return path


def back(source: Source) -> dict[EntryId, Entry | None]:
    """The entries of a source by id."""
    return {EntryId(one.name): one.own for branch in source.branches for one in branch.revisions[0].items}


@pytest.mark.parametrize("fmt", [Format.JSON, Format.SCORES, Format.TOPICS])
def test_an_export_comes_back_as_it_went(filled: Memory, tmp_path: Path, fmt: Format) -> None:
    source = read(written(filled, fmt, tmp_path / "out"))

    assert back(source) == state_of(filled.snapshot("main"))
    assert source.leftovers == ()
    said = {one.name: (one.evidence, one.reinforced) for one in source.branches[0].revisions[0].items}
    assert said["pnpm-aaaa"] == (2, STAMP)
    assert said["two-bbbb"] == (0, "")


_texts = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=60).map(normalise)
_words = st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=12)
_entries = st.builds(
    Entry,
    id=st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True).map(EntryId),
    text=_texts.filter(bool),
    category=st.sampled_from(Category),
    importance=st.sampled_from(Importance),
    pinned=st.booleans(),
    key=st.sampled_from(["", "pref.style"]),
    cue=st.sampled_from(Cue),
    negative=st.booleans(),
    archived=st.booleans(),
    tags=st.lists(_words, max_size=3).map(tuple),
    confidence=st.none() | st.floats(0, 1),
    rule=st.sampled_from(["", RULE]),
    created=st.sampled_from(["", STAMP]),
    session=_words,
    derived=st.lists(_words.map(EntryId), max_size=2).map(tuple),
    extra=st.lists(st.sampled_from(["later: 1", "odd"]), max_size=2).map(tuple),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(entries=st.lists(_entries, max_size=12, unique_by=lambda one: one.id))
@pytest.mark.parametrize("fmt", [Format.JSON, Format.SCORES, Format.TOPICS])
def test_whatever_an_entry_says_comes_back(
    memory: Memory, tmp_path: Path, fmt: Format, entries: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    part = exporting._Part("main", memory.snapshot("main"), tuple(entries), (), {})
    files, _ = exporting._FILES[fmt](memory, [part])
    made = exporting.Exported(fmt, ("main",), len(entries), {path: text.encode() for path, text in files.items()})
    exporting.save(memory, made, str(tmp_path / "out"), force=True)

    if entries or fmt is not Format.SCORES:
        assert back(read(tmp_path / "out")) == {one.id: one for one in entries}


def test_several_branches_keep_their_names(filled: Memory, tmp_path: Path) -> None:
    fork(filled, "main", "spike")
    published(filled.store, entry("Only here.", "here-eeee"), branch="spike")

    source = read(written(filled, Format.JSON, tmp_path / "all.json", "main", "spike"))

    assert [(one.name, len(one.revisions[0].items)) for one in source.branches] == [("main", 4), ("spike", 5)]


def test_the_files_of_a_branch_come_with_it(filled: Memory, tmp_path: Path) -> None:
    published(filled.store, PutFile("promotions.md", b"# Promotions\n"), PutFile("skills/x/SKILL.md", b"steps"))

    assert read(written(filled, Format.JSON, tmp_path / "x.json")).files == {
        "promotions.md": b"# Promotions\n",
        "skills/x/SKILL.md": b"steps",
    }
    assert read(written(filled, Format.TOPICS, tmp_path / "x")).files == {"promotions.md": b"# Promotions\n"}


@pytest.mark.parametrize("fmt", [Format.JSON, Format.SCORES, Format.TOPICS, Format.MARKDOWN])
def test_what_may_not_be_shown_stays_behind_and_is_named(filled: Memory, tmp_path: Path, fmt: Format) -> None:
    published(filled.store, entry(SECRET, "secret-eeee"), PutFile("skills/x/SKILL.md", SECRET.encode()))

    made = exporting.made(filled, ["main"], fmt)

    assert (made.hidden, made.entries) == (("secret-eeee",), 4)
    files = fmt in (Format.JSON, Format.TOPICS)
    assert made.notes == (("`skills/x/SKILL.md` is not exported: it may not be shown (secret).",) if files else ())
    assert not any(SECRET[-20:].encode() in data for data in made.files.values())


def test_a_file_that_cannot_be_read_is_named(filled: Memory) -> None:
    published(filled.store, PutFile("lessons/bad.md", b"\xff"))

    assert exporting.made(filled, ["main"], Format.JSON).damaged == ("lessons/bad.md is not UTF-8 at byte 0",)


# ---- topics


def test_a_folder_of_topics_looks_as_its_architecture_has_it(filled: Memory, tmp_path: Path) -> None:
    folder = written(filled, Format.TOPICS, tmp_path / "out")

    found = bytes_of(folder)
    index = json.loads(found.pop("memory-scores.jsonl"))
    assert {name: data.decode() for name, data in found.items()} == {
        "topics/lessons.md": (
            "# Lessons\n\n- [lesson] Never git add . *(enforced)*\n- [lesson] Use pnpm check. *(pinned)*\n"
        ),
        "topics/decisions.md": "# Decisions\n\n- [decision] First line. Second *(pinned)*\n",
        "topics/archive/lessons.md": "# Lessons\n\n- [lesson] An old thing.\n",
    }
    record = index["entries"]["04fe8168"]
    assert {key: value for key, value in record.items() if key != "entry"} == {
        "class": "lesson",
        "score": record["score"],
        "evidenceCount": 1,
        "cue": "behavioral",
        "firstSeen": "",
        "lastReinforced": "",
        "userState": "auto",
        "lifecycle": "active",
        "trigger": "bash_contains git add .",
        "action": "block",
    }


def test_a_topic_file_ends_at_its_cap_and_another_goes_on(memory: Memory, tmp_path: Path) -> None:
    memory.prepare()
    published(memory.store, *(entry(f"{number:03} {'x' * 500}", f"e-{number:03}") for number in range(60)))

    made = exporting.made(memory, ["main"], Format.TOPICS)

    sizes = {name: len(data) for name, data in made.files.items() if name.startswith("topics/")}
    assert set(sizes) == {"topics/lessons.md", "topics/lessons-2.md", "topics/lessons-3.md"}
    assert max(sizes.values()) <= 12_000
    (note,) = made.notes
    assert note == (
        "A topic file ends at 12,000 characters; the rest is in 2 more files, such as `topics/lessons-2.md`. "
        "Other products do not read that."
    )
    exporting.save(memory, made, str(tmp_path / "out"))
    assert len(back(read(tmp_path / "out"))) == 60


def test_the_lines_of_a_folder_decide_what_comes_back(filled: Memory, tmp_path: Path) -> None:
    folder = written(filled, Format.TOPICS, tmp_path / "out")
    lessons = folder / "topics" / "lessons.md"
    lessons.write_text("# Lessons\n- [lesson] Use pnpm check. *(pinned)*\n- [lesson] By hand. *(pinned)*\nodd\n")

    source = read(folder)

    assert [(one.text, one.pinned, one.own is not None) for one in source.branches[0].revisions[0].items] == [
        ("An old thing.", False, True),
        ("First line.\n\n  Second *(pinned)*", False, True),
        ("Use pnpm check.", True, True),
        ("By hand.", True, False),
    ]
    assert [(one.where, one.why) for one in source.leftovers] == [
        ("topics/lessons.md:4", "is no line of a topic"),
        ("memory-scores.jsonl: add-cccc", "has no line in a topic file any more"),
    ]


def test_a_second_export_takes_out_what_is_no_more(filled: Memory, tmp_path: Path) -> None:
    folder = written(filled, Format.TOPICS, tmp_path / "out")
    (folder / "notes.txt").write_text("mine")
    published(filled.store, Drop("decisions/two-bbbb.md"))

    written(filled, Format.TOPICS, folder)

    assert sorted(bytes_of(folder)) == [
        "memory-scores.jsonl",
        "notes.txt",
        "topics/archive/lessons.md",
        "topics/lessons.md",
    ]


BY_HAND = "- [lesson] By hand.\n"


def older(folder: Path) -> Path:
    """The folder as an older version wrote it, whose index says of no file how it was written."""
    index = folder / "memory-scores.jsonl"
    doc = json.loads(index.read_text())
    del doc["digests"]
    index.write_text(json.dumps(doc))
    return folder


@pytest.mark.parametrize("was_older", [False, True])
@pytest.mark.parametrize("name", ["topics/lessons.md", "topics/decisions.md", "topics/patterns.md", "promotions.md"])
def test_a_line_that_somebody_wrote_into_an_export_is_not_lost(
    filled: Memory, tmp_path: Path, name: str, was_older: bool
) -> None:
    published(filled.store, PutFile("promotions.md", b"# Promotions\n"))
    folder = written(filled, Format.TOPICS, tmp_path / "out")
    if was_older:
        older(folder)
    with (folder / name).open("a") as file:
        file.write(BY_HAND)
    published(filled.store, Drop("decisions/two-bbbb.md"), entry("Later.", "later-eeee", category=Category.PATTERN))
    before = bytes_of(folder)

    with pytest.raises(NotOurs, match=r"may hold lines that no export of ours wrote\. Nothing was written") as caught:
        written(filled, Format.TOPICS, folder)
    assert "noforgetti import noforgetti" in caught.value.hint
    assert bytes_of(folder) == before
    written(filled, Format.TOPICS, folder, force=True)
    assert BY_HAND.encode() not in b"".join(bytes_of(folder).values())


@pytest.mark.parametrize("name", ["memory-scores.jsonl", "topics/lessons.md"])
def test_a_pipe_in_a_folder_holds_no_export_up(filled: Memory, tmp_path: Path, name: str) -> None:
    folder = written(filled, Format.TOPICS, tmp_path / "out")
    (folder / name).unlink()
    os.mkfifo(folder / name)

    with pytest.raises(NotOurs, match="Nothing was written"):
        written(filled, Format.TOPICS, folder)


def test_an_older_export_is_written_again_where_nothing_is_lost(filled: Memory, tmp_path: Path) -> None:
    folder = older(written(filled, Format.TOPICS, tmp_path / "out"))

    written(filled, Format.TOPICS, folder)
    assert "digests" in json.loads((folder / "memory-scores.jsonl").read_text())
    published(filled.store, entry("Later.", "later-eeee"))
    written(filled, Format.TOPICS, folder)


NOT_OURS = ("README.md", "topics/mine.md", "topics/lessons.txt", "docs/lessons.md", "../outside.md", "topics/../x.md")


def test_an_index_that_lists_files_of_somebody_else_takes_none_of_them(filled: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    for name in NOT_OURS:
        put(folder, name, "mine")
    index = {
        "entries": {},
        "format": "noforgetti/export",
        "version": 1,
        "files": [*NOT_OURS, "topics/completions-2.md"],
    }
    put(folder, "memory-scores.jsonl", json.dumps(index))

    written(filled, Format.TOPICS, folder, force=True)

    assert [(folder / name).read_text() for name in NOT_OURS] == ["mine"] * len(NOT_OURS)


@pytest.mark.parametrize(
    "name", ["topics", "topics/archive", "topics/lessons.md", "topics/completions-2.md", "promotions.md"]
)
@pytest.mark.parametrize("force", [False, True])
def test_a_folder_with_a_link_in_it_is_left_alone(filled: Memory, tmp_path: Path, name: str, force: bool) -> None:
    published(filled.store, PutFile("promotions.md", b"# Promotions\n"))
    elsewhere = tmp_path / "elsewhere"
    for one in ("lessons.md", "completions-2.md", "mine/lessons.md"):
        put(elsewhere, one, "mine")
    folder = tmp_path / "out"
    index = {"entries": {}, "format": "noforgetti/export", "version": 1, "files": ["topics/completions-2.md"]}
    put(folder, "memory-scores.jsonl", json.dumps(index))
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(elsewhere / "lessons.md" if name.endswith(".md") else elsewhere)
    before = bytes_of(tmp_path)

    with pytest.raises(BadPlace, match=f"`.*/{name}` is a link. Nothing was written."):
        written(filled, Format.TOPICS, folder, force=force)
    assert bytes_of(tmp_path) == before


# ---- places


def test_an_export_is_the_users_alone_and_replaces_an_earlier_one(filled: Memory, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        for fmt in (Format.JSON, Format.SCORES, Format.MARKDOWN, Format.JSON):
            written(filled, fmt, tmp_path / "out")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o600
    assert sorted(one.name for one in tmp_path.iterdir()) == ["home", "out", "project"]


@pytest.mark.parametrize("empty", [False, True])
def test_a_folder_that_cannot_be_written_to_its_end_leaves_none(filled: Memory, tmp_path: Path, empty: bool) -> None:
    path = tmp_path / "x"
    if empty:
        path.mkdir()
    made = exporting.made(filled, ("main",), Format.TOPICS)
    name = next(one for one in made.files if one != "memory-scores.jsonl")
    torn = replace(made, files={**made.files, f"{name}/under-a-file.md": b"", "z" * 300: b""})

    with pytest.raises(exporting.NotWritten):
        exporting.save(filled, torn, str(path))
    assert sorted(one.name for one in tmp_path.rglob("*") if one.is_relative_to(path)) == (["x"] if empty else [])
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".x")]
    assert written(filled, Format.TOPICS, path).joinpath("memory-scores.jsonl").is_file()


def test_what_no_export_of_ours_wrote_is_left_alone(filled: Memory, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    before = bytes_of(tmp_path / "folder")

    for name, fmt in (("file", Format.JSON), ("link", Format.JSON), ("folder", Format.JSON), ("folder", Format.TOPICS)):
        with pytest.raises(NotOurs, match="Nothing was written"):
            written(filled, fmt, tmp_path / name)
    for name, fmt in (("folder", Format.JSON), ("file", Format.TOPICS)):
        with pytest.raises(NotOurs, match="Nothing was written"):
            written(filled, fmt, tmp_path / name, force=True)
    with pytest.raises(BadPlace, match="no regular file"):
        written(filled, Format.JSON, tmp_path / "pipe", force=True)
    assert (bytes_of(tmp_path / "folder"), (tmp_path / "file").read_text()) == (before, "mine")

    written(filled, Format.JSON, tmp_path / "link", force=True)
    assert ((tmp_path / "file").read_text(), (tmp_path / "link").is_symlink()) == ("mine", False)
    written(filled, Format.TOPICS, tmp_path / "folder", force=True)
    assert (tmp_path / "folder" / "file").read_text() == "mine"


@pytest.mark.parametrize("path", ["", "no/such/folder/x", "a\0b", "home/data/projects/x", "link/x"])
def test_a_place_where_no_export_can_be_is_refused(filled: Memory, tmp_path: Path, path: str) -> None:
    (tmp_path / "link").symlink_to("home/data")
    where = str(tmp_path / path) if path else path

    with pytest.raises(BadPlace, match=r"Nothing was (written|exported)"):
        exporting.save(filled, exporting.made(filled, ["main"], Format.JSON), where)


# ---- reading what is none


def test_what_is_no_export_or_a_newer_one_is_refused(filled: Memory, tmp_path: Path) -> None:
    doc = json.loads(written(filled, Format.JSON, tmp_path / "x.json").read_text())
    (tmp_path / "newer.json").write_text(json.dumps({**doc, "version": 2}))
    (tmp_path / "other.json").write_text('{"entries": []}')
    folder = written(filled, Format.TOPICS, tmp_path / "topics")
    index = json.loads((folder / "memory-scores.jsonl").read_text())

    with pytest.raises(SourceError, match="is of version 2, newer than the 1"):
        read(tmp_path / "newer.json")
    with pytest.raises(SourceError, match="is no export of noforgetti"):
        read(tmp_path / "other.json")
    with pytest.raises(SourceError, match="is the index of a folder"):
        read(folder / "memory-scores.jsonl")
    (folder / "memory-scores.jsonl").write_text(json.dumps({**index, "format": ""}))
    with pytest.raises(SourceError, match="another product wrote"):
        read(folder)


ODD: list[dict[str, Any]] = [
    {"id": "../evil", "text": "x"},
    {"id": "ok", "text": " "},
    {"id": "ok"},
    {"id": 7, "text": "x"},
]


def test_an_entry_of_an_export_is_what_a_repository_can_hold_or_left_over(tmp_path: Path) -> None:
    good = {
        "id": "ok",
        "text": "x",
        "category": "no such",
        "pinned": "yes",
        "rule": "no\nobject",
        "extra": ["---"],
        "tags": [1],
        "confidence": 7,
        "newer": True,
    }
    branch = {"name": "main", "entries": [*ODD, good], "hidden": ["h"]}
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"format": "noforgetti/export", "version": 1, "branches": [branch]}))

    source = read(path)

    assert back(source) == {"ok": Entry(EntryId("ok"), "x")}
    assert source.branches[0].revisions[0].items[0].notes == (
        "says what no field here can hold: category, pinned, rule, extra, tags, confidence, newer",
    )
    assert [(one.where, one.why) for one in source.leftovers] == [
        ("x.json: main 1", "is no entry"),
        ("x.json: main 2", "is no entry"),
        ("x.json: main 3", "is no entry"),
        ("x.json: main 4", "is no entry"),
        ("x.json: main h", "was hidden when it was exported"),
    ]


def test_signals_say_what_use_said(filled: Memory, tmp_path: Path) -> None:
    doc = json.loads(written(filled, Format.JSON, tmp_path / "x.json").read_text())

    told = {one["id"]: one for one in doc["branches"][0]["entries"]}
    assert told["pnpm-aaaa"]["signal"] == {"evidence": 2, "reinforced": STAMP}
    assert "signal" not in told["two-bbbb"]
    assert signals.read(filled, "main").by_id[EntryId("pnpm-aaaa")] == Signal(2, STAMP)


# ---- bundles


@pytest.fixture
def other(tmp_path: Path, memory: Memory) -> Memory:
    """A memory on another machine."""
    (tmp_path / "elsewhere").mkdir()
    return opened(tmp_path / "elsewhere", tmp_path / "home-2")


def outcomes(plan: tuple[bundles.Restored, ...]) -> list[tuple[str, str, str]]:
    return [(one.name, one.branch, one.outcome) for one in plan]


def test_a_bundle_brings_every_branch_commit_for_commit(filled: Memory, other: Memory, tmp_path: Path) -> None:
    fork(filled, "main", "spike")
    published(filled.store, entry("Only here.", "here-eeee"), branch="spike")
    made = exporting.bundle(filled, str(tmp_path / "x.bundle"))

    assert (made.branches, made.entries) == (("main", "spike"), 9)
    assert bundles.is_bundle(str(tmp_path / "x.bundle"))
    git(filled.path, "bundle", "verify", "--quiet", str(tmp_path / "x.bundle"))
    planned = bundles.restore(other, str(tmp_path / "x.bundle"), dry_run=True)
    assert not other.exists
    assert outcomes(planned) == outcomes(bundles.restore(other, str(tmp_path / "x.bundle")))
    assert other.heads() == filled.heads()
    assert signals.read(other, "main").by_id == signals.read(filled, "main").by_id
    assert {one[2] for one in outcomes(bundles.restore(other, str(tmp_path / "x.bundle")))} == {"already-here"}
    assert (fsck(other.path), git(other.path, "for-each-ref", "refs/noforgetti-incoming")) == ("", "")
    modes = {stat.S_IMODE(one.stat().st_mode) & 0o077 for one in Path(other.path).rglob("*")}
    assert modes == {0}


def test_a_branch_that_is_behind_moves_forward_and_one_that_went_on_stays(
    filled: Memory, other: Memory, tmp_path: Path
) -> None:
    exporting.bundle(filled, str(tmp_path / "one.bundle"))
    bundles.restore(other, str(tmp_path / "one.bundle"))
    published(filled.store, entry("Later.", "later-eeee"))
    exporting.bundle(filled, str(tmp_path / "two.bundle"))

    assert outcomes(bundles.restore(other, str(tmp_path / "two.bundle"))) == [("main", "main", "moved-forward")]
    published(other.store, entry("Ours.", "ours-ffff"))
    published(filled.store, entry("Theirs.", "theirs-ffff"))
    exporting.bundle(filled, str(tmp_path / "three.bundle"))
    mine = other.heads()["main"]  # type: ignore[index]
    assert outcomes(bundles.restore(other, str(tmp_path / "three.bundle"))) == [("main", "main-imported", "beside")]
    assert outcomes(bundles.restore(other, str(tmp_path / "three.bundle"))) == [
        ("main", "main-imported", "already-here")
    ]
    assert other.heads() == {"main": mine, "main-imported": filled.heads()["main"]}  # type: ignore[index]
    assert outcomes(bundles.restore(other, str(tmp_path / "one.bundle"))) == [("main", "main", "already-here")]


def test_a_dry_run_of_a_bundle_writes_nothing(filled: Memory, tmp_path: Path) -> None:
    exporting.bundle(filled, str(tmp_path / "one.bundle"))
    fork(filled, "main", "spike")
    published(filled.store, entry("Only here.", "here-eeee"), branch="spike")
    exporting.bundle(filled, str(tmp_path / "two.bundle"))
    bundles.restore(filled, str(tmp_path / "one.bundle"))
    before = bytes_of(tmp_path)

    assert outcomes(bundles.restore(filled, str(tmp_path / "two.bundle"), dry_run=True)) == [
        ("main", "main", "already-here"),
        ("spike", "spike", "already-here"),
    ]
    assert bytes_of(tmp_path) == before


def test_a_bundle_of_something_else_is_refused_and_never_replaced(
    filled: Memory, other: Memory, tmp_path: Path
) -> None:
    code = made_project(tmp_path / "code")
    git(code, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "x")
    foreign = tmp_path / "code.bundle"
    git(code, "bundle", "create", "--quiet", str(foreign), "--all")
    before = foreign.read_bytes()

    for dry_run in (True, False):
        with pytest.raises(bundles.NoMemory, match="something else than a memory"):
            bundles.restore(other, str(foreign), dry_run=dry_run)
    assert not other.exists
    with pytest.raises(NotOurs):
        exporting.bundle(filled, str(foreign))
    assert foreign.read_bytes() == before
    exporting.bundle(filled, str(foreign), force=True)
    published(filled.store, entry("Later.", "later-eeee"))
    exporting.bundle(filled, str(foreign))  # an earlier bundle of this memory is ours


def test_what_a_killed_restore_left_is_no_part_of_the_next(filled: Memory, other: Memory, tmp_path: Path) -> None:
    fork(filled, "main", "spike")
    exporting.bundle(filled, str(tmp_path / "both.bundle"))
    delete(filled, "spike")
    exporting.bundle(filled, str(tmp_path / "one.bundle"))
    other.prepare()
    store_bundle.fetch(other.path, str(tmp_path / "both.bundle"))

    assert outcomes(bundles.restore(other, str(tmp_path / "one.bundle"))) == [("main", "main", "created")]
    assert git(other.path, "for-each-ref", "refs/noforgetti-incoming") == ""


def test_a_bundle_of_what_may_not_be_shown_needs_the_users_word(filled: Memory, tmp_path: Path) -> None:
    published(filled.store, entry(SECRET, "secret-eeee"))
    path = tmp_path / "x.bundle"

    with pytest.raises(BadPlace, match="may not be shown: `secret-eeee`"):
        exporting.bundle(filled, str(path))
    assert not path.exists()
    assert exporting.bundle(filled, str(path), force=True).hidden == ("secret-eeee",)


def test_there_is_nothing_to_bundle_before_the_first_write(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(BadPlace, match="nothing was written yet"):
        exporting.bundle(memory, str(tmp_path / "x.bundle"))
    assert not memory.exists


def test_a_torn_bundle_changes_no_branch(filled: Memory, other: Memory, tmp_path: Path) -> None:
    exporting.bundle(filled, str(tmp_path / "x.bundle"))
    data = (tmp_path / "x.bundle").read_bytes()

    for size in (30, len(data) // 2, len(data) - 1):
        (tmp_path / "torn.bundle").write_bytes(data[:size])
        with pytest.raises(BadBundle, match="Nothing was imported"):
            bundles.restore(other, str(tmp_path / "torn.bundle"))
    assert not other.exists


def test_a_whole_bundle_that_the_memory_cannot_take_is_not_called_torn(
    filled: Memory, other: Memory, tmp_path: Path
) -> None:
    exporting.bundle(filled, str(tmp_path / "x.bundle"))
    other.prepare()
    packs = Path(other.path, "objects", "pack")
    packs.rmdir()
    packs.write_text("")  # no pack can be put there, whoever runs this

    with pytest.raises(Unwritable, match="Nothing was changed"):
        bundles.restore(other, str(tmp_path / "x.bundle"))
    assert other.heads() == {}


def test_without_git_a_bundle_says_so(filled: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NoGit, match="git cannot be run"):
        exporting.bundle(filled, str(tmp_path / "x.bundle"))
    assert not (tmp_path / "x.bundle").exists()
