"""Which embedder a process uses, and what becomes of one that fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from minilm import as_bge, encoder
from store.builders import Clock

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders import model_folder
from noforgetti.retrieval.embedders.http import HttpEmbedder
from noforgetti.service.embedding import BACK_OFF, Embedding, choose, models
from noforgetti.service.places import Places, places
from noforgetti.service.settings import EmbeddingSettings

if TYPE_CHECKING:
    from pathlib import Path

UNREACHABLE = EmbeddingError("unreachable", "The provider cannot be reached.", "start it")


@pytest.fixture
def where(home: Path) -> Places:
    """Places below a home of its own."""
    return places({"NOFORGETTI_HOME": str(home)})


@pytest.fixture(scope="module")
def minilm() -> Path:
    """A real encoder's folder."""
    return encoder()


def fetched(minilm: Path, where: Places) -> Path:
    """As `model fetch` would leave it."""
    folder = as_bge(minilm, model_folder.folder_of(models(where), model_folder.DEFAULT))
    (folder / model_folder.MANIFEST).write_text(json.dumps(model_folder.manifest(folder, model_folder.DEFAULT)))
    return folder


def embedding(where: Places, clock: Clock | None = None, /, **settings: Any) -> Embedding:
    return Embedding(EmbeddingSettings(**settings), where, {}, clock=clock or Clock())


def test_without_a_fetched_model_the_shipped_one_is_used(where: Places) -> None:
    one = embedding(where)
    before = one.view()

    found = one.embedder()

    assert found is not None
    assert found is one.embedder()
    assert before == {
        "state": "ready",
        "model": "static-256",
        "width": 0,
        "loaded": False,
        "reason": "",
        "hint": "",
        "notes": [],
    }
    assert one.view() == before | {"width": 256, "loaded": True}
    assert one.take_notice() == ""


def test_a_fetched_model_is_used_by_itself(where: Places, minilm: Path) -> None:
    fetched(minilm, where)
    one = embedding(where)

    assert one.view()["model"] == "local/BAAI/bge-small-en-v1.5"
    found = one.embedder()
    assert found is not None
    assert (found.width, found.name.startswith("local/bge-small-en-v1.5-")) == (384, True)


def test_a_torn_model_is_told_once_and_the_shipped_one_used(where: Places, minilm: Path) -> None:
    folder = fetched(minilm, where)
    file = folder / "tokenizer.json"
    file.write_bytes(file.read_bytes().replace(b"the", b"eht", 1))  # its size tells nothing
    one = embedding(where)

    found = one.embedder()

    assert found is not None
    assert found.name == "static-256"
    told = one.take_notice()
    assert "`tokenizer.json` is damaged" in told
    assert "noforgetti model fetch" in told
    assert (one.take_notice(), one.view()["state"], one.view()["notes"]) == ("", "ready", [told])


def test_off_is_nobody_and_no_trouble(where: Places) -> None:
    one = embedding(where, type="off")

    assert one.embedder() is None
    assert (one.view()["state"], one.view()["reason"], one.take_notice()) == ("off", "", "")
    assert choose(EmbeddingSettings(type="off"), where, {}) is None


def test_a_local_model_that_was_never_fetched_is_absent_before_and_after_use(where: Places) -> None:
    one = embedding(where, type="local")
    before = one.view()

    assert one.embedder() is None
    assert one.view() == before
    assert (before["state"], before["reason"]) == (
        "absent",
        "The local model `BAAI/bge-small-en-v1.5` is not on this machine.",
    )
    assert "noforgetti model fetch" in before["hint"]
    assert one.take_notice() == (
        "Search goes by words alone: The local model `BAAI/bge-small-en-v1.5` is not on this machine. "
        "Fix: run `noforgetti model fetch`, or set `embedding.path` to a folder with a model."
    )


def test_a_folder_of_the_users_is_used(where: Places, minilm: Path, tmp_path: Path) -> None:
    shutil.copytree(minilm, tmp_path / "models" / "own")
    settings = EmbeddingSettings(type="local", path="~/models/own")

    found = choose(settings, where, {"HOME": str(tmp_path)})

    assert found is not None
    assert (found.width, found.name.startswith("local/own-")) == (384, True)


