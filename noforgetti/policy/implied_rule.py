"""The rule that the words of a memory imply: which command, tool or file they speak of, and how sure that is.

High precision on purpose: a rule that is applied by itself stops commands. So only a plain order counts as sure: it
opens its sentence, nobody is quoted, and nothing limits it. A condition anywhere in the text ("unless", "except on
main", "without a tag", "directly") makes a trigger that would stop too much, so it is only proposed. Triggers, actions
and the patterns are the reference's (its promotion queue); what it got wrong is mended: a tool's name that is a program
of the shell never fires as a tool, so it becomes a piece of a command, and is only proposed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from noforgetti.policy.masking import MARK, content, mask

BLOCK, WARN = "block", "warn"

_PROGRAMS = """
alembic ansible ansible-playbook apt apt-get aws az bash black brew bun bundle cargo cat cd chmod chown cmake composer
conda cp curl cypress dd deno django-admin docker docker-compose dotnet dropdb env eslint eval exec find firebase
flask flyctl flyway gcloud gem gh git go gradle gradlew grep gulp heroku helm hg jest jq just kill killall kubectl ln
ls make mamba mkdir mongo mv mvn mypy mysql mysqldump netlify node nohup npm npx nx nvm pdm perl php pip pip3 pipenv
pipx pkill playwright pm2 pnpm podman poetry prettier psql pulumi pytest python python3 rails rake redis-cli rm rmdir
rspec rsync ruby ruff rustup scp sed serverless sh source ssh sudo svn tar tee terraform tofu tox tsc tsx turbo unzip
uv uvicorn vagrant vercel vite vitest wget wrangler xargs yarn zsh
"""
PROGRAMS = frozenset(_PROGRAMS.split())
"""Programs of a developer's shell: what begins with one of these is a command and no word of a language."""

_SHELLS = frozenset({"bash", "sh", "zsh", "shell", "terminal"})  # as a tool, blocking one blocks everything
_LEAD = (
    r"(?:(?:please|important|note|rule|remember|you|we|agents?|one|must|should|shall|in\s+this\s+(?:repo|repository|project)"
    r")\b[:,!]?\s+){0,3}"
)
_NOT = r"(?:(?:never|do\s+not|don['’]?t)(?:\s+ever)?|must\s+not|mustn['’]?t|should\s+not|shouldn['’]?t|not)"
_PIECE = r"\x00(?P<piece>\d+)\x00"
_TAIL = r"(?P<tail>[^\n]*)"
_WORD = r"(?P<word>[A-Za-z][\w.+-]{0,40})"

_RUN = re.compile(
    rf"{_LEAD}{_NOT}\s+(?P<verb>use|run|execute|invoke|call)\s+(?:the\s+)?(?:command\s+)?{_PIECE}{_TAIL}", re.IGNORECASE
)
_ADD = re.compile(rf"{_LEAD}{_NOT}\s+(?P<between>[^\x00\n]{{0,60}}?){_PIECE}{_TAIL}", re.IGNORECASE)
_TOOL = re.compile(
    rf"{_LEAD}{_NOT}\s+(?:use|call|invoke)\s+(?:the\s+)?(?:{_PIECE}|{_WORD})\s+tool\b{_TAIL}", re.IGNORECASE
)
_BARE = re.compile(rf"{_LEAD}{_NOT}\s+(?:use|run|execute|call|invoke)\s+(?:the\s+)?{_WORD}{_TAIL}", re.IGNORECASE)
_ASK = re.compile(
    rf"{_LEAD}always\s+(?:use\s+|call\s+)?(?:the\s+)?(?P<ask>(?:\x00\d+\x00|ask_user)(?:\s+tool)?|ask(?:\s+(?:me|us|first|the\s+user))?)\s+"
    rf"before\s+(?:you\s+)?(?:running\s+|using\s+|executing\s+|run\s+|use\s+)?(?:{_PIECE}|{_WORD}){_TAIL}",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"{_LEAD}(?:always\s+)?(?:run|execute|use|call|do)\s+[^\n]{{1,80}}?\s+before\s+(?:you\s+)?"
    rf"(?:running\s+|using\s+|executing\s+|run\s+)?(?:{_PIECE}|{_WORD}){_TAIL}",
    re.IGNORECASE,
)
_FILE = (
    r"(?P<verb>modifying|editing|changing|touching|(?:you\s+)?(?:modify|edit|change|touch))\s+(?:any\s+|the\s+|files?\s+(?:in|under|like)\s+)?"
    r"(?:\x00(?P<piece>\d+)\x00|(?P<path>\*\.\w[\w.]{0,20}|[\w.@-]{1,60}/[\w./@*-]{0,120}|[\w-]{1,60}\.[a-z]\w{0,5}))"
)
_WARN = re.compile(
    rf"{_LEAD}(?:always\s+)?warn(?:\s+(?:me|us|the\s+user))?\s+(?:when|before|if|about)\s+{_FILE}{_TAIL}", re.IGNORECASE
)
_WHEN = re.compile(rf"(?:when|whenever|before|after)\s+{_FILE}{_TAIL}", re.IGNORECASE)

