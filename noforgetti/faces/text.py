"""Documents as text for people. Imports nothing that start-up would feel; decides nothing."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]

_PLURALS = {
    "preference": "Preferences",
    "lesson": "Lessons",
    "pattern": "Patterns",
    "decision": "Decisions",
    "done": "Completions",
    "mistake": "Mistakes",
}
_SIGNS = {"add": "+", "remove": "-", "replace": "~", "assess": "◆", "change": "~"}
_COLOURS = {"+": "32", "-": "31", "~": "33", "◆": "36"}
_CARD_WIDTH = 76  # code points of one line of a review card (the reference system's clip)


class Style:
    """Colour, or none."""

    def __init__(self, *, colour: bool) -> None:
        self.colour = colour

    def __call__(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def bold(self, text: str) -> str:
        """For what a line is about."""
        return self("1", text)

    def dim(self, text: str) -> str:
        """For what one rarely needs."""
        return self("2", text)


PLAIN = Style(colour=False)


def clean(text: str) -> str:
    """The text without control characters that a terminal would obey."""
    return "".join(c if c in "\n\t" or not (ord(c) < 32 or 127 <= ord(c) < 160) else "\ufffd" for c in text)


def clip(text: str, limit: int = _CARD_WIDTH) -> str:
    """One line of at most `limit` code points."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def show(doc: Document, style: Style = PLAIN) -> str:
    """The entries of a branch, by topic."""
    lines: list[str] = []
    topic = ""
    for entry in doc["entries"]:
        if entry["category"] != topic:
            topic = entry["category"]
            lines += ["", style.bold(_PLURALS.get(topic, topic))] if lines else [style.bold(_PLURALS.get(topic, topic))]
        marks = [mark for mark in ("pinned", "enforced", "archived") if entry.get(mark)]
        importance = entry["importance"] + ("" if entry.get("assessed") else "?")
        named = [clean(one) for one in (entry.get("key"), *(f"#{tag}" for tag in entry.get("tags", ()))) if one]
        tail = ", ".join([entry["id"], importance, *marks, *named])
        body = clean(entry["text"]).replace("\n", "\n  ")
        lines.append(f"- {body} {style.dim(f'[{tail}]')}")
    if doc["damaged"]:
        lines += ["", style("31", "Cannot be read")]
        lines += [f"- {clean(one['path'])} {one['reason']}" for one in doc["damaged"]]
    if not lines:
        lines.append(f"Memory branch `{doc['branch']}` holds no entries.")
    for title, key in (("About the user, in every project", "user"), ("For a session or task", "scoped")):
        if doc.get(key):
            lines += ["", style.bold(title)]
            lines += [f"- {clean(one['text'])} {style.dim('[' + _tail(one) + ']')}" for one in doc[key]]
    return "\n".join(lines)


def _tail(one: Document) -> str:
    ends = f"until {one['expires']}" if one.get("expires") else ""
    return ", ".join(part for part in (one["id"], one.get("key"), one.get("task"), ends) if part)


def entry_list(doc: Document) -> str:
    """Numbered lines for an agent: number, importance (with `?` while nobody judged it), id, text."""
    if not doc["entries"]:
        return f"Memory branch `{doc['branch']}` holds no entries."
    lines = []
    for number, entry in enumerate(doc["entries"], 1):
        mark = "" if entry["assessed"] else "?"
        marks = "".join(f", {mark}" for mark in ("pinned", "archived") if entry.get(mark))
        body = clean(entry["text"]).replace("\n", "\n   ")  # no line of a text may pass for an entry
        lines.append(f"{number}. [{entry['importance']}{mark}{marks}] `{entry['id']}` {body}")
    return "\n".join(lines)


def status(doc: Document, style: Style = PLAIN) -> str:
    """Where the memory is, how full it is, how review is doing."""
    project, limits, review = doc["project"], doc["limits"], doc["review"]
    head = f" at {doc['head'][:12]}" if doc["head"] else ", nothing written yet"
    rows = [
        ("project", project["root"] or "none: the user-wide memory, for every project"),
        *([("key", project["key"])] if project["key"] else []),
        ("repository", project["repository"] + ("" if project["exists"] else " (made by the first write)")),
        ("branch", doc["branch"] + head),
        ("entries", f"{doc['entries']:,}" + (f" ({doc['hidden']} hidden)" if doc["hidden"] else "")),
        (
            "characters",
            f"{doc['characters']:,} of {limits['hard']:,} (goal {limits['goal']:,}, target {limits['target']:,})",
        ),
        ("review", _review_line(review)),
        ("index", _index_line(doc["index"])),
        ("embedding", " ".join(part for part in (doc["embedding"]["state"], doc["embedding"]["model"]) if part)),
    ]
    if doc.get("promotions"):
        rows.append(("promotions", f"{doc['promotions']:,} open: `noforgetti promotions`"))
    if doc.get("skills"):
        rows.append(("skills", f"{doc['skills']:,}"))
    for key in ("superproject", "worktree_of"):
        if key in project:
            rows.insert(1, (key.replace("_", " "), project[key]))
    if review.get("last"):
        last = review["last"]
        rows.append(("last review", f"{last['time']}, {last['outcome']}, by {last['reviewer']}"))
    lines = [f"{style.bold(name.ljust(12))} {clean(str(value))}" for name, value in rows]
    lines += [f"{style.bold('note'.ljust(12))} {clean(note)}" for note in doc["notes"]]
    lines += [f"{style('31', 'degraded'.ljust(12))} {clean(one)}" for one in doc["degraded"]]
    lines += [f"{style.dim('trace'.ljust(12))} {one['time']} {clean(one['text'])}" for one in doc["traces"]]
    return "\n".join(lines)


