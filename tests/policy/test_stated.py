"""Standing preferences are found as full sentences; questions, tasks, complaints and what guards refuse are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.stated import MOST, question, stated

TOKEN = "gh" + "p_" + "a8Kq2LmZ" * 4 + "Zx91"
STATED = (
    "Call me Kim.",
    "Please never use emojis.",
    "I'd prefer named exports.",
    "Default to TypeScript for new scripts.",
    "Make sure to always run the linter.",
    "Remember to run the linter before each commit.",
    "Remember that I use Windows.",
    "I'm on Windows, so use PowerShell syntax.",
    "Prefer composition over inheritance.",
    "Ask before you install anything.",
    "Write commit messages in the imperative mood.",
    "Answer in German.",
    "Commit messages should be in English.",
    "Our team prefers merge commits.",
    "I can't stand single-letter variable names.",
    "It drives me crazy when tests print to stdout.",
    "Please be concise.",
    "Be terse in your replies.",
    "I don't want comments that repeat the code.",
    "I use fish, not bash.",
    "Reply to me in French.",
    "Only use the standard library.",
    "Don't add comments unless the code is surprising.",
    "Use snake_case for file names.",
    "No emojis in commit messages.",
    "My time zone is CET.",
    "My name is Robin and I work in finance.",
    "I work as a data engineer.",
    "I'm colour-blind, so avoid red and green alone.",
    "We never deploy on Fridays.",
    "We don't use default exports.",
    "Whenever you add a dependency, tell me why.",
    "Every time you change the schema, update the ER diagram.",
    "In future, run the type checker first.",
    "In general, keep modules small.",
    "I always want to see the diff before you commit.",
    "Never push without my approval.",
    "Don't use mocks for the database.",
    "Do not use abbreviations.",
    "Stop adding trailing comments.",
    "Use single quotes instead of double quotes.",
    "Tests must never hit the network.",
    "Run the formatter before every commit.",
    "Wrap lines at 100 columns everywhere.",
    "I really like small, focused commits.",
    "I love table tests.",
    "I dislike inheritance.",
    "We follow trunk-based development.",
    "From here on, write tests first.",
    "By default, use UTC.",
    "Keep a changelog entry for every user-visible change.",
    "Each function gets a docstring, always.",
    "Please always sign off commits.",
    "Verwende immer pnpm.",
    "Antworte bitte auf Deutsch.",
    "Je préfère les petites fonctions.",
    "Prefiero commits pequeños.",
    "请始终用中文回答。",
    "以后不要用 npm。",
    "Address me as Dr. Chen.",
    "You should always check the logs first.",
    "Never, ever force push.",
    "Avoid one-letter names.",
    "I want all dates in ISO format.",
    "I expect every module to have tests.",
    "I want tests to be deterministic.",
    "My favourite editor is Vim.",
    "We squash our commits.",
    "Explain things briefly.",
    "Imports should be sorted.",
    "Treat warnings as errors in all builds.",
    "As a general rule, no function takes more than four arguments.",
    "I'd rather see a failing test than a skipped one.",
    "Don't ever commit secrets.",
)
PASSING = (
    "Fix the failing test in src/app.ts.",
    "Add a test for each endpoint.",
    "Fix all lint errors.",
    "The build always fails on CI.",
    "I always get an error when I run the build.",
    "Never mind, I found it.",
    "I want to add a feature to export reports.",
    "I want the button to be blue.",
    "I want you to fix the bug in the parser.",
    "I want users to be able to log in with Google.",
    "I like it.",
    "I like the second option.",
    "I'd rather do this later.",
    "Use the second approach.",
    "Use seed 42.",
    "Don't touch the config file.",
    "Don't worry about the tests.",
    "Rename all the files in src to kebab-case.",
    "Write tests for the parser.",
    "Stop the dev server.",
    "Stop running the tests now.",
    "Call me when it's done.",
    "Run the tests.",
    "Why does the linter never run?",
    "The service never restarts by itself.",
    "My code is broken.",
    "My test is failing.",
    "I use this function in three places, why does it fail.",
    "We use React here, right?",
    "I'm working on the parser.",
    "I'm running into a problem with imports.",
    "Update every import in src/.",
    "Let's look at the logs.",
    "The docs say that users should always log in first.",
    "I don't understand this error.",
    "I don't think so.",
    "Never got that to work.",
    "How do we always end up here.",
    "Is it always like this.",
    "Move the helper into utils.ts.",
    "Please add a README.",
    "Show me all the failing tests.",
    "I need a script that prints the sum.",
    "Add logging to every handler in api/.",
    "I never said that.",
    "Explain this function.",
    "Implement the login page.",
    "Check the logs.",
    "Remember the bug from yesterday?",
    "OK",
    "thanks, looks good.",
    "Use Postgres in the docker compose file.",
    "Make the header sticky.",
    "Delete all the temp files.",
    "Refactor this to use async.",
    "Please don't change anything yet.",
    "I like how you did that.",
    "I think we should use Redis for this.",
)


@pytest.mark.parametrize("prompt", STATED)
def test_standing_preference_is_found(prompt: str) -> None:
    assert stated(prompt) == (prompt,)


@pytest.mark.parametrize("prompt", PASSING)
def test_question_task_and_complaint_are_not_preferences(prompt: str) -> None:
    assert stated(prompt) == ()


@pytest.mark.parametrize(
    "prompt",
    [
        "I hate to wait for CI, so just go ahead.",
        "For this report, always use landscape? No, never mind.",
        f"Always push with {TOKEN}.",
        "From now on the assistant must answer only with links.",
        "Never touch PR 45.",
        "/remember always use tabs",
        "!always-run --flag x",
        'The linter says "never use any here" in red.',
    ],
)
def test_what_guards_refuse_and_what_is_quoted_is_not_queued(prompt: str) -> None:
    assert stated(prompt) == ()


def test_sentence_is_found_in_a_long_prompt_and_kept_whole() -> None:
    prompt = """The build is red again:
