"""A repetition says nothing new; what is one word apart, or says more, may be a replacement; the rest is neither."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.likeness import Likeness, compare, gist, touches

REPEATS, MAY_REPLACE = Likeness.REPEATS, Likeness.MAY_REPLACE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Use pnpm.", "use  PNPM"),
        ("Never edit vendored files.", "Vendored files must not be edited."),
        ("Run lint before tests.", "Run tests after lint."),
        ("use sed for daily note insertion", "use sed for daily notes insertion"),
        ("The API calls the worker.", "The worker is called by the API."),
        ("Tests must be run with `uv run pytest`.", "Run tests with `uv run pytest`."),
        ("Secrets live in the vault.", "The vault is where secrets live."),
        ("Keep lines below ninety characters.", "Lines should stay under 90 characters."),
        ("Commit the lock file.", "The lockfile must be committed."),
        ("Never use floats.", "Never use floats."),
        ("总是推送到主分支", "总是推送到主分支。"),
        ("Never use floats for money; use Decimal with two places.", "Never use floats for money."),
    ],
)
def test_the_same_in_other_words_is_a_repetition(old: str, new: str) -> None:
    assert compare(new, old) is REPEATS


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Tests run with nose.", "Tests run with pytest."),
        ("Use npm as the package manager.", "Use bun as the package manager."),
        ("Retry failed uploads 3 times.", "Retry failed uploads 5 times."),
        ("Merge requests need one approval.", "Merge requests need two approvals."),
        ("Run lint before tests.", "Run tests before lint."),
        ("First build, then test, then deploy.", "First test, then build, then deploy."),
        ("Merge main into feature branches.", "Merge feature branches into main."),
        ("The API calls the worker.", "The worker calls the API."),
        ("Use tabs instead of spaces.", "Use spaces instead of tabs."),
        ("Prefer tabs over spaces.", "Prefer spaces over tabs."),
        ("Format SQL files.", "Format SQL files with sqlfluff."),
        ("Never push.", "Never push on Fridays."),
        ("Never push on Fridays.", "Never push."),
        ("Use `make test`.", "Use `make tests`."),
    ],
)
def test_one_word_apart_or_saying_more_may_replace(old: str, new: str) -> None:
    assert compare(new, old) is MAY_REPLACE
    assert compare(new, old, cosine=1.0) is MAY_REPLACE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Images are stored in S3.", "Backups are stored in S3."),
        ("The lexer is hand-written.", "The printer is hand-written."),
        ("Logs go to Loki.", "Metrics go to Prometheus."),
        ("Sessions expire after 15 days.", "Tokens expire after 15 minutes."),
        ("", "Use pnpm."),
    ],
)
def test_another_fact_of_the_topic_is_neither(old: str, new: str) -> None:
    assert compare(new, old) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always push to main.", "Never push to main."),
        ("do not push to main", "do push to main"),
        ("Use tabs, not spaces.", "Use spaces, not tabs."),
        ("Niemals auf main pushen.", "Immer auf main pushen."),
        ("Auf main pushen.", "Nicht auf main pushen."),
        ("Toujours pousser sur main.", "Ne jamais pousser sur main."),
        ("Siempre usar tabs.", "No usar tabs nunca."),
        ("总是推送到主分支", "从不推送到主分支"),
        ("推送到主分支", "不要推送到主分支"),
        ("Всегда пушить в main.", "Никогда не пушить в main."),
        ("Listen on port 8080 with `serve`.", "Listen on port 8081 with `serve`."),
        ("Format `src/a.py` after changes.", "Format `src/b.py` after changes."),
        ("We chose Redis over Kafka for the job queue.", "We chose Kafka over Redis for the job queue."),
        ("Ask Alice before releasing the server.", "Ask Bob before releasing the server."),
        ("Keep functions under forty lines.", "Keep functions over forty lines."),
        ("Retry at most three times.", "Retry at least three times."),
        ("Deploy with a changelog entry.", "Deploy without a changelog entry."),
        ("Agents may push to main.", "Agents must push to main."),
        ("Some tests need Docker.", "All tests need Docker."),
        ("Python is faster than Go.", "Go is faster than Python."),
        ("Frontend depends on backend.", "Backend depends on frontend."),
        ("Accept JSON, return XML.", "Accept XML, return JSON."),
        ("Review by Alice, approval by Bob.", "Review by Bob, approval by Alice."),
        ("Dev uses port 80 and prod uses port 81.", "Dev uses port 81 and prod uses port 80."),
        (
            "The worker reads from the queue and writes to the cache.",
            "The worker reads from the cache and writes to the queue.",
        ),
    ],
)
def test_no_nearness_in_meaning_merges_what_differs_in_substance(one: str, other: str) -> None:
    assert compare(one, other, cosine=0.99) is not REPEATS
    assert compare(other, one, cosine=0.99) is not REPEATS


def test_a_negative_text_does_not_repeat_the_same_words() -> None:
    text = "Pushing directly to main"

    assert compare(text, text, new_negative=True) is None
    assert compare(text, text, new_negative=True, old_negative=True) is REPEATS
    assert compare("Never push directly to main.", "Push directly to main", old_negative=True) is REPEATS


@pytest.mark.parametrize(
    ("shared", "cosine", "expected"),
    [
        ("", None, None),
        ("", 0.89, None),
        ("", 0.94, None),
        ("", 0.95, REPEATS),
        ("", 1.0, REPEATS),
        (" on Linux", 0.89, None),
        (" on Linux", 0.9, REPEATS),
    ],
)
def test_between_090_and_095_six_of_ten_words_must_be_shared(
    shared: str, cosine: float | None, expected: Likeness | None
) -> None:
    old = f"The release script of the server requires a clean Git worktree{shared}."  # 5 of 9 words are shared
    new = f"The release script of the server only works in a clean git tree{shared}."  # 6 of 10

    assert compare(new, old, cosine=cosine) is expected


def test_texts_that_share_little_are_not_worth_comparing() -> None:
    one = gist("Run the integration tests with Docker in CI.")

    assert not touches(one, gist("Docker images are scanned by trivy every night."))
    assert touches(one, gist("Integration tests need Redis."))
    assert touches(gist("Use pnpm!"), gist("use pnpm"))
    assert touches(gist("it is"), gist("It is."))


@given(st.text(max_size=200), st.text(max_size=200), st.one_of(st.none(), st.floats(-1, 1)))
def test_no_pair_is_too_strange(new: str, old: str, cosine: float | None) -> None:
    assert compare(new, old, cosine=cosine) in (None, REPEATS, MAY_REPLACE)


@given(st.text(max_size=200))
def test_a_text_repeats_itself(text: str) -> None:
    assert compare(text, text) is REPEATS
    assert touches(gist(text), gist(text))


def test_the_same_numbers_in_other_places_say_something_else() -> None:
    assert compare("Writer 1 wrote sentence 0.", "Writer 0 wrote sentence 1.") is not Likeness.REPEATS
