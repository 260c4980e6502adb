"""What the rules about sentences share: where a sentence ends, what is only quoted in it, which words are orders.

English first. Patterns are written for text whose quotations are blanked, in any case of letters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

# Verbs that agents are told to do. An order begins with one of them; a fact hardly ever does.
VERBS = (
    r"(?:accept|add|adjust|align|allow|amend|answer|append|apply|approve|archive|ask|assign|assume|attach|attribute|avoid|back\s*up"
    r"|begin|build|bump|bypass|call|capitali[sz]e|change|check|cherry-pick|choose|clean|clear|close|collect|combine|comment|commit"
    r"|compare|compile|compress|configure|confirm|convert|copy|count|cover|create|cut|debug|decrease|default|delete|deploy"
    r"|describe|disable|discard|do|document|downgrade|draft|draw|drop|edit|email|enable|end|ensure|explain|export|fetch|file|fill"
    r"|find|finish|fix|flag|focus|follow|force-push|format|freeze|generate|get|give|group|hand|handle|hide|highlight|hold|ignore"
    r"|import|include|increase|indent|inline|insert|install|isolate|keep|kill|label|land|launch|leave|limit|link|lint|list|lock|log|lower"
    r"|make|mark|measure|mention|merge|migrate|mock|move|name|notify|omit|open|optimi[sz]e|order|override|overwrite|pass|paste|pick|pin"
    r"|ping|plot|polish|post|prefer|prefix|prepare|preserve|print|prioriti[sz]e|produce|publish|pull|purge|push|put|query|quote|raise"
    r"|rebase|rebuild|record|re-?create|reduce|refactor|re-?generate|reject|release|reload|remember|remind|remove|rename|render"
    r"|re-?open|repeat|replace|reply|report|re-?run|reset|resolve|respond|restart|restore|restrict|re-?try|return|reuse|revert|review"
    r"|rewrite|roll\s*back|round|run|save|scan|search|send|separate|set|share|ship|show|sign|simplify|skip|sort|speak|spell|split"
    r"|squash|stage|start|state|stay|stick|stop|store|strip|structure|suggest|summari[sz]e|switch|tag|take|talk|target|tell|test"
    r"|tidy|touch|track|translate|treat|trim|truncate|try|turn|undo|uninstall|unlock|update|upgrade|upload|use|validate|verify"
    r"|wait|walk|wipe|wire|work|wrap|write)"
)
_POLITE = r"(?:(?:please|kindly|just|also|only|then|now|do\s+not|don't|never|always|let's|first)\s+)"
# An order: a verb of the list, with or without polite words and negations before it.
ORDER = rf"{_POLITE}{{0,3}}{VERBS}\b(?![-'])"
# What makes permission or order a standing one, whatever else the sentence says.
HABIT = re.compile(
    r"(?i)\b(?:always|whenever|every\s?(?:time|one)|each\s+time|by\s+default|as\s+a\s+(?:general\s+)?rule|in\s+general|generally"
    r"|usually|normally|typically|from\s+(?:now|here|today|this\s+(?:point|moment|day))\s+(?:on|onwards?|forward)|going\s+forward|henceforth"
    r"|in\s+(?:the\s+)?future|at\s+any\s+time|any\s?time|permanently|never(?!\s+mind)|ever)\b"
    r"|\bimmer\b|\btoujours\b|\bsiempre\b|总是|每次|始终"
)
# What an agent may be told about for good. "For this project" is no task.
LASTING = (
    r"(?:project|repo(?:sitory)?|code\s?base|monorepo|workspace|package|module|library|lib|crate|app(?:lication)?|service|product|team"
    r"|organi[sz]ation|org|company|machine|host|laptop|computer|environment|env|folder|directory|purpose|reason|kind|sort|type|way"
    r"|case|style|language|stack|framework|customer|client|user|account|setup|cluster|server|site|website)s?"
)

_JUDGED = 1_000  # characters; an entry has 800 at most
_ABBREVIATED = re.compile(
    r"(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|mr|mrs|ms|dr|prof|approx|resp|incl|excl|nr|ca|z\.\s?b|d\.\s?h|bzw|p\.\s?ej)\.$"
)
_STOP = re.compile(r"[.!?]+[\"')\]*_]*(?=\s|$)|[。！？]+|\n+")
_FENCE = re.compile(r"^[ \t]{0,3}(```|~~~).*?(?:^[ \t]{0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTATION = re.compile(
    r"`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|「[^」\n]{1,400}」"
    r"|(?<![\w])'[^'\n]{1,200}'(?!\w)|https?://[^\s)>\]]{1,400}(?<![.,;:!?])"
)
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_BULLET = re.compile(r"[ \t]*(?:[-*•+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_WRAPPED = re.compile(r"(?<![.!?:;。！？\n])\n(?=[a-zà-ÿ])")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text` as it was written, trimmed, and `plain`, its beginning with what is quoted blanked by `_`:
    `_JUDGED` characters at most, so that no pattern is slow."""

    text: str
    plain: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: a pattern for `Sentence.plain`, why it offends, and words (see `words`) of which a match
    holds at least one; no words: it is always tried. Compiled when it is first tried, since all of them take 0.2 s."""

    pattern: str
    needs: frozenset[str]
    why: str = ""

    def search(self, plain: str) -> re.Match[str] | None:
        """The first match, in any case of letters."""
        return _compiled(self.pattern).search(plain)


def row(needs: str, pattern: str, why: str = "") -> Row:
    """A row from its words, parted by spaces."""
    return Row(pattern, frozenset(needs.split()), why)


def tried(table: tuple[Row, ...], said: frozenset[str]) -> tuple[Row, ...]:
    """The rows of a table that a text of these words can match."""
    return tuple(row for row in table if not row.needs or not row.needs.isdisjoint(said))


def split(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text. A dot inside a name, number, file name, address or quotation ends none; nor do `e.g.`
    and its like. A line that goes on in small letters belongs to the line before."""
    text = _WRAPPED.sub(" ", text.replace("’", "'"))
    plain = _QUOTATION.sub(_blank, text)
    found: list[Sentence] = []
    begin = 0
    for stop in _STOP.finditer(plain):
        if stop[0] == "." and _ABBREVIATED.search(plain, max(begin, stop.start() - 8), stop.end()):
            continue
        _keep(found, text, plain, begin, stop.end())
        begin = stop.end()
    _keep(found, text, plain, begin, len(plain))
    return tuple(found)


