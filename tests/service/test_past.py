"""The past sessions of a project as a corpus that follows their files."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from store.builders import made_project

from noforgetti.retrieval import ranking
from noforgetti.retrieval.corpus import Corpus
from noforgetti.service.past import Past, Refreshed, Where
from noforgetti.store.discovery import discover

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AT = "2026-12-01T10:01:00.000Z"
KEY = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def user(text: str, own: str = "u1", at: str = AT) -> dict[str, Any]:
    return {"type": "message", "id": own, "timestamp": at, "message": {"role": "user", "content": text}}


def summary(text: str, own: str = "c1") -> dict[str, Any]:
    return {"type": "compaction", "id": own, "timestamp": AT, "summary": text}


class Lab:
    """A project, Pi's folder of sessions, and a corpus of them."""

    def __init__(self, root: Path) -> None:
        self.home, self.db = root / "user", str(root / "cache" / "past.sqlite")
        self.checkout = made_project(root / "shop")
        self.sessions = self.home / ".pi" / "agent" / "sessions"
        self.where = Where(discover(str(self.checkout)), {"HOME": str(self.home)})
        self.corpus = Corpus(self.db, ranking.SESSIONS)
        self.past = Past(self.corpus, self.where)
        self.now = 10**18

    def folder(self, cwd: Path) -> Path:
        return self.sessions / ("--" + str(cwd).lstrip("/").replace("/", "-") + "--")

    def write(self, session: str, *entries: dict[str, Any], cwd: Path | None = None, parent: str = "") -> Path:
        started = f"2026-12-01T10:00:0{session[-1]}.000Z"
        header = {"type": "session", "id": session, "timestamp": started, "cwd": str(cwd or self.checkout)}
        path = self.folder(cwd or self.checkout) / f"{started[:10]}_{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        self.append(path, header | ({"parentSession": parent} if parent else {}), *entries)
        return path

    def append(self, path: Path, *entries: dict[str, Any]) -> None:
        with path.open("a") as file:
            file.writelines(json.dumps(one) + "\n" for one in entries)
        self.now += 10**9
        os.utime(path, ns=(self.now, self.now))

    def held(self) -> dict[str, list[str]]:
        """The texts of each session in their order."""
        found: dict[str, list[str]] = {}
        for group, text in sqlite3.connect(self.db).execute("select grp, text from passage order by grp, place"):
            found.setdefault(group, []).append(text)
        return found

    def again(self, **options: Any) -> Past:
        """Another process with the same database."""
        return Past(Corpus(self.db, ranking.SESSIONS), self.where, **options)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab(tmp_path.resolve())
    yield made
    made.corpus.close()


# ---- what is kept


def test_sessions_are_kept_by_what_was_said_or_by_their_summaries(lab: Lab) -> None:
    lab.write("s1", user("why is the build red?"), user("fix the linter", "u2"))
    lab.write("s2", user("why is the build red?"), summary("Moved the queue to Postgres."))

    done = lab.past.refresh()

    assert lab.held() == {"s1": ["why is the build red?", "fix the linter"], "s2": ["Moved the queue to Postgres."]}
    assert replace(done, bytes_read=0) == Refreshed(files_read=2, added=3)
    (hit,) = lab.corpus.search("Postgres queue").hits
    assert (hit.passage.group, hit.passage.at) == ("s2", AT)


def test_passages_are_named_so_that_a_second_reading_changes_nothing(lab: Lab) -> None:
    long = "\n\n".join(f"Paragraph {n} " + "about the parser and its tables. " * 15 for n in range(4))
    path = lab.write("s1", user(long), user("and the lexer", "u2"))
    lab.past.refresh()
    keys = sorted(lab.corpus.keys())
    os.utime(path, ns=(5, 5))

    lab.past.refresh()

    assert keys == sorted(lab.corpus.keys())
    assert keys == ["s1#u1", "s1#u1.2", "s1#u1.3", "s1#u1.4", "s1#u2"]


def test_secrets_and_invisible_characters_are_not_kept(lab: Lab) -> None:
    lab.write("s1", user(f"the token is {KEY}\u202e, use it\x07"))

    lab.past.refresh()

    assert lab.held() == {"s1": ["the token is [redacted:github-pat], use it\ufffd"]}


