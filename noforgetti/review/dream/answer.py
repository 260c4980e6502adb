"""What a reviewer may answer when it consolidates: operations on the whole memory, a verdict for each candidate, and
entries that should become something stronger.

The operations are those of a review, resting on ids of entries and candidates where a review's rest on labels of
evidence. Importing this module imports pydantic; callers import it when a dream runs.
"""

from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from noforgetti.model.entry import Category, Importance
from noforgetti.review.proposal import AddFact, AssessFact, MergeFacts, ParseFailure, RemoveFact, ReplaceFact, read

OPERATIONS = 64  # one for each entry of a memory of 60 and a few: the whole of a full memory in one step
_FLAGS = 16

_Id = Annotated[str, Field(min_length=1, max_length=128)]
_Cited = Annotated[tuple[_Id, ...], Field(max_length=32, description="ids of the entries or candidates it rests on")]
_Founded = Annotated[_Cited, Field(min_length=1)]
_Key = Annotated[str | None, Field(max_length=200, description="only for a fact with one value: pref.*, project.*, …")]
_Tags = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=40)], ...], Field(max_length=8)]
_Informs = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=120)], ...],
    Field(max_length=8, description="names of what rests on the fact: files, decisions, skills"),
]


class Addition(AddFact):
    """A fact that stood inside another entry and deserves one of its own."""

    evidence: _Founded


class Rewording(ReplaceFact):
    """Say one entry better, without loss; it keeps its id."""

    evidence: _Cited = ()


class Removal(RemoveFact):
    """Take one entry out because another one, or a candidate, takes its place: cite it."""

    evidence: _Cited = ()


class Merging(MergeFacts):
    """Consolidate entries without loss; the first id keeps its identity."""

    evidence: _Cited = ()


class Assessment(AssessFact):
    """Judge the importance of one entry."""

    evidence: _Cited = ()


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Archiving(_Strict):
    """Set one stale entry aside: kept, neither told nor counted."""

    action: Literal["archive"]
    entry_id: Annotated[_Id, Field(validation_alias=AliasChoices("entryId", "entry_id", "id"))]
    evidence: _Cited = ()


class Distil(_Strict):
    """A candidate becomes an entry: one clean line, or the new text of the entry that it `replaces`."""

    action: Literal["distil"]
    candidate: _Id
    content: Annotated[
        str, Field(min_length=1, validation_alias=AliasChoices("content", "text"), description="one durable fact")
    ]
    importance: Importance = Importance.NORMAL
    category: Category = Category.PREFERENCE
    replaces: Annotated[_Id | None, Field(description="the id of the entry whose place it takes")] = None
    key: _Key = None
    confidence: Annotated[float | None, Field(ge=0, le=1)] = None
    negative: bool = False
    tags: _Tags = ()
    informs: _Informs = ()


class Discard(_Strict):
    """A candidate is not worth an entry."""

    action: Literal["discard"]
    candidate: _Id
    reason: Annotated[str, Field(min_length=1, max_length=300)]


class Flag(_Strict):
    """An entry that should become something stronger. Only proposed."""

    entry_id: Annotated[_Id, Field(validation_alias=AliasChoices("entryId", "entry_id", "id"))]
    destination: Literal["skill", "enforcement", "project_rule"]
    reason: Annotated[str, Field(max_length=300)] = ""


Step = Addition | Rewording | Removal | Merging | Assessment | Archiving
Decision = Distil | Discard


class Consolidation(_Strict):
    """A reviewer's answer. Nothing in it: the memory is in order."""

    operations: Annotated[tuple[Annotated[Step, Field(discriminator="action")], ...], Field(max_length=OPERATIONS)] = ()
    candidates: Annotated[
        tuple[Annotated[Decision, Field(discriminator="action")], ...], Field(max_length=OPERATIONS)
    ] = ()
    flags: Annotated[tuple[Flag, ...], Field(max_length=_FLAGS)] = ()


def parse(answer: str) -> Consolidation | ParseFailure:
    """The consolidation in an answer: exactly one JSON object, whatever words or fences stand around it."""
    return read(answer, Consolidation)