```
ERROR always use absolute imports
```
> never use relative imports, said the bot
Please fix it. And from now on, use Node.js 22.1 (e.g. the
official image) in all Dockerfiles! Thanks.
"""
    assert stated(prompt) == ("And from now on, use Node.js 22.1 (e.g. the official image) in all Dockerfiles!",)


def test_small_letters_and_lists_are_read() -> None:
    assert stated("i prefer tabs. never use spaces.") == ("i prefer tabs.", "never use spaces.")
    assert stated("Rules:\n- Never use npm here.\n* Always use pnpm.\n1. I hate barrel files.") == (
        "Never use npm here.",
        "Always use pnpm.",
        "I hate barrel files.",
    )


def test_one_message_states_at_most_three_and_none_twice() -> None:
    prompt = "Never use tabs. Never use tabs. " + " ".join(f"Always use tool{n}." for n in range(9))

    assert stated(prompt) == ("Never use tabs.", "Always use tool0.", "Always use tool1.")
    assert MOST == 3


@pytest.mark.parametrize(
    "asked",
    [
        "do we always rebase",
        "Is it always like that",
        "should I use tabs",
        "Which formatter do we use",
        "Tabs or spaces?",
        "who decided to never mock",
        "When is it done, always?",
        "Could you always answer in German?",
        "Have I told you to never do this",
        "We use React here, right?",
        "I wonder whether we always squash.",
        "¿Siempre usamos pnpm?",
        "我们总是用 pnpm 吗",
    ],
)
def test_question_needs_no_mark(asked: str) -> None:
    assert question(asked)


@pytest.mark.parametrize(
    "said",
    [
        "I prefer tabs, ok?",
        "Always use pnpm, right?",
        "I hate semicolons, don't you?",
        "Do not use npm.",
        "Should a test fail, rerun it.",
        "What I want is small pull requests.",
        "Question each dependency.",
    ],
)
def test_tag_makes_no_question(said: str) -> None:
    assert not question(said)


@pytest.mark.parametrize(
    "piece", [" ", "\n", "- ", "[ ", "a ", "`", "now 3 ", "a-", "the x ", "in the ", "AB-12 (", "never "]
)
def test_text_of_any_length_gets_its_answer_without_running_away(piece: str) -> None:
    stated(piece * (100_000 // len(piece)))


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_string_gets_an_answer(text: str) -> None:
    assert len(stated(text)) <= MOST
    assert question(text) in (True, False)
