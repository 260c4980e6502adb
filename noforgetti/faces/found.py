"""What was found, as text for people and agents. Imports nothing that start-up would feel; decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noforgetti.faces.text import PLAIN, clean, counted

if TYPE_CHECKING:
    from noforgetti.faces.text import Document, Style

_PIECE = 400  # code points of a past session's piece in a list


def hits(doc: Document, style: Style = PLAIN) -> str:
    """Entries that were found, best first."""
    lines = []
    for one in doc["hits"]:
        marks = [mark for mark in ("pinned", "archived") if one.get(mark)]
        tail = "; ".join([one["id"], one["why"], *marks])
        body = clean(one["text"]).replace("\n", "\n  ")
        lines.append(f"- [{one['category']}] {body} {style.dim(f'({tail})')}")
    if not lines:
        lines.append(f"Nothing on branch `{doc['branch']}` fits `{clean(doc['query'])[:80]}`.")
    return "\n".join(lines + _degraded(doc, style))


def sessions(doc: Document, style: Style = PLAIN) -> str:
    """Past sessions that were found, best first."""
    lines = []
    for one in doc["hits"]:
        name = f" “{clean(one['name'])}”" if one["name"] else ""
        lines.append(f"{style.bold(one['time'][:10] or 'undated')}{name} {style.dim('(' + one['why'] + ')')}")
        body = clean(one["text"])
        body = body if len(body) <= _PIECE else body[:_PIECE].rstrip() + "…"
        lines += ["  " + line for line in body.splitlines() if line.strip()]
        if one["file"]:
            lines.append(style.dim(f"  {clean(one['file'])}"))
    if not lines:
        lines.append(f"No past session of this project fits `{clean(doc['query'])[:80]}`.")
    lines += [style("33", clean(note)) for note in doc["notes"]]
    return "\n".join(lines + _degraded(doc, style))


def lessons(doc: Document, style: Style = PLAIN) -> str:
    """Lessons, newest first: what to do, or with a minus what to avoid."""
    from noforgetti.policy import guards

    lines = []
    for one in doc["lessons"]:
        sign = style("31", "-") if one["negative"] or one["category"] == "mistake" else style("32", "+")
        listed = ", ".join(one["tags"])  # made by hand, they may hold what no entry may
        tags = f" [{listed}]" if listed and not guards.unsafe(listed) else ""
        body = clean(one["text"]).replace("\n", "\n  ")
        lines.append(f"{sign}{tags} {body} {style.dim('(' + one['id'] + ')')}")
    if doc["more"]:
        lines.append(f"and {doc['more']} older ones")
    return "\n".join(lines) or f"No lessons on branch `{doc['branch']}`."


def stats(doc: Document, style: Style = PLAIN) -> str:
    """How much there is, and how the search is doing."""
    index, embedding = doc["index"], doc["embedding"]
    parts = ", ".join(f"{count} {name}" for name, count in doc["categories"].items())
    rows = [
        ("entries", f"{doc['entries']:,}" + (f" ({parts})" if parts else "")),
        ("archived", f"{doc['archived']:,}"),
        ("characters", f"{doc['characters']:,} of {doc['hard']:,}"),
        ("repository", doc["repository"]),
        ("past", f"{counted(index['sessions'], 'session', 'sessions')}, {index['passages']:,} passages"),
        ("search", search_line(doc["search"])),
        (
            "embedded",
            f"{embedding['entries']:,} of {index['entries']:,} entries, {embedding['passages']:,} passages",
        ),
    ]
    rows += [("trouble", one) for one in (index["reason"], embedding["trouble"]) if one]
    return "\n".join(f"{style.bold(name.ljust(12))} {clean(str(value))}" for name, value in rows)


def search_line(search: Document) -> str:
    """How the search works now, in one line."""
    if search["mode"] == "hybrid":
        return f"hybrid (words and meaning, {search['model']})"
    reason, hint = search["reason"], search["hint"]
    if not reason:
        return f"words alone ({hint})" if hint else "words alone"
    return f"words alone: {reason} Fix: {hint}." if hint else f"words alone: {reason}"


def _degraded(doc: Document, style: Style) -> list[str]:
    """One visible line when the search should go by meaning and cannot."""
    search = doc["search"]
    if search["mode"] == "hybrid" or not search["reason"]:
        return []
    return [style("33", f"Searched by {search_line(search)}")]


def report(doc: Document, style: Style = PLAIN) -> str:
    """What a turn would be given, exactly; above it in which place each part stands."""
    inject = doc["inject"]
    places = (
        ("section", "section `project_memory` of the system prompt"),
        ("system_prompt", "appended to the system prompt"),
        ("ephemeral", "a message before the prompt, not stored"),
        ("message", "one stored message at the start of the session"),
    )
    blocks = [f"{style.dim(f'({told})')}\n{clean(inject[key])}" for key, told in places if inject.get(key)]
    if not blocks:
        blocks.append(f"Nothing is told of branch `{doc['branch']}`.")
    return "\n\n".join(blocks + _degraded(doc, style))


def why(doc: Document, style: Style = PLAIN) -> str:
    """For each entry why it is in or out, then what fits the prompt and by what."""
    idle = ", trivial: nothing is searched" if doc["trivial"] and doc["prompt"] else ""
    lines = [f"class {doc['class']}{idle}; {doc['tokens']:,} of {doc['budget']:,} tokens"]
    for one in doc["entries"]:
        sign = style("32", "+") if one["told"] else style("31", "-")
        section = f"{style.dim(one['section'])} " if one["section"] else ""
        lines.append(f"{sign} {one['id']} {section}{one['why']}")
    for head, found in (("fits the prompt", doc["memories"]), ("past session", doc["sessions"])):
        lines += [f"{style.bold(head)} {one['id']} {one['score']:.2f} ({one['why']})" for one in found]
    lines += [f"{style('33', 'left out')} {one}: not ready in time" for one in doc["left_out"]]
    return "\n".join(lines + _degraded(doc, style))


def archived(doc: Document, style: Style = PLAIN) -> str:
    """What was set aside or brought back."""
    if doc["outcome"] == "nothing":
        return f"Nothing to do on branch `{doc['branch']}`."
    verb = "Archived" if doc["outcome"] == "archived" else "Brought back"
    count = counted(len(doc["entries"]), "entry", "entries")
    back = f" `noforgetti undo {doc['commit'][:12]}` takes it back." if doc["outcome"] == "archived" else ""
    listed = (style.dim(f"  {one}") for one in doc["entries"])
    return "\n".join([f"{verb} {count}, commit {doc['commit'][:12]}.{back}", *listed])
