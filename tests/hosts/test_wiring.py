"""Installing a host and taking it out again: what others wrote comes back byte for byte, whatever it looks like."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.hosts import jsonc
from noforgetti.service import wiring

if TYPE_CHECKING:
    from collections.abc import Callable

OTHER = {"type": "command", "command": "echo other", "timeout": 5}
# The shared files of each host, below the home, and the event that a foreign hook stands in.
SHARED: dict[str, dict[str, str]] = {
    "codex": {".codex/hooks.json": "SessionStart", ".codex/config.toml": ""},
    "qwen": {".qwen/settings.json": "UserPromptSubmit"},
    "cursor": {".cursor/hooks.json": "sessionStart", ".cursor/mcp.json": ""},
    "cline": {".cline/data/settings/cline_mcp_settings.json": ""},
    "windsurf": {".codeium/windsurf/mcp_config.json": ""},
}
HOSTS = ("claude-code", "codex", "gemini", "qwen", "opencode", "cursor", "cline", "windsurf")


def plain(event: str) -> str:
    """A file of a host with somebody else's server, and a hook in one of our events."""
    group: Any = [{"hooks": [OTHER]}] if event != "sessionStart" else [{"command": "echo other"}]
    hooks = {"hooks": {event: group}} if event else {}
    return json.dumps({"mcpServers": {"other": {"command": "other"}}, **hooks}, indent=2) + "\n"


VARIANTS: dict[str, Callable[[str], str]] = {
    "plain": plain,
    "comments": lambda event: "// mine\n" + plain(event).replace("{\n", "{\n  /* a block */\n", 1) + "// the end",
    "trailing commas": lambda event: plain(event).rstrip("\n").replace("\n}", ",\n}"),
    "tabs": lambda event: plain(event).replace("  ", "\t"),
    "crlf": lambda event: plain(event).replace("\n", "\r\n"),
    "bom": lambda event: "\ufeff" + plain(event),
    "one line": lambda event: json.dumps(json.loads(plain(event))),
    "no last line end": lambda event: plain(event).rstrip("\n"),
    "an empty object": lambda _: "{}",
    "an empty file": lambda _: "",
}
TOML = {
    "plain": '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "other"\n',
    "crlf": '# mine\r\nmodel = "x"\r\n[mcp_servers.other]\r\ncommand = "other"\r\n',
    "bom": '\ufeffmodel = "x"\n',
    "no last line end": 'model = "x"',
    "an empty file": "",
}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path.resolve() / "home"
    home.mkdir()
    return {"HOME": str(home), "NOFORGETTI_HOME": str(tmp_path.resolve() / "nf"), "PATH": "/usr/bin:/bin"}


