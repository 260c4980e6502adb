"""Use leaves its marks beside the branch; topics that went cold are set aside by a commit that undo takes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store.builders import STAMP, Clock, cli, entry, fsck, git, published, review_draft, state_of, written

from noforgetti.model.commit import CommitKind
from noforgetti.model.entry import Category, EntryId, Writer
from noforgetti.model.signal import Signal
from noforgetti.policy.verdict import Rule
from noforgetti.service import branches, signals, writes
from noforgetti.service.signals import Archived, Reinforced
from noforgetti.service.undo import redo, undo
from noforgetti.store import failpoints
from noforgetti.store.base import PutFile
from noforgetti.store.signals import SPACE, Signals

if TYPE_CHECKING:
    from noforgetti.model.entry import Entry
    from noforgetti.service.memory import Memory

DAY = 86_400
TABS, SORT, LINT = EntryId("tabs"), EntryId("sort"), EntryId("lint")


def held(memory: Memory, *entries: Entry) -> None:
    """The branch `main` holds these entries."""
    memory.prepare()
    published(memory.store, *entries)


def two(**fields: object) -> tuple[Entry, Entry]:
    return entry("Use tabs.", "tabs", created=STAMP, **fields), entry("Sort imports.", "sort", created=STAMP, **fields)


def reinforce(memory: Memory, *ids: EntryId, branch: str = "main", session: str = "") -> Reinforced:
    return signals.reinforce(memory, branch, ids, by=Writer.AGENT, session=session)


def test_reinforcing_counts_and_dates_and_leaves_the_branch_alone(memory: Memory, clock: Clock) -> None:
    held(memory, *two())
    head = memory.head("main")
    reinforce(memory, TABS)
    clock.tick(60)

    done = reinforce(memory, TABS, SORT, TABS, session="s1")

    later = "2026-12-01T12:01:00Z"
    assert done.signals == {TABS: Signal(3, later), SORT: Signal(2, later)}
    assert signals.read(memory, "main") == Signals(done.signals, done.commit)
    assert memory.head("main") == head
    assert done.commit is not None
    commit = memory.store.commit(done.commit)
    assert (commit.kind, commit.subject, commit.author.name) == (CommitKind.REINFORCE, "reinforce: 2 entries", "agent")
    assert (commit.trailer("Entries"), commit.trailer("Session")) == ("~tabs ~sort", "s1")
    assert fsck(memory.path) == ""


def test_ids_that_the_branch_does_not_hold_are_named_and_not_counted(memory: Memory) -> None:
    assert reinforce(memory, TABS) == Reinforced({}, (TABS,))
    assert not memory.exists
    held(memory, *two())

    done = reinforce(memory, TABS, LINT)
    nothing = reinforce(memory, LINT)

    assert (set(done.signals), done.unknown, nothing) == ({TABS}, (LINT,), Reinforced({}, (LINT,)))


def test_a_clock_that_was_set_back_makes_nothing_older(memory: Memory, clock: Clock) -> None:
    held(memory, *two())
    reinforce(memory, TABS)
    clock.tick(-DAY)

    assert reinforce(memory, TABS).signals == {TABS: Signal(3, STAMP)}


def test_a_reinforcement_during_a_review_does_not_make_it_stale(memory: Memory) -> None:
    held(memory, *two())
    base = memory.snapshot("main")
    reinforce(memory, TABS)

    done = memory.publish("main", review_draft(base, reword={"tabs": "Use spaces."}), base.commit)

    assert memory.head("main") == done


def test_a_reinforcement_after_a_review_does_not_block_its_undo_and_stays(memory: Memory) -> None:
    held(memory, *two())
    base = memory.snapshot("main")
    memory.publish("main", review_draft(base, reword={"tabs": "Use spaces."}), base.commit)
    reinforce(memory, TABS)

    assert undo(memory, "main").outcome == "undone"

    assert state_of(memory.snapshot("main"))["tabs"].text == "Use tabs."
    assert signals.read(memory, "main").by_id == {TABS: Signal(2, STAMP)}


def test_two_processes_that_reinforce_at_once_both_count(memory: Memory) -> None:
    held(memory, *two())
    reinforce(memory, TABS)
    first = memory.store.head("main", space=SPACE)
    assert first is not None

    def overtake(moment: str) -> None:
        if moment == "publish:ref-locked":  # as a push would: it knows no lock of ours
            failpoints.arm(None)
            other = git(memory.path, "commit-tree", "-p", first, "-m", "x", f"{first}^{{tree}}")
            with open(f"{memory.path}/refs/noforgetti/signals/main", "w", encoding="ascii") as file:
                file.write(other + "\n")

    failpoints.arm(overtake)
    try:
        done = reinforce(memory, TABS, SORT)
    finally:
        failpoints.arm(None)

    assert done.signals == {TABS: Signal(3, STAMP), SORT: Signal(2, STAMP)}
    assert git(memory.path, "rev-list", "--count", f"{SPACE}main") == "3"


def test_signals_another_process_wrote_are_read_at_once(memory: Memory) -> None:
    held(memory, *two())
    assert signals.read(memory, "main") == Signals()
    other = memory.twin()
    done = reinforce(other, SORT)
    other.close()

    assert signals.read(memory, "main") == Signals({SORT: Signal(2, STAMP)}, done.commit)


def test_torn_signals_cost_a_turn_nothing_and_are_mended_by_the_next_reinforcement(memory: Memory) -> None:
    held(memory, *two())
    reinforce(memory, TABS)
    with open(f"{memory.path}/refs/noforgetti/signals/main", "wb") as file:
        file.write(bytes(41))

    torn = signals.read(memory, "main")
    done = reinforce(memory, TABS)

    assert (dict(torn.by_id), torn.reason.endswith("Its entries count as never reinforced.")) == ({}, True)
    assert done.signals == {TABS: Signal(3, STAMP)}
    assert "the signals of `main` could not be read" in memory.state.traces()[0]["text"]
    assert fsck(memory.path) == ""


def test_a_lost_object_of_the_signals_costs_no_more_than_the_newest_ones(memory: Memory) -> None:
    held(memory, *two())
    first = reinforce(memory, TABS)
    second = reinforce(memory, TABS)
    assert second.commit is not None
    memory.close()
    for lost in (f"{second.commit[:2]}/{second.commit[2:]}", "../objects.log"):
        with open(f"{memory.path}/objects/{lost}", "r+b") as file:
            file.truncate(0)

    assert dict(signals.read(memory, "main").by_id) == {}
    assert reinforce(memory, TABS).signals == {TABS: Signal(first.signals[TABS].evidence + 1, STAMP)}


def test_a_reworded_entry_counts_as_reinforced_once_it_is_a_day_old(memory: Memory, clock: Clock) -> None:
    held(memory, *two(), entry("Undated.", "undated"))
    tabs, undated = (state_of(memory.snapshot("main"))[own] for own in ("tabs", "undated"))

    signals.reworded(memory, "main", tabs, by=Writer.USER)
    early = signals.read(memory, "main")
    clock.tick(DAY)
    for one in (tabs, tabs, undated):
        signals.reworded(memory, "main", one, by=Writer.USER)

    later = Signal(2, "2026-12-02T12:00:00Z")
    assert early == Signals()
    assert signals.read(memory, "main").by_id == {TABS: later, EntryId("undated"): later}


def test_a_rewording_is_done_even_where_it_cannot_be_counted(memory: Memory, clock: Clock) -> None:
    held(memory, *two())
    clock.tick(DAY)
    tabs = state_of(memory.snapshot("main"))["tabs"]
    later = written(memory.store, memory.head("main"), PutFile("format", b"2\n"))
    memory.store.publish("main", later, None, space=SPACE)

    signals.reworded(memory, "main", tabs, by=Writer.USER)

    assert memory.store.head("main", space=SPACE) == later
    assert "format `2`, newer than the 1 that this version writes" in memory.state.traces()[0]["text"]


def test_a_fork_takes_the_signals_along_and_then_goes_its_own_way(memory: Memory) -> None:
    held(memory, *two())
    reinforce(memory, TABS)
    branches.fork(memory, "main", "experiment")
    reinforce(memory, TABS, branch="experiment")

    assert signals.read(memory, "main").by_id == {TABS: Signal(2, STAMP)}
    assert signals.read(memory, "experiment").by_id == {TABS: Signal(3, STAMP)}


def test_a_deleted_branch_leaves_no_signals_for_the_next_of_its_name(memory: Memory) -> None:
    held(memory, *two())
    branches.fork(memory, "main", "experiment")
    reinforce(memory, TABS, branch="experiment")
    branches.delete(memory, "experiment")
    left = git(memory.path, "for-each-ref", "refs/noforgetti")
    branches.fork(memory, "main", "experiment")

    assert left == ""
    assert signals.read(memory, "experiment") == Signals()


def test_a_fork_from_torn_signals_is_made_without_them(memory: Memory) -> None:
    held(memory, *two())
    reinforce(memory, TABS)
    with open(f"{memory.path}/refs/noforgetti/signals/main", "wb") as file:
        file.write(b"torn")

    made = branches.fork(memory, "main", "experiment")

    assert (made.entries, signals.read(memory, "experiment")) == (2, Signals())


def test_the_command_line_does_not_take_signals_for_branches(memory: Memory) -> None:
    held(memory, *two())
    reinforce(memory, TABS)

    assert cli(memory, "branches").stdout.split()[:2] == ["*", "main"]


# ---- archiving


def test_a_cold_topic_is_set_aside_by_one_commit_and_nothing_is_deleted(memory: Memory, clock: Clock) -> None:
    held(memory, *two(category=Category.DONE), entry("Run the linter.", "lint", created=STAMP))
    clock.tick(29 * DAY)

    done = signals.archive_cold(memory, "main")
    again = signals.archive_cold(memory, "main")

    assert done == Archived((SORT, TABS), (Category.DONE,), memory.head("main"))
    assert again == Archived()
    state = state_of(memory.snapshot("main"))
    assert {own: one.archived for own, one in state.items()} == {"tabs": True, "sort": True, "lint": False}
    assert memory.snapshot("main").characters == len("Run the linter.")
    assert done.commit is not None
    commit = memory.store.commit(done.commit)
    assert (commit.kind, commit.subject) == (CommitKind.ARCHIVE, "archive: completions without reinforcement")
    assert commit.body == "~ sort (archived)\n~ tabs (archived)"


@pytest.mark.parametrize("days", [0, 28])
def test_a_topic_that_is_not_cold_is_left_alone(memory: Memory, clock: Clock, days: int) -> None:
    held(memory, *two(category=Category.DONE))
    head = memory.head("main")
    clock.tick(days * DAY)

    assert signals.archive_cold(memory, "main") == Archived()
    assert memory.head("main") == head


def test_one_reinforced_or_pinned_entry_keeps_its_topic(memory: Memory, clock: Clock) -> None:
    held(memory, *two(category=Category.DONE), *(entry("Never.", "m", category=Category.MISTAKE, pinned=True),))
    clock.tick(20 * DAY)
    reinforce(memory, TABS)
    clock.tick(20 * DAY)

    assert signals.archive_cold(memory, "main") == Archived()


def test_an_empty_memory_has_nothing_cold(memory: Memory) -> None:
    assert signals.archive_cold(memory, "main") == Archived()
    assert not memory.exists


def test_an_undone_archiving_is_not_repeated_until_the_topic_is_cold_again(memory: Memory, clock: Clock) -> None:
    held(memory, *two(category=Category.DONE))
    clock.tick(29 * DAY)
    target = signals.archive_cold(memory, "main").commit

    assert undo(memory, "main", target).outcome == "undone"

    clock.tick(DAY)
    assert not any(one.archived for one in memory.snapshot("main"))
    assert signals.archive_cold(memory, "main") == Archived()
    clock.tick(28 * DAY)
    assert signals.archive_cold(memory, "main").entries == (SORT, TABS)


def test_redo_of_archiving_sets_the_topic_aside_again(memory: Memory, clock: Clock) -> None:
    held(memory, *two(category=Category.DONE))
    clock.tick(29 * DAY)
    undo(memory, "main", signals.archive_cold(memory, "main").commit)

    assert redo(memory, "main").outcome == "redone"
    assert all(one.archived for one in memory.snapshot("main"))


def test_what_is_brought_back_stays(memory: Memory, clock: Clock) -> None:
    held(memory, *two(category=Category.DONE))
    clock.tick(29 * DAY)
    signals.archive_cold(memory, "main")

    done = signals.unarchive(memory, "main", [TABS, LINT], by=Writer.USER)

    assert done == Archived((TABS,), (Category.DONE,), memory.head("main"))
    assert signals.archive_cold(memory, "main") == Archived()
    state = state_of(memory.snapshot("main"))
    assert {own: one.archived for own, one in state.items()} == {"tabs": False, "sort": True}
    assert signals.unarchive(memory, "main", [TABS], by=Writer.USER) == Archived()


def test_what_would_not_fit_is_not_brought_back(memory: Memory) -> None:
    held(memory, entry("x" * 700, "x", archived=True), *(entry(f"{n}" * 750, f"e{n}") for n in range(8)))

    done = signals.unarchive(memory, "main", [EntryId("x")], by=Writer.USER)

    assert done.refusal is not None
    assert (done.refusal.rule, done.commit) == (Rule.CAPACITY, None)


def test_writing_goes_on_beside_signals(memory: Memory) -> None:
    held(memory, *two())
    reinforce(memory, TABS)

    assert writes.reword(memory, "main", "tabs", "Use four blanks.").outcome == "replaced"
    assert signals.read(memory, "main").by_id == {TABS: Signal(2, STAMP)}
