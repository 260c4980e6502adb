"""What each host's hooks are called, what they are for, and how their answers look. Data; costs nothing to import.

Purposes: `stable` tells the memory at the beginning of a session, `prompt` what fits a prompt, `both` does the two
where a host has one event for them, `settled` notes that a turn is done, `compact` does so and has the next prompt told
anew what the host may now cut away, `end` notes that the session is over. Docs and probes of the hosts, 2026-12;
docs/hooks.md says what they cannot do.
"""

from __future__ import annotations

ENVELOPE, CURSOR, CLINE = "envelope", "cursor", "cline"  # shapes of an answer

HOSTS: dict[str, dict[str, str]] = {
    "claude-code": {
        "SessionStart": "stable",
        "UserPromptSubmit": "prompt",
        "Stop": "settled",
        "PreCompact": "compact",
        "SessionEnd": "end",
    },
    "codex": {
        "SessionStart": "stable",
        "UserPromptSubmit": "prompt",
        "Stop": "settled",
        "PreCompact": "compact",
        "SessionEnd": "end",
    },
    # What SessionStart answers is glued before the prompt, which then is no command any more; PreCompress fires on
    # every call of the model.
    "gemini": {"BeforeAgent": "both", "AfterAgent": "settled", "SessionEnd": "end"},
    # SessionStart does not fire in headless runs.
    "qwen": {"UserPromptSubmit": "both", "Stop": "settled", "PreCompact": "compact", "SessionEnd": "end"},
    # Only its command line takes what sessionStart answers; a prompt hook can block, not tell.
    "cursor": {"sessionStart": "stable", "stop": "settled", "preCompact": "compact", "sessionEnd": "end"},
    "cline": {"TaskStart": "stable", "UserPromptSubmit": "prompt", "TaskComplete": "settled", "PreCompact": "compact"},
}
SHAPES = {"cursor": CURSOR, "cline": CLINE}  # the others share one envelope
SESSION = ("session_id", "conversation_id", "taskId")
FOLDER = ("cwd",)
FOLDERS = ("workspace_roots", "workspaceRoots")


def answer(host: str, event: str, text: str) -> dict[str, object] | None:
    """What is printed; None means nothing at all. Hosts with the envelope reject or drop any other key."""
    shape = SHAPES.get(host, ENVELOPE)
    if shape == CLINE:
        return {"cancel": False, "contextModification": text, "errorMessage": ""}
    if not text:
        return None
    if shape == CURSOR:
        return {"additional_context": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
