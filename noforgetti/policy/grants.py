"""Permission for once: `You can merge this PR`. It belongs to the session in which it was given, never to memory.

Refused is permission that is spoken to the agent (`you can`, `feel free`, `go ahead`) and that ends with its occasion:
because of an adverb (`this once`), of a thing pointed at (`that branch`), or of the phrase itself (`ship it`). A habitual word
(`always`, `by default`) makes it a standing rule, which passes, as does all that is said of others (`Users can merge`).

What is unclear passes; review and dreaming judge it.
"""

# ruff: noqa: E501 - a table of patterns: one line each, split only where an alternative ends

from __future__ import annotations

import re

from noforgetti.policy import speech
from noforgetti.policy.speech import row
from noforgetti.policy.verdict import Refusal, Rule

# One thing that is dealt with once and then over.
_ITEM = (
    r"(?:PR|MR|(?:pull|merge)\s+request|issue|ticket|branch|commit|tag|release|draft|patch|hotfix|change(?:set)?|diff|stash|conflict|fork"
    r"|proposal|comment|thread|alert|migration|rebase|rollback|revert|refactor(?:ing)?|deploy(?:ment)?|upgrade|import|rename|merge|cleanup)"
    r"(?:e?s)?\b"
)
# Deeds that are done to one thing and then over.
_DEED = (
    r"(?:(?:squash[\s-]+|force[\s-]+)?(?:merge|push)|rebase|deploy|commit|delete|drop|remove|close|re-?open|rename|overwrite|revert|reset|restart"
    r"|reboot|stop|kill|publish|release|ship|tag|squash|amend|cherry-pick|bypass|skip|ignore|disable|touch|edit|modify|change|alter"
    r"|uninstall|upgrade|downgrade|bump|move|clear|wipe|purge|truncate|archive|approve|accept|reject|override|re-?try|discard|replace|rewrite"
    r"|roll\s*back|clean(?:\s+up)?|undo|unlock|resolve|land|fix|refactor|migrate|finish|re-?run|apply|check\s+in|rip\s+out|get\s+rid\s+of|throw\s+away|take\s+down|turn\s+off)"
)
_WEAK = r"(?:run|use|do|try|take|add|write|create|open|start|send|post|install|copy|leave|keep|update|make|execute|regenerate|upload|sign|test|put|go)"
# `you can`, `you may now`, `you're allowed to go ahead and`
_YOU = (
    r"\byou(?:\s+(?:can|may|could|might|should\s+feel\s+free\s+to)|(?:'re|\s+are)\s+(?:now\s+|hereby\s+)?(?:allowed|free|welcome|clear(?:ed)?|permitted|authori[sz]ed|good|ok(?:ay)?|safe)\s+to"
    r"|(?:'ve|\s+have)\s+(?:got\s+)?(?:my\s+|our\s+)?(?:full\s+)?(?:permission|blessing|approval|consent|ok(?:ay)?|go-ahead)\s+to)"
    r"(?:\s+(?:now|also|then|just|safely|simply|please|go\s+ahead\s+and))*"
)
_FREE = r"\bfeel\s+free\s+to(?:\s+(?:now|also|then|just|go\s+ahead\s+and))*"
# `it's ok to`, `fine if you`, `no problem if you`
_FINE = (
    r"(?:^|\b(?:it|that)(?:'s|\s+is|\s+would\s+be)\s+|[,;.]\s*)(?:totally\s+|perfectly\s+|absolutely\s+|all\s+)?(?:ok(?:ay)?|fine|all\s*right|alright|good|cool|no\s+problem|clear(?:ed)?|allowed|acceptable)"
    r"(?:\s+(?:with|by|for)\s+(?:me|us))?\s+(?:(?:for\s+you\s+)?to|if\s+you|that\s+you)(?:\s+(?:just|now|also))?"
    r"|\b(?:I|we)\s+(?:don't|do\s+not)\s+mind\s+if\s+you|\b(?:I'm|I\s+am|we're|we\s+are)\s+(?:ok(?:ay)?|fine|good|cool|happy)\s+(?:for\s+you\s+to|if\s+you)"
)
# `I'm fine with you ...ing`, `I don't mind you ...ing`, `no objection to you ...ing`
_MIND = (
    r"\b(?:I(?:'m|\s+am)|we(?:'re|\s+are))\s+(?:totally\s+|perfectly\s+)?(?:ok(?:ay)?|fine|good|cool|happy|comfortable)\s+with(?:\s+(?:you|your))?"
    r"|\b(?:I|we)\s+(?:don't|do\s+not)\s+mind(?:\s+(?:you|your))?|\bno\s+objections?\s+to(?:\s+(?:you|your))?"
)
_LEAVE = r"\b(?:I|we)(?:'ll|\s+will|\s+hereby|\s+can)?\s+(?:allow|permit|let|authori[sz]e|give\s+you\s+(?:my\s+)?(?:permission|leave)|grant\s+you\s+(?:\w+\s+)?permission)(?:\s+you)?(?:\s+to)?"
# `this once`, `for now`, `for that commit`
_ONCE = (
    r"(?:\b(?:just|only)\s+(?:for\s+|on\s+|in\s+)?(?:this\s+(?:once|time|one)|once|today|now)\b|\bthis\s+(?:once|(?:one\s+|single\s+)?time)\b|\bfor\s+once\b|\bone[\s-]time\s+(?:only|exception)\b"
    r"|\b(?:this|that)\s+one\b|\bon\s+this\s+(?:one\s+)?occasion\b|\b(?:as\s+an\s+exception|exceptionally)\b|\bjust\s+now\b|\b(?:right|for)\s+now\b|\bnow(?=\s*(?:[.!,;]|$))|\bfor\s+(?:the\s+moment|the\s+time\s+being)\b"
    r"|\b(?:for\s+)?(?:today|tonight)\b(?!')|\bthis\s+(?:morning|afternoon|evening|week(?:end)?)\b|\btemporarily\b"
    rf"|\b(?:for|in|on|with|to)\s+(?:(?:just\s+)?(?:this|that|these|those)|the\s+current)\s+(?!{speech.LASTING}\b)(?:[\w-]+\s+)?[\w-]+)"
)
# A thing pointed at: `it`, `those three tickets`. Not `this project`.
_THIS = rf"(?:(?:all\s+(?:of\s+)?|both\s+(?:of\s+)?)?(?:that|those|(?:this|these)(?!\s+{speech.LASTING}\b))\b|the\s+current\s+{_ITEM})"
_IT = r"(?:(?:all\s+of\s+|both\s+of\s+)?(?:it|them)\b|\bon\b(?=\s*(?:[.!,;]|$)))"
_PARTICLE = r"(?:\s+(?:up|down|out|off|in|on|to|into|with|over|back|ahead|from|through|away|directly))?"
# After it a sentence tells how or under which condition, as a rule does: `You can delete it with make clean`.
_NO_HOW = r"(?![^.!?;]{0,80}\b(?:with|by|via|using|through|because|since|if|when|unless|whenever|once|after|before|until|as\s+long\s+as|provided|on|in)\s+(?!(?:this|that|these|those)\b))"
_END = r"(?=\s*(?:[.!,;)]|$|\b(?:now|today|tonight|and|then|please|into|to|onto|without)\b))"
_ACK = (
    r"^(?:(?:yes|yep|yeah|yup|ok(?:ay)?|k|alright|all\s+right|fine|sure(?:\s+thing)?|great|good|cool|perfect|right|agreed|approved|accepted|confirmed|granted|lgtm"
    r"|(?:looks?|sounds?)\s+(?:good|great|fine|right|ok(?:ay)?)(?:\s+to\s+me)?|no\s+(?:problem|worries|objections?)|of\s+course|permission\s+granted|go\s+on|do\s+it|nice|excellent|thanks|thank\s+you|that\s+works|works\s+for\s+me)"
    r"(?:\s+(?:please|then|now|by\s+me|with\s+me))?\s*[,;.:!-]+\s*)+(?:and\s+|so\s+|then\s+|now\s+|please\s+|just\s+)*"
)
_ALONE = re.compile(_ACK.removesuffix(r"(?:and\s+|so\s+|then\s+|now\s+|please\s+|just\s+)*") + r"$", re.IGNORECASE)

