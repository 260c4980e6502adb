"""How strongly a user's words ask to be remembered: a score of 0 to 5; from 4 on a review is due at once.

Deterministic and cheap: it only decides when to look. Quoted text, code and quoted lines never trigger.
Patterns cover English well and the plain imperative in a dozen other languages; what they miss waits for
the ten-prompt interval."""

from __future__ import annotations

import re

THRESHOLD = 4  # a score at which a review is due without waiting (upstream's threshold, kept)
HIGHEST = 5
_END = 10_000  # characters looked at from each end of a longer text: a paste's middle is no request, and 1 MB takes 4 s
_SHORT = 20  # shorter texts score 0 ("use tabs" may be anything) …
_SHORT_CJK = 6  # … but a Chinese, Japanese or Korean sentence is complete much earlier


def _any(*phrases: str, start: bool = False) -> str:
    """One alternative of many; blanks stand for any white space."""
    joined = "|".join(phrase.replace(" ", r"\s+") for phrase in phrases)
    return f"^(?:{joined})" if start else f"(?:{joined})"


_LEAD = (
    r"(?:(?:please|pls|also|and|but|so|ok(?:ay)?|hey|hi|well|right|yes|no|note|thanks|btw|by the way"
    r"|important)\b"
    r"[\s,.:;!–—-]+)*"
)
_ASK = _any(
    "(?:can|could|would|will) you (?:please )?",
    "i(?:'d| would)? (?:want|need|like) you to ",
    "you (?:should|must|need to|can) ",
    "let'?s ",
    "make sure (?:you |to )?",
)
_INTO = r"(?: this| that| it)?(?: down)? (?:to|in|into) (?:your |the |project )*memory"
_KEEP = _any(
    "remember",
    "memori[sz]e",
    "keep in mind",
    "bear in mind",
    "do(?:n['’]?t| not)(?: ever)? forget",
    "note down",
    "take note",
    "(?:save|store|add|put|write|commit)" + _INTO,
)
_AFTER = r"(?:\s+(?:for (?:next time|the future|later)|once and for all|please))*"
_OBJECT = r"(?:\s*[:,–—-]\s*|\s+|$)(?:(?:that|this|to|the following|about|how)\b\s*[:,]?\s*)?"
REMEMBER = re.compile(rf"^{_LEAD}(?:{_ASK})?(?:always )?{_KEEP}{_AFTER}{_OBJECT}", re.IGNORECASE)
FROM_NOW_ON = re.compile(
    r"\b"
    + _any(
        "from (?:now|here|this point|today) on(?:wards?)?",
        "going forward",
        "in (?:the )?future",
        "henceforth",
    )
    + r"\b[\s,:]*",
    re.IGNORECASE,
)
_GERMAN = _any(
    "merke? dir", "denke? (?:bitte )?daran", "vergiss nicht", "ab (?:jetzt|sofort)", "von (?:jetzt|nun) an",
    "in zukunft", "künftig",
)  # fmt: skip
_FRENCH = _any(
    "souviens[- ]toi", "rappelle[- ]toi", "retiens", "n['’]oublie pas", "désormais", "dorénavant",
    "à partir de maintenant",
)  # fmt: skip
_IBERIAN = _any(
    "recuerda", "no olvides", "a partir de ahora", "de ahora en adelante", "lembre-se", "não (?:se )?esqueça",
    "a partir de agora", "de agora em diante",
)  # fmt: skip
_OTHERS = _any(
    "ricorda(?:ti)?", "(?:d['’]|da )ora in poi", "onthoud", "vanaf nu", "kom ihåg", "från och med nu",
    "zapamiętaj", "od teraz", "запомни(?:те)?", "отныне", "с этого момента", "впредь", "запам['’]?ятай",
    "відтепер",
)  # fmt: skip
_CHINESE = _any(
    "请?记住", "请?记得", "請?記住", "记下", "从现在(?:开始|起)", "從現在開始", "以后都", "今后", start=True
)
_JAPANESE_KOREAN = _any(
    "覚えておいて", "覚えて(?:ください|下さい)", "^今後は", "^これからは", "忘れないで",
    "기억해", "잊지 마", "^앞으로는", "^이제부터",
)  # fmt: skip
FOREIGN = re.compile(
    r"^(?:(?:bitte|por favor|s'il te plaît|пожалуйста),?\s+)?"
    rf"(?:{_GERMAN}|{_FRENCH}|{_IBERIAN}|{_OTHERS})\b(?:\s*[:,]\s*|\s+|$)"
    r"(?:(?:dass|que|qu['’]|che|dat|att|że|что|що)\s*)?"
    rf"|{_CHINESE}[\s:：，,]*|{_JAPANESE_KOREAN}",
    re.IGNORECASE,
)
STANDING = re.compile(
    rf"^{_LEAD}(?:in (?:this|our) (?:project|repo(?:sitory)?|codebase|team)[, ]+)?"
    + _any(
        r"(?:i|we|you (?:should|must)|one should) (?:(?:always|never|generally|usually|strongly) )*"
        r"(?:always|never|prefer|use|expect)\b",
        r"(?:always|never) \w+",
        r"(?:do not|don['’]?t|stop|avoid)(?: ever)? "
        r"(?:us|do|writ|runn?|call|add|commit|push|import|mock)(?:e|ing)?\b",
    ),
    re.IGNORECASE,
)
CORRECTION = re.compile(
    _any(
        r"\binstead\b",
        r"\bcorrection\b",
        r"\bcorrect (?:approach|way|command|path)\b",
        r"\b(?:project|repo(?:sitory)?|team|house)(?:'s)? convention",
        r"\bthe (?:project|repo(?:sitory)?|codebase|team) (?:uses|requires|expects|keeps|stores|wants)\b",
        r"\b(?:canonical|standard|required) (?:command|workflow|path|format|tool)\b",
        r"^no[,.:;!] (?:use|it|that|we|the|don['’]?t|not)\b",
        r"\buse \S+(?: \S+)?, not \S+",
    ),
    re.IGNORECASE | re.MULTILINE,
)
TOPIC = re.compile(
    r"\b(?:architecture|conventions?|workflows?|verification|package manager|(?:test|build|lint) commands?"
    r"|always|never|required|must)\b",
    re.IGNORECASE,
)
TRANSIENT = re.compile(
    r"\b(?:for now|for the moment|this (?:one )?time|today|tonight|right now|temporar(?:y|ily)|one[- ]off"
    r"|just (?:this )?once|(?:current|this) (?:task|issue|pr|pull request|commit|ticket|branch|session|run)"
    r"|until (?:we|i|the|it|that))\b",
    re.IGNORECASE,
)
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_QUOTES = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|「[^」\n]{1,400}」")
_INLINE = re.compile(r"`[^`\n]{1,400}`")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”’)]*\s+|(?<=[。！？])|\n+")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no|incl)\.$", re.IGNORECASE)


