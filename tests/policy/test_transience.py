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


@pytest.mark.parametrize(
    "mention",
    [
        "Fixed in ABC-1234.",
        "See OPS-88 for details.",
        "Blocked by CORE-417.",
        "Blocked on INFRA-77.",
        "Tracked as WEB-12.",
        "(APP-99) the login redirect loops.",
        "APP-99: the login redirect loops.",
        "The workaround from CORE-417 is needed.",
        "Follow-up: CORE-12.",
        "Closes API-31 and API-32.",
        "The login redirect loops (APP-99).",
        "Depends on PLAT-204.",
        "PROJ-17 is still open.",
    ],
)
def test_ticket_is_known_by_what_is_done_with_it(mention: str) -> None:
    answer = transient(mention)

    assert answer is not None
    assert "issue" in answer.message


@pytest.mark.parametrize(
    "name",
    [
        "Coordinates are in GCJ-02.",
        "Coordinates are stored as GCJ-02, not WGS-84.",
        "Files are UTF-8.",
        "Errors follow RFC-9457.",
        "See RFC-9457 for the error format.",
        "Hash with SHA-256.",
        "Trains follow EN-50128.",
        "Use HTTP-2 for streams.",
        "COVID-19 reports live in reports/covid.",
        "Certificates are X-509.",
        "CVE-2024-1234 is mitigated by the proxy.",
        "The MAX-232 level shifter needs five volts.",
        "The board is an STM-32 with 64 KB of flash.",
        "The F-16 simulator runs at 60 Hz.",
        "Use the BERT-12 checkpoint.",
        "Region EU-27 covers VAT rules.",
        "Error E-1042 means the disk is full.",
        "Room B-12 hosts the rack.",
        "The dataset CIFAR-10 is downloaded on first use.",
        "Use CIFAR-100 in the smoke test and MNIST-10 in CI.",
        "JSON-5 is not supported.",
        "Vitamin K-12 is a fixture name.",
        "Model GPT-4 is the default.",
        "LGPL-21 code may not be linked statically.",
        "Use the ABC-80 keyboard layout in retro mode.",
        "MIL-STD-1553 frames are parsed by bus/mil.py.",
        "Sprites follow the PAL-25 timing.",
        "Support for ISO-8601 was added in version 3.",
        "Fixed-width columns follow EDI-850.",
        "The format described in EDI-850 is parsed by edi.py.",
        "Tests cover IPV-4 and IPV-6.",
    ],
)
def test_name_with_a_number_is_no_ticket(name: str) -> None:
    assert transient(name) is None


@pytest.mark.parametrize(
    "subject",
    [
        "Waiting for networkidle makes Playwright flaky; use locators.",
        "Working on main is forbidden; branch first.",
        "Working on two tickets at once never works here.",
        "Looking at the trace first saves time.",
        "Waiting for the lock takes up to 30 s.",
        "Waiting on a condition variable requires the mutex.",
    ],
)
def test_gerund_that_is_a_subject_is_no_progress(subject: str) -> None:
    assert transient(subject) is None


@pytest.mark.parametrize(
    "said",
    [
        "Waiting for the review.",
        "Waiting for approvals on the PR.",
        "Working on the parser.",
        "Working on the changes.",
        "Looking into the flaky test.",
        "Looking at the server that is down.",
        "We worked on the parser this session.",
        "The agent fixed the flaky test.",
        "Command exited with code 1.",
    ],
)
def test_what_a_session_did_is_refused(said: str) -> None:
    assert transient(said) is not None


@pytest.mark.parametrize(
    "piece", [" ", "\n", "- ", "[ ", "a ", "`", "now 3 ", "a-", "the x ", "in the ", "AB-12 (", "never "]
)
def test_text_of_any_length_gets_its_answer_without_running_away(piece: str) -> None:
    transient(piece * (100_000 // len(piece)))


@given(st.text(st.characters(exclude_categories=())))
def test_any_string_gets_an_answer(text: str) -> None:
    answer = transient(text)
    assert answer is None or answer.rule is Rule.TRANSIENT
