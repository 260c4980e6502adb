"""What a reviewer may answer: at most four operations, each citing the evidence it rests on.

The models below are the strict schema: nothing is coerced, unknown keys are errors, and `schema()` is what
the reviewer is shown. `parse` accepts exactly one JSON object, bare, fenced, or with words around it; two
objects are an answer nobody can trust. Whether ids and labels exist, and whether a text may be kept, is for
`admission`.

Importing this module imports pydantic (38 ms); callers import it when a review runs.
"""

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from noforgetti.model.entry import Category, Importance

OPERATIONS = 4  # upstream's bound, kept: one review is one small, undoable step
MERGED = (2, 8)  # ids in one merge
ANSWER = 65_536  # characters of an answer that are looked at; four operations need under 10,000
_STARTS = 64  # places where an object may begin; more is an answer made to waste time

_Id = Annotated[str, Field(min_length=1, max_length=128)]
_Label = Annotated[str, Field(pattern=r"^e[1-9][0-9]{0,5}$")]
_Evidence = Annotated[
    tuple[_Label, ...],
    Field(min_length=1, max_length=32, description="labels of the evidence this rests on, such as e1"),
]
_Content = Annotated[
    str, Field(min_length=1, validation_alias=AliasChoices("content", "text"), description="one durable fact")
]
_OneId = Annotated[_Id, Field(validation_alias=AliasChoices("entryId", "entry_id", "id"))]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    evidence: _Evidence


class AddFact(_Strict):
    """A new entry. A `key` that is there already rewords its entry."""

    action: Literal["add"]
    content: _Content
    importance: Importance
    category: Category = Category.LESSON
    key: Annotated[
        str | None,
        Field(max_length=200, description="only for a fact with one value: pref.*, project.*, tool.* or user.*"),
    ] = None
    confidence: Annotated[
        float | None, Field(ge=0, le=1, description="how sure the evidence makes it; below 0.8 it is not kept")
    ] = None
    negative: Annotated[bool, Field(description="true when content names what must NOT be done")] = False
    tags: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=40)], ...], Field(max_length=8)] = ()


class ReplaceFact(_Strict):
    """Reword one entry, which keeps its id."""

    action: Literal["replace"]
    entry_id: _OneId
    content: _Content
    importance: Importance | None = None


class RemoveFact(_Strict):
    """Take one entry out: contradicted, superseded, or not worth its room."""

    action: Literal["remove"]
    entry_id: _OneId


class MergeFacts(_Strict):
    """Consolidate entries without loss; the first id keeps its identity."""

    action: Literal["merge", "consolidate"]
    entry_ids: Annotated[
        tuple[_Id, ...],
        Field(
            min_length=MERGED[0],
            max_length=MERGED[1],
            validation_alias=AliasChoices("entryIds", "entry_ids", "ids"),
        ),
    ]
    content: _Content
    importance: Importance | None = None

    @model_validator(mode="after")
    def _distinct(self) -> "MergeFacts":
        if len(set(self.entry_ids)) != len(self.entry_ids):
            raise ValueError("entryIds must be distinct")
        return self


class AssessFact(_Strict):
    """Judge the importance of one entry."""

    action: Literal["assess"]
    entry_id: _OneId
    importance: Importance


Fact = AddFact | ReplaceFact | RemoveFact | MergeFacts | AssessFact


class Proposal(BaseModel):
    """A reviewer's answer. No operations: nothing durable was said."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    operations: Annotated[tuple[Annotated[Fact, Field(discriminator="action")], ...], Field(max_length=OPERATIONS)]


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """An answer that is no proposal. `reason` says where and why in words fit for the reviewer; it quotes
    nothing."""

    reason: str


def schema() -> dict[str, Any]:
    """The JSON Schema of a proposal, in the names a reviewer should use."""
    return Proposal.model_json_schema()


def parse(answer: str) -> Proposal | ParseFailure:
    """The proposal in an answer: exactly one JSON object, whatever words or fences stand around it."""
    return read(answer, Proposal)


Answer = TypeVar("Answer", bound=BaseModel)


def read(answer: str, shape: type[Answer]) -> Answer | ParseFailure:
    """The one JSON object of an answer, as a value of a strict model."""
    if len(answer) > ANSWER:
        return ParseFailure(f"the answer is longer than {ANSWER:,} characters")
    found = _objects(answer)
    if len(found) != 1:
        what = "no JSON object" if not found else "more than one JSON object"
        return ParseFailure(f"the answer holds {what}; exactly one is wanted")
    try:
        return shape.model_validate_json(found[0])
    except ValidationError as trouble:
        return ParseFailure(_first(trouble))


def _objects(answer: str) -> list[str]:
    """The outermost JSON objects of a text. Stops after the second: that is one too many already."""
    decoder = json.JSONDecoder()
    found: list[str] = []
    at = answer.find("{")
    for _ in range(_STARTS):
        if at < 0 or len(found) == 2:
            return found
        try:
            _, end = decoder.raw_decode(answer, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found.append(answer[at:end])
        at = answer.find("{", end)
    return found if at < 0 else []


def _first(trouble: ValidationError) -> str:
    error = trouble.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in error["loc"]) or "the answer"
    return f"{where}: {error['msg']}"[:300]
