"""Text that will be stale soon: numbers of issues and commits, progress, passing trouble, raw output.

A number, a past tense or an error name alone is no offence: ports, versions, dates in names and lasting failure modes
(`Tests fail on Windows when the path has a space`) are what memory is for.
"""

# ruff: noqa: E501, ISC004 - a table of patterns: one line each, split only where an alternative ends

from __future__ import annotations

import re

from noforgetti.policy.verdict import Refusal, Rule

_NOW = r"(?:today|tonight|yesterday|right\s+now|just\s+now|currently|at\s+the\s+moment|this\s+(?:morning|afternoon|evening|week))"
_DID = (
    r"(?:finished|completed|fixed|added|implemented|updated|refactored|merged|wired|started|migrated|pushed|committed"
    r"|deployed|created|wrote|renamed|removed|moved|reverted|rebased|released|tested|changed|cleaned|ported|picked\s+up)"
)
_BAD = (
    r"(?:broken|unreachable|down|stuck|failing|offline|unavailable|crashing|hanging|red|locked|out\s+of\s+(?:disk|memory)"
    r"|timing\s+out|not\s+(?:running|working|responding|reachable))"
)
# Names of standards and algorithms that stand where a ticket could: `see RFC-9457`.
_STANDARD = (
    r"(?:UTF|ISO|SHA|AES|RFC|CVE|CWE|ECMA|IEEE|PEP|HTTP|TLS|SSL|RSA|GPT|MD|HMAC|DIN|EN|COVID|LGPL|A?GPL|BSD|MPL|BASE|ANSI|FIPS|NIST"
    r"|OWASP|WCAG|UCS|KOI|CRC|PKCS|SOC|PCI|JSR|JEP|BEP|NEP|KEP|TC|ES|GB|GCJ|BD|WGS|EPSG|BCP|STD|ITU|IEC|ETSI|ASCII|CP|USB|ARM|RISC|AC|EU|NN+|XX+)"
)
# A ticket is known by what is done with it; a name with a hyphen and a number alone is a name (`GCJ-20`, `MAX-232`).
_TICKET = rf"(?!{_STANDARD}-)[A-Z][A-Z0-9]{{1,9}}-[1-9]\d{{0,5}}\b(?!-?\w|\.\d)"
_TRACKED = (
    r"(?:fix(?:e[sd]|ing)?|close[sd]?|closing|resolve[sd]?|resolving|refs?|references?|see|tracked|tracking|track|reported|described|discussed|documented|explained|covered"
    r"|introduced|implemented|requested|filed|merged|landed|reverted|planned|done|handled|scheduled|added|removed|changed|found|raised|opened|decided|blocked|blocks|blocking"
    r"|waits?|waiting|depends|duplicates?|duplicate\s+of|follow-?up|workaround|discussion|details?|context|background|linked|related|ticket|jira|issue|story|epic|task|bug|until|per|cf\.?"
    r"|supersed\w+|continues|work(?:ing)?|parent|child|branch|PR|MR|TODO|FIXME)"
)
# What makes a gerund at the beginning a subject: `Waiting for networkidle makes Playwright flaky`.
_FINITE = (
    r"(?:is|isn't|are|was|were|does|doesn't|has|had|can|can't|cannot|could|will|won't|would|may|might|must|should|shouldn't|makes?|means|needs|takes|took|requires|causes|breaks|fails|hides|leads"
    r"|slows|works|helps|gives|returns|blocks|hangs|costs|produces|leaves|keeps|lets|avoids|prevents|triggers|creates|adds|removes|loses|saves|wastes|depends|hurts|ends|happens|masks|solves|beats|tends|seems"
    r"|forces|doubles|reduces|increases|raises|throws|crashes|locks|only|never|always|rarely|often|usually)"
)

