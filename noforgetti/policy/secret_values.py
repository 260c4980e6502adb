"""Whether a word that stands where a secret would stand is one: prose, names, paths and placeholders are not.

The judgement looks at shape, never at entropy alone: a value is cut at its punctuation, and if every piece is a word,
a number or a technical term, a person wrote it to be read.
"""

from __future__ import annotations

import re

# What people write instead of a secret, and what templates put there.
_PLACEHOLDER = re.compile(
    r"(?i)^(?:<|\[|\{|\$[a-z_({]|%[a-z_]+%$|@[a-z_]+@|\*{3}|x{4,}$|\.{3}|…|!(?:vault|secret|ref)\b)"
    r"|(?:change[-_]?(?:me|it|this)|place[-_]?holder|redacted|example|dummy|your[-_]|my[-_]?(?:secret|password|token)"
    r"|replace[-_]?(?:me|this)|insert[-_]|goes[-_]here|x{6,}|\*{4,}|\.{3}$|…$|not[-_]?a[-_]?(?:real|secret))"
    r"|^(?:secret|pass(?:word|wd)?|token|test|demo|sample|foo(?:bar)?|bar|baz|none|null|true|false|string|required"
    r"|optional|empty|hidden|todo|tbd|123456?|abc123|admin|root|user(?:name)?|postgres|guest)[\d!]{0,3}$"
)
_REFERENCE = re.compile(
    r"^(?:[a-z][a-z0-9+.-]*://|\.{1,2}/|~/|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|[A-Za-z_][\w.]*\([\w.:/-]*\)?$|[A-Za-z_]\w*\[\w*\]?$"
    r"|(?:process\.env|os\.environ|env|vault|secrets?|vars|config|settings|self|this|ssm|op|arn|sha\d{1,3})[.:/])"
)
_FILE = re.compile(r"^[\w./-]{1,200}\.(?:[a-z]{1,4}|toml|properties|config|[jt]sx|mp[34]|sqlite)$")
# Words with digits in them that are names of algorithms, formats and systems.
_TERM = re.compile(
    r"(?i)^(?:base\d{2}|b64|sha\d{1,3}|md\d|argon2(?:id?|d)?|bcrypt|scrypt|pbkdf2|[hrep]s(?:256|384|512)|ed\d{3,5}"
    r"|x25519|x509|p256|secp\d+[rk]1|aes\d{0,3}|rsa\d{0,4}|oauth[12]|oauth2\w*|utf\d{1,2}|uuid(?:v?\d)?|ulid|hmac\w*"
    r"|[k]8s|s3|ec2|[23]fa|http[23]|ipv[46]|tls1\w*|v\d{1,4}|pkcs\d{1,2}|crc32|blake\w{1,3}|sha3|md5\w*|hex\d{1,3}"
    r"|python\d|iso\d+|rfc\d+|i18n|l10n|a11y|\d+(?:st|nd|rd|th|s|m|h|d|ms|kb|mb|gb|px|x|min|chars?|bits?|bytes?|days?"
    r"|hours?|minutes?|characters?|digits?|k)|0x[0-9a-f]{1,8})$"
)
# What only a password has in the middle of a word, and case that changes inside one; names in code have it, too.
_SYMBOLS = re.compile(r"\w(?=\W*[!^$%])[!^$%#*&]+\w|^[^/.]*\w[#*&]+\w[^/.]*$")
_CHOSEN = re.compile(r"^[A-Za-z]*(?:[a-z][A-Z]|[A-Z]{2}[a-z])[A-Za-z]*$")
_NAMED_THING = re.compile(r"(?i)pass|pwd|secret|token|hash|env|conf|value|input|auth|user|cred|://|key|vault|field|arg")
_CASE_RUN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CONSONANTS = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{6}")
_TRAILING = ".,;:?)]}>\"'`\\。，；：）」』、！"


def trim(value: str) -> str:
    """The value without the punctuation of the sentence around it."""
    return value.rstrip(_TRAILING)


def placeholder(value: str) -> bool:
    """Whether this is written where a secret will be put by somebody else."""
    return bool(_PLACEHOLDER.search(value)) or len(set(value)) <= 2


def reference(value: str) -> bool:
    """Whether this says where a secret is kept: a variable, a path, a URL, a call."""
    if value.startswith("/") or _FILE.match(value):
        return _readable(value.rsplit(".", 1)[0])
    return bool(_REFERENCE.match(value))


def secret_like(value: str, *, password: bool) -> bool:
    """Whether a value said to be a secret is one. `password` admits what people choose: digits, word and number."""
    value = trim(value)
    if len(value) < 6 or placeholder(value) or reference(value):
        return False
    if value.isdecimal():
        return password
    if password and (_SYMBOLS.search(value) or _CHOSEN.search(value)) and not _NAMED_THING.search(value):
        return True
    if password and re.fullmatch(r"[A-Za-z]{3,}\d{1,8}", value):
        return not _TERM.match(value)
    return not _readable(value, counted=not password)


def random_like(value: str, *, least: int = 16) -> bool:
    """Whether a value is a machine's: long enough, letters and digits mixed, unreadable. For places without a name."""
    value = trim(value)
    if len(value) < least or placeholder(value) or reference(value):
        return False
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    mixed = digits >= 1 and any(char.isupper() for char in value) and any(char.islower() for char in value)
    return letters >= 2 and (digits >= 2 or mixed or _jagged(value)) and not _readable(value)


def _readable(value: str, *, counted: bool = True) -> bool:
    """Whether every piece is a word, a number, a term or a word with a count (`tenant42`)."""
    pieces = [piece for piece in re.split(r"[\W_]+", value) if piece]
    words = short = 0
    for piece in pieces:
        if piece.isalpha():
            if _jagged(piece):
                return False
            words += len(piece) > 2
            short += len(piece) <= 2
        elif _TERM.match(piece) or (counted and re.fullmatch(r"[A-Za-z]{3,12}\d{1,3}", piece)):
            words += 1
        elif piece.isdecimal():
            if len(piece) > 12:
                return False
        elif len(piece) <= 4:
            short += 1
        else:
            return False
    return words >= short or (words == 0 and short < 4)


def _jagged(word: str) -> bool:
    """Whether the letters of a word look thrown: its case changes all the time, or nobody could say it."""
    if not word.isascii() or len(word) < 6:
        return False
    runs = _CASE_RUN.findall(word)
    mixed = len(runs) > 2 and len(word) / len(runs) <= 3
    return mixed or (len(word) >= 10 and bool(_CONSONANTS.search(word)))
