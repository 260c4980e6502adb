"""The store of comments on pull requests: all or nothing, nobody else's eyes, never read in part."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from noforgetti.errors import Kind
from noforgetti.model.code_review import Comment, PullRequest, Resolution, Review, Status
from noforgetti.store.pr_reviews import NewerReviews, PrReviews, ReviewsDamaged, ReviewsUnavailable, read

PULL = PullRequest("octo", "shop", 12)
TIME = "2026-12-01T12:00:00Z"
OPEN = Comment("a.py", 4, "The lock is never released.", severity="high", thread="T1", number=7, posted=TIME)
SKIPPED = Comment("a.py", 9, "No docstring.", Status.SKIPPED, "Tests have none.")
# The reference's schema as its first version wrote it, and what it added later.
OLD = """
create table pr_reviews (id integer primary key autoincrement, owner text not null, repo text not null,
    pr_number integer not null, head_sha text not null, created_at text not null);
create table pr_comments (id integer primary key autoincrement,
    review_id integer not null references pr_reviews(id) on delete cascade, thread_id text, comment_id integer,
    path text, line integer, body text, severity text, posted_at text);
"""


def review(*comments: Comment, head: str = "abc", time: str = TIME, pull: PullRequest = PULL) -> Review:
    return Review(pull, comments or (OPEN, SKIPPED), head, "alice", time)


@pytest.fixture
def kept(tmp_path: Path) -> PrReviews:
    return PrReviews(str(tmp_path / "data" / "pr-reviews.sqlite"))


def comments(kept: PrReviews, pull: PullRequest = PULL) -> list[Comment]:
    return [one.comment for one in kept.of_pull(pull)]


def damage(kept: PrReviews, data: bytes, at: int) -> None:
    with open(kept.path, "r+b") as file:
        file.seek(at)
        file.write(data)


def test_reading_makes_nothing(kept: PrReviews) -> None:
    assert (kept.of_pull(PULL), kept.of_file("octo", "shop", "a.py")) == ((), ())
    assert (kept.trouble(), kept.recovered()) == (None, None)
    assert kept.resolve(PULL, "a.py", None, Resolution.FIXED, "") is None
    assert not Path(kept.path).parent.exists()


def test_what_was_said_comes_back_as_it_was(kept: PrReviews) -> None:
    assert kept.add([review()], once=False) == (2, 0)

    assert comments(kept) == [OPEN, SKIPPED]
    assert [(one.head, one.time, one.pull) for one in kept.of_pull(PULL)] == [("abc", TIME, PULL)] * 2


def test_the_case_of_owner_and_repository_means_nothing(kept: PrReviews) -> None:
    kept.add([review()], once=False)

    assert comments(kept, PullRequest("Octo", "SHOP", 12)) == [OPEN, SKIPPED]
    assert comments(kept, PullRequest("octo", "shop", 1)) == []


def test_the_same_comment_of_one_commit_is_kept_once(kept: PrReviews) -> None:
    kept.add([review()], once=False)

    assert kept.add([review(OPEN, OPEN, SKIPPED, time="2026-12-02T00:00:00Z")], once=False) == (0, 3)
    assert kept.add([review(head="def")], once=False) == (2, 0)


def test_a_file_is_asked_for_over_all_pull_requests_oldest_first(kept: PrReviews) -> None:
    later = review(time="2026-12-05T00:00:00Z", pull=PullRequest("octo", "shop", 15))
    kept.add([later, review()], once=False)

    assert [one.pull.number for one in kept.of_file("octo", "shop", "a.py")] == [12, 12, 15, 15]
    assert kept.of_file("octo", "shop", "b.py") == ()


def test_the_newest_posted_comment_gets_the_resolution(kept: PrReviews) -> None:
    kept.add([review(), review(head="def", time="2026-12-02T00:00:00Z")], once=False)

    said = kept.resolve(PULL, "a.py", None, Resolution.FIXED, "done")
    again = kept.resolve(PULL, "a.py", 4, Resolution.BAD_FIX, "")

    assert said
    assert (said.head, said.comment.resolution, said.comment.response) == ("def", Resolution.FIXED, "done")
    assert again
    assert (again.comment.resolution, again.comment.response) == (Resolution.BAD_FIX, "done")
    assert [one.resolution for one in comments(kept)] == [None, None, Resolution.BAD_FIX, None]


@pytest.mark.parametrize(("path", "line"), [("b.py", None), ("a.py", 5), ("a.py", 9)])
def test_no_posted_comment_there_is_no_match(kept: PrReviews, path: str, line: int | None) -> None:
    kept.add([review()], once=False)

    assert kept.resolve(PULL, path, line, Resolution.FIXED, "") is None


def test_a_review_that_fails_halfway_leaves_nothing(kept: PrReviews) -> None:
    kept.add([review()], once=False)
    bad = Comment("a.py", 2**63, "too large for a column")

    with pytest.raises(OverflowError):
        kept.add([review(OPEN, head="new"), review(bad, head="other")], once=False)
    assert comments(kept) == [OPEN, SKIPPED]


def test_the_files_are_the_users_alone(kept: PrReviews) -> None:
    kept.add([review()], once=False)
    folder = Path(kept.path).parent

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {one.name: stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()} == {"pr-reviews.sqlite": 0o600}


def test_writers_at_once_lose_nothing(kept: PrReviews) -> None:
    def write(number: int) -> None:
        PrReviews(kept.path).add([review(head=str(number))], once=False)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert sorted(one.head for one in kept.of_pull(PULL)) == sorted([str(number) for number in range(8)] * 2)


def test_a_newer_version_is_neither_read_nor_written(kept: PrReviews) -> None:
    kept.add([review()], once=False)
    with sqlite3.connect(kept.path) as db:
        db.execute("pragma user_version = 2")
    db.close()
    before = Path(kept.path).read_bytes()

    for use in (
        lambda: kept.of_pull(PULL),
        lambda: kept.add([review(head="def")], once=False),
        kept.recovered,
    ):
        with pytest.raises(NewerReviews) as raised:
            use()
        assert raised.value.kind is Kind.UNAVAILABLE
    assert Path(kept.path).read_bytes() == before


@pytest.mark.parametrize(
    "data", [b"", b"\xef\xbb\xbfnot a database at all\r\n" * 300, b"SQLite format 3\x00" + b"\x00" * 4080]
)
def test_what_is_no_store_is_told_and_recovering_keeps_it_aside(kept: PrReviews, data: bytes) -> None:
    Path(kept.path).parent.mkdir()
    Path(kept.path).write_bytes(data)

    with pytest.raises(ReviewsDamaged):
        kept.of_pull(PULL)
    with pytest.raises(ReviewsDamaged):
        kept.add([review()], once=False)
    assert Path(kept.path).read_bytes() == data

    aside, count = kept.recovered() or ("", -1)
    assert (Path(aside).read_bytes(), count, comments(kept)) == (data, 0, [])
    assert kept.add([review()], once=False) == (2, 0)


def test_a_folder_in_its_place_is_told(kept: PrReviews) -> None:
    Path(kept.path).mkdir(parents=True)

    with pytest.raises(ReviewsDamaged, match="it is no file"):
        kept.of_pull(PULL)


def test_a_torn_page_costs_what_stood_on_it(kept: PrReviews) -> None:
    many = [Comment("a.py", line, f"Finding {line}: " + "word " * 60) for line in range(1, 201)]
    kept.add([review(*many)], once=False)
    size = os.path.getsize(kept.path)
    damage(kept, b"\x5a" * 4096, size // 2 // 4096 * 4096)

    with pytest.raises(ReviewsDamaged):
        kept.of_pull(PULL)
    aside, count = kept.recovered() or ("", -1)

    saved = comments(kept)
    assert (len(saved), kept.trouble()) == (count, None)
    assert 100 < count < 200
    assert set(saved) < set(many)
    assert os.path.getsize(aside) == size


def test_a_folder_that_cannot_be_written_is_told(kept: PrReviews) -> None:
    if os.geteuid() == 0:
        Path(kept.path).parent.parent.joinpath("data").write_text("a file where the folder should be")
    else:
        Path(kept.path).parent.mkdir(mode=0o500)

    with pytest.raises(ReviewsUnavailable):
        kept.add([review()], once=False)


def test_a_store_of_the_reference_is_read_whatever_its_age(tmp_path: Path) -> None:
    path = tmp_path / "pr reviews?.db"
    db = sqlite3.connect(path)
    db.executescript(OLD)
    db.execute("insert into pr_reviews values (1, 'octo', 'shop', 12, 'unknown', '2026-05-04T10:00:00.123456+00:00')")
    db.execute("insert into pr_comments values (1, 1, null, 7, 'a.py', 4, 'Old.', null, null)")
    db.execute("insert into pr_comments values (2, 9, null, null, null, null, 'of no review', null, null)")
    db.commit()
    db.close()

    assert read(str(path)) == (
        Review(PULL, (Comment("a.py", 4, "Old.", number=7),), "unknown", "", "2026-05-04T10:00:00.123456+00:00"),
    )


def test_taking_over_again_keeps_nothing_twice(kept: PrReviews) -> None:
    assert kept.add([review(OPEN, OPEN)], once=True) == (2, 0)
    assert kept.add([review(OPEN, OPEN)], once=True) == (0, 2)
