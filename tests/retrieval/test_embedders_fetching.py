"""Bringing a model from a hub, on loopback: whole or not at all, and in a bounded time when there is none."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

import pytest
from fake_hub import Hub, hub
from minilm import as_bge, encoder

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders.fetching import Fetched, fetch
from noforgetti.retrieval.embedders.local import LocalEmbedder
from noforgetti.retrieval.embedders.model_folder import DEFAULT, MANIFEST, folder_of, whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = [
    "config.json",
    "model_optimized.onnx",
    MANIFEST,
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
]


@pytest.fixture(scope="module")
def minilm() -> Path:
    """A real encoder's folder."""
    return encoder()


@pytest.fixture
def offered(minilm: Path, tmp_path: Path) -> Iterator[Hub]:
    """A hub that offers the encoder as bge-small-en-v1.5."""
    with hub(as_bge(minilm, tmp_path / "offered")) as it:
        yield it


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Where models are kept."""
    return tmp_path / "data" / "models"


def bring(models: Path, it: Hub, *, stall: float = 30.0, model: str = DEFAULT) -> Fetched:
    home = str(models.parent / "home")  # what the hub's library might write outside must not land in the user's
    return fetch(models, model, {**os.environ, "HF_ENDPOINT": it.url, "HF_HOME": home}, stall=stall)


def left(models: Path) -> list[str]:
    return sorted(path.name for path in models.iterdir() if path.name != ".lock")


def test_a_model_is_brought_whole_checked_and_usable(offered: Hub, models: Path) -> None:
    done = bring(models, offered)

    folder = folder_of(models, DEFAULT)
    assert (done.model, done.folder, done.fresh, left(models)) == (DEFAULT, folder, True, [folder.name])
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")) == FILES
    assert {path.stat().st_mode & 0o777 for path in (*folder.iterdir(), models / ".lock")} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in (folder, models, models.parent)} == {0o700}
    assert whole(folder)
    assert LocalEmbedder(folder, DEFAULT).embed(["it works"]).shape == (1, 384)


def test_a_model_that_is_here_is_not_asked_for_again(offered: Hub, models: Path) -> None:
    bring(models, offered)
    offered.asked.clear()

    done = bring(models, offered)

    assert (done.fresh, offered.asked) == (False, [])


def test_a_damaged_model_is_brought_anew(offered: Hub, models: Path) -> None:
    file = bring(models, offered).folder / "tokenizer.json"
    file.write_bytes(file.read_bytes().replace(b"the", b"eht", 1))

    assert bring(models, offered).fresh
    assert left(models) == [folder_of(models, DEFAULT).name]
    assert LocalEmbedder(folder_of(models, DEFAULT), DEFAULT).width == 384


def test_what_differs_from_the_hubs_promise_is_not_kept(offered: Hub, models: Path) -> None:
    offered.lie = "model_optimized.onnx"

    with pytest.raises(EmbeddingError, match="damaged `model_optimized") as caught:
        bring(models, offered)

    assert (caught.value.cause, left(models)) == ("bad-answer", [])


def test_what_comes_and_is_no_model_is_not_kept(offered: Hub, models: Path) -> None:
    (offered.folder / "model_optimized.onnx").write_bytes(b"not a model")

    with pytest.raises(EmbeddingError, match="cannot be loaded as a model"):
        bring(models, offered)

    assert left(models) == []


@pytest.mark.parametrize("status", [403, 500])
def test_a_refusal_is_one_sentence_with_its_status(offered: Hub, models: Path, status: int) -> None:
    offered.status = status

    with pytest.raises(EmbeddingError, match=f"refused it \\(status {status}\\)") as caught:
        bring(models, offered)

    assert (caught.value.cause, left(models)) == ("denied", [])


def test_a_hub_that_is_not_there_is_one_sentence(offered: Hub, models: Path) -> None:
    offered.url = "http://127.0.0.1:9"  # the discard port: nobody listens there

    with pytest.raises(EmbeddingError, match="cannot be reached") as caught:
        bring(models, offered)

    assert (caught.value.cause, left(models)) == ("unreachable", [])
    assert "\n" not in caught.value.message


def test_a_download_that_stands_still_is_given_up_and_leaves_nothing(offered: Hub, models: Path) -> None:
    offered.stuck = 15_000_000
    with pytest.raises(EmbeddingError, match="Nothing came from") as caught:
        bring(models, offered, stall=3.0)

    assert (caught.value.cause, left(models)) == ("timeout", [])


def test_what_a_killed_fetch_left_is_in_nobodys_way(offered: Hub, models: Path) -> None:
    (models / f".part-{folder_of(models, DEFAULT).name}" / ".cache").mkdir(parents=True)
    folder_of(models, DEFAULT).mkdir()

    assert bring(models, offered).fresh
    assert left(models) == [folder_of(models, DEFAULT).name]


def test_a_model_that_nobody_knows_is_refused_before_anything_is_asked(offered: Hub, models: Path) -> None:
    with pytest.raises(EmbeddingError, match="no model of this name") as caught:
        bring(models, offered, model="acme/no-such-model")

    assert (caught.value.cause, offered.asked, left(models)) == ("no-model", [], [])


def test_two_fetches_do_not_write_into_one_folder(offered: Hub, models: Path) -> None:
    models.mkdir(parents=True)
    with (models / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(EmbeddingError, match="Another process is fetching") as caught:
            bring(models, offered)

    assert (caught.value.cause, offered.asked) == ("busy", [])
