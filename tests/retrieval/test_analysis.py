"""What a text is found by: terms that FTS5 keeps whole, of words, identifiers and scripts without spaces."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noforgetti.policy.stemming import stem
from noforgetti.retrieval.analysis import QueryTerm, asks, dated, query, terms


def found_by(text: str, asked: str) -> bool:
    """Do all terms of the query occur in the text?"""
    return {one.term for one in query(asked)} <= set(terms(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running tests", ["run", "test"]),
        ("the user's tests don't run", ["user", "test", "run"]),
        ("Café STRASSE Straße ﬁle", ["cafe", "strass", "strass", "file"]),
        ("snake_case", ["snakecas", "snake", "case"]),
        ("camelCase HTTPServer", ["camelcas", "camel", "case", "httpserver", "http", "server"]),
        ("--dry-run", ["dryrun", "dry", "run"]),
        ("src/app.py", ["srcapppi", "src", "app", "py"]),
        ("error E0308, ENOENT, TS2345 or 0x80070005", ["error", "e0308", "enoent", "ts2345", "0x80070005"]),
        ("C++ and C#", ["cplusplu", "csharp"]),
        (".env", ["dotenv", "env"]),
        ("v1.2.3", ["1p2p3"]),
        ("URLs and PRs", ["url", "pr"]),
        ("a.b: end.", ["ab", "end"]),
        ("查询nginx超时", ["查询", "nginx", "超时"]),
        ("日", ["日"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("검색", ["검색"]),
        ("лучше искать", ["лучше", "искать"]),
        ("", []),
        ("?! 🙂 --- ... ¯", []),
        ("the of and", []),
    ],
)
def test_a_text_has_these_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("set DRY_RUN first", "--dry-run"),
        ("call getUserName here", "get_user_name"),
        ("written in C++", "c++"),
        ("written in C#", "C#?"),
        ("settings are in .env", ".env"),
        ("since v1.2.3", "version 1.2.3".removeprefix("version ")),
        ("see src/noforgetti/app.py", "app.py".replace(".", " ")),
        ("nginx 查询端口设置", "端口"),
        ("查询nginx超时", "nginx"),
        ("the deployment deploys", "deploying"),
        ("हिन्दी में", "हिन्दी"),
    ],
)
def test_other_spellings_of_the_same_thing_meet(text: str, asked: str) -> None:
    assert found_by(text, asked)


@pytest.mark.parametrize("pair", [("C", "C++"), ("C++", "C#"), ("1.2.3", "12.3"), ("が", "か"), ("हिन्दी", "हिन्दा")])
def test_different_things_stay_apart(pair: tuple[str, str]) -> None:
    text, asked = pair
    assert not found_by(text, asked)


def test_a_query_keeps_each_word_once_as_it_was_written() -> None:
    assert query("Tests, testing and THE test") == [QueryTerm("test", "Tests")]


def test_an_identifier_counts_as_one_word() -> None:
    assert query("use dry_run") == [
        QueryTerm("us", "use"),
        QueryTerm("dryrun", "dry_run", 0.5),
        QueryTerm("dry", "dry_run", 0.25),
        QueryTerm("run", "dry_run", 0.25),
    ]


def test_a_script_without_spaces_is_marked() -> None:
    assert query("nginx 端口") == [QueryTerm("nginx", "nginx"), QueryTerm("端口", "端口", pair=True)]


def test_stop_words_count_where_there_is_nothing_else() -> None:
    assert [one.term for one in query("who is it")] == ["who", "is", "it"]


def test_a_huge_query_is_read_in_part() -> None:
    beginning = " ".join(f"word{n:04}" for n in range(400))

    assert query(beginning + " end" * 500_000) == query(beginning)
    assert len(query(beginning)) == 64


@given(st.text())
def test_every_term_is_one_token_to_fts5(text: str) -> None:
    # Why: the postings of the index and the terms counted here must be the same things.
    made = terms(text)
    db = sqlite3.connect(":memory:")
    try:
        db.execute("create virtual table t using fts5(x, tokenize='unicode61 remove_diacritics 0')")
        db.execute("create virtual table v using fts5vocab(t, instance)")
        db.execute("insert into t values (?)", (" ".join(made),))
        count = db.execute("select count(*) from v").fetchone()[0]
    finally:
        db.close()
    assert count == len(made)


@given(st.text())
def test_a_text_is_found_by_itself(text: str) -> None:
    made = terms(text[:60])
    assert not made or {one.term for one in query(text[:60])} == set(made)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-12-03T06:00:00Z", ["3", "decemb", "2026"]),
        ("2026-01-25", ["25", "januari", "2026"]),
        ("2026-13-01", []),
        ("yesterday", []),
        ("", []),
    ],
)
def test_a_day_is_found_as_people_write_it(at: str, expected: list[str]) -> None:
    assert dated(at) == expected


@pytest.mark.parametrize(("text", "expected"), [("Why? Because.", True), ("端口是多少？", True), ("Because.", False)])
def test_a_question_is_known_by_its_mark(text: str, expected: bool) -> None:
    assert asks(text) is expected


@pytest.mark.parametrize(
    ("word", "expected"),
    # Porter's own examples, from his paper and its word list.
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("cats", "cat"),
        ("feed", "feed"),
        ("agreed", "agre"),
        ("plastered", "plaster"),
        ("motoring", "motor"),
        ("sing", "sing"),
        ("conflated", "conflat"),
        ("sized", "size"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("relational", "relat"),
        ("vietnamization", "vietnam"),
        ("hopefulness", "hope"),
        ("triplicate", "triplic"),
        ("electriciti", "electr"),
        ("adjustment", "adjust"),
        ("adoption", "adopt"),
        ("probate", "probat"),
        ("rate", "rate"),
        ("cease", "ceas"),
        ("controll", "control"),
        ("roll", "roll"),
    ],
)
def test_english_words_lose_their_endings(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize("word", ["is", "e0308", "größe", "端口", "", "s"])
def test_what_is_no_english_word_keeps_its_end(word: str) -> None:
    assert stem(word) == word
