"""One automatic review from claim to commit, on real sessions and a real repository."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest
from review.builders import Scripted
from store.builders import NOW, bytes_of, clean_environ, entry, fsck, git, opened, python, texts
from store.builders import review as reviewed_by_hand

from noforgetti.model.candidate import CandidateKind
from noforgetti.model.entry import MAIN, BranchName, Importance
from noforgetti.model.evidence import Position
from noforgetti.review.reviewer import Completion, ReviewAbortedError, ReviewerError
from noforgetti.review.reviewers.command import CommandReviewer
from noforgetti.review.reviewers.host import HostReviewer
from noforgetti.review.reviewers.rules import RulesReviewer
from noforgetti.review.schedule import Reason
from noforgetti.service import cadence, candidates, writes
from noforgetti.service.branches import delete, fork
from noforgetti.service.history import log
from noforgetti.service.memory import open_memory
from noforgetti.service.merging import merge_branch
from noforgetti.service.positions import position
from noforgetti.service.reviews import review, unread
from noforgetti.service.undo import undo
from noforgetti.service.views import logged_view, status_view
from noforgetti.service.writes import Traits
from noforgetti.transcripts import pi

from .said import FACT, NOTHING, Plain, Session, everything_in, fake_secret, learns, proposal

if TYPE_CHECKING:
    from pathlib import Path

    from store.builders import Clock

    from noforgetti.service.memory import Memory

PROMPT = "Use pnpm instead of npm in this repository, from now on."
OTHER = "Deploy only from the release branch."


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session without a word."""
    return Session(tmp_path / "s1.jsonl")


class Failing:
    """A reviewer that cannot answer."""

    name = "failing"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        raise self.error


def full(memory: Memory, count: int = 12) -> list[str]:
    """A memory of `count` entries; their ids."""
    numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    return [
        str(done.entry.id)
        for number in numbers[:count]
        if (done := writes.add(memory, MAIN, f"Rule {number} stands here.")).entry
    ]


def due(memory: Memory, *, branch: str = "main") -> Reason:
    return cadence.due(memory, branch)


def test_a_review_is_one_commit_that_says_what_it_rests_on(memory: Memory, session: Session) -> None:
    plain = Plain(memory.project, memory.places, memory.settings, clock=memory.clock)
    first = writes.add(plain, MAIN, OTHER)
    session.say(PROMPT)
    cadence.record(plain, MAIN, [PROMPT])

    done = review(plain, MAIN, session.read(), Scripted([proposal(learns(category="preference"))]))

    assert (done.outcome, done.more) == ("applied", False)
    assert git(plain.path, "log", "-1", "--format=%an <%ae>%n%cn%n%at%n%B", "main") == "\n".join(
        [
            "reviewer (scripted) <reviewer@noforgetti>",
            "reviewer (scripted)",
            str(NOW),
            "review: add 1: Use pnpm instead of npm.",
            "",
            "+ use-pnpm-instead-of-npm-aaaa",
            "  + Use pnpm instead of npm.",
            "",
            "Kind: review",
            "Entries: +use-pnpm-instead-of-npm-aaaa",
            "Session: s1",
            "Window: n1..n2",
            f"Base: {first.commit}",
            "Reviewer: scripted",
            "Evidence: use-pnpm-instead-of-npm-aaaa n1",
        ]
    )
    assert git(plain.path, "rev-list", "--count", "main") == "2"
    assert git(plain.path, "cat-file", "-p", "main:preferences/use-pnpm-instead-of-npm-aaaa.md") == (
        "---\nimportance: high\nassessed: 2026-12-01T12:00:00Z\ncreated: 2026-11-30T10:00:00Z\n"
        f"writer: review\nsession: s1\n---\n\n{FACT}"
    )
    assert not fsck(plain.path)
    plain.close()


