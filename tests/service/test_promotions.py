"""Promotions on a real branch: proposed, applied, accepted, rejected, taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store.builders import Clock, entry, git, opened, published

from noforgetti.model.commit import CommitKind
from noforgetti.model.entry import Category, EntryId, Importance, Writer
from noforgetti.model.promotion import Destination, Promotion, Status
from noforgetti.policy.verdict import Rule
from noforgetti.service import promotions, settling, signals, skills
from noforgetti.service.branches import fork
from noforgetti.service.merging import merge_branch
from noforgetti.service.promotions import Flag, Passed
from noforgetti.service.undo import redo
from noforgetti.service.undo import undo as undo_commit
from noforgetti.store.base import Drop, PutFile
from noforgetti.store.promotions import FILE

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.model.entry import CommitId, Entry
    from noforgetti.service.memory import Memory

STEPS = "To release: 1. bump the version 2. run the tests 3. push the tag"
NPM = entry("Never use `npm`.", "npm")
RELEASE = entry(STEPS, "release")
TESTS = entry("Always write tests.", "tests")
DAY = 86_400


def holding(memory: Memory, *entries: Entry) -> None:
    memory.prepare()
    published(memory.store, *entries)


def confirm(memory: Memory, own: str, times: int = 2) -> Passed:
    """Reinforce an entry so often, as the agent's tool does; what the last pass did."""
    done = Passed("main")
    for _ in range(times):
        signals.reinforce(memory, "main", [EntryId(own)], by=Writer.AGENT)
        done = promotions.after_reinforcement(memory, "main", [EntryId(own)])
    return done


def standing(memory: Memory) -> list[tuple[str, str, str]]:
    """Entry, destination and status of every promotion."""
    return [(one.entry, one.destination, one.status) for one in promotions.queue(memory, "main")]


def only(memory: Memory) -> Promotion:
    (one,) = promotions.queue(memory, "main")
    return one


def rules(memory: Memory) -> dict[str, str]:
    return {one.id: one.rule for one in memory.snapshot("main") if one.rule}


def tree(memory: Memory) -> str:
    return git(memory.path, "rev-parse", "main^{tree}")


def head(memory: Memory) -> CommitId:
    found = memory.head("main")
    assert found
    return found


def test_below_the_threshold_nothing_is_written(memory: Memory) -> None:
    holding(memory, NPM)
    before = tree(memory)

    assert confirm(memory, "npm", 1) == Passed("main")

    assert tree(memory) == before


def test_a_plain_rule_is_bound_to_its_entry_at_the_third_piece_of_evidence(memory: Memory) -> None:
    holding(memory, NPM)

    done = confirm(memory, "npm")

    assert [(one.trigger, one.action, one.status, one.evidence) for one in done.applied] == [
        ("bash_contains npm", "block", Status.APPLIED, 3)
    ]
    assert rules(memory) == {"npm": '{"trigger": "bash_contains npm", "action": "block"}'}
    commit = memory.store.commit(head(memory))
    assert (commit.kind, commit.trailer("Entries"), commit.subject) == (
        CommitKind.PROMOTE,
        "~npm",
        "promote: apply enforcement: Never use `npm`.",
    )


@pytest.mark.parametrize(
    ("text", "destination"),
    [("never use docker directly", "enforcement"), ("Always write tests.", "enforcement"), (STEPS, "skill")],
)
def test_what_leaves_doubt_is_only_proposed(memory: Memory, text: str, destination: str) -> None:
    holding(memory, entry(text, "one"))

    confirm(memory, "one")

    assert (standing(memory), rules(memory)) == ([("one", destination, "proposed")], {})


def test_a_pinned_entry_is_left_alone_and_its_rule_proposed(memory: Memory) -> None:
    holding(memory, entry("Never use `npm`.", "npm", pinned=True))

    confirm(memory, "npm")

    assert (standing(memory), rules(memory)) == ([("npm", "enforcement", "proposed")], {})


def test_a_convention_is_proposed_at_five(memory: Memory) -> None:
    holding(memory, entry("By convention, tests live beside the code.", "tests", category=Category.DECISION))

    confirm(memory, "tests", 3)
    assert standing(memory) == []
    confirm(memory, "tests", 1)

    assert standing(memory) == [("tests", "project_rule", "proposed")]


