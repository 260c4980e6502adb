"""Which texts tell a procedure, in which steps, and under which name."""

from __future__ import annotations

import pytest

from noforgetti.policy.masking import mask, unmask
from noforgetti.policy.steps import steps, title


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        (
            "To release: 1. bump the version 2. run `pnpm check` 3. tag and push",
            "release",
            ("bump the version", "run `pnpm check`", "tag and push"),
        ),
        (
            "Step 1: bump version. Step 2: run tests. Step 3: push the tag.",
            "bump version",
            ("bump version", "run tests", "push the tag"),
        ),
        ("Release workflow: bump -> test -> tag → push", "Release workflow", ("bump", "test", "tag", "push")),
        (
            "First run the linter, then run the tests, after that build the image and finally push it.",
            "run the linter",
            ("run the linter", "run the tests", "build the image", "push it"),
        ),
        (
            "To deploy: build the image, push it, then restart the service.",
            "deploy",
            ("build the image", "push it", "restart the service"),
        ),
        ("First, fetch; second, rebase; third, push.", "fetch", ("fetch", "rebase", "push")),
        (
            "When deploying, run migrations, then restart the workers, then clear the cache.",
            "deploying",
            ("run migrations", "restart the workers", "clear the cache"),
        ),
        ("Deploy pipeline: build, test, push to staging.", "Deploy pipeline", ("build", "test", "push to staging")),
        (
            "Workflow for a hotfix:\n- branch from main\n- fix it\n- tag it\n",
            "Workflow for a hotfix",
            ("branch from main", "fix it", "tag it"),
        ),
        ("リリース手順: 1. 版を上げる 2. テスト 3. タグ", "リリース手順", ("版を上げる", "テスト", "タグ")),
    ],
)
def test_a_procedure_is_told_in_steps(text: str, name: str, found: tuple[str, ...]) -> None:
    assert (title(text), steps(text)) == (name, found)


@pytest.mark.parametrize(
    "text",
    [
        "Run pnpm check before pnpm test.",
        "Wait a second, then push.",
        "The page renders on the server, with its data. The browser hydrates it, then it polls.",
        "If the tests fail, then fix them.",
        "If A then B, then C.",
        "Functions have the type `a -> b -> c`.",
        "Version 1.4.0 came 2. after 3. of May.",
        "The pipeline is slow; then it breaks.",
        "Colours are red, green and blue.",
        "",
    ],
)
def test_fewer_than_three_steps_are_no_procedure(text: str) -> None:
    assert steps(text) == ()


def test_blanks_stand_alone_outside_of_pieces_only() -> None:
    assert mask("a  \t b\n\n`c  d`") == ("a b\n\n\0000\000", ("`c  d`",))


def test_quoted_pieces_come_back_as_they_were() -> None:
    text = "Say \"it's\" and `a\x00b`, don't say “c”."

    masked, held = mask(text)

    assert (masked, held) == ("Say \0000\000 and \0001\000, don't say \0002\000.", ('"it\'s"', "`ab`", "“c”"))
    assert unmask(masked, held) == text.replace("\0", "")
