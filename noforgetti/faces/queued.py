"""What waits, in words for people."""

from __future__ import annotations

from typing import Any

from noforgetti.faces import text

Document = dict[str, Any]


def candidates(doc: Document, style: text.Style = text.PLAIN) -> str:
    """The queue of a branch: two lines for each."""
    lines = [text.clean(doc["reason"])] if doc["reason"] else []
    for one in doc["candidates"]:
        about = f" about `{one['entry']}`" if one["entry"] else ""
        lines.append(f"{one['id']}  {one['kind']}{about}: {text.clean(one['text']) or '(hidden)'}")
        told = "; ".join(part for part in (one["reason"], _from(one)) if part)
        lines += [style.dim(f"         {text.clean(told)}")] if told else []
    if not doc["candidates"] and not lines:
        return f"Nothing waits on branch `{doc['branch']}`."
    return "\n".join(lines)


def _from(one: Document) -> str:
    where = f"session {one['session']}" if one["session"] else ""
    return f"{where}, {one['at'][:10]}" if where and one["at"] else where or one["at"][:10]


def accepted(doc: Document, style: text.Style = text.PLAIN) -> str:
    """What became of an accepted candidate."""
    own = doc["candidate"]["id"]
    if doc["outcome"] == "seen":
        return f"Took `{own}` off the queue; it asked for a look only."
    if doc["commit"] and doc["operations"]:
        lines = [f"Committed the held review `{own}`: {doc['commit'][:12]}."]
        return "\n".join([*lines, *(f"  {line}" for one in doc["operations"] for line in text.operation(one, style))])
    return text.written(doc, style) if doc.get("entry") else f"Nothing of `{own}` had to be written."


def discarded(doc: Document, _: text.Style = text.PLAIN) -> str:
    """Which candidates were dropped."""
    listed = ", ".join(f"`{one['id']}`" for one in doc["discarded"])
    return f"Dropped {listed}."


def queue(doc: Document, _: text.Style = text.PLAIN) -> str:
    """What is due, and what waits."""
    lines = []
    for one in doc["sessions"]:
        count = text.counted(one["prompts"], "message", "messages")
        lines.append(f"Session {text.clean(one['session'])} on `{one['branch']}`: {count} since {one['since']}")
    for one in doc["branches"]:
        review, dream = one["review"], one["dream"]
        told = [f"review {review['state']}{_until(review)}"]
        told.append("dream due" if dream["due"] else f"dream {dream['next'] or 'not needed'}")
        told += [text.counted(one[name], name[:-1], name) for name in ("candidates", "promotions") if one[name]]
        lines.append(f"Branch `{one['branch']}`: {', '.join(told)}")
    return "\n".join(lines if doc["sessions"] else ["No session waits for a review.", *lines])


def _until(review: Document) -> str:
    return f" until {review['next_attempt']}" if "next_attempt" in review else ""


def work(doc: Document, _: text.Style = text.PLAIN) -> str:
    """What a worker did."""
    if doc["outcome"] == "running":
        return "A worker of this project is running already."
    return "\n".join(line(one) for one in doc["work"]) or "Nothing is due."


def line(one: Document) -> str:
    """One thing that a worker did."""
    what = f"{one['what']} of session {one['session']}" if one["session"] else one["what"]
    told = f": {text.clean(one['reason'])}" if one["reason"] else ""
    commit = f" ({one['commit'][:12]})" if one["commit"] else ""
    return f"{what} on `{one['branch']}`: {one['outcome']}{commit}{told}"
