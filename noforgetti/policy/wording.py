"""Text that speaks to the model instead of stating a fact: it would be obeyed when memory is read back.

Looked for are orders to drop what was said before, borrowed roles, secrecy from the user and exfiltration. The words
"model", "assistant" or "instructions" alone are no offence, and an order not to do it (`Never ignore ...`) passes.

Not guaranteed: an order in other words gets through; what memory shows is fenced as data besides.
"""

# ruff: noqa: E501, ISC004 - a table of patterns: one line each, split only where an alternative ends

from __future__ import annotations

import re
import unicodedata

from noforgetti.policy.verdict import Refusal, Rule

_EARLIER = (
    r"(?:(?:all|any|every|each|of|the|these|those|my|that|your)\s+){0,4}"
    r"(?:previous|prior|earlier|above|preceding|existing|foregoing|former|your|system|original|initial|other|safety)\s+"
    r"(?:(?:system|safety|security|given|existing|previous|prior|earlier|developer)\s+){0,2}"
)
_ORDERS = (
    r"(?:instructions?|prompts?|messages?|rules?|guidelines?|guidance|directives?|orders|directions|commands|constraints"
    r"|restrictions|training|programming|context|polic(?:y|ies)|safeguards?)\b"
)
_DROP = r"(?:ignore|disregard|forget|override|overrule|bypass|discard|dismiss|neglect|drop|skip|violate)"
_MODEL = r"(?:(?:the|any|every|this|all)\s+)?(?:ai|llm|language\s+model|model|assistant|agent|chatbot|claude|gpt|you)s?"
_ASIDE = r"(?:^|[.!?;:,>\n]\s*|\b(?:and|then|please|now|must|should|to|instead)\s+)"
_PRIVATE = r"(?:~?/?\.ssh|id_rsa|id_ed25519|/etc/(?:passwd|shadow)|\.aws/credentials|\.env\b|\.netrc)"

