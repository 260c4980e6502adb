"""The one chain of guards that every writer passes, and the second look at what is read.

Form, length, secrets and text that commands the model are refused for everybody. Text that will be stale soon and
facts that a checked-in document states are refused only for automatic writers; somebody who writes directly is warned.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from noforgetti.policy import secrecy, wording
from noforgetti.policy import text as forms
from noforgetti.policy.verdict import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from noforgetti.policy.documented import Document

_JUDGED = 16_384  # verdicts kept: more than the 10,000 entries that a memory is measured with


def check(text: str, *, limit: int, automatic: bool, documents: Iterable[Document] = ()) -> str | Refusal:
    """The normalised text, at most `limit` code points long, or the first refusal. Never raises for any string."""
    form = forms.form(text)
    if isinstance(form, Refusal):
        return form
    refusal = forms.too_long(form, limit) or _spoken(form)
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


@lru_cache(maxsize=_JUDGED)
def _spoken(text: str) -> Refusal | None:
    """What a text says that nobody may write or read; kept, because what is written is shown at once."""
    return secrecy.refuse(text) or wording.injection(text)


def warnings(text: str, documents: Iterable[Document] = ()) -> tuple[str, ...]:
    """One sentence for each reason for which an automatic writer would have been refused."""
    from noforgetti.policy.documented import documented
    from noforgetti.policy.transience import transient

    refusals = (transient(text), documented(text, documents))
    return tuple(refusal.message.replace("; nothing was written", "") for refusal in refusals if refusal)
