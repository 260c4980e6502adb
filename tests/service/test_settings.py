"""The one settings file: every key, and what becomes of values that cannot be meant."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, get_args

import pytest
from store.builders import opened

from noforgetti.model.entry import MAIN
from noforgetti.policy.capacity import Limits
from noforgetti.service.settings import BadSettings, EmbeddingSettings, Provider, Settings, load
from noforgetti.service.views import status_view

if TYPE_CHECKING:
    from pathlib import Path

ALL = """
worktrees = "shared"
submodules = "shared"
injection = "context"
ephemeral = false
lessons = "selective"
past_sessions = false
session_folders = ["~/other-sessions"]
recall_budget = 100
hook_budget = 900
telemetry = false
dream_hours = 6.5
preferences = false
worker_interval = 5
lesson_categories = { pentest = ["bug-bounty", "security"] }

[limits]
hard = 12000
entry = 1000

[review]
enabled = false
reviewer = "command"
command = ["pi", "-p"]
timeout = 60

[review.http]
api = "anthropic"
url = "http://127.0.0.1:1/v1"
model = "small"
key_env = "SOME_KEY"

[embedding]
type = "openai-compatible"
model = "small"
url = "http://127.0.0.1:1/v1"
key_env = "OTHER_KEY"
dimensions = 512
region = "eu-central-1"
profile = "work"
path = "~/models/own"
timeout = 5

