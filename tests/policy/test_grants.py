"""Permission for once is refused; standing rules, and what is said of others, pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.grants import grant
from noforgetti.policy.verdict import Refusal, Rule

FOR_ONCE = (
    "Go ahead.",
    "Yes, go ahead and push.",
    "Just this once, skip the tests.",
    "Sure, push it.",
    "You may now deploy to production this time.",
    "Approved, ship it.",
    "OK to merge.",
    "It is ok to merge.",
    "That is okay to deploy now.",
    "Ok to merge this PR.",
    "Looks good, merge it.",
    "LGTM, merge it.",
    "You can skip the tests for this commit.",
    "Feel free to force-push this time.",
    "Yes, do it.",
    "No problem, restart the server.",
    "I'll allow it this once.",
    "You have my OK to delete the old snapshots this time.",
    "Sounds good, push that to the branch.",
    "You may now merge the PR.",
    "You can push this to main.",
    "You can delete the branch now.",
    "Feel free to refactor that function.",
    "For this release you may skip the changelog.",
    "You are free to close that issue.",
    "You're welcome to remove these files.",
    "You could just delete those.",
    "It's fine to skip the linter today.",
    "It's fine if you break the API in this branch.",
    "I don't mind if you rewrite that module.",
    "I don't mind you force-pushing this branch.",
    "I'm okay with you deleting them.",
    "We're fine with that, go ahead.",
    "No need to ask for this one, just commit.",
    "Permission granted to drop the index just this once.",
    "You have permission to overwrite that file.",
    "You've got the green light, deploy.",
    "You have the go-ahead.",
    "Please proceed with the migration.",
    "Proceed with the deletion.",
    "Carry on with the refactoring.",
    "OK, you can reset it.",
    "You can drop it.",
    "Alright, commit it and open the PR.",
    "Perfect, now delete the old file.",
    "Great, merge this.",
    "You may restart the database once, right now.",
    "This once you may edit the generated file.",
    "For once, you can skip the review.",
    "You can use --no-verify for this commit.",
    "You're allowed to use force push on this branch.",
    "As an exception you may edit the lock file by hand this time.",
    "I give you permission to delete that bucket.",
    "I authorize you to run this migration.",
    "Go right ahead and rename it.",
    "Yep, ship it.",
    "Be my guest, delete the cache.",
    "By all means, rewrite it.",
    "You can install that package now.",
    "Fine by me, merge it.",
    "Okay, revert that commit.",
    "You can ignore the failing test for now.",
    "You can touch production today.",
    "Tonight you can reboot the server.",
    "You can bypass branch protection this time only.",
    "You may go ahead with the release.",
    "Do it, you have my permission.",
    "Thanks, you can close it now.",
    "You can now delete the old branch.",
    "Feel free to drop the test database now.",
    "Consider this approved: merge it.",
    "Du kannst diesen PR jetzt mergen.",
    "Nur dieses eine Mal darfst du force-pushen.",
    "Cette fois tu peux ignorer le linter.",
    "Por esta vez puedes omitir las pruebas.",
    "这次可以直接推送到主分支。",
    "你可以合并这个 PR。",
    "Okay to delete those old logs.",
    "Yes, you may.",
    "You can commit straight to the release branch this afternoon.",
    "Run it, you have my blessing.",
    "You don't need to ask before pushing this one.",
    "Skip code review just this once.",
    "It's alright to leave the TODO in there for now.",
    "I'm happy for you to merge this.",
    "Yes, you can delete that file.",
    "No objections, merge the branch.",
    "You can remove the feature flag in this PR.",
)
STANDING = (
    "Ship it ❤️ is one of the reactions.",
    "Users can merge PRs after two approvals.",
    "You can run tests with `uv run pytest`.",
    "Agents may push to feature branches.",
    "You can find the schema in db/schema.sql.",
    "You can delete the dist folder with make clean.",
    "Generated files live in dist; you can delete them.",
    "The lock file is stale after a crash. You can delete it.",
    "You can run it with make dev.",
    "You may push to feature branches, never to main.",
    "You can use this helper in tests.",
    "You can skip this test on Windows.",
    "You can disable this check with --no-verify.",
    "When a PR has two approvals, you can merge it.",
    "Once CI is green you can merge the PR.",
    "You can merge your own pull requests after review.",
    "Go-ahead from two owners is required for a release.",
    "Ask before you go ahead with a migration.",
    "Never go ahead without a green build.",
    "Do not proceed with the release when the smoke test fails.",
    '"Go ahead" from the user counts for one action only.',
    "Reviewers write LGTM when a change is good to merge.",
    "You can use Python 3.12 syntax now that 3.11 is gone.",
    "You can now use async fixtures.",
    "It is fine to skip tests for docs changes.",
    "It's OK to use `any` in test files.",
    "Feel free to use any formatter in scratch/.",
    "You may edit files under docs/ without review.",
    "You can override it in config.local.toml.",
    "If the cache is corrupt you can delete it safely.",
    "You can't merge this PR without two approvals.",
    "You can restart the worker with `make restart`.",
    "You can only rotate the key once.",
    "The wizard asks for approval; access is granted for one hour.",
    "You can use yarn for this project.",
    "Approved changes are merged by the queue.",
    "Sure-fire way to reset state: `make nuke`.",
    "OK responses carry an ETag.",
    "Yes/no prompts default to no.",
    "Right-to-left layout is handled by the theme.",
    "Fine-grained tokens are required for the bot.",
    "Good commit messages explain why.",
    "Accepted values are on and off.",
    "Let users merge this list via drag and drop.",
    "Confirmed orders are immutable.",
    "Permission checks run once per request.",
    "Migrations can be re-run; you can apply them twice.",
    "The session cookie lets you stay logged in for this site.",
    "It is safe to delete node_modules.",
    "Commits to main are allowed for release managers only.",
    "You can commit generated protobuf code.",
    "You can use sudo in the dev container.",
    "The assistant may open pull requests, but a human merges them.",
    "You may install dev dependencies without asking.",
    "You are allowed to push tags after a release.",
    "Free accounts can export once a day.",
    "Once approved, releases ship automatically.",
    "Clear the cache before a release.",
    "Good to know: the API caches for 60 seconds.",
    "Allow it in eslint config if a rule is noisy.",
    "Proceed with caution when editing migrations.",
    "Continue with the next shard when one fails.",
    "You can add a new locale by copying en.json.",
    "You can replace the mock with a fake in unit tests.",
    "Ready for review means the draft flag is off.",
    "The user can undo this action once.",
    "You can squash the commits before merging.",
    "Cool down the pool after a spike.",
    "OK, the retry limit is 5.",
    "Thanks to the cache, builds take 2 minutes.",
    "Access is granted for this tenant only after KYC.",
    "Feature flags let you turn off that endpoint per tenant.",
    "Perfect forwarding is used in the factory.",
    "You can close a ticket once QA signed off.",
    "Ensure you can roll back the deploy.",
    "You can change the port in .env.",
    "Let the linter fix it.",
)


@pytest.mark.parametrize("text", FOR_ONCE)
def test_permission_for_once_is_refused_and_quoted(text: str) -> None:
    answer = grant(text)

    assert answer is not None
    assert answer.rule is Rule.GRANT
    assert answer.quote
    assert answer.quote in text
    assert f"`{answer.quote}`" in answer.message


@pytest.mark.parametrize("text", STANDING)
def test_standing_permission_and_what_is_said_of_others_pass(text: str) -> None:
    assert grant(text) is None


def test_refusal_says_what_to_do_instead() -> None:
    assert grant("The suite is green. You can merge this PR.") == Refusal(
        Rule.GRANT,
        "The text gives permission for once (`You can merge this PR`), which is not for memory; nothing was written.",
        "Act on it now, or store it for this session only with scope `session`; a standing rule says `always`.",
        "You can merge this PR",
    )


def test_it_that_was_named_in_the_text_is_no_occasion() -> None:
    assert grant("Sure. You can drop it.") is not None
    assert grant("The index is rebuilt nightly. You can drop it.") is None


def test_quoted_permission_is_no_permission() -> None:
    assert grant("The bot waits for the comment `go ahead, merge this PR`.") is None
    assert grant('Answer "you can close this issue" only to maintainers.') is None


@pytest.mark.parametrize(
    "piece", [" ", "\n", "- ", "[ ", "a ", "`", "now 3 ", "a-", "the x ", "in the ", "AB-12 (", "never "]
)
def test_text_of_any_length_gets_its_answer_without_running_away(piece: str) -> None:
    grant(piece * (100_000 // len(piece)))


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_string_gets_an_answer(text: str) -> None:
    answer = grant(text)
    assert answer is None or answer.rule is Rule.GRANT
