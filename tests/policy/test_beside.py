"""What a text means beside entries: contradictions first, then the nearest repetition, then what it may replace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.model.entry import Entry, EntryId
from noforgetti.policy.beside import Beside, Contradicted, Repeats, beside
from noforgetti.policy.contradiction import Clash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def entry(text: str, *, negative: bool = False) -> Entry:
    return Entry(EntryId(text.lower().replace(" ", "-")), text, negative=negative)


class Asked:
    """Cosines that remember who was asked about."""

    def __init__(self, cosine: float) -> None:
        self.cosine = cosine
        self.entries: list[list[str]] = []

    def __call__(self, entries: Sequence[Entry]) -> Mapping[EntryId, float]:
        self.entries.append([one.text for one in entries])
        return {one.id: self.cosine for one in entries}


RELEASE = entry("The release script of the server requires a clean Git worktree.")
RELEASE_AGAIN = "The release script of the server only works in a clean git tree."


def test_nothing_is_found_beside_other_facts() -> None:
    assert beside("Use ruff.", [entry("Deploys run on Mondays."), entry("The queue is Kafka.")]) == Beside()


def test_every_contradicted_entry_is_named_with_both_clauses() -> None:
    first, second = entry("Push to main directly."), entry("Agents may push to main.")

    found = beside("Never push to main.", [first, entry("Use tabs."), second])

    assert found == Beside(
        (
            Contradicted(first, Clash("Never push to main", "Push to main directly")),
            Contradicted(second, Clash("Never push to main", "Agents may push to main")),
        )
    )


def test_what_contradicts_one_entry_repeats_no_other() -> None:
    found = beside("Never push to main.", [entry("Never push to main"), entry("Always push to main.")])

    assert [one.entry.text for one in found.contradicted] == ["Always push to main."]
    assert found.repeats is None


def test_opposite_texts_are_never_merged_whatever_their_cosine() -> None:
    asked = Asked(1.0)

    found = beside("Never deploy on Fridays.", [entry("Always deploy on Fridays.")], cosines=asked)

    assert (found.repeats, asked.entries) == (None, [])


def test_the_exact_repetition_wins_over_a_nearer_one() -> None:
    exact = entry("never commit generated files")

    found = beside("Never commit generated files.", [entry("Generated files must not be committed."), exact])

    assert found == Beside((), Repeats(exact, "exact", 1.0))


def test_other_words_repeat_without_a_model() -> None:
    old = entry("Generated files must not be committed.")

    found = beside("Never commit generated files.", [old]).repeats

    assert found is not None
    assert (found.entry, found.how) == (old, "words")


def test_a_model_is_asked_once_and_only_where_words_leave_it_open() -> None:
    asked = Asked(0.96)

    found = beside(RELEASE_AGAIN, [entry("The release runs on Mondays."), RELEASE, entry("Use tabs.")], cosines=asked)

    assert asked.entries == [[RELEASE.text]]
    assert found == Beside((), Repeats(RELEASE, "meaning", 0.96))


def test_no_model_is_asked_where_words_say_it_all() -> None:
    asked = Asked(1.0)

    beside("Use pnpm.", [entry("use pnpm"), RELEASE], cosines=asked)
    beside("Tests run with pytest.", [entry("Tests run with nose.")], cosines=asked)

    assert asked.entries == []


def test_a_model_that_answers_nothing_changes_nothing() -> None:
    silent = beside(RELEASE_AGAIN, [RELEASE], cosines=lambda _: {})

    assert silent == beside(RELEASE_AGAIN, [RELEASE])
    assert silent.repeats is None


def test_at_most_three_entries_may_be_replaced_the_nearest_first() -> None:
    far = [entry(f"Tests run with {name}.") for name in ("nose", "unittest", "tox")]
    near = entry("Tests run with pytest and xdist.")

    found = beside("Tests run with pytest.", [*far, near])

    assert found.repeats is None
    assert found.may_replace == (near, *far[:2])


def test_negative_entries_mean_do_not() -> None:
    avoided = entry("Pushing directly to main", negative=True)

    assert beside("Push directly to main.", [avoided]).contradicted
    assert beside("Push directly to main.", [avoided], negative=True).repeats is not None