def sentences(prompt: str) -> tuple[str, ...]:
    """The sentences of a prompt that its writer said: fenced code and quoted lines (`>`) are left out."""
    return tuple(sentence.text for sentence in split(spoken(prompt)))


def spoken(prompt: str) -> str:
    """A prompt without fenced code (to the end, where a fence stays open) and without quoted lines."""
    lines = _FENCE.sub("\n", prompt.replace("\r\n", "\n")).split("\n")
    return "\n".join(line for line in lines if not line.lstrip().startswith(">"))


def words(text: str) -> frozenset[str]:
    """The words of a text in small letters, and `0` when it holds a digit: what a row of a table may ask for first."""
    found = _WORD.findall(text.lower())
    return frozenset([*found, "0"] if _DIGIT.search(text) else found)


def quote(match: re.Match[str], sentence: Sentence) -> str:
    """The words of the sentence that a pattern found, at most 80 characters, on one line, without backticks."""
    return " ".join(sentence.text[match.start() : match.end()].replace("`", "").split())[:80].strip(" ,;:")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _keep(found: list[Sentence], text: str, plain: str, begin: int, end: int) -> None:
    bullet = _BULLET.match(plain, begin, end)
    begin = bullet.end() if bullet else begin
    while begin < end and text[begin].isspace():
        begin += 1
    while begin < end and text[end - 1].isspace():
        end -= 1
    if begin < end:
        found.append(Sentence(text[begin:end], plain[begin : min(end, begin + _JUDGED)]))


def _blank(match: re.Match[str]) -> str:
    return "_" * len(match[0])
