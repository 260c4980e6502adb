"""What a clause asks for, and whether it is wanted: markers govern their own clause, and quoted words are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.polarity import Polarity, clauses, denies, negations

REQUIRES, PERMITS, STATES = Polarity.REQUIRES, Polarity.PERMITS, Polarity.STATES
FORBIDS, EXCUSES = Polarity.FORBIDS, Polarity.EXCUSES
MARKERS = (
    "never", "not", "don't", "no", "must", "may", "is", "forbidden", "allowed", "avoid", "skip", "stop", "pushing",
    "push", "tests", "without", "unless", "and", "or", "but", ",", ";", ".", "`x y`", "'never'", "optional", "nobody",
    "disable", "excluded", "off limits", "turned off", "nie", "用", "不",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Never push.", [FORBIDS]),
        ("Don't push.", [FORBIDS]),
        ("You must not push.", [FORBIDS]),
        ("Agents should never push.", [FORBIDS]),
        ("Agents may not push.", [FORBIDS]),
        ("Agents cannot push.", [FORBIDS]),
        ("Avoid pushing.", [FORBIDS]),
        ("Refrain from using goto.", [FORBIDS]),
        ("Stop pushing to main.", [FORBIDS]),
        ("Skip the hooks.", [FORBIDS]),
        ("Pushing to main is forbidden.", [FORBIDS]),
        ("Pushes to main are not allowed.", [FORBIDS]),
        ("No deploys on Fridays.", [FORBIDS]),
        ("Nobody may push.", [FORBIDS]),
        ("We no longer use Jenkins.", [FORBIDS]),
        ("The API does not return XML.", [FORBIDS]),
        ("Disable telemetry.", [FORBIDS]),
        ("Turn off telemetry.", [FORBIDS]),
        ("The staging database is off limits.", [FORBIDS]),
        ("Always push.", [REQUIRES]),
        ("Push the tags.", [REQUIRES]),
        ("Tags must be pushed.", [REQUIRES]),
        ("Coverage is required.", [REQUIRES]),
        ("Don't forget to push.", [REQUIRES]),
        ("Never skip the hooks.", [REQUIRES]),
        ("Agents may push.", [PERMITS]),
        ("It is fine to push.", [PERMITS]),
        ("Pushing is allowed.", [PERMITS]),
        ("Tests run with pytest.", [STATES]),
        ("The queue is RabbitMQ.", [STATES]),
        ("Coverage is not required.", [EXCUSES]),
        ("You don't have to push.", [EXCUSES]),
        ("There is no need to push.", [EXCUSES]),
        ("Not every test needs Docker.", [EXCUSES]),
        ("Never push, always ask.", [FORBIDS, REQUIRES]),
        ("Never push; ask first.", [FORBIDS, REQUIRES]),
        ("Don't use npm but use pnpm.", [FORBIDS, REQUIRES]),
        ("Use tabs, not spaces.", [REQUIRES, FORBIDS]),
        ("Say 'never push' in the test.", [REQUIRES]),
        ("Print “do not stop” at the end.", [REQUIRES]),
        ("Run `git push --no-verify` in scripts.", [REQUIRES]),
        ("Use Decimal because floats never fit.", [REQUIRES]),
        ("Run the script when CI is not red.", [REQUIRES]),
        ("Lines have no more than 100 characters.", [STATES]),
        ("", []),
        ("...", []),
    ],
)
def test_every_clause_has_the_polarity_of_its_own_markers(text: str, expected: list[Polarity]) -> None:
    assert [clause.polarity for clause in clauses(text)] == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Delete stale branches.", "Stale branches must be deleted."),
        ("Force-push feature branches.", "Force-pushing feature branches is allowed."),
        ("Never mock the clock.", "Mocking the clock is forbidden."),
        ("Commit lock files.", "Lock files are committed."),
    ],
)
def test_active_passive_and_gerund_are_one_action(one: str, other: str) -> None:
    first, second = clauses(one)[0], clauses(other)[0]

    assert (first.acts, first.core) == (second.acts, second.core)


def test_conditions_are_no_part_of_the_action() -> None:
    (clause,) = clauses("Never push tags to main while the build is red.")

    assert (clause.acts, clause.core, clause.beside) == (
        frozenset({"push"}),
        ((("tag",),),),
        (("to", (("main",),)), ("when", (("build", "red"),))),
    )


def test_a_list_is_one_clause_and_a_second_order_is_another() -> None:
    listed = clauses("Never commit secrets, tokens or keys.")
    ordered = clauses("Run lint and fix the findings.")

    assert [clause.core for clause in listed] == [((("secret",), ("token",), ("key",)),)]
    assert [clause.acts for clause in ordered] == [set(), {"fix"}]


def test_a_negative_text_forbids_what_it_says_once() -> None:
    assert [clause.polarity for clause in clauses("Push to main.", True)] == [FORBIDS]
    assert [clause.polarity for clause in clauses("Never push to main.", True)] == [FORBIDS]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Niemals auf main pushen.", 1),
        ("Immer auf main pushen.", 0),
        ("Ne jamais pousser sur main.", 2),
        ("Toujours pousser sur main.", 0),
        ("Nunca subir a main.", 1),
        ("Никогда не пушить в main.", 2),
        ("从不推送到主分支。", 1),
        ("总是推送到主分支。", 0),
        ("main に push しない", 1),
        ("テストなしで push するな", 1),
        ("Never push to main.", 0),
    ],
)
def test_negations_of_other_languages_are_counted(text: str, expected: int) -> None:
    assert negations(text) == expected


@given(st.text(max_size=300))
def test_no_text_is_too_strange(text: str) -> None:
    assert all(clause.text in text for clause in clauses(text))


@given(st.lists(st.sampled_from(MARKERS), max_size=12).map(" ".join))
def test_what_denies_nothing_has_no_denying_clause(text: str) -> None:
    assert denies(text) or not any(clause.polarity.negative for clause in clauses(text))