def test_a_secret_is_not_cut_in_half_by_a_passage(lab: Lab) -> None:
    lab.write("s1", user("word " * 238 + KEY + " word" * 300))

    lab.past.refresh()

    assert KEY[4:20] not in json.dumps(lab.held())


def test_what_the_agent_was_shown_is_never_kept(lab: Lab) -> None:
    injected = {"type": "custom_message", "id": "m1", "customType": "noforgetti-memory", "content": "use tabs"}
    lab.write("s1", injected, user("<past_sessions>use tabs</past_sessions>fix the linter"))

    lab.past.refresh()

    assert lab.held() == {"s1": ["fix the linter"]}


# ---- following


def test_a_session_that_goes_on_is_followed(lab: Lab) -> None:
    path = lab.write("s1", user("why is the build red?"))
    lab.past.refresh()
    added = user("fix the linter", "u2")
    lab.append(path, added)

    done = lab.past.refresh()

    assert lab.held() == {"s1": ["why is the build red?", "fix the linter"]}
    assert done == Refreshed(files_read=1, bytes_read=len(json.dumps(added)) + 1, added=1)


def test_nothing_is_opened_when_nothing_changed(lab: Lab) -> None:
    path = lab.write("s1", user("why is the build red?"))
    lab.past.refresh()
    os.chmod(path, 0)

    assert (lab.past.refresh(), lab.again().refresh()) == (Refreshed(), Refreshed())


def test_a_summary_that_comes_later_stands_for_what_was_said_before_and_after(lab: Lab) -> None:
    path = lab.write("s1", user("why is the build red?"))
    lab.past.refresh()
    lab.append(path, user("still red", "u2"), summary("The linter was too old."), user("fix it for me", "u3"))
    lab.past.refresh()
    lab.append(path, user("and push", "u4"))

    assert lab.past.refresh().added == 0
    assert lab.held() == {"s1": ["The linter was too old."]}


def test_what_a_second_summary_repeats_is_kept_once(lab: Lab) -> None:
    first = "## Goal\n" + "Move the queue to Postgres. " * 10
    path = lab.write("s1", summary(first))
    lab.past.refresh()
    lab.append(path, summary(first + "\n## Next\n" + "Drop the Lua script. " * 12, "c2"))

    lab.past.refresh()

    assert [text.splitlines()[0] for text in lab.held()["s1"]] == ["## Goal", "## Next"]


def test_a_message_that_was_taken_out_of_its_session_is_forgotten(lab: Lab) -> None:
    edit = {"type": "context_edit", "id": "e1", "targetId": "u1", "replacement": None}
    path = lab.write("s1", user("my private matter " * 150), user("fix the linter", "u2"))
    lab.write("s2", user("another private matter"), edit)
    lab.past.refresh()
    lab.append(path, edit)

    lab.past.refresh()

    assert lab.held() == {"s1": ["fix the linter"]}


def test_a_refresh_that_runs_out_of_time_goes_on_the_next_time_with_the_newest_first(lab: Lab) -> None:
    for n in range(1, 4):
        lab.write(f"s{n}", user(f"question number {n}"))
    ticks = iter(range(100))
    past = lab.again(clock=lambda: next(ticks))

    first = past.refresh(1.5)

    assert (first.more, first.files_read, lab.held()) == (True, 1, {"s3": ["question number 3"]})
    assert (past.refresh(50).more, sorted(lab.held())) == (False, ["s1", "s2", "s3"])


def test_a_file_of_many_slices_is_finished_over_several_refreshes(lab: Lab) -> None:
    answer = {"type": "message", "message": {"role": "assistant", "content": "x" * 80_000}}
    lab.write("s1", *(one for n in range(40) for one in (user(f"question {n}", f"u{n}"), answer)))
    ticks = iter(range(10_000))
    past = lab.again(clock=lambda: next(ticks))
    rounds = 1
    while past.refresh(1.5).more:
        rounds += 1

    whole = lab.held()
    shutil.rmtree(os.path.dirname(lab.db))
    lab.again().refresh(60)

    assert rounds > 3
    assert whole == lab.held() == {"s1": [f"question {n}" for n in range(40)]}


# ---- forgetting


