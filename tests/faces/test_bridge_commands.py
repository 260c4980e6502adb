"""`/memory …` over the wire: what the user reads, and which branch the session uses then."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from service.said import learns, proposal

from .bridge_host import Host, hosting, says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .bridge_host import Bridge


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host with one bridge and one entry."""
    with hosting(tmp_path) as made:
        made.tool(made.start(), action="add", content="Use tabs.")
        yield made


@pytest.fixture
def bridge(host: Host) -> Bridge:
    """Its bridge."""
    return host.bridges[0]


def shown(host: Host, line: str, branch: str | None = None) -> tuple[str, str]:
    """Level and text, without the chance in ids and commits."""
    answer = host.command(host.bridges[0], line, branch)
    text = re.sub(r"\b[0-9a-f]{12}\b", "<short>", re.sub(r"-[a-z2-7]{4}\b(?=[,\]`])", "-<id>", answer["text"]))
    return answer["level"], re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>", text)


def test_without_words_the_status_is_shown(host: Host) -> None:
    level, text = shown(host, "")

    assert (level, text) == shown(host, "status")
    assert level == "info"
    assert "branch       main at <short>" in text
    assert "characters   9 of 6,000 (goal 4,000, target 4,500)" in text


def test_show_and_its_other_name_list_the_entries(host: Host) -> None:
    assert shown(host, "show") == shown(host, "list") == ("info", "Lessons\n- Use tabs. [use-tabs-<id>, normal?]")


def test_log_shows_what_each_commit_did(host: Host) -> None:
    assert shown(host, "log") == ("info", "<short> <time> write by agent\n    add: Use tabs.\n      + Use tabs.")


def test_a_fork_is_used_at_once_and_use_goes_back(host: Host, bridge: Bridge) -> None:
    forked = host.command(bridge, "fork trial")
    assert (forked["branch"], forked["text"]) == ("trial", "Forked `trial` from `main`; this session uses it now.")
    assert shown(host, "branches", "trial") == (
        "info",
        "  main   <short>  1 entry\n* trial  <short>  1 entry",
    )

    used = host.command(bridge, "use main", "trial")

    assert (used["branch"], used["text"]) == ("main", "This session uses memory branch `main` now.")


def test_branches_differ_and_merge(host: Host, bridge: Bridge) -> None:
    host.command(bridge, "fork trial")
    host.tool(bridge, "trial", action="add", content="Trial fact.")

    assert shown(host, "diff main trial") == ("info", "+ Trial fact.")
    assert shown(host, "merge trial") == ("info", "Merged `trial` into `main`, commit <short>.\n  + Trial fact.")
    assert shown(host, "merge trial") == ("info", "Branch `main` holds everything of `trial` already.")
    assert shown(host, "diff main trial") == ("info", "No entry differs.")


def test_a_merge_that_halts_names_the_entries_and_the_way_out(host: Host, bridge: Bridge) -> None:
    host.command(bridge, "fork trial")
    host.tool(bridge, "trial", action="replace", oldText="tabs", content="Use two spaces.")
    host.tool(bridge, action="replace", oldText="tabs", content="Use four spaces.")

    level, text = shown(host, "merge trial")

    assert level == "warning"
    assert text.splitlines()[0] == "Merge stopped: Both branches changed 1 entry. Nothing was written."
    assert text.splitlines()[-1] == "Hint: choose a side with --ours or --theirs"
    assert shown(host, "merge trial --theirs")[0] == "info"
    assert host.texts(bridge) == ["Use two spaces."]


def test_a_review_is_taken_back_and_brought_back(host: Host, bridge: Bridge) -> None:
    bridge.asks = lambda asked: says(proposal(learns()))
    host.settle(bridge, "Use pnpm instead of npm in this repository, from now on.")
    bridge.until(lambda: [one for one in bridge.told if one["method"] == "card"])

    dry = shown(host, "undo --dry-run")
    assert dry == (
        "info",
        "Would take back <short> (review: add 1: Use pnpm instead of npm.).\n  - Use pnpm instead of npm.",
    )
    level, text = shown(host, "undo")
    assert (level, text.splitlines()[0]) == (
        "info",
        "Took back <short> (review: add 1: Use pnpm instead of npm.), commit <short>.",
    )
    assert "It holds from the next prompt on" in text
    assert shown(host, "undo") == ("info", "Nothing to do: no automatic review is left to take back.")
    assert shown(host, "redo")[1].startswith("Brought back <short>")
    assert sorted(host.texts(bridge)) == ["Use pnpm instead of npm.", "Use tabs."]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("dance", "`/memory dance` is no command.\nHint: one of: status, show, branches, fork, use, undo"),
        ("x" * 500, "`/memory " + "x" * 40 + "` is no command."),
        ("status now", "`/memory status` is written `/memory status`."),
        ("fork", "`/memory fork` is written `/memory fork NAME`."),
        ("fork a b", "`/memory fork` is written `/memory fork NAME`."),
        ("fork main", "main"),
        ("fork MAIN", "main"),
        ("fork ../x", "cannot be the name of a memory branch"),
        ("use nowhere", "There is no memory branch `nowhere`. Nothing was changed."),
        ("review now", "`/memory review` is written `/memory review [retry]`."),
        ("merge", "`/memory merge` is written `/memory merge NAME [--ours|--theirs]`."),
        ("merge --ours", "`/memory merge` is written `/memory merge NAME [--ours|--theirs]`."),
        ("merge main", "cannot be merged into itself"),
        ("merge nowhere", "There is no memory branch `nowhere`."),
        ("diff", "`/memory diff` is written `/memory diff A [B]`."),
        ("diff nowhere", "nowhere"),
        ("undo nowhere", "nowhere"),
        ("undo HEAD~99", "HEAD~99"),
    ],
)
def test_words_that_mean_nothing_are_refused_with_a_hint(shared: Host, line: str, said: str) -> None:
    level, text = shown(shared, line)

    assert level == "error"
    assert said in text
    assert "\nHint: " in text


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """One memory for lines that change nothing."""
    with hosting(tmp_path_factory.mktemp("shared")) as made:
        made.tool(made.start(), action="add", content="Use tabs.")
        yield made


def test_an_open_quote_is_no_fault(shared: Host) -> None:
    assert shown(shared, "use 'nowhere")[0] == "error"
    assert shown(shared, 'show "')[0] == "error"


def test_completion_offers_subcommands_then_branches_and_nothing_for_what_is_complete(
    host: Host, bridge: Bridge
) -> None:
    host.command(bridge, "fork trial")

    def offered(prefix: str) -> list[str]:
        return [one["value"] for one in bridge.call("complete", prefix=prefix, branch="main")["items"]]

    assert offered("") == [
        "status",
        "show",
        "branches",
        "fork",
        "use",
        "undo",
        "redo",
        "review",
        "dream",
        "consolidate",
        "search",
        "candidates",
        "promotions",
        "skills",
        "rules",
        "log",
        "diff",
        "merge",
    ]
    assert offered("re") == ["redo", "review"]
    assert offered("use ") == ["use main", "use trial"]
    assert offered("merge ") == ["merge trial"]
    assert offered("use t") == ["use trial"]
    assert [offered(one) for one in ("status", "use trial", "use nowhere", "fork x", "use trial x")] == [[]] * 5