def test_trailers_of_a_review_are_read_by_git_itself(memory: Memory, session: Session) -> None:
    session.say(PROMPT)

    done = review(memory, MAIN, session.read(), Scripted([proposal(learns())]), forced=True)

    message = git(memory.path, "log", "-1", "--format=%B", "main").encode()
    read = git(memory.path, "interpret-trailers", "--parse", stdin=message).splitlines()
    assert [line.partition(":")[0] for line in read] == [
        "Kind",
        "Entries",
        "Session",
        "Window",
        "Base",
        "Reviewer",
        "Evidence",
    ]
    assert "Base: none" in read
    assert done.commit == memory.head(MAIN)


def test_the_first_review_makes_the_repository(memory: Memory, session: Session) -> None:
    assert not memory.exists

    done = review(memory, MAIN, session.say(PROMPT).read(), RulesReviewer(), forced=True)

    assert (done.outcome, texts(memory.snapshot(MAIN))) == ("applied", ["Use pnpm instead of npm in this repository."])


def test_a_review_that_finds_nothing_leaves_a_note_and_no_commit(memory: Memory, session: Session) -> None:
    writes.add(memory, MAIN, OTHER)
    head = memory.head(MAIN)
    model = Scripted([NOTHING])
    session.say("What does the build do?")

    first = review(memory, MAIN, session.read(), model, forced=True)
    second = review(memory, MAIN, session.read(), model, forced=True)

    assert (first.outcome, second.outcome, len(model.sent)) == ("no-change", "nothing", 1)
    assert memory.head(MAIN) == head
    assert str(position(memory, MAIN, session.read())) == "n2"


def test_a_review_that_is_not_due_asks_nobody(memory: Memory, session: Session) -> None:
    model = Scripted([NOTHING])
    session.say("What does the build do?")
    cadence.record(memory, MAIN, ["What does the build do?"])

    done = review(memory, MAIN, session.read(), model)

    assert (done.outcome, model.sent) == ("not-due", [])


def test_a_second_review_of_a_branch_does_not_start_while_the_first_runs(memory: Memory, session: Session) -> None:
    transcript = session.say(PROMPT).read()
    outcomes: list[str] = []

    def meanwhile(_: str) -> str:
        other = memory.twin()
        outcomes.append(review(other, MAIN, transcript, Scripted([NOTHING]), forced=True).outcome)
        other.close()
        return proposal(learns())

    done = review(memory, MAIN, transcript, Scripted(meanwhile), forced=True)

    assert (outcomes, done.outcome) == (["running"], "applied")


def test_a_write_during_a_review_drops_the_proposal_and_keeps_the_evidence(memory: Memory, session: Session) -> None:
    transcript = session.say(PROMPT).read()
    cadence.record(memory, MAIN, [PROMPT])

    def meanwhile(_: str) -> str:
        other = memory.twin()
        writes.add(other, MAIN, OTHER)
        other.close()
        return proposal(learns())

    stale = review(memory, MAIN, transcript, Scripted(meanwhile))

    assert (stale.outcome, stale.commit, texts(memory.snapshot(MAIN))) == ("stale", None, [OTHER])
    assert (due(memory).due, position(memory, MAIN, transcript)) == (True, None)
    again = review(memory, MAIN, transcript, Scripted([proposal(learns())]))
    assert (again.outcome, texts(memory.snapshot(MAIN))) == ("applied", [OTHER, FACT])


def test_a_branch_deleted_during_its_review_is_not_made_again(memory: Memory, session: Session) -> None:
    writes.add(memory, MAIN, OTHER)
    trial = fork(memory, MAIN, "trial").name
    transcript = session.select("trial").say(PROMPT).read()

    def meanwhile(_: str) -> str:
        other = memory.twin()
        delete(other, "trial")
        other.close()
        return proposal(learns())

    done = review(memory, trial, transcript, Scripted(meanwhile), forced=True)

    assert (done.outcome, list(memory.heads())) == ("stale", [MAIN])