def test_a_pass_over_everything_is_one_commit_and_the_next_one_none(memory: Memory) -> None:
    holding(memory, NPM, RELEASE, TESTS)
    for _ in range(2):
        signals.reinforce(memory, "main", [NPM.id, RELEASE.id, TESTS.id], by=Writer.REVIEW)
    before = head(memory)

    done = promotions.run(memory, "main")

    assert (len(done.proposed), len(done.applied)) == (2, 1)
    assert memory.store.commit(head(memory)).parent == before
    assert promotions.run(memory, "main") == Passed("main")


def test_accepting_a_rule_binds_it_and_undo_opens_it_again(memory: Memory) -> None:
    holding(memory, entry("never use docker directly", "docker"))
    confirm(memory, "docker")
    before = tree(memory)

    done = settling.accept(memory, "main", only(memory).id[:6])

    assert (done.outcome, rules(memory)) == (
        "accepted",
        {"docker": '{"trigger": "bash_contains docker", "action": "block"}'},
    )
    assert settling.undo(memory, "main", only(memory).id).outcome == "undone"
    assert tree(memory) == before


def test_the_ordinary_undo_takes_a_decision_back_byte_for_byte(memory: Memory) -> None:
    holding(memory, RELEASE)
    confirm(memory, "release")
    before = tree(memory)
    accepted = settling.accept(memory, "main", only(memory).id).commit
    after = tree(memory)

    assert undo_commit(memory, "main", accepted).outcome == "undone"
    assert (tree(memory), skills.listed(memory, "main")) == (before, ())
    assert redo(memory, "main").outcome == "redone"
    assert tree(memory) == after


def test_a_rule_is_bound_with_the_trigger_that_the_user_gives(memory: Memory) -> None:
    holding(memory, TESTS)
    confirm(memory, "tests")

    settling.accept(memory, "main", only(memory).id, trigger="bash_contains git push", action="warn")

    assert rules(memory) == {"tests": '{"trigger": "bash_contains git push", "action": "warn"}'}


def test_an_entry_that_was_reworded_since_counts_as_it_reads_now(memory: Memory) -> None:
    holding(memory, entry("never use docker directly", "docker"))
    confirm(memory, "docker")
    published(memory.store, entry("never use podman directly", "docker"))

    done = settling.accept(memory, "main", only(memory).id)

    assert done.promotion is not None
    assert (done.promotion.text, rules(memory)) == (
        "never use podman directly",
        {"docker": '{"trigger": "bash_contains podman", "action": "block"}'},
    )


def test_what_was_reworded_since_is_not_discarded(memory: Memory, clock: Clock) -> None:
    faded = entry("The build is slow on Mondays.", "old", importance=Importance.LOW, created="2026-12-01T12:00:00Z")
    holding(memory, faded)
    clock.tick(400 * DAY)
    promotions.run(memory, "main")
    published(memory.store, faded.with_text("The build is slow on Fridays."))

    assert settling.accept(memory, "main", only(memory).id).outcome == "refused"


@pytest.mark.parametrize(
    ("trigger", "action"),
    [
        ("explode now", "block"),
        ("bash_contains ", "block"),
        ("bash_contains x", "run_after curl example.org"),
        ("", "run_after rm -rf ."),
    ],
)
def test_only_a_rule_that_blocks_or_warns_is_bound(memory: Memory, trigger: str, action: str) -> None:
    holding(memory, entry("never use docker directly", "docker"))
    confirm(memory, "docker")
    before = tree(memory)

    done = settling.accept(memory, "main", only(memory).id, trigger=trigger, action=action)

    assert (done.outcome, tree(memory)) == ("refused", before)


def test_a_command_that_somebody_wrote_into_the_file_is_not_bound(memory: Memory) -> None:
    holding(memory, entry("never use docker directly", "docker"))
    confirm(memory, "docker")
    data = memory.store.read_file(head(memory), FILE) or b""
    published(memory.store, PutFile(FILE, data.replace(b"- action: block", b"- action: run_after rm -rf ~")))

    assert settling.accept(memory, "main", only(memory).id).outcome == "refused"
    assert rules(memory) == {}


def test_an_order_that_names_nothing_to_watch_is_pinned_when_it_is_accepted(memory: Memory) -> None:
    holding(memory, TESTS)
    confirm(memory, "tests")

    settling.accept(memory, "main", only(memory).id)

    assert [(one.pinned, one.enforced) for one in memory.snapshot("main")] == [(True, False)]