_MAY = rf"(?:{_YOU}|{_FREE}|{_FINE}|{_LEAVE})"
# Words of which a match holds one at least.
_ALLOWING = "you free ok okay fine alright right good cool problem clear cleared allowed acceptable allow permit let authorize authorise grant give mind happy"
_MINDING = "ok okay fine good cool happy comfortable mind objection objections"
_ANSWERING = (
    "yes yep yeah yup ok okay k alright right fine sure great good cool perfect agreed approved accepted confirmed granted lgtm looks look sounds sound no course go do"
    " nice excellent thanks thank works"
)

_TABLE = (
    # says by itself that it is for once: just this once, go for it, permission granted
    row("once time go ship guest means approved proceed", r"\b(?:just|only)\s+(?:for\s+)?this\s+(?:once|one\s+time)\b|\bthis\s+once(?=\s*(?:[.!,;]|$))|^(?:ok(?:ay)?,?\s+|yes,?\s+)?please\s+(?:do\s+)?proceed\s*[.!]?$|\bthis\s+one\s+time\b|^(?:ok(?:ay)?,?\s+|yes,?\s+)?(?:(?:go\s+for\s+it|ship\s+it)(?=\s*(?:[.!,;:]|$|now\b))|(?:be\s+my\s+guest|by\s+all\s+means)\b)|\bapproved[,;:.!]?\s+(?:please\s+)?(?:ship|merge|deploy|push|land|release)\s+it\b"),
    row("granted you", r"\b(?:permission|approval|exception)\s+(?:is\s+)?(?:hereby\s+)?granted(?=\s*(?:[,;:.!-]|$|for\s+(?:this|that)\b|this\b|just\b))|\byou(?:'ve|\s+have)\s+(?:got\s+)?(?:my|the|our)\s+(?:green\s+light|go-?\s?ahead|blessing|approval|permission|ok(?:ay)?)(?=\s*(?:[,;:.!]|$|on\s+(?:this|that)\b|for\s+(?:this|that)\b))"),
    # said of the one thing: I approve this change; consider it approved; you have my okay to publish; green light for the rollout
    row("approve authorize authorise sanction okay ok approved authorized authorised granted", r"^(?:I|we)\s+(?:hereby\s+)?(?:approve|authori[sz]e|sanction|ok(?:ay)?)\s+(?:this|that|these|those|it)\b|^(?:please\s+)?consider\s+(?:this|that|it|yourself)\s+(?:[\w-]+\s+)?(?:approved|authori[sz]ed|granted|cleared)\b|^approved\s*[.!]?$"),
    row("my our", r"\byou(?:'ve|\s+have)\s+(?:got\s+)?(?:my|our)\s+(?:full\s+)?(?:green\s+light|go-?\s?ahead|blessing|approval|permission|consent|clearance|ok(?:ay)?)\s+(?:to|for)\s+\w+"),
    row("light thumbs", r"^(?:you(?:'ve|\s+have)?\s+(?:got\s+)?(?:a\s+|the\s+)?)?(?:green\s+light|thumbs\s+up)\s+(?:for|on|to)\s+(?:the|this|that|your)\b(?![^.!?;]{0,40}\b(?:is|are|means|comes|requires|needs)\b)"),
    row("free", rf"^(?:please\s+|and\s+|so\s+)?{_FREE}\s+(?!use\b)\w+{_PARTICLE}\s+the\s+(?:[\w-]+\s+)?[\w-]+\s*(?:now\s*)?[.!]?$"),
    # go ahead, said to the agent; proceed with the one thing at hand
    row("ahead", r"(?:^|[,;:.!]\s*|\b(?:just|please|and|so|then|now|you\s+(?:can|may|could|should))\s+)go\s+(?:right\s+)?ahead\b(?!\s+of\b)"),
    row("proceed continue carry press move go", rf"^(?:{_ACK[1:]})?(?:please\s+|now\s+|you\s+(?:can|may)\s+(?:now\s+)?)*(?:proceed|continue|carry\s+on|press\s+on|move\s+on|move\s+forward|go\s+on)\s+(?:with|to|and)\s+(?:the|this|that|these|those|your|it)\b{_NO_HOW}"),
    # ok to merge, cleared to deploy: nothing else said
    row("ok okay good fine clear cleared safe free approved ready", r"^(?:(?:it's|that's|you're|we're|(?:it|that|this)\s+is|(?:you|we)\s+are)\s+)?(?:now\s+|all\s+)?(?:ok(?:ay)?|good|fine|clear(?:ed)?|safe|free|approved|ready)\s+(?:to|for)\s+(?:merg|push|deploy|ship|land|releas|go|proceed|commit|publish)\w*(?:\s+(?:now|it|this|that))?\s*[.!]?$"),
    # you can merge this PR: what is pointed at is over when it is done; you may close the issue: one piece of work, no condition
    row(_ALLOWING, rf"{_MAY}\s+{_DEED}{_PARTICLE}\s+(?:{_THIS}\s+(?:[\w-]+\s+){{0,2}}?{_ITEM}(?![^.!?;]{{0,60}}\b(?:by|via|using)\s)|{_THIS}{_NO_HOW}|(?P<the>the|my|our|your)\s+(?:[\w-]+\s+)?{_ITEM}{_END}{_NO_HOW})"),
    row(_ALLOWING, rf"(?:{_FREE}|{_LEAVE}|{_YOU.replace('can|may|could|might|', '')})\s+\w+{_PARTICLE}\s+{_THIS}{_NO_HOW}"),
    # I'm fine with you reverting that
    row(_MINDING, rf"(?:{_MIND})\s+[\w-]+ing{_PARTICLE}\s+(?:{_THIS}|{_IT}|the\s+(?:[\w-]+\s+)?{_ITEM}){_NO_HOW}"),
    row(_MINDING, rf"(?:{_MIND})\s+[\w-]+ing\b[^.!?;]{{0,60}}?{_ONCE}"),
    # permission with an adverb: you can use sudo for this one, ok to overwrite it this time
    row(_ALLOWING, rf"{_MAY}(?<!can now)(?<!may now)\s+\w[^.!?;]{{0,80}}?{_ONCE}"),
    row(_ALLOWING, rf"(?:{_ONCE}),?\s+{_MAY}"),
    row("ask check confirm wait allow permit", rf"\b(?:no\s+need|(?:don't|do\s+not)\s+(?:need|have))\s+to\s+(?:ask|check|confirm|wait)\b[^.!?;]{{0,40}}?{_ONCE}|\b(?:I|we)(?:'ll|\s+will)?\s+(?:allow|permit)\s+(?:it|this|that)\b(?=\s*(?:[.!,;]|$)|[^.!?;]{{0,40}}?{_ONCE})"),
    # an answer and an order: yes please, delete it; alright, run the migration
    row(_ANSWERING, rf"{_ACK}(?:{speech.VERBS}{_PARTICLE}(?:\s+(?:{_THIS}|{_IT})|\s*[.!]?$)|you\s+(?:can|may)\s*[.!]?$)"),
    row(_ANSWERING, rf"{_ACK}(?:{_DEED}|run|start|apply|execute|send|post|install){_PARTICLE}\s+(?:(?:to\s+)?(?:the|my|our|your|both|all|production|prod|staging|main|master)\b){_NO_HOW}"),
    # other languages: only what names the one occasion or points at the one thing
    row("dieses diesmal ausnahmsweise", r"\b(?:nur|bloß)\s+(?:noch\s+)?dieses\s+(?:eine\s+)?mal\b|\b(?:diesmal|dieses\s+mal|ausnahmsweise)\s+(?:darfst|kannst)\s+du\b|\bdu\s+(?:darfst|kannst)\b[^.!?;]{0,60}\b(?:diesmal|dieses\s+mal|ausnahmsweise)\b"),
    row("du", r"\bdu\s+(?:kannst|darfst)\s+(?:jetzt\s+|nun\s+|gerne?\s+|ruhig\s+)*(?:diesen|diese|dieses|den|das)\s+(?:PR|MR|branch|ticket|issue|commit|pull\s+request|zweig)\b[^.!?;]{0,12}\b(?:mergen|löschen|schließen|schliessen|pushen|entfernen|zusammenführen)\b"),
    row("cette tu vas", r"\b(?:juste|seulement|uniquement)\s+(?:pour\s+)?cette\s+fois\b|\btu\s+peux\b[^.!?;]{0,60}\bcette\s+fois\b|\bcette\s+fois(?:-ci)?,?\s+tu\s+peux\b|^vas-y\b|\btu\s+peux\s+(?:maintenant\s+)?(?:fusionner|supprimer|fermer|pousser|merger)\s+(?:cette|ce|ces|la|le)\s+(?:PR|branche|ticket|commit)\b"),
    row("vez puedes", r"\b(?:sol[oa]|sólo|únicamente)\s+(?:por\s+)?esta\s+vez\b|\bpuedes\b[^.!?;]{0,60}\besta\s+vez\b|\b(?:por\s+)?esta\s+vez,?\s+puedes\b|\bpuedes\s+(?:ya\s+)?(?:fusionar|borrar|eliminar|cerrar|subir|mergear)\s+(?:esta|este|esa|ese|la|el)\s+(?:PR|rama|ticket|commit|issue)\b"),
    row("", r"(?:就|只|仅)(?:此|这)一?次|(?:这|本)一?次(?:可以|允许|准许)|你?可以(?:现在)?(?:合并|删除|推送|提交|部署|关闭)(?:这|那|该)"),
)  # fmt: skip
_NEGATED = re.compile(
    r"(?i)(?:\b(?:never|not|nobody|without|before|unless|until|whether|if|cannot|ask|ensure|sure|so\s+that|that|which|verify)|n't)\s+(?:[\w']+\s+){0,2}$"
)
_CONDITION = re.compile(r"(?i)\b(?:if|when|once|after|unless|as\s+soon\s+as|provided|while)\b")
# It points at what was being spoken of; only where nothing in the text can be meant.
_TO_IT = (
    row(_ALLOWING, rf"{_MAY}\s+(?:{_DEED}|{_WEAK}){_PARTICLE}\s+{_IT}{_NO_HOW}"),
    row("free", rf"{_FREE}\s+\w+{_PARTICLE}\s+{_IT}{_NO_HOW}"),
)  # fmt: skip


