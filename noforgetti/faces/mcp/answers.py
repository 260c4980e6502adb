"""What tools answer, as values with a schema: the keys of the command line's `--json` documents.

A key that a document holds as null is left out here, and every key but the branch may be missing: so one shape holds
for what was done, what was refused and what failed, and no schema says `anyOf … null`, which strict modes dislike.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Document = dict[str, Any]
Importance = Annotated[str, Field(description="high, normal or low: the cost of forgetting it")]
Commit = Annotated[str, Field(description="commit id, 40 hexadecimal digits")]


class Shape(BaseModel):
    """A document's shape; keys it does not name are left out."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class Answer(Shape):
    """What every answer may say."""

    branch: str = Field(description="the memory branch it is about")
    outcome: str = Field("", description="what became of it; `refused` and `failed` changed nothing")
    reason: str = Field("", description="why it was refused, halted or failed")
    hint: str = Field("", description="what would help")
    rule: str = Field("", description="the rule that refused it")
    code: str = Field("", description="what failed, for programs")
    notices: list[str] = Field([], description="what the user should know besides")


class Entry(Shape):
    """One entry."""

    id: str
    category: str = ""
    text: str
    importance: Importance = "normal"
    assessed: bool = False
    pinned: bool = False
    enforced: bool = False
    archived: bool = False
    key: str = ""
    created: str = ""
    writer: str = ""
    session: str = ""
    tags: list[str] = []
    negative: bool = False
    scope: str = "project"
    task: str = ""
    expires: str = ""
    hidden: str = Field("", description="the rule that hides the text")


class Named(Shape):
    """An entry as others mention it."""

    id: str
    text: str = ""
    pinned: bool = False


class Damaged(Shape):
    """A file that cannot be read as an entry."""

    path: str
    reason: str


class Operation(Shape):
    """What happened to one entry."""

    operation: str = Field(description="add, replace, remove, assess or change")
    id: str
    text: str = ""
    before: str = ""
    importance: Importance = "normal"


class Listed(Answer):
    """The entries of a branch."""

    head: Commit = ""
    characters: int = 0
    limit: int = Field(0, description="the most characters the branch may hold")
    entries: list[Entry] = []
    user: list[Entry] = Field([], description="what holds for the user in every project")
    scoped: list[Entry] = Field([], description="what holds for this session or a task only")
    damaged: list[Damaged] = []


class Written(Answer):
    """What became of a write."""

    commit: Commit = ""
    entry: Entry | None = None
    scope: str = ""
    evidence: int = 0
    warnings: list[str] = []
    conflicts: list[Named] = Field([], description="entries that the text contradicts; only the user may override")
    superseded: list[Named] = []
    similar: list[Named] = []


class Hit(Entry):
    """An entry that was found."""

    score: float = 0.0
    why: str = ""
    similarity: float = 0.0


class Search(Shape):
    """How the search works now."""

    mode: str = Field(description="hybrid (words and meaning) or keyword")
    model: str = ""
    reason: str = ""
    hint: str = ""


class Found(Answer):
    """Entries that fit, best first."""

    query: str = ""
    hits: list[Hit] = []
    search: Search | None = None


class PastSession(Shape):
    """An earlier session, and its pieces that fit best."""

    id: str
    name: str = ""
    time: str = ""
    text: str = ""
    score: float = 0.0
    why: str = ""
    file: str = ""


class FoundSessions(Answer):
    """Past sessions that fit, best first."""

    query: str = ""
    hits: list[PastSession] = []
    search: Search | None = None
    notes: list[str] = []


class Conflicting(Shape):
    """An entry that stops an undo, and the later commit that changed it."""

    id: str
    commit: Commit = ""


class Undone(Answer):
    """What became of an undo."""

    undoes: Commit = ""
    subject: str = ""
    commit: Commit = ""
    dry_run: bool = False
    entries: list[str] = []
    already: list[str] = []
    conflicts: list[Conflicting] = []
    operations: list[Operation] = []


class Branch(Shape):
    """A memory branch; without `entries` it cannot be read."""

    name: str
    head: Commit = ""
    entries: int = 0
    current: bool = Field(False, description="whether this connection uses it")


class Branches(Answer):
    """All memory branches."""

    branches: list[Branch] = []


class Forked(Answer):
    """A new branch."""

    source: str = Field("", alias="from")
    head: Commit = ""
    entries: int = 0


class Selected(Answer):
    """The branch that this connection uses from now on."""

    head: Commit = ""


class Logged(Shape):
    """One commit in the terms of entries."""

    commit: Commit
    kind: str = ""
    time: str = ""
    author: str = ""
    subject: str = ""
    operations: list[Operation] = []
    trailers: dict[str, str] = {}
    parents: list[str] = []


class Log(Answer):
    """Commits, newest first."""

    commits: list[Logged] = []


class LeftOut(Shape):
    """What a review proposed and may not do."""

    action: str = ""
    rule: str = ""
    reason: str = ""


class Reviewed(Answer):
    """What a review did."""

    transcript: str = ""
    reviewer: str = ""
    commit: Commit = ""
    commits: list[str] = []
    windows: int = 0
    operations: list[Operation] = []
    refused: list[LeftOut] = []


class Placed(Shape):
    """An entry of the report: told or not, and why."""

    id: str
    section: str = ""
    told: bool = False
    why: str = ""


class Reported(Answer):
    """What an agent is told at the start of a turn."""

    head: Commit = ""
    prompt: str = ""
    tokens: int = 0
    budget: int = 0
    report: str = ""
    entries: list[Placed] = []
    memories: list[Hit] = []
    sessions: list[PastSession] = []


def schema(model: type[Answer]) -> dict[str, Any]:
    """The JSON Schema of an answer."""
    made = model.model_json_schema(mode="serialization", by_alias=True)
    _plain(made)
    return made


def structured(model: type[Answer], doc: Document) -> dict[str, Any]:
    """The document in the shape of its schema: what is null is left out, and deeper than the first level also what is
    empty or false. Some hosts give a model these bytes instead of the text."""
    there = {key: _present(value) for key, value in doc.items() if value is not None}
    return model.model_validate(there).model_dump(mode="json", by_alias=True, exclude_unset=True)


def _present(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _present(one) for key, one in value.items() if one not in (None, "", [], False)}
    return [_present(one) for one in value] if isinstance(value, list | tuple) else value


def _plain(part: Any) -> None:
    """Take out of a schema what only fills it: titles, and the null of a key that may be left out."""
    if isinstance(part, list):
        for one in part:
            _plain(one)
    if not isinstance(part, dict):
        return
    if isinstance(part.get("title"), str):
        del part["title"]
    choices = part.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices and len(choices) == 2:
        part.pop("anyOf")
        part.update(next(one for one in choices if one != {"type": "null"}))
        part.pop("default", None)
    for one in part.values():
        _plain(one)