def score(text: str) -> int:
    """0 (nothing durable) to 5. Explicit wording counts 4, a durable correction 3, a durable topic 1; what
    is only for now takes 3 away, a question 1 unless it is explicit."""
    if len(text) > 2 * _END:
        text = f"{text[:_END]}\n{text[-_END:]}"
    said = unquoted(text)
    if len(said) < (_SHORT_CJK if CJK.search(said) else _SHORT):
        return 0
    explicit = any(is_explicit(sentence) for sentence in sentences(said))
    points = 4 * explicit + 3 * bool(CORRECTION.search(said)) + bool(TOPIC.search(said))
    points -= 3 * bool(TRANSIENT.search(said))
    if not explicit and points < THRESHOLD and said.endswith(("?", "？")):
        points -= 1
    return max(0, min(HIGHEST, points))


def is_explicit(sentence: str) -> bool:
    """True for one sentence that asks to be kept: "remember that …", "from now on …", "we always …"."""
    if sentence.endswith(("?", "？")) and not REMEMBER.search(sentence):
        return False
    return any(pattern.search(sentence) for pattern in (REMEMBER, FROM_NOW_ON, STANDING, FOREIGN))


def is_transient(sentence: str) -> bool:
    """True when a sentence says that it holds only for now."""
    return bool(TRANSIENT.search(sentence))


def outside_code(text: str) -> str:
    """The text without fenced code and quoted lines; inline code and quotation marks stay."""
    return _QUOTED_LINE.sub("", _FENCED.sub("", text)).strip()


def unquoted(text: str) -> str:
    """The user's own words: no code, no quoted lines, nothing in quotation marks."""
    return _QUOTES.sub("", _INLINE.sub("x", outside_code(text))).strip()


def sentences(text: str) -> tuple[str, ...]:
    """The sentences and lines of a text, trimmed, in order. An abbreviation's point ends none."""
    found: list[str] = []
    for part in _SENTENCE_END.split(text):
        piece = part.strip()
        if found and piece and _ABBREVIATION.search(found[-1]) and piece[0].islower():
            found[-1] = f"{found[-1]} {piece}"
        elif piece:
            found.append(piece)
    return tuple(found)
