"""Finding entries and past sessions, through the real index and the shipped model."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from store.builders import STAMP, entry, opened, review

from noforgetti.model.entry import MAIN, Category, Entry
from noforgetti.retrieval.base import EmbeddingError
from noforgetti.service import index_state
from noforgetti.service.branches import fork
from noforgetti.service.embedding import Embedding
from noforgetti.service.index_state import file_of
from noforgetti.service.recall import Recall, searched
from noforgetti.service.settings import EmbeddingSettings

from .said import fake_secret

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noforgetti.retrieval.base import Floats
    from noforgetti.service.memory import Memory

HELD = (
    entry("Install packages with pnpm, never with npm.", "pnpm", category=Category.PREFERENCE),
    entry("The database listens on port 5433 in development.", "port", category=Category.PATTERN),
    entry("Run `make check` before every push.", "check"),
    entry("Money is stored as integer cents.", "money"),
    entry("The staging server is rebooted every night.", "reboot", archived=True),
)
OTHER_WORDS = "how should we save amounts of currency?"  # no word of `money`; cosine 0.62 with the shipped model
FOREIGN = "Knit a scarf for my grandmother's birthday party"


def recalling(memory: Memory, user: Path, kind: str = "static") -> Recall:
    """A recall that looks for sessions below a home of its own."""
    return Recall(memory, Embedding(EmbeddingSettings(type=kind), memory.places, {"HOME": str(user)}))  # type: ignore[arg-type]


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """The user's home, with Pi's sessions."""
    return tmp_path.resolve() / "user"


def ids(recall: Recall, query: str, branch: str = MAIN, **more: Any) -> list[str]:
    """The entries that were found, best first."""
    return [str(one.entry.id) for one in recall.entries(branch, query, **more)]


def told(memory: Memory, user: Path, session: str, *said: str, parent: Path | None = None) -> Path:
    """A Pi session of the memory's project."""
    root = memory.project.root
    folder = user / ".pi" / "agent" / "sessions" / ("--" + root.lstrip("/").replace("/", "-") + "--")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"2026-11-30_{session}.jsonl"
    lines: list[dict[str, Any]] = [{"type": "session", "id": session, "timestamp": STAMP, "cwd": root}]
    if parent:
        lines[0]["parentSession"] = str(parent)
    lines += [
        {"type": "message", "id": f"{session}-{at}", "timestamp": STAMP, "message": {"role": "user", "content": text}}
        for at, text in enumerate(said)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


# ---- entries


def test_an_entry_is_found_by_its_words_with_and_without_a_model(memory: Memory, user: Path) -> None:
    review(memory, add=HELD)

    for kind in ("static", "off"):
        found = recalling(memory, user, kind).entries(MAIN, "Which port has the database?")
        assert [one.entry.id for one in found][:1] == ["port"]
        assert (found[0].similarity is None) == (kind == "off")
        assert "port" in found[0].why


def test_an_entry_in_other_words_needs_the_model(memory: Memory, user: Path) -> None:
    review(memory, add=HELD)

    assert ids(recalling(memory, user), OTHER_WORDS)[:1] == ["money"]
    assert ids(recalling(memory, user, "off"), OTHER_WORDS) == []


def test_what_has_nothing_to_do_with_the_memory_finds_nothing(memory: Memory, user: Path) -> None:
    review(memory, add=HELD)

    assert [ids(recalling(memory, user, kind), FOREIGN) for kind in ("static", "off")] == [[], []]


def test_archived_entries_are_found_and_hidden_ones_are_not(memory: Memory, user: Path) -> None:
    review(memory, add=[*HELD, entry(f"The deploy token is {fake_secret()}.", "token")])
    recall = recalling(memory, user)

    assert ids(recall, "When is the staging server rebooted?")[:1] == ["reboot"]
    assert "token" not in ids(recall, f"deploy token {fake_secret()}", limit=50)


def test_a_category_and_a_limit_narrow_what_is_found(memory: Memory, user: Path) -> None:
    review(memory, add=[entry(f"Rule {number} of the port.", f"rule{number}") for number in range(20)] + [HELD[1]])
    recall = recalling(memory, user)

    assert ids(recall, "port", category=Category.PATTERN) == ["port"]
    assert len(ids(recall, "port", limit=3)) == 3


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "\x00",
        "'\"*:^-()",
        '"',
        "NEAR(",
        "a AND",
        "\ud800",
        "port " * 200_000,
        "%_\\",
        "🙂",
        "--",
        "日本語" * 1000,
    ],
    ids=range(13),
)
def test_no_query_is_a_fault(memory: Memory, user: Path, query: str) -> None:
    review(memory, add=HELD)

    assert set(ids(recalling(memory, user), query)) <= {str(one.id) for one in HELD}


