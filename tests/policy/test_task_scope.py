"""Instructions that end with a task are refused; standing instructions and facts with the same words pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.task_scope import task_scope
from noforgetti.policy.verdict import Refusal, Rule

FOR_ONE_TASK = (
    "When done, I want an html report.",
    "When bumping to 1.4.0, drop the vendor dir.",
    "For this report, use two columns.",
    "Every 30min (changed from 1h).",
    "When the migration is done, send me the list of failed rows.",
    "Once the build is green, give me a changelog draft.",
    "As soon as the benchmark finishes, post the table here.",
    "After you're done, I need a short report.",
    "When everything is finished, make a summary page.",
    "When you have finished, create a PDF of the results.",
    "Once that's finished, show me the diff.",
    "After the upload completes, tell me which files failed.",
    "Give me a one-page summary when you are done.",
    "Send me the csv once the export is ready.",
    "When finished, write a summary to notes.md.",
    "When migrating to Vue 3, keep the old router.",
    "When upgrading from 2.3 to 3.0, delete the config shim.",
    "While moving to Python 3.13, pin numpy.",
    "After the upgrade to React 19, remove the polyfill.",
    "Remove the compat layer when upgrading to Django 5.2.",
    "Before tagging v2.1.0, update the screenshots.",
    "For this PR, keep the old names.",
    "In this PR, leave the tests alone.",
    "For the current sprint, focus on bugs.",
    "On this branch we only fix typos.",
    "During this migration, do not touch the users table.",
    "As part of this refactoring, rename the helpers too.",
    "For today's demo, seed the database with fake users.",
    "For tomorrow's release, freeze the schema.",
    "Write the tests of this ticket in TypeScript.",
    "Put the figures for this paper into figs/.",
    "Use the blue palette for this chart.",
    "Keep this summary under 200 words.",
    "Make this report a PDF.",
    "For the presentation, use large fonts.",
    "For the demo, hide the debug menu.",
    "In the email you're drafting, mention the delay.",
    "In the doc you are writing, skip the history.",
    "This time, use a feature flag.",
    "For now, keep both endpoints.",
    "Keep the old endpoint for now.",
    "Just for today, use the staging key.",
    "Raised the timeout from 30s to 60s.",
    "Lowered the log level from debug to info.",
    "Increase the memory limit from 2 GB to 4 GB.",
    "Timeout is now 60 seconds instead of 30.",
    "Set retries to 5 (previously 3).",
    "Run the job hourly (was daily).",
    "The interval is 10 min (down from 15 min).",
    "Upgrade eslint from 8.57.0 to 9.1.0.",
    "Changed the port to 8081, was 8080.",
    "The batch size is 64 (formerly 32).",
    "After this deploy, delete the old bucket.",
    "Once this task is done, remove the debug flag.",
    "Don't update the lock file in this commit.",
    "For this ticket I want two commits.",
    "I need the results of this run as a table.",
    "At the end of this task, list the open questions.",
    "For this bug, add a regression test in tests/login.",
    "Only for this change, skip the formatter.",
    "When it's ready, mail me the link.",
    "Use seed 7 for this run.",
    "In this session, answer in French.",
    "Pin react to 18.2.0 (was 18.3.1).",
    "For that page, use the compact layout.",
    "Für diesen Bericht bitte Querformat.",
    "Wenn du fertig bist, schick mir eine Zusammenfassung.",
    "Pour ce rapport, utilise le format A4.",
    "Para este informe usa tablas.",
    "完成后给我一份报告。",
    "In this experiment we keep the learning rate fixed.",
    "When the tests pass, send me a screenshot.",
    "When you're finished with the parser, give me an overview.",
)
STANDING = (
    "When done, commit and push everything.",
    "When bumping versions, update the changelog.",
    "For reports, use ISO dates.",
    "When upgrading dependencies, run the full suite.",
    "When upgrading a major version, read the migration guide.",
    "For this project, use pnpm.",
    "Bump the schema version when a model changes, in the same commit.",
    "Run the linter on the current branch before a push.",
    "Deprecate a flag in one release and remove it in the next release.",
    "In this repository, tests live beside the code.",
    "For this module, 100 % coverage is required.",
    "When the build fails, read the first error only.",
    "When you finish a task, give me a summary.",
    "When a migration finishes, the lock is released.",
    "After a deploy, check the dashboard.",
    "Once tests pass, push.",
    "Once a PR has two approvals, merge it.",
    "When finished, run make check.",
    "The default timeout is 30 seconds.",
    "Scale the workers from 2 to 8 under load.",
    "The users table (previously accounts) holds tenants.",
    "Retry from 3 to 5 times with backoff.",
    "Tokens are valid for this session only.",
    "The report page is cached for five minutes.",
    "For the release notes, use the present tense.",
    "For the changelog, follow Keep a Changelog.",
    "In the README, use relative links.",
    "For the API, use kebab-case paths.",
    "The summary endpoint returns at most 100 rows.",
    "Python 3.12 is the oldest supported version since the upgrade to Django 5.",
    "Django 5.2 removed the shim, so do not call it.",
    "When upgrading to Node 20, native modules break on ARM.",
    "Use the demo tenant for screenshots.",
    "Set the pool size to 20.",
    "Use port 8443 for the sidecar, not 8080.",
    "Rename files with git mv.",
    "Ports from 8000 to 8100 are reserved.",
    "Bump the version with npm version, not by hand.",
    "Migrate data from v1 to v2 with scripts/migrate.py.",
    "Run this script after changing the schema.",
    "This service owns the billing tables.",
    "After this point in the boot sequence, logging is available.",
    "Use ruff, not flake8.",
    "Now is the time zone of the server, UTC.",
    "For this kind of bug, add a regression test first.",
    "Reports must be in landscape.",
    "When the queue is empty, the worker exits.",
    "When the cache is ready, the gateway answers 200.",
    "When CI is green, squash and merge.",
    "When a user finishes onboarding, send them an email.",
    "In the report module, never call the API directly.",
    "Dates in the report use UTC.",
    "Pass the request in this order: id, then body.",
    "Convert images from PNG to WebP before committing.",
    "The step after this one needs root.",
    "Release branches are cut on Mondays; before a release, update the docs.",
    "Before releasing, bump the version in pyproject.toml.",
    "In tests, use the fake clock.",
    "Writing to this page table requires the lock.",
    "For the current user, call auth.me().",
    "Show the current page in bold in the sidebar.",
    "Highlight the current branch in the prompt.",
    "Create a file per migration when the schema changes.",
    "Write a changelog entry when done.",
    "With Python 3.13, use the new REPL.",
    "In version 2, the flag is called --strict.",
    "After login, the app redirects to /home.",
    "On the build server, use the cached image.",
    "Check the results in the dashboard once the job is done.",
    "Log in before this call or it returns 401.",
    "Temporary files go to /tmp/app and are cleaned on exit.",
    "The old API (before 2.0) returned XML.",
    "Set LOG_LEVEL to debug (default: info).",
    "Keep the summary line under 72 characters.",
)


@pytest.mark.parametrize("text", FOR_ONE_TASK)
def test_instruction_for_one_task_is_refused_and_quoted(text: str) -> None:
    answer = task_scope(text)

    assert answer is not None
    assert answer.rule is Rule.TASK_SCOPE
    assert answer.quote
    assert answer.quote in text
    assert f"`{answer.quote}`" in answer.message


@pytest.mark.parametrize("text", STANDING)
def test_standing_instruction_and_fact_pass(text: str) -> None:
    assert task_scope(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("When done, hand me a short list of the gaps.", "asks for something once, after an event"),
        ("When bumping to 2.6.1, delete the old lock file.", "is a step of one version's upgrade"),
        ("For this poster, use A0.", "is about one piece of work"),
        ("This time, start with the docs.", "is meant for now"),
        ("Sync every 5 min (changed from 15 min).", "notes that a value was changed"),
    ],
)
def test_refusal_says_which_kind_it_is(text: str, why: str) -> None:
    answer = task_scope(text)

    assert answer is not None
    assert answer.message.startswith(f"The text {why} (`")


def test_refusal_says_what_to_do_instead() -> None:
    assert task_scope("Reports are in A4. For this report, use A3.") == Refusal(
        Rule.TASK_SCOPE,
        "The text is about one piece of work (`For this report, use`), which ends with its task; nothing was written.",
        "Follow it now, or store it for this task or session only with scope `task` or `session`.",
        "For this report, use",
    )


def test_habitual_word_makes_an_instruction_a_standing_one() -> None:
    assert task_scope("When you're done, give me a summary.") is not None
    assert task_scope("When you're done, always give me a summary.") is None


@pytest.mark.parametrize(
    "piece", [" ", "\n", "- ", "[ ", "a ", "`", "now 3 ", "a-", "the x ", "in the ", "AB-12 (", "never "]
)
def test_text_of_any_length_gets_its_answer_without_running_away(piece: str) -> None:
    task_scope(piece * (100_000 // len(piece)))


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_string_gets_an_answer(text: str) -> None:
    answer = task_scope(text)
    assert answer is None or answer.rule is Rule.TASK_SCOPE
