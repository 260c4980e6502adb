"""A memory of 60 entries as months of use leave it, and what of it must never be lost.

Repetitions in other words, overlapping pairs, progress that went stale, rules that only look like opposites, pinned and
enforced entries, several scripts. It is above the maintenance goal (4,000 characters) and below the hard limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from store.builders import entry

from noforgetti.model.commit import Message
from noforgetti.model.entry import Category, Entry, Importance, Writer
from noforgetti.service.memory import Draft
from noforgetti.store.base import Put

if TYPE_CHECKING:
    from noforgetti.model.entry import CommitId
    from noforgetti.service.memory import Memory

PREFERENCE, LESSON, PATTERN = Category.PREFERENCE, Category.LESSON, Category.PATTERN
DECISION, DONE, MISTAKE = Category.DECISION, Category.DONE, Category.MISTAKE
HIGH, LOW = Importance.HIGH, Importance.LOW
RULE = '{"trigger":"bash_contains git push --force","action":"block"}'


def at(month: int, day: int = 1) -> str:
    """A day of 2026."""
    return f"2026-{month:02}-{day:02}T09:00:00Z"


def one(own: str, category: Category, text: str, month: int = 11, **more: Any) -> Entry:
    """An entry of the fixture."""
    return entry(text, own, category=category, created=at(month), **more)


ENTRIES: tuple[Entry, ...] = (
    # the same in other words
    one("tests-1", LESSON, "Run `pnpm check` before every push; it takes 40 seconds."),
    one("tests-2", LESSON, "Before pushing, run `pnpm check`."),
    one("tests-3", LESSON, "Always run `pnpm check` before you push, also for changes that only touch documentation."),
    one("generated-1", LESSON, "Never commit generated files."),
    one("generated-2", LESSON, "Generated files must not be committed."),
    one(
        "generated-3",
        LESSON,
        "Do not commit generated files; CI builds them into dist/ and publishes the result as an artefact.",
    ),
    one("small-pr-1", PREFERENCE, "The user prefers small pull requests."),
    one("small-pr-2", PREFERENCE, "The user prefers small pull requests!"),
    one(
        "small-pr-3", PREFERENCE, "Keep pull requests small, below 400 lines, so that a review fits into half an hour."
    ),
    one("port-1", PATTERN, "The API listens on port 8080 in development; the web client proxies to it."),
    one("port-2", PATTERN, "In development, the API listens on port 8080; to it the web client proxies."),
    one("migrate-1", PATTERN, "Database migrations live in db/migrations and are numbered by date."),
    one("migrate-2", PATTERN, "Database migrations are numbered by date; they live in db/migrations."),
    one(
        "migrate-3",
        PATTERN,
        "A migration is never edited after it was merged; write a new one that corrects it, even for a typo.",
    ),
    one("snapshots-1", LESSON, "Update snapshots with `pnpm test -u` only after looking at the diff of each of them."),
    one("snapshots-2", LESSON, "Look at the diff before you update snapshots with `pnpm test -u`."),
    one(
        "timezone-1",
        LESSON,
        "All times are stored in UTC, and converted only where a person reads them.",
        importance=HIGH,
    ),
    one("timezone-2", LESSON, "Times are stored in UTC, always.", importance=LOW),
    one("utf8-1", LESSON, "Files are UTF-8 with LF line ends, and end with one empty line at most."),
    one("utf8-2", LESSON, "Files are UTF-8 with LF line ends, and end with one empty line at most"),
    # overlapping: each says something of its own
    one(
        "deploy-1",
        DECISION,
        "Deploys go through the release branch, never from main, and the tag is made by the deploy job itself.",
    ),
    one("deploy-2", DECISION, "A deploy needs the approval of Dana or Emeka, in writing, in the channel #deploys."),
    one(
        "deploy-3",
        DECISION,
        "Deploys happen Tuesday to Thursday before 15:00 UTC, because nobody is on call for them later in the week.",
    ),
    one(
        "staging-1",
        PATTERN,
        "Staging runs at https://staging.example.org and is reset every night at 02:00, so keep no test data there.",
    ),
    one(
        "staging-2",
        PATTERN,
        "Staging uses the database staging_v2; its password is in the vault, and only the deploy job reads it.",
    ),
    one(
        "lint-1",
        LESSON,
        "Lint with ruff 0.8; flake8 was removed, and its plugins with it, so do not bring back a setup.cfg.",
    ),
    one(
        "lint-2",
        LESSON,
        "Ruff is configured in pyproject.toml, line length 100, with the rules E, F, I and UP switched on.",
    ),
    one(
        "cache-1",
        LESSON,
        "The cache key holds the schema version; bump `SCHEMA_VERSION` when a model changes, in the same commit.",
    ),
    one(
        "cache-2",
        LESSON,
        "A stale cache shows up as KeyError: 'tenant' in the worker, usually some minutes after a deploy.",
    ),
    one(
        "auth-1",
        PATTERN,
        "Sessions expire after 12 hours; refresh tokens after 30 days, unless the user signs out everywhere.",
    ),
    one(
        "auth-2",
        PATTERN,
        "Tokens are signed with Ed25519, keys rotate every 90 days, and the old public key stays valid for one week.",
    ),
    one(
        "errors-1",
        PATTERN,
        "Errors of the API are application/problem+json with a field `code`, and never show a stack trace.",
    ),
    one(
        "errors-2",
        PATTERN,
        "Every API error carries a `code` from docs/errors.md; a new code needs a line there in the same change.",
    ),
    one(
        "queue-1",
        LESSON,
        "Jobs are retried 5 times with a back-off of 2 seconds, doubled each time, with some jitter on top.",
    ),
    one(
        "queue-2",
        LESSON,
        "A job that fails 5 times goes to the dead-letter queue `jobs.dead`, which somebody looks at every morning.",
    ),
    one(
        "docs-1",
        PREFERENCE,
        "The user wants docs in British English, with sentences that a reader can finish in one breath.",
    ),
    one(
        "docs-2",
        PREFERENCE,
        "The user wants short docs with examples that run, no marketing words, and no table of contents.",
    ),
    # progress that went stale
    one(
        "done-1",
        DONE,
        "Moved the billing module to the new router in March; the old routes answered with a redirect until April.",
        3,
        importance=LOW,
    ),
    one(
        "done-2",
        DONE,
        "Finished the first half of the German translation; the second half was waiting for the glossary.",
        3,
        importance=LOW,
    ),
    one(
        "done-3",
        DONE,
        "The login page was redesigned; screenshots were updated, and the old stylesheet was deleted.",
        4,
        importance=LOW,
    ),
    one(
        "done-4",
        DONE,
        "Cleaned up the feature flags of the spring release, all but the two that the beta customers still use.",
        4,
        importance=LOW,
    ),
    one(
        "done-5",
        DONE,
        "Halfway through splitting the settings page into three tabs; the form validation came next.",
        5,
        importance=LOW,
    ),
    # only look like opposites
    one(
        "publish-1",
        LESSON,
        "Always publish to npm from CI, so that the provenance statement is attached to the package.",
    ),
    one(
        "publish-2",
        LESSON,
        "Never publish with an expired token; the registry then answers 404, which looks like a missing package.",
    ),
    one(
        "force-1",
        LESSON,
        "Force-push your own feature branch after a rebase, with lease, and tell the reviewer about it.",
    ),
    one("force-2", LESSON, "Never force-push main.", importance=HIGH, rule=RULE),
    one("mock-1", LESSON, "Mock the clock in unit tests; a test that sleeps is sent back in review."),
    one(
        "mock-2",
        LESSON,
        "Do not mock the database in integration tests; the compose file starts a real one in some seconds.",
    ),
    one(
        "node-20",
        DECISION,
        "The web client is built with Node 20, because the legacy bundler does not run on anything newer.",
    ),
    one("node-22", DECISION, "The worker is built with Node 22, because it needs the built-in WebSocket client."),
    # pinned, keyed, said as a don't
    one("pinned-1", PREFERENCE, "Ask before you delete anything outside the repository.", importance=HIGH, pinned=True),
    one("pinned-2", PREFERENCE, "Before deleting anything outside the repository, ask.", importance=LOW),
    one("key-1", PREFERENCE, "conventional commits", key="pref.commit_style"),
    one("dont-1", LESSON, "use floats for money", negative=True),
    one("money-1", LESSON, "Use integers (cents) for money and round half to even, as the accounting department does."),
    # other scripts
    one("zh-1", LESSON, "提交前先运行 `make 检查`,大约需要 3 分钟。"),
    one("zh-2", LESSON, "提交前先运行 `make 检查`,大约需要 3 分钟!"),
    one("de-1", PREFERENCE, "Commit-Nachrichten schreibt der Nutzer auf Englisch, Tickets auf Deutsch."),
    one("ru-1", LESSON, "Пароли никогда не хранить в репозитории; для них есть Vault."),
    one("emoji-1", PREFERENCE, "No emoji in commit messages 🙈, they break the changelog tool `chlog`."),
)

PINNED = ("pinned-1", "force-2")  # what nothing automatic may touch

# Each line: pieces that must stand together in one entry that is told, letter case aside.
CHECKLIST: tuple[tuple[str, ...], ...] = (
    ("pnpm check", "push"),
    ("pnpm check", "40 sec"),
    ("never commit generated|not commit generated|generated files must not", "generated"),
    ("generated", "dist/"),
    ("prefers small pull requests",),
    ("pull requests", "400 lines"),
    ("8080", "development"),
    ("db/migrations", "date"),
    ("migration", "never edited|not edited"),
    ("pnpm test -u", "diff"),
    ("times", "utc"),
    ("utf-8", "lf"),
    ("release branch", "never from main|not from main"),
    ("dana", "emeka"),
    ("tuesday", "thursday", "15:00"),
    ("https://staging.example.org", "02:00"),
    ("staging_v2", "vault"),
    ("ruff 0.8", "flake8"),
    ("pyproject.toml", "100"),
    ("schema_version",),
    ("keyerror", "tenant"),
    ("12 hours", "30 days"),
    ("ed25519", "90 days"),
    ("application/problem+json", "code"),
    ("docs/errors.md",),
    ("5 times", "2 seconds"),
    ("jobs.dead",),
    ("british english",),
    ("examples that run",),
    ("publish to npm", "ci"),
    ("never publish with an expired token|not publish with an expired token",),
    ("force-push your own feature branch",),
    ("never force-push main",),
    ("mock the clock",),
    ("not mock the database",),
    ("web client", "node 20"),
    ("worker", "node 22"),
    ("ask", "delet", "outside the repository"),
    ("conventional commits",),
    ("floats for money",),
    ("integers", "cents"),
    ("make 检查", "3 分钟"),
    ("englisch", "tickets auf deutsch"),
    ("никогда не хранить", "vault"),
    ("emoji", "chlog"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """What of the checklist an entry still says, and what none does."""

    kept: int
    lost: tuple[tuple[str, ...], ...]


def checked(memory: Memory, branch: str = "main") -> Found:
    """Go through the checklist; an archived entry says nothing."""
    told = [found.text.casefold() for found in memory.snapshot(branch) if not found.archived]
    lost = tuple(
        pieces
        for pieces in CHECKLIST
        if not any(all(any(way in text for way in piece.split("|")) for piece in pieces) for text in told)
    )
    return Found(len(CHECKLIST) - len(lost), lost)


def filled(memory: Memory, *more: Entry) -> CommitId:
    """The branch `main` with the 60 entries (and more), in one commit."""
    memory.prepare()
    entries = [replace(found, writer=Writer.USER) for found in (*ENTRIES, *more)]
    draft = Draft(tuple(Put(found) for found in entries), Message("import: a messy memory", "", (("Kind", "import"),)))
    return memory.publish("main", draft, memory.head("main"))
