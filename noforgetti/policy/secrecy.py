"""Secrets in text: found by shape and by context, replaced or refused, never repeated.

Three nets, none of which relies on randomness alone: tokens of known providers (vendored rules), shapes of our own
(PEM blocks, JWT, credentials in URLs and headers, prefixed tokens), and values that the text itself calls a password,
a token or a key. A name is not enough and neither is a random word: `The password lives in the vault` and a commit id
pass.

Not guaranteed: a password of ordinary words (`correct horse battery staple`) is not told from prose. Time is linear in
the text: every pattern begins at a literal and looks at a bounded stretch behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noforgetti.policy import provider_rules
from noforgetti.policy.secret_values import placeholder, random_like, secret_like, trim
from noforgetti.policy.verdict import Refusal, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Span = tuple[str, int, int]

_PASSES = 10  # redaction looks again after replacing; hostile text settles in two or three passes
_PEM_BODY = 20_000  # characters to look for the end of a key; an RSA key of 16,384 bits has 13,000

_TOKEN_RUN = re.compile(r"[\w+/=~-]*+(?:\.[\w+/=~-]{8,}+)*+", re.ASCII)
_PEM = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_PEM_LINES = re.compile(r"(?:(?:[\s\"',>|]|\\[nr])*+(?:[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,80}|[A-Za-z0-9+/=]{12,}+))*+")
_URL_LOGIN = re.compile(r"://([^\s:@/\"'<>]{0,100}):([^\s/\"'<>`]{1,200})@")
_URL_TOKEN = re.compile(r"://([\w.~-]{16,200})@([\w.-]{1,80})", re.ASCII)
_URL_PATH = re.compile(r"/(?:secrets?|tokens?|invite|reset|magic|webhooks?)/([\w-]{16,200})", re.ASCII)
_URL_QUERY = re.compile(
    r"[?&;](?:[a-z_-]{0,20}(?:token|key|secret|password|passwd|pwd)|sig|signature|auth|code)=([^\s&\"'`#;]{8,300})"
)
_HEADER = re.compile(
    r"(?:authorization[\"']{0,2} {0,3}[:=] {0,3}[\"']{0,2}(?:bearer|basic|token|apikey|digest)?|\bbearer|\bbasic) {0,3}"
    r"([a-z0-9._~+/=-]{8,})"
)
_COOKIE = re.compile(r"cookie[\"']{0,2} {0,3}: {0,3}[\"']?[\w.-]{1,60}=([^\s;\"']{16,})")
_SHORT_FLAG = re.compile(
    r"\b(?:sshpass|mysql|mariadb|mongo|redis-cli)[^\n|;&]{0,80}?\s-[pa] ?[\"']?([^\s\"'-][^\s\"']{5,100})"
)
_CURL_USER = re.compile(r"(?:\s-u|--user|--proxy-user)[ =]{1,3}[\"']?([^\s:\"']{1,60}):([^\s\"']{3,100})")

# Tokens by prefix. The tail may be shorter than the provider's own: a truncated or future token is a secret too.
_PREFIXED = re.compile(
    r"(?<![\w+/-])(?:gh[pousr]_|github_pat_|gl[a-z]{2,8}-|npm_|pypi-|hf_|xox[a-z]-|xapp-|sk-|[sr]k_(?:live|test)_"
    r"|whsec_|AIza|ya29\.|GOCSPX-|dckr_[a-z]{2,4}_|do[por]_v1_|hv[bsr]\.|SG\.|shp[a-z]{2}_|lin_api_|ntn_|figd_|gsk_"
    r"|xai-|pplx-|nvapi-|tskey-|PMAK-|dapi|rubygems_|key-|r8_|sntry[su]_|glsa_|EAA[A-Z]|sq0[a-z]{3}-|ATATT3|ops_|dp\.[a-z]"
    r"{2,5}\.|vc[a-z]_|sb[a-z]?_|re_|phx_|pscale_[a-z]{2,5}_|oy2|eyJ|fio-u-|PRIVATE-|AGE-SECRET-KEY-1)"
    r"([\w-][\w.+/=-]{10,}+)",
    re.ASCII,
)
# A short prefix, then a long run that mixes letters and digits: how most services shape tokens since 2020.
_GENERIC_PREFIX = re.compile(
    r"(?<![\w./#@%+-])([A-Za-z][A-Za-z0-9]{1,11}(?:[_-][A-Za-z0-9]{1,10}){0,3}?)([_-])([A-Za-z0-9]{16,200})"
    r"(?![\w/]|-\w|\.[a-z]{1,5}\b)",
    re.ASCII,
)
# Prefixes of identifiers, digests and file names, which are as random and no secret.
_PUBLIC_PREFIX = re.compile(
    r"(?i)(?:^|[_-])(?:sha\d{1,3}|md5|git|commit|rev|ref|build|cache|chunk|hash|etag|im(?:g|age)|release|index|main|vendor"
    r"|u?u?id|assets?|bundle|files?|pages?|run|job|pod|node|price|prod|product|cus|evt|pi|acct|sub|ch|asst|thread|msg|org"
    r"|chatcmpl|req|usr|user|txn|tags?|layer|snapshot|vol|vpc|subnet|ami|eni|arn|docker|tmp|pk|pub|public|digest|trace"
    r"|span|event|order|object|blob|tree|branch|backup|log|version|ver|model|in|si|seti|cs|v\d{1,2}|dataset|app|web|css)$"
)
_TOKEN_PREFIX = re.compile(r"(?i)(?:sk|key|tok|token|secret|pat|api|auth|priv|pw)(?:$|[_-])|[^aeiou]{3,4}$")
_PAIRS = re.compile(
    r"(?<![\w.-])(?:[0-9a-f]{16,64}\.[0-9A-Za-z]{16,64}"  # key id and secret, joined by a dot
    r"|[0-9]{8,10}:[A-Za-z0-9_-]{32,40}"  # Telegram bot
    r"|[MNO][A-Za-z0-9_-]{22,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{25,40}"  # Discord bot
    r"|ey[A-Za-z0-9_-]{8,}+\.ey[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?"  # JWT
    r"|[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?![\w-])"  # Azure client secret
)
_WEBHOOK = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/[0-9]{5,25}/"
    r"|\.webhook\.office\.com/webhookb2/)([\w/@-]{20,300})",
    re.ASCII,
)

# Names of secrets, looked for in lower-case text. Plain literals first: `re` finds the first letter of one fast.
_STEM = re.compile(
    "pass|pwd|pw|pin|secret|token|key|pat|cred|login|kennwort|mot de passe|contraseña|senha|пароль|密码|密碼|口令"
    "|密钥|令牌|パスワード|비밀번호"
)
_NAME = re.compile(
    r"pass(?:word|wd|phrase|code|w[oö]rt)s?|secret[ _-]?access[ _-]?key|secrets?|tokens?|keys?"
    r"|(?<![a-z0-9])cred(?:ential)?s?(?![a-z0-9])"
    r"|(?:(?<![a-z])|(?<=_))(?:pwd|pw|pin|pat|login)|[^\W\d_a-z]{2,5}|kennwort|mot de passe|contraseña|senha"
)
_PASSWORD_NAME = re.compile(r"pass|pwd|pw|pin|cred|login|kennwort|contraseña|senha|пароль|密|口令|パス|비밀")
# Only these make a `key` a secret one; any other key needs a value that only a machine would make.
_KEY_KINDS = (
    "api", "access", "auth", "private", "signing", "encryption", "deploy", "licence", "license", "service", "master",
    "account", "ssh", "shared", "webhook", "admin", "secret",
)  # fmt: skip
_NO_SECRET_BEFORE = (
    "public", "host", "primary", "foreign", "partition", "sort", "cache", "idempotency", "dedup", "group", "hot",
    "lock",
    "routing", "map", "object", "design", "css", "color", "colour", "csrf", "next", "page", "cursor", "sync", "query",
    "translation", "i18n", "issue", "registry", "hash", "dict", "shard", "index", "row",
)  # fmt: skip
# Every secret worth the name has a digit, a capital or a sign, and stands on the line of its name.
_PROMISING = re.compile(r"[^\n0-9A-Z!$%^]{0,200}+[0-9A-Z!$%^]")
_SUFFIX = r"(?:[_-](?:prod|production|dev|stag\w{0,4}|test|live|base|main|key|value|\d{1,2}))?(?![a-z0-9_-])"
_ASSIGNED = re.compile(
    _SUFFIX + r"[\"'`\]\\*]{0,4}[ \t]{0,4}(?::=|=>|==?|:|：|>)[ \t]{0,4}(?:\||)[\\\"'`*(]{0,4}"
    r"(?:(?:bearer|basic|token)[ \t]{1,3})?(?=[^\s])",
    re.IGNORECASE,
)
_STATED = re.compile(
    _SUFFIX
    + r"[\"'`)*]{0,3}(?P<about>(?: [\w./@'()-]{1,40}){0,6}?) ?(?:\b(?:is|was|are|equals|reads|to|be|stays|remains)\b"
    r"|->|→|[:：=–—])"
    r"(?: (?:now|currently|still|set to|always|just|simply|called))? ?[\"'`*(]{0,3}(?=[^\s])",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r" (?:for|of|to|on|in|at|from|used|we|i|you|itself|here|below|above|value)\b", re.IGNORECASE)
_BESIDE = re.compile(_SUFFIX + r"[\"'`]?[ \t]{1,3}[\"'`(]{0,2}(?=[^\s])", re.IGNORECASE)
_PAIR_AFTER = re.compile(
    r"(?:[:=]| is| are| with)?[ ]?[\"'`]?([^\s/:,\"'`]{1,40})[\"'`]? ?(?:/|:|,| and) ?[\"'`]?(?=[^\s])"
)
_LOGIN_BEFORE = re.compile(r"(?:--[\w-]{0,30}|\b(?:login|user(?:name)?|account) \S{1,60} (?:and |with )?)$")
_CALLED = re.compile(r" (?:is|as|was|for) (?:the|our|my|your|its|a) (?:[\w-]{1,20} ){0,3}$")
_PHRASE_END = re.compile(r"[\s\"'`)]*(?:[.,;:!?\n]|$|(?:for|of|on|in|to|and|until)\b)")
_VALUE = re.compile(r"[^\s\"'`,;<|。，；）]{1,400}")
# Words behind a name that make it the name of something else: `key id`, `token endpoint`.
_OTHER_THING = re.compile(
    r"[ _-](?:ids?|names?|types?|formats?|length|size|files?|paths?|headers?|fields?|limits?|counts?|ttl|lifetime"
    r"|urls?|uri|endpoint|algorithm|policy|manager|fingerprint|contract|prefix|version|rotation|scheme|bucket|budget)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Where a secret lies in a text (code points, end exclusive) and which rule found it; never its value."""

    start: int
    end: int
    rule: str


