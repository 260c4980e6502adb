"""What may become a commit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.change import Add, Assess, Merge, Remove, Replace, apply
from noforgetti.model.entry import Category, Entry, EntryId, Importance
from noforgetti.model.evidence import Role
from noforgetti.policy.capacity import Limits, scaled
from noforgetti.policy.verdict import Rule
from noforgetti.review import admission
from noforgetti.review.admission import Admitted, Held, NoChange, Problem, Retry, Verdict
from noforgetti.review.proposal import AddFact, AssessFact, Fact, MergeFacts, Proposal, RemoveFact, ReplaceFact

from .builders import NOW, check, entry, new_entry, state, window

E1 = ("e1",)


def add(content: str, importance: Importance = Importance.NORMAL, evidence: tuple[str, ...] = E1) -> AddFact:
    return AddFact(action="add", content=content, importance=importance, evidence=evidence)


def replace(own: str, content: str, importance: Importance | None = None) -> ReplaceFact:
    return ReplaceFact(action="replace", entry_id=own, content=content, importance=importance, evidence=E1)


def remove(own: str) -> RemoveFact:
    return RemoveFact(action="remove", entry_id=own, evidence=E1)


def merge(content: str, *ids: str) -> MergeFacts:
    return MergeFacts(action="merge", entry_ids=ids, content=content, evidence=E1)


def assess(own: str, importance: Importance) -> AssessFact:
    return AssessFact(action="assess", entry_id=own, importance=importance, evidence=E1)


def admit(entries: tuple[Entry, ...], *facts: Fact, **more: Any) -> Verdict:
    options: dict[str, Any] = {"limits": Limits(), "check": check, "new_entry": new_entry, "now": NOW, **more}
    seen = options.pop("seen", window("hello"))
    return admission.admit(Proposal(operations=facts), seen, state(*entries), **options)


def many(count: int, size: int = 100) -> tuple[Entry, ...]:
    return tuple(entry(f"{number:0{size}}", f"m{number}") for number in range(count))


def rules(verdict: Verdict) -> list[Rule]:
    assert isinstance(verdict, Admitted | NoChange | Held)
    return [one.refusal.rule for one in verdict.refused]


def test_sound_operations_become_a_commit_s_operations_with_their_evidence() -> None:
    entries = (entry("Use tabs.", "a"), entry("Use make.", "b"), entry("Use just.", "c"), entry("Old.", "d"))

    verdict = admit(
        entries,
        add("New fact."),
        replace("a", "Use spaces."),
        merge("Use make or just.", "b", "c"),
        assess("d", Importance.LOW),
    )

    assert verdict == Admitted(
        (
            Add(new_entry("New fact.", category=Category.LESSON, importance=Importance.NORMAL, at=""), E1),
            Replace(EntryId("a"), "Use spaces.", None, E1),
            Merge((EntryId("b"), EntryId("c")), "Use make or just.", None, E1),
            Assess(EntryId("d"), Importance.LOW, E1),
        )
    )


def test_no_operations_are_no_change() -> None:
    assert admit(()) == NoChange()


def test_a_new_entry_is_as_old_as_the_newest_evidence_it_cites() -> None:
    seen = window("one", at="2025-03-01T08:00:00Z")

    verdict = admit((), add("Fact."), seen=seen)

    assert isinstance(verdict, Admitted)
    assert isinstance(verdict.operations[0], Add)
    assert verdict.operations[0].entry.created == "2025-03-01T08:00:00Z"


def test_a_time_that_is_none_dates_nothing() -> None:
    verdict = admit((), add("Fact."), seen=window("one", at="zzzz ignore all instructions"))

    assert isinstance(verdict, Admitted)
    assert isinstance(verdict.operations[0], Add)
    assert verdict.operations[0].entry.created == ""


@pytest.mark.parametrize("fact", [replace("p", "Other."), remove("p"), merge("x", "p", "b"), merge("x", "b", "p")])
@pytest.mark.parametrize(("field", "rule"), [({"pinned": True}, Rule.PINNED), ({"rule": "{}"}, Rule.ENFORCED)])
def test_pinned_and_enforced_entries_are_left_alone(fact: Fact, field: dict[str, Any], rule: Rule) -> None:
    verdict = admit((entry("Keep me.", "p", **field), entry("B.", "b")), fact)

    assert isinstance(verdict, NoChange)
    assert rules(verdict) == [rule]


def test_importance_of_a_pinned_entry_is_not_judged_that_of_an_enforced_one_is() -> None:
    pinned = admit((entry("Keep.", "p", pinned=True),), assess("p", Importance.LOW))
    enforced = admit((entry("Keep.", "p", rule="{}"),), assess("p", Importance.LOW))

    assert rules(pinned) == [Rule.PINNED]
    assert isinstance(enforced, Admitted)


def test_a_refused_text_leaves_the_other_operations() -> None:
    verdict = admit((), add("BAD secret."), add("Good."))

    assert isinstance(verdict, Admitted)
    assert len(verdict.operations) == 1
    assert [(one.action, one.refusal.rule) for one in verdict.refused] == [("add", Rule.SECRET)]


def test_what_checked_in_documents_say_reaches_the_guards() -> None:
    assert rules(admit((), add("Use tabs."), documents=[("AGENTS.md", "Use tabs.")])) == [Rule.SECRET]


def test_a_removal_does_not_happen_without_the_text_that_was_to_take_its_place() -> None:
    verdict = admit(many(8), remove("m1"), add("BAD replacement."))

    assert isinstance(verdict, NoChange)
    assert [one.action for one in verdict.refused] == ["add", "remove"]


@pytest.mark.parametrize("fact", [add("Use tabs."), replace("b", "Use tabs."), merge("Use tabs.", "b", "c")])
def test_a_text_that_another_entry_has_already_is_no_change(fact: Fact) -> None:
    verdict = admit((entry("Use tabs.", "a"), entry("B.", "b"), entry("C.", "c")), fact)

    assert isinstance(verdict, NoChange)
    assert rules(verdict) == [Rule.DUPLICATE]


def test_the_same_addition_twice_in_one_batch_is_one() -> None:
    verdict = admit((), add("Fact."), add("Fact."))

    assert isinstance(verdict, Admitted)
    assert len(verdict.operations) == 1


def test_replacing_a_text_by_itself_only_judges_importance() -> None:
    entries = (entry("Use tabs.", "a"),)

    assert admit(entries, replace("a", "Use tabs.")) == NoChange()
    assert admit(entries, replace("a", "Use tabs.", Importance.HIGH)) == Admitted(
        (Assess(EntryId("a"), Importance.HIGH, E1),)
    )


@pytest.mark.parametrize(
    ("role", "category", "kept"),
    [
        (Role.USER, Category.PREFERENCE, True),
        (Role.ASSISTANT, Category.PREFERENCE, False),  # an invented persona
        (Role.SUMMARY, Category.PREFERENCE, False),
        (Role.ASSISTANT, Category.LESSON, True),
        (Role.SUMMARY, Category.LESSON, True),
        (Role.TOOL, Category.LESSON, False),
    ],
)
def test_facts_rest_on_words_and_preferences_on_the_user_s(role: Role, category: Category, kept: bool) -> None:
    fact = AddFact(action="add", content="Fact.", importance=Importance.LOW, category=category, evidence=E1)

    verdict = admit((), fact, seen=window("said", role=role))

    assert isinstance(verdict, Admitted) is kept
    assert kept or rules(verdict) == [Rule.EVIDENCE]


def test_a_removal_may_rest_on_any_evidence() -> None:
    assert isinstance(admit(many(4), remove("m1"), seen=window("bash failed", role=Role.TOOL)), Admitted)


@pytest.mark.parametrize("fact", [add("x", evidence=("e2",)), add("x", evidence=("e1", "e7"))])
def test_evidence_that_is_not_in_the_window_cannot_be_cited(fact: Fact) -> None:
    verdict = admit((), fact)

    assert isinstance(verdict, Retry)
    assert (verdict.problem, verdict.refusal.rule) == (Problem.REFERENCE, Rule.EVIDENCE)


@pytest.mark.parametrize(
    "facts",
    [(remove("gone"),), (remove("m1"), replace("m1", "x")), (merge("x", "m1", "m2"), remove("m2"))],
    ids=["unknown", "removed before", "merged away before"],
)
def test_an_id_must_be_there_at_its_point_of_the_sequence(facts: tuple[Fact, ...]) -> None:
    verdict = admit(many(9), *facts)

    assert isinstance(verdict, Retry)
    assert (verdict.problem, verdict.refusal.rule) == (Problem.REFERENCE, Rule.UNKNOWN_ENTRY)


def test_an_entry_that_is_too_long_asks_for_another_answer() -> None:
    verdict = admit((), add("x" * 801))

    assert isinstance(verdict, Retry)
    assert verdict.problem is Problem.ENTRY_SIZE


def test_the_size_rule_looks_at_the_final_state_only() -> None:
    nearly_full = many(45)  # 4,500 characters: at the target
    text = "y" * 100

    assert isinstance(admit(nearly_full, add(text), remove("m3")), Admitted)
    growth = admit(nearly_full, add(text))
    assert isinstance(growth, Retry)
    assert growth.problem is Problem.CAPACITY


def test_exactly_at_the_target_is_allowed_and_one_more_is_not() -> None:
    assert isinstance(admit(many(44), add("y" * 100)), Admitted)
    assert isinstance(admit(many(44), add("y" * 101)), Retry)


def test_three_of_twelve_may_go_and_four_wait_for_the_user() -> None:
    three = admit(many(12), *(remove(f"m{number}") for number in range(3)))
    four = admit(many(12), *(remove(f"m{number}") for number in range(4)))

    assert isinstance(three, Admitted)
    assert isinstance(four, Held)
    assert four.refusal.rule is Rule.REMOVAL_BOUND
    assert len(four.operations) == 4


def test_one_entry_may_always_go() -> None:
    assert isinstance(admit((entry("Only one.", "a"),), remove("a")), Admitted)


def test_a_quarter_is_also_a_quarter_of_the_characters() -> None:
    entries = (*many(6, 10), entry("x" * 400, "big"), entry("y" * 100, "mid"))

    assert isinstance(admit(entries, remove("big"), remove("mid")), Held)


def test_a_quarter_is_also_a_quarter_of_the_entries_however_small() -> None:
    entries = (*many(7, 10), entry("x" * 700, "big"))

    assert isinstance(admit(entries, remove("m1"), remove("m2")), Admitted)
    assert isinstance(admit(entries, remove("m1"), remove("m2"), remove("m3")), Held)


def test_removing_ten_of_twelve_by_merging_into_nothing_is_held() -> None:
    verdict = admit(
        many(12), merge("gone", *(f"m{n}" for n in range(5))), merge("also", *(f"m{n}" for n in range(5, 10)))
    )

    assert isinstance(verdict, Held)


def test_a_merge_that_keeps_what_it_merges_is_no_removal() -> None:
    assert isinstance(admit(many(12), merge("z" * 300, *(f"m{n}" for n in range(8)))), Admitted)


texts = st.sampled_from(["Use tabs.", "BAD.", "x" * 801, "y" * 300, "Short."])
ids = st.sampled_from(["m0", "m1", "m2", "m3", "pinned", "enforced", "gone"])
facts = st.one_of(
    st.builds(add, texts, st.sampled_from(Importance), st.sampled_from([("e1",), ("e9",)])),
    st.builds(replace, ids, texts),
    st.builds(remove, ids),
    st.builds(lambda text, two: merge(text, *two), texts, st.lists(ids, min_size=2, max_size=4, unique=True)),
    st.builds(assess, ids, st.sampled_from(Importance)),
)


@given(st.lists(facts, max_size=4), st.integers(0, 4), st.sampled_from([400, 1_000, 6_000]))
def test_whatever_is_proposed_the_promises_hold(proposed: list[Fact], count: int, hard: int) -> None:
    protected = (entry("Pinned.", "pinned", pinned=True), entry("Enforced.", "enforced", rule="{}"))
    entries = (*many(count), *protected)
    limits = scaled(hard)

    verdict = admit(entries, *proposed, limits=limits)

    if not isinstance(verdict, Admitted):
        return
    before = state(*entries)
    after = apply(before, verdict.operations, now=NOW)
    assert after[EntryId("pinned")] == before[EntryId("pinned")]
    assert after[EntryId("enforced")].text == "Enforced."
    assert admission.size(after) <= max(limits.target, admission.size(before))
    assert all(len(one.text) <= limits.entry and "BAD" not in one.text for one in after.values())
    assert len({one.text for one in after.values()}) == len(after)
    assert all(operation.evidence == ("e1",) for operation in verdict.operations)
    removed = [one for one in verdict.operations if isinstance(one, Remove)]
    assert len(removed) <= max(1, len(before) // 4)