def test_an_answer_that_stays_invalid_waits_and_backs_off(memory: Memory, session: Session, clock: Clock) -> None:
    transcript = session.say(PROMPT).read()
    cadence.record(memory, MAIN, [PROMPT])
    model = Scripted(["no JSON", '{"operations": 7}', proposal(learns(evidence=["e9"]))])

    done = review(memory, MAIN, transcript, model)

    assert (done.outcome, len(model.sent), memory.exists) == ("invalid", 3, False)
    assert done.reason == "The proposal was not used: evidence `e9` is not in the window. Nothing was written."
    assert "Your previous answer could not be used" in model.sent[1]
    assert due(memory) is Reason.BACKING_OFF
    clock.tick(301)
    assert due(memory).due
    again = review(memory, MAIN, transcript, Scripted([proposal(learns())]))
    assert again.outcome == "applied"


def test_a_reviewer_that_cannot_answer_keeps_the_evidence_and_is_seen_in_status(
    memory: Memory, session: Session
) -> None:
    writes.add(memory, MAIN, OTHER)
    transcript = session.say(PROMPT).read()
    cadence.record(memory, MAIN, [PROMPT])

    done = review(memory, MAIN, transcript, Failing(ReviewerError("There is no network. Nothing was reviewed.")))

    assert (done.outcome, done.reason, position(memory, MAIN, transcript)) == (
        "failed",
        "There is no network. Nothing was reviewed.",
        None,
    )
    doc = status_view(memory, MAIN)
    assert (doc["review"]["state"], doc["review"]["failures"], doc["review"]["next_attempt"]) == (
        "backing-off",
        1,
        "2026-12-01T12:05:00Z",
    )
    assert [one["text"] for one in doc["traces"]] == [
        "review of branch `main` by failing: There is no network. Nothing was reviewed."
    ]


def test_a_review_that_is_called_off_is_due_at_once(memory: Memory, session: Session) -> None:
    transcript = session.say(PROMPT).read()
    cadence.record(memory, MAIN, [PROMPT])
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return proposal(learns())

    by_us = review(memory, MAIN, transcript, Scripted(answer), cancelled=lambda: bool(asked))
    by_host = review(memory, MAIN, transcript, Failing(ReviewAbortedError("Called off.")))

    assert (by_us.outcome, by_host.outcome, due(memory)) == ("aborted", "aborted", Reason.SIGNAL)
    assert position(memory, MAIN, transcript) is None


def test_a_reviewer_that_breaks_leaves_no_claim_behind(memory: Memory, session: Session) -> None:
    transcript = session.say(PROMPT).read()

    with pytest.raises(ZeroDivisionError):
        review(memory, MAIN, transcript, Failing(ZeroDivisionError()), forced=True)

    assert review(memory, MAIN, transcript, Scripted([proposal(learns())]), forced=True).outcome == "applied"


def test_a_review_that_would_remove_most_is_held(memory: Memory, session: Session) -> None:
    ids = full(memory)
    head = memory.head(MAIN)
    transcript = session.say(PROMPT).read()
    merged = {"action": "merge", "entryIds": ids[:8], "content": "All rules fell."}
    removed = [{"action": "remove", "entryId": one} for one in ids[8:10]]

    done = review(memory, MAIN, transcript, Scripted([proposal(merged, *removed)]), forced=True)

    (waiting,) = [one for one in candidates.pending(memory, MAIN) if one.kind is CandidateKind.HELD]
    assert (done.outcome, memory.head(MAIN), done.more) == ("held", head, False)
    assert position(memory, MAIN, transcript) == Position("n2"), "its evidence is in the queue now"
    assert done.reason.startswith("The review would remove 10 of 12 entries")
    assert done.hint == f"commit it with `noforgetti candidates accept {waiting.id}`, or drop it with `discard`"
    assert (waiting.kind, waiting.session, waiting.reason) == (CandidateKind.HELD, "s1", done.reason)
    assert waiting.text.startswith("A review of 1 turns would replace 1, remove 9. ~ ")