def find(text: str) -> tuple[Finding, ...]:
    """Every secret of `text`, in order, without overlaps. Never raises, whatever the text holds."""
    lowered = _lower(text)
    spans = [span for net in _NETS for span in net(text, lowered)]
    return _merged(text, spans)


def redact(text: str) -> tuple[str, int]:
    """`text` with every secret replaced by `[redacted:<rule>]`, and how many; the result holds nothing to find."""
    count = 0
    for _ in range(_PASSES):
        findings = find(text)
        if not findings:
            break
        count += len(findings)
        pieces, at = [], 0
        for finding in findings:
            pieces += [text[at : finding.start], f"[redacted:{finding.rule}]"]
            at = finding.end
        text = "".join([*pieces, text[at:]])
    return text, count


def refuse(text: str) -> Refusal | None:
    """A refusal that names the rule and the place but not the value, or None."""
    findings = find(text)
    if not findings:
        return None
    first = findings[0]
    return Refusal(
        Rule.SECRET,
        f"The text holds what looks like a secret ({first.rule}, at position {first.start + 1}); nothing was written.",
        "Say where the secret is kept instead of what it is.",
    )


def _keys(text: str, _lowered: str) -> Iterator[Span]:
    at = 0
    while (header := _PEM.search(text, at)) is not None:
        end = _PEM_END.search(text, header.end(), header.end() + _PEM_BODY)
        lines = _PEM_LINES.match(text, header.end(), header.end() + _PEM_BODY)
        body_end = max(end.end() if end else 0, lines.end() if lines else 0)
        if body_end - header.end() >= 24:
            yield "private-key", header.start(), body_end
        at = max(body_end, header.end())