@pytest.mark.parametrize(
    ("settings", "environ", "cause", "message"),
    [
        ({"type": "openai"}, {}, "no-key", "`OPENAI_API_KEY`, which is not set"),
        ({"type": "openai"}, {"OPENAI_API_KEY": " "}, "no-key", "`OPENAI_API_KEY`, which is not set"),
        ({"type": "mistral"}, {}, "no-key", "`MISTRAL_API_KEY`, which is not set"),
        ({"type": "mistral", "key_env": "MINE"}, {"MISTRAL_API_KEY": "k"}, "no-key", "`MINE`, which is not set"),
        ({"type": "openai"}, {"OPENAI_API_KEY": "sec\nret"}, "no-key", "characters that no key has"),
        ({"type": "openai-compatible", "model": "m"}, {}, "not-set-up", "`openai-compatible` has no url"),
        ({"type": "openai-compatible", "url": "http://h"}, {}, "not-set-up", "`openai-compatible` has no model"),
        ({"type": "local", "path": "/no/such/folder"}, {}, "no-model", "there is no such folder"),
    ],
)
def test_what_is_missing_is_named_with_its_fix(
    where: Places, settings: dict[str, Any], environ: dict[str, str], cause: str, message: str
) -> None:
    one = Embedding(EmbeddingSettings(**settings), where, environ, clock=Clock())

    assert one.embedder() is None
    with pytest.raises(EmbeddingError, match=message) as caught:
        choose(EmbeddingSettings(**settings), where, environ)
    assert (caught.value.cause, "ret" in caught.value.message.split()) == (cause, False)
    assert (one.view()["state"], one.view()["reason"]) == ("absent", caught.value.message)
    assert one.view()["hint"] == caught.value.hint


@pytest.mark.parametrize(
    ("settings", "environ", "name", "url", "key"),
    [
        ({"type": "ollama"}, {}, "ollama/nomic-embed-text", "http://127.0.0.1:11434", ""),
        (
            {"type": "openai"},
            {"OPENAI_API_KEY": "k1"},
            "openai/text-embedding-3-small",
            "https://api.openai.com/v1",
            "k1",
        ),
        ({"type": "mistral"}, {"MISTRAL_API_KEY": "k2"}, "mistral/mistral-embed", "https://api.mistral.ai/v1", "k2"),
        (
            {"type": "openai-compatible", "url": "http://box:8080/v1", "model": "m", "key_env": "K", "dimensions": 64},
            {"K": "k3", "OPENAI_API_KEY": "k1"},
            "openai-compatible/box:8080/m@64",
            "http://box:8080/v1",
            "k3",
        ),
        (
            {"type": "openai-compatible", "url": "http://box:8080/v1", "model": "m"},
            {"OPENAI_API_KEY": "k1"},
            "openai-compatible/box:8080/m",
            "http://box:8080/v1",
            "",
        ),
    ],
)
def test_providers_have_defaults_and_a_key_goes_only_where_it_belongs(
    where: Places, settings: dict[str, Any], environ: dict[str, str], name: str, url: str, key: str
) -> None:
    found = choose(EmbeddingSettings(**settings, timeout=3), where, environ)

    assert isinstance(found, HttpEmbedder)
    assert (found.name, found.url, found.key, found.timeout, found.proxies) == (name, url, key, 3, {})


