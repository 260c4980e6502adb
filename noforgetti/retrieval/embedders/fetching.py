"""Bringing a local model to this machine: the one path that downloads, and only when a user says so.

The download runs in a process of its own, because the library that does it cannot be called off, retries for long, and
prints. It works in a folder beside the model's own, checks what came, tries the model once, and names every file in a
manifest; then the folder is renamed. So a model is there whole or not at all. A connection that drops is taken up where
it was; a fetch that was given up begins anew.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from noforgetti.retrieval.base import EmbeddingError
from noforgetti.retrieval.embedders import model_folder
from noforgetti.store import folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STALL = 30.0  # seconds without one more byte after which a download is given up
_LOOK = 0.1  # seconds between two looks at it
_HUB = "https://huggingface.co"
_COMMON = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A model that is here. `fresh`: it was not before."""

    model: str
    folder: Path
    size: int  # bytes
    fresh: bool


def fetch(models: Path, model: str, environ: Mapping[str, str], *, stall: float = STALL) -> Fetched:
    """Bring `model`, one that fastembed knows, into a folder below `models`; does nothing when it is there whole.

    Raises `EmbeddingError` when it cannot be had; then nothing under its name has changed.
    """
    folder = model_folder.folder_of(models, model)
    part = models / f".part-{folder.name}"
    folders.make(str(models))
    with _alone(models) as lock:
        if _sound(folder):
            return Fetched(model, folder, _size(folder), fresh=False)
        shutil.rmtree(part, ignore_errors=True)  # of a fetch that was killed
        try:
            _run(part, model, environ, stall, lock)
            _swap(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return Fetched(model, folder, _size(folder), fresh=True)


@contextmanager
def _alone(models: Path) -> Iterator[int]:
    """One fetch at a time: two would write into one folder."""
    with open(models / ".lock", "w", opener=folders.private) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EmbeddingError(
                "busy", "Another process is fetching a model. Nothing was fetched.", "wait until it has finished"
            ) from None
        yield lock.fileno()


def _sound(folder: Path) -> bool:
    try:
        if model_folder.whole(folder):
            model_folder.verify(folder)
            return True
    except EmbeddingError:
        pass
    return False


def _swap(part: Path, folder: Path) -> None:
    """Put the new folder in the place of the old one, if there is one."""
    old = part.with_name(f".old-{folder.name}")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    part.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# ---- the parent's side


def _run(part: Path, model: str, environ: Mapping[str, str], stall: float, lock: int) -> None:
    """Download in a child, and end it when nothing comes any more. It shares the lock: should this process be killed,
    nobody else writes into the folder before the child has ended too."""
    quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_XET": "1"}
    command = [sys.executable, "-P", "-m", "noforgetti.retrieval.embedders.fetching", str(part), model]
    hub = environ.get("HF_ENDPOINT", "") or _HUB
    with subprocess.Popen(
        command,
        env={**environ, **quiet},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock,),
    ) as child:
        try:
            if not _ended(child, part, stall):
                raise EmbeddingError(
                    "timeout",
                    f"Nothing came from `{hub}` for {stall:g} seconds; the model `{model}` was not fetched.",
                    "check the network or the proxy, and run it again",
                )
        finally:
            child.kill()
        assert child.stdout is not None
        said = child.stdout.read()
    try:
        answer = json.loads(said.splitlines()[-1])
    except (ValueError, IndexError):
        answer = {"trouble": "its process ended", "kind": "failed"}
    if answer != {}:
        raise _failure(model, hub, answer)


def _ended(child: subprocess.Popen[bytes], part: Path, stall: float) -> bool:
    seen, since = -1, time.monotonic()
    while True:
        try:
            child.wait(_LOOK)
        except subprocess.TimeoutExpired:
            pass
        else:
            return True
        now = _written(part)
        if now != seen:
            seen, since = now, time.monotonic()
        elif time.monotonic() - since > stall:
            return False


def _written(part: Path) -> int:
    try:
        return _size(part)
    except OSError:
        return 0  # a file was renamed while we looked


