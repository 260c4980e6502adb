"""The vendored rules for tokens of known providers: loaded on first use, compiled when their keyword turns up.

`provider_rules.json` is written by `tools/update_provider_rules.py` and carries its source and licence. Every match of
a rule begins at one of its keywords, so a rule costs one substring search unless its keyword is there, and then one
anchored match at each place, which looks at no more than `WINDOW` characters: the time stays linear in the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Longest token of fixed length among the rules: 372 characters (Aiven). A longer one is recognised by its beginning.
WINDOW = 500


@dataclass(slots=True)
class ProviderRule:
    """One rule: where it may begin, what it looks like, how random the value must be (bits a character)."""

    id: str
    regex: str
    keywords: tuple[str, ...]
    entropy: float
    digit: bool
    _compiled: re.Pattern[str] | None = field(default=None, repr=False)

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern; compiling all rules at once would take half a second."""
        if self._compiled is None:
            self._compiled = re.compile(self.regex)
        return self._compiled

    def accepts(self, value: str) -> bool:
        """Whether a value of the right shape is random enough to be a real one and not an example."""
        if self.digit and not any(char.isdigit() for char in value):
            return False
        return "EXAMPLE" not in value and entropy(value) > self.entropy


@cache
def rules() -> tuple[ProviderRule, ...]:
    """All rules, read once for a process."""
    raw = resources.files("noforgetti.policy").joinpath("provider_rules.json").read_text(encoding="utf-8")
    return tuple(
        ProviderRule(rule["id"], rule["regex"], tuple(rule["keywords"]), rule["entropy"], rule["digit"])
        for rule in json.loads(raw)["rules"]
    )


def spans(text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    """Rule, start and end of every provider token; `lowered` is `text` in lower case, of the same length."""
    for rule in rules():
        for keyword in rule.keywords:
            if keyword in lowered:
                yield from _matches(rule, keyword, text, lowered)


def entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits a character; never used without a shape."""
    size = len(value)
    counts = [value.count(char) for char in set(value)]
    return -sum(count / size * log2(count / size) for count in counts)


def _matches(rule: ProviderRule, keyword: str, text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    at = lowered.find(keyword)
    while at >= 0:
        match = rule.pattern.match(text, at, at + WINDOW)
        if match is None:
            at = lowered.find(keyword, at + len(keyword))
            continue
        start, end = match.span(match.lastindex or 0)
        start, end = match.span(1) if match.lastindex and match.start(1) >= 0 else (start, end)
        if rule.accepts(text[start:end]):
            yield rule.id, start, end
        at = lowered.find(keyword, max(match.end(), at + len(keyword)))
