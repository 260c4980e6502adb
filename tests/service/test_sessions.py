"""Which session files belong to a project."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from transcripts.hosts import HOSTS, laid_out

from noforgetti.service.sessions import NoSession, belonging, cwd_of, named, newest, session_files, worktrees_of
from noforgetti.store.discovery import Project, discover
from noforgetti.transcripts import base

PROJECT = Project("/home/me/web shop", kind="git")
FOLDER = "--home-me-web shop--"


def made(folder: Path, *names: str, cwd: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    header = json.dumps({"type": "session", "id": "s", "cwd": cwd}) + "\n" if cwd else ""
    for name in names:
        (folder / name).write_text(header)


def paths(home: Path, project: Project = PROJECT, folders: tuple[str, ...] = (), **environ: str) -> list[str]:
    found = session_files(project, {"HOME": str(home), **environ}, folders=folders)
    return sorted(os.path.relpath(one.path, home) for one in found)


def git(folder: Path, *words: str) -> None:
    author = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)


# ---- the newest


def test_the_newest_session_is_the_last_by_its_name(tmp_path: Path) -> None:
    folder = tmp_path / ".pi" / "agent" / "sessions" / FOLDER
    made(folder, "2026-11-30T10-00-00_b.jsonl", "2026-12-01T09-00-00_a.jsonl", "2026-12-02.txt")

    assert newest(PROJECT, {"HOME": str(tmp_path)}) == folder / "2026-12-01T09-00-00_a.jsonl"


@pytest.mark.parametrize(
    ("variable", "below"),
    [("PI_CODING_AGENT_DIR", Path("sessions") / FOLDER), ("PI_CODING_AGENT_SESSION_DIR", Path(FOLDER))],
)
def test_pis_own_variables_say_where_to_look(tmp_path: Path, variable: str, below: Path) -> None:
    made(tmp_path / "pi" / below, "one.jsonl")

    assert newest(PROJECT, {"HOME": "/nowhere", variable: str(tmp_path / "pi")}).name == "one.jsonl"


def test_sessions_of_other_projects_are_not_taken(tmp_path: Path) -> None:
    made(tmp_path / ".pi" / "agent" / "sessions" / "--home-me-other--", "one.jsonl")

    with pytest.raises(NoSession, match="No host has a session of `/home/me/web shop`") as caught:
        newest(PROJECT, {"HOME": str(tmp_path)})

    assert caught.value.hint == "name a session file with --transcript"


def test_in_a_folder_of_all_sessions_the_newest_of_the_project_is_taken(tmp_path: Path) -> None:
    made(tmp_path, "2026-12-01_a.jsonl", cwd="/home/me/web shop")
    made(tmp_path, "2026-12-02_b.jsonl", cwd="/home/me/other")

    assert newest(PROJECT, {"PI_CODING_AGENT_SESSION_DIR": str(tmp_path)}).name == "2026-12-01_a.jsonl"


# ---- listing


def test_folders_of_the_project_and_of_folders_in_it_are_listed(tmp_path: Path) -> None:
    sessions = tmp_path / ".pi" / "agent" / "sessions"
    made(sessions / FOLDER, "a.jsonl", "notes.txt")
    made(sessions / "--home-me-web shop-api--", "b.jsonl")
    made(sessions / "--home-me-web shopping--", "c.jsonl")
    made(sessions / "--home-me--", "d.jsonl")
    (sessions / FOLDER / "folder.jsonl").mkdir()
    (sessions / FOLDER / "gone.jsonl").symlink_to("/nowhere")

    assert paths(tmp_path) == [
        f".pi/agent/sessions/{FOLDER}/a.jsonl",
        ".pi/agent/sessions/--home-me-web shop-api--/b.jsonl",
    ]


def test_the_files_come_newest_first_with_what_tells_a_change(tmp_path: Path) -> None:
    folder = tmp_path / ".pi" / "agent" / "sessions" / FOLDER
    made(folder, "a.jsonl", "b.jsonl")
    os.utime(folder / "a.jsonl", ns=(5, 5))

    found = session_files(PROJECT, {"HOME": str(tmp_path)})

    stat = (folder / "a.jsonl").stat()
    assert [os.path.basename(one.path) for one in found] == ["b.jsonl", "a.jsonl"]
    assert found[1] == (str(folder / "a.jsonl"), "pi", (stat.st_dev, stat.st_ino, stat.st_size, 5))


def test_a_folder_that_the_user_chose_holds_the_files_of_all(tmp_path: Path) -> None:
    made(tmp_path / "all", "a.jsonl")
    made(tmp_path / ".pi" / "agent", "other.jsonl")
    (tmp_path / ".pi" / "agent" / "settings.json").write_text('{"sessionDir": "~/all"}')

    assert paths(tmp_path) == ["all/a.jsonl"]
    assert paths(tmp_path, PI_CODING_AGENT_SESSION_DIR="~/none") == ["all/a.jsonl"]  # what was kept there before


@pytest.mark.parametrize("settings", ["", "{", "[]", '{"sessionDir": 3}', '{"sessionDir": "relative"}', "\0"])
def test_settings_of_pi_that_say_nothing_are_passed_over(tmp_path: Path, settings: str) -> None:
    made(tmp_path / ".pi" / "agent" / "sessions" / FOLDER, "a.jsonl")
    (tmp_path / ".pi" / "agent" / "settings.json").write_text(settings)

    assert paths(tmp_path) == [f".pi/agent/sessions/{FOLDER}/a.jsonl"]


def test_a_repository_cannot_name_a_folder_of_sessions(tmp_path: Path) -> None:
    made(tmp_path / "repo" / "planted", "a.jsonl")
    made(tmp_path / "repo" / ".pi")
    (tmp_path / "repo" / ".pi" / "settings.json").write_text('{"sessionDir": "planted"}')

    assert paths(tmp_path, Project(str(tmp_path / "repo"), kind="git")) == []


def test_folders_of_other_formats_can_be_given(tmp_path: Path) -> None:
    made(tmp_path / "talks", "a.jsonl", "b.json", "c.txt")

    assert paths(tmp_path, folders=("~/talks", "/nowhere", "a\0b")) == ["talks/a.jsonl", "talks/b.json"]
    assert {one.format for one in session_files(PROJECT, {}, folders=(str(tmp_path / "talks"),))} == {""}


# ---- whose they are


def test_a_session_belongs_to_the_project_that_its_folder_is_in(tmp_path: Path) -> None:
    (tmp_path / "shop" / "api").mkdir(parents=True)
    (tmp_path / "shop" / "vendored").mkdir()
    (tmp_path / "shop-next").mkdir()
    for name in ("shop", "shop/vendored", "shop-next"):
        git(tmp_path / name, "init")
    belongs = belonging(discover(str(tmp_path / "shop")))

    judged = {
        name: belongs(str(tmp_path / name))
        for name in ("shop", "shop/api", "shop/api/gone/deep", "shop/vendored", "shop/vendored/gone", "shop-next", ".")
    }

    assert judged == {
        "shop": True,
        "shop/api": True,
        "shop/api/gone/deep": True,
        "shop/vendored": False,
        "shop/vendored/gone": False,
        "shop-next": False,
        ".": False,
    }
    assert [belongs(cwd) for cwd in ("", "shop", "/", "/a\0b", "C:\\shop")] == [False] * 5


def test_a_folder_without_git_is_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    belongs = belonging(discover(str(tmp_path)))

    assert (belongs(str(tmp_path)), belongs(str(tmp_path / "inner"))) == (True, False)


@pytest.mark.parametrize(("mode", "together"), [("shared", True), ("separate", False)])
def test_worktrees_share_their_sessions_when_they_share_memory(tmp_path: Path, mode: str, together: bool) -> None:
    main, linked = tmp_path / "shop", tmp_path / "shop-fix"
    main.mkdir()
    git(main, "init")
    git(main, "commit", "--allow-empty", "-m", "one")
    git(main, "worktree", "add", str(linked))
    sessions = tmp_path / ".pi" / "agent" / "sessions"
    encoded = {one: "--" + str(one).lstrip("/").replace("/", "-") + "--" for one in (main, linked)}
    made(sessions / encoded[main], "a.jsonl", cwd=str(main))
    made(sessions / encoded[linked], "b.jsonl", cwd=str(linked))
    project = discover(str(main), worktrees=mode)
    belongs = belonging(project, worktrees=mode)

    found = session_files(project, {"HOME": str(tmp_path)}, worktrees=mode)

    cwds = [json.loads(Path(one.path).read_text())["cwd"] for one in found]
    assert sorted(cwd for cwd in cwds if belongs(cwd)) == sorted([str(main)] + [str(linked)] * together)
    assert worktrees_of(str(main)) == [str(linked)]


# ---- other hosts


@pytest.mark.parametrize("host", HOSTS)
def test_a_session_of_any_host_is_found_by_its_id(tmp_path: Path, host: str) -> None:
    path = laid_out(host, tmp_path, PROJECT.root)
    environ = {"HOME": str(tmp_path)}

    listed = {one.path: one.format for one in session_files(PROJECT, environ)}

    assert listed[str(path)] == host
    assert named(base.read(path).session, PROJECT, environ) == str(path)
    assert named("00000000-gone", PROJECT, environ) == ""
    assert cwd_of(str(path), host) == PROJECT.root


@pytest.mark.parametrize(
    ("host", "variable", "usual"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude"),
        ("codex", "CODEX_HOME", ".codex"),
        ("opencode", "XDG_DATA_HOME", ".local/share"),
        ("gemini", "GEMINI_CLI_HOME", ""),
    ],
)
def test_a_host_s_own_variable_says_where_its_sessions_are(
    tmp_path: Path, host: str, variable: str, usual: str
) -> None:
    path = laid_out(host, tmp_path / "there", PROJECT.root)

    found = session_files(PROJECT, {"HOME": str(tmp_path), variable: str(tmp_path / "there" / usual)})

    assert str(path) in [one.path for one in found]
    assert session_files(PROJECT, {"HOME": str(tmp_path)}) == []


def test_sessions_of_subfolders_count_and_those_of_names_alike_are_told_apart(tmp_path: Path) -> None:
    shop, project = tmp_path / "shop", Project(str(tmp_path / "shop"), kind="git")
    (shop / "api").mkdir(parents=True)
    git(shop, "init")
    alike = tmp_path / "shop-api"
    alike.mkdir()
    home = {"HOME": str(tmp_path / "home")}
    mine = laid_out("claude-code", tmp_path / "home", str(shop / "api"))
    os.utime(mine, (1, 1))

    assert newest(project, home) == mine
    assert laid_out("claude-code", tmp_path / "home", str(alike)) == mine  # one folder for both, by its name
    with pytest.raises(NoSession):
        newest(project, home)


def test_of_thousands_of_sessions_of_codex_only_the_newest_are_opened(tmp_path: Path) -> None:
    mine = laid_out("codex", tmp_path, PROJECT.root)
    os.utime(mine, (1_000, 1_000))
    for number in range(200):
        other = mine.with_name(f"rollout-{number:03}.jsonl")
        other.write_text('{"type":"session_meta","payload":{"id":"x","cwd":"/elsewhere"}}\n')

    with pytest.raises(NoSession):
        newest(PROJECT, {"HOME": str(tmp_path)})
    other.unlink()
    assert newest(PROJECT, {"HOME": str(tmp_path)}) == mine


def test_a_header_longer_than_what_is_read_still_says_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps({"type": "session_meta", "payload": {"cwd": '/a"b', "instructions": "x" * 100_000}}))

    assert cwd_of(str(path), "codex") == '/a"b'
    assert (cwd_of(str(tmp_path / "gone"), "codex"), cwd_of(str(tmp_path), "codex")) == ("", "")
