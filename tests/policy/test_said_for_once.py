"""Sentences that were written beside the tables, not from them: what is for once, and what holds."""

from __future__ import annotations

import pytest

from noforgetti.policy.grants import grant
from noforgetti.policy.task_scope import task_scope
from noforgetti.policy.transience import transient

GRANTS = [
    "You're good to deploy.",
    "Sure, go ahead and merge.",
    "OK, push it.",
    "I approve this change, ship it.",
    "You can force push this time.",
    "Yes, you may drop that column.",
    "It's fine to skip the tests on this one.",
    "Go ahead and delete the old branch.",
    "You have my okay to publish 2.1.",
    "No objections, merge away.",
    "Green light for the rollout.",
    "Feel free to reboot the box.",
    "I don't mind if you rewrite this file.",
    "You may install it globally just for now.",
    "Consider this approved.",
    "Allowed to overwrite it this once.",
    "Ok, do it.",
    "You can now close this one.",
    "You're allowed to change that test.",
    "I'm okay with dropping this table.",
    "Sounds good, deploy to production.",
    "You can bump the version for this release.",
    "Alright, go ahead with the merge.",
    "Yes, rename it.",
    "You may skip review for this PR.",
    "Let me make an exception: push straight to main this once.",
    "Fine by me, delete those files.",
    "Please proceed.",
    "Go right ahead and squash them.",
    "It's alright to rewrite history on this branch.",
    "This time you may ignore the failing check.",
    "Sure, you can remove that flag.",
]

TASKS = [
    "Once finished, mail me a summary.",
    "As soon as the tests pass, produce a changelog file.",
    "For this migration only, disable the triggers.",
    "While migrating to Vue 3, keep the old router.",
    "When you upgrade to Node 22, delete the polyfills.",
    "Set timeout to 60s (previously 30s).",
    "Increase the retries from 2 to 4.",
    "In this PR please leave out the docs.",
    "For the demo tomorrow, use the seeded database.",
    "When this is done, write a short report in markdown.",
    "After finishing, give me the list of changed files.",
    "Let's use a temporary branch for this fix.",
    "In this session, answer briefly.",
    "Include the chart in this document.",
    "I need a csv with the results when you are through.",
    "When the review is over, post a summary in the channel.",
    "For this bug, only touch the parser.",
    "Drop the beta flag from 1.9 to 1.10.",
    "While working on this branch, skip the e2e tests.",
    "In the current PR, don't change the API.",
    "Once you're done with the charts, export them as png.",
    "I'd like a table of the results at the end.",
    "For now, hardcode the URL.",
    "When migrating to Python 3.13, remove the backports.",
    "Reduced the batch size from 500 to 100.",
    "Switch the log level to debug for this run.",
    "For tomorrow's demo, hide the admin menu.",
    "The interval is now 10s (it was 5s).",
    "Until this ticket is closed, don't refactor.",
    "Add a changelog entry for this fix.",
]

DURABLE = [
    "The CI bot can approve dependency updates.",
    "Reviewers may merge after one approval.",
    "You can reach the staging database through the bastion.",
    "Users are allowed to delete their own comments.",
    "When the build fails, check the cache key first.",
    "When a migration is added, bump the schema version.",
    "Node 22 is required because of the fetch API.",
    "For reports, the locale is always de-CH.",
    "The report generator writes to out/reports.",
    "Once a token expires, the client refreshes it.",
    "Timeouts are 30 seconds for reads and 60 for writes.",
    "The worker count was chosen to match the CPU count.",
    "The approval workflow has two stages.",
    "Merge commits are disabled on main.",
    "It is fine to use any in test helpers.",
    "You must have Docker running for the integration tests.",
    "The deploy step can be skipped with --no-deploy.",
    "After each release, tag the image with the version.",
    "Force-pushing to release branches is blocked by the server.",
    "Feel free is a phrase banned in our style guide.",
    "The permission model grants read access to guests.",
    "Before upgrading Postgres, take a snapshot.",
    "The demo data set lives in fixtures/demo.",
    "This repository uses trunk-based development.",
    "This service polls every 30 minutes.",
    "Version 2.0 of the API drops XML support.",
    "The summary page is rendered on the server.",
    "Changed files are listed in the build artifact.",
    "Ask before deleting anything.",
    "Tasks are tracked in Linear.",
    "Deploys to production need two approvals.",
    "The merge queue runs every check again.",
    "Anyone in the team can restart the worker.",
    "When you add a column, also add an index.",
    "For tests, use the in-memory database.",
    "After a deploy, the cache is cold for a minute.",
    "The timeout was chosen because the upstream needs 20 s.",
    "Logs are kept for 30 days.",
    "Permissions are checked in the middleware.",
    "In this repository, scripts live in bin/.",
    "This project targets Node 22.",
    "Run the e2e suite with make e2e.",
    "The beta flag is read from LaunchDarkly.",
    "The interval of the poller is 10 seconds.",
    "Keep commits small.",
    "Tickets are closed by the merge bot.",
    "On this team, Monday is release day.",
    "You can run the server with make serve.",
    "Editors may publish drafts after review.",
    "When the queue is full, producers block.",
    "Before merging, squash fixup commits.",
    "Use the staging bucket for uploads in CI.",
    "The exporter writes png files at 2x.",
    "A summary of each incident goes to docs/incidents.",
    "Migrations are reversible; test both ways.",
    "The first run takes a minute because of the model download.",
    "Rename detection is off in our git config.",
    "Ship it means deploy in this team's slang.",
    "Version 3 of the schema is frozen.",
    "For Windows, use the zip archive.",
]

STANDING = [
    "Please always run the linter before committing.",
    "I like my commit messages short.",
    "From now on write tests first.",
    "Don't use emojis in commit messages.",
    "Never touch the vendor directory.",
    "We prefer functional components.",
    "My name is Robin.",
    "I work with Python 3.12 mostly.",
    "Our team always rebases.",
    "Going forward, log in JSON.",
    "I'd prefer you to ask before installing packages.",
    "Avoid abbreviations in identifiers.",
    "Keep the imports sorted.",
    "Make sure to update the docs whenever the API changes.",
    "Only use double quotes in JavaScript.",
    "I always want type hints.",
    "Prefer composition over inheritance.",
    "Never force-push to shared branches.",
    "Please use metric units.",
    "Don't add comments that repeat the code.",
    "Use snake_case for database columns.",
    "I work in the Berlin time zone.",
    "Call me Sam.",
    "We never deploy on Fridays.",
    "I really dislike long functions.",
    "Always ask before installing a new package.",
    "Answer in French from now on.",
    "My stack is Django and htmx.",
    "Stick to functional style.",
    "No emojis in commit messages, please.",
    "I don't like inline styles.",
    "Every PR needs a test.",
    "Write docstrings in Google style.",
]


@pytest.mark.parametrize("text", GRANTS)
def test_permission_for_once_is_refused(text: str) -> None:
    assert grant(text) is not None


@pytest.mark.parametrize("text", TASKS)
def test_an_instruction_for_one_task_is_refused(text: str) -> None:
    assert task_scope(text) is not None


@pytest.mark.parametrize("text", DURABLE)
def test_a_fact_passes_every_guard(text: str) -> None:
    assert (grant(text), task_scope(text), transient(text)) == (None, None, None)


@pytest.mark.parametrize("text", STANDING)
def test_a_standing_preference_passes(text: str) -> None:
    assert (grant(text), task_scope(text)) == (None, None)
