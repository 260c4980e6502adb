"""What sort of work a prompt asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.model.entry import Category
from noforgetti.retrieval.queries import BIAS, Bias, QueryClass, classify, trivial

PR, GIT, DEBUG, GENERAL = QueryClass


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Do a PR review", PR),
        ("please start the code review", PR),
        ("Review this PR", PR),
        ("can you review the pull request?", PR),
        ("review my PR before the release", PR),  # the first class that matches
        ("run gh pr checks 12", PR),
        ("Open a pull request", PR),
        ("Bitte reviewe den PR", PR),
        ("Mach ein Code-Review.", PR),
        ("fais une revue de code", PR),
        ("Revisa este PR", PR),
        ("请做代码审查", PR),
        ("プルリクエストを見てください", PR),
        ("git push to origin", GIT),
        ("Then git rebase main", GIT),
        ("Prepare the release", GIT),
        ("update CHANGELOG.md", GIT),
        ("which semver bump is this?", GIT),
        ("deploy to staging", GIT),
        ("the deployment is green, tag it", GIT),
        ("fix the bug and deploy", GIT),
        ("Bitte die Version veröffentlichen", GIT),
        ("déployer en production", GIT),
        ("hay que desplegar hoy", GIT),
        ("帮我发布新版本", GIT),
        ("本番にデプロイして", GIT),
        ("I get an error", DEBUG),
        ("here is the stack trace", DEBUG),
        ("stacktrace below", DEBUG),
        ("Traceback (most recent call last):", DEBUG),
        ("tests fail on CI", DEBUG),
        ("it failed", DEBUG),
        ("why is it failing", DEBUG),
        ("a failure", DEBUG),
        ("unhandled exception", DEBUG),
        ("debug this", DEBUG),
        ("segfault in the parser", DEBUG),
        ("goroutine panic", DEBUG),
        ("TypeError: x is not a function", DEBUG),
        ("java.lang.NullPointerException at", DEBUG),
        ("Die Fehlermeldung verstehe ich nicht", DEBUG),
        ("une erreur étrange", DEBUG),
        ("tengo dos errores", DEBUG),
        ("修复bug吧", DEBUG),
        ("这里报错了", DEBUG),
        ("エラーが出ます", DEBUG),
        ("Add a button to the page", GENERAL),
        ("prune the preview panel", GENERAL),
        ("the mirror, terrors and debugging_tools_x", GENERAL),
        ("what is our tech stack?", GENERAL),
        ("git status", GENERAL),
        ("Erkläre mir die Architektur", GENERAL),
        ("Où est la configuration ?", GENERAL),
        ("Расскажи о проекте", GENERAL),
        ("添加一个按钮", GENERAL),
        ("", GENERAL),
    ],
)
def test_class_of_a_prompt(prompt: str, expected: QueryClass) -> None:
    assert classify(prompt) is expected


def test_what_each_class_brings_forward() -> None:
    assert {one: (bias.boosts, bias.matches, bool(bias.hint)) for one, bias in BIAS.items()} == {
        PR: ((Category.MISTAKE, Category.PATTERN, Category.LESSON), 7, True),
        GIT: ((Category.LESSON, Category.DECISION, Category.PREFERENCE), 6, True),
        DEBUG: ((Category.MISTAKE, Category.LESSON), 7, True),
        GENERAL: ((), 5, False),
    }
    assert BIAS[GENERAL] == Bias((), 5, "")


NOTHING = (
    "ok|yes|no|thanks|sure|right|correct|agreed|nice|cool|great|perfect|thank you|got it|OK|Thanks!|thank  you.|Yes…"
    "|ok :)|great 👍|Perfect!!!|d'accord|Danke!|好的|谢谢！|はい|👍|❤️|👩\u200d👩\u200d👧\u200d👦|👍🏽|1️⃣|🎉🎉🎉"
    "|🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f||   |\n|...|?|!!|-|¿?|。。。|$%^&*()_"
)
SOMETHING = (
    "1|a|é|ж|中|한|あ|α|ש|ع|अ|ไ|൧|Ⅷ|½"  # any letter or number of any script
    "|ok?|yes please|thanks, now deploy it|no, use pnpm|right click|fix|go|nein, anders|好不好|继续|2 👍|$%^&*()_+"
)


@pytest.mark.parametrize("prompt", NOTHING.split("|"), ids=ascii)
def test_a_message_that_says_nothing(prompt: str) -> None:
    assert trivial(prompt)


@pytest.mark.parametrize("prompt", [*SOMETHING.split("|"), "ok " * 30], ids=ascii)
def test_a_message_that_says_something(prompt: str) -> None:
    assert not trivial(prompt)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_has_a_class(prompt: str) -> None:
    assert classify(prompt) in QueryClass
    assert trivial(prompt) in (True, False)


@pytest.mark.parametrize("prompt", ["A" * 300_000, "review the " * 30_000, "\u200d" * 300_000, "error " * 100_000])
def test_huge_prompts_have_a_class(prompt: str) -> None:
    assert classify(prompt) in QueryClass
    assert not trivial(prompt)
