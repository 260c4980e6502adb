"""What sessions of Claude Code, Codex and Qwen Code are remembered by, line by line as the files grow.

What a line holds is decided by the readers that reviews use. Words on paths that were left count: they were said. What
a fork copied counts where it was said: such a line is older than the fork's first own one, or says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noforgetti.model.evidence import Role
from noforgetti.transcripts import claude_code, codex, qwen
from noforgetti.transcripts.base import objects, safe_id, safe_name, when
from noforgetti.transcripts.harvest import SAID, SUMMARY, Piece, asked, bounded, utc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from noforgetti.transcripts.harvest import Known, Seen


def of_claude_code(lines: Iterator[bytes], seen: Seen, *, known: Known) -> Iterator[Piece]:
    """Claude Code's files. Answers and tool results, most of a file, are not parsed."""
    del known
    for line in lines:
        held = b'"type":"user"' in line or b'"queued_command"' in line
        if seen.cwd and (not held or b'"toolUseResult":' in line):  # quotes inside a text are escaped: a real key
            seen.lines += 1
            continue
        entry = _entry(line, seen)
        if entry is None or claude_code.aside(entry):
            continue
        _about(seen, entry, claude_code.cwd_of(entry))
        own = entry.get("uuid")
        if isinstance(own, str) and own and not claude_code.parent_of(entry) and (said := claude_code.spoken(entry)):
            yield from _piece(safe_id(own), *said, when(entry), seen)


def of_qwen(lines: Iterator[bytes], seen: Seen, *, known: Known) -> Iterator[Piece]:
    """Qwen Code's files."""
    del known
    for line in lines:
        if seen.cwd and b'"type":"user"' not in line and b'"chat_compression"' not in line:
            seen.lines += 1
            continue
        entry = _entry(line, seen)
        if entry is None or qwen.aside(entry):
            continue
        _about(seen, entry, qwen.cwd_of(entry))
        own = entry.get("uuid")
        if isinstance(own, str) and own and (said := qwen.spoken(entry)):
            yield from _piece(safe_id(own), *said, when(entry), seen)


_TOLD = (b'"UserMessage"', b'"user_message"', b'"compacted"', b'"session_meta"')


def of_codex(lines: Iterator[bytes], seen: Seen, *, known: Known) -> Iterator[Piece]:
    """Codex's files. A subagent's file has nothing to remember."""
    del known
    for line in lines:
        if not any(mark in line for mark in _TOLD):
            seen.lines += 1
            continue
        entry = _entry(line, seen)
        header = entry.get("payload") if entry else None
        if entry is None or not isinstance(header, dict):
            continue
        if entry.get("type") == "session_meta":
            if not seen.cwd:
                seen.session = safe_name(header.get("id")) or seen.session
                seen.cwd, seen.started = codex.cwd_of(header), utc(when(header)) or utc(when(entry))
                seen.aside = codex.aside(header)
        elif not seen.aside and (found := codex.item(entry, seen.lines)):
            yield from _piece(*found, when(entry), seen)


def _entry(line: bytes, seen: Seen) -> Mapping[str, Any] | None:
    if not line.strip():
        return None
    seen.lines += 1
    found = next(objects(line), None)
    seen.broken += found is None
    return found


def _about(seen: Seen, entry: Mapping[str, Any], cwd: str) -> None:
    if not seen.cwd:
        seen.session = safe_name(entry.get("sessionId")) or seen.session
        seen.cwd = cwd
    seen.started = seen.started or utc(when(entry))


def _piece(own: str, role: Role, text: str, at: str, seen: Seen) -> Iterator[Piece]:
    at = utc(at)
    if role not in (Role.USER, Role.SUMMARY) or (at and at < seen.started):
        return
    kept = bounded(text, SUMMARY if role is Role.SUMMARY else SAID)
    if role is Role.SUMMARY or asked(kept):
        seen.summarised = seen.summarised or role is Role.SUMMARY
        yield Piece(own, role, kept, at)
