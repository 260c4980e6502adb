"""The honesty map says what is enforced. Whatever it calls code has a test behind it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAP = ROOT / "docs" / "honesty.md"
LEVELS = ("code", "injected", "aspirational")
_TEST = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<name>\w+)`")


def rows() -> list[tuple[str, str, str, str]]:
    lines = [line for line in MAP.read_text().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(one[0], one[1], one[2], one[3]) for one in cells if len(one) == 4 and one[1] not in ("level", "---")]


def functions(file: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(file.read_text())
    return {one.name: one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}


def checks(test: ast.FunctionDef) -> bool:
    """Whether the function can fail by itself: it asserts something or expects an error, and is not skipped."""
    skipped = any("skip" in ast.unparse(one) for one in test.decorator_list)
    asserts = any(isinstance(one, ast.Assert) for one in ast.walk(test)) or "pytest.raises" in ast.unparse(test)
    return asserts and not skipped


def missing(protection: str, tests: str) -> list[str]:
    """What is wrong with the tests that a line names."""
    named = _TEST.findall(tests)
    if not named:
        return [f"{protection}: names no test"]
    wrong = []
    for file, name in named:
        path = ROOT / "tests" / file
        found = functions(path).get(name) if path.is_file() else None
        if found is None:
            wrong.append(f"{protection}: there is no {file}::{name}")
        elif not checks(found):
            wrong.append(f"{protection}: {file}::{name} checks nothing")
    return wrong


def test_the_map_has_every_level_and_no_other() -> None:
    assert {level for _, level, _, _ in rows()} == set(LEVELS)


def test_every_enforced_line_has_a_test_behind_it() -> None:
    assert [one for name, level, _, tests in rows() if level == "code" for one in missing(name, tests)] == []


def test_every_line_says_where_it_lives() -> None:
    lost = [
        module
        for _, level, where, _ in rows()
        if level != "aspirational"
        for module in re.findall(r"`([\w/]+)`", where) or [f"nothing in {where!r}"]
        if not any((ROOT / "noforgetti" / f"{module}{end}").exists() for end in (".py", ".ts", ""))
    ]
    assert lost == []


@pytest.mark.parametrize(
    ("tests", "wrong"),
    [
        ("", "Wall: names no test"),
        ("`test_honesty.py::test_that_is_not_there`", "Wall: there is no test_honesty.py::test_that_is_not_there"),
        ("`no/such_file.py::test_a`", "Wall: there is no no/such_file.py::test_a"),
        ("`test_honesty.py::rows`", "Wall: test_honesty.py::rows checks nothing"),
    ],
)
def test_a_line_without_a_real_test_is_found(tests: str, wrong: str) -> None:
    assert missing("Wall", tests) == [wrong]
