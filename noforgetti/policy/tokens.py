"""How many tokens a text will cost, near enough for a budget and without a tokenizer."""

from __future__ import annotations

import math
import re

# Rule of thumb that OpenAI and Anthropic publish for English: one token is about four characters.
ASCII_PER_TOKEN = 4.0
# Chinese, Japanese and Korean: 0.7 (o200k) to 1.3 (cl100k) tokens a character; one is the safe middle.
CJK_PER_TOKEN = 1.0
# Other alphabets (Cyrillic, Greek, Arabic, accented Latin): near two characters a token in both vocabularies.
OTHER_PER_TOKEN = 2.0
# An emoji is two to three byte-pair tokens in both vocabularies.
ASTRAL_PER_TOKEN = 0.5

_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003347f]"
)
_ASTRAL = re.compile("[\U00010000-\U0001ffff]")


def estimate_tokens(text: str) -> int:
    """The estimated number of tokens, rounded up; 0 only for an empty text.

    The unit is tokens, never to be mixed with character limits. The figures are the module's constants:
    English 4 characters a token, CJK 1, other alphabets 2, emoji half a character a token. Real tokenizers
    differ by a third either way, more for long runs of digits or symbols.
    """
    ascii_count = len(text.encode("ascii", "ignore"))
    if ascii_count == len(text):
        return math.ceil(ascii_count / ASCII_PER_TOKEN)
    cjk = len(text) - len(_CJK.sub("", text))
    astral = len(text) - len(_ASTRAL.sub("", text))
    other = len(text) - ascii_count - cjk - astral
    return math.ceil(
        ascii_count / ASCII_PER_TOKEN + cjk / CJK_PER_TOKEN + astral / ASTRAL_PER_TOKEN + other / OTHER_PER_TOKEN
    )
