"""Standing preferences that a user states in a prompt: `Always answer me in German`. They become candidates, never entries.

Found are full sentences by the phrase, not by the meaning: review and dreaming distil them or throw them away. Left out
are questions, permission for once, instructions for one task, and what the guards would refuse.
"""

# ruff: noqa: E501 - a table of patterns: one line each, split only where an alternative ends

from __future__ import annotations

import re

from noforgetti.policy import secrecy, speech, wording
from noforgetti.policy.grants import grant
from noforgetti.policy.speech import row
from noforgetti.policy.task_scope import task_scope
from noforgetti.policy.transience import transient

MOST = 3  # sentences of one message: the reference system's figure
# Bytes of UTF-8, so that five Chinese characters may say something too. The reference system's bounds (a prompt of 20 characters, a
# sentence of 15) lose `Refer to me as Kim.` and `Call me Kim.`
SHORTEST = 12
LONGEST = 800  # characters: a longer sentence is no sentence, and no entry holds more
_READ = 32_000  # characters of a prompt that are looked at, as in a review's window; half at each end

_HE = r"(?:I|we|you|they|he|she|it|this|that|there|these|those|the|a|an|any|anyone|anybody|someone|my|our|your|his|her|their|one)"
_ASKED = re.compile(
    rf"(?i)^(?:and\s+|but\s+|so\s+|ok(?:ay)?,?\s+|hey,?\s+|hm+,?\s+|well,?\s+|also,?\s+|wait,?\s+)*(?:"
    rf"(?:do|does|did|is|are|was|were|am|can|could|shall|will|would|have|has|had|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|won't|wouldn't|can't|couldn't|shouldn't|haven't|hasn't)\s+{_HE}\b(?!\s+not\s+ever)"
    r"|should\s+(?:I|we|you|they|it|this|that|there|these|those|the\s)|may\s+(?:I|we)\b|must\s+(?:I|we|you|it)\b"
    rf"|(?:what|why|where|when|how|which|who|whose|whom)(?:'s|'re|\s+(?:[\w-]+\s+){{0,2}}?(?:do|does|did|is|are|was|were|can|could|should|shall|will|would|has|have|had|don't|doesn't|isn't|aren't|can't|won't|shouldn't)\s+{_HE}|\s+(?:about|if|else|come)\b)"
    r"|who\s+(?:decided|said|wrote|owns|told|made)\b|(?:I\s+wonder|I'm\s+wondering|remind\s+me|do\s+you\s+(?:know|remember)|any\s+idea|not\s+sure|I'm\s+not\s+sure|tell\s+me|let\s+me\s+know)\s+(?:if|whether|why|what|which|who|where|how|when)\b)"
)
# A question hung on a statement: `I prefer tabs, but who doesn't?`, `Always use pnpm, ok?`
_TAG = re.compile(
    r"(?i)[,;]\s*(?:but\s+|and\s+|or\s+)?(?:who\s+\w+(?:'t)?(?:\s+\w+)?|ok(?:ay)?|right|alright|please|yes|no|understood|got\s+it|deal|clear|hm+|eh|huh|please\s+and\s+thank\s+you"
    r"|(?:do|does|did|is|are|was|were|can|could|will|would|shall|should|has|have)(?:n't)?\s+(?:you|we|it|they|that|I|she|he|everyone))\s*\?+\s*$"
)
_TOLD = re.compile(r"(?i)^(?:we|they|it|this|that|there|the|you)\b.*(?<!ok)(?<!okay)(?<!please)\s*\?\s*$")
_MARK = re.compile(r"[?？][\"')\]*_!.\s]*$")
_ASKED_ELSEWHERE = re.compile(
    r"^\s*¿|[吗呢][？?。]?\s*$|^(?:为什么|怎么|是否|什么|哪)|(?i:^(?:warum|wieso|weshalb|pourquoi|est-ce\s+que|por\s+qué|soll(?:en)?\s+(?:ich|wir)|kannst\s+du|dois-je|devrais-je|puedes)\b)"
)