_PATTERNS = tuple(
    (why, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for why, pattern in (
        ("tells the model to drop its instructions", rf"\b{_DROP}\s+{_EARLIER}{_ORDERS}"),
        (
            "tells the model to drop its instructions",
            r"\b(?:ignore|disregard|forget)\s+(?:all|any|the)\s+(?:of\s+)?(?:the\s+)?instructions\b",
        ),
        (
            "tells the model to drop its instructions",
            r"\b(?:forget|ignore|disregard)\s+(?:everything|anything|all|whatever)\s+"
            r"(?:(?:that\s+)?(?:was|is|you|i|we)\b|above|before|said|so\s+far|prior|previous)",
        ),
        (
            "tells the model to drop its instructions",
            rf"\b(?:supersedes?|replaces?|overrides?|overrules?|takes?\s+precedence\s+over|cancels?)\s+"
            rf"(?:(?:all\s+|any\s+|the\s+){{0,2}}(?:previous|prior|earlier|above|preceding|your|safety)\s+{_ORDERS}"
            r"|(?:the|your|any|all)\s+(?:system|developer)\s+(?:prompt|message|instructions?))",
        ),
        (
            "tells the model to drop its instructions",
            r"\bignorier\w*\s+(?:alle|die|bitte)\s[^.\n]{0,40}(?:anweisung|instruktion)|\bignor[ae]\w*\s+(?:todas\s+)?"
            r"(?:las|les|le|as|toutes|todas|tutte)\s[^.\n]{0,40}(?:instruc|istruz)|(?:忽略|无视|忘记|無視)[^。\n]{0,12}"
            r"(?:指令|提示|指示|说明|规则)|игнорируй\w*\s[^.\n]{0,40}(?:инструкц|указан)",
        ),
        (
            "tells the model to drop its instructions",
            rf"\b(?:stop|quit|cease)\s+(?:following|obeying)\s+{_EARLIER}{_ORDERS}|\b{_EARLIER}(?:instructions?|prompts?)\s+"
            rf"(?:no\s+longer\s+(?:apply|count|hold)|(?:is|are)\s+no\s+longer\s+valid)|{_EARLIER}{_ORDERS}\s+(?:is|are)\s+"
            r"(?:now\s+)?(?:void|null|revoked|cancell?ed|lifted|suspended)",
        ),
        (
            "denies the model its instructions",
            rf"\b(?:do\s+not|don't|never)\s+(?:follow|obey|respect)\s+(?:{_EARLIER}{_ORDERS}|the\s+(?:system|developer)\s+\w+)",
        ),
        ("borrows a role", r"</?(?:system|assistant|developer)(?:[-_](?:prompt|reminder|message))?\s*>\s*\S"),
        ("borrows a role", r"</(?:system|assistant|developer|user|human|memory|instructions?|context)\s*>"),
        ("borrows a role", r"<\|(?:im_start|im_end|system|assistant|user|endoftext|start_header_id)\|?>?|\[/?INST\]"),
        ("borrows a role", r"<</?SYS>>|^\s*#{2,4}\s*(?:system|instruction|assistant)s?\s*:|\bBEGIN SYSTEM PROMPT\b"),
        ("borrows a role", r"^\W{0,4}(?-i:SYSTEM|ASSISTANT|DEVELOPER|System message|SYSTEM MESSAGE)\W{0,3}:\s"),
        ("borrows a role", r"^\W{0,4}(?:system|assistant|developer)\W{0,3}:\s*(?:you\b|ignore|new|from now)"),
        ("borrows a role", r"^\W{0,3}\[(?:system|assistant|developer)\]|\bnew\s+system\s+(?:prompt|message)\b"),
        ("borrows a role", r"^\W{0,4}assistant\W{0,3}:\s*(?:sure|ok(?:ay)?|yes|of\s+course|certainly|understood|I)\b"),
        (
            "gives the model another role",
            r"\byour\s+(?:new|real|actual|true|only|next)\s+(?:task|goal|job|role|purpose|objective|mission|instructions?)\s+"
            r"(?:is|are)\b|\b(?:enter|activate|switch\s+to|go\s+into)\s+(?:developer|dan|god|jailbreak|unrestricted|sudo)\s+mode",
        ),
        (
            "gives the model another role",
            r"\byou(?:\s+are|'re)\s+now\s+(?:in\s|an?\s|the\s|my\s|dan\b|free\b|un\w+ed\b|jailbroken|no\s+longer|acting"
            r"|operating|allowed\s+to\s+ignore)|\bdo\s+anything\s+now\b|\b(?:act|behave)\s+as\s+(?:if\s+you|an?\s+un\w+ed)"
            r"|\bpretend\s+(?:to\s+be|that\s+you|you)\b",
        ),
        (
            "commands the model",
            rf"\b(?:from\s+(?:now|this\s+point|here)(?:\s+on)?|henceforth)\b[^.\n]{{0,20}}\b{_MODEL}\s+(?:must|shall|will|has"
            r"\s+to|have\s+to|should|are\s+to)\s+(?:only\s+|always\s+)?(?:answer|reply|respond|obey|comply|say|agree|approve)",
        ),
        (
            "commands the model",
            rf"\b(?:assistant|ai|model|agent|llm|chatbot|you)\s+(?:must|shall|should|will)\s+(?:always\s+|only\s+|now\s+)?(?:obey\b"
            rf"|comply\b|never\s+refuse|not\s+refuse|answer\s+(?:every|all|any|only)|reply\s+only|respond\s+only"
            rf"|approve\s+(?:every|all|any)|reveal\s+(?:its|your)|{_DROP}\s+{_EARLIER})",
        ),
        (
            "commands the model",
            rf"\b(?:new|updated|secret|hidden|urgent)\s+(?:rules?|instructions?|directives?|orders?)\s+(?:for|to)\s+{_MODEL}\b",
        ),
        (
            "commands the model",
            r"\b(?:ai|llm|language\s+model|assistant|agent)s?\s+(?:that|who|which)?\s*(?:reads?|reading|processing|sees?|seeing)"
            r"\s+(?:this|the\s+following)",
        ),
        (
            "commands the model",
            r"\bI\s+(?:hereby\s+)?(?:order|command|authori[sz]e)\s+you\b|\bif\s+you\s+are\s+an?\s+(?:ai|llm|language\s+model"
            r"|assistant|agent|bot|chatbot)\b|\bwhen(?:ever)?\s+(?:you\s+(?:read|see|load|process)\s+this|this\s+(?:memory|note"
            r"|text|message|entry|line|file)\s+is\s+(?:loaded|read|shown|seen|processed|injected))\b",
        ),
        (
            "commands the model",
            r"\b(?:message|note|memo|attention|notice|instructions?)\s+(?:to|for)\s+(?:(?:the|any|all)\s+)?(?:models?|assistants?"
            r"|ai|ais|llms?|agents?|claude|gpt|chatgpt|gemini|copilot)\s*[:,!–-]",
        ),
        (
            "commands the model",
            r"\b(?:user|you)\s+(?:has|have)\s+(?:been\s+)?(?:granted|authori[sz]ed|permitted)\b[^\n]{0,60}\b(?:ignore|skip|bypass"
            r"|override|disable)\b|\b(?:execute|run)\s+(?:the\s+following|this|these)\s+(?:commands?|code|script)\b[^.\n]{0,40}"
            r"\bwithout\s+(?:asking|confirm|telling|question|hesitat)",
        ),
        (
            "commands the model",
            r"\b(?:respond|reply|answer)\s+only\s+with\b[^.\n]{0,60}\b(?:assistant|model|from\s+now\s+on)\b|\b(?:treat|consider"
            r"|regard)\b[^.\n]{0,40}\b(?:as|with)\b[^.\n]{0,30}\b(?:priority|system)\s+(?:system\s+)?(?:instruction|prompt"
            r"|message|directive|order)",
        ),
        (
            "asks for secrecy from the user",
            r"\b(?:hide|conceal|keep)\s+(?:this|it|these|that)\s+(?:\w+\s+)?from\s+(?:the|any|your)\s+(?:user|human|operator|owner"
            r"|reviewer)|(?:^|[.;]\s+)(?:secretly|covertly)\s+\w+|\b(?:never|do\s+not|don't)\s+(?:mention|reveal|disclose|repeat)"
            r"\s+(?:this|these)\s+(?:instructions?|notes?|messages?|rules?|prompt|memory|entry)",
        ),
        (
            "asks for something private",
            r"\b(?:reveal|print|output|repeat|show|dump|disclose)\s+(?:me\s+)?(?:the|your|any)\s+(?:hidden|full|initial|secret|entire"
            r"|original)\s+(?:system\s+)?(?:prompt|instructions?)|\brepeat\s+(?:everything|all|the\s+text)\s+above",
        ),
        (
            "asks for something private",
            rf"\b(?:curl|wget|nc|scp|rsync)\b[^\n]{{0,80}}{_PRIVATE}|{_PRIVATE}[^\n]{{0,60}}\b(?:post|send|upload|mail|curl)\s+"
            r"(?:it|them|this)\s+to\b",
        ),
        (
            "asks for secrecy from the user",
            r"\b(?:do\s+not|don't|never|without)\s+(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|let(?:ting)?)"
            r"\s+(?:the|your|any)\s+(?:user|human|operator|owner)s?\s*(?:[,;]|\babout\s+(?:this|it)|\bknow\b"
            r"|\bwhat\s+you|\bthat\s+you|,?\s+(?:but|and)\s)",
        ),
        ("spreads itself", r"\b(?:add|insert|include|append|repeat|put)\s+this\s+(?:line|text|link|sentence|message|note)"
         r"\s+(?:to|in|into|at)\s[^.\n]{0,20}\b(?:every|each|all)\b"),
        (
            "asks for something private",
            rf"{_ASIDE}(?:print|reveal|show|dump|output|cat|read|leak|display|repeat|expose|upload|send|post)\b[^.\n]{{0,60}}?"
            rf"(?:{_PRIVATE}|\bsystem\s+prompt\b|\byour\s+(?:\w+\s+)?(?:prompt|instructions|secrets|credentials|api\s+keys?))",
        ),
        (
            "asks for something private",
            rf"{_ASIDE}(?:send|post|upload|e?mail|forward|transmit|exfiltrate|leak|curl|copy)\b[^.\n]{{0,60}}?\b(?:secrets?"
            r"|credentials?|passwords?|tokens?|(?:api|private|ssh)\s+keys?|environment(?:\s+variables)?|conversation|chat"
            r"|history|memory|memories)\b[^.\n]{0,40}?\bto\s+(?:https?:|\S+@\S|this\s|the\s+following|my\s|\S+\.\w{2,})",
        ),
        ("switches safety off", r"\b(?:disable|turn\s+off|remove|drop)\s+(?:all\s+|any\s+)?(?:of\s+)?your\s+[^.\n]{0,20}"
         r"(?:safe\w*|filters?|restrictions?|guardrails?)"),
    )
)  # fmt: skip
# A match of each pattern holds at least one of these (in small letters), in the order of the table: looking for them takes
# a twentieth of the time of running all patterns, and most texts hold few. `|` parts them.
_DROPS = "ignore|disregard|forget|override|overrule|bypass|discard|dismiss|neglect|drop|skip|violate"
_SECRETS = ".ssh|id_rsa|id_ed25519|/etc/|.aws|.env|.netrc"
_NEEDS = tuple(
    tuple(needs.split("|"))
    for needs in (
        _DROPS,
        "ignore|disregard|forget",
        "ignore|disregard|forget",
        "supersede|replace|override|overrule|precedence|cancel",
        "ignor|忽略|无视|忘记|無視|игнорируй",
        "follow|obey|longer|void|null|revoked|cancel|lifted|suspended",
        "follow|obey|respect",
        "<",
        "</",
        "<|inst]",
        "sys>>|##|begin system prompt",
        "system|assistant|developer",
        "system|assistant|developer",
        "system|assistant|developer",
        "assistant",
        "your|mode",
        "you|anything|act|behave|pretend",
        "answer|reply|respond|obey|comply|say|agree|approve",
        "obey|comply|refuse|answer|reply|respond|approve|reveal|" + _DROPS,
        "rule|instruction|directive|order",
        "read|processing|see",
        "order|command|authori|you|this",
        "message|note|memo|attention|notice|instruction",
        "granted|authori|permitted|without",
        "respond|reply|answer|treat|consider|regard",
        "hide|conceal|keep|secretly|covertly|mention|reveal|disclose|repeat",
        "reveal|print|output|repeat|show|dump|disclose",
        _SECRETS,
        "user|human|operator|owner",
        "this",
        _SECRETS + "|system|your",
        "secret|credential|password|token|key|environment|conversation|chat|history|memor",
        "your",
    )
)
_NEGATED = re.compile(r"(?:\b(?:never|not|cannot|nobody\s+may|nor)|n't)\s+(?:\w+\s+)?$", re.IGNORECASE)
# Rules whose own words are negative; for all others a negation in front makes the sentence a warning.
_SELF_NEGATED = frozenset({"asks for secrecy from the user", "denies the model its instructions"})


def injection(text: str) -> Refusal | None:
    """A refusal that quotes the words that speak to the model, or None."""
    plain = re.sub(r"[*`]|(?<!\w)_|_(?!\w)", "", unicodedata.normalize("NFKC", text)).replace("’", "'")
    small = plain.lower().replace("ı", "i").replace("i\u0307", "i")  # what `re.IGNORECASE` takes for an i
    for (why, pattern), needs in zip(_PATTERNS, _NEEDS, strict=True):
        if not any(need in small for need in needs):
            continue
        for match in pattern.finditer(plain):
            if why not in _SELF_NEGATED and _NEGATED.search(plain, max(0, match.start() - 30), match.start()):
                continue
            quote = " ".join(match[0].split())[:80]
            return Refusal(
                Rule.INJECTION,
                f"The text {why} (`{quote}`) instead of stating a fact; nothing was written.",
                "Say what is true of the project.",
                quote,
            )
    return None