def test_a_rejected_promotion_is_never_proposed_again_but_may_be_accepted_after_all(memory: Memory) -> None:
    holding(memory, entry("never use docker directly", "docker"))
    confirm(memory, "docker")
    own = only(memory).id

    assert settling.reject(memory, "main", own).outcome == "rejected"
    assert confirm(memory, "docker", 4) == Passed("main")
    assert promotions.run(memory, "main") == Passed("main")
    assert settling.reject(memory, "main", own).outcome == "nothing"
    assert settling.accept(memory, "main", own).outcome == "accepted"
    assert settling.reject(memory, "main", own).outcome == "refused"


def test_rewording_renews_an_open_promotion_and_leaves_a_settled_one_settled(memory: Memory) -> None:
    holding(memory, entry("never use docker directly", "docker"), RELEASE)
    confirm(memory, "docker")
    confirm(memory, "release")
    settling.reject(memory, "main", next(one.id for one in promotions.queue(memory, "main") if one.entry == "release"))
    published(
        memory.store,
        entry("never run docker directly", "docker"),
        entry(STEPS.replace("release", "ship"), "release"),
    )

    promotions.run(memory, "main")

    assert [(one.entry, one.status, one.text) for one in promotions.queue(memory, "main")] == [
        ("release", "rejected", STEPS),
        ("docker", "proposed", "never run docker directly"),
    ]


def test_a_rule_that_was_taken_back_is_not_applied_by_itself_again(memory: Memory) -> None:
    holding(memory, NPM)
    confirm(memory, "npm")

    assert undo_commit(memory, "main", head(memory)).outcome == "undone"
    confirm(memory, "npm")

    assert (standing(memory), rules(memory)) == ([("npm", "enforcement", "proposed")], {})


def test_one_of_several_that_were_applied_together_is_taken_back_alone(memory: Memory) -> None:
    other = entry("Never use `yarn`.", "yarn")
    holding(memory, NPM, other)
    for _ in range(2):
        signals.reinforce(memory, "main", [NPM.id, other.id], by=Writer.REVIEW)
    promotions.run(memory, "main")
    own = next(one.id for one in promotions.queue(memory, "main") if one.entry == "npm")

    done = settling.undo(memory, "main", own)

    assert (done.outcome, [change.id for change in done.changes]) == ("undone", ["npm"])
    assert list(rules(memory)) == ["yarn"]
    assert standing(memory) == [("npm", "enforcement", "proposed"), ("yarn", "enforcement", "applied")]


def test_taking_back_halts_when_the_entry_changed_since(memory: Memory) -> None:
    holding(memory, NPM)
    confirm(memory, "npm")
    bound = memory.snapshot("main").get(NPM.id)
    assert bound
    published(memory.store, bound.entry.with_text("Never use `npm` again."))
    before = head(memory)

    done = settling.undo(memory, "main", only(memory).id)

    assert (done.outcome, done.conflicts, head(memory)) == ("halted", ("npm",), before)


def test_undo_of_an_older_pass_leaves_what_was_proposed_since(memory: Memory) -> None:
    holding(memory, RELEASE, TESTS)
    confirm(memory, "release")
    first = head(memory)
    confirm(memory, "tests")

    assert undo_commit(memory, "main", first).outcome == "undone"

    assert standing(memory) == [("tests", "enforcement", "proposed")]


def test_undo_halts_over_a_promotion_that_was_decided_since(memory: Memory) -> None:
    holding(memory, TESTS)
    confirm(memory, "tests")
    first = head(memory)
    decided = settling.reject(memory, "main", only(memory).id).commit

    done = undo_commit(memory, "main", first)

    assert (done.outcome, [(one.id, one.commit) for one in done.conflicts]) == (
        "halted",
        [(f"{FILE}#{only(memory).id}", decided)],
    )


def test_branches_merge_promotion_by_promotion(memory: Memory) -> None:
    holding(memory, RELEASE, TESTS)
    fork(memory, "main", "other")
    confirm(memory, "tests")
    signals.reinforce(memory, "other", [RELEASE.id], by=Writer.AGENT)
    signals.reinforce(memory, "other", [RELEASE.id], by=Writer.AGENT)
    promotions.run(memory, "other")

    assert merge_branch(memory, "main", "other").outcome == "merged"

    assert standing(memory) == [("tests", "enforcement", "proposed"), ("release", "skill", "proposed")]