def test_keys_and_tags_belong_to_what_an_entry_is_found_by() -> None:
    one = Entry(entry().id, "11.2", key="project.db.engine_version", tags=("postgres",))

    assert searched(one) == "11.2\ndb engine version\npostgres"


def test_a_change_of_the_memory_is_found_at_once_and_each_branch_finds_its_own(memory: Memory, user: Path) -> None:
    review(memory, add=HELD)
    fork(memory, MAIN, "trial")
    recall = recalling(memory, user, "off")
    assert ids(recall, "zebra") == ids(recall, "zebra", "trial") == []

    review(memory, "trial", add=[entry("The zebra crosses.", "zebra")])

    assert (ids(recall, "zebra"), ids(recall, "zebra", "trial")) == ([], ["zebra"])
    review(memory, "trial", remove=["zebra"])
    assert ids(recall, "zebra", "trial") == []


def test_a_project_without_memory_finds_nothing_and_gets_no_repository(memory: Memory, user: Path) -> None:
    recall = recalling(memory, user)
    recall.complete(MAIN)
    recall.complete_past()

    assert (recall.entries(MAIN, "port"), recall.sessions("port")) == ((), ())
    assert not Path(memory.places.data).exists()


# ---- past sessions


def test_a_past_session_is_found_without_the_one_that_asks_and_its_lineage(memory: Memory, user: Path) -> None:
    first = told(memory, user, "s1", "We chose Kafka for the order queue.")
    second = told(memory, user, "s2", "Kafka needs a bigger order queue.", parent=first)
    told(memory, user, "s3", "The order queue moved from Kafka to Redis.", parent=second)
    recall = recalling(memory, user)
    recall.complete_past()

    def sessions(current: str) -> set[str]:
        return {one.session for one in recall.sessions("Kafka order queue", current=current)}

    assert sessions("") == sessions("elsewhere") == {"s1", "s2", "s3"}
    assert sessions("s1") == {"s2", "s3"}
    assert sessions("s3") == set()


def test_a_past_session_says_where_it_comes_from(memory: Memory, user: Path) -> None:
    file = told(memory, user, "s1", "We chose Kafka for the order queue.")
    recall = recalling(memory, user, "off")
    recall.complete_past()

    (found,) = recall.sessions("Kafka")

    assert (found.session, found.at, found.file) == ("s1", STAMP, str(file))
    assert "We chose Kafka for the order queue." in "\n".join(found.pieces)
    assert "kafka" in found.why.lower()


def test_a_deleted_session_is_not_shown_before_anybody_looked_again(memory: Memory, user: Path) -> None:
    file = told(memory, user, "s1", "We chose Kafka for the order queue.")
    recall = recalling(memory, user)
    recall.complete_past()
    assert recall.sessions("Kafka")

    file.unlink()

    assert recall.sessions("Kafka") == ()


def test_secrets_of_past_sessions_are_neither_shown_nor_kept(memory: Memory, user: Path) -> None:
    told(memory, user, "s1", f"Kafka is reached with the token {fake_secret()} from here.")
    recall = recalling(memory, user)
    recall.complete_past()

    (found,) = recall.sessions("Kafka token")

    assert fake_secret() not in "\n".join(found.pieces)
    recall.close()
    kept = [file for file in Path(memory.places.cache).rglob("*") if file.is_file()]
    assert kept
    assert not [file for file in kept if fake_secret().encode() in file.read_bytes()]


def test_the_setting_past_sessions_reads_none(project: Path, home: Path, user: Path) -> None:
    memory = opened(project, home, config="past_sessions = false")
    told(memory, user, "s1", "We chose Kafka for the order queue.")
    recall = recalling(memory, user)
    recall.complete_past()

    assert recall.sessions("Kafka") == ()
    memory.close()


# ---- what is derived may vanish


@pytest.mark.parametrize("name", [index_state.SESSIONS, index_state.VECTORS])
@pytest.mark.parametrize("torn", [b"", b"nonsense " * 1000])
def test_a_torn_database_is_begun_anew(memory: Memory, user: Path, name: str, torn: bytes) -> None:
    review(memory, add=HELD)
    told(memory, user, "s1", "We chose Kafka for the order queue.")
    recall = recalling(memory, user)
    recall.complete(MAIN)
    recall.complete_past()
    recall.close()
    file = Path(file_of(memory, name))
    assert file.stat().st_size
    for tail in ("-wal", "-shm"):
        Path(f"{file}{tail}").unlink(missing_ok=True)
    file.write_bytes(torn)

    again = recalling(memory, user)
    again.complete(MAIN)
    again.complete_past()

    assert ids(again, OTHER_WORDS)[:1] == ["money"]
    assert [one.session for one in again.sessions("Kafka")] == ["s1"]


