"""How far review has read: with the commit that holds what was learned, and with nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.builders import entry, git, review, transcript

from noforgetti.model.entry import MAIN, BranchName
from noforgetti.model.evidence import Item, Position, Role, Transcript
from noforgetti.review import window as windows
from noforgetti.service import branches, writes
from noforgetti.service.positions import note, position

if TYPE_CHECKING:
    from noforgetti.model.evidence import Window
    from noforgetti.service.memory import Memory

EXPERIMENT = BranchName("experiment")


def window(memory: Memory, session: Transcript, branch: BranchName = MAIN) -> Window | None:
    return windows.build(session, position(memory, branch, session), branch, redact=lambda text: (text, 0))


def test_a_review_commit_moves_the_position_and_its_absence_moves_it_back(memory: Memory) -> None:
    writes.add(memory, "main", "Use tabs.")
    assert position(memory, MAIN, transcript(9)) is None

    review(memory, add=[entry("Sort imports.")], window="i0..i4")
    assert position(memory, MAIN, transcript(9)) == Position("i4")

    git(memory.path, "update-ref", "refs/heads/main", "main~1")
    assert position(memory, MAIN, transcript(9)) is None


def test_a_fork_inherits_the_position_and_then_keeps_its_own(memory: Memory) -> None:
    review(memory, add=[entry("Use tabs.")], window="i0..i2")
    branches.fork(memory, "main", "experiment")

    review(memory, "experiment", add=[entry("Sort imports.")], window="i3..i5")

    assert position(memory, EXPERIMENT, transcript(9)) == Position("i5")
    assert position(memory, MAIN, transcript(9)) == Position("i2")


def test_a_note_counts_only_while_its_head_is_part_of_the_branch(memory: Memory) -> None:
    writes.add(memory, "main", "Use tabs.")
    head = writes.add(memory, "main", "Sort imports by module.").commit
    seen = window(memory, transcript(3))
    assert seen is not None
    note(memory, "main", seen, head)
    writes.add(memory, "main", "Run the linter before each commit.")
    assert position(memory, MAIN, transcript(9)) == Position("i2")

    git(memory.path, "update-ref", "refs/heads/main", "main~2")

    assert position(memory, MAIN, transcript(9)) is None


def test_a_fork_inherits_notes_too(memory: Memory) -> None:
    head = writes.add(memory, "main", "Use tabs.").commit
    seen = window(memory, transcript(3))
    assert seen is not None
    note(memory, "main", seen, head)

    branches.fork(memory, "main", "experiment")

    assert position(memory, EXPERIMENT, transcript(9)) == Position("i2")


def test_turns_of_main_wait_while_another_branch_is_used(memory: Memory) -> None:
    """main -> experiment -> main: five unreviewed turns of main are still reviewed."""
    writes.add(memory, "main", "Use tabs.")
    branches.fork(memory, "main", "experiment")
    spoken = ["main"] * 5 + ["experiment"] * 3 + ["main"] * 2
    items = tuple(Item(f"i{n}", Role.USER, f"Message {n}.", "", BranchName(on)) for n, on in enumerate(spoken))
    session = Transcript("s1", items, ("s1",))

    review(memory, "experiment", add=[entry("Sort imports.")], window="i5..i7")

    found = window(memory, session)
    assert found is not None
    assert [section.item for section in found.sections] == ["i0", "i1", "i2", "i3", "i4", "i8", "i9"]
    assert window(memory, session, EXPERIMENT) is None


def test_a_position_inside_a_long_turn_goes_on_there(memory: Memory) -> None:
    review(memory, add=[entry("Use tabs.")], window="i0..i1+12")

    assert position(memory, MAIN, transcript(9)) == Position("i1", 12)


def test_a_forked_session_begins_where_its_origin_was_read(memory: Memory) -> None:
    review(memory, add=[entry("Use tabs.")], window="i0..i3")

    assert position(memory, MAIN, transcript(9, session="s2", lineage=("s2", "s1"))) == Position("i3")


def test_one_session_does_not_move_another(memory: Memory) -> None:
    review(memory, add=[entry("Use tabs.")], window="i0..i3")

    assert position(memory, MAIN, transcript(9, session="s2")) is None
