"""The form of a text: one normal form, nothing invisible, lengths counted in Unicode code points.

Invisible characters are refused because they let a text say one thing to a reader and another to a model
(tag characters, bidi overrides, zero-width marks). Joiners and variation selectors are refused only where no
writing system needs them: inside an emoji sequence, between letters of Arabic, Indic and their neighbours and
after an ideograph they are part of the spelling and survive.

Not guaranteed: look-alike letters (Cyrillic `а` for Latin `a`) are visible and pass.
"""

from __future__ import annotations

import re
import unicodedata

from noforgetti.policy.verdict import Refusal, Rule

# Tags that fence memory in a prompt; any name joined to `memory` counts, so a renamed section stays fenced.
_FENCE = re.compile(
    r"<[\s/]{0,8}(?:(?:[a-z]{1,24}[-_]){0,4}memor(?:y|ies)(?:[-_][a-z]{1,24}){1,4}"
    r"|(?:[a-z]{1,24}[-_]){1,4}memor(?:y|ies)|past[-_]sessions?|situation[-_]report|review[-_]guidelines)(?![\w-])",
    re.IGNORECASE,
)

_ZWNJ, _ZWJ, _KEYCAP = 0x200C, 0x200D, 0x20E3
_TEXT_STYLE, _EMOJI_STYLE = 0xFE0E, 0xFE0F
_SKIN_TONES = range(0x1F3FB, 0x1F400)

# Format characters that have a glyph (PropList.txt, Prepended_Concatenation_Mark).
_VISIBLE_FORMAT = frozenset({*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD})
# Approximates Extended_Pictographic (emoji-data.txt): the standard library does not carry the property.
_PICTOGRAPHIC = (range(0x1F000, 0x1FB00), range(0x2190, 0x2C00), range(0x3297, 0x329A), range(0x203C, 0x204A))
_PICTOGRAPHIC_SINGLES = frozenset({0xA9, 0xAE, 0x2122, 0x2139, 0x3030, 0x303D})
# Arabic to N'Ko; Arabic Extended to Sinhala; Myanmar; Khmer and Mongolian; Indic and Arabic supplements.
_JOINING = (
    range(0x0600, 0x0800),
    range(0x0860, 0x0E00),
    range(0x1000, 0x10A0),
    range(0x1780, 0x18B0),
    range(0xA840, 0xABFF),
    range(0xFB50, 0xFE00),
    range(0x11000, 0x12000),
)
_IDEOGRAPHS = (range(0x3400, 0xA000), range(0xF900, 0xFB00), range(0x20000, 0x33480))
# The three flags of subdivisions that Unicode recommends for interchange (England, Scotland, Wales).
_FLAGS = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
# Anything that could need a closer look; a text without these is visible as it stands.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\uffff\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)


def normalise(raw: str) -> str:
    """The one form a text is stored in: NFC, LF line ends, trimmed. Never raises, for any string."""
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", text).strip()


def form(raw: str) -> str | Refusal:
    """The normalised text, or why its form cannot be stored: empty, invisible characters, a fence tag."""
    text = normalise(raw)
    if not text:
        return Refusal(Rule.EMPTY, "The text is empty; nothing was written.", "Say the fact in one sentence.")
    return invisible(text) or fence(text) or text


def invisible(text: str) -> Refusal | None:
    """A refusal that names the first character nobody can see, or None."""
    flags = [match.span() for match in _FLAGS.finditer(text)] if "\U0001f3f4" in text else []
    for match in _SUSPECT.finditer(text):
        at = match.start()
        if any(start <= at < end for start, end in flags) or _belongs(text, at):
            continue
        code = f"U+{ord(text[at]):04X}"
        return Refusal(
            Rule.INVISIBLE,
            f"The text holds the invisible character {code} at position {at + 1}; nothing was written.",
            "Write the sentence again without it.",
            code,
        )
    return None