def grant(text: str) -> Refusal | None:
    """A refusal that quotes the permission for once that `text` gives, or None. Never raises for any string."""
    said = speech.words(text)
    rows, to_it = speech.tried(_TABLE, said), speech.tried(_TO_IT, said)
    opening = True  # nothing was named so far, so `it` means something outside the text
    for sentence in speech.split(text) if rows else ():
        if not speech.HABIT.search(sentence.plain):
            found = _pointed(sentence, rows) or (_unnamed(sentence, to_it) if opening else None)
            if found:
                return _refusal(speech.quote(found, sentence))
        opening = opening and bool(_ALONE.match(sentence.plain))
    return None


def _pointed(sentence: speech.Sentence, rows: tuple[speech.Row, ...]) -> re.Match[str] | None:
    for one in rows:
        match = one.search(sentence.plain)
        if match is None or _NEGATED.search(sentence.plain, max(0, match.start() - 30), match.start()):
            continue
        if not (match.groupdict().get("the") and _CONDITION.search(sentence.plain, 0, match.start())):
            return match
    return None


def _unnamed(sentence: speech.Sentence, rows: tuple[speech.Row, ...]) -> re.Match[str] | None:
    """Permission for `it`, when the words before name nothing that could be meant: they are an answer, or few."""
    for one in rows:
        match = one.search(sentence.plain)
        before = sentence.plain[: match.start()] if match else ""
        if match and not _CONDITION.search(before) and (len(before.split()) <= 2 or _ALONE.match(before)):
            return match
    return None


def _refusal(quoted: str) -> Refusal:
    return Refusal(
        Rule.GRANT,
        f"The text gives permission for once (`{quoted}`), which is not for memory; nothing was written.",
        "Act on it now, or store it for this session only with scope `session`; a standing rule says `always`.",
        quoted,
    )
