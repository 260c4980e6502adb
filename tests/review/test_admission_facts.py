"""Facts with keys, confidence, and what contradicts or repeats an entry: what a review may make of them."""

from __future__ import annotations

from typing import Any

import pytest

from noforgetti.model.change import Add, Replace
from noforgetti.model.entry import Category, Entry, EntryId, Importance, Scope, Writer
from noforgetti.model.evidence import Role
from noforgetti.policy.capacity import Limits
from noforgetti.policy.verdict import Rule
from noforgetti.review import admission
from noforgetti.review.admission import Admitted, NoChange, Verdict
from noforgetti.review.proposal import AddFact, Fact, MergeFacts, Proposal, ReplaceFact

from .builders import NOW, check, entry, new_entry, state, window

ALWAYS, NEVER = "Always publish to npm after a release.", "Never publish to npm after a release."


def add(content: str, **more: Any) -> AddFact:
    return AddFact(action="add", content=content, importance=Importance.NORMAL, evidence=("e1",), **more)


def admit(entries: tuple[Entry, ...], *facts: Fact, role: Role = Role.USER) -> Verdict:
    return admission.admit(
        Proposal(operations=facts),
        window("hello", role=role),
        state(*entries),
        limits=Limits(),
        check=check,
        new_entry=new_entry,
        now=NOW,
    )


def refusals(verdict: Verdict) -> list[tuple[Rule, str]]:
    assert isinstance(verdict, Admitted | NoChange)
    return [(one.refusal.rule, one.target) for one in verdict.refused]


def fact(text: str, **fields: Any) -> Entry:
    return entry(text, "held", key="pref.commit_style", **fields)


@pytest.mark.parametrize(("confidence", "kept"), [(None, True), (0.8, True), (1.0, True), (0.79, False), (0.0, False)])
def test_what_is_not_sure_is_not_kept(confidence: float | None, kept: bool) -> None:
    verdict = admit((), add("conventional commits", key="pref.commit_style", confidence=confidence))

    if kept:
        assert isinstance(verdict, Admitted)
        (operation,) = verdict.operations
        assert isinstance(operation, Add)
        assert (operation.entry.key, operation.entry.confidence) == ("pref.commit_style", confidence)
    else:
        assert refusals(verdict) == [(Rule.CONFIDENCE, "")]


def test_a_new_fact_has_what_its_key_and_the_proposal_say() -> None:
    verdict = admit((), add("use it for daily notes", key="Tool.Sed", negative=True, tags=("vault",), confidence=0.9))

    assert isinstance(verdict, Admitted)
    (operation,) = verdict.operations
    assert isinstance(operation, Add)
    made = operation.entry
    assert (made.key, made.category, made.negative, made.tags, made.scope) == (
        "tool.sed",
        Category.PREFERENCE,
        True,
        ("vault",),
        Scope.PROJECT,
    )


def test_a_key_that_is_there_rewords_its_entry() -> None:
    held = fact("gitmoji", writer=Writer.REVIEW, confidence=0.8)

    verdict = admit((held,), add("conventional commits", key="pref.commit_style", confidence=0.9), role=Role.ASSISTANT)

    assert isinstance(verdict, Admitted)
    assert verdict.operations == (Replace(EntryId("held"), "conventional commits", Importance.NORMAL, ("e1",), 0.9),)


YIELDS = [
    (fact("gitmoji", writer=Writer.REVIEW, confidence=0.95), Role.ASSISTANT, Rule.CONFIDENCE),  # less sure than before
    (fact("gitmoji", writer=Writer.USER), Role.ASSISTANT, Rule.CONFIDENCE),  # the user said it
    (fact("gitmoji", writer=Writer.USER), Role.USER, None),  # the user said otherwise
    (fact("gitmoji", pinned=True), Role.USER, Rule.PINNED),
    (fact("gitmoji", rule='{"trigger": "tool_name x", "action": "warn"}'), Role.USER, Rule.ENFORCED),
    (fact("conventional commits"), Role.USER, Rule.DUPLICATE),
]


@pytest.mark.parametrize(("held", "role", "rule"), YIELDS)
def test_a_fact_yields_to_the_user_and_to_more_confidence(held: Entry, role: Role, rule: Rule | None) -> None:
    verdict = admit((held,), add("conventional commits", key="pref.commit_style", confidence=0.9), role=role)

    assert refusals(verdict) == ([] if rule is None else [(rule, "held")])


def test_who_the_user_is_goes_to_the_user_wide_memory() -> None:
    verdict = admit((), add("US/Pacific", key="user.timezone", confidence=0.9))

    assert isinstance(verdict, NoChange)
    assert [(one.entry.key, one.entry.text, one.entry.scope) for one in verdict.wide] == [
        ("user.timezone", "US/Pacific", Scope.USER)
    ]


def test_a_contradiction_is_left_out_and_names_the_entry() -> None:
    verdict = admit((entry(ALWAYS, "old"),), add(NEVER))

    assert refusals(verdict) == [(Rule.CONTRADICTION, "old")]


@pytest.mark.parametrize(("role", "kept"), [(Role.USER, True), (Role.ASSISTANT, False)])
def test_only_the_users_own_words_turn_a_rule_round(role: Role, kept: bool) -> None:
    change = ReplaceFact(action="replace", entry_id="old", content=NEVER, evidence=("e1",))

    verdict = admit((entry(ALWAYS, "old"),), change, role=role)

    assert refusals(verdict) == ([] if kept else [(Rule.CONTRADICTION, "old")])


def test_entries_that_contradict_each_other_are_not_merged() -> None:
    change = MergeFacts(action="merge", entry_ids=("a", "b"), content="Publish to npm.", evidence=("e1",))

    verdict = admit((entry(ALWAYS, "a"), entry(NEVER, "b")), change)

    assert refusals(verdict) == [(Rule.CONTRADICTION, "a")]


def test_what_an_entry_says_in_other_words_is_not_added_and_names_it() -> None:
    verdict = admit((entry("Never commit generated files.", "old"),), add("Generated files must not be committed."))

    assert refusals(verdict) == [(Rule.DUPLICATE, "old")]


def test_a_possible_replacement_is_added_and_the_pair_is_told() -> None:
    verdict = admit((entry("Tests run with pytest.", "old"),), add("Tests run with unittest."))

    assert isinstance(verdict, Admitted)
    (operation,) = verdict.operations
    assert isinstance(operation, Add)
    assert verdict.similar == ((operation.entry.id, EntryId("old")),)