def _addresses(text: str, lowered: str) -> Iterator[Span]:
    if "/" not in text and "=" not in text:
        return
    for match in _URL_LOGIN.finditer(text):
        user, password = match[1], match[2]
        if password != user and not placeholder(password) and not re.fullmatch(r"\d{1,5}", password):
            yield "url-password", match.start(2), match.end(2)
    for match in _URL_TOKEN.finditer(text):
        if "sentry" not in match[2] and random_like(match[1]):
            yield "url-token", *match.span(1)
    yield from _judged("url-token", _URL_PATH, text, lowered)
    yield from _judged("url-parameter", _URL_QUERY, text, lowered, least=8)
    yield from _judged("webhook", _WEBHOOK, text, lowered)


def _headers(text: str, lowered: str) -> Iterator[Span]:
    if "bearer" in lowered or "basic" in lowered or "authorization" in lowered:
        yield from _judged("authorization", _HEADER, text, lowered, least=8)
    if "cookie" in lowered:
        yield from _judged("cookie", _COOKIE, text, lowered)
    if " -u" in text or "-user" in text:
        for match in _CURL_USER.finditer(text):
            if secret_like(match[2], password=True):
                yield "login", *match.span(2)
    for match in _SHORT_FLAG.finditer(text):
        if secret_like(match[1], password=True):
            yield "login", *match.span(1)


def _judged(rule: str, pattern: re.Pattern[str], text: str, where: str, *, least: int = 16) -> Iterator[Span]:
    for match in pattern.finditer(where):
        start, end = match.span(1)
        if random_like(text[start:end], least=least):
            yield rule, start, end


