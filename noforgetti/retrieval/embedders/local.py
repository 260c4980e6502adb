"""A real sentence encoder on this machine, through fastembed, from a folder that is there. Never downloads.

fastembed and its runtime are imported when an embedder is made: half a second and some 150 MB that nobody else pays.
It is always told the folder (`specific_model_path`): left to find a model by itself it asks the network, and without
one that takes 39 seconds and three error messages.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders.model_folder import broken, verify
from noforgetti.retrieval.embedders.prefixes import prefixes
from noforgetti.retrieval.embedders.rows import checked, of_content

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from noforgetti.retrieval.base import Floats

_THREADS = 2  # a search must not take the machine away from whoever is working at it
_BATCH = 16  # texts at a time, sorted by length: 2 to 3 times faster than the library's 256, with less memory
_FILES = ("model_optimized.onnx", "model.onnx", "onnx/model.onnx", "model_int8.onnx", "model_quantized.onnx",
          "onnx/model_quantized.onnx", "onnx/model_int8.onnx")  # fmt: skip
_ENDS = 65_536  # bytes at both ends of a model file that tell it from another


class LocalEmbedder:
    """The model in `folder`. `model` is its name where fastembed knows it; else the folder's own files say what it is.

    Raises `EmbeddingError`: `not-installed`, `no-model` (missing, torn, or no sentence encoder).
    """

    quick = False

    def __init__(self, folder: Path, model: str = "") -> None:
        try:
            import fastembed  # noqa: F401
        except ImportError as error:
            raise EmbeddingError(
                "not-installed",
                f"The library for local models cannot be loaded ({error}).",
                'install it with `pip install fastembed`, or set `embedding = "static"`',
            ) from None
        verify(folder)
        self._query, self._text = prefixes(model or folder.name)
        try:
            self._model, self.name, self.width = _loaded(folder, model)
        except EmbeddingError:
            raise
        except Exception as error:  # the runtime has dozens of its own; each means: not usable
            raise broken(folder, f"{type(error).__name__}") from error

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row a text, the model's first 256 to 512 word pieces of it. Raises `EmbeddingError`."""
        return of_content(texts, self.width, lambda full: self._run([self._text + text for text in full]))

    def embed_query(self, text: str) -> Floats:
        """The vector of a query. Raises `EmbeddingError`."""
        row: Floats = of_content([text], self.width, lambda full: self._run([self._query + one for one in full]))[0]
        return row

    def _run(self, texts: list[str]) -> Floats:
        import numpy as np

        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        try:
            made = list(self._model.embed([texts[number] for number in order], batch_size=_BATCH, parallel=None))
        except Exception as error:  # as above
            raise EmbeddingError(
                "failing",
                f"The local model `{self.name}` could not embed ({type(error).__name__}).",
                'run `noforgetti model fetch` again, or set `embedding = "static"`',
            ) from error
        rows = checked(made, count=len(texts), width=self.width, model=self.name)
        sorted_back = np.empty_like(rows)
        sorted_back[order] = rows
        return sorted_back


def _loaded(folder: Path, model: str) -> tuple[Any, str, int]:
    """fastembed's model, the name that vectors are kept by, and their width."""
    from fastembed import TextEmbedding

    known = {one["model"].lower(): one for one in TextEmbedding.list_supported_models()}
    about = known.get(model.lower())
    if about is not None and (folder / about["model_file"]).is_file():
        file, registered, width = about["model_file"], about["model"], about["dim"]
    else:
        file, registered, width = _registered(folder)
    loaded = TextEmbedding(
        registered,
        specific_model_path=str(folder),
        threads=_THREADS,
        local_files_only=True,
        providers=["CPUExecutionProvider"],
    )
    title = model.rpartition("/")[2] or folder.name
    return loaded, f"local/{title}-{_identity(folder / file)}", width


def _registered(folder: Path) -> tuple[str, str, int]:
    """Describe a model that fastembed does not know to it; answers the model's file, its name there, and the width."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    file = next((name for name in _FILES if (folder / name).is_file()), None)
    if file is None:
        raise broken(folder, f"none of {', '.join(f'`{name}`' for name in _FILES[:3])} is in it")
    try:
        width = int(json.loads((folder / "config.json").read_bytes())["hidden_size"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise broken(folder, "its `config.json` names no `hidden_size`") from error
    pooling = PoolingType.CLS if _by_first_token(folder) else PoolingType.MEAN
    name = f"local/{_identity(folder / file)}-{pooling.value.lower()}-{width}"
    with suppress(ValueError):  # registered by this process before, and the name says that it is the same model
        TextEmbedding.add_custom_model(
            model=name,
            pooling=pooling,
            normalization=True,
            sources=ModelSource(hf="local/none"),
            dim=width,
            model_file=file,
        )
    return file, name, width


def _by_first_token(folder: Path) -> bool:
    """Does the model's own description say that the first token stands for the text? Else it is the mean of all."""
    try:
        said = json.loads((folder / "1_Pooling" / "config.json").read_bytes())
        return bool(said["pooling_mode_cls_token"])
    except (OSError, ValueError, KeyError, TypeError):
        return "bge-" in folder.name.lower()


def _identity(file: Path) -> str:
    """Eight hex digits that differ for another model file: from its size and both ends, for speed."""
    size = file.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with file.open("rb") as stream:
        digest.update(stream.read(_ENDS))
        stream.seek(max(0, size - _ENDS))
        digest.update(stream.read(_ENDS))
    return digest.hexdigest()[:8]
