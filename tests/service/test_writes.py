"""Direct writes: what `OLD` means, what is refused, and that nothing else changes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from store.builders import cli, entry, opened, published, state_of, texts, written

from noforgetti.model.entry import MAIN
from noforgetti.policy.verdict import Rule
from noforgetti.service import signals, writes
from noforgetti.service.writes import Traits
from noforgetti.store.base import NewerFormat, PutFile

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.model.entry import CommitId
    from noforgetti.service.memory import Memory
    from noforgetti.service.writes import Written

SHORT, LONG, OTHER = "Use tabs.", "Use tabs. Except in YAML files.", "Sort imports by module."


@pytest.fixture
def filled(memory: Memory) -> Memory:
    """A memory in which one entry's words are part of another's."""
    memory.prepare()
    published(memory.store, entry(SHORT, "short-aaaa"), entry(LONG, "long-bbbb"), entry(OTHER, "sort-cccc"))
    return memory


def refused(done: Written) -> tuple[str, Rule | None]:
    return done.outcome, done.refusal.rule if done.refusal else None


MEANT = [
    ("short-aaaa", "short-aaaa"),  # an id
    (SHORT, "short-aaaa"),  # the whole text beats a piece of another
    ("Except in YAML", "long-bbbb"),  # a piece
    ("  Sort imports by module.\r\n", "sort-cccc"),  # normalised
    ("sort-c", "sort-cccc"),  # the beginning of an id
]


@pytest.mark.parametrize(("old", "meant"), MEANT)
def test_old_means_one_entry(filled: Memory, old: str, meant: str) -> None:
    done = writes.remove(filled, "main", old)

    assert (done.outcome, done.entry.id if done.entry else None) == ("removed", meant)
    assert meant not in state_of(filled.snapshot("main"))
    assert len(filled.snapshot("main")) == 2


NOT_MEANT = [
    ("Use", Rule.AMBIGUOUS),
    ("nothing like it", Rule.UNKNOWN_ENTRY),
    (" ", Rule.EMPTY),
    ("so", Rule.UNKNOWN_ENTRY),
]


@pytest.mark.parametrize(("old", "rule"), NOT_MEANT)
@pytest.mark.parametrize("write", ["remove", "reword"])
def test_old_that_means_none_or_several_changes_nothing(filled: Memory, old: str, rule: Rule, write: str) -> None:
    head = filled.head("main")

    done = (
        writes.remove(filled, "main", old)
        if write == "remove"
        else writes.reword(filled, "main", old, "Run the linter before each commit.")
    )

    assert refused(done) == ("refused", rule)
    assert filled.head("main") == head


def test_an_ambiguous_old_lists_what_it_could_have_meant(filled: Memory) -> None:
    done = writes.remove(filled, "main", "Use tabs")

    assert done.refusal is not None
    assert done.refusal.message == "`Use tabs` matches 2 entries. Nothing was written."
    assert "`short-aaaa` Use tabs." in done.refusal.hint
    assert "`long-bbbb` Use tabs. Except in YAML files." in done.refusal.hint


def test_the_same_words_twice_make_no_commit(memory: Memory) -> None:
    first = writes.add(memory, "main", SHORT)

    again = writes.add(memory, "main", f" {SHORT}\n")

    assert (again.outcome, again.commit, again.entry) == ("duplicate", None, first.entry)
    assert memory.head("main") == first.commit


def test_rewording_by_the_same_words_makes_no_commit(filled: Memory) -> None:
    head = filled.head("main")

    done = writes.reword(filled, "main", "short-aaaa", SHORT)

    assert (done.outcome, done.commit, filled.head("main")) == ("duplicate", None, head)


def test_rewording_keeps_the_id(filled: Memory) -> None:
    done = writes.reword(filled, "main", SHORT, "Use two blanks.")

    assert done.outcome == "replaced"
    assert state_of(filled.snapshot("main"))["short-aaaa"].text == "Use two blanks."


def test_more_than_fits_is_refused_with_how_much_and_what_could_go(project: Path, home: Path) -> None:
    memory = opened(project, home, config="[limits]\nhard = 600\n")
    writes.add(memory, "main", "The build " + "b" * 390)
    head = memory.head("main")

    done = writes.add(memory, "main", "The tests " + "t" * 290)

    assert done.refusal is not None
    assert done.refusal.message == (
        "The memory would hold 700 of at most 600 characters, 100 too many. Nothing was written."
    )
    assert "(400 characters, normal importance)" in done.refusal.hint
    assert memory.head("main") == head


def test_a_memory_over_a_lowered_limit_can_still_be_tidied(project: Path, home: Path) -> None:
    big = opened(project, home)
    kept = [writes.add(big, "main", f"{letter} is a letter. " + letter * 380).entry for letter in "abc"]
    memory = opened(project, home, config="[limits]\nhard = 600\n")
    first, second, _ = [one.id for one in kept if one]

    assert refused(writes.add(memory, "main", "One more sentence.")) == ("refused", Rule.CAPACITY)
    assert writes.reword(memory, "main", first, "A is a letter.").outcome == "replaced"
    assert writes.remove(memory, "main", second).outcome == "removed"


def test_a_newer_format_is_read_and_never_written(filled: Memory) -> None:
    """P6."""
    filled.store.publish("main", (new := _with_format(filled, b"2\n")), filled.head("main"))

    assert texts(filled.twin().snapshot("main")) == sorted([SHORT, LONG, OTHER])
    with pytest.raises(NewerFormat) as caught:
        writes.add(filled, "main", "Run the linter.")
    assert str(caught.value).startswith("This memory has format `2`, newer than ")
    with pytest.raises(NewerFormat):
        writes.reword(filled, "main", "short-aaaa", "Run the linter.")
    with pytest.raises(NewerFormat):
        writes.remove(filled, "main", "short-aaaa")
    assert filled.head("main") == new
    done = cli(filled, "add", "Run the linter.", status=1)
    assert (done.stdout, len(done.stderr.splitlines())) == ("", 2)


def test_fields_that_this_version_does_not_know_survive_a_rewording(memory: Memory) -> None:
    """P6."""
    memory.prepare()
    data = b"---\nmood: sunny \nimportance: colossal\n---\n\nUse tabs.\n"
    published(memory.store, PutFile("lessons/odd.md", data))

    writes.reword(memory, "main", "odd", "Use two blanks.")

    head = memory.head("main")
    assert head is not None
    assert memory.store.read_file(head, "lessons/odd.md") == data.replace(b"Use tabs.", b"Use two blanks.")


def _with_format(memory: Memory, data: bytes) -> CommitId:
    return written(memory.store, memory.head("main"), PutFile("format", data))


def test_an_archived_entry_that_is_said_again_comes_back_as_itself(memory: Memory) -> None:
    clock = time.time()
    memory.clock = lambda: clock
    first = writes.add(memory, MAIN, "Use pnpm, never npm.")
    assert first.entry
    memory.clock = lambda: clock + 200 * 86_400
    assert signals.archive_cold(memory, MAIN).entries == (first.entry.id,)

    again = writes.add(memory, MAIN, "Use pnpm, never npm.")

    assert (again.outcome, again.entry) == ("added", first.entry)
    assert memory.snapshot(MAIN).characters == len("Use pnpm, never npm.")
    assert signals.read(memory, MAIN).by_id[first.entry.id].evidence == 2


def test_rewording_an_archived_entry_brings_it_back(memory: Memory) -> None:
    clock = time.time()
    memory.clock = lambda: clock
    first = writes.add(memory, MAIN, "Use pnpm, never npm.")
    assert first.entry
    memory.clock = lambda: clock + 200 * 86_400
    signals.archive_cold(memory, MAIN)

    again = writes.reword(memory, MAIN, first.entry.id, "Use pnpm 10, never npm.")

    assert again.entry
    assert (again.outcome, again.entry.archived) == ("replaced", False)
    assert memory.snapshot(MAIN).characters == len("Use pnpm 10, never npm.")


def test_a_fresh_rewording_costs_one_commit(memory: Memory) -> None:
    first = writes.add(memory, MAIN, "Use pnpm.")
    assert first.entry
    writes.reword(memory, MAIN, first.entry.id, "Use pnpm 10.")

    assert signals.read(memory, MAIN).by_id == {}


def test_saying_a_faded_fact_again_confirms_it_without_a_commit_on_the_branch(memory: Memory) -> None:
    clock = time.time()
    memory.clock = lambda: clock
    first = writes.add(memory, MAIN, "We chose Kafka for events.")
    assert first.entry
    memory.clock = lambda: clock + 184 * 86_400

    again = writes.add(memory, MAIN, "We chose Kafka for events.")

    assert (again.outcome, again.commit, memory.head(MAIN)) == ("duplicate", None, first.commit)
    assert signals.read(memory, MAIN).by_id[first.entry.id].evidence == 2


def test_tags_are_kept_once_each_and_in_order(memory: Memory) -> None:
    done = writes.add(memory, MAIN, "Retry flaky tests once.", Traits(tags=("testing", "ci", " testing ", "")))

    assert done.entry
    assert done.entry.tags == ("testing", "ci")
    reworded = writes.reword(memory, MAIN, done.entry.id, "Retry flaky tests twice.")
    assert reworded.entry
    assert reworded.entry.tags == ("testing", "ci")