def _index_line(index: Document) -> str:
    if index["state"] != "ready":
        return f"past sessions {index['state']}"
    return f"{counted(index['sessions'], 'past session', 'past sessions')}, {index['passages']:,} passages"


def _review_line(review: Document) -> str:
    parts = [review["mode"], f"reviewer {review['reviewer']}", review["state"]]
    if "turns" in review:
        parts.append(f"{review['turns']} turns and a signal of {review['signal']} since the last")
    if review.get("next_attempt"):
        parts.append(f"waits until {review['next_attempt']} after {review['failures']} failures")
    return ", ".join(parts)


def counted(number: int, one: str, many: str) -> str:
    """`1 entry`, `2 entries`."""
    return f"{number:,} {one if number == 1 else many}"


def footer(branch: str, entries: int, characters: int, hard: int, *, promotions: int = 0) -> str:
    """The one line that a host keeps in view; `promotions` wait for the user."""
    waiting = f", {counted(promotions, 'promotion', 'promotions')} to decide" if promotions else ""
    return f"memory {branch}: {counted(entries, 'entry', 'entries')}, {characters * 100 // hard} %{waiting}"


def branches(doc: Document, style: Style = PLAIN) -> str:
    """One line a branch; `*` marks the current one."""
    width = max(len(one["name"]) for one in doc["branches"])
    lines = []
    for one in doc["branches"]:
        count = "unreadable" if one["entries"] is None else counted(one["entries"], "entry", "entries")
        head = one["head"][:12] if one["head"] else "-"
        line = f"{'*' if one['current'] else ' '} {one['name'].ljust(width)}  {head}  {count}"
        lines.append(style.bold(line) if one["current"] else line)
    return "\n".join(lines)


def operation(one: Document, style: Style = PLAIN, *, width: int = 0) -> list[str]:
    """What happened to one entry, as one or two lines; `width` clips each, 0 keeps the text whole."""
    sign = _SIGNS[one["operation"]]

    def cut(text: str) -> str:
        return clip(text, width) if width else clean(text).replace("\n", "\n  ")

    if one["operation"] == "assess":
        return [style(_COLOURS[sign], f"{sign} {one['id']} is of {one['importance']} importance now")]
    if one["operation"] == "replace":
        return [
            style(_COLOURS["-"], f"- {cut(one['before'])}"),
            style(_COLOURS["+"], f"+ {cut(one['text'])}"),
        ]
    text = one["before"] if one["operation"] == "remove" else one["text"]
    return [style(_COLOURS[sign], f"{sign} {cut(text)}")]


def _indented(doc: Document, style: Style) -> list[str]:
    """A document's operations below its first line; a further line of a text stands deeper than any operation."""
    return ["  " + line.replace("\n", "\n  ") for one in doc["operations"] for line in operation(one, style)]


def operations(doc: Document, style: Style = PLAIN) -> str:
    """A difference between two states."""
    lines = [line for one in doc["operations"] for line in operation(one, style)]
    return "\n".join(lines) if lines else "No entry differs."


def log(doc: Document, style: Style = PLAIN) -> str:
    """One block a commit, newest first."""
    if not doc["commits"]:
        return "Nothing was written yet."
    blocks = []
    for one in doc["commits"]:
        head = f"{style('33', one['commit'][:12])} {one['time']} {one['kind']} by {one['author']}"
        lines = [head, f"    {clean(one['subject'])}"]
        lines += [f"      {line}" for op in one["operations"] for line in operation(op, style, width=_CARD_WIDTH)]
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def blame(doc: Document, style: Style = PLAIN) -> str:
    """One line an entry: who gave it its present form, and when."""
    lines = [
        f"{style('33', one['commit'][:12])} {one['time']} {one['kind']:<7} {one['author']:<9} {clip(one['text'])}"
        for one in doc["blame"]
    ]
    return "\n".join(lines) if lines else "No entries."


def entry(doc: Document, style: Style = PLAIN) -> str:
    """One entry with everything that is known of it."""
    one = doc["entries"][0]
    return "\n".join([show(doc, style), *_facts(one, _ORIGIN[1:], style)])


def origin(doc: Document, style: Style = PLAIN) -> str:
    """Where one entry's present form comes from."""
    return "\n".join(
        line for one in doc["blame"] for line in (blame({"blame": [one]}, style), *_facts(one, _ORIGIN, style))
    )