def snapshot(environ: dict[str, str]) -> dict[str, tuple[int, int, bytes]]:
    """Every file and folder below the home: mode, time of change, bytes."""
    home = Path(environ["HOME"])
    return {
        str(path.relative_to(home)): (stat.S_IMODE(path.stat().st_mode), path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(home.rglob("*"))
        if path.is_file()
    } | {f"{path.relative_to(home)}/": (0, 0, b"") for path in home.rglob("*") if path.is_dir()}


def contents(environ: dict[str, str]) -> dict[str, bytes]:
    return {name: data for name, (_, _, data) in snapshot(environ).items()}


def lay(environ: dict[str, str], host: str, variant: str) -> None:
    for name, event in SHARED.get(host, {}).items():
        path = Path(environ["HOME"], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = TOML.get(variant, TOML["plain"]) if name.endswith(".toml") else VARIANTS[variant](event)
        path.write_bytes(text.encode())
        path.chmod(0o640)


@pytest.mark.parametrize("variant", [*VARIANTS, "absent"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_wired_once_and_unwired_byte_for_byte(environ: dict[str, str], host: str, variant: str) -> None:
    if variant != "absent":
        lay(environ, host, variant)
    before = contents(environ)

    first = wiring.run(host, "install", environ)
    assert first["outcome"] == "installed", first
    wired = snapshot(environ)
    again = wiring.run(host, "install", environ)
    assert (again["outcome"], snapshot(environ)) == ("unchanged", wired)
    assert wiring.inspected(host, environ).installed
    assert list(wiring.troubles(environ)) == []
    gone = wiring.run(host, "uninstall", environ)

    assert gone["outcome"] == "removed"
    assert contents(environ) == before
    assert not wiring.inspected(host, environ).installed
    assert wiring.run(host, "uninstall", environ)["outcome"] == "absent"


@pytest.mark.parametrize("host", HOSTS)
def test_an_upgrade_is_taken_back_to_the_very_first_bytes(environ: dict[str, str], host: str) -> None:
    lay(environ, host, "comments")
    before = contents(environ)
    old = wiring.wired(host, environ, words=("/old/bin/noforgetti",))
    from noforgetti.hosts import plans

    plans.apply(plans.to_install(old.parts, old.records, str), old.records)
    assert contents(environ) != before

    assert wiring.run(host, "install", environ)["outcome"] == "upgraded"
    assert b"/old/bin" not in b"".join(contents(environ).values())
    wiring.run(host, "uninstall", environ)
    assert contents(environ) == before


@pytest.mark.parametrize("host", [one for one in HOSTS if one in SHARED])
def test_what_somebody_adds_afterwards_stays(environ: dict[str, str], host: str) -> None:
    lay(environ, host, "plain")
    wiring.run(host, "install", environ)
    name = next(iter(SHARED[host]))
    path = Path(environ["HOME"], name)
    text = path.read_text(encoding="utf-8")
    path.write_text("// added later\n" + text, encoding="utf-8")

    wiring.run(host, "uninstall", environ)

    assert path.read_text(encoding="utf-8") == "// added later\n" + plain(SHARED[host][name])


def test_a_block_that_the_user_changed_is_kept_and_told(environ: dict[str, str]) -> None:
    lay(environ, "windsurf", "plain")
    wiring.run("windsurf", "install", environ)
    path = Path(environ["HOME"], ".codeium/windsurf/mcp_config.json")
    changed = path.read_text(encoding="utf-8").replace('"mcp"', '"mcp", "--mine"')
    path.write_text(changed, encoding="utf-8")

    again = wiring.run("windsurf", "install", environ)
    gone = wiring.run("windsurf", "uninstall", environ)

    assert again["kept"] == gone["kept"] == [str(path)]
    assert path.read_text(encoding="utf-8") == changed


def test_a_file_that_is_torn_refuses_all_and_changes_nothing(environ: dict[str, str]) -> None:
    lay(environ, "codex", "plain")
    Path(environ["HOME"], ".codex/config.toml").write_text("[torn", encoding="utf-8")
    before = snapshot(environ)
    done = wiring.run("codex", "install", environ)
    assert (done["outcome"], snapshot(environ)) == ("refused", before)
    assert "config.toml" in done["reason"]


def test_a_dry_run_shows_the_change_with_secrets_masked_and_writes_nothing(environ: dict[str, str]) -> None:
    token = "ghp_" + "a8B3kq" * 6
    path = Path(environ["HOME"], ".codeium/windsurf/mcp_config.json")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"mcpServers": {"other": {"env": {"TOKEN": token}}}}, indent=2), encoding="utf-8")
    before = snapshot(environ)

    done = wiring.run("windsurf", "install", environ, dry=True)

    assert (done["outcome"], snapshot(environ)) == ("planned", before)
    assert "noforgetti" in done["steps"][0]["diff"]
    assert token not in json.dumps(done)


def test_a_link_is_followed_and_stays_a_link(environ: dict[str, str], tmp_path: Path) -> None:
    lay(environ, "cursor", "comments")
    path = Path(environ["HOME"], ".cursor/mcp.json")
    real = tmp_path / "dotfiles.json"
    path.rename(real)
    path.symlink_to(real)
    before = real.read_bytes()
    wiring.run("cursor", "install", environ)
    assert path.is_symlink()
    assert b"noforgetti" in real.read_bytes()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    wiring.run("cursor", "uninstall", environ)
    assert (path.is_symlink(), real.read_bytes()) == (True, before)


def test_what_is_written_says_what_codex_needs(environ: dict[str, str]) -> None:
    wiring.run("codex", "install", environ)
    table = tomllib.loads(Path(environ["HOME"], ".codex/config.toml").read_text(encoding="utf-8"))
    server = table["mcp_servers"]["noforgetti"]
    assert server["args"] == ["mcp"]
    assert Path(server["command"]).is_absolute()
    assert "NOFORGETTI_HOME" in server["env_vars"]
    hooks = json.loads(Path(environ["HOME"], ".codex/hooks.json").read_text(encoding="utf-8"))["hooks"]
    assert [hooks[event][0]["hooks"][0]["command"].rpartition(" hook ")[2] for event in hooks] == [
        f"codex {event}" for event in hooks
    ]


def test_two_installations_at_once_write_one(environ: dict[str, str]) -> None:
    program = f"{Path(sys.executable).parent}/noforgetti"
    running = [
        subprocess.Popen([program, "install", "codex"], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for one in running:
        one.communicate(timeout=60)
    assert [one.returncode for one in running] == [0, 0, 0, 0]
    hooks = json.loads(Path(environ["HOME"], ".codex/hooks.json").read_text(encoding="utf-8"))["hooks"]
    assert {len(groups) for groups in hooks.values()} == {1}
    wiring.run("codex", "uninstall", environ)
    assert contents(environ) == {}


_KEYS = st.text(max_size=6)
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_KEYS, _VALUE, max_size=4), st.sampled_from([None, 1, 2, "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_what_is_added_to_a_document_is_cut_out_again_to_the_byte(
    value: dict[str, Any], indent: int | str | None, newline: str
) -> None:
    text = json.dumps(value, indent=indent).replace("\n", newline)
    added = jsonc.add(text, ("noforgetti!",), {"command": ["a", 1]})
    assert jsonc.scan(added.text).value.keys() == {**value, "noforgetti!": None}.keys()
    assert jsonc.node_at(jsonc.scan(added.text), ("noforgetti!", "command")) is not None
    assert jsonc.cut(added.text, ("noforgetti!",), tight=bool(added.tight)) == text
