"""What sort of work a prompt asks for, and whether it asks for anything at all.

The four classes, their order, what they bring forward and how many matches they want are the reference's (memory
architecture, query classes). A class only changes what comes first; taking a prompt for the wrong one hides nothing.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from noforgetti.model.entry import Category

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOOKED_AT = 20_000  # characters of a prompt; what follows is a pasted log or file, which says the same again
_WORD = "A-Za-z\u00c0-\u024f0-9_"  # Latin letters alone: Chinese and Japanese put no blank beside `bug`
_SHORT = 8  # characters without a letter or a number that still say nothing (the reference's figure)


class QueryClass(StrEnum):
    """The sort of work a prompt asks for; the first that matches counts."""

    PR_REVIEW = "pr_review"
    GIT_RELEASE = "git_release"
    DEBUG = "debug"
    GENERAL = "general"


@dataclass(frozen=True, slots=True)
class Bias:
    """What a class changes: the categories that come first with more room, how many matches in meaning are wanted, and
    one line for the agent (empty for the general class)."""

    boosts: tuple[Category, ...]
    matches: int
    hint: str = ""


BIAS: Mapping[QueryClass, Bias] = MappingProxyType(
    {
        QueryClass.PR_REVIEW: Bias(
            (Category.MISTAKE, Category.PATTERN, Category.LESSON),
            7,
            "This looks like a review: compare the change with the mistakes, patterns and lessons below.",
        ),
        QueryClass.GIT_RELEASE: Bias(
            (Category.LESSON, Category.DECISION, Category.PREFERENCE),
            6,
            "This looks like a release or git task: follow the conventions, decisions and lessons below.",
        ),
        QueryClass.DEBUG: Bias(
            (Category.MISTAKE, Category.LESSON),
            7,
            "This looks like debugging: look at the mistakes and lessons below before trying anything.",
        ),
        QueryClass.GENERAL: Bias((), 5),
    }
)


def _pattern(words: str, anywhere: str) -> re.Pattern[str]:
    """`words` stand alone; `anywhere` are in scripts without blanks, or (in German) parts of compounds."""
    return re.compile(rf"(?<![{_WORD}])(?:{words})(?![{_WORD}])|{anywhere}", re.IGNORECASE)


_CLASSES: tuple[tuple[QueryClass, re.Pattern[str]], ...] = (
    (
        QueryClass.PR_REVIEW,
        _pattern(
            r"prs?[ -]review(?:s|ed|ing)?|code[ -]?review(?:s|ed|ing)?|gh pr"
            r"|review(?:ing|e)? (?:this |the |my |our |that |den |diesen )?(?:pr|pull[ -]request|merge[ -]request)"
            r"|(?:pull|merge)[ -]requests?"
            r"|revue de code|revisi[oó]n de c[oó]digo|revisa (?:el|este|la|esta) pr",
            "代码审查|代码评审|代碼審查|拉取请求|合并请求|コードレビュー|プルリク",
        ),
    ),
    (
        QueryClass.GIT_RELEASE,
        _pattern(
            r"git (?:commit|push|tag|rebase|merge)|releas(?:e|es|ed|ing)|change-?logs?|semver"
            r"|deploy(?:s|ed|ing|ments?)?"
            r"|veröffentlich(?:e|en|t|ung)|ausrollen|d[ée]ploi(?:e|er|ement)|d[ée]ployer|mise en production"
            r"|desplegar|despliegue",
            "发布|發布|部署|上线|リリース|デプロイ",
        ),
    ),
    (
        QueryClass.DEBUG,
        _pattern(
            r"errors?|stack[ -]?(?:traces?|overflows?)|tracebacks?|fail(?:s|ed|ing|ures?)?|exceptions?|bugs?"
            r"|debug(?:s|ged|ging|ger)?|segfault(?:s|ed|ing)?|panic(?:s|ked|king)?|crash(?:es|ed|ing)?"
            r"|erreurs?|d[ée]boguer|bogues?|errores|fallos?|excepci[oó]n(?:es)?|depurar|abgestürzt|absturz|fehlgeschlagen"
            r"|schlägt fehl|schlagen fehl",
            # Names of exceptions end so, in whatever language one asks about them.
            r"(?-i:Error|Exception)(?![A-Za-z0-9_])|fehler|失败|失敗|错误|錯誤|报错|異常|异常|调试|崩溃|エラー|バグ|デバッグ|例外|クラッシュ",
        ),
    ),
)

# The reference's list, then the same words of other languages.
_NOTHING = frozenset(
    """ok|okay|yes|no|thanks|thank you|got it|sure|right|correct|agreed|nice|cool|great|perfect|
    ja|nein|danke|passt|oui|non|merci|d'accord|sí|si|gracias|vale|да|нет|спасибо|obrigado|obrigada|
    好|好的|是|是的|对|谢谢|謝謝|可以|はい|いいえ|ありがとう|了解|네|아니요|감사합니다""".replace("\n    ", "").split(
        "|"
    )
)
_KEYCAP = re.compile("[0-9#*]\ufe0f?\u20e3")
_UNSEEN = re.compile("[\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")  # what joins and colours emoji


def classify(prompt: str) -> QueryClass:
    """The class of a prompt. Any text, in any language; what nothing matches is general."""
    head = prompt[:_LOOKED_AT]
    return next((one for one, pattern in _CLASSES if pattern.search(head)), QueryClass.GENERAL)


def trivial(prompt: str) -> bool:
    """True for a message that no memory can help with: a word of assent or thanks, one emoji, a little punctuation.

    Any letter or number of any script is content, except in the few words that are listed.
    """
    words = " ".join(prompt.split()).casefold()
    if len(words) > 64:  # longer than every listed word with whatever stands around it
        return False
    said = words.strip("".join({one for one in words if not _content(one)} - set("?？")))
    if said in _NOTHING:
        return True
    marks = _UNSEEN.sub("", _KEYCAP.sub("*", words))
    return len(marks) <= _SHORT and not any(_content(one) for one in marks)


def _content(character: str) -> bool:
    return unicodedata.category(character)[0] in "LN"