def _shapes(text: str, _lowered: str) -> Iterator[Span]:
    for match in _PREFIXED.finditer(text):
        if random_like(match[1], least=12) and "EXAMPLE" not in match[1]:
            yield "token", *match.span()
    for match in _PAIRS.finditer(text):
        if not placeholder(match[0]):
            yield "token", *match.span()
    for match in _GENERIC_PREFIX.finditer(text):
        if _is_token(match[1], match[2], match[3]):
            yield "token", *match.span()


def _is_token(prefix: str, separator: str, tail: str) -> bool:
    if _PUBLIC_PREFIX.search(prefix) or not random_like(tail):
        return False
    mixed = any(char.isupper() for char in tail) and any(char.islower() for char in tail)
    return mixed or bool(_TOKEN_PREFIX.search(prefix)) or (separator == "_" and len(tail) >= 20)


def _named(text: str, lowered: str) -> Iterator[Span]:
    done = 0
    for stem in _STEM.finditer(lowered):
        if stem.start() < done:
            continue
        promising = _PROMISING.match(text, stem.start())
        if not promising and " " not in lowered[max(0, stem.start() - 2) : stem.start()]:
            continue
        name = _NAME.match(lowered, stem.start())
        if name is None or _OTHER_THING.match(text, name.end()):
            continue
        kind = lowered[max(0, name.start() - 14) : name.start()].rstrip(" _-")
        if kind.endswith(_NO_SECRET_BEFORE):
            continue
        weak = name[0] in ("pat", "login") or (name[0].startswith("key") and not kind.endswith(_KEY_KINDS))
        span = (promising and _value_after(text, name, weak=weak)) or _value_before(text, name)
        if span:
            done = span[2]
            yield span


def _value_after(text: str, name: re.Match[str], *, weak: bool) -> Span | None:
    """The value that is assigned to a name, stated of it, or stands beside it."""
    password = bool(_PASSWORD_NAME.search(name[0]))
    for connector in (_ASSIGNED, _STATED, _BESIDE):
        joint = connector.match(text, name.end())
        value = joint and _VALUE.match(text, joint.end())
        if joint is None or value is None or len(value[0]) < 4:
            continue
        if name[0] == "pin":
            found = connector is not _BESIDE and re.fullmatch(r"\d{4,8}", trim(value[0])) is not None
        elif weak or _loosely(text, name, connector, joint):
            found = random_like(value[0], least=8 if password else 16)
        else:
            found = secret_like(value[0], password=password)
        if found:
            return "password" if password else "named-secret", value.start(), value.start() + len(trim(value[0]))
    return _login_pair(text, name) if name[0].startswith(("cred", "login")) else None


def _loosely(text: str, name: re.Match[str], connector: re.Pattern[str], joint: re.Match[str]) -> bool:
    """Whether the words between a name and its value leave open that the value is of something else."""
    if connector is _STATED:
        return bool(joint["about"]) and not _PREPOSITION.match(joint["about"])
    if connector is _BESIDE:
        before = text[max(0, name.start() - 80) : name.start()]
        return not (before.endswith(("-", " ")) and _LOGIN_BEFORE.search(before))
    return False


def _login_pair(text: str, name: re.Match[str]) -> Span | None:
    pair = _PAIR_AFTER.match(text, name.end())
    value = pair and _VALUE.match(text, pair.end())
    if value and secret_like(value[0], password=True):
        return "password", value.start(), value.start() + len(trim(value[0]))
    return None


def _value_before(text: str, name: re.Match[str]) -> Span | None:
    """The value in `<value> is the admin password`."""
    called = _PHRASE_END.match(text, name.end()) and _CALLED.search(text, max(0, name.start() - 70), name.start())
    if not called:
        return None
    start = max(text.rfind(blank, max(0, called.start() - 200), called.start()) for blank in " \n\t\"'`(") + 1
    value = text[start : called.start()]
    return ("named-secret", start, start + len(trim(value))) if random_like(value, least=8) else None


def _lower(text: str) -> str:
    """Lower case of the same length, so that positions are those of `text`."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else re.sub("[A-Z]+", lambda match: match[0].lower(), text)


def _merged(text: str, spans: list[Span]) -> tuple[Finding, ...]:
    """The spans in order, overlapping ones joined, each stretched to the last character of its token."""
    merged: list[Finding] = []
    for rule, start, end in sorted(spans, key=lambda span: (span[1], -span[2])):
        if merged and start < merged[-1].end:
            if end > merged[-1].end:
                merged[-1] = Finding(merged[-1].start, _stretched(text, end), merged[-1].rule)
            continue
        merged.append(Finding(start, _stretched(text, end), rule))
    return tuple(merged)


def _stretched(text: str, end: int) -> int:
    run = _TOKEN_RUN.match(text, end)
    return run.end() if run else end


_NETS: tuple[Callable[[str, str], Iterator[Span]], ...] = (
    _keys,
    provider_rules.spans,
    _addresses,
    _headers,
    _shapes,
    _named,
)
