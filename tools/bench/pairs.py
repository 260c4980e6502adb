"""What labelled pairs of memories become beside each other: `python tools/bench pairs FILE [--model FOLDER] [--all]`.

FILE holds JSON lines `{"a", "b", "label", "kind"?}` with the labels `duplicate`, `different`, `contradiction` (of kind
`polarity`, the default, or `value`), `near_miss` and `refinement`. `b` is written beside `a`: without a model, with the
shipped one, and with the one in FOLDER that fastembed loads. Then the promises, which must all be 0, and what was
caught. `--all` prints every pair. Last, the cost of one text beside 10,000 entries.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from noforgetti.model.entry import Entry, EntryId
from noforgetti.policy.beside import Beside, beside

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from noforgetti.retrieval.base import Embedder

    Cosines = Callable[[Sequence[Entry]], Mapping[EntryId, float]]

_ENTRIES = 10_000
_VERBS = "run build deploy cache log merge squash format lint mock review publish delete migrate pin".split()  # noqa: SIM905
_NOUNS = "api cli queue worker parser token session branch tag release gateway schema client server image".split()  # noqa: SIM905
_ENDS = ("in staging", "on Fridays", "before merging", "with docker", "in tests", "by hand", "every night")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", type=Path, help="folder of a model that fastembed loads")
    parser.add_argument("--all", action="store_true")
    wanted = parser.parse_args(arguments)
    pairs = [json.loads(line) for line in wanted.file.read_text(encoding="utf-8").splitlines()]
    print("words alone")
    quality(pairs, None, each=wanted.all)
    print("\nthe shipped model")
    quality(pairs, _shipped(), each=wanted.all)
    if wanted.model:
        print(f"\n{wanted.model.name}")
        quality(pairs, _local(wanted.model), each=wanted.all)
    cost()
    return 0


def quality(pairs: Sequence[Mapping[str, Any]], embedder: Embedder | None, *, each: bool) -> None:
    """What each label becomes; broken promises; shares caught."""
    found: Counter[tuple[str, str]] = Counter()
    asked = 0
    for pair in pairs:
        old = Entry(EntryId("old"), pair["a"])
        questions: list[int] = []
        became = outcome(beside(pair["b"], [old], cosines=_cosines(embedder, pair["b"], questions)))
        asked += bool(questions)
        label = pair["label"]
        if label == "contradiction":
            label = f"contradiction, {pair.get('kind', 'polarity')}"
        elif label == "duplicate" and "kind" in pair:
            label = f"duplicate, {pair['kind']}"
        found[label, became] += 1
        if each:
            print(f"  {label:26} {became:20} {pair['a']} | {pair['b']}")
    for label in dict.fromkeys(label for label, _ in found):
        counts = {became: count for (one, became), count in found.items() if one == label}
        print(f"  {label:26} " + ", ".join(f"{became} {count}" for became, count in sorted(counts.items())))
    summary(found)
    if embedder is not None:
        print(f"  the model was asked about {asked} of {len(pairs)}")


def summary(found: Counter[tuple[str, str]]) -> None:
    """The promises, then the shares."""

    def count(label: str, became: str) -> int:
        return sum(n for (one, other), n in found.items() if one.startswith(label) and other.startswith(became))

    print(
        f"  must be 0: contradictions merged {count('contradiction', 'repeats')}, near misses refused "
        f"{count('near_miss', 'contradicts')}, near misses merged {count('near_miss', 'repeats')}, different refused "
        f"{count('different', 'contradicts')}, different merged {count('different', 'repeats')}, refinements dropped "
        f"{count('refinement', 'repeats')}, duplicates refused {count('duplicate', 'contradicts')}"
    )
    for label, became in (("contradiction, polarity", "contradicts"), ("duplicate", "repeats")):
        print(f"  {label} caught: {count(label, became)} of {count(label, '')}")
    asked = count("contradiction, value", "may replace")
    print(f"  contradiction, value told as a possible replacement: {asked} of {count('contradiction, value', '')}")


def outcome(found: Beside) -> str:
    """In words."""
    if found.contradicted:
        return "contradicts"
    if found.repeats:
        return f"repeats ({found.repeats.how})"
    return "may replace" if found.may_replace else "stored"


def cost() -> None:
    """One text beside 10,000 made-up entries, the same in every run: cold, then warm."""
    drawn = random.Random(7)

    def text(number: int) -> str:
        mark = drawn.choice(("Always ", "Never ", "", "Do not "))
        nouns = f"{drawn.choice(_NOUNS)} {drawn.choice(_NOUNS)}"
        return f"{mark}{drawn.choice(_VERBS)} the {nouns} {drawn.choice(_ENDS)} with `{drawn.choice(_NOUNS)}-{number}`."

    entries = [Entry(EntryId(str(number)), text(number)) for number in range(_ENTRIES)]
    first = _milliseconds(lambda: beside("Use ruff for linting.", entries))
    second = min(_milliseconds(lambda: beside("Use mypy for type checking.", entries)) for _ in range(5))
    near = "Never deploy the gateway client on Sundays with `make`."
    _milliseconds(lambda: beside(near, entries))
    third = min(_milliseconds(lambda: beside(near, entries)) for _ in range(5))
    print(f"\nbeside {_ENTRIES:,} entries: first {first:.0f} ms, then {second:.1f} ms; with many alike {third:.1f} ms")


def _milliseconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


def _cosines(embedder: Embedder | None, text: str, asked: list[int]) -> Cosines | None:
    if embedder is None:
        return None

    def cosines(entries: Sequence[Entry]) -> Mapping[EntryId, float]:
        asked.append(len(entries))
        rows = embedder.embed([text, *(entry.text for entry in entries)])
        return {entry.id: float(row @ rows[0]) for entry, row in zip(entries, rows[1:], strict=True)}

    return cosines


def _shipped() -> Embedder:
    from noforgetti.retrieval.embedders.static import StaticEmbedder

    return StaticEmbedder()


def _local(folder: Path) -> Embedder:
    from noforgetti.retrieval.embedders.local import LocalEmbedder

    return LocalEmbedder(folder)


if __name__ == "__main__":
    sys.exit(main())