_MINE = r"(?:(?:preferred|favou?rite|native|first|usual|default|main|full|working|work)\s+)?"
_ABOUT_ME = r"(?:name|time\s?zone|language|role|stack|tech\s+stack|editor|shell|OS|operating\s+system|pronouns?|preferences?|locale|keyboard(?:\s+layout)?|hours|IDE|terminal|browser|package\s+manager|test\s+runner|style|job|title|job\s+title|nickname|handle|mother\s+tongue|country|city|machine|laptop|rule|rule\s+of\s+thumb|convention|habit|policy|pet\s+peeve)"
_NOT_ONE = r"(?!(?:it|this|that|these|those|the|a|an|my|your|him|her|them|now|both|one|some|two|three|how|what|where|when|to\s+(?:see|know|add|fix|get|make|understand|change|have\s+a)|you\s+to)\b(?!-))"
_STYLE = (
    r"(?:use|prefer|keep|write|avoid|name|format|answer|reply|respond|speak|talk|indent|quote|prefix|wrap|sign|squash|treat|follow|stick\s+to|assume|ask|check|make\s+sure|be\s+sure|ensure|put|run|spell|document"
    r"|default\s+to|favou?r|choose|pick|mark|label|call|refer\s+to|address|order|sort|group|limit|show|explain|include|mention|cite|capitali[sz]e|log|commit|test|question|link|separate|split|structure|start|end|omit|hide|confirm|warn)"
)
_POLITE = r"^(?:(?:and|but|also|so|oh|ok(?:ay)?|hey|yes|no|please|pls|kindly|just|note|remember|reminder|important|fyi|btw|by\s+the\s+way|one\s+more\s+thing|finally|in\s+addition|again|generally|try\s+to|make\s+sure\s+(?:to|you)|be\s+sure\s+to|remember\s+to|I\s+want\s+you\s+to|I(?:'d|\s+would)\s+like\s+you\s+to|you\s+(?:should|must|need\s+to|have\s+to))\b[\s,:;!.-]*)*"
_WE = (
    r"\b(?:I|we|our\s+team|the\s+team|my\s+team|this\s+team|in\s+this\s+(?:repo(?:sitory)?|project|code\s?base),?\s+we)"
)
_LANGUAGES = r"(?-i:English|German|French|Spanish|Italian|Dutch|Polish|Portuguese|Russian|Ukrainian|Chinese|Mandarin|Japanese|Korean|Turkish|Arabic|Hindi|Hebrew|Greek|Czech|Danish|Swedish|Norwegian|Finnish|Hungarian|Romanian|Vietnamese|Thai|Indonesian)"