def _failure(model: str, hub: str, answer: Mapping[str, str]) -> EmbeddingError:
    kind, trouble = answer.get("kind", ""), answer.get("trouble", "")
    not_done = f"The model `{model}` was not fetched"
    match kind:
        case "unknown":
            known = f"choose one such as `{model_folder.DEFAULT}`"
            return EmbeddingError("no-model", f"{not_done}: fastembed knows no model of this name.", known)
        case "disk":
            return EmbeddingError("disk", f"{not_done}: {trouble}.", "free space or check the permissions")
        case "damaged":
            return EmbeddingError("bad-answer", f"{not_done}: what came from `{hub}` {trouble}.", "run it again")
        case "offline":
            return EmbeddingError("unreachable", f"{not_done}: HF_HUB_OFFLINE forbids it.", "unset HF_HUB_OFFLINE")
        case "refused":
            return EmbeddingError(
                "denied", f"{not_done}: `{hub}` refused it ({trouble}).", "check HF_ENDPOINT or the proxy"
            )
        case "unreachable":
            return EmbeddingError(
                "unreachable",
                f"{not_done}: `{hub}` cannot be reached ({trouble}).",
                "check the network, or set `embedding.path` to a folder with a model; search goes on without it",
            )
    return EmbeddingError("failing", f"{not_done}: {trouble}.", "run it again")


# ---- the child's side


def _child(part: Path, model: str) -> dict[str, str]:
    """Download, check and try; answers nothing, or what went wrong."""
    from fastembed import TextEmbedding
    from huggingface_hub import snapshot_download

    about = next((one for one in TextEmbedding.list_supported_models() if one["model"].lower() == model.lower()), None)
    if about is None or not about["sources"].get("hf"):
        return {"kind": "unknown"}
    files = [*_COMMON, about["model_file"], *about["additional_files"]]
    try:
        snapshot_download(about["sources"]["hf"], local_dir=part, allow_patterns=files, token=False, max_workers=2)
    except Exception as error:  # noqa: BLE001 - each HTTP client below the hub's library brings its own exceptions
        return _came_to(error)
    if not (part / about["model_file"]).is_file():
        return {"kind": "damaged", "trouble": f"lacks `{about['model_file']}`"}
    wrong = _mismatch(part)
    shutil.rmtree(part / ".cache", ignore_errors=True)
    if wrong:
        return {"kind": "damaged", "trouble": f"has a damaged `{wrong}`"}
    return _tried(part, model)


def _tried(part: Path, model: str) -> dict[str, str]:
    from noforgetti.retrieval.embedders.local import LocalEmbedder

    try:
        LocalEmbedder(part, model).embed(["a model that embeds one text embeds the next"])
    except EmbeddingError:
        return {"kind": "damaged", "trouble": "cannot be loaded as a model"}
    (part / model_folder.MANIFEST).write_text(json.dumps(model_folder.manifest(part, model), indent=1))
    for path in (part, *part.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
        if path.is_file():
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
    return {}


def _mismatch(part: Path) -> str:
    """The first file whose content is not what the hub's header promised; large files carry their SHA-256 there."""
    for note in sorted((part / ".cache").rglob("*.metadata")):
        lines = note.read_text().splitlines()
        name = note.relative_to(part / ".cache" / "huggingface" / "download").as_posix().removesuffix(".metadata")
        etag = lines[1] if len(lines) > 1 else ""
        if len(etag) == 64 and (part / name).is_file() and model_folder.sha256(part / name) != etag:
            return name
    return ""


def _came_to(error: BaseException) -> dict[str, str]:
    """What stopped a download: the hub's library wraps it in exceptions of its own."""
    chain = [error]
    while (inner := chain[-1].__cause__ or chain[-1].__context__) is not None and inner not in chain:
        chain.append(inner)
    for one in chain:
        status = getattr(getattr(one, "response", None), "status_code", None)
        if isinstance(status, int):
            return {"kind": "refused", "trouble": f"status {status}"}
        if type(one).__name__ == "OfflineModeIsEnabled":
            return {"kind": "offline"}
        if isinstance(one, OSError) and one.errno is not None and one.filename is not None:
            return {"kind": "disk", "trouble": f"`{one.filename}`: {one.strerror}"}
    return {"kind": "unreachable", "trouble": type(chain[-1]).__name__}


if __name__ == "__main__":
    print(json.dumps(_child(Path(sys.argv[1]), sys.argv[2])))
