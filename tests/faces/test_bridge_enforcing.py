"""Rules at work on a host's tool calls, over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from noforgetti.policy.enforcement import EnforcedRule, made
from noforgetti.service import rules, writes
from noforgetti.service.memory import open_memory

from .bridge_host import Host, hosting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .bridge_host import Bridge, Document

ADD_ALL = "bash_contains git add ."
PUSH = "tool_called project_memory before git push"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host without a bridge yet."""
    with hosting(tmp_path) as made_host:
        yield made_host


def ruled(host: Host, text: str, trigger: str = "", action: str = "", *, branch: str = "main", **more: Any) -> str:
    """An entry with a rule that the user set, from another process than the bridge; its id."""
    rule = made(trigger, action, **more)
    assert isinstance(rule, EnforcedRule), rule
    memory = open_memory(str(host.project), {"NOFORGETTI_HOME": str(host.home)})
    try:
        entry = writes.add(memory, branch, text).entry
        assert entry is not None
        assert rules.bind(memory, branch, entry.id, rule).outcome == "bound"
        return str(entry.id)
    finally:
        memory.close()


def before(host: Host, bridge: Bridge, tool: str, own: str = "c1", branch: str | None = None, **given: Any) -> Document:
    return bridge.call("tool/call", session=host.who, branch=branch, id=own, tool=tool, input=given)


def after(host: Host, bridge: Bridge, tool: str, own: str = "c1", *, error: bool = False, **given: Any) -> Document:
    return bridge.call("tool/result", session=host.who, branch=None, id=own, tool=tool, input=given, error=error)


def ended(host: Host, bridge: Bridge) -> Document:
    return bridge.call("turn/end", session=host.who, branch=None, outcome="completed")


def test_a_call_is_blocked_in_the_words_of_the_entry_and_others_go_on(host: Host) -> None:
    own = ruled(host, "Stage files by name.", ADD_ALL, "block")
    bridge = host.start()

    assert before(host, bridge, "bash", command="cd x && git 'add' .") == {
        "block": f"Blocked by memory `{own}` ({ADD_ALL}): Stage files by name."
    }
    assert before(host, bridge, "bash", command='echo "git add ."') == {}
    assert before(host, bridge, "read", path="git add .") == {}


def test_a_rule_holds_on_the_branch_it_was_bound_on(host: Host) -> None:
    bridge = host.start()
    host.tool(bridge, action="add", content="Run the tests with pytest.")
    host.command(bridge, "fork spike")
    ruled(host, "Stage files by name.", ADD_ALL, "block", branch="spike")

    assert before(host, bridge, "bash", branch="main", command="git add .") == {}
    assert "block" in before(host, bridge, "bash", branch="spike", command="git add .")


def test_a_warning_and_an_approved_command_follow_a_call_once(host: Host) -> None:
    warns = ruled(host, "Migrations are reviewed.", "file_modified *.sql", "warn")
    runs = ruled(host, "Count each change.", "file_modified *.sql", "run_after", command="make count")
    bridge = host.start()

    assert after(host, bridge, "write", path="a.sql") == {
        "append": f"Memory `{warns}`: Migrations are reviewed.",
        "run": [{"rule": runs, "command": "make count"}],
    }
    assert after(host, bridge, "write", path="a.sql") == {}
    assert after(host, bridge, "write", "c2", path="a.txt") == {}


def test_no_command_follows_a_call_that_failed(host: Host) -> None:
    ruled(host, "Count each change.", "file_modified *.sql", "run_after", command="make count")
    bridge = host.start()

    assert after(host, bridge, "write", path="a.sql", error=True) == {}


def test_a_verifier_asks_for_one_retry_in_each_run_of_the_agent(host: Host) -> None:
    own = ruled(host, "Note a push before it happens.", verifier=PUSH)
    bridge = host.start()
    asked = []
    for _ in range(2):
        host.turn(bridge)
        before(host, bridge, "bash", command="git push")
        asked += [ended(host, bridge), ended(host, bridge)]

    retry = {"retry": f"Memory `{own}` was not followed ({PUSH}): Note a push before it happens."}
    assert asked == [retry, {}, retry, {}]


def test_a_changed_file_reminds_of_the_entry_that_fits_it_once(host: Host) -> None:
    host.config("recall_budget = 2000\n")  # the most, so that a busy machine changes no answer
    bridge = host.start()
    host.tool(bridge, action="add", content="Format billing code with black at 79 columns.")
    host.tool(bridge, action="add", content="The nightly job purges deleted tenants.")
    host.tool(bridge, action="add", content="Generated files are not modified.")
    bridge.call("tool", session=host.who, branch=None, name="memory_search", arguments={"query": "loads the model"})
    told = []
    for _ in range(2):
        host.turn(bridge)
        before(host, bridge, "edit", path="billing.py")
        after(host, bridge, "edit", path="billing.py")
        told.append(ended(host, bridge))

    said = "Memories that fit the files you changed (billing.py):"
    assert told == [{"remind": f"{said}\n- [lesson] Format billing code with black at 79 columns."}, {}]


def test_a_project_without_a_memory_is_asked_and_has_none_afterwards(host: Host) -> None:
    bridge = host.start()

    answers = [before(host, bridge, "bash", command="git add ."), after(host, bridge, "write", path="a.py")]

    assert [*answers, ended(host, bridge)] == [{}, {}, {}]
    assert not list(host.home.glob("data/projects/*.git"))


def test_rules_that_are_switched_off_stop_nothing(host: Host) -> None:
    ruled(host, "Stage files by name.", ADD_ALL, "block")
    host.config("[enforcement]\nenabled = false\n")
    bridge = host.start()

    assert before(host, bridge, "bash", command="git add .") == {}


ODD: dict[str, dict[str, Any]] = {
    "nothing": {},
    "no text": {"command": None},
    "a list": {"command": ["git", 3, None]},
    "half a character": {"command": "\ud83d git add"},
    "a broken line": {"command": "echo \"$(((('\n<<X\x00"},
    "many brackets": {"command": "(" * 200_000},
    "a large file": {"path": "\ud83d.sql", "content": "x" * 3_000_000},
    "calls that are none": {"tasks": [{"tool": "bash", "input": {"command": 7}}, {"tool": {}, "args": []}]},
}


@pytest.mark.parametrize("what", ODD)
def test_an_input_of_any_kind_is_answered_and_the_next_one_is_held_against_the_rules(host: Host, what: str) -> None:
    given = ODD[what]
    ruled(host, "Stage files by name.", ADD_ALL, "block")
    ruled(host, "Migrations are reviewed.", "bash_regex drop", "warn")
    bridge = host.start()

    for tool in ("bash", "write"):
        assert before(host, bridge, tool, **given) == {}
        assert after(host, bridge, tool, **given) == {}
        assert ended(host, bridge) == {}
    assert "block" in before(host, bridge, "bash", command="git add .")


@pytest.mark.parametrize(
    ("method", "params", "named"),
    [
        ("tool/call", {"tool": "bash"}, "id"),
        ("tool/call", {"id": "c1", "tool": "bash", "input": "git add ."}, "input"),
        ("tool/result", {"id": "c1", "tool": "bash", "error": "no"}, "error"),
        ("turn/end", {"branch": 3}, "branch"),
    ],
)
def test_a_wrong_parameter_is_named(host: Host, method: str, params: dict[str, Any], named: str) -> None:
    error = host.start().refused(method, {"session": host.who, **params})

    assert error["message"].startswith(f"`{method}`: ")
    assert named in error["message"]
