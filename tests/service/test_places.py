"""Where things are."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from platformdirs import PlatformDirs

from noforgetti.service.places import places

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(sys.platform != "linux", reason="the short way is for Linux")
@pytest.mark.parametrize(
    "named", [{}, {"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"}, {"XDG_STATE_HOME": "", "XDG_CACHE_HOME": "/k"}]
)
def test_the_short_way_answers_what_platformdirs_does(
    named: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith(("XDG_", "NOFORGETTI"))]:
        monkeypatch.delenv(name)
    for name, value in {"HOME": str(tmp_path), **named}.items():
        monkeypatch.setenv(name, value)

    found, dirs = places(os.environ), PlatformDirs("noforgetti", appauthor=False)

    assert (found.data, found.state, found.cache) == (dirs.user_data_dir, dirs.user_state_dir, dirs.user_cache_dir)
    assert found.config == f"{dirs.user_config_dir}/config.toml"
