"""The whole memory beside its model. `NOFORGETTI_MACHINE=long` walks for minutes, `brief` is for `tools/mutants`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from .machine import MemoryMachine

_LENGTHS = {"": (40, 30), "brief": (100, 30), "long": (1_500, 60)}
_length = os.environ.get("NOFORGETTI_MACHINE", "")
_examples, _steps = _LENGTHS[_length]
_phases = (Phase.generate,) if _length == "brief" else (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)

TestMemoryMachine = MemoryMachine.TestCase
TestMemoryMachine.settings = settings(
    max_examples=_examples,
    stateful_step_count=_steps,
    deadline=None,
    database=None,
    phases=_phases,
    derandomize=_length == "",
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_machine_finds_every_mutation() -> None:
    tool = Path(__file__).resolve().parents[2] / "tools" / "mutants"

    done = subprocess.run([sys.executable, str(tool)], capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["passes", "found", "found", "found", "found"]