def test_a_session_that_was_deleted_is_forgotten(lab: Lab) -> None:
    path = lab.write("s1", user("why is the build red?"))
    lab.write("s2", user("fix the linter"))
    lab.past.refresh()
    (hit,) = lab.corpus.search("build red").hits
    path.unlink()

    assert not lab.past.alive(hit)
    assert lab.past.refresh() == Refreshed(dropped=1)
    assert lab.held() == {"s2": ["fix the linter"]}


def test_a_hit_lives_while_its_file_does(lab: Lab) -> None:
    path = lab.write("s1", user("why is the build red?"))
    lab.past.refresh()
    (hit,) = lab.corpus.search("build red").hits
    lab.append(path, user("more of it", "u2"))

    assert (lab.past.alive(hit), lab.again().alive(hit)) == (True, True)

    path.write_text("")

    assert (lab.past.alive(hit), lab.again().alive(hit)) == (False, False)


def test_what_was_taken_out_of_a_file_is_forgotten(lab: Lab) -> None:
    path = lab.write("s1", user("a secret plan"), user("fix the linter", "u2"))
    lab.past.refresh()
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if "secret" not in line))

    assert lab.past.refresh().dropped == 2
    assert lab.held() == {"s1": ["fix the linter"]}


def test_sessions_of_a_nested_or_neighbouring_project_are_not_kept(lab: Lab) -> None:
    nested = made_project(lab.checkout / "vendored")
    inner = lab.checkout / "api"
    lab.write("s1", user("asked in the vendored one"), cwd=nested)
    lab.write("s2", user("asked in the neighbour"), cwd=lab.checkout.parent / "shop-next")
    lab.write("s3", user("asked in a folder"), cwd=inner)

    lab.past.refresh()

    assert lab.held() == {"s3": ["asked in a folder"]}


def test_a_folder_that_became_a_project_takes_its_sessions_with_it(lab: Lab) -> None:
    inner = made_project(lab.checkout / "api")
    (inner / ".git").rename(inner / "no.git")
    lab.write("s1", user("asked in the api"), cwd=inner)
    lab.past.refresh()
    (inner / "no.git").rename(inner / ".git")
    gone = (lab.past.refresh(), lab.held())
    (inner / ".git").rename(inner / "no.git")

    lab.past.refresh()

    assert (gone[0].dropped, gone[1], lab.held()) == (1, {}, {"s1": ["asked in the api"]})


def test_a_file_that_cannot_be_read_is_named_and_tried_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    path = lab.write("s1", user("why is the build red?"))
    allowed = os.open

    def closed(name: Any, *rest: Any) -> int:
        if str(name).endswith(".jsonl"):
            raise PermissionError(13, "Permission denied")
        return allowed(name, *rest)

    monkeypatch.setattr(os, "open", closed)
    lab.past.refresh()
    named = (lab.again().unread(), lab.held())
    monkeypatch.undo()
    lab.past.refresh()

    assert named == (((str(path), f"`{path}` cannot be read: Permission denied"),), {})
    assert (lab.past.unread(), lab.held()) == ((), {"s1": ["why is the build red?"]})


