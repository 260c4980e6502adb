"""What the guards cost and, on a labelled file, how often they are right; figures of one run, printed as a table.

    python tools/bench/guards.py
    python tools/bench/guards.py --sentences FILE [--secrets-module PATH] [--each N]

FILE holds JSON lines `{"text", "label"}`; `{secret:KIND}` in a text is filled by `fill(text)` of the module. The module
may also offer `make(rng)`, which returns two mappings from a kind to a maker of sentences: with secrets, and without.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from noforgetti.policy import guards, secrecy
from noforgetti.policy.verdict import Refusal, Rule

if TYPE_CHECKING:
    from collections.abc import Callable

SENTENCES = (
    "Integration tests need Docker; unit tests do not.",
    "The gateway listens on port 9443 and answers 429 above 100 requests a second.",
    "Migrations are named after the day they were written, such as 20250131_add_index.sql.",
    "The access token expires after fifteen minutes and is refreshed silently.",
)
DOCUMENT = "\n".join(f"* Rule {n}: module {n} owns table {n} and nothing else." for n in range(1000))
WINDOW = 32_000  # characters of a review window, the largest text that is redacted in one go


def main() -> int:
    """Print costs, then quality where the user gave labelled data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=Path)
    parser.add_argument("--secrets-module", type=Path)
    parser.add_argument("--each", type=int, default=100, help="sentences of each kind")
    arguments = parser.parse_args()
    costs()
    module = load(arguments.secrets_module) if arguments.secrets_module else None
    if module is not None and hasattr(module, "make"):
        quality(*module.make(random.Random(1)), each=arguments.each)
    if arguments.sentences:
        labels(arguments.sentences, fill=module.fill if module is not None else str)
    return 0


def costs() -> None:
    """Time of the guards against a dictionary lookup of the same sentence count, and of redaction against a copy."""
    first = timed(lambda: guards.check(SENTENCES[0], limit=800, automatic=True), 1)
    documents = (("AGENTS.md", DOCUMENT),)
    check = timed(lambda: [guards.check(one, limit=800, automatic=True) for one in SENTENCES], 50) / len(SENTENCES)
    against = timed(lambda: guards.check(SENTENCES[0], limit=800, automatic=True, documents=documents), 20)
    text = (" ".join(SENTENCES) * (WINDOW // 200))[:WINDOW]
    redact = timed(lambda: secrecy.redact(text), 5)
    copy = timed(lambda: text.replace("\n", " ").lower().encode().decode(), 50)
    print(f"first check (rules loaded and compiled)   {first * 1e3:8.2f} ms")
    print(f"check of a sentence, automatic            {check * 1e3:8.2f} ms")
    print(f"  with a document of 1,000 sentences      {against * 1e3:8.2f} ms   x {against / check:.1f}")
    print(f"redact of {WINDOW:,} characters            {redact * 1e3:8.2f} ms   x {redact / copy:.0f} of a copy")
    from noforgetti.policy import grants, stated, task_scope

    rules: dict[str, Callable[[str], object]] = {
        "grant": grants.grant,
        "task scope": task_scope.task_scope,
        "stated": stated.stated,
    }
    for name, rule in rules.items():
        spent = timed(lambda rule=rule: [rule(one) for one in SENTENCES], 50) / len(SENTENCES)  # type: ignore[misc]
        print(f"{name} of a sentence{'':{27 - len(name)}}{spent * 1e6:8.1f} us")


def quality(secret: dict[str, Callable[[], str]], clean: dict[str, Callable[[], str]], *, each: int) -> None:
    """Precision and recall of `secrecy.find`, with the kinds that went wrong."""
    found = {kind: sum(bool(secrecy.find(make())) for _ in range(each)) for kind, make in secret.items()}
    wrong = {kind: sum(bool(secrecy.find(make())) for _ in range(each)) for kind, make in clean.items()}
    hits, false = sum(found.values()), sum(wrong.values())
    print(f"secrets: precision {hits / max(1, hits + false):.4f}, recall {hits / (each * len(secret)):.4f}")
    for kind, count in [*found.items(), *wrong.items()]:
        if (kind in found and count < each) or (kind in wrong and count):
            print(f"  {kind}: {count} of {each} flagged")


# The labels whose sentences a rule is there to refuse.
REFUSES = {
    Rule.GRANT: {"grant"},
    Rule.TASK_SCOPE: {"task_scope"},
    Rule.TRANSIENT: {"number_ref", "progress", "temporary_failure", "raw_log"},
    Rule.INJECTION: {"injection"},
    Rule.SECRET: {"secret"},
}
STORABLE = {"durable", "preference"}


def labels(path: Path, *, fill: Callable[[str], str]) -> None:
    """What an automatic writer would be told about each label; precision and recall by rule and of the detectors."""
    from noforgetti.policy import stated

    items = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    said = [(fill(item["text"]), item["label"]) for item in items]
    answers = [(text, label, guards.check(text, limit=800, automatic=True)) for text, label in said]
    verdicts = [(text, label, answer.rule if isinstance(answer, Refusal) else None) for text, label, answer in answers]
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for _, label, verdict in verdicts:
        table[label][verdict or "passes"] += 1
    for label, counts in table.items():
        print(f"{label:20} " + ", ".join(f"{rule} {count}" for rule, count in counts.most_common()))
    for rule, meant in REFUSES.items():
        _figures(rule, [(text, label in meant, verdict is rule) for text, label, verdict in verdicts])
    for text, label, verdict in verdicts:
        if verdict and label in STORABLE:
            print(f"  refused as {verdict}, though {label}: {text}")
    asked = [(text, label == "question", stated.question(text)) for text, label in said]
    _figures("question", asked)
    # A fact that reads like a wish may be queued: the review decides. Anything else in the queue is a mistake.
    queued = [(text, label, bool(stated.stated(text))) for text, label in said]
    _figures("candidate", [(text, label == "preference", hit) for text, label, hit in queued if label != "durable"])
    print(f"  and {sum(hit for _, label, hit in queued if label == 'durable')} of the durable facts")


def _figures(name: str, rows: list[tuple[str, bool, bool]]) -> None:
    """Precision and recall of rows of text, meant and found, then what went wrong."""
    right = sum(meant and found for _, meant, found in rows)
    found, meant = sum(row[2] for row in rows), sum(row[1] for row in rows)
    print(f"{name:12} precision {right / max(1, found):.3f}  recall {right / max(1, meant):.3f}  ({right} of {meant})")
    for text, wanted, hit in rows:
        if wanted != hit:
            print(f"  {'missed' if wanted else 'wrong'}: {text}")


def load(path: Path) -> Any:
    """The module at `path`."""
    spec = importlib.util.spec_from_file_location("secrets_module", path)
    if spec is None or spec.loader is None:
        sys.exit(f"`{path}` is not a Python module.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(action: Callable[[], object], times: int) -> float:
    """The best of `times` runs, in seconds."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


if __name__ == "__main__":
    sys.exit(main())
