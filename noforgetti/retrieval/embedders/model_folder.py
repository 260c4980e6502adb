"""A folder with a local model: where it is, what belongs into it, and whether it is whole. Imports nothing heavy."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from noforgetti.retrieval.base import EmbeddingError

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT = "BAAI/bge-small-en-v1.5"  # 384 dimensions, 67 MB; the reference systems' model
MANIFEST = "noforgetti.json"  # written last by a fetch: names every file, its size and its hash


def folder_of(models: Path, model: str) -> Path:
    """Where the fetched model of this name is, or would be, below the folder of models."""
    return models / model.replace("/", "--")


def fetched(models: Path) -> tuple[str, ...]:
    """Names of the models that are here whole."""
    try:
        folders = sorted(path for path in models.iterdir() if not path.name.startswith("."))
    except OSError:
        return ()
    return tuple(path.name.replace("--", "/") for path in folders if whole(path))


def whole(folder: Path) -> bool:
    """Is a fetched model here, as far as its files' sizes say? Cheap; loading compares their hashes too."""
    try:
        files = json.loads((folder / MANIFEST).read_bytes())["files"]
        return bool(files) and all(os.path.getsize(folder / name) == one["size"] for name, one in files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def manifest(folder: Path, model: str) -> dict[str, Any]:
    """What a fetched folder should hold: every file that is in it now."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {
        "model": model,
        "files": {
            path.relative_to(folder).as_posix(): {"size": path.stat().st_size, "sha256": sha256(path)} for path in files
        },
    }


def broken(folder: Path, why: str) -> EmbeddingError:
    """There is no usable model in `folder`."""
    return EmbeddingError(
        "no-model",
        f"The model in `{folder}` cannot be used: {why}.",
        "run `noforgetti model fetch`, or correct `embedding.path`",
    )


def verify(folder: Path) -> None:
    """Compare a fetched model with its manifest. Raises `EmbeddingError` (`no-model`)."""
    if not folder.is_dir():
        raise broken(folder, "there is no such folder")
    if not (folder / MANIFEST).exists():
        return  # the user's own folder: the runtime will say
    if not whole(folder):
        raise broken(folder, "files of it are missing or cut off")
    for name, one in json.loads((folder / MANIFEST).read_bytes())["files"].items():
        if sha256(folder / name) != one.get("sha256"):
            raise broken(folder, f"`{name}` is damaged")


def sha256(file: Path) -> str:
    """Hex digest of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
