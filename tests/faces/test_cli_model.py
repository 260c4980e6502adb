"""`model fetch` and `model status`, as a user meets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fake_hub import hub
from minilm import as_bge, encoder

if TYPE_CHECKING:
    from pathlib import Path

    from faces.conftest import CommandLine


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a hub would offer as bge-small-en-v1.5."""
    return as_bge(encoder(), tmp_path_factory.mktemp("hub") / "offered")


def configured(nf: CommandLine, text: str) -> None:
    nf.home.mkdir(exist_ok=True)
    (nf.home / "config.toml").write_text(text)


def test_a_newcomer_has_the_shipped_model(nf: CommandLine) -> None:
    doc = nf.json("model", "status", "--try")

    took = doc.pop("milliseconds")
    assert took > 0
    assert doc == {
        "type": "auto",
        "state": "ready",
        "model": "static-256",
        "width": 256,
        "loaded": True,
        "reason": "",
        "hint": "",
        "notes": [],
        "fetched": [],
        "folder": str(nf.home / "data" / "models"),
    }


def test_status_needs_no_project_and_makes_nothing(nf: CommandLine, tmp_path: Path) -> None:
    nf.monkeypatch.chdir(tmp_path)

    done = nf("model", "status")

    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        "embedding    auto",
        "state        ready",
        "model        static-256",
        "fetched      nothing",
        f"folder       {nf.home}/data/models",
    ]
    assert not nf.home.exists()


def test_a_fetched_model_is_the_one_in_use(nf: CommandLine, offered: Path, tmp_path: Path) -> None:
    with hub(offered) as it:
        nf.monkeypatch.setenv("HF_ENDPOINT", it.url)
        nf.monkeypatch.setenv("HF_HOME", str(tmp_path / "hub-home"))
        first, second = nf("model", "fetch"), nf.json("model", "fetch")

    folder = nf.home / "data" / "models" / "BAAI--bge-small-en-v1.5"
    assert first.out.splitlines() == [
        f"Fetched BAAI/bge-small-en-v1.5, 24 MB, in {folder}.",
        "Hosts that run now use it from their next start.",
    ]
    assert (first.status, first.err) == (0, "")
    assert {key: second[key] for key in ("outcome", "model", "folder", "used")} == {
        "outcome": "present",
        "model": "BAAI/bge-small-en-v1.5",
        "folder": str(folder),
        "used": True,
    }
    status = nf.json("model", "status", "--try")
    assert (status["state"], status["width"], status["fetched"]) == ("ready", 384, ["BAAI/bge-small-en-v1.5"])
    assert status["model"].startswith("local/bge-small-en-v1.5-")
    configured(nf, 'embedding = "static"')
    assert "The settings name another model" in nf("model", "fetch").out


def test_without_a_network_a_fetch_is_one_sentence_and_status_1(nf: CommandLine) -> None:
    nf.monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    done = nf("model", "fetch")

    assert (done.status, done.out) == (1, "")
    sentence, hint = done.err.splitlines()
    assert sentence == (
        "The model `BAAI/bge-small-en-v1.5` was not fetched: `http://127.0.0.1:9` cannot be reached "
        "(ConnectionRefusedError)."
    )
    assert hint == (
        "Hint: check the network, or set `embedding.path` to a folder with a model; search goes on without it"
    )
    assert not (nf.home / "data" / "models" / "BAAI--bge-small-en-v1.5").exists()


def test_the_data_folder_that_cannot_be_written_is_one_sentence(nf: CommandLine) -> None:
    nf.home.mkdir()
    (nf.home / "data").write_text("a file")

    done = nf("model", "fetch")

    assert (done.status, done.out, len(done.err.splitlines())) == (1, "", 2)
    assert "Not a directory" in done.err or "File exists" in done.err


@pytest.mark.parametrize(
    ("config", "state", "reason"),
    [
        ('embedding = "off"', "off", ""),
        ('embedding = "local"', "absent", "The local model `BAAI/bge-small-en-v1.5` is not on this machine."),
        (
            '[embedding]\ntype = "ollama"\nurl = "http://127.0.0.1:9"',
            "degraded",
            "The embedding provider `ollama` at `http://127.0.0.1:9` cannot be reached: Connection refused.",
        ),
        (
            '[embedding]\ntype = "openai"\nkey_env = "NO_SUCH_KEY"',
            "absent",
            "The embedding provider's key is read from `NO_SUCH_KEY`, which is not set.",
        ),
    ],
)
def test_a_trial_says_what_is_wrong(nf: CommandLine, config: str, state: str, reason: str) -> None:
    configured(nf, config)

    done = nf("--json", "model", "status", "--try")

    found: dict[str, Any] = done.doc
    assert (found["state"], found["reason"], bool(found["hint"])) == (state, reason, True)
    assert done.status == (0 if state == "off" else 1)


def test_a_bad_setting_stops_it_like_any_command(nf: CommandLine) -> None:
    configured(nf, 'embedding = "quantum"')

    done = nf("model", "status")

    assert done.status == 1
    assert "`embedding.type` is `quantum`" in done.err