_TABLE = (
    # from now on, going forward, as a rule: said of an order or of us, not of a program
    row("from going henceforth future rule general generally default reference unless whenever every any anytime each", r"^(?:and\s+|but\s+|so\s+|ok(?:ay)?,?\s+|please,?\s+)*(?:from\s+(?:now|here|today|this\s+(?:point|moment|day))\s+(?:on|onwards?|forward)|going\s+forward|henceforth|in\s+(?:the\s+)?future|as\s+a\s+(?:general\s+)?rule(?:\s+of\s+thumb)?|in\s+general|generally(?:\s+speaking)?|by\s+default|for\s+future\s+reference|unless\s+I\s+(?:say|ask|tell)\b[^,]{0,30}|whenever\s+you|every\s+time\s+you|any\s?time\s+you|each\s+time\s+you)\b"),
    row("from going henceforth future rule unless every", r"[^.!?]{6,}\b(?:from\s+(?:now|here)\s+on(?:wards?)?|going\s+forward|henceforth|in\s+(?:the\s+)?future|as\s+a\s+(?:general\s+)?rule|unless\s+I\s+(?:ask|say|tell|request)\b[^.!?]{0,40}|every\s+(?:single\s+)?time)\s*[.!]*$"),
    row("general", rf"\bin\s+general,?\s+{speech.ORDER}"),
    # always, never, don't ever: as an order
    row("always never ever", rf"{_POLITE}(?:always|never(?:,?\s+ever)?(?!\s+mind\b)|do\s+not\s+ever|don't\s+ever|don't\s+you\s+ever)\s+(?:ever\s+|again\s+)?(?!(?:got|had|saw|was|were|did|said|seen|been|knew|heard|thought|\w+ed)\b)\w+\b(?!\s+(?:mind|gets?|fails?|works?|happens?)\b)"),
    row("always never ever", rf"(?:[,;:]|\s-|\band|\bbut|\bthen|\bplease|\byou\s+(?:should|must|can|may|need\s+to)|\bto)\s+(?:always|never|not\s+ever)\s+{speech.VERBS}\b(?![-'])"),
    row("always never ever", rf"{_POLITE}{speech.ORDER}[^.!?]{{3,120}}(?:\balways|,\s*(?:never|not\s+ever)\s+[^.!?]{{2,80}})\s*[.!]*$"),
    row("always all every each", r"[^.!?]{6,},\s*always\s*[.!]*$|^(?:please,?\s+)?(?:I|we)\s+(?:want|expect|need)\s+(?:all|every|each)\s+(?!(?:the|these|those|this|of)\b)[\w-]+(?:\s+[\w-]+)?\s+(?:in|to|with|written|kept)\b"),
    row("always without", r"\byou\s+can\s+always\s+\w+|\byou\s+(?:may|can)\s+[^.!?]{2,60}\bwithout\s+(?:asking|confirm\w+|permission)"),
    # what I or we always or never do
    row("always never usually normally generally typically only", rf"{_WE}\s+(?:almost\s+)?(?:always|never|usually|normally|generally|typically|only\s+ever)\s+(?:want\b|use\b|like\b|expect\b|{speech.VERBS}\b)(?!\s+(?:an?\s+error|it\s+to\s+work))"),
    row("prefer prefers rather", rf"{_WE}\s+(?:(?:all|really|strongly|much|generally|usually|still)\s+)?prefers?\b|\b(?:I|we)(?:'d|\s+would)\s+(?:much\s+|really\s+)?(?:prefer|rather)\b(?!\s+(?:you\s+(?:fix|start|do|finish)|not\s+(?:do|touch))\b)"),
    # what I like and hate
    row("like love hate dislike detest loathe enjoy favor favour appreciate despise stand want mind", rf"(?:^|[,;]\s*|\b(?:and|but|because|since|as)\s+)I\s+(?:(?:really|do|don't|do\s+not|generally|strongly|absolutely|simply|personally|always|never)\s+)*(?:like|love|hate|dislike|detest|loathe|enjoy|favou?r|appreciate|despise|can't\s+stand|cannot\s+stand|want\s+to\s+see|mind)\s+{_NOT_ONE}\w"),
    row("fan allergic fond keen used partial crazy nuts mad annoys bothers bugs irritates peeve", rf"\bI(?:'m|\s+am)\s+(?:not\s+)?(?:a\s+)?(?:(?:big|huge|great|real|much\s+of\s+a)\s+)*(?:(?:a\s+)?fan\s+of|allergic\s+to|fond\s+of|keen\s+on|used\s+to|partial\s+to)\s+{_NOT_ONE}\w|\b(?:drives\s+me\s+(?:crazy|nuts|mad)|(?:annoys|bothers|bugs|irritates)\s+me|is\s+my\s+pet\s+peeve)\b"),
    # I want messages to name the value: things in general, and no feature for users
    row("want expect need like", rf"^(?:please,?\s+)?(?:I|we)\s+(?:always\s+|only\s+|never\s+|don't\s+|do\s+not\s+)*(?:want|expect|need|would\s+like|like)\s+(?:(?:all|every|each|any|your|our)\s+)*(?!(?:it|this|that|these|those|the|a|an|to|you|users?|people|customers?)\b)(?:[\w-]+\s+){{1,5}}?(?:to\s+(?!be\s+able)|in\s+(?:{_LANGUAGES}|every|all)|with\s+every|without\s+|kept\b|written\b|sorted\b|before\s+)\w*"),
    row("want", r"^I\s+(?:never|don't|do\s+not)\s+(?:ever\s+)?want\s+(?:to\s+see\s+)?(?!(?:it|this|that|these|those|the|you\s+to\s+(?:change|touch|edit))\b)\w"),
    # who I am
    row("my me go", rf"\bmy\s+{_MINE}{_ABOUT_ME}\s*(?:is|are|'s|:|=)\s*\S|\b(?:I\s+go\s+by|(?:please\s+)?(?:call|address|refer\s+to)\s+me\s+(?:as\s+)?(?!(?:when|back|later|if|once|at|on|in|tomorrow|out|the|a|for|via)\b)\w)"),
    row("i", r"^(?:hi,?\s+|hello,?\s+|fyi,?\s+|note:?\s+|btw,?\s+|also,?\s+|and\s+|by\s+the\s+way,?\s+|remember\s+that\s+|note\s+that\s+)*(?:I(?:'m|\s+am)\s+(?:an?\s+(?:[\w/-]+\s+){0,4}?(?:developer|engineer|programmer|designer|scientist|student|researcher|analyst|admin(?:istrator)?|manager|writer|teacher|beginner|freelancer|consultant|architect|maintainer|novice|newbie|expert|lead|founder|intern)\b|colou?r-?\s?blind|dyslexic|left-handed|blind|deaf|based\s+in|located\s+in|living\s+in|new\s+to\s+(?-i:[A-Z])|on\s+(?-i:Windows|macOS|Mac|Linux|Ubuntu|Fedora|Arch|NixOS|WSL))|I\s+(?:work\s+(?:at|for|as|from|mostly|mainly|with|in)\b|live\s+in|speak\b|come\s+from|use\s+(?!(?:the|this|that|it|a|an)\b)\w|run\s+(?-i:Windows|macOS|Linux|Ubuntu|Fedora|Arch|NixOS)))"),
    # how we work: we use conventional commits
    row("we team", rf"(?:^|[,;]\s*|\b(?:because|since|as|that)\s+)(?:{_WE[2:]})\s+(?:(?:only|all|don't|do\s+not|no\s+longer|mostly|never|exclusively)\s+)*(?:use|write|follow|name|squash|stick\s+to|sign|avoid|format|target|support|require|rebase|practi[sc]e|indent|keep|commit|document|test|favou?r|expect|allow|mock|adhere\s+to|standardi[sz]e\s+on|insist\s+on)s?\b(?!\s+(?:it|this|that|them|to)\b)"),
    # use X and not Y, X instead of Y, X over Y: a choice
    row("instead rather not over never", rf"{_POLITE}(?:{_STYLE}|only\s+use|use\s+only)\s+{_NOT_ONE}[^.!?]{{2,100}}(?:\binstead\s+of\b|\brather\s+than\b|,?\s+(?:and\s+)?not\b|\bover\s+(?!\d)\w|\bbut\s+not\b|,?\s+never\b)"),
    row("prefer favor favour default stick avoid refrain", rf"{_POLITE}(?:strongly\s+|rather\s+)?(?:prefer|favou?r|default\s+to|stick\s+to|avoid|refrain\s+from)\s+{_NOT_ONE}\w[^.!?]{{2,}}"),
    row("only", r"^(?:please\s+)?(?:only\s+use|use\s+only|only\s+write)\s+(?!(?:it|this|that|these|those|them)\b)\w"),
    # a style for all of something: everywhere, in all, for every, unless, before each
    row("everywhere all every each any unless general default whenever throughout times consistently wide across", rf"{_POLITE}{_STYLE}\s+(?!(?:it|this|that|these|those|the|my|them)\b)[^.!?]{{0,120}}\b(?:everywhere|all\s+(?!(?:the|these|those|three|this|failing)\b)\w+|every(?!\s+\d)|each|any\s+\w+|unless\s+(?!this\b)\w+|in\s+general|by\s+default|whenever|throughout|at\s+all\s+times|consistently|project-wide|across\s+the\s+(?:project|code\s?base|repo))\b"),
    row("before after with on at", rf"{_POLITE}{speech.ORDER}[^.!?]{{1,100}}\b(?:before|after|with|on|at)\s+(?:every|each|any|(?:you\s+)?(?:ever\s+)?(?:commit|push|add|install|delet|merg|chang|mak|touch|edit|writ|run|answer|creat|refactor|start)(?:ing|ting)?\b(?!\s+(?:this|that|the|it|these|those)\b))"),
    # a style of things in general: use snake_case for file names; answer in German
    row("use prefer name format prefix indent quote spell capitalise capitalize sort wrap limit", rf"{_POLITE}(?:use|prefer|name|format|prefix|indent|quote|spell|capitali[sz]e|sort|wrap|limit)\s+{_NOT_ONE}[^.!?]{{1,60}}\b(?:for|in|as|with|to|under|over|above|below|at|on)\s+(?!(?:the|this|that|these|those|it|a|an|my|your|our|now|today|here)\b)[\w-]+(?:\s+[\w-]+){{0,3}}s\b\s*[.!]*$"),
    row("write keep make give phrase word formulate", rf"{_POLITE}(?:write|keep|make|give|phrase|word|formulate)\s+(?:your\s+|all\s+)*(?:commit\s+messages?|comments|code\s+comments|docs|documentation|docstrings|answers|replies|responses|explanations|titles|PR\s+(?:titles|descriptions)|commits|messages|functions|methods|classes|names|variable\s+names|summaries|tests|test\s+names|lines|diffs|pull\s+requests|PRs|changes|modules|files|error\s+messages|log\s+messages|things|it\s+(?:short|brief|simple)|code)\s+(?![^.!?]{{0,60}}\b(?:this|that|these|those|for\s+the|of\s+the)\s)\w"),
    row("answer reply respond talk speak write explain communicate", rf"{_POLITE}(?:answer|reply|respond|talk|speak|write|explain|communicate)\s+(?:to\s+me\s+|me\s+|back\s+|everything\s+|things\s+|comments\s+|code\s+)*(?:only\s+)?(?:in\s+{_LANGUAGES}|(?:more\s+)?(?:briefly|concisely|tersely|shortly|succinctly|formally|informally|plainly|simply|in\s+(?:short|plain|simple|full|bullet)\b))"),
    row("be", r"^(?:please\s+)?be\s+(?:more\s+|less\s+|very\s+|as\s+)?(?:concise|brief|terse|succinct|short|verbose|formal|informal|explicit|direct|blunt|honest|critical|polite)\b"),
    # no more of it: stop using, don't add comments, no emojis
    row("stop quit cease refrain avoid", rf"{_POLITE}(?:stop|quit|cease|refrain\s+from|avoid)\s+(?:ever\s+)?\w+ing\s+(?!(?:it|this|that|these|those|the|now|here|at)\b)\w"),
    row("don dont not", rf"{_POLITE}(?:don't|do\s+not|dont)\s+(?:just\s+|ever\s+|blindly\s+|automatically\s+)?(?!(?:worry|know|understand|forget\s+(?:the|this|that|it)|think|bother|see|have|need)\b){speech.VERBS}\s+(?!(?:it|this|that|these|those|the|them|my|your|our|him|her|me|anything|yet|now|for|to|on|in|both|a|an|main)\b)[a-z][\w-]*(?:\s+(?!(?:this|that|these|those|yet|now|for\s+now)\b)[\w-]+)*?\s*(?:[.!;,]|$)"),
    row("no", r"^(?:please,?\s+)?no\s+(?:more\s+)?(?:[\w-]+\s+){1,3}?(?:please|ever|at\s+all|anywhere|in\s+(?:my\s+|your\s+|our\s+)?(?:commits?|commit\s+messages?|code|comments?|docs?|documentation|answers|replies|responses|names|tests|production|PRs|titles|variable\s+names|test\s+names|prose|markdown))\b"),
    # asked to remember
    row("remember memorise memorize note mind forget", r"^(?:please\s+|and\s+|also\s+|ok(?:ay)?,?\s+)*(?:remember|memori[sz]e|note|keep\s+in\s+mind|bear\s+in\s+mind|don't\s+forget|do\s+not\s+forget|never\s+forget)\s*(?:that\b|:|,|for\s+(?:later|next\s+time|the\s+future))\s*(?!(?:we|you)\s+(?:already|just)\b)\w|\bremember\s+(?:this|that|it)\s+for\s+(?:later|next\s+time|the\s+future)"),
    # how things should be, in general
    row("should must shall ought need has have", r"^(?:all\s+|every\s+|any\s+|new\s+|our\s+|your\s+)*(?:commits?|commit\s+messages?|comments|docs|documentation|docstrings|tests?|test\s+names|functions|methods|classes|names|variables|variable\s+names|files|file\s+names|pull\s+requests?|PRs?|branches|branch\s+names|answers|replies|responses|migrations?|error\s+messages|code|imports|identifiers)\s+(?:[\w-]+\s+){0,3}?(?:should|must|shall|ought\s+to|need\s+to|has\s+to|have\s+to)\s+(?:always|never|be|not|have|use|start|follow|stay|go|live|include|end|contain|fit)\b"),
    # other languages
    row("immer nie niemals stets grundsätzlich bevorzuge hasse mag jetzt sofort nun zukunft künftig wir antworte mein nenn nenne ich", r"\b(?:verwende|benutze|nutze|nimm|schreib|schreibe|antworte|sprich|halte?|committe|lösche|ändere|füge|nenne?|mach|gib|formatiere|teste|frag|frage)\b[^.!?]{0,60}\b(?:immer|nie|niemals|stets|grundsätzlich)\b|^(?:bitte\s+)?(?:immer|nie|niemals)\s+\w+|\bich\s+(?:bevorzuge|hasse|mag\s+(?:keine?|lieber))\b|\b(?:ab\s+jetzt|ab\s+sofort|von\s+nun\s+an|in\s+zukunft|künftig)\b|\bwir\s+(?:verwenden|benutzen|nutzen|schreiben)\s+(?:immer|nie|grundsätzlich|hier|in\s+diesem)\b|^(?:bitte\s+)?antworte\s+(?:mir\s+)?(?:bitte\s+)?auf\s+\w+|\bmein\s+name\s+ist\b|\bnenn(?:e)?\s+mich\b|\bich\s+(?:arbeite|wohne|spreche)\s"),
    row("toujours jamais je désormais dorénavant maintenant avenir réponds appelle moi", r"\b(?:utilise|écris|réponds|fais|mets|garde|préfère|emploie|parle)[sz]?\b[^.!?]{0,40}\b(?:toujours|jamais)\b|\bne\s+[^.!?]{1,30}\bjamais\b|^(?:toujours|jamais)\s|\bje\s+(?:préfère|déteste|n'aime\s+pas)\b|\b(?:désormais|dorénavant|à\s+partir\s+de\s+maintenant|à\s+l'avenir)\b|^réponds(?:-moi)?\s+(?:toujours\s+)?en\s+\w+|\bje\s+m'appelle\b|\bappelle-moi\b|\bje\s+travaille\s"),
    row("siempre nunca jamás prefiero odio me ahora futuro respóndeme mi llámame trabajo", r"\b(?:usa|utiliza|escribe|responde|haz|pon|mantén|evita|prefiere)\b[^.!?]{0,40}\b(?:siempre|nunca|jamás)\b|^(?:por\s+favor,?\s+)?(?:siempre|nunca|jamás)\s|\b(?:prefiero|odio|no\s+me\s+gustan?|me\s+gustan?)\b|\b(?:de\s+ahora\s+en\s+adelante|a\s+partir\s+de\s+ahora|en\s+el\s+futuro)\b|^respóndeme\s+(?:siempre\s+)?en\s+\w+|\bme\s+llamo\b|\bmi\s+nombre\s+es\b|\bllámame\b|\btrabajo\s+(?:en|como|con)\s"),
    row("", r"(?:请|要|应该|必须)?(?:总是|始终|永远|一律|务必|一直)(?:要|用|使用|不要|别|先|保持|遵循|写)|(?:永远|绝对|千万|从)不(?:要|能|用|可以)?|以后(?:都|请|不要|别|就|要)|从现在(?:开始|起)|今后|我(?:更)?(?:喜欢|偏好|偏爱|讨厌|不喜欢|习惯)|请(?:一直|都)?用(?:中文|英文|英语|日语|德语)|(?:叫我|我叫|我的名字是|我的时区)|我们(?:都|一直|总是|统一)(?:使?用|采用)"),
)  # fmt: skip
# Reads like an order for good, and is about this very work: `Fix all the tests`, `Never mind`.
_PASSING = re.compile(
    r"(?i)\bnever\s*mind\b|\brather\b[^.!?]*\b(?:this|that|it|later|now|today)\b|\b(?:this|that)\s+(?:time|once)\b|^(?:I|we)\s+(?:always|never)\s+(?:get|see|got|saw|end\s+up|run\s+into|hit|have\s+to|had|forget|receive)\b"
    r"|\b(?:always|never|keeps?)\s+(?:fails?|crash(?:es)?|throws?|hangs?|returns?|breaks?|failing|crashing|gets?|works?|happens?)\b|\bbe\s+able\s+to\b"
)


