"""How long finding takes, beside SQLite FTS5 alone on the same data: `python tools/bench/recall.py [--passages N]`.

A made-up project with a hundred memories and many past sessions, as real files in Pi's format: words drawn from a fixed
vocabulary by Zipf's law, the same ones in every run. Then the search of past sessions in one process, and turns through
a real bridge. The shipped model makes the vectors.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from bridge import Bridge

if TYPE_CHECKING:
    from collections.abc import Callable

_VOCABULARY = 30_000  # distinct words, about those of a large project's conversations
_WORDS = 45  # of a passage: some 300 characters, a short paragraph of a summary
_SESSION = 20  # passages of a session
_QUERIES = 60
_ENTRIES = 100
_TIME = "2026-01-01T00:00:00Z"


class Words:
    """Words by Zipf's law, always the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        syllables = [c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u", "ar", "en", "is")]
        self._words = ["".join(self._random.choices(syllables, k=2 + n % 3)) for n in range(_VOCABULARY)]
        # From rank 30 on: what comes before are stop words, which no index of ours holds.
        self._weights = list(accumulate(1 / (rank + 30) for rank in range(_VOCABULARY)))

    def text(self, count: int) -> str:
        """So many words."""
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=count))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="noforgetti-bench-") as folder:
        measure(Path(folder), wanted.passages)
    return 0


def measure(folder: Path, passages: int) -> None:
    """One project, one index, both measurements."""
    words = Words(7)
    project, agent = folder / "project", folder / "agent"
    project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    environ = {
        **os.environ,
        "HOME": str(folder),
        "NOFORGETTI_HOME": str(folder / "home"),
        "PI_CODING_AGENT_DIR": str(agent),
    }
    write_sessions(agent, project, words, passages)
    remember(project, environ, words)
    queries = [words.text(6) for _ in range(_QUERIES)]
    search(project, environ, queries, passages)
    turns(project, environ, queries)


def write_sessions(agent: Path, project: Path, words: Words, passages: int) -> None:
    """Session files as Pi writes them, of user messages alone."""
    home = agent / "sessions" / ("--" + str(project).lstrip("/").replace("/", "-") + "--")
    home.mkdir(parents=True)
    for number in range(passages // _SESSION):
        name = f"s{number:06}"
        lines = [{"type": "session", "version": 3, "id": name, "timestamp": _TIME, "cwd": str(project)}]
        parent = None
        for turn in range(_SESSION):
            for role in ("user", "assistant"):
                own = f"{number:06}{turn:02}{role[0]}"
                message = {"role": role, "content": words.text(_WORDS) if role == "user" else "Done."}
                if role == "assistant":
                    message["stopReason"] = "stop"
                lines.append(
                    {
                        "type": "message",
                        "id": own,
                        "parentId": parent,
                        "timestamp": _TIME,
                        "message": message,
                    }
                )
                parent = own
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (home / f"2026-01-01T00-00-00-000Z_{name}.jsonl").write_text(text)


def remember(project: Path, environ: dict[str, str], words: Words) -> None:
    """A memory of a hundred entries."""
    bridge = Bridge({**environ, "PI_CODING_AGENT_DIR": "/nonexistent"}, project)
    for number in range(_ENTRIES):
        content = f"Entry {number}: {words.text(6)}"
        bridge.call(
            "tool", name="project_memory", session={"id": "bench"}, arguments={"action": "add", "content": content}
        )
    bridge.close()


def search(project: Path, environ: dict[str, str], queries: list[str], passages: int) -> None:
    """The search of past sessions, beside FTS5's own ranking on the same terms."""
    from noforgetti.retrieval import analysis
    from noforgetti.service.embedding import Embedding
    from noforgetti.service.index_state import SESSIONS, file_of
    from noforgetti.service.memory import open_memory
    from noforgetti.service.recall import Recall

    memory = open_memory(str(project), environ)
    recall = Recall(memory, Embedding(memory.settings.embedding, memory.places, environ))
    start = time.perf_counter()
    while recall.past.refresh(60.0).more:
        pass
    read = time.perf_counter() - start
    start = time.perf_counter()
    while (vectors := recall.vectors) and recall.past_corpus.embed(vectors, 4096):
        pass
    print(f"{passages:,} passages: read and indexed in {read:.1f} s, embedded in {time.perf_counter() - start:.1f} s")
    path = file_of(memory, SESSIONS)
    alone = sqlite3.connect(path)

    def by_fts5(query: str) -> None:
        terms = " OR ".join(f'"{one.term}"' for one in analysis.query(query))
        alone.execute("select rowid from search where search match ? order by rank limit 10", (terms,)).fetchall()

    def hybrid(query: str) -> None:
        recall.by_words = False
        recall.sessions(query)

    def words_alone(query: str) -> None:
        recall.by_words = True
        recall.sessions(query)

    rows = ("FTS5 alone, `order by rank`", by_fts5), ("words alone", words_alone), ("words and meaning", hybrid)
    medians = in_turns([act for _, act in rows], queries)
    for (name, _), (median, late) in zip(rows, medians, strict=True):
        print(f"{name:30} median {median:7.2f} ms, nine in ten below {late:7.2f} ms")
    print(f"index {os.path.getsize(path) / 2**20:.0f} MiB")
    recall.close()
    memory.close()


def turns(project: Path, environ: dict[str, str], queries: list[str]) -> None:
    """Turns through a bridge: with a prompt that is searched for, and with one that is not."""
    bridge = Bridge(environ, project)
    session = {"id": "bench", "file": None}
    bridge.call("session/start", session=session, branch=None, reason="startup")
    bridge.call("turn/start", session=session, branch=None, prompt=queries[0])
    time.sleep(10)  # the background looks at all session files once

    def plain(_: str) -> None:
        bridge.call("turn/start", session=session, branch=None, prompt="ok")

    def everything(query: str) -> None:
        bridge.call("turn/start", session=session, branch=None, prompt=query)

    (bare, _), (full, late) = in_turns([plain, everything], queries)
    print(f"turn start, nothing searched   median {bare:7.2f} ms")
    print(f"turn start, everything on      median {full:7.2f} ms, nine in ten below {late:7.2f} ms")
    print(f"everything adds {full - bare:.2f} ms (goal: at most 30)")
    print(f"bridge with model and index: {bridge.memory():.0f} MiB")
    bridge.close()


def in_turns(acts: list[Callable[[str], None]], queries: list[str]) -> list[tuple[float, float]]:
    """Median and ninth decile in milliseconds of each act, measured in turns; the first tenth warms up."""
    spent: list[list[float]] = [[] for _ in acts]
    for query in queries:
        for act, times in zip(acts, spent, strict=True):
            start = time.perf_counter()
            act(query)
            times.append((time.perf_counter() - start) * 1000)
    kept = [sorted(times[len(times) // 10 :]) for times in spent]
    return [(statistics.median(times), times[len(times) * 9 // 10]) for times in kept]


if __name__ == "__main__":
    raise SystemExit(main())
