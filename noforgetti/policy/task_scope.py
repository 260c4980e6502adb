"""Instructions for the task at hand: `For this report, use landscape pages`. They end with it and do not belong in memory.

Four kinds are refused: something to hand over when an event has come, a step of one version's upgrade, an order about one
bounded piece of work (`this PR`, `the slides`), and the note of a value that was changed. Standing rules pass: `When done, commit and push
everything`, `When bumping versions, update the changelog`, `For reports, use ISO dates`.

What is unclear passes; review and dreaming judge it.
"""

# ruff: noqa: E501 - a table of patterns: one line each, split only where an alternative ends

from __future__ import annotations

import re

from noforgetti.policy import speech
from noforgetti.policy.speech import row
from noforgetti.policy.verdict import Refusal, Rule

# A piece of work that ends. Not `table`, `job`, `file`: those are things of the project.
_WORK = (
    r"(?:task|ticket|issue|bug|bug\s?fix|fix|hotfix|story|PR|MR|(?:pull|merge)\s+request|change(?:set)?|commit|patch|branch|diff|release|sprint|iteration"
    r"|session|conversation|chat|thread|run|build|experiment|trial|spike|prototype|poc|benchmark|report|page|document|doc|deck|slides?|presentation"
    r"|talk|demo|summary|write-?up|draft|chart|plot|graph|figure|diagram|poster|letter|e-?mail|mail|post|blog\s?post|article|memo|one|round|step|incident|outage|post-?mortem"
    r"|migration|refactor(?:ing)?|rewrite|clean-?up|review|upgrade|rollout|deploy(?:ment)?|import|export|exercise|assignment|request|feature|meeting|investigation|analysis"
    r"|question|answer|reply|batch|attempt|problem|project\s+phase|milestone|rebase|merge|mockup|screenshot|tutorial|announcement|proposal|paper|essay|workshop|rename)"
)
# Pieces of work whose plain name means one of them: `the slides`.
_PIECE = (
    r"(?:slides?|slide\s+deck|deck|presentation|talk|demo|poster|report|summary|write-?up|hand-?out|keynote|one-?pager|charts?|plots?|figures?|graphs?|diagrams?|memo|e-?mail|letter|meeting|workshop|pitch"
    r"|spreadsheet|prototype|experiment|spike|screenshots?|mockups?|blog\s?post|article|paper|announcement|post-?mortem|proposal|newsletter|video|recording|interview|investigation|analysis|bug\s?fix|hotfix|refactor(?:ing)?|rewrite)"
)
_THIS = r"(?:(?:just\s+|only\s+)?(?:this|these|(?<=for\s)that|(?<=for\s)those)(?:\s+(?:one|particular|specific|current))?|the\s+(?:current|present|upcoming|ongoing)|(?:today|tomorrow|tonight|yesterday)'s|this\s+(?:morning|afternoon|evening|week|month)'s|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day's)"
_IN = r"(?:for|in|on|of|with|during|within|throughout|after|as\s+part\s+of|at\s+the\s+end\s+of|at\s+the\s+start\s+of|when\s+(?:writing|doing|making)|while\s+(?:working\s+on|doing|writing))"
_NEXT = rf"(?=\s*(?:[.,;:!)]|$|\s-|\b(?:in|on|at|to|with|by|for|from|and|or|but|only|into|as|under|over|a|an|so|than|we|you|I|is|are|please|don't|do|never|without|{speech.VERBS})\b))"
_WANT = r"(?:I\s+(?:only\s+|just\s+)?(?:want|need|would\s+like|expect|prefer)|I'd\s+like|we\s+(?:only|just|will|won't|want|need|should|don't|do|can|must|use|keep|skip|leave|need)|we'll|you\s+(?:should|must|need|can)|let's)"
_ORDERED = rf"(?:(?:make\s+sure|be\s+sure|remember|try)\b|{speech.ORDER}|{_WANT}\b|no\s+\w+|please\b)"
# An event after which something is due: `when done`, `once the import has finished`, `after that is ready`.
_OVER = r"(?:done|finished|ready|complete[d]?|through|over|merged|deployed|released|green|in|up|available|there|closed|imported|generated|written|built)"
_EVENT = (
    r"(?:when|once|after|as\s+soon\s+as|the\s+moment)\s+(?:"
    r"(?:(?:you(?:'re|\s+are|\s+have|'ve)?|we(?:'re|\s+are)|it(?:'s)?|that(?:'s)?|this|all(?:\s+(?:of\s+)?(?:that|this|it))?|everything|those|these|they|(?:the|your|my|our|this|that)\s+(?:[\w-]+\s+){1,4}?)\s*"
    rf"(?:is|are|has|have|was|were)?\s*(?:all\s+|fully\s+|been\s+|both\s+)*(?:{_OVER}\b|finish(?:es|ed)?\b|end(?:s|ed)?\b|completes?\b|pass(?:es)?\b|run\b|ran\b|stops?\b|succeeds?\b|lands?\b|comes?\s+(?:back|in)\b|returns\b)(?!\s+(?:a|an|any|each|every|\w+ing)\b)"
    r"(?:\s+(?:with\s+)?(?:it|this|that|the\s+\w+))?)"
    r"|(?:finishing|completing|completion|wrapping\s+up)\b(?:\s+(?:it|this|that|everything|the\s+\w+))?"
    rf"|{_OVER}\b|finished\b|you\s+(?:have|get|got|know|see)\s+(?:the|all|enough|your|those|these|that)\b[^,.;]{{0,40}}|that,?)"
)
# What can be handed over.
_GOODS = (
    r"(?:reports?|summar(?:y|ies)|files?|html|pdfs?|csv|tsv|json|xlsx?|excel|spreadsheet|tables?|charts?|plots?|graphs?|diagrams?|lists?|overview|pages?|one-?pager|slides?|deck|presentation"
    r"|dashboard|screenshots?|write-?up|memo|documents?|breakdown|comparison|zip|archive|e-?mails?|numbers|results?|findings|recap|rundown|draft|histogram|paragraph|mock-?up|notebook|link|timings?|logs?|outline|checklist|digest|patch\s+file|poster|image|video|gif)"
)
_MAKE = r"(?:give|send|show|hand|mail|email|get|bring|tell|make|write|draw|build|prepare|read|post|print|draft|ping|slack|text|remind|walk|let)"
_PRODUCE = r"(?:create|write|make|produce|generate|prepare|export|plot|draw|render|draft|compile|build|post|attach|save|put|print|collect|summari[sz]e|list|upload|share|send|show|give|deliver|add|append|turn|convert|format|report|present|visuali[sz]e)"
_ASK = (
    rf"(?:(?:then\s+|please\s+|also\s+|just\s+|can\s+you\s+|could\s+you\s+)*(?:{_MAKE}\s+(?:me|us)\b"
    r"|(?:I|we)(?:'d|\s+would)?\s*(?:also\s+)?(?:want|need|like|expect)\b(?!\s+you\s+to\s+(?:always|never))"
    rf"|{_PRODUCE}\s+(?:(?:a|an|the|one|two|all|your|up|out|me)\s+)+(?:[\w-]+\s+){{0,4}}?{_GOODS}\b|(?:plot|summari[sz]e|draw|chart|graph|visuali[sz]e|report|list|tabulate|export)\s+(?:it|them|that|those|these|the\s+\w+)\b))"
)
# The number of a version; alone only behind a verb of upgrading or a name.
_VERSION = r"v?\d+(?:\.(?:\d+|x))*(?:-?(?:rc|beta|alpha)\.?\d*)?\b(?!\s*(?:%|percent|files?|lines?|items?|tests?|seconds?|minutes?|characters))"
_UPGRADE = (
    rf"(?:(?:bump|upgrad|migrat|updat|port|downgrad)\w*\s+(?:[^,.;\d]{{1,50}}?\s)?(?:(?:from|off)\s+[^,;]{{1,30}}?\s+)?(?:(?:to|onto|for)\s+)?(?:[A-Za-z][\w.+#-]*\s+){{0,2}}{_VERSION}"
    rf"|(?:mov|switch|go|chang|transition)\w*\s+(?:[^,.;\d]{{1,50}}?\s)?(?:to|onto)\s+(?:[\w.+#-]+\s+){{0,2}}?(?:(?-i:[A-Z])[\w+#-]*\s+{_VERSION}|v?\d+\.\d[\w.]*)"
    rf"|(?:releas|shipp?|tagg?|cutt?|publish)\w*\s+(?:version\s+|[\w-]+\s+)?v?\d+\.\d[\w.-]*|(?:the\s+)?(?:bump|upgrade|migration|update|move|switch|port)\s+to\s+(?:[\w.+#-]+\s+){{0,2}}{_VERSION}|the\s+v?\d+\.\d[\w.-]*\s+(?:bump|upgrade|migration|update|release))"
)
_WHEN = r"(?:when|while|once|before|after|during|as\s+part\s+of|with|in|for)\s+(?:(?:you(?:'re)?|we(?:'re)?|I(?:'m)?)\s+(?:are\s+|have\s+|am\s+)?)?"
_VALUE = r"(?:[`'\"_]{0,3}[-+~$€]?v?\d[\w.,:%/-]*(?:\s?(?:ms|s|sec(?:onds?)?|m|min(?:utes?)?|h|hours?|days?|weeks?|[KMG]i?B|%|px|times|lines|characters|workers|threads|retries|requests))?[`'\"_]{0,3}|_+|true|false|on|off|enabled|disabled|none|null|debug|info|warn(?:ing)?|error|daily|hourly|weekly|monthly|nightly)"
_WAS = r"(?:was|were|previously|formerly|(?:(?:changed|raised|lowered|reduced|increased|bumped|moved|up|down)\s+)from|used\s+to\s+be|had\s+been|old\s+value:?)"
_TURNED = r"(?:change|raise|increase|decrease|reduce|lower|bump|switch|upgrade|downgrade|update|adjust|extend|shorten|cut|double|halve|drop|tune|pin|relax|tighten|widen)"
_TURNING = rf"(?:{_TURNED}|(?:chang|rais|increas|decreas|reduc|lower|bump(?:p)?|switch|upgrad|downgrad|updat|adjust|extend|shorten|doubl|halv|dropp|tun|pinn|relax|tighten|widen|cranked\s+up|dialled\s+down|dialed\s+down)(?:ed|d)?)"
_FOR_NOW = r"(?:this\s+(?:one\s+)?time|for\s+now|for\s+the\s+(?:moment|time\s+being)|just\s+(?:for\s+)?(?:now|today)|for\s+today|today\s+only|this\s+(?:morning|afternoon|evening|week|sprint)|this\s+round|while\s+you(?:'re|\s+are)\s+at\s+it|in\s+the\s+meantime|tonight)"

