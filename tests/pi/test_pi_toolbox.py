"""Where Pi cannot be had: skipped on somebody's machine, an error where the build says that it is one."""

from __future__ import annotations

import pytest

from .toolbox import ToolsMissingError, required, tools


def test_without_node_the_reason_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(ToolsMissingError, match="Node and npm"):
        tools()


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("1", True), ("", False), ("false", False)])
def test_only_a_build_insists_on_pi(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("CI", value)

    assert required() is expected
