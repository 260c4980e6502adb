"""What the user should confirm before it is done, where the client can ask. Elsewhere the host's own approval of a tool
that is marked destructive is the dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.faces.text import clip
from noforgetti.model.entry import MAIN, Stored
from noforgetti.policy import addressing, guards

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp_types import CallToolRequestParams

    from noforgetti.faces.mcp.connection import Work
    from noforgetti.faces.mcp.parameters import Arguments

_KEY = "confirm"
MODERN = "2026-07-28"  # from this revision on a call answers what it needs to know, and the client calls again
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {_KEY: {"type": "boolean", "title": "Do it", "description": "Without it nothing is changed."}},
    "required": [_KEY],
}


class Unconfirmed(NoForgettiError):
    """The user was asked and did not say yes."""

    kind = Kind.USER
    reason = "unconfirmed"

    def __init__(self) -> None:
        super().__init__(
            "The user did not confirm it. Nothing was changed.", hint="do not try again unless the user asks for it"
        )


def removal(work: Work, arguments: Arguments) -> str:
    """Whether a pinned entry may be taken out."""
    for memory, branch in ((work.memory, work.branch), (work.memory.wide, MAIN)):
        meant = addressing.find(memory.snapshot(branch), arguments.text("old"))
        if isinstance(meant, Stored):
            entry = meant.entry
            told = "its text is hidden" if guards.unsafe(entry.text) else clip(entry.text, 200)
            return f"Remove the pinned entry `{entry.id}` from the memory? It says: {told}" if entry.pinned else ""
    return ""


def undoing(work: Work, arguments: Arguments) -> str:
    """Whether a change may be taken back that others were made after."""
    from noforgetti.service.history import resolve
    from noforgetti.service.undo import undo

    if arguments.flag("dry_run"):
        return ""
    revision, memory = arguments.text("revision"), work.memory
    target = resolve(memory, work.branch, revision) if revision else None
    planned = undo(memory, work.branch, target, dry_run=True)
    if planned.outcome != "undone" or planned.target is None or planned.target.id == memory.head(work.branch):
        return ""
    subject = "" if guards.unsafe(planned.target.subject) else f" ({clip(planned.target.subject, 120)})"
    return (
        f"Take back {planned.target.id[:12]}{subject} on memory branch `{work.branch}`? It is not the newest change; "
        "later changes of other entries stay."
    )


def can_ask(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client shows forms to its user. `elicitation: {}`, the older spelling, means that it does."""
    capabilities = ctx.session.client_capabilities
    offered = capabilities.elicitation if capabilities else None
    return offered is not None and (offered.form is not None or offered.url is None)


async def confirm(
    ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams, question: str
) -> InputRequiredResult | None:
    """Ask the user. None: they said yes. A result: the client has to ask and to call again. Raises `Unconfirmed`."""
    if is_version_at_least(ctx.protocol_version, MODERN):
        answer = (params.input_responses or {}).get(_KEY)
        if answer is None or params.request_state != question:  # an answer counts for the question it was given to
            asked = ElicitRequest(params=ElicitRequestFormParams(message=question, requested_schema=_FORM))
            return InputRequiredResult(input_requests={_KEY: asked}, request_state=question)
    else:
        answer = await ctx.session.elicit_form(question, _FORM, related_request_id=ctx.request_id)
    if (
        not isinstance(answer, ElicitResult)
        or answer.action != "accept"
        or (answer.content or {}).get(_KEY) is not True
    ):
        raise Unconfirmed
    return None
