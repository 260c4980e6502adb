"""How well finding finds: `python tools/bench/retrieval_quality.py [--locomo FILE] [--devmembench FILE] [--model M]`.

Everything goes through the product's own index, analysis, weights and floors. Three bodies of text, each given by its
path: LoCoMo (turns of long conversations, one index for each), DevMemBench (coding sessions as units, all in one index,
with questions that must find nothing) and a folder with the memory of a coding project (by default the one beside
this file). `--model` is `static` (the shipped one), the folder of a model that fastembed loads, or `none`.

Recall@k is the share of a question's evidence among the first k hits, share@5 the same for sessions; means over the
questions that have evidence. An interval is the middle 95 % of 10,000 paired resamplings of questions. Deterministic
but for the times.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noforgetti.retrieval.base import Embedder, Passage
from noforgetti.retrieval.corpus import Corpus, Found
from noforgetti.retrieval.ranking import ENTRIES, SESSIONS, Profile
from noforgetti.retrieval.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

_RESAMPLED = 10_000
_DEEP = 50  # hits asked for: below that rank a hit hardly adds to the mean reciprocal rank
_MEMORIES = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Question:
    """What is asked, and the keys (or sessions) that must be found; `kind` names its sort."""

    text: str
    evidence: tuple[str, ...]
    kind: str


@dataclass(frozen=True)
class Body:
    """One index with its questions. `cited` counts evidence as cited: some citations name what is not there."""

    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]
    profile: Profile
    sessions: bool = False  # sessions are found, not passages


# ---- reading


def locomo(path: Path) -> list[Body]:
    """One body for each conversation. A turn is `speaker: text`, on the day of its session."""
    bodies = []
    for one in json.loads(path.read_text(encoding="utf-8")):
        talk, passages = one["conversation"], []
        for name in sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:])):
            at = datetime.strptime(talk[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").isoformat() + "Z"  # noqa: DTZ007
            for place, turn in enumerate(talk[name]):
                passages.append(passage(turn["dia_id"], f"{turn['speaker']}: {turn['text']}", name, place, at))
        questions = [
            Question(asked["question"], tuple(dict.fromkeys(re.split(r"[;,\s]+", " ".join(asked["evidence"])))), "")
            for asked in one["qa"]
            if asked["evidence"]
        ]
        bodies.append(Body(tuple(passages), tuple(questions), SESSIONS))
    return bodies


def devmembench(path: Path) -> Body:
    """All sessions in one index, a message a passage."""
    data = json.loads(path.read_text(encoding="utf-8"))
    passages = [
        passage(f"{one['sessionId']}:{place}", said["content"], one["sessionId"], place, one["metadata"]["date"])
        for one in data["sessions"]
        for place, said in enumerate(one["messages"])
    ]
    questions = [
        Question(one["question"], tuple(one["haystackSessionIds"]), one["questionType"]) for one in data["questions"]
    ]
    return Body(tuple(passages), tuple(questions), SESSIONS, sessions=True)


def memories(folder: Path) -> Body:
    """The entries of a project; what they say is all that is searched."""
    entries, asked = (
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("memories.jsonl", "questions.jsonl")
    )
    questions = (Question(one["question"], tuple(one["expects"]), f"{one['kind']} {one['lang']}") for one in asked)
    return Body(tuple(passage(one["id"], one["text"]) for one in entries), tuple(questions), ENTRIES)


def passage(key: str, text: str, group: str = "", place: int = 0, at: str = "") -> Passage:
    """A passage whose digest is made from its text."""
    return Passage(key, text, hashlib.sha256(text.encode()).hexdigest()[:40], group, place, at)


# ---- asking


@dataclass
class Answers:
    """What one way of searching found for the questions of a body, question by question."""

    ranks: list[list[int]]  # of each piece of evidence, from 0; one too large when it was not found
    empty: list[bool]
    seconds: list[float]
    questions: tuple[Question, ...]

    def recall(self, k: int) -> Floats:
        """The share of the evidence among the first k, for each question with evidence."""
        return np.array([sum(one < k for one in ranks) / len(ranks) for ranks in self.ranks if ranks])

    def reciprocal(self) -> Floats:
        """One over the rank (from 1) of the first piece of evidence."""
        return np.array([1 / (1 + min(ranks)) if min(ranks) < _DEEP else 0.0 for ranks in self.ranks if ranks])


def ask(bodies: Sequence[Body], vectors: Vectors | None, **changed: Any) -> Answers:
    """Search for every question of every body; `changed` numbers of the profile."""
    made = Answers([], [], [], tuple(question for body in bodies for question in body.questions))
    for body in bodies:
        corpus = Corpus(None, body.profile)
        corpus.put(body.passages)
        if vectors is not None:
            corpus.embed(vectors, len(body.passages))
        profile = replace(body.profile, **changed)
        for question in body.questions:
            start = time.perf_counter()
            found = corpus.search(question.text, vectors=vectors, limit=_DEEP, profile=profile)
            made.seconds.append(time.perf_counter() - start)
            keys = _keys(found, sessions=body.sessions)
            made.ranks.append([keys.index(one) if one in keys else sys.maxsize for one in question.evidence])
            made.empty.append(not keys)
        corpus.close()
    return made


def _keys(found: Found, *, sessions: bool) -> list[str]:
    return [name for name, _ in found.groups] if sessions else [hit.passage.key for hit in found.hits]


def ways(bodies: Sequence[Body], vectors: Vectors | None) -> dict[str, Answers]:
    """By words, by meaning, and by both, as far as there is a model."""
    made = {"words": ask(bodies, None)}
    if vectors is not None:
        made["meaning"] = ask(bodies, vectors, meaning=1.0)
        made["both"] = ask(bodies, vectors)
    return made


# ---- telling


def interval(differences: Floats) -> tuple[float, float]:
    """The middle 95 % of the mean under resampling of questions."""
    random = np.random.default_rng(0)
    chosen = random.integers(0, len(differences), (_RESAMPLED, len(differences)))
    low, high = np.percentile(differences[chosen].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def tell(title: str, made: dict[str, Answers]) -> None:
    """The table of one body."""
    print(f"\n## {title}\n\n| | recall@5 | recall@10 | MRR | median ms |\n| --- | --- | --- | --- | --- |")
    for name, one in made.items():
        figures = (one.recall(5).mean(), one.recall(10).mean(), one.reciprocal().mean())
        print(f"| {name} | " + " | ".join(f"{x:.3f}" for x in figures) + f" | {np.median(one.seconds) * 1000:.1f} |")
    if "both" in made:
        print()
        for other in ("words", "meaning"):
            for k in (5, 10):
                difference = made["both"].recall(k) - made[other].recall(k)
                low, high = interval(difference)
                print(f"both - {other}, recall@{k}: {difference.mean():+.3f} ({low:+.3f} to {high:+.3f})")


def tell_kinds(made: dict[str, Answers], k: int = 5) -> None:
    """Recall@k of each kind of question, and how many that should find nothing do."""
    print(f"\n| {', '.join(made)}: recall@{k} | |\n| --- | --- |")
    for kind in sorted({question.kind for one in made.values() for question in one.questions if question.evidence}):
        cells = []
        for one in made.values():
            asked = [question for question in one.questions if question.evidence]
            cells.append(one.recall(k)[[question.kind == kind for question in asked]].mean())
        print(f"| {kind} | " + ", ".join(f"{x:.3f}" for x in cells) + " |")
    for name, one in made.items():
        nothing = [empty for empty, asked in zip(one.empty, one.questions, strict=True) if not asked.evidence]
        lost = [empty for empty, asked in zip(one.empty, one.questions, strict=True) if asked.evidence]
        print(
            f"{name}: {sum(nothing)} of {len(nothing)} that should find nothing do; {sum(lost)} of {len(lost)} others"
        )


def size(bodies: Iterable[Body], vectors: Vectors | None) -> str:
    """How many bytes the index and the vectors take in files."""
    with tempfile.TemporaryDirectory(prefix="noforgetti-bench-") as folder:
        total, count = defaultdict[str, int](int), 0
        for number, body in enumerate(bodies):
            path = Path(folder) / f"{number}.sqlite"
            corpus = Corpus(str(path), body.profile)
            corpus.put(body.passages)
            corpus.close()
            total["index"] += path.stat().st_size
            count += len(body.passages)
        width = 0 if vectors is None else vectors.embedder.width
        return (
            f"{count:,} passages: index {total['index'] / 1024:,.0f} KiB, vectors {count * width * 2 / 1024:,.0f} KiB"
        )


def embedder(model: str) -> Embedder | None:
    """The model that was asked for."""
    if model == "none":
        return None
    if model == "static":
        from noforgetti.retrieval.embedders.static import StaticEmbedder

        return StaticEmbedder()
    from noforgetti.retrieval.embedders.local import LocalEmbedder

    return LocalEmbedder(Path(model))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--devmembench", type=Path)
    parser.add_argument("--corpus", type=Path, default=_MEMORIES)
    parser.add_argument("--model", default="static")
    wanted = parser.parse_args()
    report(wanted.locomo, wanted.devmembench, wanted.corpus, embedder(wanted.model))
    return 0


def report(talks: Path | None, sessions: Path | None, folder: Path | None, model: Embedder | None) -> None:
    """Everything that was asked for, as Markdown."""
    vectors = None if model is None else Vectors(None, model)
    print(f"Model: {model.name if model else 'none'}")
    if talks:
        bodies = locomo(talks)
        tell("LoCoMo, turns", ways(bodies, vectors))
        print(size(bodies, vectors))
    for title, body in (
        ("DevMemBench, sessions", devmembench(sessions) if sessions else None),
        ("Memories of a project", memories(folder) if folder else None),
    ):
        if body:
            made = ways([body], vectors)
            tell(title, made)
            tell_kinds(made)
            print(size([body], vectors))


if __name__ == "__main__":
    sys.exit(main())
