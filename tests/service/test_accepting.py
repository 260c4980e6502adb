"""A user decides about candidates: written through the chain of every write, or dropped; never lost in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from review.builders import Scripted
from store.builders import fsck, texts

from noforgetti.model.candidate import Candidate, CandidateKind
from noforgetti.model.commit import CommitKind
from noforgetti.model.entry import MAIN, Category, EntryId, Writer
from noforgetti.policy.verdict import Refusal, Rule
from noforgetti.service import accepting, candidates, writes
from noforgetti.service.history import log
from noforgetti.service.reviews import review
from noforgetti.service.undo import undo

from .said import Session, learns, proposal

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.service.memory import Memory

PROMPT = "Please tidy the memory of this project up, and use pnpm instead of npm."


def waits(memory: Memory, text: str, kind: CandidateKind = CandidateKind.PREFERENCE, **more: object) -> Candidate:
    """A candidate of session `s1` in the queue."""
    one = Candidate("", kind, text, session="s1", **more)  # type: ignore[arg-type]
    return candidates.queue(memory, MAIN, [one])[0]


def test_a_preference_becomes_the_users_entry_with_its_session(memory: Memory) -> None:
    one = waits(memory, "I prefer small commits.", category=Category.PREFERENCE)

    done = accepting.accept(memory, MAIN, one)

    (entry,) = memory.snapshot(MAIN)
    assert (done.outcome, entry.text, entry.category, entry.writer) == (
        "added",
        "I prefer small commits.",
        Category.PREFERENCE,
        Writer.USER,
    )
    assert (entry.session, candidates.pending(memory, MAIN)) == ("s1", ())


def test_other_words_may_be_given(memory: Memory) -> None:
    one = waits(memory, "I prefer small commits.")

    accepting.accept(memory, MAIN, one, text="Commits stay small.", category=Category.DECISION)

    (entry,) = memory.snapshot(MAIN)
    assert (entry.text, entry.category) == ("Commits stay small.", Category.DECISION)


def test_what_is_refused_still_waits(memory: Memory) -> None:
    one = waits(memory, "I prefer small commits.")

    done = accepting.accept(memory, MAIN, one, text="x" * 801)

    assert done.refusal is not None
    assert (done.outcome, done.refusal.rule) == ("refused", Rule.TOO_LONG)
    assert candidates.pending(memory, MAIN) == (one,)


def test_a_contradiction_rewords_the_entry_that_it_is_about(memory: Memory) -> None:
    old = writes.add(memory, MAIN, "Never commit generated files.").entry
    assert old is not None
    one = waits(memory, "Always commit generated files.", CandidateKind.CONTRADICTION, entry=old.id)

    done = accepting.accept(memory, MAIN, one)

    assert (done.outcome, texts(memory.snapshot(MAIN))) == ("replaced", ["Always commit generated files."])
    assert [entry.id for entry in memory.snapshot(MAIN)] == [old.id]


def test_of_a_replacement_that_stands_beside_its_entry_the_older_one_goes(memory: Memory) -> None:
    old = writes.add(memory, MAIN, "Run the tests with pytest before a commit.").entry
    new = writes.add(memory, MAIN, "Run the linter with ruff after a merge.").entry
    assert old is not None
    assert new is not None
    one = waits(memory, new.text, CandidateKind.REPLACEMENT, entry=old.id)

    done = accepting.accept(memory, MAIN, one)

    assert (done.outcome, texts(memory.snapshot(MAIN))) == ("removed", [new.text])


def test_an_entry_that_is_gone_makes_the_text_a_new_one(memory: Memory) -> None:
    one = waits(memory, "Use spaces.", CandidateKind.REPLACEMENT, entry=EntryId("gone-aaaa"))

    assert accepting.accept(memory, MAIN, one).outcome == "added"


def test_a_flag_asks_for_a_look_only(memory: Memory) -> None:
    one = waits(memory, "This one may be a rule.", CandidateKind.FLAG, entry=EntryId("tabs"))

    done = accepting.accept(memory, MAIN, one)

    assert (done.outcome, done.commit, candidates.pending(memory, MAIN)) == ("seen", None, ())


@pytest.mark.parametrize("wanted", ["", "c-", "c", "nothing", "\ud800"])
def test_what_names_no_candidate_or_several_is_refused(memory: Memory, wanted: str) -> None:
    waits(memory, "I prefer small commits.")
    waits(memory, "I prefer large files.")

    found = accepting.find(memory, MAIN, wanted)

    assert isinstance(found, Refusal)
    assert found.rule in (Rule.UNKNOWN_ENTRY, Rule.AMBIGUOUS)


def test_an_id_may_be_shortened(memory: Memory) -> None:
    one = waits(memory, "I prefer small commits.")

    assert accepting.find(memory, MAIN, one.id[2:5]) == accepting.find(memory, MAIN, one.id) == one


RULES = ("Ship on Fridays only.", "Log in JSON.", "Name tests as sentences.", "Keep modules small.")


def held(memory: Memory, folder: Path) -> tuple[Candidate, list[EntryId]]:
    """A review that was held: it adds one entry and takes out three of four."""
    ids = [entry.id for text in RULES if (entry := writes.add(memory, MAIN, text).entry)]
    session = Session(folder / "s1.jsonl").say(PROMPT)
    gone = [{"action": "remove", "entryId": one} for one in ids[:3]]
    done = review(memory, MAIN, session.read(), Scripted([proposal(*gone, learns())]), forced=True)
    assert done.outcome == "held"
    (one,) = [one for one in candidates.pending(memory, MAIN) if one.kind is CandidateKind.HELD]
    return one, ids


def test_a_held_review_is_committed_as_the_review_it_was_and_can_be_undone(memory: Memory, tmp_path: Path) -> None:
    one, _ = held(memory, tmp_path)
    before = memory.snapshot(MAIN)

    done = accepting.accept(memory, MAIN, one)

    assert (done.outcome, done.refusal) == ("applied", None)
    assert texts(memory.snapshot(MAIN)) == sorted([RULES[3], "Use pnpm instead of npm."])
    newest = next(iter(log(memory, MAIN, limit=1))).commit
    assert (newest.kind, newest.trailer("Session"), newest.trailer("Candidate")) == (CommitKind.REVIEW, "s1", one.id)
    assert candidates.pending(memory, MAIN) == ()
    assert undo(memory, MAIN).outcome == "undone"
    assert memory.snapshot(MAIN).files == before.files
    assert fsck(memory.path) == ""


def test_a_held_review_is_refused_once_its_entries_moved(memory: Memory, tmp_path: Path) -> None:
    one, ids = held(memory, tmp_path)
    writes.reword(memory, MAIN, ids[1], "Log in plain text.")
    head = memory.head(MAIN)

    done = accepting.accept(memory, MAIN, one)

    assert done.refusal is not None
    assert done.refusal.message == f"Entry `{ids[1]}` changed since this review was held. Nothing was written."
    assert (memory.head(MAIN), candidates.pending(memory, MAIN)) == (head, (one,))


def test_operations_that_cannot_be_read_are_refused(memory: Memory) -> None:
    for broken in ("", "{}", "[1]", '{"base":null,"operations":[],"trailers":[]}', '{"base":"x","operations":[{}]}'):
        one = Candidate("c-x", CandidateKind.HELD, "A review.", operations=broken)
        memory.prepare()

        done = accepting.accept(memory, MAIN, one)

        assert done.outcome in ("refused", "duplicate")
        assert memory.head(MAIN) is None
