"""Which rule words imply, and when that is sure enough to stop a command without asking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.implied_rule import BLOCK, WARN, Implied, implied


@pytest.mark.parametrize(
    ("text", "trigger"),
    [
        ("Never use `npm`.", "bash_contains npm"),
        ("Never use `npm`, use `pnpm` instead.", "bash_contains npm"),
        ('You must never run "rm -rf /"!', "bash_contains rm -rf /"),
        ("Don't run `git push --force`; it rewrites history.", "bash_contains git push --force"),
        ("Please do not execute ‘make deploy’ here because it breaks staging.", "bash_contains make deploy"),
        ("Never execute `./deploy.sh`.", "bash_contains ./deploy.sh"),
        ("Never run `frobnicate --all`.", "bash_contains frobnicate --all"),
        ("Never use git add .", "bash_contains git add ."),
        ("Never stage everything with git add . in this repo", "bash_contains git add ."),
        ("Don't use git add -A, stage files by name.", "bash_contains git add -A"),
        ("Tests are slow.\nNever run `tox`.", "bash_contains tox"),
        ("Never use the web_search tool.", "tool_name web_search"),
        ("Never call the `browser` tool, it hangs.", "tool_name browser"),
    ],
)
def test_a_plain_order_against_a_command_or_tool_blocks_it(text: str, trigger: str) -> None:
    assert implied(text) == Implied(trigger, BLOCK, sure=True)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Warn when modifying `*.sql` files.", Implied("file_modified *.sql", WARN, sure=True)),
        ("Warn me when editing migrations/", Implied("file_modified migrations/", WARN, sure=True)),
        (
            "Always ask_user before `git push`.",
            Implied("bash_contains git push", WARN, sure=True, verifier="tool_called ask_user before git push"),
        ),
        (
            "Always use ask_user before running terraform apply.",
            Implied(
                "bash_contains terraform apply", WARN, sure=True, verifier="tool_called ask_user before terraform apply"
            ),
        ),
    ],
)
def test_a_plain_wish_to_be_warned_warns(text: str, rule: Implied) -> None:
    assert implied(text) == rule


@pytest.mark.parametrize(
    ("text", "trigger", "action"),
    [
        ("never use docker directly", "bash_contains docker", BLOCK),
        ("Never use the curl tool.", "bash_contains curl", BLOCK),
        ("Never use `docker` directly.", "bash_contains docker", BLOCK),
        ("Never run `npm publish` without a tag.", "bash_contains npm publish", BLOCK),
        ("Never use `git push --force` on main.", "bash_contains git push --force", BLOCK),
        ("Never use `npm`. Exception: the docs folder.", "bash_contains npm", BLOCK),
        ("Never run `make clean`, unless I ask for it.", "bash_contains make clean", BLOCK),
        ("Never use `git`.", "bash_contains git", BLOCK),
        ("Always ask before `rm -rf build`.", "bash_contains rm -rf build", WARN),
        ("Run `pnpm check` before `git commit`.", "bash_contains git commit", WARN),
        ("Run pnpm check before pnpm test.", "bash_contains pnpm test", WARN),
        ("When editing `schema.prisma`, regenerate the client.", "file_modified schema.prisma", WARN),
    ],
)
def test_what_is_limited_or_only_looks_like_a_tool_is_never_sure(text: str, trigger: str, action: str) -> None:
    assert implied(text) == Implied(trigger, action, sure=False)


@pytest.mark.parametrize(
    "text",
    [
        'The linter says "never use `eval`".',
        "Never say never use `npm`.",
        "It is not true that you should never run `npm test`.",
        "For example, never run `make clean`.",
        "Never commit without running git add . first.",
        "Never hesitate to run `git add .`",
        "Don't forget to run `make fmt`.",
        "Never use `any` in TypeScript.",
        "Never use `console.log`.",
        "Never use semicolons.",
        "Never push to main.",
        "Never call the `bash` tool.",
        "Use `rm` never.",
        "",
    ],
)
def test_words_that_order_nothing_of_the_kind_imply_no_rule(text: str) -> None:
    assert implied(text) is None


PIECES = [
    *" `\"'.;,-\n\0*/",
    "npm",
    "git",
    "add",
    "never ",
    "use ",
    "don't run ",
    "`git add .",
    "warn when editing ",
    "tool",
]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_any_text_is_read(text: str) -> None:
    rule = implied(text)

    assert rule is None or "\n" not in rule.trigger
