"""Sessions as the real programs wrote them (against a scripted model; long texts cut), laid out as they lay."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent / "golden"
SHOP = "/home/me/shop"  # the folder that the golden sessions were held in
SESSION = "ses_dc3b42296ffeqjzPNsP1tRUDzb"  # OpenCode's first
PLACES = {
    "claude-code": ".claude/projects/{dashed}/43097fb0-f61a-4dc7-a739-e310c54e9c5d.jsonl",
    "codex": ".codex/sessions/2026/12/03/rollout-2026-12-03T14-21-31-01a23c48-2805-71a0-80b9-84c2d1d9e7cd.jsonl",
    "gemini": ".gemini/tmp/shop/chats/session-2026-12-03T14-26-50c1758e.jsonl",
    "qwen": ".qwen/projects/{dashed}/chats/4fad8247-094d-44dd-8fb0-58d88738cd34.jsonl",
    "opencode": ".local/share/opencode/opencode.db",
}
HOSTS = tuple(PLACES)


def laid_out(host: str, home: Path, project: str = SHOP) -> Path:
    """A golden session where the host keeps it below `home`, as if it had been held in `project`."""
    dashed = "".join(one if one.isalnum() else "-" for one in project)
    path = home / PLACES[host].format(dashed=dashed)
    path.parent.mkdir(parents=True, exist_ok=True)
    if host == "opencode":
        return database(path, (GOLDEN / "opencode.sql").read_text().replace(SHOP, project))
    path.write_text((GOLDEN / f"{host}.jsonl").read_text().replace(SHOP, project))
    if host == "gemini":
        (path.parent.parent / ".project_root").write_text(project)
    return path


def database(path: Path, script: str) -> Path:
    """OpenCode's database, closed properly; the path of its first session."""
    with closing(sqlite3.connect(path)) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.executescript(script)
    return path.with_name(f"{path.name}#{SESSION}")


def lines(*entries: dict[str, Any]) -> bytes:
    """Entries as a file of lines, in the hosts' compact form."""
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in entries)