def test_what_never_fits_is_a_safe_no_change_in_the_end(memory: Memory, session: Session) -> None:
    for letter in "abcdef":
        writes.add(memory, MAIN, f"Part {letter}: {letter * 732}")
    head = memory.head(MAIN)
    transcript = session.say(PROMPT).read()
    model = Scripted([proposal(learns("One more fact. " + "y" * 300))] * 3)

    done = review(memory, MAIN, transcript, model, forced=True)

    assert (done.outcome, len(model.sent), memory.head(MAIN)) == ("no-change", 3, head)
    assert "Merge, shorten or remove in the same answer" in model.sent[1]
    assert "This is the last attempt" in model.sent[2]
    assert str(position(memory, MAIN, transcript)) == "n2"


def test_an_entry_that_is_too_long_is_asked_for_again(memory: Memory, session: Session) -> None:
    transcript = session.say(PROMPT).read()
    model = Scripted([proposal(learns("Long. " * 200)), proposal(learns())])

    done = review(memory, MAIN, transcript, model, forced=True)

    assert (done.outcome, texts(memory.snapshot(MAIN))) == ("applied", [FACT])
    assert "split distinct facts" in model.sent[1]


def test_pinned_and_enforced_entries_stay_as_they_are(memory: Memory, session: Session) -> None:
    pinned = writes.add(memory, MAIN, "Never push to main.", Traits(pinned=True)).entry
    assert pinned
    ruled = entry("Run the linter first.", "linter-rule", rule='{"kind": "forbid"}')
    reviewed_by_hand(memory, add=[ruled])
    before = memory.snapshot(MAIN)
    answer = proposal(
        {"action": "remove", "entryId": pinned.id},
        {"action": "replace", "entryId": "linter-rule", "content": "Skip the linter."},
        {"action": "merge", "entryIds": [pinned.id, "linter-rule"], "content": "Do as you like."},
        learns(),
    )

    done = review(memory, MAIN, session.say(PROMPT).read(), Scripted([answer]), forced=True)

    now = memory.snapshot(MAIN)
    assert [change.sign for change in done.changes] == ["+"]
    assert {one.entry.id: one.blob for one in before.entries}.items() <= {
        one.entry.id: one.blob for one in now.entries
    }.items()
    assert done.result
    assert [one.refusal.rule for one in done.result.refused] == ["pinned", "enforced", "pinned"]


def test_a_turn_longer_than_the_window_is_reviewed_in_pieces(memory: Memory, session: Session) -> None:
    session.say("Remember this text. " + "word " * 7_996)
    model = Scripted([proposal(learns("First half.")), proposal(learns("Second half."))])

    first = review(memory, MAIN, session.read(), model, forced=True)
    second = review(memory, MAIN, session.read(), model, forced=True)

    assert (first.outcome, first.more, second.outcome, second.more) == ("applied", True, "applied", False)
    windows = git(memory.path, "log", "--reverse", "--format=%(trailers:key=Window,valueonly,separator=%x2C)", "main")
    assert windows.split() == ["n1..n1+32000", "n1+32000..n2"]
    assert "(continued)" in model.sent[1]


def test_a_detour_over_another_branch_skips_no_evidence(memory: Memory, session: Session) -> None:
    writes.add(memory, MAIN, OTHER)
    said = [f"Turn number {number} was on main." for number in range(5)]
    session.say(*said)
    trial = fork(memory, MAIN, "trial").name
    session.select("trial").say("This was said on trial.")
    on_trial = Scripted([proposal(learns("Trial fact."))])
    review(memory, trial, session.read(), on_trial, forced=True)
    session.select("main").say("Back on main again.")
    on_main = Scripted([proposal(learns())])

    done = review(memory, MAIN, session.read(), on_main, forced=True)

    assert done.outcome == "applied"
    assert [text in on_main.sent[0] for text in [*said, "Back on main again."]] == [True] * 6
    assert "This was said on trial." not in on_main.sent[0]
    assert "This was said on trial." in on_trial.sent[0]


