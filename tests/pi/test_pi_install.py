"""The installer: what it puts where, what it refuses, and that it takes back nothing that is the user's."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from noforgetti.faces.pi import install as installer
from noforgetti.faces.pi.install import (
    SOURCE,
    AlreadyRegisteredError,
    CommandNotAbsoluteError,
    FolderNotWritableError,
    ForeignFolderError,
    Outcome,
    default_agent_dir,
    install,
    uninstall,
)

COMMAND = [sys.executable, "-m", "noforgetti", "serve", "--stdio"]


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """An agent folder with settings of the user's."""
    folder = tmp_path / "agent"
    folder.mkdir()
    (folder / "settings.json").write_text('{ "theme":"dark",\n\n"packages": ["npm:other"] }', encoding="utf-8")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def place(agent: Path) -> Path:
    """Where the extension goes."""
    return agent / "extensions" / "noforgetti"


def test_an_installation_copies_the_extension_and_says_how_to_start_the_bridge(agent: Path) -> None:
    result = install(agent, command=COMMAND, env={"NOFORGETTI_HOME": "/n"})

    files = tree(place(agent))
    assert result.outcome is Outcome.INSTALLED
    assert set(result.paths) == {place(agent) / name for name in files}
    assert set(files) == {p.name for p in SOURCE.iterdir()} | {"launch.json", "manifest.json"}
    assert all(files[p.name] == p.read_bytes() for p in SOURCE.iterdir())
    launch = json.loads(files["launch.json"])
    assert (launch["command"], launch["env"]) == (COMMAND, {"NOFORGETTI_HOME": "/n"})


def test_a_removal_leaves_the_agent_folder_as_it_was(agent: Path) -> None:
    before = tree(agent)

    install(agent, command=COMMAND)
    result = uninstall(agent)

    assert (result.outcome, result.warnings) == (Outcome.REMOVED, ())
    assert tree(agent) == before
    assert not place(agent).exists()


def test_installing_again_changes_nothing(agent: Path) -> None:
    install(agent, command=COMMAND)
    stamp = place(agent).stat().st_ino

    assert install(agent, command=COMMAND).outcome is Outcome.UNCHANGED
    assert place(agent).stat().st_ino == stamp


def test_another_command_is_an_upgrade(agent: Path) -> None:
    install(agent, command=COMMAND)

    result = install(agent, command=["/other/python"])

    assert (result.outcome, result.kept) == (Outcome.UPGRADED, ())
    assert json.loads((place(agent) / "launch.json").read_bytes())["command"] == ["/other/python"]


def test_a_file_that_went_missing_is_put_back(agent: Path) -> None:
    install(agent, command=COMMAND)
    (place(agent) / "bridge.ts").unlink()

    assert install(agent, command=COMMAND).outcome is Outcome.UPGRADED
    assert (place(agent) / "bridge.ts").exists()


def test_an_upgrade_keeps_what_the_user_changed_and_added(agent: Path) -> None:
    install(agent, command=COMMAND)
    (place(agent) / "index.ts").write_text("// mine", encoding="utf-8")
    (place(agent) / "notes").mkdir()
    (place(agent) / "notes" / "a.txt").write_text("my notes", encoding="utf-8")

    result = install(agent, command=COMMAND)

    assert result.outcome is Outcome.UPGRADED
    assert result.kept == (place(agent) / "index.ts.kept",)
    assert result.kept[0].read_text(encoding="utf-8") == "// mine"
    assert "index.ts.kept" in result.warnings[0]
    assert (place(agent) / "notes" / "a.txt").read_text(encoding="utf-8") == "my notes"
    assert (place(agent) / "index.ts").read_bytes() == (SOURCE / "index.ts").read_bytes()


def test_a_removal_keeps_a_changed_file_where_pi_does_not_load_it(agent: Path) -> None:
    install(agent, command=COMMAND)
    (place(agent) / "index.ts").write_text("// mine", encoding="utf-8")

    result = uninstall(agent)

    assert result.outcome is Outcome.REMOVED
    assert tree(place(agent)) == {"index.ts.kept": b"// mine"}
    assert len(result.warnings) == 1
    assert install(agent, command=COMMAND).outcome is Outcome.INSTALLED
    assert (place(agent) / "index.ts.kept").exists()