[enforcement]
enabled = false
allowed = ["npm run a:b"]
"""


def written(tmp_path: Path, text: str | bytes) -> str:
    file = tmp_path / "config.toml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(file)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load(str(tmp_path / "none.toml")) == load(str(tmp_path / "no" / "folder")) == Settings()
    assert load(written(tmp_path, "")) == Settings()


def test_every_key_is_read(tmp_path: Path) -> None:
    assert asdict(load(written(tmp_path, ALL))) == {
        "worktrees": "shared",
        "submodules": "shared",
        "injection": "context",
        "ephemeral": False,
        "lessons": "selective",
        "lesson_categories": {"pentest": ("bug-bounty", "security")},
        "past_sessions": False,
        "session_folders": ("~/other-sessions",),
        "recall_budget": 100,
        "hook_budget": 900,
        "telemetry": False,
        "dream_hours": 6.5,
        "preferences": False,
        "worker_interval": 5,
        "limits": {"hard": 12_000, "entry": 1_000},
        "review": {
            "enabled": False,
            "reviewer": "command",
            "command": ("pi", "-p"),
            "timeout": 60,
            "http": {
                "api": "anthropic",
                "url": "http://127.0.0.1:1/v1",
                "model": "small",
                "key_env": "SOME_KEY",
            },
        },
        "embedding": {
            "type": "openai-compatible",
            "model": "small",
            "url": "http://127.0.0.1:1/v1",
            "key_env": "OTHER_KEY",
            "dimensions": 512,
            "region": "eu-central-1",
            "profile": "work",
            "path": "~/models/own",
            "timeout": 5,
        },
        "enforcement": {"enabled": False, "allowed": ("npm run a:b",)},
        "unknown": (),
    }


def test_the_example_above_leaves_no_key_at_its_default(tmp_path: Path) -> None:
    def leaves(value: Any, path: str = "") -> dict[str, Any]:
        if isinstance(value, dict):
            return {key: leaf for name, one in value.items() for key, leaf in leaves(one, f"{path}.{name}").items()}
        return {path: value}

    read, defaults = leaves(asdict(load(written(tmp_path, ALL)))), leaves(asdict(Settings()))
    assert [key for key, value in read.items() if value == defaults.get(key)] == [".unknown"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('worktrees = "both"', "`worktrees` is `both`"),
        ("submodules = true", "`submodules` is `True`"),
        ('injection = "prompt"', "`injection` is `prompt`"),
        ('ephemeral = "yes"', "`ephemeral` is `yes`"),
        ("ephemeral = 1", "`ephemeral` is `1`"),
        ("limits = 7", "`limits` is `7`"),
        ("dream_hours = 0.2", "`dream_hours` is `0.2`; it must be 0 (off), or between 0.5 and 24"),
        ("dream_hours = 25", "`dream_hours` is `25.0`; it must be between 0 and 24"),
        ("limits.hard = 599", "`limits.hard` is `599`"),
        ("limits.hard = 1000001", "`limits.hard` is `1000001`"),
        ("limits.hard = 6000.0", "`limits.hard` is `6000.0`"),
        ('limits.hard = "6000"', "`limits.hard` is `6000`"),
        ("limits.hard = true", "`limits.hard` is `True`"),
        ("limits.entry = 79", "`limits.entry` is `79`"),
        ("limits.entry = 100001", "`limits.entry` is `100001`"),
        ('review.enabled = "no"', "`review.enabled` is `no`"),
        ('review.reviewer = "gpt"', "`review.reviewer` is `gpt`"),
        ('review.command = "pi -p"', "`review.command` is `pi -p`"),
        ('review.command = ["pi", 7]', "`review.command.1` is `7`"),
        ("review.timeout = 0", "`review.timeout` is `0`"),
        ("review.timeout = 3601", "`review.timeout` is `3601`"),
        ('review.http.api = "other"', "`review.http.api` is `other`"),
        ("review.http.model = 5", "`review.http.model` is `5`"),
        ('lessons = "some"', "`lessons` is `some`"),
        ('lesson_categories = { sql = "database" }', "`lesson_categories.sql` is `database`"),
        ('past_sessions = "no"', "`past_sessions` is `no`"),
        ('session_folders = "~/x"', "`session_folders` is `~/x`"),
        ("recall_budget = 2001", "`recall_budget` is `2001`"),
        ("telemetry = 0", "`telemetry` is `0`"),
        ('embedding = "quantum"', "`embedding.type` is `quantum`"),
        ("embedding = true", "`embedding` is `True`"),
        ('embedding.type = "gpt"', "`embedding.type` is `gpt`"),
        ("embedding.dimensions = -1", "`embedding.dimensions` is `-1`"),
        ("embedding.dimensions = 8193", "`embedding.dimensions` is `8193`"),
        ("embedding.timeout = 0", "`embedding.timeout` is `0`"),
        ("embedding.timeout = 0.5", "`embedding.timeout` is `0.5`"),
        ('embedding.url = "127.0.0.1:8080"', "`embedding.url` is no address"),
        ('embedding.url = "file:///etc/passwd"', "`embedding.url` is no address"),
        ('embedding.url = "http://"', "`embedding.url` is no address"),
        ('embedding.url = "http://h:port/"', "`embedding.url` is no address"),
        ('embedding.url = "http://[::1/"', "`embedding.url` is no address"),
        ('embedding.url = "http://user:key@h/"', "`embedding.url` is no address"),
        ('embedding.url = "http://h/a b"', "`embedding.url` is no address"),
    ],
)
def test_a_value_that_cannot_be_meant_is_named(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(BadSettings) as caught:
        load(written(tmp_path, text))

    assert named in caught.value.message
    assert caught.value.message.endswith("Nothing was done.")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("kind", get_args(Provider))
def test_who_embeds_is_a_word_or_a_table(tmp_path: Path, kind: Provider) -> None:
    assert load(written(tmp_path, f'embedding = "{kind}"')).embedding == EmbeddingSettings(type=kind)
    assert load(written(tmp_path, f'[embedding]\ntype = "{kind}"')).embedding == EmbeddingSettings(type=kind)


def test_an_address_with_a_password_is_refused_without_showing_it(tmp_path: Path) -> None:
    with pytest.raises(BadSettings) as caught:
        load(written(tmp_path, 'embedding.url = "https://me:hush@h/v1"'))

    assert "hush" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    "text", ["worktrees", "a = 1\na = 2", "[review", b"\xff\xfe", b"\x00", "x = 2026-99-99", "[limits]\nhard = 1_"]
)
def test_a_file_that_is_no_toml_is_named_with_its_place(tmp_path: Path, text: str | bytes) -> None:
    path = written(tmp_path, text)

    with pytest.raises(BadSettings, match="it is not TOML") as caught:
        load(path)

    assert f"`{path}`" in caught.value.message


def test_a_folder_in_the_files_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="cannot be used: Is a directory"):
        load(str(tmp_path))


@pytest.mark.parametrize("text", ["\ufeff" + ALL, ALL.replace("\n", "\r\n")])
def test_what_editors_of_windows_write_is_read(tmp_path: Path, text: str) -> None:
    assert load(written(tmp_path, text)).limits.hard == 12_000


def test_unknown_keys_are_reported_and_otherwise_ignored(project: Path, home: Path) -> None:
    memory = opened(
        project,
        home,
        config="colour = 1\nreview.depth = 2\nreview.http.retries = 3\nlimits.soft = 4\n[future]\nx = 1\n",
    )

    assert memory.settings.unknown == ("colour", "future", "limits.soft", "review.depth", "review.http.retries")
    assert status_view(memory, MAIN)["degraded"] == [
        "unknown setting `colour`",
        "unknown setting `future`",
        "unknown setting `limits.soft`",
        "unknown setting `review.depth`",
        "unknown setting `review.http.retries`",
    ]
    memory.close()


@pytest.mark.parametrize(
    ("hard", "limits"),
    [
        (6_000, Limits(entry=800, goal=4_000, target=4_500, hard=6_000)),
        (600, Limits(entry=600, goal=400, target=450, hard=600)),
        (1_001, Limits(entry=800, goal=667, target=750, hard=1_001)),
        (1_000_000, Limits(entry=800, goal=666_666, target=750_000, hard=1_000_000)),
    ],
)
def test_goal_and_target_follow_the_hard_limit(project: Path, home: Path, hard: int, limits: Limits) -> None:
    memory = opened(project, home, config=f"limits.hard = {hard}")

    assert memory.limits == limits
    memory.close()


def test_an_entry_is_never_longer_than_the_memory(project: Path, home: Path) -> None:
    memory = opened(project, home, config="limits.hard = 1000\nlimits.entry = 5000")

    assert memory.limits.entry == 1_000
    memory.close()


@pytest.mark.parametrize("name", ["embedding.key_env", "review.http.key_env"])
def test_a_key_in_place_of_its_variables_name_is_refused_and_not_shown(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadSettings) as caught:
        load(written(tmp_path, f'{name} = "sk-abc-123"'))

    assert f"`{name}` is not the name of an environment variable" in caught.value.message
    assert "sk-abc" not in caught.value.message


def test_a_wrong_word_is_told_the_right_ones_and_a_wrong_type_by_its_name_in_toml(tmp_path: Path) -> None:
    def told(text: str) -> str:
        with pytest.raises(BadSettings) as caught:
            load(written(tmp_path, text))
        return caught.value.message.partition("cannot be used: ")[2]

    assert told('lessons = "some"') == "`lessons` is `some`; it must be one of `all`, `selective`. Nothing was done."
    assert told('telemetry = "no"') == "`telemetry` is `no`; expected true or false, got a text. Nothing was done."