def fence(text: str) -> Refusal | None:
    """A refusal if the text holds a tag that memory itself uses around what it tells a model, or None."""
    match = _FENCE.search(unicodedata.normalize("NFKC", text))
    if match is None:
        return None
    tag = match[0].strip()
    return Refusal(
        Rule.FENCE,
        f"The text holds the tag `{tag}` that fences memory itself; nothing was written.",
        "Name the tag without its angle brackets.",
        tag,
    )


def too_long(text: str, limit: int) -> Refusal | None:
    """A refusal if `text` has more than `limit` Unicode code points; it says how many are too many."""
    over = len(text) - limit
    if over <= 0:
        return None
    return Refusal(
        Rule.TOO_LONG,
        f"The text has {len(text)} characters, {over} over the limit of {limit}; nothing was written.",
        "Split it into separate facts.",
    )


def clip(text: str, n: int) -> str:
    """At most `n` code points on one line, with an ellipsis where it was cut; no emoji or accent is split."""
    line = " ".join(text.split())
    if len(line) <= n:
        return line
    if n <= 0:
        return ""
    return line[: border(line, n - 1)].rstrip() + "…"


def border(text: str, at: int) -> int:
    """The last place up to `at`, which is inside the text, where a cut splits no emoji or accent; 0: there is none."""
    while at > 0 and (_extends(text[at]) or text[at - 1] == "\u200d" or _splits_flag(text, at)):
        at -= 1
    return at


def _belongs(text: str, at: int) -> bool:
    """Whether the suspicious character at `at` is part of a spelling rather than hidden between letters."""
    code = ord(text[at])
    before = ord(text[at - 1]) if at else 0
    after = ord(text[at + 1]) if at + 1 < len(text) else 0
    if code in _VISIBLE_FORMAT:
        return True
    if code in (_ZWJ, _ZWNJ):
        return _joins_letters(before, after) or (code == _ZWJ and _joins_emoji(text, at))
    if code == _EMOJI_STYLE and after == _KEYCAP:
        return chr(before) in "0123456789#*"
    if code in (_TEXT_STYLE, _EMOJI_STYLE):
        return _pictographic(before)
    if 0x180B <= code <= 0x180F:  # Mongolian variation selectors and vowel separator
        return 0x1820 <= before <= 0x18AA
    if 0xFE00 <= code <= 0xFE02 or 0xE0100 <= code <= 0xE01EF:  # registered variants of ideographs
        return any(before in block for block in _IDEOGRAPHS)
    return code in range(0xFFFC, 0xFFFE)  # the two replacement characters are visible


def _joins_letters(before: int, after: int) -> bool:
    if not any(before in block for block in _JOINING):
        return False
    virama = unicodedata.combining(chr(before)) == 9  # a joiner after a virama may end a word (Malayalam chillu)
    return virama or any(after in block for block in _JOINING)


def _joins_emoji(text: str, at: int) -> bool:
    left = at - 1
    while left > 0 and (ord(text[left]) in _SKIN_TONES or ord(text[left]) == _EMOJI_STYLE):
        left -= 1
    return left >= 0 and at + 1 < len(text) and _pictographic(ord(text[left])) and _pictographic(ord(text[at + 1]))


def _pictographic(code: int) -> bool:
    return code in _PICTOGRAPHIC_SINGLES or any(code in block for block in _PICTOGRAPHIC)


def _extends(char: str) -> bool:
    code = ord(char)
    if code < 0x300:
        return False
    tag = 0xE0000 <= code <= 0xE0FFF
    return tag or code in _SKIN_TONES or code == _ZWJ or unicodedata.category(char) in ("Mn", "Mc", "Me")


def _splits_flag(line: str, cut: int) -> bool:
    """Whether `cut` lies between the two letters of a country flag."""
    count = 0
    while count < cut and 0x1F1E6 <= ord(line[cut - 1 - count]) <= 0x1F1FF:
        count += 1
    return count % 2 == 1 and 0x1F1E6 <= ord(line[cut]) <= 0x1F1FF