# Words of which a match holds one at least.
_EVENTS = "when once after soon moment"
_POINTING = "this these that those current present upcoming ongoing s"

_TABLE = (
    # something is asked for when an event has come: when done, I want an html report
    row(_EVENTS, rf"^(?:and\s+|then\s+|please\s+|ok(?:ay)?,?\s+)*{_EVENT}\s*[,:-]?\s+{_ASK}", "asks for something once, after an event"),
    row(_EVENTS, rf"^(?:please\s+|then\s+|and\s+|finally,?\s+)*{_ASK}[^.!?;]{{0,80}}?\b{_EVENT}(?=\s*(?:[.!,;]|$))", "asks for something once, after an event"),
    row("after when once", rf"^(?:after|when|once)\s+the\s+(?:[\w-]+\s+){{1,2}}?(?:is\s+{_OVER}|has\s+\w+ed)?\s*,\s*(?:please\s+)?{_MAKE}\s+(?:me|us)\b", "asks for something once, after an event"),
    row("want like need", rf"^(?:I\s+(?:want|need|would\s+like)|I'd\s+like)\s+(?:a|an|the)\s+(?:[\w-]+\s+){{0,3}}?{_GOODS}\b[^.!?;]{{0,60}}?\bat\s+the\s+end(?=\s*(?:[.!,;]|$))", "asks for something once, after an event"),
    # a step of one version's upgrade: when bumping to 1.4.0, drop the vendor dir; and the other way round
    row("0", rf"^{_WHEN}{_UPGRADE}[^,.;]{{0,30}},\s*(?:then\s+)?{_ORDERED}", "is a step of one version's upgrade"),
    row("0", rf"^{speech.ORDER}[^.!?;]{{1,80}}?\b(?:when|while|once|before|after|as\s+part\s+of|during|with)\s+(?:you\s+|we\s+|you're\s+|we're\s+)?{_UPGRADE}(?=\s*(?:[.!,;]|$))", "is a step of one version's upgrade"),
    # one bounded piece of work, first: for this report, use landscape; as part of this change, also ...
    row(_POINTING, rf"^(?:and\s+|but\s+|also,?\s+|ok(?:ay)?,?\s+)?(?:{_IN}|before|until)\s+{_THIS}\s+(?!{speech.LASTING}\s)(?:[\w-]+\s+){{0,2}}?{_WORK}s?(?:\s+(?:only|alone))?\s*[,:]?\s+(?:{_ORDERED}|I\b|we\b|you\b)", "is about one piece of work"),
    row(_POINTING, rf"^(?:only\s+|just\s+)?for\s+{_THIS}\s+(?:task|ticket|PR|MR|report|experiment|deck|presentation|demo|talk|slides|chart|release|run|change|branch|sprint|bug|fix|commit)\s*[,:]", "is about one piece of work"),
    # ... and last: write the summary of this incident in Spanish
    row(_POINTING, rf"(?:^|[,;:]\s*){_ORDERED}[^.!?;]{{0,100}}?\b{_IN}\s+(?!the\s+current\s+(?:branch|page|commit|build|release|thread|conversation|run|session)\b){_THIS}\s+(?:(?!_)[\w-]+\s+){{0,1}}?{_WORK}{_NEXT}", "is about one piece of work"),
    row(_POINTING, rf"^(?:please\s+)?(?:keep|make|leave|write|translate|finish|format|render|print|limit|shorten)\s+{_THIS}\s+(?:[\w-]+\s+)?{_WORK}{_NEXT}", "is about one piece of work"),
    row(_POINTING, rf"^(?:until\s+|unless\s+|{_WHEN}){_THIS}\s+{_WORK}\s+(?:is|has|was|gets)\s+(?:been\s+)?{_OVER}\s*,\s*{_ORDERED}", "is about one piece of work"),
    # a piece that is being made: the slides; the report you're writing
    row("for in on", rf"^(?:and\s+|but\s+|also,?\s+)?(?:for|in|on)\s+(?:the|my|your|our)\s+{_PIECE}(?:\s+(?:today|tomorrow|tonight|later|next\s+\w+|this\s+\w+|on\s+\w+day))?\s*,?\s+(?:(?!{_WANT}\s+(?:use|keep)){_ORDERED})", "is about one piece of work"),
    row("writing working making building preparing drafting creating doing editing reviewing fixing discussing giving refactoring debugging", r"\b(?:the|that)\s+(?:[\w-]+\s+){1,2}?(?:that\s+|which\s+)?(?:you(?:'re|\s+are)|we(?:'re|\s+are)|I(?:'m|\s+am))\s+(?:now\s+|currently\s+)?(?:writing|working\s+on|making|building|preparing|drafting|creating|doing|editing|reviewing|fixing|discussing|giving|refactoring|debugging)\b", "is about one piece of work"),
    # only for now: this time, write the test first; keep both endpoints for now
    row("this now moment being today while meantime tonight", rf"^(?:and\s+|but\s+|ok(?:ay)?,?\s+)?{_FOR_NOW}\s*,?\s+{_ORDERED}|^(?:for\s+now|for\s+the\s+moment|for\s+the\s+time\s+being),\s+[a-z]+\s+(?:the|a|an|it|all|only|both|your|that|this)\b", "is meant for now"),
    row("this now moment being today", rf"^(?:please\s+)?(?:(?:let's|we(?:'ll)?|can\s+you|could\s+you)\s+)?{speech.ORDER}[^.!?;]{{1,100}}?\b(?:this\s+time|for\s+now|for\s+the\s+moment|for\s+the\s+time\s+being|this\s+round|for\s+today|today\s+only|just\s+for\s+(?:now|today))(?=\s*(?:[.!,;]|$))", "is meant for now"),
    # a value that was changed: (changed from 1h), raised from 3 to 5, now 30min instead of 1h
    row("was were previously formerly from used had value", rf"[(\[]\s*(?:(?:it|this|which)\s+)?{_WAS}\s+(?:at\s+|set\s+to\s+|every\s+)?{_VALUE}(?:\s+(?:before|until\s+now|earlier|in\s+the\s+past))?\s*[)\]]", "notes that a value was changed"),
    row("was were previously formerly from used had value before earlier originally instead", rf"^(?:I\s+|we\s+|I've\s+|we've\s+|please\s+|just\s+)*(?:{_TURNING}|set|moved?|made)\b[^.!?;]{{0,80}}?[(\[,]\s*(?:it\s+|which\s+)?(?:{_WAS}|before|earlier|originally|instead\s+of|from)\s+(?:{_VALUE}|[^()]{{1,30}}[)\]])", "notes that a value was changed"),
    row("from", rf"^(?:I\s+|we\s+|I've\s+|we've\s+|please\s+|just\s+)*{_TURNING}\s+[^.!?;]{{0,80}}?\bfrom\s+{_VALUE}\s+(?:down\s+|up\s+|over\s+)?to\s+{_VALUE}", "notes that a value was changed"),
    row("from instead was previously formerly", rf"^(?:I\s+|we\s+|I've\s+|we've\s+|please\s+|just\s+)*{_TURNING}\s+[^.!?;]{{0,80}}?\bto\s+{_VALUE}\s*,?\s+(?:up\s+|down\s+)?(?:from|instead\s+of|it\s+was|was|previously|formerly)\s+{_VALUE}", "notes that a value was changed"),
    row("now", rf"\bnow\s+(?:every\s+|set\s+to\s+|at\s+)?{_VALUE}\s*,?\s+(?:instead\s+of|rather\s+than|not|no\s+longer|it\s+was|was|down\s+from|up\s+from|previously|formerly)\s+{_VALUE}|{_VALUE}\s+now,\s+(?:it\s+)?was\s+{_VALUE}", "notes that a value was changed"),
    # other languages: only what names the one piece or the one event
    row("diesen dieses diese dieser diesem aktuellen aktuelle wenn sobald", r"\b(?:für|in|bei)\s+(?:diesen|dieses|diese|dieser|diesem|den\s+aktuellen|die\s+aktuelle)\s+(?:bericht|PR|MR|ticket|aufgabe|commit|branch|experiment|präsentation|version|release|lauf|sitzung)\b|\b(?:wenn|sobald)\s+(?:du|das|es|alles)\s+(?:damit\s+)?(?:fertig|bereit)\s+(?:bist|ist)\b[^.!?]{0,8}\b(?:schick|gib|zeig|sag|mach|erstell)\w*\s+mir\b", "is about one piece of work"),
    row("ce cette quand", r"\b(?:pour|dans)\s+(?:ce|cette)\s+(?:rapport|PR|ticket|tâche|commit|branche|expérience|présentation|version|session)\b|\bquand\s+(?:tu\s+as|c'est|tout\s+est)\s+(?:fini|terminé|prêt)\b[^.!?]{0,8}\b(?:envoie|donne|montre|fais|dis)-moi\b", "is about one piece of work"),
    row("este esta cuando", r"\b(?:para|en)\s+(?:este|esta)\s+(?:informe|PR|ticket|tarea|commit|rama|experimento|presentación|versión|sesión)\b|\bcuando\s+(?:termines|acabes|esté\s+listo)\b[^.!?]{0,8}\b(?:envíame|dame|mándame|muéstrame|dime)\b", "is about one piece of work"),
    row("", r"(?:在|对于|针对)?(?:这个|这次|本次|这份|当前)(?:的)?(?:报告|任务|提交|分支|实验|演示|会话|版本|合并请求|PR)|(?:完成|做完|好了)(?:之后|以后|后)[，,]?(?:给我|发我|告诉我)", "is about one piece of work"),
)  # fmt: skip
_STANDING = re.compile(r"(?i)\b(?:each|every(?!\s?\d)|any)\b")


def task_scope(text: str) -> Refusal | None:
    """A refusal that quotes what ties `text` to one task, or None. Never raises for any string."""
    rows = speech.tried(_TABLE, speech.words(text))
    for sentence in speech.split(text) if rows else ():
        plain = sentence.plain
        if speech.HABIT.search(plain) or _STANDING.search(plain):
            continue
        for one in rows:
            if match := one.search(plain):
                return _refusal(one.why, speech.quote(match, sentence))
    return None


def _refusal(why: str, quoted: str) -> Refusal:
    return Refusal(
        Rule.TASK_SCOPE,
        f"The text {why} (`{quoted}`), which ends with its task; nothing was written.",
        "Follow it now, or store it for this task or session only with scope `task` or `session`.",
        quoted,
    )
