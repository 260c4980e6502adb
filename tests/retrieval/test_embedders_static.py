"""The shipped model: meaning without a download."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders.static import FOLDER, StaticEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def model() -> StaticEmbedder:
    return StaticEmbedder()


def test_a_row_a_text_of_length_one_and_zeros_for_nothing(model: StaticEmbedder) -> None:
    rows = model.embed(["use pnpm", "", "   \n", "\u200b", "日本語の設定", "x" * 100_000])

    assert (rows.shape, str(rows.dtype), model.width, model.name) == ((6, 256), "float32", 256, "static-256")
    assert np.round(np.linalg.norm(rows, axis=1), 5).tolist() == [1, 0, 0, 0, 1, 0]


def test_no_texts_make_no_rows(model: StaticEmbedder) -> None:
    assert model.embed([]).shape == (0, 256)


def test_other_words_for_the_same_are_nearer_than_other_matters(model: StaticEmbedder) -> None:
    texts = ["OIDC token refresh fails after an hour", "Use tabs in Makefiles", "The office is closed on Mondays"]

    near = model.embed(texts) @ model.embed_query("login sessions expire too early")

    assert int(near.argmax()) == 0


def test_a_query_is_embedded_as_a_text_is(model: StaticEmbedder) -> None:
    assert np.array_equal(model.embed_query("token refresh"), model.embed(["token refresh"])[0])


def test_a_text_alone_and_among_many_has_the_same_vector(model: StaticEmbedder) -> None:
    texts = [f"module {number} is built with pnpm and {'very ' * (number % 90)} quickly" for number in range(700)]
    texts[5] = texts[300] = ""

    together = model.embed(texts)
    alone = np.concatenate([model.embed([text]) for text in texts])

    assert np.allclose(together, alone, atol=1e-6)


def test_words_have_vectors_of_their_own(model: StaticEmbedder) -> None:
    rows = model.word_vectors(["database", "sql", "holiday"])

    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_half_a_surrogate_pair_is_a_text_like_another(model: StaticEmbedder) -> None:
    assert np.isfinite(model.embed(["broken \ud83d emoji"])).all()


def test_words_after_the_512th_piece_do_not_count(model: StaticEmbedder) -> None:
    long = "word " * 512

    assert np.array_equal(model.embed([long]), model.embed([long + "database"]))


def cut_off(folder: Path) -> None:
    (folder / "int8.npz").write_bytes((folder / "int8.npz").read_bytes()[:100_000])


def other_rows(folder: Path) -> None:
    np.savez(folder / "int8.npz", rows=np.ones((7, 256), np.int8), scale=np.ones((7, 1), np.float16))


def no_scale(folder: Path) -> None:
    np.savez(folder / "int8.npz", rows=np.ones((7, 256), np.int8))


def damaged_rows(folder: Path) -> None:
    data = bytearray((folder / "int8.npz").read_bytes())
    data[3_000_000:3_000_100] = bytes(100)
    (folder / "int8.npz").write_bytes(bytes(data))


@pytest.mark.parametrize(
    "damage",
    [
        cut_off,
        other_rows,
        no_scale,
        damaged_rows,
        lambda folder: (folder / "int8.npz").unlink(),
        lambda folder: (folder / "int8.npz").write_bytes(b""),
        lambda folder: (folder / "tokenizer.json").write_text("{}"),
        lambda folder: (folder / "tokenizer.json").write_bytes(b"\xff"),
        lambda folder: (folder / "tokenizer.json").unlink(),
    ],
)
def test_a_damaged_model_is_named_with_its_folder(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    folder = tmp_path / "model"
    shutil.copytree(FOLDER, folder)
    damage(folder)

    with pytest.raises(EmbeddingError) as caught:
        StaticEmbedder(folder)

    assert caught.value.cause == "no-model"
    assert str(folder) in caught.value.message
    assert "\n" not in caught.value.message


def test_the_model_is_small_and_says_where_it_is_from() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 8_000_000
    assert "Apache License" in (FOLDER / "NOTICE").read_text()
    with zipfile.ZipFile(FOLDER / "int8.npz") as stored:
        assert stored.testzip() is None


def test_naming_the_module_loads_neither_tokenizers_nor_a_model() -> None:
    look = (
        "import sys; import noforgetti.retrieval.embedders.static, noforgetti.service.embedding;"
        "print([name for name in ('tokenizers', 'fastembed', 'onnxruntime', 'boto3') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