# `git add .` and its kin are commands with or without backticks; a full stop would end the sentence inside of one.
_STAGE = re.compile(r"(?<![`\w])git\s+add\s+(?:\.|-A\b|--all\b|\*)(?![\w/`])")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|\s+[–—]\s+|\s+-\s+")
_LIMITED = re.compile(
    r"\b(?:unless|except|exceptions?|without|only|directly|until|while|when|whenever|if|before|after|on|in|for|from|to|with|against|"
    r"inside|outside|during|as|by|and|or|nor|manually|alone|blindly|lightly)\b",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\b(?:before|without|unless|until|after|forget|skip|miss|hesitate|omit|instead)\b", re.IGNORECASE
)
_FREE = re.compile(
    r"\b(?:unless|except|exceptions?|is\s+(?:fine|ok|okay|allowed|permitted)|are\s+(?:fine|ok|okay|allowed)|"
    r"not\s+true|example|e\.g\.|for\s+instance|used\s+to|no\s+longer|was\s+(?:wrong|a\s+mistake)|hypothetical\w*)\b",
    re.IGNORECASE,
)
_HERE = re.compile(
    r"\s*(?:here|again|any\s?more|in\s+this\s+(?:repo|repository|project|codebase)|ever)\b", re.IGNORECASE
)
_REASON = re.compile(  # nothing more, a reason, or what to do instead
    r"^\s*(?:[.!;]*\s*$|(?:because|since|as\s+it|it|they|that|this|which|use|run|prefer|instead)\b|[,;:(]\s*(?P<word>\w+))",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(r"\b(?:unless|except|without|only\s+(?:if|when|in|on)|if|until)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Implied:
    """A rule as the words imply it. `sure`: plain enough to be applied by itself."""

    trigger: str
    action: str
    sure: bool
    verifier: str = ""


def implied(text: str) -> Implied | None:
    """The first rule that a text implies, sure ones before the others; None when it names no command, tool or file."""
    masked, held = mask(_quoted_stages(text))
    limited = bool(_FREE.search(masked))
    found = [
        one if not limited else Implied(one.trigger, one.action, False, one.verifier)
        for sentence in _SENTENCE.split(masked)
        if (one := _of(sentence.strip(), held)) is not None
    ]
    return next((one for one in found if one.sure), found[0] if found else None)


def _quoted_stages(text: str) -> str:
    return _STAGE.sub(lambda match: f"`{' '.join(match[0].split())}`", text)


def _of(sentence: str, held: tuple[str, ...]) -> Implied | None:
    for pattern, read in (
        (_TOOL, _tool),
        (_RUN, _run),
        (_ADD, _stage),
        (_ASK, _ask),
        (_WARN, _warn),
        (_BEFORE, _before),
        (_BARE, _bare),
        (_WHEN, _remind),
    ):
        match = pattern.match(sentence)
        found = read(match, held) if match else None
        if found is not None:
            return found
    return None


def _run(match: re.Match[str], held: tuple[str, ...]) -> Implied | None:
    command = content(held[int(match["piece"])])
    if not command or len(command) > 200 or "\n" in command:
        return None
    verb, first = match["verb"].lower(), _program(command)
    known = first in PROGRAMS or "/" in first
    if not known and verb not in ("run", "execute"):
        # a word of a programming language (`any`, `var`, `console.log`) is no command; two words may be one
        return Implied(f"bash_contains {command}", BLOCK, False) if " " in command else None
    if command in _SHELLS:
        return None
    # a lone `git` stops nearly everything
    return Implied(f"bash_contains {command}", BLOCK, _plain(match["tail"]) and command != "git")


def _stage(match: re.Match[str], held: tuple[str, ...]) -> Implied | None:
    command = content(held[int(match["piece"])])
    between = match["between"]
    if not command.startswith("git add ") or not _STAGE.fullmatch(command):
        return None
    if _OTHERWISE.search(between):
        return None
    return Implied(f"bash_contains {command}", BLOCK, _plain(match["tail"]))


def _tool(match: re.Match[str], held: tuple[str, ...]) -> Implied | None:
    name = match["word"] or content(held[int(match["piece"])])
    if not re.fullmatch(r"[\w.:-]{1,64}", name):
        return None
    if name in PROGRAMS or name in _SHELLS:
        return None if name in _SHELLS else Implied(f"bash_contains {name}", BLOCK, False)
    return Implied(f"tool_name {name}", BLOCK, _plain(match["tail"]))


def _bare(match: re.Match[str], held: tuple[str, ...]) -> Implied | None:
    del held
    name = match["word"].rstrip(".")
    return Implied(f"bash_contains {name}", BLOCK, False) if name in PROGRAMS - _SHELLS and name != "git" else None


def _ask(match: re.Match[str], held: tuple[str, ...]) -> Implied | None:
    command = _command(match, held)
    if not command:
        return None
    asked = MARK.sub(lambda mark: content(held[int(mark[1])]), match["ask"]).removesuffix("tool").strip()
    named = asked == "ask_user"
    plain = _plain(match["tail"]) if match["piece"] else not _LIMITED.search(match["tail"])
    verifier = f"tool_called ask_user before {command}" if named else ""
    return Implied(f"bash_contains {command}", WARN, named and plain, verifier)


def _before(match: re.Match[str], held: tuple[str, ...]) -> Implied | None:
    command = _command(match, held)
    return Implied(f"bash_contains {command}", WARN, False) if command else None


def _command(match: re.Match[str], held: tuple[str, ...]) -> str:
    """The command that a piece or bare words name; empty when they begin with no program."""
    if match["piece"]:
        command = content(held[int(match["piece"])])
    else:
        words = match["word"] + re.split(r"[,;.!\x00]|\b(?:and|or|because|so|to)\b", match["tail"], maxsplit=1)[0]
        command = " ".join(words.split()[:4])
    return command if _program(command) in PROGRAMS and "\n" not in command else ""


def _warn(match: re.Match[str], held: tuple[str, ...]) -> Implied | None:
    path = _path(match, held)
    tail = re.sub(r"^\s+files?\b", "", match["tail"])
    return Implied(f"file_modified {path}", WARN, _plain(tail)) if path else None


def _remind(match: re.Match[str], held: tuple[str, ...]) -> Implied | None:
    path = _path(match, held)
    return Implied(f"file_modified {path}", WARN, False) if path else None


def _path(match: re.Match[str], held: tuple[str, ...]) -> str:
    path = (match["path"] or content(held[int(match["piece"])])).rstrip(".,;:")
    return path if re.fullmatch(r"[\w./@*-]{3,200}", path) and re.search(r"[./]", path) else ""


def _program(command: str) -> str:
    words = command.split()
    return words[0] if words else ""


def _plain(tail: str) -> bool:
    """True when what follows says why or what instead, and limits nothing."""
    here = _HERE.match(tail)
    rest = tail[here.end() :] if here else tail
    reason = _REASON.match(rest)
    if reason is None or _EXCEPTION.search(rest):
        return False
    # `, on main` limits the order; `, stage files by name` goes on from it
    return reason["word"] is None or not _LIMITED.fullmatch(reason["word"])
