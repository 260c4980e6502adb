"""What will be stale next month is kept out of automatic review; durable facts with numbers and failures pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.transience import transient
from noforgetti.policy.verdict import Rule

SHA = "3f9c" * 10


@pytest.mark.parametrize(
    ("stale", "why"),
    [
        ("The crash is described in issue 917.", "issue"),
        ("Blocked by PR #88.", "issue"),
        ("See #1204 for the plan.", "issue"),
        ("Fixes #7.", "issue"),
        ("Review happens in !312.", "issue"),
        ("CORE-417 has the details.", "issue"),
        (f"The fork point is {SHA}.", "commit"),
        ("Introduced in 8e1f3ab by the formatter change.", "commit"),
        ("I have already renamed the module.", "progress"),
        ("Now working on the second adapter.", "progress"),
        ("Three tests left.", "progress"),
        ("The migration is almost finished.", "progress"),
        ("Created the new endpoint and its tests.", "progress"),
        ("Ported the parser and fixed the tests.", "progress"),
        ("We're waiting for the review.", "progress"),
        ("Renamed the flag in this branch.", "progress"),
        ("PyPI is down.", "passing failure"),
        ("Duplicate of #9.", "issue"),
        ("TypeError: x is not a function", "raw output"),
        ("src/app.ts(12,5): error TS2322", "raw output"),
        ("GET /api/users 500 123ms", "raw output"),
        ("TODO: split the worker.", "progress"),
        ("- [ ] write the docs", "progress"),
        ("The build server is down.", "passing failure"),
        ("CI is currently red.", "passing failure"),
        ("Uploads fail today with a 502.", "passing failure"),
        ("Wait until the registry is back.", "passing failure"),
        ("Deploys happen tomorrow.", "time"),
        ('Traceback (most recent call last):\n  File "x.py", line 3', "raw output"),
        ("2025-11-03 08:15:22,120 INFO worker started", "raw output"),
        ("    at Object.run (/srv/app/index.js:12:5)", "raw output"),
        ("diff --git a/x b/x", "raw output"),
        ("=== 12 passed, 3 failed in 4.1s", "raw output"),
    ],
)
def test_text_that_will_be_stale_soon_is_refused(stale: str, why: str) -> None:
    answer = transient(stale)

    assert answer is not None
    assert answer.rule is Rule.TRANSIENT
    assert why in answer.message
    assert answer.quote in " ".join(stale.split())


@pytest.mark.parametrize(
    "durable",
    [
        "The gateway listens on port 9443 and answers 429 above 100 requests a second.",
        "Migrations are named 20250131_add_index.sql.",
        "Log lines are UTF-8 and times are ISO-8601 in UTC.",
        "Passwords are hashed with SHA-256 and PBKDF2 in legacy rows.",
        "Brand blue is #102030 and the hex for warnings is #998877.",
        "Branches are named after tickets, such as CORE-123-short-title.",
        "Step #10 of the installer needs root.",
        "TODO comments must name an owner.",
        "Builds fail on paths with spaces; quote them.",
        "A timeout in the first request means the lambda is cold.",
        "Closed orders are archived after 90 days.",
        "We moved from Jest to Vitest for ESM; do not add Jest config.",
        "The importer now and then needs a second pass over links.",
        "A red status bar marks production.",
        "Use today's date in UTC for report names.",
        "Version 3.11 is the oldest supported Python.",
        "A NullPointerException at start means the profile is missing.",
        "The cafe 'deadbeef' constant fills freed memory.",
        "Release 2.4.0 removed the XML API.",
        "Fixed-point arithmetic is used for money.",
        "Removed columns stay in the view for one release.",
        "There are two modules left in JavaScript on purpose.",
        "Tests wait until the server is back before they retry.",
        "Feature work is done on short branches.",
        "The calendar highlights today.",
        "The sidebar is down on mobile.",
        "Integration tests need Docker; unit tests do not.",
    ],
)
def test_durable_fact_passes(durable: str) -> None:
    assert transient(durable) is None


@given(st.text(st.characters(exclude_categories=())))
def test_any_string_gets_an_answer(text: str) -> None:
    answer = transient(text)
    assert answer is None or answer.rule is Rule.TRANSIENT
