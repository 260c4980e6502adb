"""Real fastembed with a real encoder, from folders; never from a network."""

from __future__ import annotations

import json
import shutil
import socket
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from minilm import as_bge, encoder

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders import model_folder
from noforgetti.retrieval.embedders.local import LocalEmbedder
from noforgetti.retrieval.embedders.prefixes import prefixes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXTS = [
    "OIDC token refresh fails after an hour and users have to log in again, which support hears about every week",
    "Use tabs",
    "",
    "The office is closed on Mondays",
]


@pytest.fixture(scope="module")
def minilm() -> Path:
    """A real encoder's folder."""
    return encoder()


@pytest.fixture
def cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """No network: whoever asks for one fails the test."""

    def refuse(*arguments: Any, **named: Any) -> None:
        raise AssertionError("something asked the network")

    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("cut_off")
def test_a_folder_of_the_users_is_loaded_without_a_network(minilm: Path) -> None:
    model = LocalEmbedder(minilm)

    rows = model.embed(TEXTS)
    near = rows @ model.embed_query("login sessions expire too early")

    assert (rows.shape, str(rows.dtype), model.width) == ((4, 384), "float32", 384)
    assert np.round(np.linalg.norm(rows, axis=1), 5).tolist() == [1, 1, 0, 1]
    assert int(near.argmax()) == 0


def test_the_same_folder_is_loaded_a_second_time(minilm: Path) -> None:
    first, second = LocalEmbedder(minilm), LocalEmbedder(minilm)

    assert first.name == second.name
    assert np.array_equal(first.embed(TEXTS), second.embed(TEXTS))


def test_rows_come_in_the_order_of_the_texts_whatever_their_length(minilm: Path) -> None:
    model = LocalEmbedder(minilm)
    texts = [f"{'word ' * (number * 7 % 23)}number {number}" for number in range(40)]

    rows = model.embed(texts)

    # Weights of eight bits see a text's neighbours in its batch a little; another text is much farther away.
    assert [int((rows @ model.embed([text])[0]).argmax()) for text in texts] == list(range(40))


def test_another_model_file_is_another_name(minilm: Path, tmp_path: Path) -> None:
    other = tmp_path / minilm.name
    shutil.copytree(minilm, other)
    with (other / "model_int8.onnx").open("ab") as stream:
        stream.write(b"\x72\x00")  # an empty field at the end, which the runtime passes over

    assert LocalEmbedder(other).name != LocalEmbedder(minilm).name


@pytest.mark.usefixtures("cut_off")
def test_a_model_that_fastembed_knows_is_pooled_and_asked_as_it_wants(minilm: Path, tmp_path: Path) -> None:
    model = LocalEmbedder(as_bge(minilm, tmp_path / "bge"), model_folder.DEFAULT)

    assert model.name.startswith("local/bge-small-en-v1.5-")
    assert model.width == 384
    said = "Represent this sentence for searching relevant passages: token refresh"
    assert np.allclose(model.embed_query("token refresh"), model.embed([said])[0], atol=1e-6)
    assert not np.allclose(model.embed(["token"])[0], LocalEmbedder(minilm).embed(["token"])[0], atol=0.1)


def made_whole(minilm: Path, folder: Path) -> Path:
    as_bge(minilm, folder)
    (folder / model_folder.MANIFEST).write_text(json.dumps(model_folder.manifest(folder, model_folder.DEFAULT)))
    return folder


def test_a_fetched_folder_is_whole_and_loads(minilm: Path, tmp_path: Path) -> None:
    folder = made_whole(minilm, model_folder.folder_of(tmp_path, model_folder.DEFAULT))

    assert model_folder.whole(folder)
    assert model_folder.fetched(tmp_path) == (model_folder.DEFAULT,)
    assert LocalEmbedder(folder, model_folder.DEFAULT).width == 384


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("damage", "seen_at_once"),
    [
        (lambda folder: (folder / "model_optimized.onnx").unlink(), True),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), True),
        (lambda folder: (folder / model_folder.MANIFEST).write_text("{"), True),
        (lambda folder: (folder / model_folder.MANIFEST).write_text('{"files": []}'), True),
        (lambda folder: (folder / model_folder.MANIFEST).write_text("[]"), True),
        (lambda folder: flip(folder / "model_optimized.onnx"), False),
        (lambda folder: flip(folder / "tokenizer.json"), False),
    ],
)
def test_a_torn_folder_is_no_model(
    minilm: Path, tmp_path: Path, damage: Callable[[Path], object], *, seen_at_once: bool
) -> None:
    folder = made_whole(minilm, tmp_path / "bge")
    damage(folder)

    assert model_folder.whole(folder) is not seen_at_once
    with pytest.raises(EmbeddingError) as caught:
        LocalEmbedder(folder, model_folder.DEFAULT)
    assert caught.value.cause == "no-model"
    assert str(folder) in caught.value.message
    assert "noforgetti model fetch" in caught.value.hint


def no_width(folder: Path) -> None:
    (folder / "config.json").write_text("{}")


def no_runtime_model(folder: Path) -> None:
    (folder / "model_int8.onnx").write_bytes(b"no model at all")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda folder: (folder / "model_int8.onnx").unlink(), "none of `model_optimized.onnx`"),
        (no_width, "names no `hidden_size`"),
        (no_runtime_model, "cannot be used"),
        (lambda folder: (folder / "tokenizer_config.json").write_text("{}"), "cannot be used"),
        (shutil.rmtree, "there is no such folder"),
    ],
)
def test_a_users_folder_that_holds_no_model_is_named(
    minilm: Path, tmp_path: Path, damage: Callable[[Path], object], why: str
) -> None:
    folder = tmp_path / "own"
    shutil.copytree(minilm, folder)
    damage(folder)

    with pytest.raises(EmbeddingError, match=why) as caught:
        LocalEmbedder(folder)

    assert (caught.value.cause, str(folder) in caught.value.message) == ("no-model", True)
    assert "\n" not in caught.value.message


def test_without_fastembed_one_sentence_says_what_to_install(minilm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fastembed", None)

    with pytest.raises(EmbeddingError) as caught:
        LocalEmbedder(minilm)

    assert (caught.value.cause, "pip install fastembed" in caught.value.hint) == ("not-installed", True)


@pytest.mark.parametrize(
    ("model", "before"),
    [
        ("BAAI/bge-small-en-v1.5", ("Represent this sentence for searching relevant passages: ", "")),
        ("nomic-embed-text:latest", ("search_query: ", "search_document: ")),
        ("intfloat/multilingual-e5-large", ("query: ", "passage: ")),
        ("BAAI/bge-m3", ("", "")),
        ("text-embedding-3-small", ("", "")),
    ],
)
def test_models_get_the_words_they_were_trained_with(model: str, before: tuple[str, str]) -> None:
    assert prefixes(model) == before