def test_an_accepted_skill_is_a_package_of_the_branch_and_one_that_is_there_keeps_its_name(memory: Memory) -> None:
    other = entry("Release: bump -> build -> ship", "other")
    holding(memory, RELEASE, other)
    for own in ("release", "other"):
        confirm(memory, own)
        settling.accept(memory, "main", list(promotions.queue(memory, "main"))[-1].id)

    assert [(one.name, one.refusal) for one in skills.listed(memory, "main")] == [
        ("release", None),
        ("release-2", None),
    ]
    assert (
        skills.find(memory, "main", "release").text
        == f"""\
---
name: release
description: "Release: bump the version; run the tests; push the tag"
---

# Release

1. bump the version
2. run the tests
3. push the tag

Made of the memory `release`:

> {STEPS}
"""
    )


def test_a_project_rule_is_handed_out_and_written_nowhere(memory: Memory) -> None:
    text = "By convention, tests live beside the code."
    holding(memory, entry(text, "tests", category=Category.DECISION))
    confirm(memory, "tests", 4)

    done = settling.accept(memory, "main", only(memory).id)

    assert (done.outcome, done.text, done.changes) == ("accepted", text, ())
    assert settling.accept(memory, "main", only(memory).id).text == text
    assert git(memory.project.root, "status", "--porcelain") == ""


def test_what_faded_and_mattered_little_may_be_discarded(memory: Memory, clock: Clock) -> None:
    faded = entry("The build is slow on Mondays.", "old", importance=Importance.LOW, created="2026-12-01T12:00:00Z")
    holding(memory, faded, TESTS)
    clock.tick(400 * DAY)
    promotions.run(memory, "main")
    before = tree(memory)
    assert standing(memory) == [("old", "discard", "proposed")]

    done = settling.accept(memory, "main", only(memory).id)

    assert [one.id for one in memory.snapshot("main")] == ["tests"]
    assert settling.undo(memory, "main", only(memory).id).outcome == "undone"
    assert (done.outcome, tree(memory)) == ("accepted", before)


def test_what_a_dream_flags_is_proposed_whatever_its_evidence_and_never_applied(memory: Memory) -> None:
    holding(memory, NPM, RELEASE)
    flags = (
        Flag(NPM.id, Destination.ENFORCEMENT, "it came up in\nfour sessions"),
        Flag(RELEASE.id, Destination.SKILL, name="cut-a-release"),
        Flag(EntryId("gone"), Destination.DISCARD),
    )

    done = promotions.run(memory, "main", (), flags=flags)

    assert [(one.entry, one.reason, one.trigger, one.skill_name) for one in done.proposed] == [
        ("npm", "it came up in four sessions", "bash_contains npm", ""),
        ("release", "it was flagged while the memory was put in order", "", "cut-a-release"),
    ]
    assert rules(memory) == {}


def test_a_proposal_whose_entry_is_gone_is_refused_and_withdrawn_by_the_next_pass(memory: Memory) -> None:
    holding(memory, TESTS)
    confirm(memory, "tests")
    published(memory.store, Drop("lessons/tests.md"))

    done = settling.accept(memory, "main", only(memory).id)

    assert done.refusal is not None
    assert done.refusal.rule is Rule.UNKNOWN_ENTRY
    assert len(promotions.run(memory, "main").withdrawn) == 1
    assert standing(memory) == []


@pytest.mark.parametrize("own", ["", "nothing", "ffff", "\ud800"])
def test_an_id_that_names_nothing_is_refused(memory: Memory, own: str) -> None:
    for act in (settling.accept, settling.reject, settling.undo):
        done = act(memory, "main", own)
        assert (done.outcome, done.commit) == ("refused", None)
    assert not memory.exists


def test_trouble_in_a_pass_is_a_trace_and_no_failure(memory: Memory) -> None:
    holding(memory, NPM)
    fork(memory, "main", "other")
    for _ in range(2):
        signals.reinforce(memory, "other", [NPM.id], by=Writer.AGENT)
    git(memory.path, "update-ref", "-d", "refs/heads/other")

    assert promotions.after_reinforcement(memory, "other", [NPM.id]) == Passed("other")
    assert "other" in memory.state.traces()[-1]["text"]


def test_a_memory_opened_anew_knows_its_promotions(memory: Memory, home: Path, clock: Clock) -> None:
    holding(memory, RELEASE)
    confirm(memory, "release")

    again = opened(memory.project.root, home, clock)

    assert standing(again) == [("release", "skill", "proposed")]
    again.close()
