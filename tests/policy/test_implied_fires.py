"""What words imply is a rule that fires on what they mean, and on nothing beside it."""

from __future__ import annotations

import pytest

from noforgetti.policy.enforcement import BadRule, Call, EnforcedRule, fires, parse
from noforgetti.policy.implied_rule import implied
from noforgetti.policy.promotion import rule_text


def rule_of(text: str) -> EnforcedRule:
    """The rule that the words bind to their entry."""
    found = implied(text)
    assert found is not None
    written = rule_text(found.trigger, found.action, found.verifier)
    assert isinstance(written, str), written
    rule = parse(written)
    assert not isinstance(rule, BadRule), rule
    return rule


def bash(command: str) -> Call:
    return Call("c1", "bash", {"command": command})


@pytest.mark.parametrize(
    ("text", "meant", "beside"),
    [
        ("Never use git add .", bash("cd x && git add ."), bash("git add ./src")),
        ("Don't use git add -A, stage files by name.", bash("git add -A"), bash("git add a.py")),
        ("Never use `npm`.", bash("npm install left-pad"), bash("pnpm install left-pad")),
        ("Don't run `git push --force`; it rewrites history.", bash("git push --force origin x"), bash("git push")),
        ("Never execute `./deploy.sh`.", bash("./deploy.sh now"), bash("./deploy.py")),
        ("Never use the web_search tool.", Call("c1", "web_search", {}), Call("c1", "web_fetch", {})),
        (
            "Warn when modifying `*.sql` files.",
            Call("c1", "edit", {"path": "db/a.sql"}),
            Call("c1", "edit", {"path": "db/a.sqlx"}),
        ),
        (
            "Warn me when editing migrations/",
            Call("c1", "write", {"path": "app/migrations/1.py"}),
            Call("c1", "read", {"path": "app/migrations/1.py"}),
        ),
        ("Always ask_user before `git push`.", bash("git push origin main"), bash("git pull")),
        ("never use docker directly", bash("docker run x"), bash("podman run x")),
    ],
)
def test_it_fires_on_what_is_meant_and_not_on_its_neighbour(text: str, meant: Call, beside: Call) -> None:
    rule = rule_of(text)

    assert (fires(rule, meant), fires(rule, beside)) == (True, False)