@pytest.mark.parametrize("answer", [proposal(learns()), NOTHING], ids=["with a commit", "with a note"])
def test_a_fork_knows_what_was_reviewed(memory: Memory, session: Session, answer: str) -> None:
    writes.add(memory, MAIN, OTHER)
    session.say(PROMPT)
    review(memory, MAIN, session.read(), Scripted([answer]), forced=True)

    trial = fork(memory, MAIN, "trial").name
    model = Scripted([NOTHING])
    session.say("And one thing more.")
    # A session file that is reviewed from outside for another branch counts as that branch's evidence.
    review(memory, trial, pi.read(session.file, branch=trial), model, forced=True)

    assert PROMPT not in model.sent[0]
    assert "And one thing more." in model.sent[0]


def test_undoing_a_review_does_not_review_its_evidence_again(memory: Memory, session: Session) -> None:
    session.say(PROMPT)
    review(memory, MAIN, session.read(), Scripted([proposal(learns())]), forced=True)
    undo(memory, MAIN)

    again = review(memory, MAIN, session.read(), Scripted([proposal(learns())]), forced=True)

    assert (again.outcome, texts(memory.snapshot(MAIN))) == ("nothing", [])


def test_losing_the_state_repeats_a_review_without_a_commit_and_no_other(
    project: Path, home: Path, clock: Clock, session: Session
) -> None:
    memory = opened(project, home, clock)
    review(memory, MAIN, session.say(PROMPT).read(), Scripted([proposal(learns())]), forced=True)
    review(memory, MAIN, session.say("Nothing to see.").read(), Scripted([NOTHING]), forced=True)
    memory.close()
    for file in (home / "state").rglob("*"):
        if file.is_file():
            file.unlink()
    memory = opened(project, home, clock)
    model = Scripted([NOTHING])

    review(memory, MAIN, session.read(), model, forced=True)
    last = review(memory, MAIN, session.read(), model, forced=True)

    assert (len(model.sent), PROMPT in model.sent[0], "Nothing to see." in model.sent[0]) == (1, False, True)
    assert last.outcome == "nothing"
    memory.close()


def test_a_commit_that_plain_git_made_counts_for_reviews(memory: Memory, session: Session, tmp_path: Path) -> None:
    writes.add(memory, MAIN, OTHER)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", memory.path, str(clone))
    (clone / "lessons").mkdir(exist_ok=True)
    (clone / "lessons" / "by-hand.md").write_text("---\n---\n\nWritten by hand.\n")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "by hand\n\nSession: s1\nWindow: n1..n2")
    git(clone, "push", "-q")
    session.say(PROMPT).say("And later this.")
    model = Scripted([proposal({"action": "replace", "entryId": "by-hand", "content": "Reworded by review."})])

    done = review(memory, MAIN, session.read(), model, forced=True)

    assert done.outcome == "applied"
    assert PROMPT not in model.sent[0]
    assert texts(memory.snapshot(MAIN)) == [OTHER, "Reworded by review."]


def test_a_review_goes_on_window_after_window_and_sees_every_turn_once(memory: Memory, session: Session) -> None:
    said = [f"Turn number {number:02} of this session." for number in range(30)]
    session.say(*said)
    model = Scripted([NOTHING] * 9)
    assert unread(memory, MAIN, session.read()) == 12

    more, rounds = True, 0
    while more:
        more = review(memory, MAIN, session.read(), model, forced=True).more
        rounds += 1

    assert rounds == 3
    assert [sum(text in sent for sent in model.sent) for text in said] == [1] * 30
    assert unread(memory, MAIN, session.read()) == 0


def test_operations_without_effect_leave_the_rest_of_the_evidence_for_the_next_window(
    memory: Memory, session: Session
) -> None:
    known = writes.add(memory, MAIN, OTHER, Traits(importance=Importance.HIGH)).entry
    assert known
    same = {"action": "assess", "entryId": known.id, "importance": "high"}
    session.say(*[f"Turn number {number:02} of this session." for number in range(13)])

    done = review(memory, MAIN, session.read(), Scripted([proposal(same)]), forced=True)

    assert (done.outcome, done.more) == ("no-change", True)


