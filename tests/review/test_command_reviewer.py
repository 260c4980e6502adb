"""The reviewer that is a program, with real programs."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from noforgetti.errors import Kind
from noforgetti.review.reviewer import Outcome, ReviewAbortedError, ReviewerError
from noforgetti.review.reviewers.command import CommandReviewer

from .builders import run, window

if TYPE_CHECKING:
    from collections.abc import Callable

EMPTY = '{"operations": []}'
ENV = {"PATH": os.environ.get("PATH", "")}


def python(code: str, *arguments: str, **options: float) -> CommandReviewer:
    return CommandReviewer([sys.executable, "-c", code, *arguments], ENV, **options)  # type: ignore[arg-type]


def waited(met: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if met():
            return True
        time.sleep(0.02)
    return met()


def gone(number: int) -> bool:
    """True when no process of that number runs (a zombie of somebody else's has ended, too)."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    with contextlib.suppress(OSError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False


def number_in(path: Path) -> int:
    assert waited(lambda: path.exists() and path.read_text().strip().isdigit())
    return int(path.read_text())


SLEEPER = """
import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(str(child.pid))
time.sleep(600)
"""


def test_both_texts_arrive_on_stdin_and_stdout_is_the_answer() -> None:
    answer = python("import sys; print(sys.stdin.read().upper(), end='')").complete("be careful", "look — here", 64)

    assert answer.text == "BE CAREFUL\n\nLOOK — HERE\n"


def test_a_program_can_carry_a_whole_review() -> None:
    result = run(python(f"import sys; sys.stdin.read(); print('Sure:', {EMPTY!r})"), window("hello"))

    assert (result.outcome, result.reviewer) == (Outcome.NO_CHANGE, "command")


def test_the_program_knows_that_it_reviews_for_us_and_gets_no_other_environment() -> None:
    code = "import os; print({k: v for k, v in os.environ.items() if k not in ('LC_CTYPE', 'PATH')})"

    assert python(code).complete("s", "p", 64).text.strip() == str(
        {"PI_SUBAGENT_CHILD": "1", "NOFORGETTI_REVIEWER": "1"}
    )


def test_no_shell_reads_the_arguments() -> None:
    assert python("import sys; print(sys.argv[1])", "$(id); `id` *").complete("s", "p", 64).text == "$(id); `id` *\n"


def test_a_program_that_does_not_read_its_prompt_can_still_answer() -> None:
    assert python(f"print({EMPTY!r})").complete("s", "p" * 2_000_000, 64).text.strip() == EMPTY


def test_a_program_that_fails_is_named_with_its_status_and_last_words() -> None:
    code = "import sys; print('first\\nno \\x1b[31mcredit', file=sys.stderr); sys.exit(3)"

    with pytest.raises(ReviewerError) as caught:
        python(code).complete("s", "p", 64)

    assert "ended with status 3, saying: no" in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert caught.value.kind is Kind.UNAVAILABLE


@pytest.mark.parametrize("argv", [["/no/such/program"], ["bad\0name"], [str(Path(__file__).parent)]])
def test_a_program_that_cannot_start_is_expected_trouble(argv: list[str]) -> None:
    with pytest.raises(ReviewerError, match="cannot be started"):
        CommandReviewer(argv, ENV).complete("s", "p", 64)


def test_a_program_that_says_too_much_is_ended() -> None:
    with pytest.raises(ReviewerError, match=r"printed more than 1,000 bytes"):
        python("while True: print('x' * 1000)", output=1_000).complete("s", "p", 64)


def test_a_flood_on_stderr_neither_blocks_nor_counts() -> None:
    code = f"import sys; sys.stderr.write('e' * 3_000_000); print({EMPTY!r})"

    assert python(code).complete("s", "p", 64).text.strip() == EMPTY


def test_a_program_that_is_too_slow_is_ended_with_its_children(tmp_path: Path) -> None:
    with pytest.raises(ReviewerError, match=r"did not answer within 2 seconds"):
        python(SLEEPER, str(tmp_path / "child"), timeout=2.0).complete("s", "p", 64)

    assert waited(lambda: gone(number_in(tmp_path / "child")))


def test_what_a_program_leaves_behind_ends_with_its_answer(tmp_path: Path) -> None:
    code = SLEEPER.replace("time.sleep(600)\n", f"print({EMPTY!r})\n") + ""

    started = time.monotonic()
    answer = python(code, str(tmp_path / "child")).complete("s", "p", 64)

    assert answer.text.strip() == EMPTY
    assert time.monotonic() - started < 60  # it does not wait for the child, which holds stdout open for ten minutes
    assert waited(lambda: gone(number_in(tmp_path / "child")))


def test_stopping_ends_the_program_at_once_and_for_good(tmp_path: Path) -> None:
    reviewer = python(SLEEPER, str(tmp_path / "child"))
    found: list[BaseException] = []

    def work() -> None:
        try:
            reviewer.complete("s", "p", 64)
        except ReviewerError as trouble:
            found.append(trouble)

    thread = threading.Thread(target=work)
    thread.start()
    child = number_in(tmp_path / "child")

    reviewer.stop()
    thread.join(20)

    assert [type(one) for one in found] == [ReviewAbortedError]
    assert waited(lambda: gone(child))
    with pytest.raises(ReviewAbortedError):
        reviewer.complete("s", "p", 64)


def test_the_program_dies_with_us_when_we_are_killed(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from noforgetti.review.reviewers.command import CommandReviewer\n"
        "CommandReviewer([sys.executable, '-c', sys.argv[1], sys.argv[2]], dict(os.environ)).complete('s', 'p', 64)\n"
    )
    arguments = [sys.executable, "-c", code, SLEEPER, str(tmp_path / "child")]
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(arguments, cwd=root, env={**ENV, "PYTHONPATH": root}) as parent:
        child = number_in(tmp_path / "child")
        time.sleep(0.3)  # the watchdog starts right after the program; both need their moment
        parent.kill()

    assert waited(lambda: gone(child))