@pytest.mark.parametrize(
    ("url", "environ", "proxies"),
    [
        ("https://h/v1", {"https_proxy": "http://p:1", "HTTPS_PROXY": "http://q:1"}, {"https": "http://p:1"}),
        ("https://h/v1", {"HTTPS_PROXY": "http://q:1"}, {"https": "http://q:1"}),
        ("http://h/v1", {"http_proxy": "http://p:1"}, {"http": "http://p:1"}),
        ("http://h/v1", {"HTTP_PROXY": "http://p:1"}, {}),
        ("http://127.0.0.1:8/v1", {"http_proxy": "http://p:1"}, {}),
        ("http://localhost:8/v1", {"http_proxy": "http://p:1"}, {}),
    ],
)
def test_a_proxy_is_used_for_other_machines(
    where: Places, url: str, environ: dict[str, str], proxies: dict[str, str]
) -> None:
    found = choose(EmbeddingSettings(type="openai-compatible", url=url, model="m"), where, environ)

    assert isinstance(found, HttpEmbedder)
    assert found.proxies == proxies


def test_after_a_failure_nobody_is_asked_for_a_minute_and_then_again(where: Places) -> None:
    clock = Clock()
    one = embedding(where, clock, type="ollama")
    found = one.embedder()

    one.failed(UNREACHABLE)

    assert (one.embedder(), one.available_now) == (None, False)
    assert one.view() | {"notes": []} == {
        "state": "degraded",
        "model": "ollama/nomic-embed-text",
        "width": 0,
        "loaded": True,
        "reason": "The provider cannot be reached.",
        "hint": "start it",
        "notes": [],
    }
    clock.now += BACK_OFF - 1
    assert one.embedder() is None
    clock.now += 1
    assert one.embedder() is found
    assert (one.view()["state"], one.view()["reason"]) == ("ready", "")


def test_the_first_failure_of_each_kind_is_told_once(where: Places) -> None:
    one = embedding(where, type="ollama")
    told = []
    for cause in ("unreachable", "unreachable", "no-model", "unreachable"):
        one.failed(EmbeddingError(cause, f"It is {cause}.", "mend it"))
        told.append(one.take_notice())

    assert told == [
        "Search goes by words alone: It is unreachable. Fix: mend it.",
        "",
        "Search goes by words alone: It is no-model. Fix: mend it.",
        "",
    ]


def test_notes_are_told_once_and_the_last_ones_kept(where: Places) -> None:
    one = embedding(where)
    for number in range(7):
        one.note(f"recall failed: {number}")
    one.note("the index cannot be kept up: 7")

    assert one.take_notice() == "recall failed: 0 the index cannot be kept up: 7"
    assert one.take_notice() == ""
    assert one.view()["notes"] == [
        "recall failed: 3",
        "recall failed: 4",
        "recall failed: 5",
        "recall failed: 6",
        "the index cannot be kept up: 7",
    ]


def test_threads_that_come_together_load_one_embedder(where: Places) -> None:
    one = embedding(where)
    gate = threading.Barrier(4)
    found: list[object] = []

    def ask() -> None:
        gate.wait()
        found.append(one.embedder())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 4
    assert len({id(embedder) for embedder in found}) == 1


def test_warming_loads_beside_the_caller(where: Places) -> None:
    one = embedding(where)
    before = one.available_now

    one.warm()
    for thread in threading.enumerate():
        if thread.name == "noforgetti-model":
            thread.join()

    assert (before, one.available_now) == (False, True)


def test_a_trial_answers_the_time_or_the_trouble(where: Places) -> None:
    good, bad = embedding(where), embedding(where, type="ollama", url="http://127.0.0.1:9")

    assert (good.try_out() or 0) > 0
    assert bad.try_out() is None
    assert (bad.view()["state"], "cannot be reached" in bad.view()["reason"]) == ("degraded", True)


def test_a_look_at_the_state_loads_nothing_heavy(home: Path) -> None:
    look = (
        "import sys\n"
        "from noforgetti.service.embedding import Embedding\n"
        "from noforgetti.service.places import places\n"
        "from noforgetti.service.settings import EmbeddingSettings\n"
        "for type in ('auto', 'off', 'static', 'local', 'ollama', 'bedrock'):\n"
        f"    Embedding(EmbeddingSettings(type=type), places({{'NOFORGETTI_HOME': {str(home)!r}}}), {{}}).view()\n"
        "print([name for name in ('numpy', 'tokenizers', 'fastembed', 'boto3', 'http.client') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