_PATTERNS = tuple(
    (why, re.compile(pattern, re.MULTILINE))
    for why, pattern in (
        ("raw output", r"Traceback \(most recent call last\)|\bFile \"[^\"\n]{1,200}\", line \d+"),
        ("raw output", r"^[ \t]*at [\w.$<>/ ]{1,120}\([^)\n]{0,200}:\d+(?::\d+)?\)|\bpanic: |\bgoroutine \d+ \["),
        ("raw output", r"^\W?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?\S{0,10}\W{1,4}\S{0,20}\s?(?:[A-Za-z]{3,12}\b)"),
        ("raw output", r"^[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d |^\W?\d\d:\d\d:\d\d[.,]?\d*\W{1,3}(?:ERROR|WARN|INFO|DEBUG)"),
        ("raw output", r"^[ \t]*(?:FAIL|PASS|FAILED|PASSED|ERROR)\s+\S{0,200}[./:]\S|\bExpected: .{0,200} Received: "),
        ("raw output", r"^E {2,}\w|AssertionError: assert |\.\w{1,4}:\d+: \w*(?:Error|Exception)\b|\bnpm ERR!"),
        ("raw output", r"\bdiff --git |^@@ -\d|@@ -\d+,\d+ \+\d|^[d-][r-][w-][x-][rwx-]{6}\s+\d|^total \d+$"),
        ("raw output", r"^[ \t]*\{\s*\"(?:level|ts|time|timestamp|severity|msg)\"\s*:|error\[E\d{4}\]:|\(core dumped\)"),
        ("raw output", r"\b\d+ (?:passed|failed|skipped), \d+ (?:passed|failed|skipped|warnings?)|^Caused by: |^[ \t]*\.{3} \d+ more$"),
        ("raw output", r"^(?:ERROR|FATAL|error|warning|fatal):\s\S|^[A-Z]\w+(?:Error|Exception): \S|AssertionError: \S"),
        ("raw output", r"\b[a-z]+(?:\.[a-z]\w{0,40}){1,8}\.[A-Z]\w{0,60}(?:Exception|Error)\b.{0,200}\bat |thread '[^'\n]{1,60}' panicked"),
        ("raw output", r"\(\d+,\d+\): error\b|^\d+ (?:failing|passing)\b| --> \S{1,200}:\d+:\d+|\*\*\* \[|#{6,}\s+\d|^Author: .{1,80}@"),
        ("raw output", r"^(?:GET|POST|PUT|DELETE|PATCH|HEAD)\s\S{1,500}\s[1-5]\d\d\b|^\$ \w[^\n]{0,200}(?:\n|\s>\s)"),
        ("raw output", r"\bException in thread \"|^[ \t]*\[(?:ERROR|WARN|INFO|DEBUG|FATAL)\] |\bSegmentation fault\b.*\d"),
        ("raw output", r"(?i)\bcommand\s+exited\s+with\s+code\s+\d+\s*[.!]?$|```(?s:.{300})"),
        (
            "a number of an issue or pull request",
            r"(?i)\b(?:PR|MR|pull\s+request|merge\s+request|issue|ticket|bug|discussion)s?\s*(?:no\.?|nr\.?)?\s*[#!]?\d{1,6}\b"
            r"(?![.:]\d)",
        ),
        ("a number of an issue or pull request", r"\bGH-\d+\b|\b(?:issues|pull|merge_requests)/\d+\b"),
        (
            "a number of an issue or pull request",
            r"(?i)\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|see|refs?|in|by|via|tracked|duplicate\s+of)\s*:?\s*[#!]\d{1,6}\b",
        ),
        (
            "a number of an issue or pull request",
            r"(?<!\b[Hh]eading )(?<!\b[Ss]tep )(?<!\b[Rr]ule )(?<!\b[Oo]ption )(?<!\b[Nn]umber )(?<!\b[Pp]age )(?<!\b[Ii]tem )"
            r"(?<!\b[Pp]hase )(?<!\b[Pp]riority )(?<![\w#&/=])[#!]\d{2,5}(?![\w-])",
        ),
        (
            "a number of an issue or pull request",
            rf"(?i:\b{_TRACKED})\s*:?\s+(?i:(?:in|by|with|via|as|at|on|under|to|for|from|of|is|are|ticket|issue|jira|also|the)\s+){{0,2}}[(\[]?{_TICKET}",
        ),
        (
            "a number of an issue or pull request",
            rf"\b{_TICKET}\)?:?\s+(?i:(?:and\s+\S+\s+)?(?:covers?|tracks?|describes?|explains?|discusses|documents|asks?|wants|requests?|fixes|fixed|closes|resolves|introduced|blocks?|lands?|landed"
            r"|(?:is|was|are|were)\s+(?:still\s+|now\s+|not\s+|already\s+)?(?:about|open|closed|blocked|done|fixed|merged|resolved|in\s+review|waiting|assigned|the\s+ticket|to)|must\s+(?:land|be|go)|needs|has\s+(?:the|more|all|full)\s+\w+|contains\s+the|holds\s+the))\b",
        ),
        ("a number of an issue or pull request", rf"^(?:\W?{_TICKET}\W?:\s|[(\[]{_TICKET}[)\]])|\s\({_TICKET}\)\s*[.!]?$|\b(?:JIRA|TICKET|ISSUE|BUG|TASK|STORY|EPIC)-\d{{1,6}}\b(?!-?\w)"),
        ("a commit hash", r"(?<![\w/.:#-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{40}(?![\w-])"),
        (
            "a commit hash",
            r"(?i)\b(?:commits?|revision|rev|sha|revert(?:ed|s)?(?:\s+by|\s+in)?|(?:fixed|introduced|merged|landed|broken|added"
            r"|changed|removed)\s+(?:in|by|with|at|as|since)|bisect\w*(?:\s+\w+){0,3}|cherry-pick(?:ed)?|since|HEAD(?:\s+is)?(?:\s+now)?(?:\s+at)?)"
            r"\s+(?:commit\s+)?[`'\"(]?(?-i:(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40})(?![\w-])",
        ),
        ("progress of a task", rf"(?i)\bI(?:'ve|\s+have|\s+had)?\s+(?:just\s+|already\s+|now\s+|also\s+)?{_DID}\b"),
        ("progress of a task", rf"(?i)\bwe(?:'ve|\s+have)?\s+(?:just|already)\s+{_DID}\b|\b{_DID}\b[^.\n]{{0,80}}\b{_NOW}\b"),
        (
            "progress of a task",
            rf"(?i)^{_DID}\s+(?!and\b)[^.\n]{{1,80}}\band\s+{_DID}\s+(?:it|them|the|a|all)\b|^(?:just|already)\s+{_DID}\b"
            rf"|\b{_DID}\b[^.\n]{{0,60}}\bin\s+this\s+(?:commit|pr|branch|change|session)\b|\bhalfway\s+(?:through|done)\b",
        ),
        (
            "progress of a task",
            rf"^(?:Working|Looking|Waiting)\s+(?:on|at|for|into)\s(?![^.;,\n]{{0,80}}(?<!\bthe)(?<!\ba)(?<!\bthat)(?<!\bwhich)(?<!\bwho)(?<!\bsome)(?<!\bthese)(?<!\bmy)(?<!\bour)\s{_FINITE}\b)|(?i:^[ \t]*(?:remaining|left\s+to\s+do|still\s+open|pending"
            r"|next\s+steps?)\s*:)|(?i:\bwe(?:'re|\s+are)\s+(?:waiting|working\s+on|about\s+to|blocked|stuck|halfway)\b)"
            r"|(?i:\b(?:tests?|build|ci|suite|lint\w*)\s+(?:all\s+)?(?:pass(?:es)?|(?:is|are)\s+(?:green|passing))\s+(?:again|now)\b)",
        ),
        ("progress of a task", rf"(?i)\b{_NOW}\b,?\s+(?:we|I)\s+{_DID}\b"),
        ("progress of a task", rf"(?i)^(?:we|I)\s+worked\s+on\b|^the\s+agent\s+(?:just\s+|has\s+)?(?:{_DID}|ran|executed|modified|worked)\b|^this\s+session\b"),
        ("progress of a task", r"(?i)(?:^|[.;,]\s+|\b(?:I\s+am|I'm|we\s+are|we're|am)\s+)(?:currently|now|still)\s+(?!\w*thing\b)\w+ing\b"),
        ("progress of a task", r"(?i)\b(?:I'm|I\s+am)\s+(?:working|looking|going|about|busy|done|finished|waiting)\b"),
        ("progress of a task", r"(?i)\bstill\s+(?:need|have|left|remaining|to\s+do)\b(?:s)?\s*(?:to\b|work|$)?|\bleft\s+off\b"),
        (
            "progress of a task",
            r"(?i)\b(?:one|two|three|four|five|six|few|\d{1,3})\s+(?:more\s+)?(?:files?|tests?|steps?|tasks?|items?|modules?)\s+"
            r"(?:left|remaining|to\s+go)\s*(?:[.!,;]|$)|\b(?:the|this|my|our)\s+(?:task|work|refactor\w*|migration|job|port)\s+is\s+(?:\w+\s+){0,2}"
            r"(?:complete|completed|done|finished|underway)\b|\b(?:half|\d{1,3}\s?%)\s+(?:complete|done|finished)\b",
        ),
        ("progress of a task", r"(?i)\bnext,?\s+(?:I|we)(?:'ll|\s+will|\s+am|\s+are|\s+need|\s+have)\b|^(?:done|finished)\s+with\s"),
        (
            "progress of a task",
            r"^(?:Added|Implemented|Updated|Refactored|Renamed|Created|Merged|Fixed|Wired|Picked up|Finished|Completed|Removed"
            r"|Deployed|Started|Migrated|Rebased|Pushed)\s+(?:the|a|an|some|both|all|up|my|our|two|three|where|it)\b",
        ),
        ("progress of a task", r"^\W{0,4}(?:TODO|FIXME|WIP)\b\s*[:(]|\bTODO\s+(?:now|next|today)\b|^[ \t]*(?:[-*][ \t]*)?\[[ x]\]\s"),
        (
            "a passing failure",
            rf"(?i)\b(?:is|are|was|isn't|aren't)\s+(?:currently|temporarily|still|again|now)\s+{_BAD}\b|\bcurrently\s+{_BAD}\b",
        ),
        ("a passing failure", rf"(?i)^(?:The|Our)\s+[\w ./-]{{2,50}}\s+is\s+{_BAD}\s*[.!]?$|\b{_BAD}\b[^.\n]{{0,60}}\b{_NOW}\b"),
        (
            "a passing failure",
            r"^[A-Z][\w.-]{1,20}(?:\s[\w.-]{1,20}){0,2}\s+is\s+(?:down|unreachable|offline|broken|stuck|failing)\s*[.!]?$",
        ),
        ("a passing failure", rf"(?i)\b{_NOW}\b[^.\n]{{0,60}}\b(?:{_BAD}|fail(?:s|ed|ing)?|crash(?:es|ed)?|break(?:s)?)\b"),
        ("a passing failure", rf"(?i)\b(?:fails?|failed|failing|crash(?:es|ed)?|expired|broke|breaks)\b[^.\n]{{0,60}}\b{_NOW}\b"),
        ("a passing failure", r"(?i)\b(?:has|had|having|suffering|there\s+is)\s+an?\s+(?:\w+\s+)?outage\b|\bisn't\s+running\s+on\s+this\b"),
        ("a passing failure", r"(?i)\buntil\b[^.\n]{1,40}\b(?:is|are|comes?)\s+(?:back|fixed|restored|up\s+again|online)\s*(?:[.!,;]|$)"),
        (
            "a time that passes",
            r"(?i)\b(?:(?<!highlights )(?<!selects )(?<!means )(?<!to )today(?!'s|\()|tonight|yesterday|tomorrow|right\s+now|just\s+now|at\s+the\s+moment|this\s+(?:morning"
            r"|afternoon|evening|week|sprint)|earlier\s+in\s+this\s+(?:session|conversation)|in\s+this\s+session|so\s+far)\b",
        ),
    )
)  # fmt: skip
_JUDGED = 4_000  # characters that are looked at, so that no pattern is slow; an entry has 800 at most
_SPACE = re.compile(r"[^\S\n]{4,}|\n{4,}")
_COLOUR = re.compile(r"(?i)\bcolou?rs?\b|\bhex\b|\bpalette\b")
# A format is described, not a ticket mentioned.
_FORMAT = re.compile(
    r"(?i)\b(?:such\s+as|for\s+example|e\.g\.|like|format(?:ted)?|prefix(?:ed)?|named?\s+after|pattern|looks?)\b"
)
_QUOTED = re.compile(r"([\"'`])(?:today|tomorrow|yesterday|now)\1|date\.today|\.today\b", re.IGNORECASE)


def transient(text: str) -> Refusal | None:
    """A refusal that says what will be stale and quotes it, or None."""
    plain = _QUOTED.sub("", _SPACE.sub(lambda run: run[0][:3], text[:_JUDGED])).replace("’", "'")
    described = bool(_FORMAT.search(plain) or _COLOUR.search(plain))
    for why, pattern in _PATTERNS:
        if described and why.startswith("a number"):
            continue
        match = pattern.search(plain)
        if match:
            quote = " ".join(match[0].split())[:80]
            return Refusal(
                Rule.TRANSIENT,
                f"The text holds {why} (`{quote}`) and will be stale soon; nothing was written.",
                "Keep what will still be true next month.",
                quote,
            )
    return None
