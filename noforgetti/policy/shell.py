"""The simple commands of a shell line, as words: what would run, not what the line says.

Read by tree-sitter's grammar of bash, so that quoting, `&&` chains, subshells, substitutions, loops, functions and line
ends are understood. What a shell is handed as text (`bash -c '…'`, `eval`, a here-document into `sh`) is read too, and
so are commands behind others (`sudo`, `env`, `xargs`, `find -exec`) and aliases and variables that the line itself
sets. Nothing is run, and no variable of the environment is known: a command hidden better than that is not found.
"""

from __future__ import annotations

import re
import time
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Language, Node

Words = tuple[str, ...]

LONGEST = 32_000  # bytes of a line that are read: more is data, and a rule's answer must not wait for it
_SECONDS = 0.5  # for parsing one line; 100 kB of a script take 0.03, but of `)` the grammar's recovery takes minutes
_PIECE = 65_536  # bytes that the parser is handed at a time
_MOST = 2_000  # simple commands of one line
_DEPTH = 5  # shells inside of shells
_VALUE = 1_000  # code points kept of a variable's value: one that is made of itself again and again would grow for ever
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash", "fish"})
# Programs that run the command behind them, and their options that take a value of their own.
_BEHIND = {
    "sudo": "-u -g -h -p -C -T -U -r -t --user --group --host --prompt --chdir -D",
    "doas": "-u -C",
    "env": "-u -C -S --unset --chdir",
    "command": "",
    "builtin": "",
    "exec": "-a",
    "nohup": "",
    "setsid": "",
    "time": "-f -o",
    "nice": "-n",
    "ionice": "-c -n -p",
    "stdbuf": "-i -o -e",
    "timeout": "-s -k",
    "xargs": "-I -i -n -P -L -d -s -a -E --replace --max-args --max-procs --delimiter",
    "watch": "-n",
    "chronic": "",
    "caffeinate": "-t",
}
# Options that may stand before a subcommand and take a value of their own (each program's manual).
_BEFORE = {
    "git": "-C -c --git-dir --work-tree --namespace --exec-path --config-env",
    "npm": "-C --prefix -w --workspace",
    "pnpm": "-C --dir -F --filter",
    "yarn": "--cwd",
    "docker": "-H --host -c --context --config -l --log-level",
    "kubectl": "-n --namespace --context --cluster --kubeconfig --user",
    "helm": "-n --namespace --kube-context --kubeconfig",
    "gh": "-R --repo",
    "cargo": "--config -Z -C --color",
    "uv": "--directory --project --config-file",
    "make": "-C -f -I",
    "terraform": "",
}
_BEYOND = re.compile(rb"[\x80-\xff]")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v", "0": "\0"}


@lru_cache(maxsize=256)
def commands(line: str) -> tuple[Words, ...]:
    """Every simple command that the line would run, in its order; a command behind another one (`sudo`) is there twice,
    with and without it. Never raises; what cannot be read as shell is cut at blanks and line ends."""
    found: list[Words] = []
    _Reader(found, {}, {}, time.monotonic() + _SECONDS).read(line, 0)
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=1)
def _language() -> Language:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