def test_a_folder_that_the_user_named_counts_without_a_header(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks" / "monday.json").write_text(json.dumps([{"role": "user", "content": "why is the build red?"}]))
    (tmp_path / "talks" / "notes.json").write_text('"just words"')
    past = Past(lab.corpus, replace(lab.where, folders=(str(tmp_path / "talks"),)))

    past.refresh()

    assert lab.held() == {"monday": ["why is the build red?"]}
    assert [why.rpartition("`")[2] for _, why in past.unread()] == [" is of no known format"]
    assert Past(lab.corpus, lab.where).refresh().dropped == 1  # no longer named


# ---- forks


LATER = "2026-12-01T10:00:05.000Z"
EARLY = "2026-12-01T10:00:01.500Z"


def test_what_a_fork_copied_is_kept_once_and_outlives_its_parent(lab: Lab) -> None:
    said = user("why is the build red?", at=EARLY)
    parent = lab.write("s1", said)
    lab.write("s2", said, user("fix the linter", "u2", LATER), parent=str(parent))
    lab.past.refresh()
    both = lab.held()
    parent.unlink()

    lab.past.refresh()

    assert both == {"s1": ["why is the build red?"], "s2": ["fix the linter"]}
    assert lab.held() == {"s2": ["why is the build red?", "fix the linter"]}


def test_the_lineage_is_the_session_and_what_it_was_forked_from(lab: Lab) -> None:
    first = lab.write("s1", user("one question"))
    second = lab.write("s2", user("two questions"), parent=str(first))
    lab.past.refresh()
    lab.write("s3", user("three questions"), parent=str(second))  # forked a moment ago

    assert lab.past.lineage_of("s3") == ("s3", "s2", "s1")
    assert lab.past.lineage_of("s1") == ("s1",)
    assert lab.past.lineage_of("unknown") == ("unknown",)


def test_a_session_says_where_and_when_it_was(lab: Lab) -> None:
    path = lab.write("s1", user("why?"), {"type": "session_info", "id": "i", "name": "red build"})
    lab.past.refresh()

    assert lab.again().describe("s1") == {
        "session": "s1",
        "file": str(path),
        "started": "2026-12-01T10:00:01.000Z",
        "cwd": str(lab.checkout),
        "name": "red build",
    }
    assert lab.past.describe("s9") == {"session": "s9", "file": "", "started": "", "cwd": "", "name": ""}


def test_a_copy_of_a_session_file_is_the_same_session(lab: Lab) -> None:
    path = lab.write("s1", user("why is the build red?"))
    shutil.copy(path, path.with_name("copy.jsonl"))
    lab.past.refresh()
    both = lab.held()
    path.unlink()
    lab.past.refresh()
    lab.past.refresh()

    assert (both, lab.held()) == ({"s1": ["why is the build red?"]},) * 2


# ---- beside others


def test_a_second_process_goes_on_where_the_first_one_was(lab: Lab) -> None:
    path = lab.write("s1", user("why is the build red?"))
    other = lab.again()
    lab.past.refresh()
    lab.append(path, user("fix the linter", "u2"))

    assert other.refresh().files_read == 1
    assert lab.past.refresh() == Refreshed()
    assert lab.held() == {"s1": ["why is the build red?", "fix the linter"]}


def test_a_slower_process_does_not_undo_what_a_faster_one_did(lab: Lab) -> None:
    path = lab.write("s1", user("why is the build red?"))
    faster = lab.again()
    done: list[Refreshed] = []

    def meanwhile(_: str) -> bool:  # asked while the file is being read
        if not done:
            lab.append(path, summary("The linter was too old."))
            done.append(faster.refresh())
        return False

    slower = lab.again(trivial=meanwhile)

    assert (slower.refresh().added, done[0].added, slower.refresh()) == (0, 1, Refreshed())
    assert lab.held() == {"s1": ["The linter was too old."]}


def test_a_busy_database_is_left_alone_until_the_next_time(lab: Lab) -> None:
    lab.write("s1", user("why is the build red?"))
    writer = sqlite3.connect(lab.db, isolation_level=None)
    writer.execute("begin immediate")

    busy = lab.past.refresh()
    writer.execute("rollback")

    assert busy == Refreshed(more=True, trouble="past sessions were not looked at (database is locked)")
    assert lab.past.refresh().added == 1


def test_a_cache_that_was_deleted_comes_back(lab: Lab) -> None:
    lab.write("s1", user("why is the build red?"))
    lab.past.refresh()
    shutil.rmtree(os.path.dirname(lab.db))

    assert lab.past.refresh().added == 1
    assert lab.held() == {"s1": ["why is the build red?"]}


def test_a_record_that_is_not_ours_to_read_is_made_again(lab: Lab) -> None:
    path = lab.write("s1", user("why is the build red?"))
    lab.past.refresh()
    for text in ("", "nonsense", "1\t2"):
        lab.corpus.meta_put("file:" + json.dumps(str(path)), text)
        assert lab.again().refresh().files_read == 1
        assert lab.again().refresh() == Refreshed()

    assert lab.held() == {"s1": ["why is the build red?"]}


def test_a_file_name_that_is_no_text_is_a_file_like_others(lab: Lab) -> None:
    path = lab.write("s1", user("why is the build red?"))
    os.rename(path, os.fsencode(path.parent) + b"/\xff_s1.jsonl")

    lab.past.refresh()

    assert lab.held() == {"s1": ["why is the build red?"]}
    assert lab.again().refresh() == Refreshed()
