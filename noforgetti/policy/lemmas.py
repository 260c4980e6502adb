"""Words as they are compared: without endings, irregular forms as their base, numbers as digits, spellings as one."""

from __future__ import annotations

from functools import lru_cache

from noforgetti.policy.stemming import stem

_IRREGULAR = {
    form: base
    for base, forms in {
        "be": "is are was were been being am", "begin": "began begun", "break": "broke broken", "bring": "brought",
        "build": "built", "buy": "bought", "catch": "caught", "choose": "chose chosen choice", "come": "came",
        "do": "does did done", "draw": "drew drawn", "drive": "drove driven", "fall": "fell fallen", "find": "found",
        "forbid": "forbade forbidden", "forget": "forgot forgotten", "freeze": "froze frozen", "get": "got gotten",
        "give": "gave given", "go": "went gone goes", "have": "has had having", "hide": "hid hidden", "hold": "held",
        "keep": "kept", "know": "knew known", "leave": "left", "lose": "lost", "make": "made", "mean": "meant",
        "pay": "paid", "rebuild": "rebuilt", "remain": "remains", "run": "ran", "say": "said", "see": "saw seen",
        "send": "sent", "show": "shown", "speak": "spoke spoken", "spell": "spelt", "store": "storage",
        "take": "took taken", "tell": "told", "think": "thought", "throw": "threw thrown", "undo": "undone",
        "wake": "woke woken", "write": "wrote written", "rewrite": "rewrote rewritten", "override": "overridden",
        "overwrite": "overwrote overwritten", "child": "children", "index": "indices indexes", "person": "people",
        "approve": "approval approvals", "remove": "removal removals", "delete": "deletion deletions",
        "publish": "publication publications publishing", "repository": "repo repos repositories",
        "directory": "dir dirs directories", "configuration": "config configs configurations",
        "environment": "env envs environments", "documentation": "docs doc documentations",
        "pull-request": "pr prs pull-requests", "color": "colour colours colors", "behavior": "behaviour behaviours",
        "initialize": "initialise initialises initialised initialising", "organize": "organise organises organised",
        "serialize": "serialise serialises serialised", "normalize": "normalise normalises normalised",
        "license": "licence licences", "center": "centre centres", "gray": "grey", "database": "db dbs databases",
    }.items()
    for form in forms.split()
}  # fmt: skip
NUMBERS = {
    word: str(value)
    for value, word in [
        *enumerate("zero one two three four five six seven eight nine ten eleven twelve".split()),  # noqa: SIM905
        (15, "fifteen"), (20, "twenty"), (24, "twenty-four"), (30, "thirty"), (40, "forty"), (45, "forty-five"),
        (50, "fifty"), (60, "sixty"), (80, "eighty"), (90, "ninety"), (100, "hundred"), (1000, "thousand"),
        (2, "twice"), (1, "once"),
    ]
    if word != "once"  # mostly a conjunction
}  # fmt: skip


@lru_cache(maxsize=20_000)
def lemma(word: str) -> str:
    """What a lower-case word is compared by: `merges`, `merging` and `merged` are one. Never raises."""
    word = NUMBERS.get(word, _IRREGULAR.get(word, word))
    head, hyphen, last = word.rpartition("-")
    if hyphen and last.isalpha() and head.replace("-", "").isalpha():
        return f"{head}-{lemma(last)}"
    return _folded(stem(word))


def _folded(word: str) -> str:
    # Porter writes `deploy` as `deploi` but `deployment` as `deploy`, `add` as `add` but `adding` as `ad`.
    if len(word) < 3 or not word.isascii():
        return word
    if word[-1] == word[-2] and word[-1].isalpha():
        return word[:-1]
    return f"{word[:-1]}y" if word.endswith("i") else word


def lemmas(words: str) -> frozenset[str]:
    """What each of some words, with blanks between them, is compared by: for tables."""
    return frozenset(map(lemma, words.split()))
