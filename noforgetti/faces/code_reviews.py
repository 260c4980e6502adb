"""Guidelines and comments on pull requests as text for people and agents. Decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.faces.text import PLAIN, clean

if TYPE_CHECKING:
    from noforgetti.faces.text import Document, Style


def guidelines(doc: Document, style: Style = PLAIN) -> str:
    """One bullet a guideline, as reviewers read them."""
    lines = [f"- {clean(one)}" for one in doc["guidelines"]]
    if not lines:
        lines = [f"No review guidelines on branch `{doc['branch']}`."]
    return "\n".join([*lines, *(style("33", f"One is not shown: {clean(one)}") for one in doc["hidden"])])


def guideline_changed(doc: Document, style: Style = PLAIN) -> str:
    """The outcome of learning or taking out."""
    verb = {"added": "Learned", "removed": "Took out"}.get(doc["outcome"], "")
    lines = [f"{verb} commit {doc['commit'][:12]}"] if verb else []
    lines += [f"  {'-' if doc['outcome'] == 'removed' else '+'} {clean(one)}" for one in doc["guidelines"]]
    return "\n".join([*lines, *(style.dim(f"Known already: {clean(one)}") for one in doc["known"])])
