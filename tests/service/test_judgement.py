"""What a direct write means beside what is there: keys, contradictions, repetitions, and where a fact lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store.builders import git, opened

from noforgetti.model.candidate import CandidateKind
from noforgetti.model.entry import MAIN, Category, Scope, Writer
from noforgetti.policy.verdict import Rule
from noforgetti.service import candidates, signals, writes
from noforgetti.service.history import changes_of
from noforgetti.service.undo import undo
from noforgetti.service.writes import Traits

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.model.entry import CommitId, Entry
    from noforgetti.service.memory import Memory
    from noforgetti.service.writes import Written

ALWAYS, NEVER = "Always publish to npm after a release.", "Never publish to npm after a release."


def added(memory: Memory, text: str, **traits: object) -> Entry:
    done = writes.add(memory, MAIN, text, Traits(**traits))  # type: ignore[arg-type]
    assert done.entry is not None, done
    return done.entry


def head_of(memory: Memory) -> CommitId:
    head = memory.head(MAIN)
    assert head is not None
    return head


def texts(memory: Memory) -> list[str]:
    return sorted(entry.text for entry in memory.snapshot(MAIN))


def refused(done: Written) -> tuple[str, Rule | None]:
    return done.outcome, done.refusal.rule if done.refusal else None


# ---- contradictions


def test_a_contradiction_shows_both_texts_and_says_to_ask_the_user(memory: Memory) -> None:
    old = added(memory, ALWAYS)

    done = writes.add(memory, MAIN, NEVER, writer=Writer.AGENT)

    assert refused(done) == ("refused", Rule.CONTRADICTION)
    assert done.conflicts == (old,)
    assert done.refusal is not None
    assert "Never publish to npm" in done.refusal.message
    assert ALWAYS in done.refusal.message
    assert done.refusal.hint.startswith("ask the user")
    assert texts(memory) == [ALWAYS]


def test_an_override_supersedes_in_one_commit_that_says_so(memory: Memory) -> None:
    old = added(memory, ALWAYS)
    before = memory.head(MAIN)

    done = writes.add(memory, MAIN, NEVER, override=True)

    assert done.outcome == "added"
    assert done.entry is not None
    assert done.commit is not None
    assert done.entry.supersedes == (old.id,)
    assert done.superseded == (old,)
    assert texts(memory) == [NEVER]
    commit = memory.store.commit(done.commit)
    assert (commit.parent, commit.trailer("Supersedes")) == (before, f"{done.entry.id} {old.id}")


def test_an_override_is_taken_back_whole(memory: Memory) -> None:
    added(memory, ALWAYS)
    tree = memory.store.tree_of(head_of(memory))
    done = writes.add(memory, MAIN, NEVER, override=True)

    undo(memory, MAIN, done.commit)

    assert (texts(memory), memory.store.tree_of(head_of(memory))) == ([ALWAYS], tree)


@pytest.mark.parametrize("writer", [Writer.USER, Writer.AGENT])
def test_a_pinned_entry_never_yields_to_an_override(memory: Memory, writer: Writer) -> None:
    added(memory, ALWAYS, pinned=True)

    done = writes.add(memory, MAIN, NEVER, writer=writer, override=True)

    assert refused(done) == ("refused", Rule.CONTRADICTION)
    assert done.refusal is not None
    assert "pinned" in done.refusal.hint
    assert texts(memory) == [ALWAYS]


def test_the_users_own_edit_changes_a_pinned_entry(memory: Memory) -> None:
    old = added(memory, ALWAYS, pinned=True)

    done = writes.reword(memory, MAIN, old.id, NEVER)

    assert (done.outcome, texts(memory)) == ("replaced", [NEVER])


def test_a_rewording_may_turn_its_own_entry_round_and_no_other(memory: Memory) -> None:
    added(memory, ALWAYS)
    other = added(memory, "Sign every tag.")

    assert refused(writes.reword(memory, MAIN, other.id, NEVER)) == ("refused", Rule.CONTRADICTION)
    assert writes.reword(memory, MAIN, ALWAYS, NEVER).outcome == "replaced"


def test_a_rule_that_goes_with_a_superseded_entry_is_told(memory: Memory) -> None:
    from dataclasses import replace

    from noforgetti.model.commit import Message
    from noforgetti.service.memory import Draft
    from noforgetti.store.base import Put

    old = added(memory, ALWAYS)
    ruled = replace(old, rule='{"trigger": "bash_contains npm publish", "action": "warn"}')
    memory.change(MAIN, lambda _: Draft((Put(ruled),), Message("a rule")))

    done = writes.add(memory, MAIN, NEVER, override=True)

    assert f"The rule bound to `{old.id}` went with it." in done.warnings


# ---- repetitions


def test_what_is_said_again_is_one_more_piece_of_evidence_and_moves_no_branch(memory: Memory) -> None:
    old = added(memory, "The gateway limits the rate of requests.")
    head = memory.head(MAIN)

    exact = writes.add(memory, MAIN, "The gateway limits the rate of requests.")
    other = writes.add(memory, MAIN, "the gateway limits the rate of requests")

    assert [(one.outcome, one.commit, one.evidence) for one in (exact, other)] == [
        ("duplicate", None, 2),
        ("reinforced", None, 3),
    ]
    assert memory.head(MAIN) == head
    assert signals.read(memory, MAIN).by_id[old.id].evidence == 3


def test_who_insists_has_it_stored(memory: Memory) -> None:
    added(memory, "Never commit generated files.")

    done = writes.add(memory, MAIN, "Generated files must not be committed.", force=True)

    assert (done.outcome, len(memory.snapshot(MAIN))) == ("added", 2)


def test_opposite_texts_are_never_one_whatever_their_nearness(memory: Memory) -> None:
    memory.meaning = lambda _, entries: {one.id: 0.999 for one in entries}
    added(memory, ALWAYS)

    assert refused(writes.add(memory, MAIN, NEVER, force=True)) == ("refused", Rule.CONTRADICTION)


def test_a_possible_replacement_is_stored_and_the_pair_waits(memory: Memory) -> None:
    old = added(memory, "Tests run with pytest.")

    done = writes.add(memory, MAIN, "Tests run with unittest.")

    assert done.outcome == "added"
    assert done.similar == (old,)
    assert texts(memory) == ["Tests run with pytest.", "Tests run with unittest."]
    (waiting,) = candidates.pending(memory, MAIN)
    assert (waiting.kind, waiting.entry, waiting.text) == (
        CandidateKind.REPLACEMENT,
        old.id,
        "Tests run with unittest.",
    )


# ---- keys


def test_a_key_again_replaces_its_entry_in_one_commit(memory: Memory) -> None:
    first = added(memory, "conventional commits", key="pref.commit_style")
    head = memory.head(MAIN)

    done = writes.add(memory, MAIN, "gitmoji", Traits(key="Pref.Commit_Style"))

    assert (done.outcome, done.entry and done.entry.id) == ("replaced", first.id)
    assert done.commit is not None
    assert memory.store.commit(done.commit).parent == head
    assert [(one.key, one.text, one.category) for one in memory.snapshot(MAIN)] == [
        ("pref.commit_style", "gitmoji", Category.PREFERENCE)
    ]
    assert [change.sign for change in changes_of(memory, memory.store.commit(done.commit))] == ["~"]


def test_the_same_value_again_is_a_duplicate(memory: Memory) -> None:
    added(memory, "conventional commits", key="pref.commit_style")

    done = writes.add(memory, MAIN, "conventional commits", Traits(key="pref.commit_style"))

    assert (done.outcome, done.commit) == ("duplicate", None)


def test_two_facts_may_have_one_value(memory: Memory) -> None:
    added(memory, "yes", key="pref.sign_commits")
    added(memory, "yes", key="pref.sign_tags")

    assert texts(memory) == ["yes", "yes"]


CATEGORIES = [
    ("pref.commit_style", Category.PREFERENCE),
    ("tool.sed", Category.PREFERENCE),
    ("project.rosie.di", Category.PATTERN),
    ("health.checkup", Category.LESSON),
]


@pytest.mark.parametrize(("key", "category"), CATEGORIES)
def test_a_keys_beginning_says_what_sort_of_fact_it_is(memory: Memory, key: str, category: Category) -> None:
    assert added(memory, "dependency injection by hand", key=key).category is category


WRONG = [
    ("x", "it has fewer than 2 characters"),
    ("pref commit", "' ' is at place 5"),
    ("préf.x", "'é' is at place 3"),
    ("9lives", "it begins with `9`"),
    ("pref..x", "two dots follow each other"),
    ("pref.", "it ends in `.`"),
    ("k" * 101, "it has 101 characters, more than 100"),
]


@pytest.mark.parametrize(("key", "why"), WRONG)
def test_a_key_that_is_none_is_refused_by_what_is_off(memory: Memory, key: str, why: str) -> None:
    done = writes.add(memory, MAIN, "conventional commits", Traits(key=key))

    assert refused(done) == ("refused", Rule.KEY)
    assert done.refusal is not None
    assert why in done.refusal.message
    assert not memory.exists


def test_an_agent_does_not_reword_a_pinned_fact_by_its_key(memory: Memory) -> None:
    added(memory, "conventional commits", key="pref.commit_style", pinned=True)

    again = Traits(key="pref.commit_style")
    assert refused(writes.add(memory, MAIN, "gitmoji", again, writer=Writer.AGENT)) == ("refused", Rule.PINNED)
    assert writes.add(memory, MAIN, "gitmoji", again, writer=Writer.USER).outcome == "replaced"


def test_a_fact_is_addressed_by_its_key(memory: Memory) -> None:
    added(memory, "conventional commits", key="pref.commit_style")

    assert writes.remove(memory, MAIN, "pref.commit_style").outcome == "removed"


# ---- where a fact lives


def test_who_the_user_is_lives_in_the_user_wide_memory(project: Path, home: Path, memory: Memory) -> None:
    done = writes.add(memory, MAIN, "US/Pacific", Traits(key="user.timezone"))

    assert (done.outcome, done.scope) == ("added", Scope.USER)
    assert not memory.exists
    assert [entry.text for entry in memory.wide.snapshot(MAIN)] == ["US/Pacific"]
    other = project.parent / "other"
    other.mkdir()
    git(other, "init", "-q")
    assert writes.add(opened(other, home), MAIN, "Europe/Berlin", Traits(key="user.timezone")).outcome == "replaced"
    assert [entry.text for entry in memory.wide.snapshot(MAIN)] == ["Europe/Berlin"]


def test_what_only_the_user_wide_memory_holds_is_changed_there(memory: Memory) -> None:
    added(memory, "Sign every tag.")
    writes.add(memory, MAIN, "US/Pacific", Traits(key="user.timezone"))

    assert writes.reword(memory, MAIN, "user.timezone", "Europe/Berlin").scope is Scope.USER
    assert writes.remove(memory, MAIN, "Europe/Berlin").scope is Scope.USER
    assert (texts(memory), len(memory.wide.snapshot(MAIN))) == (["Sign every tag."], 0)


# ---- provenance


def test_an_entry_that_took_anothers_place_says_so(memory: Memory) -> None:
    old, new = added(memory, "The API is REST."), added(memory, "The gateway speaks gRPC.")

    done = writes.invalidate(memory, MAIN, old.id, new.id, writer=Writer.AGENT, session="s1")

    assert (done.outcome, texts(memory)) == ("removed", ["The gateway speaks gRPC."])
    assert next(iter(memory.snapshot(MAIN))).supersedes == (old.id,)
    assert done.commit is not None
    assert memory.store.commit(done.commit).trailer("Supersedes") == f"{new.id} {old.id}"


def test_where_an_entry_comes_from_can_be_said_without_rewording_it(memory: Memory) -> None:
    one, other = added(memory, "The API is REST."), added(memory, "Routes live in api/.")
    traits = Traits(derived=(other.id,), informs=("release checklist",), source="0192-aaaa")

    done = writes.reword(memory, MAIN, one.id, None, traits)

    assert done.outcome == "replaced"
    assert done.entry is not None
    assert (done.entry.text, done.entry.derived, done.entry.informs, done.entry.session) == (
        "The API is REST.",
        (other.id,),
        ("release checklist",),
        "0192-aaaa",
    )
