"""One text forbids what the other asks for: only where all that is forbidden is asked for, in the same roles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.contradiction import Clash, contradicts

WORDS = (
    "never", "always", "don't", "no", "use", "push", "commit", "tests", "tags", "to", "in", "before", "while", "main",
    "must", "may", "are", "forbidden", "avoid", "and", "or", "unless", ",", ".", "'never'", "`rm -rf`", "only", "skip",
)  # fmt: skip

OPPOSITES = [
    ("Log request bodies.", "Request bodies are never logged."),
    ("Tests may use the network.", "Tests must not use the network."),
    ("Use the network in tests.", "Tests must not use the network."),
    ("Use emojis in commit messages.", "No emojis in commit messages."),
    ("Commit messages should have emojis.", "No emojis in commit messages."),
    ("Run the linter in CI.", "Skip the linter in CI."),
    ("Telemetry is enabled by default.", "Never enable telemetry by default."),
    ("Enable telemetry by default.", "Disable telemetry by default."),
    ("Push to main after approval.", "Never push to main."),
    ("The API returns XML.", "The API does not return XML."),
    ("Use `rm -rf` to clean the build folder.", "Never use `rm -rf`."),
    ("You can merge your own pull requests.", "Merging your own pull requests is prohibited."),
    ("Use Jenkins for builds.", "We no longer use Jenkins for builds."),
    ("Add type hints to tests.", "Tests should never have type hints."),
    ("Use tabs.", "Use spaces, not tabs."),
    ("Commit tokens to the config folder.", "Never commit secrets, tokens or keys."),
    ("Delete migrations after a release.", "Do not edit or delete migrations."),
    ("Inline styles are OK in emails.", "Inline styles are prohibited in emails."),
    ("Cherry-pick fixes into release branches.", "No cherry-picking of fixes into release branches."),
    ("Rewriting history on shared branches is acceptable.", "Never rewrite history on shared branches."),
    ("Commit messages must reference a ticket.", "Commit messages need not reference a ticket."),
    ("Coverage is required for new modules.", "Coverage is not required for new modules."),
    ("Examples should accompany every function.", "Functions should not carry examples."),
    ("Turn on strict mode.", "Strict mode must not be turned on."),
    ("Use the staging database for tests.", "The staging database is off limits for tests."),
    ("The linter must run before each push.", "The linter doesn't have to run before each push."),
    ("Always add yourself as co-author.", "Never add yourself as co-author."),
    ("Never skip hooks.", "It is OK to skip hooks."),
    ("Merge when CI is red.", "When CI is red, never merge."),
    ("Abbreviate variable names.", "Variable names must not be abbreviated."),
    ("Never stop the server.", "Stop the server. Then deploy."),
]
COMPATIBLE = [
    ("Never publish with a dead token.", "Always publish to npm."),
    ("Say 'never stop' in the drill.", "Stop the server after the drill."),
    ("Never merge main into feature branches.", "Merge feature branches into main."),
    ("Never run tests before lint.", "Run lint before tests."),
    ("Don't commit without running the formatter.", "Run the formatter before committing."),
    ("Never use tabs.", "Use spaces instead of tabs."),
    ("Don't use npm, use pnpm.", "Use pnpm."),
    ("Never release on Fridays.", "Announce the release on Fridays."),
    ("Don't cache responses.", "Cache response headers."),
    ("Never push to main unless the release manager approves.", "Push to main after the release manager approves."),
    ("Never use tabs, except in Makefiles.", "Use tabs in Makefiles."),
    ("Don't forget to run the tests.", "Run the tests."),
    ("Never skip the tests.", "Run the tests."),
    ("Don't amend and force-push commits.", "Amend local commits."),
    ("Never mock what you do not own.", "Mock the clock in tests."),
    ("Only maintainers may push to main.", "Agents must not push to main."),
    ("The team lead can approve releases.", "Agents cannot approve releases."),
    ("Integration tests do not need Docker.", "Integration tests need Redis."),
    ("If the cache is not warm, run the script.", "If the cache is warm, skip the script."),
    ("Never catch exceptions silently.", "Catch exceptions at the boundary."),
    ("Use exit code 1 for errors, never 2.", "Use exit code 2 for usage errors."),
    ("Not every test needs a database.", "Every integration test needs a database."),
    ("Never stop.", "Always stop the server after the test."),
    ("Do not format vendored code.", "Format the code before committing."),
    ("Do not retry POST requests.", "Retry GET requests twice."),
    ("Never use floats because they lose cents.", "Use Decimal because floats lose cents."),
    ("Don't merge your own pull requests.", "Merge pull requests with squash."),
    ("Avoid abbreviations.", "Use abbreviations from the glossary only."),
    ("Users cannot change their email.", "Admins can change a user's email."),
    ("Tests may use the network.", "Tests need not use the network."),
    ("Never push.", "Never push tags."),
    ("", "Never push."),
]


@pytest.mark.parametrize(("wanted", "forbidden"), OPPOSITES)
def test_what_is_forbidden_and_wanted_clashes_in_either_order(wanted: str, forbidden: str) -> None:
    there, back = contradicts(wanted, forbidden), contradicts(forbidden, wanted)

    assert there is not None
    assert back == Clash(there.old, there.new)


@pytest.mark.parametrize(("one", "other"), COMPATIBLE)
def test_what_can_both_hold_does_not_clash(one: str, other: str) -> None:
    assert (contradicts(one, other), contradicts(other, one)) == (None, None)


def test_the_two_clauses_are_quoted_as_they_were_written() -> None:
    clash = contradicts("Ask first, and never deploy on Fridays.", "Build daily; deploy on Fridays.")

    assert clash == Clash("never deploy on Fridays", "deploy on Fridays")


def test_a_negative_text_means_do_not() -> None:
    wanted, avoided = "Push directly to main.", "Pushing directly to main"

    assert contradicts(wanted, avoided, old_negative=True) is not None
    assert contradicts(wanted, avoided, new_negative=True, old_negative=True) is None
    assert contradicts("Never push directly to main.", avoided, new_negative=True) is not None


def test_a_negative_text_that_denies_by_itself_is_not_denied_twice() -> None:
    assert contradicts("Never push to main.", "Never push to main.", new_negative=True) is None


@given(*[st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join)] * 2)
def test_order_does_not_matter(one: str, other: str) -> None:
    assert (contradicts(one, other) is None) == (contradicts(other, one) is None)


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_pair_is_too_strange(one: str, other: str) -> None:
    assert (contradicts(one, other) is None) == (contradicts(other, one) is None)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join))
def test_never_against_always_is_found_for_any_plain_object(noun: str) -> None:
    plain = "".join(one for one in noun if one.isalpha()) or "x"

    assert contradicts(f"Always use {plain}x.", f"Never use {plain}x.") is not None
