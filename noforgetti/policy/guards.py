"""The one chain of guards that every writer passes, and the second look at what is read.

Form, length, secrets and text that commands the model are refused for everybody, and so are permission for once and
instructions for one task, unless the entry ends with its session or task. Text that will be stale soon and facts that a
checked-in document states are refused only for automatic writers; somebody who writes directly is warned.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from noforgetti.model.entry import Scope
from noforgetti.policy import secrecy, wording
from noforgetti.policy import text as forms
from noforgetti.policy.verdict import Refusal, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.policy.documented import Document

LABEL = 300  # characters of the words beside a text: room for a name, not for a statement
_JUDGED = 16_384  # verdicts kept: more than the 10,000 entries that a memory is measured with


def check(
    text: str,
    *,
    limit: int,
    automatic: bool,
    documents: Iterable[Document] = (),
    scope: Scope = Scope.PROJECT,
) -> str | Refusal:
    """The normalised text, at most `limit` code points long, or the first refusal. Never raises for any string."""
    form = forms.form(text)
    if isinstance(form, Refusal):
        return form
    refusal = forms.too_long(form, limit) or _spoken(form) or _passing(form, scope)
    if refusal is None and automatic:
        from noforgetti.policy.documented import documented
        from noforgetti.policy.transience import transient

        refusal = transient(form) or documented(form, documents)
    return refusal or form


@lru_cache(maxsize=_JUDGED)
def unsafe(text: str) -> Refusal | None:
    """Why a stored text must not be shown to a model: somebody may have edited the store by hand. None: it may.

    Verdicts are kept: every view judges every entry, and between two views hardly any of them changed.
    """
    return forms.invisible(text) or forms.fence(text) or _spoken(text)


def label(what: str, words: str) -> Refusal | None:
    """Why words that stand beside a text (the name of a task, a tag) may not be kept, or None: views show them."""
    words = forms.normalise(words)
    if len(words) > LABEL:
        reason = f"The {what} has {len(words):,} characters, more than {LABEL}; nothing was written."
        return Refusal(Rule.TOO_LONG, reason, "Say it shorter.")
    found = unsafe(words) if words else None
    return found and replace(found, message=found.message.replace("The text", f"The {what}", 1))


@lru_cache(maxsize=_JUDGED)
def _spoken(text: str) -> Refusal | None:
    """What a text says that nobody may write or read; kept, because what is written is shown at once."""
    return secrecy.refuse(text) or wording.injection(text)


def _passing(text: str, scope: Scope) -> Refusal | None:
    """What belongs to one session or task, unless the entry ends with it. In this order: grant, then task scope."""
    if scope is Scope.SESSION:
        return None
    from noforgetti.policy.grants import grant
    from noforgetti.policy.task_scope import task_scope

    return grant(text) or (task_scope(text) if scope.lasting else None)


def warnings(text: str, documents: Iterable[Document] = ()) -> tuple[str, ...]:
    """One sentence for each reason for which an automatic writer would have been refused."""
    from noforgetti.policy.documented import documented
    from noforgetti.policy.transience import transient

    refusals = (transient(text), documented(text, documents))
    return tuple(refusal.message.replace("; nothing was written", "") for refusal in refusals if refusal)