_ORIGIN = (  # what is told of an entry's origin, by its key in the document
    ("subject", "what"),
    ("created", "said"),
    ("writer", "writer"),
    ("session", "session"),
    ("window", "window"),
    ("evidence", "evidence"),
    ("reviewer", "reviewer"),
    ("confidence", "confidence"),
    ("supersedes", "supersedes"),
    ("derived", "made from"),
    ("informs", "informs"),
    ("expires", "expires"),
)


def _facts(one: Document, keys: tuple[tuple[str, str], ...], style: Style) -> list[str]:
    lines = []
    for key, name in keys:
        value = one.get(key)
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
        if shown:
            lines.append(f"  {style.dim(name.ljust(11))} {clean(shown)}")
    return lines


def written(doc: Document, style: Style = PLAIN) -> str:
    """The outcome of a direct write that was not refused."""
    entry = doc["entry"]
    where = "in the user-wide memory" if doc.get("scope") == "user" else f"on branch `{doc['branch']}`"
    name = f"`{entry['id']}`" if entry else "the damaged file"
    if doc["outcome"] == "duplicate":
        text = f"{name} says exactly that already {where}; nothing was written."
    elif doc["outcome"] == "reinforced":
        said, seen = clip(entry["text"], 120), doc.get("evidence")
        counted = f", evidence {seen}" if seen else ""
        text = f"{name} says that already {where} (`{said}`); reinforced{counted}. Nothing was added."
    elif doc.get("scope") in ("session", "task"):
        ends = f", until {entry['expires']}" if entry.get("expires") and doc["outcome"] != "removed" else ""
        text = f"{doc['outcome'].capitalize()} {name} for this {doc['scope']}{ends}."
    else:
        text = f"{doc['outcome'].capitalize()} {name} {where}, commit {doc['commit'][:12]}."
    gone = [f"It supersedes `{one['id']}`: {clip(one['text'], 120)}" for one in doc.get("superseded", ())]
    return "\n".join([text, *gone, *(style("33", f"Note: {warning}") for warning in doc["warnings"])])


def undone(doc: Document, style: Style = PLAIN, *, dry_run: bool = False) -> str:
    """The outcome of an undo or redo."""
    outcome = doc["outcome"]
    if outcome == "nothing":
        return f"Nothing to do: {doc['reason']}."
    target = doc.get("undoes") or doc.get("redoes") or ""
    name = "Redo" if "redoes" in doc else "Undo"
    if outcome == "halted" and doc["conflicts"]:
        lines = [
            f"{name} stopped: these entries changed after {target[:12]} ({clean(doc['subject'])}). Nothing was written."
        ]
        return "\n".join(
            lines
            + [
                f"  {one['id']} changed by {one['commit'][:12] if one['commit'] else 'an unknown commit'}"
                for one in doc["conflicts"]
            ]
        )
    if outcome == "halted":
        return f"{name} stopped: {doc['reason']}"
    verb = (
        {"undone": "take back", "redone": "bring back"}[outcome]
        if dry_run
        else {"undone": "Took back", "redone": "Brought back"}[outcome]
    )
    first = (
        f"{'Would ' if dry_run else ''}{verb} {target[:12]} ({clean(doc['subject'])})"
        + ("" if dry_run else f", commit {doc['commit'][:12]}")
        + "."
    )
    return "\n".join([first, *_indented(doc, style)])


def merged(doc: Document, style: Style = PLAIN) -> str:
    """The outcome of a merge."""
    if doc["outcome"] == "nothing":
        return f"Branch `{doc['branch']}` holds everything of `{doc['source']}` already."
    if doc["outcome"] == "halted":
        lines = [f"Merge stopped: {doc['reason']}"]
        return "\n".join(lines + [f"  {one['id']} changed on both" for one in doc["conflicts"]])
    commit = f", commit {doc['commit'][:12]}" if doc["commit"] else " (dry run)"
    lines = [f"Merged `{doc['source']}` into `{doc['branch']}`{commit}."]
    clashes = [
        f"`{one['id']}` contradicts `{one['with']}`; say which holds in `noforgetti candidates`."
        for one in doc.get("clashes", ())
    ]
    return "\n".join([*lines, *_indented(doc, style), *clashes])


def reviewed(doc: Document, style: Style = PLAIN) -> str:
    """The outcome of a review that was carried out."""
    if not doc["commits"]:
        lines = [f"Nothing to remember: {doc['reason'] or 'no durable statement was found'}."]
    else:
        lines = [f"Review by {doc['reviewer']}: commit {', '.join(one[:12] for one in doc['commits'])}."]
    lines += [f"  {line}" for one in doc["operations"] for line in operation(one, style)]
    lines += [style.dim(f"  left out ({one['rule']}): {clean(one['reason'])}") for one in doc["refused"]]
    return "\n".join(lines)


def edited(doc: Document, style: Style = PLAIN) -> str:
    """The outcome of editing a branch as one document."""
    if doc["outcome"] == "nothing":
        return "No entry differs: nothing was written."
    lines = [f"Saved as one commit, {doc['commit'][:12]}."]
    return "\n".join([*lines, *_indented(doc, style)])
