"""A fact that a checked-in document states is recognised; its negation, or the same with another tool, is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.documented import documented, sentences
from noforgetti.policy.verdict import Refusal, Rule

AGENTS = """
# House rules

Use **pnpm** instead of npm. Run `make check`
before you push to a shared branch.

* Never commit generated files.
* The API lives in `services/api`; the [worker](docs/worker.md) lives in `services/worker`.
1. Database migrations are reviewed by two people.

| topic | rule |
| money | Amounts are stored in cents |

```sh
docker compose up --build
```

提交前请运行格式化工具。
"""


def answer(text: str) -> Refusal | None:
    return documented(text, [("README.md", "Nothing here."), ("AGENTS.md", AGENTS)])


@pytest.mark.parametrize(
    "known",
    [
        "Use pnpm instead of npm.",
        "We always use PNPM rather than npm",
        "Use pnpm, not npm.",
        "Run `make check` before pushing to shared branches.",
        "Generated files must never be committed.",
        "Don't commit generated files",
        "The worker lives in services/worker.",
        "All database migrations are reviewed by two people.",
        "Amounts are stored in cents.",
        "Never commit generated files. Use pnpm instead of npm.",
        "提交前请运行格式化工具",
    ],
)
def test_fact_of_a_document_is_refused_with_its_name(known: str) -> None:
    found = answer(known)

    assert found is not None
    assert (found.rule, found.quote) == (Rule.DOCUMENTED, "AGENTS.md")


@pytest.mark.parametrize(
    "new",
    [
        "Use npm instead of pnpm.",
        "Use yarn instead of npm.",
        "Use npm.",
        "Commit generated files.",
        "Push to a shared branch before you run make check.",
        "Database migrations are reviewed by three people.",
        "Database migrations are not reviewed by two people.",
        "The worker lives in services/api.",
        "The API lives in apps/api.",
        "Amounts are stored in euros.",
        "Never commit generated files. Snapshots are no exception.",
        "Files are generated.",
        "",
    ],
)
def test_other_fact_about_the_same_things_passes(new: str) -> None:
    assert answer(new) is None


def test_wrapped_lines_are_one_sentence() -> None:
    assert sentences("Run the\nlinter first.") == sentences("Run the linter first.")


def test_without_documents_nothing_is_documented() -> None:
    assert documented("Use pnpm instead of npm.", ()) is None


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_document_can_be_read(document: str) -> None:
    assert all(sentence.words for sentence in sentences(document))
