"""The hosts that are wired by files. Pi has an installer of its own (`faces/pi/install`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.hosts import claude_code, cline, codex, cursor, gemini, opencode, qwen, windsurf

if TYPE_CHECKING:
    from noforgetti.hosts.base import Host

HOSTS: dict[str, Host] = {
    module.HOST.name: module.HOST for module in (claude_code, codex, gemini, qwen, opencode, cursor, cline, windsurf)
}