class _Reader:
    """One line being read: what it defines on the way holds for what comes after."""

    def __init__(self, found: list[Words], aliases: dict[str, Words], variables: dict[str, str], until: float) -> None:
        self.found, self.aliases, self.variables, self.until = found, aliases, variables, until
        self.data = b""  # what is being read

    def read(self, line: str, depth: int) -> None:
        before, self.data = self.data, line.encode("utf-8", "replace")[:LONGEST]
        try:
            self._read(depth)
        finally:
            self.data = before

    def _read(self, depth: int) -> None:
        data = self.data
        # Every byte beyond ASCII is shown to the grammar as a letter: its scanner looks characters up in a table of 256
        # (`isdigit` of what follows a brace), and reads beyond it for others.
        root = self._parsed(_BEYOND.sub(b"x", data))
        if root is None:
            self._cut(data.decode("utf-8", "replace"))
            return
        for node in _nodes(root):
            if len(self.found) >= _MOST:
                return
            match node.type:
                case "command":
                    self._command(node, depth)
                case "variable_assignment":
                    self._assign(node)
                case "redirected_statement":
                    self._fed(node, depth)
                case "pipeline":
                    self._piped(node, depth)
                case "declaration_command" | "unset_command":
                    self._add(tuple(self._plain(child) for child in node.children))
                case "ERROR":
                    self._broken(node)

    def _plain(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _parsed(self, data: bytes) -> Node | None:
        """The tree of a text; None when it is not there in time."""
        from tree_sitter import Parser

        parser = Parser(_language())  # of its own: the grammar's scanner keeps state from one text to the next
        try:
            return parser.parse(
                lambda at, _: data[at : at + _PIECE],
                encoding="utf8",
                progress_callback=lambda *_: time.monotonic() > self.until,
            ).root_node
        except ValueError:
            return None

    def _command(self, node: Node, depth: int) -> None:
        words: list[str] = []
        fed = ""
        for child in node.children:
            if child.type == "command_name":
                words += self._words(child.children[0]) if child.children else []
            elif child.type == "herestring_redirect":
                fed = " ".join(word for part in child.named_children for word in self._words(part))
            elif child.type != "variable_assignment" and child.is_named and "redirect" not in child.type:
                words += self._words(child)
        if words and words[0] in self.aliases:
            words[:1] = self.aliases[words[0]]
        self._run(tuple(words), depth)
        if fed and words and _name(words[0]) in _SHELLS and depth < _DEPTH:
            self.read(fed, depth + 1)

    def _run(self, words: Words, depth: int) -> None:
        """Note a command, and whatever it runs itself."""
        while words and _ASSIGNMENT.fullmatch(words[0]):
            words = words[1:]
        if not words or len(self.found) >= _MOST:
            return
        self._add(words)
        if _name(words[0]) == "alias":
            for word in words[1:]:
                own, is_set, said = word.partition("=")
                if is_set and own:
                    self.aliases[own] = tuple(said.split())
        elif depth < _DEPTH:
            self._inside(_name(words[0]), words[1:], depth)

    def _inside(self, name: str, rest: Words, depth: int) -> None:
        """The command that a command runs."""
        if name in _SHELLS or name == "su":
            text = _after(rest, "c")
            if text is not None:
                self.read(text, depth + 1)
        elif name in ("eval", "watch"):
            self.read(" ".join(_behind(name, rest) if name == "watch" else rest), depth + 1)
        elif name == "trap" and rest:
            self.read(rest[0], depth + 1)
        elif name in _BEHIND:
            self._run(_behind(name, rest), depth + 1)
        elif name == "find":
            for at, word in enumerate(rest):
                if word in ("-exec", "-execdir", "-ok", "-okdir"):
                    end = next((place for place in range(at, len(rest)) if rest[place] in (";", "+")), len(rest))
                    self._run(rest[at + 1 : end], depth + 1)

    def _add(self, words: Words) -> None:
        if words:
            self.found.append((_name(words[0]), *words[1:]) if words[0] != _name(words[0]) else words)
            bare = _without_options_before(self.found[-1])
            if bare is not None:
                self.found.append(bare)

    def _assign(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None:
            self.variables[self._plain(name)] = " ".join(self._words(value))[:_VALUE]

    def _fed(self, node: Node, depth: int) -> None:
        """A here-document that a shell reads is a script."""
        body = node.child_by_field_name("body")
        words = self._words_of(body) if body is not None else []
        if not words or _name(words[0]) not in _SHELLS or depth >= _DEPTH:
            return
        for redirect in node.named_children:
            for part in redirect.named_children:
                if part.type == "heredoc_body":
                    self.read(self._plain(part), depth + 1)

    def _piped(self, node: Node, depth: int) -> None:
        """What is printed into a shell is a script."""
        parts = [self._words_of(child) for child in node.named_children]
        for child, after in zip(node.named_children, parts[1:], strict=False):
            said = [word for part in child.named_children[1:] for word in self._words(part)]
            first = self._words_of(child)[:1]
            if after and _name(after[0]) in _SHELLS and first in (["echo"], ["printf"]) and depth < _DEPTH:
                self.read(" ".join(said).replace("\\n", "\n"), depth + 1)

    def _words_of(self, node: Node) -> list[str]:
        name = node.child_by_field_name("name") if node.type == "command" else None
        return self._words(name.children[0]) if name is not None and name.children else []

    def _broken(self, node: Node) -> None:
        """What the grammar does not understand: cut at blanks, so that a rule still sees plain words."""
        self._cut(self._plain(node))

    def _cut(self, text: str) -> None:
        for line in re.split(r"[\n;&|]+", text):
            if len(self.found) >= _MOST:
                return
            self._add(tuple(line.replace('"', "").replace("'", "").split()))

    def _words(self, node: Node) -> list[str]:
        """The words that an argument becomes: one, or several when an unquoted variable holds blanks."""
        text = self._value(node)
        split = node.type in ("simple_expansion", "expansion") or (
            node.type == "concatenation" and any("expansion" in child.type for child in node.children)
        )
        return text.split() if split else [text]

    def _value(self, node: Node) -> str:
        match node.type:
            case "word" | "number" | "variable_name" | "extglob_pattern" | "regex":
                return re.sub(r"\\(.)", _unescaped, self._plain(node), flags=re.DOTALL)
            case "raw_string":
                return self._plain(node)[1:-1]
            case "ansi_c_string":
                text = self._plain(node)[2:-1]
                return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)
            case "string" | "translated_string":
                return self._quoted(node)
            case "concatenation":
                return "".join(self._value(child) for child in node.children)
            case "simple_expansion" | "expansion":
                name = next((child for child in node.children if child.type == "variable_name"), None)
                if name is None:
                    return self._plain(node)
                own = self._plain(name)
                return " " if own == "IFS" else self.variables.get(own, self._plain(node))
        return self._plain(node)

    def _quoted(self, node: Node) -> str:
        """What stands between double quotes; between its parts are the blanks that the grammar leaves out."""
        data, parts, at = self.data[node.start_byte : node.end_byte], [], 1
        start = node.start_byte
        for child in node.named_children:
            parts.append(data[at : child.start_byte - start].decode("utf-8", "replace"))
            parts.append(self._plain(child) if child.type == "string_content" else self._value(child))
            at = child.end_byte - start
        parts.append(data[at : len(data) - 1].decode("utf-8", "replace"))
        return re.sub(r"\\([\"\\$`]|\n)", _unescaped, "".join(parts))


def _nodes(root: Node) -> Iterator[Node]:
    """Every node, in the order of the text, without recursion: a line may be nested as deep as it likes."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if node.type != "ERROR":
            waiting.extend(reversed(node.children))


def _unescaped(found: re.Match[str]) -> str:
    """What a backslash stands before; at the end of a line it joins it to the next."""
    return "" if found[1] == "\n" else found[1]


def _name(word: str) -> str:
    """The program that a first word means: `/usr/bin/git` is git."""
    return word.rpartition("/")[2] or word


def _after(words: Words, letter: str) -> str | None:
    """The text behind a short option such as `-c` or `-lc`."""
    for at, word in enumerate(words[:-1]):
        if word.startswith("-") and not word.startswith("--") and word.endswith(letter):
            return words[at + 1]
    return None


def _behind(name: str, words: Words) -> Words:
    """The command that `sudo`, `xargs` and their like run."""
    valued, at = frozenset(_BEHIND[name].split()), 0
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            break
        if word in valued:
            at += 2
        elif word.startswith("-") or (name == "env" and _ASSIGNMENT.fullmatch(word)):
            at += 1
        else:
            break
    if name == "timeout":
        at += 1  # its duration
    return words[at:]


def _without_options_before(words: Words) -> Words | None:
    """`git -C dir add .` is `git add .`; None when there is nothing to leave out."""
    valued = _BEFORE.get(words[0])
    if valued is None:
        return None
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in valued.split() else 1
    return (words[0], *words[at:]) if 1 < at < len(words) else None
