"""What a guard answers: nothing, or a refusal that names its rule, quotes what set it off and says what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """The machine-readable name of a refusal (`rule` in `--json`)."""

    EMPTY = "empty"
    TOO_LONG = "too-long"
    INVISIBLE = "invisible"
    FENCE = "fence"
    SECRET = "secret"  # noqa: S105 - the name of a rule
    INJECTION = "injection"
    TRANSIENT = "transient"
    DOCUMENTED = "documented"
    DUPLICATE = "duplicate"
    CAPACITY = "capacity"
    GRANT = "grant"
    TASK_SCOPE = "task-scope"
    CONTRADICTION = "contradiction"
    PINNED = "pinned"
    ENFORCED = "enforced"
    REMOVAL_BOUND = "removal-bound"
    UNKNOWN_ENTRY = "unknown-entry"
    AMBIGUOUS = "ambiguous"
    EVIDENCE = "evidence"
    LOSS = "loss"
    KEY = "key"
    CONFIDENCE = "confidence"
    SCOPE = "scope"
    FORMAT = "format"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something may not be written. `message` is one sentence and never holds a secret; `quote` is the piece that
    set the rule off, empty where quoting would repeat something that must not be repeated."""

    rule: Rule
    message: str
    hint: str = ""
    quote: str = ""