def question(sentence: str) -> bool:
    """True when a sentence asks something. A tag (`..., ok?`) makes no question of a statement, and a question needs no
    mark (`Do I always need to run the formatter`). Never raises for any string."""
    plain = sentence.strip().replace("’", "'").lstrip("-*>\"'( ")
    if _ASKED.search(plain) or _ASKED_ELSEWHERE.search(plain):
        return True
    return bool(_MARK.search(plain[-40:])) and not (_TAG.search(plain[-80:]) and not _TOLD.search(plain))


def stated(prompt: str) -> tuple[str, ...]:
    """The sentences of a user's prompt that state a standing preference, as they were written, at most `MOST`, in order.

    A slash command or a shell command of the host (`!`) states none. Never raises for any string.
    """
    if prompt.lstrip().startswith(("/", "!")):
        return ()
    if len(prompt) > _READ:
        prompt = f"{prompt[: _READ // 2]}\n\n{prompt[-_READ // 2 :]}"
    found: list[str] = []
    for sentence in speech.split(speech.spoken(prompt)):
        if _states(sentence) and sentence.text not in found:
            found.append(sentence.text)
            if len(found) == MOST:
                break
    return tuple(found)


def _states(sentence: speech.Sentence) -> bool:
    text, plain = sentence.text, sentence.plain
    if len(text) > LONGEST or len(text.encode("utf-8", "replace")) < SHORTEST:
        return False
    if (
        not any(one.search(plain) for one in speech.tried(_TABLE, speech.words(plain)))
        or _PASSING.search(plain)
        or question(text)
    ):
        return False
    return not (grant(text) or task_scope(text) or transient(text) or secrecy.refuse(text) or wording.injection(text))