def test_what_the_projects_documents_say_is_not_remembered_again(memory: Memory, session: Session) -> None:
    fact = "Run the database migrations before starting the server."
    with open(os.path.join(memory.project.root, "AGENTS.md"), "w", encoding="utf-8") as file:
        file.write(f"# Working here\n\n- {fact}\n- Tests live in tests/.\n")
    session.say(f"Remember: {fact}")

    rules = review(memory, MAIN, session.read(), RulesReviewer(), forced=True)

    assert (rules.outcome, texts(memory.snapshot(MAIN))) == ("no-change", [])
    assert rules.result
    assert [one.refusal.rule for one in rules.result.refused] == ["documented"]


def test_the_rules_learn_from_a_whole_session_offline(memory: Memory, session: Session) -> None:
    session.say(
        "Remember that the tests need the database",
        "No, use ruff instead of flake8.",
        "What does the build do?",
        "We always squash before merging.",
    )

    done = review(memory, MAIN, session.read(), RulesReviewer(), forced=True)

    assert done.outcome == "applied"
    assert texts(memory.snapshot(MAIN)) == [
        "The tests need the database.",
        "Use ruff instead of flake8.",
        "We always squash before merging.",
    ]
    logged = logged_view(next(log(memory, MAIN, limit=1)))
    assert (logged["kind"], logged["author"], logged["trailers"]["Window"]) == ("review", "reviewer (rules)", "n1..n8")


# ---- secrets


def command_reviewer(tmp_path: Path) -> tuple[CommandReviewer, Path]:
    """A real program that keeps its prompt in a file and proposes the very line it was sent."""
    seen = tmp_path / "prompt.txt"
    script = tmp_path / "reviewer.py"
    script.write_text(
        "import json, sys\n"
        "text = sys.stdin.read()\n"
        f"open({str(seen)!r}, 'w').write(text)\n"
        "line = [one[2:] for one in text.splitlines() if one.startswith('| Remember')][0]\n"
        "fact = {'action': 'add', 'content': line, 'importance': 'high', 'evidence': ['e1']}\n"
        "print(json.dumps({'operations': [fact]}))\n"
    )
    return CommandReviewer([sys.executable, str(script)], clean_environ()), seen


@pytest.mark.parametrize("kind", ["rules", "scripted", "command", "host"])
def test_a_secret_that_was_typed_reaches_no_reviewer_and_no_object(
    memory: Memory, session: Session, tmp_path: Path, kind: str
) -> None:
    secret = fake_secret()
    session.say(f"Remember that the deploy token is {secret} for now on, always.", answer=f"I noted {secret}.")
    session.say("We always squash before merging.")
    sent: list[str] = []

    def ask(system: str, prompt: str, max_tokens: int) -> dict[str, Any]:
        sent.append(system + prompt)
        return {"text": proposal(learns(f"The token is {secret}."), learns(OTHER)), "stop_reason": "stop"}

    program, seen = command_reviewer(tmp_path)
    by: Any = {
        "rules": RulesReviewer(),
        "scripted": Scripted(lambda prompt: str(ask("", prompt, 0)["text"])),
        "command": program,
        "host": HostReviewer(ask),
    }[kind]

    done = review(memory, MAIN, session.read(), by, forced=True)

    assert done.outcome in ("applied", "no-change")
    if seen.exists():
        sent.append(seen.read_text())
    assert bool(sent) is (kind != "rules")
    assert all(secret not in text and secret[10:] not in text for text in sent)
    memory.prepare()
    memory.close()
    below = bytes_of(tmp_path / "home")
    assert not [name for name, data in below.items() if secret.encode() in data]
    assert secret.encode() not in everything_in(memory.path)


# ---- processes