def test_what_was_kept_before_is_kept_beside_the_newer(agent: Path) -> None:
    for text in ("first", "second"):
        install(agent, command=COMMAND)
        (place(agent) / "index.ts").write_text(text, encoding="utf-8")
    install(agent, command=COMMAND)
    (place(agent) / "index.ts").write_text("third", encoding="utf-8")
    uninstall(agent)

    assert sorted(tree(place(agent)).values()) == [b"first", b"second", b"third"]


def test_removing_what_is_not_there_is_no_trouble(agent: Path) -> None:
    assert uninstall(agent).outcome is Outcome.ABSENT


@pytest.mark.parametrize("stranger", ["package.json", "index.ts", "manifest.json"])
def test_a_folder_of_somebody_else_is_left_alone(agent: Path, stranger: str) -> None:
    place(agent).mkdir(parents=True)
    (place(agent) / stranger).write_text("{}", encoding="utf-8")
    before = tree(agent)

    with pytest.raises(ForeignFolderError, match="was not written by this installer"):
        install(agent, command=COMMAND)
    with pytest.raises(ForeignFolderError):
        uninstall(agent)
    assert tree(agent) == before


def test_a_link_in_the_place_is_left_alone(agent: Path, tmp_path: Path) -> None:
    place(agent).parent.mkdir()
    place(agent).symlink_to(tmp_path)

    with pytest.raises(ForeignFolderError):
        install(agent, command=COMMAND)


@pytest.mark.parametrize(
    "settings",
    [
        {"packages": ["npm:noforgetti-pi@1.0.0"]},
        {"packages": [{"source": "git:github.com/somebody/noforgetti"}]},
        {"packages": ["../copy"]},
        {"extensions": ["../copy/index.ts"]},
    ],
)
def test_a_copy_that_is_registered_elsewhere_is_named(agent: Path, tmp_path: Path, settings: dict[str, object]) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("package.json", "index.ts"):
        (copy / name).write_bytes((SOURCE / name).read_bytes())
    (agent / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    with pytest.raises(AlreadyRegisteredError, match=r"settings\.json"):
        install(agent, command=COMMAND)
    assert not place(agent).exists()


def test_settings_that_cannot_be_read_stay_as_they_are(agent: Path) -> None:
    (agent / "settings.json").write_text("{ // a comment\n}", encoding="utf-8")

    result = install(agent, command=COMMAND)

    assert "could not be read" in result.warnings[0]
    assert (agent / "settings.json").read_text(encoding="utf-8") == "{ // a comment\n}"


def test_a_folder_that_cannot_be_made_is_a_clear_refusal(agent: Path) -> None:
    (agent / "extensions").write_text("a file is in the way", encoding="utf-8")

    with pytest.raises(FolderNotWritableError, match="extensions"):
        install(agent, command=COMMAND)


def test_an_installation_that_breaks_off_leaves_the_old_one(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(agent, command=COMMAND)
    before = tree(agent)
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(FolderNotWritableError, match="No space left"):
        install(agent, command=["/other/python"])
    assert tree(agent) == before


def test_what_a_killed_installation_left_is_cleared(agent: Path) -> None:
    rest = agent / "extensions" / f"{installer.BUILDING}rest" / "new"
    rest.mkdir(parents=True)

    install(agent, command=COMMAND)

    assert [p.name for p in (agent / "extensions").iterdir()] == ["noforgetti"]


@pytest.mark.parametrize("command", [[], ["python"], ["./python"]])
def test_a_program_that_pi_might_not_find_is_refused(agent: Path, command: list[str]) -> None:
    with pytest.raises(CommandNotAbsoluteError):
        install(agent, command=command)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HOME": "/h"}, "/h/.pi/agent"),
        ({"HOME": "/h", "PI_CODING_AGENT_DIR": "/elsewhere"}, "/elsewhere"),
        ({"HOME": "/h", "PI_CODING_AGENT_DIR": "~/pi"}, "/h/pi"),
        ({"HOME": "/h", "PI_CODING_AGENT_DIR": ""}, "/h/.pi/agent"),
    ],
)
def test_the_agent_folder_is_the_one_that_pi_uses(environ: dict[str, str], folder: str) -> None:
    assert default_agent_dir(environ) == Path(folder)


def test_the_environment_names_the_folder_when_nobody_else_does(agent: Path) -> None:
    environ = {"HOME": "/h", "PI_CODING_AGENT_DIR": str(agent)}

    assert install(None, command=COMMAND, environ=environ).folder == place(agent)
    assert uninstall(None, environ=environ).outcome is Outcome.REMOVED