def test_the_cache_may_vanish_between_two_searches(memory: Memory, user: Path) -> None:
    review(memory, add=HELD)
    told(memory, user, "s1", "We chose Kafka for the order queue.")
    recall = recalling(memory, user)
    recall.complete_past()
    assert (ids(recall, OTHER_WORDS)[:1], len(recall.sessions("Kafka"))) == (["money"], 1)

    shutil.rmtree(memory.places.cache)

    assert ids(recall, OTHER_WORDS)[:1] == ["money"]
    recall.complete_past()
    assert [one.session for one in recall.sessions("Kafka")] == ["s1"]


class Failing:
    """A model that is there and never answers."""

    name, width, quick = "failing", 4, True

    def embed(self, texts: Sequence[str]) -> Floats:
        """Fail."""
        raise EmbeddingError("unreachable", f"{len(texts)} texts were not embedded.", "start it")

    def embed_query(self, text: str) -> Floats:
        """Fail."""
        raise EmbeddingError("unreachable", f"{len(text)} characters were not embedded.", "start it")


class With(Embedding):
    """The embedding of a model that a test hands in."""

    def _made(self) -> Failing:
        return Failing()


def test_a_failing_model_leaves_words_and_is_told_once(memory: Memory, user: Path) -> None:
    review(memory, add=HELD)
    embedding = With(EmbeddingSettings(), memory.places, {"HOME": str(user)})
    recall = Recall(memory, embedding)

    assert ids(recall, "database port")[:1] == ["port"]
    assert ids(recall, "database port")[:1] == ["port"]
    assert embedding.take_notice().startswith("Search goes by words alone: ")
    assert embedding.take_notice() == ""
    assert embedding.view()["state"] == "degraded"


# ---- what a search may have missed


def test_past_sessions_that_are_off_find_nothing_and_say_so(memory: Memory, user: Path) -> None:
    told(memory, user, "s1", "The login test is flaky because of the clock.")
    recall = recalling(memory, user)
    recall.complete_past()
    assert recall.sessions("flaky login test")
    memory.settings = replace(memory.settings, past_sessions=False)

    assert recall.sessions("flaky login test") == ()
    assert recall.past_notes() == ("Past sessions are off: the setting `past_sessions` is false.",)


def test_files_that_wait_to_be_read_are_mentioned_until_they_are(memory: Memory, user: Path) -> None:
    for number in range(3):
        told(memory, user, f"s{number}", f"Message number {number} about gardening.")
    recall = recalling(memory, user)

    assert recall.refresh_past(0.0)
    waiting = recall.past_notes()
    recall.complete_past()

    assert waiting == ("Not all session files are read yet; ask again in a while.",)
    assert recall.past_notes() == ()


def test_a_file_that_cannot_be_read_is_named(memory: Memory, user: Path) -> None:
    file = told(memory, user, "s1", "The login test is flaky.")
    garbage = file.with_name("2026-11-29_other.jsonl")
    garbage.write_text("garbage\n")
    recall = recalling(memory, user)
    recall.complete_past()

    (note,) = recall.past_notes()

    assert note.startswith(f"`{garbage}` is not among them: ")


def test_what_was_deleted_leaves_no_vector(memory: Memory, user: Path) -> None:
    review(memory, add=HELD)
    file = told(memory, user, "s1", "The login test is flaky.")
    recall = recalling(memory, user)
    recall.complete(MAIN)
    recall.complete_past()
    before = index_state.vectors_kept(memory)
    file.unlink()

    recall.complete_past()

    assert (before, index_state.vectors_kept(memory)) == (len(HELD) + 1, len(HELD))


# ---- looking for, and being told


def test_a_word_that_was_written_is_reason_enough_for_whoever_looks(memory: Memory, user: Path) -> None:
    review(memory, add=HELD)
    recall = recalling(memory, user)
    query = "查询nginx的超时 cents"

    assert ids(recall, query) == ["money"]
    assert ids(recall, FOREIGN) == []


@pytest.mark.parametrize("query", ["continue the work please", FOREIGN])
def test_an_agent_is_told_nothing_that_does_not_fit(memory: Memory, user: Path, query: str) -> None:
    review(memory, add=HELD)

    assert ids(recalling(memory, user), query, asked=False) == []