THINKS = """
import os, sys, time
from pathlib import Path
from noforgetti.service import cadence
from noforgetti.service.memory import open_memory
from noforgetti.service.reviews import review
from noforgetti.transcripts import pi

class Thinking:
    name = "thinking"
    def complete(self, system, prompt, max_tokens):
        print("thinking", flush=True)
        time.sleep(60)

folder, home, file, prompt = sys.argv[1:]
memory = open_memory(folder, {"NOFORGETTI_HOME": home})
cadence.record(memory, "main", [prompt])
review(memory, "main", pi.read(Path(file)), Thinking())
"""


def test_a_review_whose_process_was_killed_is_taken_over_at_once_and_runs_once(
    project: Path, home: Path, session: Session
) -> None:
    session.say(PROMPT)
    child = python(THINKS, str(project), str(home), str(session.file), PROMPT, stdout=-1)
    assert child.stdout
    assert child.stdout.readline() == b"thinking\n"
    memory = open_memory(str(project), {"NOFORGETTI_HOME": str(home)})
    assert cadence.due(memory, MAIN) is Reason.RUNNING

    os.kill(child.pid, signal.SIGKILL)
    child.communicate(timeout=10)
    model = Scripted([proposal(learns())] * 2)
    first = review(memory, MAIN, session.read(), model)
    second = review(memory, MAIN, session.read(), model)

    assert (first.outcome, second.outcome, len(model.sent)) == ("applied", "not-due", 1)
    assert git(memory.path, "rev-list", "--count", "main") == "1"
    memory.close()


def test_the_account_of_a_review_counts_what_it_cost(memory: Memory, session: Session) -> None:
    review(memory, MAIN, session.say(PROMPT).read(), Scripted(["nonsense", proposal(learns())]), forced=True)

    account = memory.state.last_account(MAIN)

    assert account
    assert {
        key: account[key] for key in ("outcome", "reviewer", "attempts", "input_tokens", "output_tokens", "turns")
    } == {
        "outcome": "applied",
        "reviewer": "scripted",
        "attempts": 2,
        "input_tokens": 20,
        "output_tokens": 10,
        "turns": 1,
    }


def test_a_fact_that_is_known_already_is_consumed_without_a_commit(memory: Memory, session: Session) -> None:
    writes.add(memory, MAIN, FACT)
    head = memory.head(MAIN)

    done = review(memory, MAIN, session.say(PROMPT).read(), Scripted([proposal(learns())]), forced=True)

    assert (done.outcome, memory.head(MAIN), str(position(memory, MAIN, session.read()))) == ("no-change", head, "n2")
    assert done.result
    assert [one.refusal.rule for one in done.result.refused] == ["duplicate"]


def test_a_branch_that_grew_a_merge_and_an_edit_is_still_reviewed_from_its_own_position(
    memory: Memory, session: Session
) -> None:
    review(memory, MAIN, session.say(PROMPT).read(), Scripted([proposal(learns())]), forced=True)
    fork(memory, MAIN, "trial")
    session.select("trial").say("This was said on trial.")
    trial = BranchName("trial")
    review(memory, trial, session.read(), Scripted([proposal(learns("Trial fact."))]), forced=True)
    merge_branch(memory, MAIN, trial)
    session.select("main").say("Back on main.")
    model = Scripted([NOTHING])

    review(memory, MAIN, session.read(), model, forced=True)

    assert "| Back on main." in model.sent[0]
    assert PROMPT not in model.sent[0]


def test_another_session_has_a_position_of_its_own(memory: Memory, session: Session, tmp_path: Path) -> None:
    review(memory, MAIN, session.say(PROMPT).read(), Scripted([proposal(learns())]), forced=True)
    other = Session(tmp_path / "s2.jsonl", id="s2").say("The other session says this.")
    model = Scripted([NOTHING])

    review(memory, MAIN, other.read(), model, forced=True)

    assert "| The other session says this." in model.sent[0]
    assert review(memory, MAIN, session.read(), model, forced=True).outcome == "nothing"
