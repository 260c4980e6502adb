"""The offline reviewer: explicit statements and corrections of the user, nothing else."""

from __future__ import annotations

import pytest

from noforgetti.model.change import Add, Replace
from noforgetti.model.entry import Category, Entry, EntryId, Importance
from noforgetti.model.evidence import Role
from noforgetti.policy.capacity import Limits, scaled
from noforgetti.review.reviewer import Outcome, Proposer
from noforgetti.review.reviewers.rules import RulesReviewer

from .builders import entry, run, state, window


def learned(*said: str, role: Role = Role.USER) -> list[str]:
    found = RulesReviewer().propose(window(*said, role=role), {}, Limits())
    return [fact.content for fact in found.proposal.operations if fact.action == "add"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Remember that the tests need the database", "The tests need the database."),
        ("please remember: releases are cut from main.", "Releases are cut from main."),
        ("Ok, can you remember that we deploy on Fridays", "We deploy on Fridays."),
        ("Remember to run pnpm check before pushing!", "Run pnpm check before pushing!"),
        ("From now on, use pnpm for everything.", "Use pnpm for everything."),
        ("Use pnpm for everything from now on.", "Use pnpm for everything."),
        ("Don't forget that the API package owns validation.", "The API package owns validation."),
        ("Also, going forward put tests next to the code", "Put tests next to the code."),
        ("We always squash before merging.", "We always squash before merging."),
        ("Always run `pnpm check` before `pnpm test`.", "Always run `pnpm check` before `pnpm test`."),
        ("Never push to main directly", "Never push to main directly."),
        ("remember that pyproject.toml holds all settings", "pyproject.toml holds all settings."),
        ("No, use ruff instead of flake8.", "Use ruff instead of flake8."),
        ("Actually use httpx, not requests, for this client.", "Use httpx, not requests, for this client."),
        ("Merk dir: Releases kommen aus main", "Releases kommen aus main."),
        ("记住：测试前先启动数据库", "测试前先启动数据库。"),
    ],
)
def test_a_statement_becomes_one_clean_sentence(said: str, kept: str) -> None:
    assert learned(said) == [kept]


@pytest.mark.parametrize(
    "said",
    [
        "Run the tests please.",
        "Should I remember that?",
        "Do you remember that we used tabs?",
        'He wrote "remember that we use tabs" in the mail.',
        "```\nremember that x is y\n```",
        "> always use tabs",
        "For now always use the other port.",
        "remember this",
        "remember that the key is [redacted:api-key]",
        "I think the cache is slow.",
    ],
)
def test_anything_else_is_not_learned(said: str) -> None:
    assert learned(said) == []


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL, Role.SUMMARY])
def test_only_the_user_can_teach(role: Role) -> None:
    assert learned("Remember that the tests need the database.", role=role) == []


def test_a_list_after_remember_is_one_entry_a_point() -> None:
    said = "Remember the following:\n- tests need the database\n- releases are cut from main\n\nThanks for all."

    assert learned(said) == ["Tests need the database.", "Releases are cut from main."]


def test_every_operation_cites_the_section_it_was_said_in() -> None:
    found = RulesReviewer().propose(window("hello there", "Always use tabs here."), {}, Limits())

    assert [fact.evidence for fact in found.proposal.operations] == [("e2",)]


def test_a_correction_rewords_the_one_entry_that_says_the_old_thing() -> None:
    result = run(RulesReviewer(), window("No, use pnpm instead of npm."), entry("Use npm for installs.", "npm"))

    assert result.outcome is Outcome.CHANGE
    assert result.operations == (Replace(EntryId("npm"), "Use pnpm for installs.", Importance.HIGH, ("e1",)),)


@pytest.mark.parametrize(
    "existing",
    [
        (entry("Never use npm here.", "a"),),  # says the same thing already
        (entry("Use npm for installs.", "a"), entry("Run npm test first.", "b")),  # which one is not obvious
        (entry("Use npm for installs.", "a", pinned=True),),
        (entry("Use npm for installs.", "a", rule="{}"),),
        (entry("Use npm-check-updates weekly.", "a"),),  # another word
    ],
)
def test_a_correction_that_contradicts_nothing_obvious_is_added(existing: tuple[Entry, ...]) -> None:
    result = run(RulesReviewer(), window("No, use pnpm instead of npm."), *existing)

    assert [type(one) for one in result.operations] == [Add]


def test_the_opposite_rule_takes_the_place_of_the_old_one() -> None:
    result = run(RulesReviewer(), window("Never push to main."), entry("Always push to main.", "push"))

    assert result.operations == (Replace(EntryId("push"), "Never push to main.", Importance.HIGH, ("e1",)),)


def test_opposite_rules_about_different_things_stay_apart() -> None:
    result = run(RulesReviewer(), window("Never push to main."), entry("Always push to a branch.", "push"))

    assert [type(one) for one in result.operations] == [Add]


def test_what_is_known_is_not_proposed_again() -> None:
    known = state(entry("use TABS  here", "tabs"))

    assert RulesReviewer().propose(window("Remember: use tabs here."), known, Limits()).proposal.operations == ()


def test_a_fifth_statement_waits_for_the_next_window() -> None:
    result = run(RulesReviewer(), window(*(f"Remember that fact number {n} holds." for n in range(1, 6))))

    assert len(result.operations) == 4
    assert (result.window.last.item, len(result.window.sections)) == ("i4", 4)


def test_one_message_with_many_statements_loses_none_of_them() -> None:
    said = "Remember the following:\n" + "\n".join(f"- fact number {n} holds" for n in range(1, 8))

    assert learned(said) == [
        "Fact number 1 holds.",
        "Fact number 2 holds.",
        "Fact number 3 holds.",
        "Fact number 4 holds. Fact number 5 holds. Fact number 6 holds. Fact number 7 holds.",
    ]


def test_it_never_proposes_past_the_working_target() -> None:
    limits = scaled(100)  # target 75
    said = window(
        "Remember that this first fact is fifty characters long, ok.",
        "Remember that the second one is just about as long.",
    )

    result = run(RulesReviewer(), said, limits=limits)

    assert result.outcome is Outcome.CHANGE
    assert len(result.operations) == 1


def test_kinds_of_statement_become_kinds_of_entry() -> None:
    said = (
        "I prefer small functions.",
        "Remember that we decided on SQLite.",
        "Remember that CI runs on Linux.",
        "From now on, put tests next to the code.",
    )

    found = RulesReviewer().propose(window(*said), {}, Limits()).proposal.operations

    assert [fact.category for fact in found if fact.action == "add"] == [
        Category.PREFERENCE,
        Category.DECISION,
        Category.LESSON,
        Category.PREFERENCE,
    ]


def test_text_that_commands_a_model_is_left_to_the_guards_and_refused() -> None:
    result = run(RulesReviewer(), window("Remember that BAD instructions come first."))

    assert result.outcome is Outcome.NO_CHANGE
    assert len(result.refused) == 1


def test_it_says_what_it_cannot_do_and_needs_no_prompt() -> None:
    assert "only what the user said explicitly" in RulesReviewer().note
    assert isinstance(RulesReviewer(), Proposer)
